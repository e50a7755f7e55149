//! The update interval distribution (UID): the host page writes between two writes of a page.
//!
//! It is measured with a sample of pages over a window of writes (an epoch), which is divided into intervals of equal
//! length. For each page of the sample the time of its last write is kept; each further write, or TRIM, counts an
//! interval. A page that is written only once in the window counts as one of the longest. A window shows fewer of the
//! long intervals than occur: a count of interval i in a window of W is scaled by 1 + ((W mod i) + i / 2) / W. The
//! hottest pages cause much of the traffic and are rarely in the sample. Their updates come within the first interval,
//! which is therefore measured separately: in ten intervals of the window, updates of all pages count that were written
//! before in the same interval. All this is as in the public simulator of MiDAS's authors. Cost: a look-up per write of
//! a page of the sample, and in ten intervals one of every page. Memory: 4 bytes per page of the sample, 8 per interval
//! of the window, 1 bit per page.

use floatgate_base::Lpn;
use floatgate_base::memory::table;
use serde::{Deserialize, Serialize};

/// Never written in this window.
const NEVER: u32 = u32::MAX;
/// Trimmed since.
const GONE: u32 = u32::MAX - 1;
/// Intervals in which updates of all pages count.
const CHECKS: u32 = 10;
/// The longest window whose times fit with one more bit.
const WINDOW_MAX: u64 = 1 << 30;

/// The sample with its counts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Uid {
    /// One page in this many is in the sample.
    every: u32,
    /// By page of the sample: twice the time of the last write in this window, plus 1 if it was the only one.
    stamps: Vec<u32>,
    counts: Vec<u64>,
    /// First-interval updates of any page, summed over the checked intervals; number of those; pages seen in the
    /// present one; time at which that begins.
    first: u64,
    checked: u32,
    seen: Vec<u64>,
    check_from: u32,
    /// Host page writes of an interval.
    interval_pages: u32,
    /// Intervals of the first window.
    window: usize,
    /// Host page writes of this window; none before the first write that replaces data.
    time: u32,
    begun: bool,
}

impl Uid {
    /// Creates a sample of one page in `every`, over `window_pages` page writes in intervals of `interval_pages`.
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

    /// Returns when the next checked interval begins; they are spread over the window. Never if all pages are in the
    /// sample.
    fn next_check(&self) -> u32 {
        if self.checked == CHECKS || self.every == 1 {
            return u32::MAX;
        }
        let interval = self.counts.len() as u64 * u64::from(self.checked + 1) / u64::from(CHECKS + 1);
        (interval as u32 * self.interval_pages).max(self.time)
    }

    /// Counts a page write in a checked interval.
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

    /// Returns the host page writes of a window.
    pub fn window_pages(&self) -> u64 {
        self.counts.len() as u64 * u64::from(self.interval_pages)
    }

    /// Checks whether the window is over.
    pub fn is_full(&self) -> bool {
        u64::from(self.time) >= self.window_pages()
    }

    /// Counts a host page write.
    #[inline(always)]
    pub fn write(&mut self, lpn: Lpn, update: bool) {
        if self.is_full() {
            return;
        }
        // Writes that only fill the drive tell nothing.
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

    /// Ends the interval of a trimmed page.
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

    /// Returns the distribution; `segment_pages` are those of a unit in each domain.
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

    /// Begins a new window, twice as long if `longer`, up to 16 times the first.
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

    /// Returns the bytes of its tables.
    pub fn memory_bytes(&self) -> u64 {
        self.stamps.len() as u64 * 4 + self.counts.len() as u64 * 8 + self.seen.len() as u64 * 8
    }
}

/// A distribution of update intervals, with prefix sums for constant-time queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    counts: Vec<f64>,
    /// Number of updates shorter than the beginning of each interval.
    below: Vec<f64>,
    /// Sum of `below` over the ends of the preceding intervals.
    below_sums: Vec<f64>,
    /// Sum of counts times intervals over the preceding intervals.
    weighted: Vec<f64>,
    /// Length of an interval in segments.
    pub step: f64,
}

impl Distribution {
    /// Creates the distribution from counts by interval, each `step` segments long.
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

    /// Returns the number of intervals.
    pub fn len(&self) -> usize {
        self.below.len() - 1
    }

    /// Returns the sum of all counts.
    pub fn total(&self) -> f64 {
        self.below[self.len()]
    }

    /// Returns the number of updates shorter than the beginning of interval `at`.
    pub fn below(&self, at: usize) -> f64 {
        self.below[at.min(self.len())]
    }

    /// Returns the first interval that begins no sooner than `segments`.
    pub fn at(&self, segments: f64) -> usize {
        ((segments / self.step).ceil().max(0.0) as usize).min(self.len())
    }

