//! Totals of a gate.

use super::{Epoch, Record};
use serde::{Deserialize, Serialize};

/// Totals of the page writes that passed a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// Page writes that passed.
    pub page_writes: u64,
    /// Page writes that were delayed or waited.
    pub held_page_writes: u64,
    /// Page writes that waited for room in a later period.
    pub waits: u64,
    /// All delays, nanoseconds.
    pub delay_ns: u128,
    /// All waits for room, nanoseconds.
    pub wait_ns: u128,
    /// Length of the last whole epoch, nanoseconds; 0 before one. The final, shorter epoch of a life does not count.
    pub epoch_ns: u64,
    target_ns: u64,
}

impl Passed {
    /// Begins at zero, for a gate with its target at `target_ns`.
    #[must_use]
    pub fn new(target_ns: u64) -> Self {
        Self { target_ns, ..Self::default() }
    }
}

impl Record for Passed {
    #[inline]
    fn passed(&mut self, _: u64, _: u64, count: u64, delay_ns: u64) {
        self.page_writes += count;
        self.delay_ns += u128::from(delay_ns) * u128::from(count);
        self.held_page_writes += if delay_ns > 0 { count } else { 0 };
    }

    fn waited(&mut self, _: u64, delay_ns: u64, wait_ns: u64) {
        self.page_writes += 1;
        self.delay_ns += u128::from(delay_ns);
        self.wait_ns += u128::from(wait_ns);
        self.held_page_writes += 1;
        self.waits += 1;
    }

    fn waited_alike(&mut self, _: u64, _: u64, count: u64, (delay_ns, wait_ns): (u64, u64)) {
        self.page_writes += count;
        self.delay_ns += u128::from(delay_ns) * u128::from(count);
        self.wait_ns += u128::from(wait_ns) * u128::from(count);
        self.held_page_writes += count;
        self.waits += count;
    }

    fn is_close(&self, _: u64, _: u64) -> bool {
        false
    }

    fn epoch(&mut self, epoch: &Epoch) {
        if epoch.end_ns < self.target_ns {
            self.epoch_ns = epoch.end_ns - epoch.start_ns;
        }
    }
}
