//! The number of writes and reads per page, and the share of the busiest pages.
//!
//! Cost and memory: those of the page table; counts are sorted at the end.

use serde::Serialize;
use std::collections::BTreeMap;

/// Shares of the pages for which the share of accesses is reported.
const BUSIEST: [f64; 6] = [0.01, 0.05, 0.1, 0.2, 0.5, 1.0];
/// Points of a Lorenz curve beside 0.
const LORENZ_POINTS: u64 = 100;
/// Counts below this limit have a counter each during the collection.
const SMALL: usize = 4096;

/// Frequencies of writes and reads; null without any.
#[derive(Clone, Debug, Serialize)]
pub struct FrequencyInfo {
    /// Share of the pages that were followed; 1 means exact.
    pub sampled_share: f64,
    /// Writes of the pages that are written.
    pub written: Option<Frequency>,
    /// Reads of the pages that are read.
    pub read: Option<Frequency>,
}

/// Distribution of accesses over pages.
#[derive(Clone, Debug, Serialize)]
pub struct Frequency {
    /// Pages with any access.
    pub pages: u64,
    /// Accesses of the most accessed page.
    pub max: u64,
    /// Pages by number of accesses: 1, 2, 3-4, 5-8, ...
    pub histogram: FrequencyHistogram,
    /// Share of the accesses to the busiest pages.
    pub busiest: Shares,
    /// The Lorenz curve: from the least to the most accessed page.
    pub lorenz: Shares,
}

/// Pages by number of accesses, as columns.
#[derive(Clone, Debug, Serialize)]
pub struct FrequencyHistogram {
    /// Fewest accesses of the row.
    pub from: Vec<u64>,
    /// Most accesses of the row.
    pub to: Vec<u64>,
    /// Pages.
    pub pages: Vec<u64>,
    /// Accesses of these pages.
    pub accesses: Vec<u64>,
}

/// Shares of the pages with their shares of the accesses, as columns.
#[derive(Clone, Debug, Serialize)]
pub struct Shares {
    /// Share of the pages with any access.
    pub page_share: Vec<f64>,
    /// Share of the accesses.
    pub access_share: Vec<f64>,
}

/// Describes the distribution from the count of each page; each page stands for `2^shift`.
pub(crate) fn describe(counts: impl Iterator<Item = u32>, shift: u32) -> Option<Frequency> {
    let rows = gathered(counts);
    let pages: u64 = rows.iter().map(|row| row.1).sum();
    let max = rows.last()?.0;
    let mut histogram =
        FrequencyHistogram { from: Vec::new(), to: Vec::new(), pages: Vec::new(), accesses: Vec::new() };
    for class in 0..=32u32 {
        // 1, 2, 3-4, 5-8: a power of two ends its class.
        let (from, to) = if class == 0 { (1, 1) } else { ((1u64 << (class - 1)) + 1, 1 << class) };
        let inside = rows.iter().filter(|row| (from..=to).contains(&row.0));
        let (n, accesses) = inside.fold((0, 0), |(n, sum), row| (n + row.1, sum + row.0 * row.1));
        if n > 0 {
            histogram.from.push(from);
            histogram.to.push(to);
            histogram.pages.push(n << shift);
            histogram.accesses.push(accesses << shift);
        }
    }
    let all: u64 = rows.iter().map(|row| row.0 * row.1).sum();
    let share_of_least = |share: f64| accesses_of_least(&rows, share * pages as f64) / all as f64;
    let points = LORENZ_POINTS.min(pages);
    let places: Vec<f64> = (0..=points).map(|i| i as f64 / points as f64).collect();
    Some(Frequency {
        pages: pages << shift,
        max,
        histogram,
        busiest: Shares {
            page_share: BUSIEST.to_vec(),
            access_share: BUSIEST.iter().map(|&share| 1.0 - share_of_least(1.0 - share)).collect(),
        },
        lorenz: Shares {
            access_share: places.iter().map(|&share| share_of_least(share)).collect(),
            page_share: places,
        },
    })
}

/// Lists the distinct counts, ascending, with the number of pages of each; zeros are left out.
fn gathered(counts: impl Iterator<Item = u32>) -> Vec<(u64, u64)> {
    let (mut small, mut large) = (vec![0u64; SMALL], BTreeMap::<u64, u64>::new());
    for count in counts {
        match small.get_mut(count as usize) {
            Some(n) => *n += 1,
            None => *large.entry(u64::from(count)).or_default() += 1,
        }
    }
    let small =
        small.iter().enumerate().skip(1).filter(|&(_, &n)| n > 0).map(|(count, &n)| (count as u64, n));
    small.chain(large).collect()
}

/// Sums the accesses of the `pages` least accessed pages; a fraction of a page counts in proportion.
fn accesses_of_least(rows: &[(u64, u64)], pages: f64) -> f64 {
    let (mut left, mut sum) = (pages, 0.0);
    for &(count, n) in rows {
        let taken = left.min(n as f64);
        sum += taken * count as f64;
        left -= taken;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nine_cold_pages_and_a_hot_one() {
        let f = describe([1, 1, 1, 1, 1, 1, 1, 1, 1, 91, 0, 0].into_iter(), 1).unwrap();
        assert_eq!((f.pages, f.max), (20, 91));
        assert_eq!((f.histogram.from, f.histogram.to), (vec![1, 65], vec![1, 128]));
        assert_eq!((f.histogram.pages, f.histogram.accesses), (vec![18, 2], vec![18, 182]));
        let expected = [0.091, 0.455, 0.91, 0.92, 0.95, 1.0];
        assert!(f.busiest.access_share.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
        assert_eq!(
            (f.lorenz.page_share.len(), f.lorenz.access_share[9], f.lorenz.access_share[10]),
            (11, 0.09, 1.0)
        );
        assert!(describe([0].into_iter(), 0).is_none());
        let classes = describe([1, 2, 3, 4, 5, 8, 9, u32::MAX].into_iter(), 0).unwrap().histogram;
        assert_eq!(classes.from, [1, 2, 3, 5, 9, (1 << 31) + 1]);
        assert_eq!(classes.pages, [1, 1, 2, 2, 1, 1]);
    }

    proptest! {
        #[test]
        fn shares_equal_those_of_the_sorted_list(mut counts in prop::collection::vec(0u32..10_000, 1..300)) {
            let frequency = describe(counts.iter().copied(), 0);
            counts.retain(|&count| count > 0);
            counts.sort_unstable_by(|a, b| b.cmp(a));
            prop_assert_eq!(frequency.is_some(), !counts.is_empty());
            if let Some(frequency) = frequency {
                let sum: f64 = counts.iter().map(|&c| f64::from(c)).sum();
                for (share, access) in frequency.busiest.page_share.iter().zip(&frequency.busiest.access_share) {
                    let pages = share * counts.len() as f64;
                    let whole: f64 = counts.iter().take(pages as usize).map(|&c| f64::from(c)).sum();
                    let next = counts.get(pages as usize).map_or(0.0, |&c| f64::from(c));
                    let exact = (whole + pages.fract() * next) / sum;
                    prop_assert!((access - exact).abs() < 1e-9, "{} {} {}", share, access, exact);
                }
            }
        }
    }
}
