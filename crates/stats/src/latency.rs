//! Latencies: quantiles to three digits in bounded memory.

use hdrhistogram::Histogram;

/// Nanoseconds that a histogram holds apart at most: an hour; what is longer counts with the longest.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// The latencies of one kind of request.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Histogram<u64>,
    sum_ns: u128,
    max_ns: u64,
}

impl Default for Latency {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("the bounds are in order");
        Self { histogram, sum_ns: 0, max_ns: 0 }
    }
}

impl Latency {
    /// Counts a request.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Requests counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Mean in nanoseconds, exact; none without requests.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// The least latency that a share of the requests does not exceed, to three digits; none without requests.
    #[must_use]
    pub fn quantile_ns(&self, share: f64) -> Option<u64> {
        (self.count() > 0).then(|| self.histogram.value_at_quantile(share).min(self.max_ns))
    }

    /// The longest, exact; none without requests.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_keep_three_digits_and_the_ends_are_exact() {
        let mut latency = Latency::default();
        assert_eq!((latency.mean_ns(), latency.quantile_ns(0.5), latency.max_ns()), (None, None, None));
        for ns in 1..=100_000 {
            latency.record(ns);
        }
        assert_eq!(
            (latency.count(), latency.mean_ns(), latency.max_ns()),
            (100_000, Some(50_000.5), Some(100_000))
        );
        for share in [0.5, 0.9, 0.99, 0.999] {
            let found = latency.quantile_ns(share).unwrap() as f64;
            assert!((found / (share * 1e5) - 1.0).abs() < 1e-3, "{share}: {found}");
        }
        latency.record(u64::MAX);
        assert_eq!(latency.max_ns(), Some(u64::MAX));
    }
}
