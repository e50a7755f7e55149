//! The recorder of a gate.

use super::Epoch;

/// A recorder of admissions. Times are nanoseconds.
pub trait Record {
    /// Records `count` page writes admitted at even distances from `first_ns` to `last_ns`, each `delay_ns` after its
    /// arrival.
    fn passed(&mut self, first_ns: u64, last_ns: u64, count: u64, delay_ns: u64);
    /// Records a page write admitted at `time_ns`, which was delayed by `delay_ns` and then waited `wait_ns` for
    /// capacity.
    fn waited(&mut self, time_ns: u64, delay_ns: u64, wait_ns: u64);
    /// Records `count` page writes admitted at even distances from `first_ns` to `last_ns`; each was delayed, and then
    /// waited for capacity.
    fn waited_alike(&mut self, first_ns: u64, last_ns: u64, count: u64, delay_and_wait_ns: (u64, u64));
    /// Returns whether order and times of single page writes between two moments matter. If not, many may be recorded
    /// together as if they arrived at even distances.
    fn is_close(&self, from_ns: u64, to_ns: u64) -> bool;
    /// Records the beginning of an epoch.
    fn epoch(&mut self, epoch: &Epoch);
}

impl Record for () {
    #[inline]
    fn passed(&mut self, _: u64, _: u64, _: u64, _: u64) {}
    #[inline]
    fn waited(&mut self, _: u64, _: u64, _: u64) {}
    #[inline]
    fn waited_alike(&mut self, _: u64, _: u64, _: u64, _: (u64, u64)) {}
    #[inline]
    fn is_close(&self, _: u64, _: u64) -> bool {
        false
    }
    #[inline]
    fn epoch(&mut self, _: &Epoch) {}
}
