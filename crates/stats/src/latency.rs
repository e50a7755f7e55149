//! Latencies: quantiles to three digits in bounded memory.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Longest distinguishable latency in nanoseconds, four and a half years; longer ones count as this one.
const LONGEST_NS: u64 = 1 << 57;

/// The latencies of one kind of request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Latency {
    #[serde(with = "counts")]
    histogram: Histogram<u64>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    /// The longest latency since [`Latency::take_longest_ns`].
    longest_ns: u64,
}

/// Points of a distribution function, in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cdf {
    /// Latencies in nanoseconds.
    pub ns: Vec<u64>,
    /// Shares of the requests that took at most that long.
    pub share: Vec<f64>,
}

/// Points of a distribution per decade of its tail.
const TAIL_POINTS: i32 = 16;
/// The tail is resolved down to a share of 10 to the minus this.
const TAIL_DECADES: i32 = 5;

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("the bounds are in order")
}

/// Serializes a histogram as the counts of its buckets.
mod counts {
    use super::{Histogram, histogram};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(of: &Histogram<u64>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(
            of.iter_recorded().map(|b| (b.value_iterated_to(), b.count_at_value())).collect::<Vec<_>>(),
        )
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
        let mut of = histogram();
        for (value, count) in Vec::<(u64, u64)>::deserialize(from)? {
            of.record_n(value, count).map_err(|_| D::Error::custom("a latency beyond the histogram"))?;
        }
        Ok(of)
    }
}

impl Default for Latency {
    fn default() -> Self {
        Self { histogram: histogram(), sum_ns: 0, min_ns: u64::MAX, max_ns: 0, longest_ns: 0 }
    }
}

impl Latency {
    /// Counts a request. Inlined: called once per request of a timed run.
    #[inline(always)]
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// Counts several requests of equal latency.
    pub fn record_many(&mut self, ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.histogram.saturating_record_n(ns, count);
        self.sum_ns += u128::from(ns) * u128::from(count);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// Adds the requests of another record. The longest latency since the last call of
    /// [`Latency::take_longest_ns`] stays.
    pub fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("all histograms have the same bounds");
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Takes the longest latency since the last call, exact; 0 without requests.
    pub fn take_longest_ns(&mut self) -> u64 {
        std::mem::take(&mut self.longest_ns)
    }

    /// Returns the sum of all latencies, exact.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Returns the number of requests.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the mean in nanoseconds, exact; None without requests.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// Returns the least latency that a share of the requests does not exceed, to three digits; None without requests.
    #[must_use]
    pub fn quantile_ns(&self, share: f64) -> Option<u64> {
        (self.count() > 0).then(|| self.histogram.value_at_quantile(share).min(self.max_ns))
    }

    /// Returns the longest latency, exact; None without requests.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max_ns)
    }

    /// Computes the distribution function in at most 150 points: at each percent, and finer in the tail, down to a
    /// share of 1e-5.
    ///
    /// The ends are exact: the shortest latency with share 0, and the longest with share 1. Between them latencies have
    /// three digits, each with the exact share of the requests up to it. Empty without requests.
    #[must_use]
    pub fn cdf(&self) -> Cdf {
        let mut cdf = Cdf::default();
        let total = self.count();
        if total == 0 {
            return cdf;
        }
        cdf.ns.push(self.min_ns);
        cdf.share.push(0.0);
        let mut targets = cdf_targets().peekable();
        let mut up_to = 0;
        for bucket in self.histogram.iter_recorded() {
            up_to += bucket.count_since_last_iteration();
            let share = up_to as f64 / total as f64;
            let mut due = false;
            while targets.next_if(|&target| target <= share).is_some() {
                due = true;
            }
            if due && up_to < total {
                cdf.ns.push(bucket.value_iterated_to().clamp(self.min_ns, self.max_ns));
                cdf.share.push(share);
            }
        }
        cdf.ns.push(self.max_ns);
        cdf.share.push(1.0);
        cdf
    }
}

/// Iterates over the shares of a distribution function's points: every percent, then [`TAIL_POINTS`] per decade of the
/// rest.
fn cdf_targets() -> impl Iterator<Item = f64> {
    let percents = (1..=99).map(|percent| f64::from(percent) / 100.0);
    let first = 2 * TAIL_POINTS + 1;
    let tail = (first..=TAIL_DECADES * TAIL_POINTS)
        .map(|k| 1.0 - libm::pow(10.0, -f64::from(k) / f64::from(TAIL_POINTS)));
    percents.chain(tail)
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
            let quantile = latency.quantile_ns(share).unwrap() as f64;
            assert!((quantile / (share * 1e5) - 1.0).abs() < 1e-3, "{share}: {quantile}");
        }
        latency.record(u64::MAX);
        assert_eq!(latency.max_ns(), Some(u64::MAX));
    }

    #[test]
    fn the_distribution_is_that_of_the_sorted_latencies() {
        assert_eq!(Latency::default().cdf(), Cdf::default());
        // A dense body and a sparse tail, i and then i^2: each share is known by counting.
        let all: Vec<u64> =
            (0..200_000).map(|i| 1000 + if i < 190_000 { i } else { (i - 189_900) * i }).collect();
        let mut latency = Latency::default();
        all.iter().for_each(|&ns| latency.record(ns));
        let cdf = latency.cdf();
        assert!(cdf.ns.len() <= 150 && cdf.ns.len() == cdf.share.len(), "{}", cdf.ns.len());
        assert_eq!((cdf.ns[0], cdf.share[0]), (1000, 0.0));
        assert_eq!((*cdf.ns.last().unwrap(), *cdf.share.last().unwrap()), (*all.last().unwrap(), 1.0));
        assert!(cdf.ns.is_sorted() && cdf.share.is_sorted());
        for (&ns, &share) in cdf.ns.iter().zip(&cdf.share).skip(1) {
            let counted = |ns: f64| all.partition_point(|&one| one as f64 <= ns) as f64 / all.len() as f64;
            assert!(
                counted(ns as f64 * 0.999) <= share && share <= counted(ns as f64 * 1.001),
                "{ns}: {share}"
            );
        }
        // The last steps of the tail have the documented resolution.
        let tail: Vec<f64> = cdf.share.iter().copied().filter(|s| (0.99..1.0).contains(s)).collect();
        assert!(tail.len() > 30 && 1.0 - tail.last().unwrap() <= 1.5e-5, "{tail:?}");
    }

    #[test]
    fn few_latencies_give_few_points() {
        let mut latency = Latency::default();
        latency.record(700);
        let one = Cdf { ns: vec![700, 700], share: vec![0.0, 1.0] };
        assert_eq!(latency.cdf(), one);
        (0..3).for_each(|_| latency.record(900));
        let two = Cdf { ns: vec![700, 700, 900], share: vec![0.0, 0.25, 1.0] };
        assert_eq!(latency.cdf(), two);
        assert_eq!((latency.take_longest_ns(), latency.take_longest_ns()), (900, 0));
        assert_eq!(latency.sum_ns(), 3400);
    }
}
