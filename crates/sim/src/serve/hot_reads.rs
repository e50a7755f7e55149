//! Reads of pages that are read often: how long they take, and on which chips their pages lie.
//!
//! A read is hot from the fifth read of its first page on: the paper on pattern-based write scheduling calls addresses
//! frequent that are accessed more than four times (section II-D), and an address is where a request starts. One byte per
//! logical page counts, and one access per read.

use floatgate_base::Lpn;
use floatgate_base::prefetch::prefetch;
use floatgate_stats::Latency;
use serde::{Deserialize, Serialize};

/// The read of a page from which on it is hot.
pub const HOT_FROM: u8 = 5;

/// Hot reads of a timed run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HotReads {
    /// Those whose first page lay on each chip, the chips of the first channel in front.
    pub by_chip: Vec<u64>,
    /// Their response times.
    pub latency: Latency,
}

impl HotReads {
    /// How many times as many hot reads the busiest chip had as the average one.
    #[must_use]
    pub fn max_over_mean(&self) -> Option<f64> {
        let (sum, most) = (self.by_chip.iter().sum::<u64>(), self.by_chip.iter().max()?);
        (sum > 0).then(|| *most as f64 * self.by_chip.len() as f64 / sum as f64)
    }
}

/// Tells hot reads from others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HotReadWatch {
    /// Reads of each logical page as the first of a request, up to [`HOT_FROM`] - 1.
    reads: Vec<u8>,
    /// What was found.
    pub found: HotReads,
}

impl HotReadWatch {
    /// Nothing read so far.
    pub fn new(logical_pages: u32, chips: u32) -> Self {
        let found = HotReads { by_chip: vec![0; chips as usize], latency: Latency::default() };
        Self { reads: vec![0; logical_pages as usize], found }
    }

    /// Asks for what is known of a page with which a read will start soon.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.reads, lpn.index());
    }

    /// A read starts with this page; whether it is a hot one.
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
        let mut found = watch.found;
        assert_eq!(found.max_over_mean(), None);
        found.by_chip = vec![3, 1];
        assert_eq!(found.max_over_mean(), Some(1.5));
    }
}
