//! Who was busy with what in a chosen interval: spans of dies and channels, for pictures.

use super::queue::Job;

/// A time in which a die or a channel was busy with one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// 0 a die, 1 a channel.
    pub resource: u8,
    /// Number of the die or channel; dies are numbered with the channel as the lowest part.
    pub index: u32,
    /// 0 read, 1 program, 2 erase, 3 move within a die, 4 command or data on a channel.
    pub kind: u8,
    /// Cause as a number.
    pub cause: u8,
    /// For whom.
    pub job: Job,
    /// Number of the host request that waits for it; `u32::MAX` for none. Numbers are used again.
    pub request: u32,
    /// Start, nanoseconds since counting began.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
}

/// What is recorded, and what has been.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Spans that overlap `from_ns..to_ns` are kept.
    pub from_ns: u64,
    /// See `from_ns`.
    pub to_ns: u64,
    /// Spans kept at most; the interval ends where more would be needed.
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

    pub(super) fn record(&mut self, span: Span) {
        let wanted = span.from_ns < self.to_ns && span.to_ns > self.from_ns && span.from_ns < span.to_ns;
        if wanted && self.spans.len() < self.spans_max {
            self.spans.push(span);
        }
    }
}
