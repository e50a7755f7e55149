//! Update intervals: the lifetime of a page's data until the page is written again.
//!
//! The interval of a page write that replaces data is the number of page writes since the previous one to that page,
//! including this one, times 4096. A circular log thus has intervals of its own size. A page written in part counts as
//! written. A TRIM of a whole page ends its data: the next write is a first write.

use super::log_histogram::{Distribution, LogHistogram};
use floatgate_base::TRACE_PAGE_BYTES;
use serde::Serialize;

/// Update intervals of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct UpdateInfo {
    /// Page writes.
    pub page_writes: u64,
    /// Share of them that replace no data, because the page was not written before or was trimmed since.
    pub first_write_share: Option<f64>,
    /// Page writes that replace data.
    pub updates: u64,
    /// Bytes written in pages between the two writes, the second one included.
    pub bytes: Distribution<u64>,
    /// Seconds between the two writes; null if the trace has no times.
    pub time_s: Option<Distribution<f64>>,
    /// Share of the pages that were followed; 1 means exact.
    pub sampled_share: f64,
}

/// Counters of one pass over the trace.
#[derive(Default)]
pub(crate) struct Updates {
    pub first: u64,
    pages: LogHistogram,
    microseconds: LogHistogram,
}

impl Updates {
    /// Counts `n` updates after so many page writes and microseconds.
    #[inline]
    pub fn add(&mut self, pages: u64, us: i64, n: u64) {
        self.pages.add(pages, n);
        self.microseconds.add(us.max(0) as u64, n);
    }

    pub fn describe(&self, page_writes: u64, has_times: bool, shift: u32) -> UpdateInfo {
        let updates = self.pages.total();
        let followed = updates + self.first;
        UpdateInfo {
            page_writes,
            first_write_share: (followed > 0).then(|| self.first as f64 / followed as f64),
            updates,
            bytes: self.pages.describe(|pages| (pages * TRACE_PAGE_BYTES as f64).round() as u64),
            time_s: has_times.then(|| self.microseconds.describe(|us| us / 1e6)),
            sampled_share: 1.0 / (1u64 << shift) as f64,
        }
    }
}
