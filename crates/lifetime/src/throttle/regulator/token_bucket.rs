//! Token bucket: page writes pass at the rate of the epoch's capacity, with bursts; a page write without a token waits
//! for one. At most one page write in a hundred waits longer than the target of the 99th percentile. If none may, a
//! page write passes in debt, and the next one that may wait pays the whole debt.
//!
//! The state of the bucket is the time at which it is full again (virtual scheduling, ITU-T I.371, Annex A). A page
//! write moves this time by the duration of a page at the rate, and conforms if it is no more than the burst ahead. A
//! run of pages at even distances therefore needs no loop: of linear terms the first or the last is the largest.

use serde::{Deserialize, Serialize};

/// One page write in this many may wait longer than the target.
const ONE_IN: u64 = 100;
/// Longest duration of a page, used without capacity.
const PAGE_NS_MAX: f64 = 1e17;

/// Limits of the waits of page writes, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patience {
    /// Longest wait of 99 in a hundred.
    pub p99_ns: u64,
    /// Longest wait of any.
    pub max_ns: u64,
}

/// A token bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// Time at which it is full again.
    full_ns: u64,
    /// Duration of a page at the rate of this epoch.
    page_ns: u64,
    /// Largest lead of `full_ns` over the present.
    burst_ns: u64,
    /// Page writes that passed, and those that waited longer than the target.
    pages: u64,
    slow: u64,
}

impl Bucket {
    /// Begins an epoch with `bytes_per_ns`. Its capacity already accounts for pages passed in debt.
    pub fn begin(&mut self, now_ns: u64, bytes_per_ns: f64, page_bytes: f64, burst_ns: u64) {
        self.burst_ns = burst_ns;
        self.full_ns = self.full_ns.clamp(now_ns, now_ns.saturating_add(burst_ns));
        self.cost(bytes_per_ns, page_bytes);
    }

    /// Sets the flash bytes per page.
    pub fn cost(&mut self, bytes_per_ns: f64, page_bytes: f64) {
        let page_ns = if bytes_per_ns > 0.0 { page_bytes / bytes_per_ns } else { PAGE_NS_MAX };
        self.page_ns = page_ns.clamp(1.0, PAGE_NS_MAX) as u64;
    }

    /// Counts how many of up to `pages` page writes have a token, the first at `at_ns` and the others `distance_ns`
    /// apart.
    #[must_use]
    pub fn ready(&self, at_ns: u64, distance_ns: u64, pages: u64) -> u64 {
        let limit_ns = at_ns.saturating_add(self.burst_ns);
        let from_ns = self.full_ns.max(at_ns);
        if from_ns > limit_ns || pages == 0 {
            return 0;
        }
        // Page i conforms if from + i page <= at + i distance + burst; intermediate values are later than that or
        // follow from it.
        let steeper_ns = self.page_ns.saturating_sub(distance_ns);
        let slower = (limit_ns - from_ns).checked_div(steeper_ns);
        slower.map_or(pages, |more| pages.min(more.saturating_add(1)))
    }

    /// Lets page writes pass, the first at `at_ns` and the others `distance_ns` apart.
    pub fn pass(&mut self, at_ns: u64, distance_ns: u64, pages: u64) {
        if pages == 0 {
            return;
        }
        let last_ns = at_ns.saturating_add((pages - 1).saturating_mul(distance_ns));
        let whole_ns = self.full_ns.max(at_ns).saturating_add(pages.saturating_mul(self.page_ns));
        self.full_ns = whole_ns.max(last_ns.saturating_add(self.page_ns));
        self.pages += pages;
    }

