//! The period of a repeated workload: its span plus one mean gap between requests.
//!
//! The last request and the first of the next pass are then as far apart as requests are on average, and repeated
//! passes keep the mean rate of one.

use serde::{Deserialize, Serialize};

/// Returns the period of so many requests with this span. For a single request, or for simultaneous ones, it is the
/// span, since the gap is unknown.
#[must_use]
pub fn period_ns(span_ns: u64, requests: u64) -> u64 {
    let gaps = requests.saturating_sub(1).max(1);
    let gap_ns = if requests > 1 { span_ns.saturating_add(gaps / 2) / gaps } else { 0 };
    span_ns.saturating_add(gap_ns)
}

/// The stamps of a pass so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamps {
    /// The first of them, and the largest.
    bounds_ns: Option<(i64, i64)>,
    requests: u64,
}

impl Stamps {
    /// Records the next stamps.
    pub fn note(&mut self, stamps_ns: &[i64]) {
        let Some(&first_ns) = stamps_ns.first() else { return };
        let (first_ns, largest_ns) = self.bounds_ns.unwrap_or((first_ns, first_ns));
        self.bounds_ns = Some((first_ns, stamps_ns.iter().copied().fold(largest_ns, i64::max)));
        self.requests += stamps_ns.len() as u64;
    }

    /// Returns the span from the first stamp to the largest.
    #[must_use]
    pub fn span_ns(&self) -> u64 {
        self.bounds_ns.map_or(0, |(first_ns, largest_ns)| largest_ns.abs_diff(first_ns))
    }

    /// Returns the time from the first request of this pass to that of the next one.
    #[must_use]
    pub fn period_ns(&self) -> u64 {
        period_ns(self.span_ns(), self.requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` requests with gaps of `g` span `(n - 1) g` and repeat after `n g`.
    #[test]
    fn even_gaps_go_on_evenly() {
        for (n, gap_ns) in [(2, 7), (3, 1), (10, 1_000_000_000), (127_043, 2361), (1 << 40, 1 << 20)] {
            assert_eq!(period_ns((n - 1) * gap_ns, n), n * gap_ns);
        }
        let mut stamps = Stamps::default();
        let all: Vec<i64> = (0..100).map(|i| 1000 + i * 30).collect();
        all.chunks(7).for_each(|some| stamps.note(some));
        assert_eq!((stamps.span_ns(), stamps.period_ns()), (2970, 3000));
    }

    #[test]
    fn what_has_no_gap_has_no_more_than_its_span() {
        assert_eq!((period_ns(0, 0), period_ns(0, 1), period_ns(5, 1), period_ns(0, 9)), (0, 0, 5, 0));
        assert_eq!(period_ns(u64::MAX, 2), u64::MAX);
        assert_eq!(Stamps::default().period_ns(), 0);
    }

    /// The largest stamp counts, wherever it is; earlier times than the first do not.
    #[test]
    fn stamps_may_run_backwards() {
        let mut stamps = Stamps::default();
        stamps.note(&[0, 90, -20, 60]);
        assert_eq!((stamps.span_ns(), stamps.period_ns()), (90, 120));
        let mut stamps = Stamps::default();
        stamps.note(&[0, -30, -60]);
        assert_eq!(stamps.period_ns(), 0);
    }
}
