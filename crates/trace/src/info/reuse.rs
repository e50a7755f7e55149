//! Reuse distances: the number of other pages accessed since a page's last access, and the hit ratios of LRU caches.
//!
//! A cache of `C` pages under LRU hits exactly the accesses with a distance below `C`. Accesses are processed page by
//! page, in order within a request. Consecutive pages of a request that were last accessed one right after the other
//! have the same distance and are counted as one.

use super::log_histogram::{Distribution, LogHistogram};
use super::order::Order;
use super::page_table::Page;
use floatgate_base::TRACE_PAGE_BYTES;
use serde::Serialize;

/// Smallest cache of the curve: 1 MiB.
const CACHE_MIN_PAGES: u64 = 256;
/// Points of the curve per doubling; it divides the histogram's 8 buckets, which makes all points exact.
const STEPS: u64 = 4;

/// Reuse distances of one kind of accesses.
#[derive(Clone, Debug, Serialize)]
pub struct Reuse {
    /// Page accesses.
    pub page_accesses: u64,
    /// Share of them that are the first to their page; null without any.
    pub first_share: Option<f64>,
    /// Bytes of other pages accessed since the last access, over the accesses that are not the first.
    pub bytes: Distribution<u64>,
}

/// Reuse distances, and the hit ratios of LRU caches.
#[derive(Clone, Debug, Serialize)]
pub struct ReuseInfo {
    /// Share of the pages that were followed; 1 means exact.
    pub sampled_share: f64,
    /// Reads and writes together.
    pub all: Reuse,
    /// Reads alone, ignoring writes.
    pub reads: Reuse,
    /// Hit ratios of LRU caches.
    pub lru: LruCurve,
}

/// Hit ratios of LRU caches, as columns.
#[derive(Clone, Debug, Serialize)]
pub struct LruCurve {
    /// Sizes of the cache, from 1 MiB to beyond the footprint.
    pub cache_bytes: Vec<u64>,
    /// Share of the page accesses (reads and writes) that hit, in a cache filled by reads and writes.
    pub hit_ratio: Vec<Option<f64>>,
    /// Share of the page reads that hit, in a cache filled by reads alone.
    pub read_hit_ratio: Vec<Option<f64>>,
}

/// Pages of one request that were last accessed one right after the other.
#[derive(Clone, Copy)]
struct Run {
    /// Previous place of the first page, 0 for new pages; new place of the first page.
    old: u32,
    new: u32,
    n: u32,
    /// Previous place of the page that would continue the run.
    expected: u32,
}

const NO_RUN: Run = Run { old: 0, new: 0, n: 0, expected: u32::MAX };

/// An LRU stack over the pages of a table.
pub(crate) struct Stack {
    pub order: Order,
    run: Run,
    distances: LogHistogram,
    first: u64,
}

impl Default for Stack {
    fn default() -> Self {
        Self { order: Order::default(), run: NO_RUN, distances: LogHistogram::default(), first: 0 }
    }
}

impl Stack {
    /// Records an access to the page whose place is stored in `place`; the order must have room.
    #[inline]
    pub fn access(&mut self, place: &mut u32, shift: u32) {
        let old = *place;
        let new = self.order.take(1);
        *place = new;
        if old != self.run.expected {
            self.flush(shift);
            self.run = Run { old, new, n: 0, expected: old };
        }
        self.run.n += 1;
        self.run.expected += u32::from(old != 0);
    }

    /// Counts the completed run. Only accesses may happen between an access and this call.
    #[inline]
    pub fn flush(&mut self, shift: u32) {
        let run = self.run;
        self.run = NO_RUN;
        if run.n == 0 {
            return;
        }
        if run.old == 0 {
            self.first += u64::from(run.n) << shift;
        } else {
            // For the first page these are the others of the run and the pages accessed since. Each further page has
            // one page of the run less after it and one more before it.
            let behind = self.order.behind(run.old + run.n - 1) + run.n - 1;
            self.distances.add(u64::from(behind) << shift, u64::from(run.n) << shift);
            self.order.clear(run.old, run.n);
        }
        self.order.fill(run.new, run.n);
    }

    /// Removes a page from the stack.
    pub fn forget(&mut self, place: u32) {
        if place != 0 {
            self.order.clear(place, 1);
        }
    }

    fn describe(&self, page_accesses: u64) -> Reuse {
        let followed = self.first + self.distances.total();
        Reuse {
            page_accesses,
            first_share: (followed > 0).then(|| self.first as f64 / followed as f64),
            bytes: self.distances.describe(|pages| (pages * TRACE_PAGE_BYTES as f64).round() as u64),
        }
    }