    /// Returns how many of up to `pages` page writes without a token wait equally long, and how long; at least one. The
    /// first is at `at_ns`, each other one `gap_ns` after the previous one passed. The wait need not be for a token.
    pub fn waits(&mut self, at_ns: u64, gap_ns: u64, pages: u64, patience: &Patience) -> (u64, u64) {
        let missing_ns = self.full_ns.saturating_sub(at_ns.saturating_add(self.burst_ns));
        let target_ns = patience.p99_ns.min(patience.max_ns);
        if missing_ns <= target_ns {
            // After one that has just received its token, each waits for the duration of the rate.
            let steady = missing_ns == self.page_ns.saturating_sub(gap_ns);
            return (if steady { pages } else { 1 }, missing_ns);
        }
        let first_slow = (self.slow + 1).saturating_mul(ONE_IN) - 1;
        if patience.max_ns > target_ns && self.pages >= first_slow {
            self.slow += 1;
            return (1, missing_ns.min(patience.max_ns));
        }
        // All in debt, until one may be slow or the debt is so small that one need not wait as long.
        let before_slow = if patience.max_ns > target_ns { first_slow - self.pages } else { u64::MAX };
        let paid_ns = target_ns.saturating_add(gap_ns).saturating_sub(self.page_ns);
        let in_debt = (missing_ns - target_ns).checked_div(paid_ns).map_or(u64::MAX, |n| n.saturating_add(1));
        (pages.min(before_slow).min(in_debt), target_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use floatgate_base::testing::Bound;

    const PATIENCE: Patience = Patience { p99_ns: 5, max_ns: u64::MAX };

    /// A page per 10 ns and a burst of 20 ns by hand: three at once, then one per 10 ns.
    #[test]
    fn a_burst_then_the_rate() {
        let mut bucket = Bucket::default();
        bucket.begin(0, 0.1, 1.0, 20);
        assert_eq!(bucket.ready(0, 0, 9), 3);
        bucket.pass(0, 0, 3);
        assert_eq!((bucket.ready(9, 0, 9), bucket.ready(10, 0, 9)), (0, 1));
        // At the rate all pass; at twice the rate every second one has no token, except for savings.
        assert_eq!((bucket.ready(30, 10, 1000), bucket.ready(30, 5, 1000)), (1000, 5));
    }

    /// The first hundred page writes may not wait longer than the target; the hundredth pays the debt of all before it.
    #[test]
    fn one_in_a_hundred_pays_the_debt() {
        let mut bucket = Bucket::default();
        bucket.begin(0, 0.1, 1.0, 0);
        let (mut at_ns, mut waits) = (0, vec![]);
        for _ in 0..200 {
            let (_, wait_ns) = bucket.waits(at_ns, 0, 1, &PATIENCE);
            at_ns += wait_ns;
            bucket.pass(at_ns, 0, 1);
            waits.push(wait_ns);
        }
        let slow: Vec<usize> = (0..200).filter(|&i| waits[i] > 5).collect();
        assert_eq!(slow, [99, 199]);
        // 99 pages at 5 ns each except the first: 990 - 490 are owed.
        assert_eq!((waits[99], at_ns), (500, 1990));
    }

    /// Runs at even distances pass like their pages one by one.
    #[test]
    fn runs_are_their_pages() {
        for seed in 0..500 {
            let mut rng = Rng::new(seed, "bucket");
            let mut run = Bucket::default();
            run.begin(0, 1.0, 1.0 + rng.below(50) as f64, rng.below(300));
            let max_ns = if rng.below(2) == 0 { u64::MAX } else { rng.below(200) };
            let patience = Patience { p99_ns: rng.below(80), max_ns };
            let mut single = run;
            let mut at_ns = 0;
            for _ in 0..20 {
                at_ns += rng.below(400);
                let (distance_ns, pages) = (rng.below(60), 1 + rng.below(20));
                let ready = run.ready(at_ns, distance_ns, pages);
                run.pass(at_ns, distance_ns, ready);
                let mut passed = 0;
                let mut bound = Bound::new(100_000_000);
                while passed < pages && single.ready(at_ns + passed * distance_ns, 0, 1) == 1 {
                    bound.step();
                    single.pass(at_ns + passed * distance_ns, 0, 1);
                    passed += 1;
                }
                assert_eq!((ready, run), (passed, single), "seed {seed}");
                at_ns += pages * distance_ns;
                let (gap_ns, mut left) = (rng.below(60), rng.below(300));
                let (mut together, mut one_by_one) = (vec![], vec![]);
                let mut at = at_ns;
                let mut bound = Bound::new(100_000_000);
                while left > 0 && run.ready(at, gap_ns, 1) == 0 {
                    bound.step();
                    let (count, wait_ns) = run.waits(at, gap_ns, left, &patience);
                    run.pass(at + wait_ns, gap_ns + wait_ns, count);
                    together.extend((0..count).map(|_| wait_ns));
                    at += count * (wait_ns + gap_ns);
                    left -= count;
                }
                for _ in 0..together.len() {
                    let (_, wait_ns) = single.waits(at_ns, gap_ns, 1, &patience);
                    single.pass(at_ns + wait_ns, 0, 1);
                    one_by_one.push(wait_ns);
                    at_ns += wait_ns + gap_ns;
                }
                assert_eq!((together, run), (one_by_one, single), "seed {seed}");
            }
        }
    }
}