    /// Returns the distribution without a part of all intervals before `until`.
    pub fn without(&self, until: usize, part: f64) -> Self {
        let mut counts = self.counts.clone();
        counts[..until].iter_mut().for_each(|count| *count *= 1.0 - part);
        Self::new(&counts, self.step)
    }

    /// Returns the live data in segments, per segment of writes, among data that are updated before interval `until`.
    /// It sums over those intervals the share that outlives each and is dead by `until`.
    pub fn lives_below(&self, until: usize) -> f64 {
        let lives = until as f64 * self.below(until) - self.below_sums[until];
        if self.total() > 0.0 { lives / self.total() * self.step } else { 0.0 }
    }

    /// Returns the live data in segments from interval `from` to interval `to`, per segment written that has lived that
    /// long. It sums over the intervals the share that outlives each.
    pub fn survival(&self, from: usize, to: usize) -> f64 {
        let there = self.total() - self.below(from);
        let intervals = to as f64 - from as f64;
        let dead = self.below_sums[to] - self.below_sums[from] - intervals * self.below(from);
        if there > 0.0 { (intervals - dead / there) * self.step } else { 0.0 }
    }

    /// Splits updates of intervals from `from` on into hot and cold ones. Returns the share of updates shorter than a
    /// part of their mean, and the share of pages that these are of. A page of interval i is updated in proportion to 1
    /// / i.
    pub fn hot_part(&self, from: usize, part: f64) -> (f64, f64) {
        let (counts, weight) =
            (self.total() - self.below(from), self.weighted[self.len()] - self.weighted[from]);
        if counts <= 0.0 || weight <= 0.0 {
            return (0.0, 0.0);
        }
        // The last hot interval is the one in which that part of the mean lies.
        let end = ((part * weight / counts) as usize + 1).clamp(from, self.len());
        ((self.below(end) - self.below(from)) / counts, (self.weighted[end] - self.weighted[from]) / weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use floatgate_base::testing::Bound;

    /// Builds a sample of pages 0 and 2 of four.
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
        // Page 2 was written once: it counts as one of the longest. The corrections for long intervals follow. Page 1
        // was rewritten repeatedly in checked intervals; this is the count of the first interval.
        let checked = f64::from(uid.checked);
        assert!(checked >= 7.0, "{checked} of 8 intervals");
        let first = uid.first as f64 * 8.0 / checked / 2.0;
        assert!(first > 20.0);
        let distribution = uid.distribution(10.0);
        let factor = |i: usize| 1.0 + ((8 % i) as f64 + i as f64 / 2.0) / 8.0;
        assert_eq!(distribution.below(1), first);
        assert!((distribution.below(3) - (first + factor(1) + factor(2))).abs() < 1e-9);
        assert!((distribution.total() - (first + factor(1) + factor(2) + factor(7))).abs() < 1e-9);
        assert_eq!(distribution.step, 1.0);
    }

    /// Half of all writes go to one page outside the sample, the others to each page in turn.
    #[test]
    fn the_first_interval_is_that_of_all_pages() {
        let mut uid = Uid::new(1000, 10, 8000, 100);
        for write in 0..8000 {
            uid.write(Lpn(if write % 2 == 0 { 7 } else { write / 2 % 1000 }), true);
        }
        assert_eq!(uid.checked, CHECKS);
        // 49 of its 50 writes in an interval follow another one there. The other pages are written in turn, 2000 apart.
        assert!((490..=500).contains(&uid.first), "{}", uid.first);
        let distribution = uid.distribution(100.0);
        let share = distribution.below(1) / distribution.total();
        assert!((0.4..0.55).contains(&share), "{share}");
        assert_eq!(distribution.below(1), distribution.below(19));
        assert!(distribution.below(21) > 0.9 * distribution.total());
    }

    /// With all pages in the sample nothing needs to be checked.
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

    /// Sums equal the results of adding the counts one by one.
    #[test]
    fn sums_agree_with_walking_through() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed, "uid");
            let counts: Vec<f64> = (0..1 + rng.below(40)).map(|_| rng.below(50) as f64).collect();
            let distribution = Distribution::new(&counts, 0.25);
            let from = rng.below(counts.len() as u64) as usize;
            let to = from + rng.below((counts.len() - from) as u64 + 1) as usize;
            let there: f64 = counts[from..].iter().sum();
            let mut dead = 0.0;
            let mut lives = 0.0;
            for count in &counts[from..to] {
                dead += count;
                lives += if there > 0.0 { (1.0 - dead / there) * 0.25 } else { 0.0 };
            }
            assert!((distribution.survival(from, to) - lives).abs() < 1e-9, "seed {seed}");
            let weight: f64 = (from..counts.len()).map(|i| counts[i] * i as f64).sum();
            let (updates, pages) = distribution.hot_part(from, 0.7);
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
        let distribution = uid.distribution(10.0);
        assert_eq!(distribution.below(10), 0.0);
        assert_eq!(distribution.below(11), distribution.total(), "all in the interval from 100 on");
    }
}
