//! Reads of pages that are read often: how long they take, and on which chips their pages lie.
//!
//! A read is hot from the fifth read of its first page on: the paper on pattern-based write scheduling calls addresses frequent
//! that are accessed more than four times (section II-A), and an address is where a request starts. One byte per logical page
//! counts, and one access per read.

use floatgate_base::Lpn;
use floatgate_stats::Latency;
use serde::{Deserialize, Serialize};

/// The read of a page from which on it is hot.
pub const HOT_FROM: u8 = 5;

/// Hot reads of a timed run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HotReads {
    /// Reads of each logical page as the first of a request, up to [`HOT_FROM`] - 1.
    reads: Vec<u8>,
    /// Hot reads whose first page lay on each chip, those of the first channel in front.
    pub by_chip: Vec<u64>,
    /// Their response times.
    pub latency: Latency,
}

impl HotReads {
    /// None so far.
    pub(super) fn new(logical_pages: u32, chips: u32) -> Self {
        let (reads, by_chip) = (vec![0; logical_pages as usize], vec![0; chips as usize]);
        Self { reads, by_chip, latency: Latency::default() }
    }

    /// A read starts with this page; whether it is a hot one.
    #[inline(always)]
    pub(super) fn see(&mut self, lpn: Lpn) -> bool {
        let reads = &mut self.reads[lpn.index()];
        let hot = *reads == HOT_FROM - 1;
        *reads += u8::from(!hot);
        hot
    }

    /// How many times as many hot reads the busiest chip had as the average one.
    #[must_use]
    pub fn max_over_mean(&self) -> Option<f64> {
        let (sum, most) = (self.by_chip.iter().sum::<u64>(), self.by_chip.iter().max()?);
        (sum > 0).then(|| *most as f64 * self.by_chip.len() as f64 / sum as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fifth_read_is_hot() {
        let mut reads = HotReads::new(3, 2);
        let seen = [1, 1, 2, 1, 1, 1, 1, 2].map(|lpn| reads.see(Lpn(lpn)));
        assert_eq!(seen, [false, false, false, false, false, true, true, false]);
        assert_eq!(reads.max_over_mean(), None);
        reads.by_chip = vec![3, 1];
        assert_eq!(reads.max_over_mean(), Some(1.5));
    }
}
