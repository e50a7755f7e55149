//! The update interval distribution (UID): how many host page writes pass from one write of a page to the next.
//!
//! It is found from a sample of pages over a window of writes (an epoch), which is cut into intervals of equal length. For each
//! page of the sample the time of its last write is kept, and each further write, or the end of the page by TRIM, counts its
//! interval. A page that is written just once in the window counts as one of the longest. Long intervals fit into the window less
//! often than they are: a count of interval i in a window of W is scaled by 1 + ((W mod i) + i / 2) / W. The hottest pages have much of
//! the traffic and are hardly ever of the sample; their updates come within the first interval, which is why that is not taken from
//! the sample: in ten intervals of the window updates of all pages count that were written before in the same interval. All this is as
//! in the public simulator of MiDAS's authors.
//! Cost: a look-up a write of a page of the sample, and in ten intervals one of every page. Memory: 4 bytes per page of the sample, 8 per
//! interval of the window, 1 bit per page.

use floatgate_base::Lpn;
use floatgate_base::memory::table;
use serde::{Deserialize, Serialize};

/// Never written in this window.
const NEVER: u32 = u32::MAX;
/// Given up since.
const GONE: u32 = u32::MAX - 1;
/// Intervals in which updates of all pages count.
const CHECKS: u32 = 10;
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
    /// Updates of any page within an interval, in so many that were checked; the pages seen in the present one; and the time at
    /// which that begins.
    first: u64,
    checked: u32,
    seen: Vec<u64>,
    check_from: u32,
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
        let bits = if every > 1 { logical_pages.div_ceil(64) } else { 0 };
        let mut uid = Self {
            every,
            stamps: table(sampled, NEVER),
            counts: vec![0; window],
            first: 0,
            checked: 0,
            seen: table(bits as usize, 0),
            check_from: 0,
            interval_pages,
            window,
            time: 0,
            begun: false,
        };
        uid.check_from = uid.next_check();
        uid
    }

    /// When the next interval begins that is checked: they are spread over the window. Never where all pages are of the sample.
    fn next_check(&self) -> u32 {
        if self.checked == CHECKS || self.every == 1 {
            return u32::MAX;
        }
        let interval = self.counts.len() as u64 * u64::from(self.checked + 1) / u64::from(CHECKS + 1);
        (interval as u32 * self.interval_pages).max(self.time)
    }

    /// A page is written in an interval that is checked.
    #[inline(never)]
    fn check(&mut self, lpn: Lpn) {
        if self.time == self.check_from {
            self.seen.fill(0);
        }
        let (word, bit) = (&mut self.seen[lpn.index() / 64], 1 << (lpn.0 % 64));
        self.first += u64::from(*word & bit != 0);
        *word |= bit;
        if self.time + 1 == self.check_from + self.interval_pages {
            self.checked += 1;
            // From the next write on.
            self.time += 1;
            self.check_from = self.next_check();
            self.time -= 1;
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
        if self.time >= self.check_from {
            self.check(lpn);
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
        if self.checked > 0 {
            counts[0] = self.first as f64 * window as f64 / f64::from(self.checked) / f64::from(self.every);
        }
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
        (self.time, self.first, self.checked) = (0, 0, 0);
        self.check_from = self.next_check();
    }

    /// Bytes of its tables.
    pub fn memory_bytes(&self) -> u64 {
        self.stamps.len() as u64 * 4 + self.counts.len() as u64 * 8 + self.seen.len() as u64 * 8
    }
}

/// A distribution of update intervals, with its sums, so that no question walks through it.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    counts: Vec<f64>,
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
        Self { counts: counts.to_vec(), below, below_sums, weighted, step }
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

    /// The same without a part of all intervals before `until`.
    pub fn without(&self, until: usize, part: f64) -> Self {
        let mut counts = self.counts.clone();
        counts[..until].iter_mut().for_each(|count| *count *= 1.0 - part);
        Self::new(&counts, self.step)
    }

    /// For how long data live of which each is updated before interval `until`, in segments, of a segment written of all data: the sum
    /// over those intervals of the share that outlives each and is dead by `until`.
    pub fn lives_below(&self, until: usize) -> f64 {
        let lives = until as f64 * self.below(until) - self.below_sums[until];
        if self.total() > 0.0 { lives / self.total() * self.step } else { 0.0 }
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
    use floatgate_base::testing::Bound;

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
        let mut bound = Bound::new(100_000_000);
        while !uid.is_full() {
            bound.step();
            uid.write(Lpn(1), true);
        }
        uid.write(Lpn(0), true);
        assert_eq!(uid.counts, [1, 1, 1, 0, 0, 0, 0, 0], "the window is over");
        // Page 2 was written once: it counts as one of the longest. Then come the parts of long intervals that did not fit.
        // Page 1 was written over and over in intervals that were checked: that is what the first one counts.
        let checked = f64::from(uid.checked);
        assert!(checked >= 7.0, "{checked} of 8 intervals");
        let first = uid.first as f64 * 8.0 / checked / 2.0;
        assert!(first > 20.0);
        let found = uid.distribution(10.0);
        let factor = |i: usize| 1.0 + ((8 % i) as f64 + i as f64 / 2.0) / 8.0;
        assert_eq!(found.below(1), first);
        assert!((found.below(3) - (first + factor(1) + factor(2))).abs() < 1e-9);
        assert!((found.total() - (first + factor(1) + factor(2) + factor(7))).abs() < 1e-9);
        assert_eq!(found.step, 1.0);
    }

    /// Half of all writes go to one page that is of no sample, the others to each page in turn.
    #[test]
    fn the_first_interval_is_that_of_all_pages() {
        let mut uid = Uid::new(1000, 10, 8000, 100);
        for write in 0..8000 {
            uid.write(Lpn(if write % 2 == 0 { 7 } else { write / 2 % 1000 }), true);
        }
        assert_eq!(uid.checked, CHECKS);
        // 49 of its 50 writes in an interval follow another one there; then come those of pages in turn, which are apart by 2000.
        assert!((490..=500).contains(&uid.first), "{}", uid.first);
        let found = uid.distribution(100.0);
        let share = found.below(1) / found.total();
        assert!((0.4..0.55).contains(&share), "{share}");
        assert_eq!(found.below(1), found.below(19));
        assert!(found.below(21) > 0.9 * found.total());
    }

    /// Where all pages are of the sample nothing needs to be checked.
    #[test]
    fn a_whole_sample_knows_the_first_interval() {
        let mut uid = Uid::new(100, 1, 800, 10);
        (0..800).for_each(|write| uid.write(Lpn(write % 5), true));
        assert_eq!((uid.checked, uid.seen.len()), (0, 0));
        assert_eq!(uid.counts[0], 795);
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
