//! Distances to the previous copy of duplicates, in page writes and in other contents.

use crate::figures::{DistanceFigures, Distances, IndexFigures};
use hdrhistogram::Histogram;

/// Reported sizes of the index, up to the first that detects all duplicates.
const ENTRIES: [u64; 10] =
    [1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26];

/// A distribution of distances: exact below 2048, then to 0.1 %; powers of two bound the buckets.
struct Spread {
    exact: Histogram<u64>,
    /// Counts by power of two: 0, 1, 2-3, 4-7, ...
    doubling: Vec<u64>,
    max: u64,
}

impl Spread {
    fn new() -> Self {
        let exact = Histogram::new(3).expect("three digits can be kept");
        Self { exact, doubling: vec![], max: 0 }
    }

    fn add(&mut self, distance: u64, times: u64) {
        self.exact.record_n(distance, times).expect("the histogram grows");
        let bucket = (64 - distance.leading_zeros()) as usize;
        if bucket >= self.doubling.len() {
            self.doubling.resize(bucket + 1, 0);
        }
        self.doubling[bucket] += times;
        self.max = self.max.max(distance);
    }

    fn quantile(&self, share: f64) -> u64 {
        self.exact.value_at_quantile(share).min(self.max)
    }
}

/// Collects the distances of duplicates.
pub struct Duplicates {
    count: u64,
    sum: u64,
    page_writes: Spread,
    others: Spread,
}

impl Duplicates {
    pub fn new() -> Self {
        Self { count: 0, sum: 0, page_writes: Spread::new(), others: Spread::new() }
    }

    /// Adds a duplicate: page writes since its latest copy, and other contents written since.
    pub fn add(&mut self, page_writes: u64, others: u64) {
        self.add_times(page_writes, others, 1);
    }

    /// Adds several duplicates with the same distances.
    pub fn add_times(&mut self, page_writes: u64, others: u64, times: u64) {
        self.count += times;
        self.sum += page_writes * times;
        self.page_writes.add(page_writes, times);
        self.others.add(others, times);
    }

    /// Returns the number of duplicates.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the figures; `None` without a duplicate.
    pub fn figures(&self) -> Option<Distances> {
        if self.count == 0 {
            return None;
        }
        let seen = &self.page_writes;
        let page_writes = DistanceFigures {
            mean: self.sum as f64 / self.count as f64,
            p10: seen.quantile(0.1),
            p50: seen.quantile(0.5),
            p90: seen.quantile(0.9),
            p99: seen.quantile(0.99),
            max: seen.max,
            from: (0..seen.doubling.len())
                .map(|bucket| if bucket == 0 { 0 } else { 1 << (bucket - 1) })
                .collect(),
            count: seen.doubling.clone(),
        };
        Some(Distances { page_writes, index: self.index() })
    }

    /// Computes how many duplicates an index detects: with `n` entries, those with fewer than `n` other contents since
    /// the copy.
    fn index(&self) -> IndexFigures {
        let all = self.others.max + 1;
        let enough = ENTRIES.iter().position(|n| *n >= all).map_or(ENTRIES.len(), |at| at + 1);
        let entries = ENTRIES[..enough].to_vec();
        IndexFigures {
            detected: entries.iter().map(|n| self.others.exact.count_between(0, n - 1)).collect(),
            entries,
            entries_for_90_percent: self.others.quantile(0.9) + 1,
            entries_for_99_percent: self.others.quantile(0.99) + 1,
            entries_for_all: all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_distances_are_exact() {
        let mut duplicates = Duplicates::new();
        assert!(duplicates.figures().is_none());
        for n in 0..1000 {
            duplicates.add(n, n / 2);
        }
        let figures = duplicates.figures().unwrap();
        let of = &figures.page_writes;
        assert_eq!((of.p10, of.p50, of.p90, of.p99, of.max), (99, 499, 899, 989, 999));
        assert_eq!(of.from, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
        assert_eq!(of.count, [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 488]);
        assert_eq!(of.mean, 499.5);
        assert_eq!((figures.index.entries, figures.index.detected), (vec![256, 1024], vec![512, 1000]));
        assert_eq!(figures.index.entries_for_90_percent, 450);
        assert_eq!(figures.index.entries_for_99_percent, 495);
        assert_eq!(figures.index.entries_for_all, 500);
    }

    #[test]
    fn what_an_index_of_a_power_of_two_finds_is_exact() {
        let mut duplicates = Duplicates::new();
        for others in [(1 << 16) - 1, 1 << 16, (1 << 18) - 1, 1 << 20] {
            duplicates.add(0, others);
        }
        let index = duplicates.figures().unwrap().index;
        let at = |n: u64| index.detected[index.entries.iter().position(|m| *m == n).unwrap()];
        assert_eq!((at(1 << 14), at(1 << 16), at(1 << 18), at(1 << 20), at(1 << 22)), (0, 1, 3, 3, 4));
        assert_eq!(index.entries_for_all, (1 << 20) + 1);
    }
}
