//! Reads of frequently read pages: their duration, and the chips of their pages.
//!
//! A read is hot from the fifth read of its first page on. The paper on pattern-based write scheduling defines frequent
//! addresses as those accessed more than four times (section II-D); an address is the start of a request. Cost: one
//! byte per logical page, and one access per read.

use floatgate_base::{Lpn, memory::zeros, prefetch::prefetch};
use floatgate_stats::Latency;
use serde::{Deserialize, Serialize};

/// The read of a page from which on it is hot.
pub const HOT_FROM: u8 = 5;

/// Hot reads of a timed run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HotReads {
    /// Hot reads by the chip of their first page, the chips of the first channel first.
    pub by_chip: Vec<u64>,
    /// Their response times.
    pub latency: Latency,
}

impl HotReads {
    /// Returns the hot reads of the busiest chip over the mean.
    #[must_use]
    pub fn max_over_mean(&self) -> Option<f64> {
        let (sum, most) = (self.by_chip.iter().sum::<u64>(), self.by_chip.iter().max()?);
        (sum > 0).then(|| *most as f64 * self.by_chip.len() as f64 / sum as f64)
    }
}

/// Detects hot reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HotReadWatch {
    /// Reads of each logical page as the first of a request, up to [`HOT_FROM`] - 1.
    reads: Vec<u8>,
    /// The hot reads.
    #[serde(rename = "found")]
    pub hot: HotReads,
}

impl HotReadWatch {
    /// Begins without reads.
    pub fn new(logical_pages: u32, chips: u32) -> Self {
        let hot = HotReads { by_chip: vec![0; chips as usize], latency: Latency::default() };
        Self { reads: zeros(logical_pages as usize), hot }
    }

    /// Prefetches the state of a page with which a read will start soon.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.reads, lpn.index());
    }

    /// Counts a read that starts with this page; returns whether it is hot.
    #[inline(always)]
    pub fn see(&mut self, lpn: Lpn) -> bool {
        let reads = &mut self.reads[lpn.index()];
        let hot = *reads == HOT_FROM - 1;
        *reads += u8::from(!hot);
        hot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fifth_read_is_hot() {
        let mut watch = HotReadWatch::new(3, 2);
        let seen = [1, 1, 2, 1, 1, 1, 1, 2].map(|lpn| watch.see(Lpn(lpn)));
        assert_eq!(seen, [false, false, false, false, false, true, true, false]);
        let mut hot = watch.hot;
        assert_eq!(hot.max_over_mean(), None);
        hot.by_chip = vec![3, 1];
        assert_eq!(hot.max_over_mean(), Some(1.5));
    }
}
