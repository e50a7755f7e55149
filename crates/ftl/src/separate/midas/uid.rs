//! The update interval distribution (UID): how many host page writes pass from one write of a page to the next.
//!
//! It is found from a sample of pages over a window of writes (an epoch), which is cut into intervals of equal length. For each
//! page of the sample the time of its last write is kept, and each further write, or the end of the page by TRIM, counts its
//! interval. A page that is written just once in the window counts as one of the longest. Long intervals fit into the window less
//! often than they are: a count of interval i in a window of W is scaled by 1 + ((W mod i) + i / 2) / W. All this is as in the
//! public simulator of MiDAS's authors, which also counts the first interval anew from all pages of ten intervals; with times that
//! are exact to the page that interval is measured like any other, so it is left out.
//! Cost: a look-up a write of a page of the sample. Memory: 4 bytes per page of the sample, 8 per interval of the window.

use floatgate_base::Lpn;
use floatgate_base::memory::table;
use serde::{Deserialize, Serialize};

/// Never written in this window.
const NEVER: u32 = u32::MAX;
/// Given up since.
const GONE: u32 = u32::MAX - 1;
/// The longest window, so that times with a bit beside them fit.
const WINDOW_MAX: u64 = 1 << 30;

/// The sample at work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Uid {
    /// Every so many pages one is of the sample.
    every: u32,
    /// By page of the sample: twice the time of the last write in this window, and 1 where there was no other.
    stamps: Vec<u32>,
    counts: Vec<u64>,
    /// Host page writes of an interval.
    interval_pages: u32,
    /// The first window's intervals.
    window: usize,
    /// Host page writes of this window; none before the first write that replaces something.
    time: u32,
    begun: bool,
}

impl Uid {
    /// Of so many pages, one in `every`, over so many page writes in intervals of `interval_pages`.
    pub fn new(logical_pages: u32, every: u32, window_pages: u64, interval_pages: u32) -> Self {
        let sampled = logical_pages.div_ceil(every) as usize;
        let window = (window_pages.min(WINDOW_MAX) / u64::from(interval_pages)).max(8) as usize;
        Self {
            every,
            stamps: table(sampled, NEVER),
            counts: vec![0; window],
            interval_pages,
            window,
            time: 0,
            begun: false,
        }
    }

    /// Host page writes of a window.
    pub fn window_pages(&self) -> u64 {
        self.counts.len() as u64 * u64::from(self.interval_pages)
    }

    /// Whether the window is over.
    pub fn is_full(&self) -> bool {
        u64::from(self.time) >= self.window_pages()
    }

    /// The host writes a page.
    #[inline(always)]
    pub fn write(&mut self, lpn: Lpn, update: bool) {
        if self.is_full() {
            return;
        }
        // What only fills the drive says nothing.
        self.begun |= update;
        if !self.begun {
            return;
        }
        if lpn.0.is_multiple_of(self.every) {
            let at = (lpn.0 / self.every) as usize;
            let before = self.stamps[at];
            self.count(before);
            self.stamps[at] = 2 * self.time + u32::from(before == NEVER);
        }
        self.time += 1;
    }

    /// The host gives a page up.
    pub fn trimmed(&mut self, lpn: Lpn) {
        if !self.is_full() && lpn.0.is_multiple_of(self.every) {
            let at = (lpn.0 / self.every) as usize;
            let before = self.stamps[at];
            self.count(before);
            if before != NEVER {
                self.stamps[at] = GONE;
            }
        }
    }

    fn count(&mut self, stamp: u32) {
        if stamp < GONE {
            let interval = (self.time - stamp / 2) / self.interval_pages;
            let last = self.counts.len() - 1;
            self.counts[(interval as usize).min(last)] += 1;
        }
    }

    /// What was found; `segment_pages` are those of a unit in each domain.
    pub fn distribution(&self, segment_pages: f64) -> Distribution {
        let mut counts: Vec<f64> = self.counts.iter().map(|&count| count as f64).collect();
        let last = counts.len() - 1;
        counts[last] += self.stamps.iter().filter(|&&stamp| stamp < GONE && stamp % 2 == 1).count() as f64;
        let window = counts.len();
        for (i, count) in counts.iter_mut().enumerate().skip(1) {
            *count *= 1.0 + ((window % i) as f64 + i as f64 / 2.0) / window as f64;
        }
        Distribution::new(&counts, f64::from(self.interval_pages) / segment_pages)
    }