    fn hit_ratio(&self, cache_pages: u64) -> Option<f64> {
        let followed = self.first + self.distances.total();
        (followed > 0).then(|| self.distances.below(cache_pages) as f64 / followed as f64)
    }
}

/// The two stacks of a trace.
#[derive(Default)]
pub(crate) struct Stacks {
    pub all: Stack,
    pub reads: Stack,
}

impl Stacks {
    /// Removes a page from both stacks.
    pub fn forget(&mut self, page: &Page) {
        self.all.forget(page.accessed);
        self.reads.forget(page.read);
    }

    pub fn describe(
        &self,
        page_accesses: u64,
        page_reads: u64,
        footprint_pages: u64,
        shift: u32,
    ) -> ReuseInfo {
        let sizes = cache_sizes(footprint_pages);
        ReuseInfo {
            sampled_share: 1.0 / (1u64 << shift) as f64,
            all: self.all.describe(page_accesses),
            reads: self.reads.describe(page_reads),
            lru: LruCurve {
                hit_ratio: sizes.iter().map(|&pages| self.all.hit_ratio(pages)).collect(),
                read_hit_ratio: sizes.iter().map(|&pages| self.reads.hit_ratio(pages)).collect(),
                cache_bytes: sizes.iter().map(|&pages| pages.saturating_mul(TRACE_PAGE_BYTES)).collect(),
            },
        }
    }
}

/// Returns the sizes of caches in pages: four per doubling, up to the first that holds the footprint.
fn cache_sizes(footprint_pages: u64) -> Vec<u64> {
    let mut sizes = Vec::new();
    let mut power = CACHE_MIN_PAGES;
    loop {
        for step in 0..STEPS {
            let size = power + power / STEPS * step;
            sizes.push(size);
            if size >= footprint_pages {
                return sizes;
            }
        }
        power = power.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Processes accesses by request, with ascending page numbers.
    fn stack(requests: &[std::ops::Range<usize>]) -> Stack {
        let mut stack = Stack::default();
        let mut places = vec![0; 400];
        for request in requests {
            if !stack.order.has_room(request.len() as u32) {
                stack.order.renumber(places.iter_mut());
            }
            places[request.clone()].iter_mut().for_each(|place| stack.access(place, 0));
            stack.flush(0);
        }
        stack
    }

    #[test]
    fn a_loop_over_n_pages_has_distances_of_n_less_one() {
        for request in [1, 4, 10, 100] {
            let round = (0..300).step_by(request).map(|at| at..at + request);
            let rounds: Vec<_> = std::iter::repeat_n(round, 5).flatten().collect();
            let stack = stack(&rounds);
            assert_eq!((stack.first, stack.distances.total()), (300, 1200));
            assert_eq!(stack.distances.quantile(0.0), Some(299.0));
            assert_eq!(stack.distances.quantile(1.0), Some(299.0));
            assert_eq!(stack.hit_ratio(256), Some(0.0));
            assert_eq!(stack.hit_ratio(320), Some(0.8));
        }
    }

    #[test]
    fn caches_go_up_to_the_footprint() {
        assert_eq!(cache_sizes(1), [256]);
        assert_eq!(cache_sizes(600), [256, 320, 384, 448, 512, 640]);
        assert!(cache_sizes(1 << 60).len() < 220);
        assert_eq!(stack(&[]).hit_ratio(256), None);
    }

    proptest! {
        #[test]
        fn equals_a_walk_of_the_stack(requests in prop::collection::vec((0usize..300, 1usize..60), 1..400)) {
            let requests: Vec<_> = requests.iter().map(|&(at, n)| at..at + n).collect();
            let (mut list, mut plain, mut first) = (Vec::<usize>::new(), LogHistogram::default(), 0);
            for page in requests.iter().cloned().flatten() {
                match list.iter().rev().position(|&p| p == page) {
                    None => first += 1,
                    Some(distance) => {
                        plain.add(distance as u64, 1);
                        list.remove(list.len() - 1 - distance);
                    }
                }
                list.push(page);
            }
            let reuse = stack(&requests);
            prop_assert_eq!(reuse.first, first);
            let (reuse, plain) = (reuse.distances.describe(|v| v), plain.describe(|v| v));
            prop_assert_eq!(reuse.histogram.count, plain.histogram.count);
            prop_assert_eq!(reuse.histogram.from, plain.histogram.from);
        }
    }
}
