//! The last step: keeps the books of served requests.

use crate::reading::{Counting, Span};
use floatgate_stats::{Row, Series};
use floatgate_trace::period::period_ns;
use serde::{Deserialize, Serialize};

/// Requests between two full audits under the shadow model.
pub(crate) const AUDIT_EVERY: u64 = 1 << 20;

/// Counts of served requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Book {
    /// Requests served, including the warm-up.
    pub served: u64,
    /// Requests counted.
    pub counted: u64,
    /// Shifted stamp of the first counted request.
    from_ns: Option<i64>,
    /// Largest shifted stamp of the counted requests.
    to_ns: i64,
    /// Full audits passed.
    pub audits: u64,
    pub series: Series,
    /// Content hash of the drive's snapshot that the run started from.
    pub snapshot_hash: Option<String>,
}

impl Book {
    /// Returns the state that the stages need for requests that count from now on.
    pub fn counting(&self) -> Counting {
        Counting { counted: self.counted, from_ns: self.from_ns }
    }

    /// Books counted requests; returns whether an interval of the series ends with them.
    pub fn count(&mut self, requests: u64, span: Span) -> bool {
        let ends = self.series.until_due(self.counted) == requests;
        self.counted += requests;
        self.from_ns.get_or_insert(span.first_ns);
        self.to_ns = self.to_ns.max(span.largest_ns);
        ends
    }

    /// Returns the nanoseconds from the first counted request to the largest stamp; 0 if stamps run backwards.
    pub fn span_ns(&self) -> i64 {
        (self.to_ns - self.from_ns.unwrap_or(0)).max(0)
    }

    /// Returns the period at which the counted requests would repeat.
    pub fn period_ns(&self) -> u64 {
        period_ns(self.span_ns() as u64, self.counted)
    }

    /// Returns the seconds from the first counted request to a stamp; None before time has passed.
    pub fn time_s(&self, stamp_ns: i64) -> Option<f64> {
        let from_ns = self.from_ns.unwrap_or(0);
        (self.to_ns > from_ns).then_some((stamp_ns - from_ns) as f64 / 1e9)
    }

    /// Returns whether an audit is due.
    pub fn audit_is_due(&self) -> bool {
        self.counted / AUDIT_EVERY > self.audits
    }

    /// Returns a row of the series with the arrivals and their times, by stamps.
    pub fn row(&self) -> Row {
        Row { requests: self.counted, time_ns: self.span_ns(), ..Row::default() }
    }
}