    /// Begins a new window, twice as long where `longer` says so, up to 16 times the first.
    pub fn restart(&mut self, longer: bool) {
        let doubled = 2 * self.counts.len();
        let longest = (16 * self.window).min((WINDOW_MAX / u64::from(self.interval_pages)) as usize);
        let window = if longer && doubled <= longest { doubled } else { self.counts.len() };
        self.counts.clear();
        self.counts.resize(window, 0);
        self.stamps.fill(NEVER);
        self.time = 0;
    }

    /// Bytes of its tables.
    pub fn memory_bytes(&self) -> u64 {
        self.stamps.len() as u64 * 4 + self.counts.len() as u64 * 8
    }
}

/// A distribution of update intervals, with its sums, so that no question walks through it.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// How many are shorter than each interval begins.
    below: Vec<f64>,
    /// Sum of `below` over the ends of the intervals before.
    below_sums: Vec<f64>,
    /// Sum of counts times intervals of those before.
    weighted: Vec<f64>,
    /// Length of an interval in segments.
    pub step: f64,
}

impl Distribution {
    /// Of counts by interval, each of which is `step` segments long.
    pub fn new(counts: &[f64], step: f64) -> Self {
        let sums = |of: &dyn Fn(usize) -> f64| {
            let mut sum = 0.0;
            let mut sums = vec![0.0];
            sums.extend((0..counts.len()).map(|i| {
                sum += of(i);
                sum
            }));
            sums
        };
        let below = sums(&|i| counts[i]);
        let below_sums = sums(&|i| below[i + 1]);
        let weighted = sums(&|i| counts[i] * i as f64);
        Self { below, below_sums, weighted, step }
    }

    /// Intervals.
    pub fn len(&self) -> usize {
        self.below.len() - 1
    }

    /// All that is counted.
    pub fn total(&self) -> f64 {
        self.below[self.len()]
    }

    /// How many are shorter than interval `at` begins.
    pub fn below(&self, at: usize) -> f64 {
        self.below[at.min(self.len())]
    }

    /// The first interval that begins no sooner than `segments`.
    pub fn at(&self, segments: f64) -> usize {
        ((segments / self.step).ceil().max(0.0) as usize).min(self.len())
    }

    /// For how long data live on from interval `from` to interval `to`, in segments, of a segment written that has lived that long: the
    /// sum over the intervals of the share that outlives each.
    pub fn survival(&self, from: usize, to: usize) -> f64 {
        let there = self.total() - self.below(from);
        let intervals = to as f64 - from as f64;
        let dead = self.below_sums[to] - self.below_sums[from] - intervals * self.below(from);
        if there > 0.0 { (intervals - dead / there) * self.step } else { 0.0 }
    }

