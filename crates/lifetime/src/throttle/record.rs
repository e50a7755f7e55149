//! Who takes note of what passes a gate.

use super::Epoch;

/// Takes note of what passes the gate. Times are nanoseconds.
pub trait Record {
    /// `count` page writes were admitted at even distances from `first_ns` to `last_ns`, each `delay_ns` after it
    /// arrived.
    fn passed(&mut self, first_ns: u64, last_ns: u64, count: u64, delay_ns: u64);
    /// One page write was admitted at `time_ns`; it was delayed `delay_ns` and then waited `wait_ns` for room.
    fn waited(&mut self, time_ns: u64, delay_ns: u64, wait_ns: u64);
    /// `count` page writes were admitted at even distances from `first_ns` to `last_ns`, each after it waited `wait_ns`.
    fn waited_alike(&mut self, first_ns: u64, last_ns: u64, count: u64, wait_ns: u64);
    /// An epoch begins.
    fn epoch(&mut self, epoch: &Epoch);
}

impl Record for () {
    #[inline]
    fn passed(&mut self, _: u64, _: u64, _: u64, _: u64) {}
    #[inline]
    fn waited(&mut self, _: u64, _: u64, _: u64) {}
    #[inline]
    fn waited_alike(&mut self, _: u64, _: u64, _: u64, _: u64) {}
    #[inline]
    fn epoch(&mut self, _: &Epoch) {}
}
