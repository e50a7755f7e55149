//! A histogram of whole numbers whose buckets widen with the value: eight per doubling, for a resolution of 12.5 %.
//! Values below 16 are exact, and every power of two begins a bucket. A bucket knows the mean of its values, and
//! quantiles return it: frequent values are often a single one, such as a power of two.

use serde::Serialize;

const SUB_BITS: u32 = 3;
const BUCKETS: usize = (64 - SUB_BITS as usize + 1) << SUB_BITS;

/// Counts by bucket.
#[derive(Clone, Debug)]
pub(crate) struct LogHistogram {
    /// Number of values, and the sum of their distances from the bucket's smallest.
    cells: Box<[(u64, f64); BUCKETS]>,
}

impl Default for LogHistogram {
    fn default() -> Self {
        Self { cells: Box::new([(0, 0.0); BUCKETS]) }
    }
}

/// Returns the bucket of a value.
#[inline]
pub(crate) fn bucket(value: u64) -> usize {
    if value < 1 << SUB_BITS {
        return value as usize;
    }
    let exponent = value.ilog2();
    let sub = (value >> (exponent - SUB_BITS)) as usize & ((1 << SUB_BITS) - 1);
    ((exponent - SUB_BITS + 1) as usize) << SUB_BITS | sub
}

/// Returns the smallest value of a bucket.
#[inline]
fn lowest_below_end(bucket: usize) -> u64 {
    let (octave, sub) = (bucket >> SUB_BITS, (bucket & ((1 << SUB_BITS) - 1)) as u64);
    if octave == 0 { sub } else { (sub | 1 << SUB_BITS) << (octave - 1) }
}

/// Returns the smallest value of a bucket; the end of the range for the one after the last.
pub(crate) fn lowest(bucket: usize) -> u64 {
    if bucket >= BUCKETS { u64::MAX } else { lowest_below_end(bucket) }
}

/// Returns the bucket of quantile `q` of counts by bucket; none without counts.
pub(crate) fn quantile_bucket(counts: impl Iterator<Item = u64> + Clone, q: f64) -> Option<usize> {
    let total: u64 = counts.clone().sum();
    let rank = ((q * total as f64).ceil() as u64).max(1);
    let mut up_to = 0;
    counts.into_iter().position(|n| {
        up_to += n;
        up_to >= rank
    })
}

impl LogHistogram {
    /// Counts `value` `n` times.
    #[inline]
    pub fn add(&mut self, value: u64, n: u64) {
        let i = bucket(value);
        let cell = &mut self.cells[i];
        cell.0 += n;
        cell.1 += (value - lowest_below_end(i)) as f64 * n as f64;
    }

    /// Returns the total count.
    pub fn total(&self) -> u64 {
        self.cells.iter().map(|cell| cell.0).sum()
    }

    /// Counts the values below `value`, which must begin a bucket.
    pub fn below(&self, value: u64) -> u64 {
        debug_assert_eq!(lowest(bucket(value)), value);
        self.cells[..bucket(value)].iter().map(|cell| cell.0).sum()
    }

    /// Returns the value at quantile `q`; none without counts.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let i = quantile_bucket(self.cells.iter().map(|cell| cell.0), q)?;
        Some(lowest(i) as f64 + self.cells[i].1 / self.cells[i].0 as f64)
    }

    /// Returns quantiles and buckets for the JSON, with each value converted by `unit`.
    pub fn describe<T>(&self, unit: impl Fn(f64) -> T) -> Distribution<T> {
        let at = |q| self.quantile(q).map(&unit);
        let used: Vec<usize> = (0..BUCKETS).filter(|&i| self.cells[i].0 > 0).collect();
        Distribution {
            p10: at(0.1),
            p25: at(0.25),
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p99: at(0.99),
            histogram: Buckets {
                from: used.iter().map(|&i| unit(lowest(i) as f64)).collect(),
                to: used.iter().map(|&i| unit(lowest(i + 1) as f64)).collect(),
                count: used.iter().map(|&i| self.cells[i].0).collect(),
            },
        }
    }
}

/// Quantiles and histogram of a quantity; the quantiles are null without counts.
#[derive(Clone, Debug, Serialize)]
pub struct Distribution<T> {
    /// 10 % quantile.
    pub p10: Option<T>,
    /// 25 % quantile.
    pub p25: Option<T>,
    /// The median.
    pub p50: Option<T>,
    /// 75 % quantile.
    pub p75: Option<T>,
    /// 90 % quantile.
    pub p90: Option<T>,
    /// 99 % quantile.
    pub p99: Option<T>,
    /// The occupied buckets, ascending.
    pub histogram: Buckets<T>,
}

/// Buckets as columns: `count` values lie in `from <= value < to`.
#[derive(Clone, Debug, Serialize)]
pub struct Buckets<T> {
    /// Start of each bucket.
    pub from: Vec<T>,
    /// End of each bucket.
    pub to: Vec<T>,
    /// Count of each bucket.
    pub count: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_are_as_wide_as_documented() {
        for (value, low, end) in [
            (0, 0, 1),
            (7, 7, 8),
            (15, 15, 16),
            (16, 16, 18),
            (17, 16, 18),
            (1 << 20, 1 << 20, (1 << 20) + (1 << 17)),
            (u64::MAX, 15 << 60, u64::MAX),
        ] {
            assert_eq!((lowest(bucket(value)), lowest(bucket(value) + 1)), (low, end), "{value}");
        }
    }

    #[test]
    fn quantiles_of_small_values_are_exact() {
        let mut h = LogHistogram::default();
        (1..=10).for_each(|v| h.add(v, 2));
        assert_eq!(
            [0.1, 0.5, 0.9, 1.0].map(|q| h.quantile(q)),
            [Some(1.0), Some(5.0), Some(9.0), Some(10.0)]
        );
        assert_eq!(LogHistogram::default().quantile(0.5), None);
        assert_eq!((h.total(), h.below(8)), (20, 14));
    }

    proptest! {
        #[test]
        fn quantiles_lie_within_an_eighth(mut values in prop::collection::vec(0u64..1 << 50, 1..200), q in 0.0f64..1.0) {
            let mut h = LogHistogram::default();
            values.iter().for_each(|&v| h.add(v, 1));
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let (exact, estimate) = (values[rank - 1] as f64, h.quantile(q).unwrap());
            prop_assert!((estimate - exact).abs() <= exact / 8.0, "{} {}", estimate, exact);
        }
    }
}