    /// Of updates of an interval from `from` on: the share of those which are shorter than a part of their mean, and the share of
    /// pages that these are of, where a page of interval i is updated in proportion to 1 / i.
    pub fn hot_part(&self, from: usize, part: f64) -> (f64, f64) {
        let (counts, weight) =
            (self.total() - self.below(from), self.weighted[self.len()] - self.weighted[from]);
        if counts <= 0.0 || weight <= 0.0 {
            return (0.0, 0.0);
        }
        // The last interval that counts as hot is the one in which that part of the mean lies.
        let end = ((part * weight / counts) as usize + 1).clamp(from, self.len());
        ((self.below(end) - self.below(from)) / counts, (self.weighted[end] - self.weighted[from]) / weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

    /// Pages 0 and 2 of four are of the sample.
    fn uid() -> Uid {
        Uid::new(4, 2, 80, 10)
    }

    #[test]
    fn intervals_are_counted_between_writes_of_a_page() {
        let mut uid = uid();
        uid.write(Lpn(0), false);
        assert_eq!(uid.time, 0, "the drive fills");
        uid.write(Lpn(0), true);
        for _ in 0..24 {
            uid.write(Lpn(1), true);
        }
        uid.write(Lpn(0), true);
        assert_eq!(uid.counts, [0, 0, 1, 0, 0, 0, 0, 0], "25 writes later");
        uid.write(Lpn(0), true);
        assert_eq!(uid.counts, [1, 0, 1, 0, 0, 0, 0, 0]);
        uid.write(Lpn(2), true);
        for _ in 0..12 {
            uid.write(Lpn(3), true);
        }
        uid.trimmed(Lpn(0));
        assert_eq!(uid.counts, [1, 1, 1, 0, 0, 0, 0, 0], "an end is an end");
        uid.write(Lpn(0), false);
        assert_eq!(uid.counts, [1, 1, 1, 0, 0, 0, 0, 0], "nothing was there");
        uid.trimmed(Lpn(3));
        while !uid.is_full() {
            uid.write(Lpn(1), true);
        }
        uid.write(Lpn(0), true);
        assert_eq!(uid.counts, [1, 1, 1, 0, 0, 0, 0, 0], "the window is over");
        // Page 2 was written once: it counts as one of the longest. Then come the parts of long intervals that did not fit.
        let found = uid.distribution(10.0);
        let factor = |i: usize| 1.0 + ((8 % i) as f64 + i as f64 / 2.0) / 8.0;
        assert_eq!(found.below(1), 1.0);
        assert!((found.below(3) - (1.0 + factor(1) + factor(2))).abs() < 1e-12);
        assert!((found.total() - (1.0 + factor(1) + factor(2) + factor(7))).abs() < 1e-12);
        assert_eq!(found.step, 1.0);
    }

    #[test]
    fn windows_grow_to_sixteen_times_the_first() {
        let mut uid = uid();
        uid.write(Lpn(0), true);
        uid.restart(false);
        assert_eq!((uid.window_pages(), uid.time, uid.stamps[0]), (80, 0, NEVER));
        (0..9).for_each(|_| uid.restart(true));
        assert_eq!(uid.window_pages(), 16 * 80);
    }

    /// Sums answer what the counts say one by one.
    #[test]
    fn sums_agree_with_walking_through() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed, "uid");
            let counts: Vec<f64> = (0..1 + rng.below(40)).map(|_| rng.below(50) as f64).collect();
            let found = Distribution::new(&counts, 0.25);
            let from = rng.below(counts.len() as u64) as usize;
            let to = from + rng.below((counts.len() - from) as u64 + 1) as usize;
            let there: f64 = counts[from..].iter().sum();
            let mut dead = 0.0;
            let mut lives = 0.0;
            for count in &counts[from..to] {
                dead += count;
                lives += if there > 0.0 { (1.0 - dead / there) * 0.25 } else { 0.0 };
            }
            assert!((found.survival(from, to) - lives).abs() < 1e-9, "seed {seed}");
            let weight: f64 = (from..counts.len()).map(|i| counts[i] * i as f64).sum();
            let (updates, pages) = found.hot_part(from, 0.7);
            if there > 0.0 && weight > 0.0 {
                let bound = 0.7 * weight / there;
                let hot = (from..counts.len()).filter(|&i| i as f64 <= bound);
                let sums = hot.fold((0.0, 0.0), |sum, i| (sum.0 + counts[i], sum.1 + counts[i] * i as f64));
                assert!((updates - sums.0 / there).abs() < 1e-9, "seed {seed}");
                assert!((pages - sums.1 / weight).abs() < 1e-9, "seed {seed}");
            } else {
                assert_eq!((updates, pages), (0.0, 0.0));
            }
        }
    }

    /// Pages that are written in turn all have the same interval, whatever the sample.
    #[test]
    fn a_loop_has_one_interval() {
        let mut uid = Uid::new(100, 7, 2000, 10);
        for write in 0..2000 {
            uid.write(Lpn(write % 100), true);
        }
        let found = uid.distribution(10.0);
        assert_eq!(found.below(10), 0.0);
        assert_eq!(found.below(11), found.total(), "all in the interval from 100 on");
    }
}
