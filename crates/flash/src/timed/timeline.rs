//! Records the activity of dies and channels in a chosen interval, as spans for charts.

use super::queue::Job;
use serde::{Deserialize, Serialize};

/// No die works on one thing for longer than this.
const LONGEST_SPAN_NS: u64 = 10_000_000_000;

/// A time in which a die or a channel was busy with one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// 0 a die, 1 a channel.
    pub resource: u8,
    /// Number of the die or channel; dies are numbered with the channel as the lowest part.
    pub index: u32,
    /// 0 read, 1 program, 2 erase, 3 move within a die, 4 command or data on a channel.
    pub kind: u8,
    /// Cause as a number.
    pub cause: u8,
    /// The origin of the operation.
    pub job: Job,
    /// Number of the host request that waits for it; `u32::MAX` for none. Numbers are reused.
    pub request: u32,
    /// Start, nanoseconds since counting began.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
}

/// The recorded interval and its spans.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timeline {
    /// Spans that overlap `from_ns..to_ns` are kept.
    pub from_ns: u64,
    /// End of the interval.
    pub to_ns: u64,
    /// Most spans to keep; the record ends where more would be needed.
    pub spans_max: usize,
    /// Spans in the order of their ends (channels: of their reservation).
    pub spans: Vec<Span>,
}

impl Timeline {
    /// Records an interval.
    #[must_use]
    pub fn new(from_ns: u64, to_ns: u64, spans_max: usize) -> Self {
        Self { from_ns, to_ns, spans_max, spans: Vec::new() }
    }

    /// Returns the end of the record: `to_ns`, or an earlier time at which it was full.
    #[must_use]
    pub fn recorded_to_ns(&self) -> u64 {
        if self.spans.len() < self.spans_max {
            return self.to_ns;
        }
        // Dies report their work at its end, in the order of time.
        let dies = self.spans.iter().filter(|span| span.resource == 0);
        dies.map(|span| span.to_ns).max().unwrap_or(self.from_ns).clamp(self.from_ns, self.to_ns)
    }

    /// Returns whether spans that end after one that began at `from_ns` may be needed.
    pub(super) fn wants_more(&self, from_ns: u64) -> bool {
        self.spans.len() < self.spans_max && from_ns < self.to_ns.saturating_add(LONGEST_SPAN_NS)
    }

    pub(super) fn record(&mut self, span: Span) {
        let wanted = span.from_ns < self.to_ns && span.to_ns > self.from_ns && span.from_ns < span.to_ns;
        if wanted && self.spans.len() < self.spans_max {
            self.spans.push(span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(resource: u8, from_ns: u64, to_ns: u64) -> Span {
        Span { resource, index: 0, kind: 0, cause: 0, job: Job::Host, request: 0, from_ns, to_ns }
    }

    #[test]
    fn what_overlaps_the_interval_is_kept_until_there_is_no_room() {
        let mut timeline = Timeline::new(100, 200, 3);
        for (from, to) in [(0, 100), (200, 300), (150, 150), (50, 101)] {
            timeline.record(span(0, from, to));
        }
        assert_eq!(timeline.spans, [span(0, 50, 101)]);
        assert_eq!(timeline.recorded_to_ns(), 200);
        timeline.record(span(1, 101, 190));
        timeline.record(span(0, 110, 130));
        timeline.record(span(0, 130, 150));
        assert_eq!(timeline.spans.len(), 3);
        // The channel's future does not reveal that of the dies.
        assert_eq!(timeline.recorded_to_ns(), 130);
    }

    #[test]
    fn more_is_wanted_while_there_is_room_and_spans_may_reach_the_interval() {
        let mut timeline = Timeline::new(100, 200, 2);
        assert!(timeline.wants_more(0) && timeline.wants_more(199 + LONGEST_SPAN_NS));
        assert!(!timeline.wants_more(200 + LONGEST_SPAN_NS));
        timeline.record(span(0, 100, 110));
        assert!(timeline.wants_more(110));
        timeline.record(span(0, 110, 120));
        assert!(!timeline.wants_more(120));
    }
}
