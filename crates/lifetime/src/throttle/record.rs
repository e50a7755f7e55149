//! Who takes note of what passes a gate.

use super::Epoch;

/// Takes note of what passes the gate. Times are nanoseconds.
pub trait Record {
    /// `count` page writes were admitted at even distances from `first_ns` to `last_ns`, each `delay_ns` after it
    /// arrived.
    fn passed(&mut self, first_ns: u64, last_ns: u64, count: u64, delay_ns: u64);
    /// One page write was admitted at `time_ns`; it was delayed `delay_ns` and then waited `wait_ns` for room.
    fn waited(&mut self, time_ns: u64, delay_ns: u64, wait_ns: u64);
    /// `count` page writes were admitted at even distances from `first_ns` to `last_ns`; each was delayed, and then waited for
    /// room.
    fn waited_alike(&mut self, first_ns: u64, last_ns: u64, count: u64, delay_and_wait_ns: (u64, u64));
    /// Whether the order and the times of single page writes between two moments are of interest. If not, many may be told of
    /// at once, as if they came at even distances.
    fn is_close(&self, from_ns: u64, to_ns: u64) -> bool;
    /// An epoch begins.
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
