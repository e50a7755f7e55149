//! Histograms with few bins of equal width, for results and charts.

/// Counts of whole numbers in bins `from + i * width ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// Smallest value of the first bin.
    pub from: u64,
    /// Values in each bin.
    pub width: u64,
    /// Counts.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Sorts values into at most `bins_max` bins; `weight` counts each value so many times.
    #[must_use]
    pub fn of(values: &[u32], weight: u64, bins_max: u64) -> Self {
        let from = values.iter().copied().min().map_or(0, u64::from);
        let most = values.iter().copied().max().map_or(0, u64::from);
        let width = (most - from + 1).div_ceil(bins_max);
        let mut counts = vec![0; ((most - from) / width + 1) as usize];
        for &value in values {
            counts[((u64::from(value) - from) / width) as usize] += weight;
        }
        Self { from, width, counts }
    }

    /// Joins the cells of a histogram of 0, 1, 2, ... until at most `bins_max` are left.
    #[must_use]
    pub fn rebin(cells: &[u64], bins_max: usize) -> Self {
        let width = cells.len().div_ceil(bins_max).max(1);
        Self { from: 0, width: width as u64, counts: cells.chunks(width).map(|c| c.iter().sum()).collect() }
    }
}

/// Returns the smallest, mean, largest and population standard deviation of erase counts.
#[must_use]
pub fn moments(values: &[u32]) -> (u32, f64, u32, f64) {
    if values.is_empty() {
        return (0, 0.0, 0, 0.0);
    }
    let n = values.len() as f64;
    let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
    let variance = values.iter().map(|&v| (f64::from(v) - mean) * (f64::from(v) - mean)).sum::<f64>() / n;
    let (least, most) = values.iter().fold((u32::MAX, 0), |(a, b), &v| (a.min(v), b.max(v)));
    (least, mean, most, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_every_value_once() {
        let h = Histogram::of(&[3, 4, 4, 9, 12], 2, 4);
        assert_eq!((h.from, h.width, h.counts.clone()), (3, 3, vec![6, 0, 2, 2]));
        assert_eq!(Histogram::of(&[], 1, 4).counts, [0]);
        assert_eq!(Histogram::rebin(&[1, 2, 3, 4, 5], 2).counts, [6, 9]);
        assert_eq!(moments(&[2, 4]), (2, 3.0, 4, 1.0));
    }
}
