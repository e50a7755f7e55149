//! Collection comes in lumps: a page write programs either one page, or in addition the pages of a victim. A throttle
//! that allots flash writes per period exceeds its limit after a lump, and the following writes wait. A mean cost per
//! page write cannot model these waits. A life therefore repeats the lumps of a stretch simulated with a drive, and
//! corrects its gate by them as a drive would.

use serde::{Deserialize, Serialize};

/// Recent write amplification: since the stretch of host page writes before the current one began. A stretch is an
/// eighth of the drive; the estimate follows changes of the workload, but not single victims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Amplification {
    /// Page writes of the host and programs at the beginning of the previous stretch and of the current one.
    marks: [(u64, u64); 2],
    stretch: u64,
    waf: f64,
}

impl Amplification {
    /// Starts the estimate of a drive of `pages` pages.
    #[must_use]
    pub fn new(pages: u64) -> Self {
        Self { marks: [(0, 0); 2], stretch: (pages / 8).max(1), waf: 1.0 }
    }

    /// Returns the page writes over which the estimate hardly changes.
    pub(super) fn step(&self) -> u64 {
        (self.stretch / 64).max(1)
    }

    /// Bounds the result of [`Self::note`] from `page_writes` on, up to the number that causes `programs`, in the same
    /// stretch. None if too little is known.
    pub(super) fn at_most(&self, page_writes: u64, programs: f64) -> Option<f64> {
        let (writes, programmed) = self.marks[0];
        let settled = page_writes > writes && page_writes - writes >= self.stretch / 8;
        settled.then(|| (programs - programmed as f64) / (page_writes - writes) as f64)
    }

    /// Returns the last number of page writes in the current stretch.
    pub(super) fn until(&self) -> u64 {
        self.marks[1].0.saturating_add(self.stretch) - 1
    }

    /// Updates the estimate after `page_writes` of the host caused `programs` in total. It is 1 until an eighth of a
    /// stretch is written.
    pub fn note(&mut self, page_writes: u64, programs: u64) -> f64 {
        let [(writes, programmed), (began, _)] = self.marks;
        if page_writes - writes >= (self.stretch / 8).max(1) {
            self.waf =
                ((programs - programmed) as f64 / (page_writes - writes) as f64).max(f64::MIN_POSITIVE);
        }
        if page_writes - began >= self.stretch {
            self.marks = [self.marks[1], (page_writes, programs)];
        }
        self.waf
    }
}

/// Programs as a function of the page writes of a stretch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lumps {
    /// Total page writes and programs at each point where causes other than host writes have programmed since the
    /// previous mark. The first mark is (0, 0), and the last the end of the stretch.
    marks: Vec<(u64, u64)>,
}

impl Lumps {
    /// Records the counts after one or a few more page writes; both begin with 0.
    pub fn note(&mut self, page_writes: u64, programs: u64) {
        if self.marks.is_empty() {
            self.marks.push((0, 0));
        }
        let (pages, programmed) = self.marks[self.marks.len() - 1];
        if page_writes > pages && programs - programmed != page_writes - pages {
            self.marks.push((page_writes, programs));
        }
    }

    /// Ends the stretch with these counts.
    pub fn end(&mut self, page_writes: u64, programs: u64) {
        self.note(page_writes, programs);
        if self.marks.last().is_some_and(|&(pages, _)| pages < page_writes) {
            self.marks.push((page_writes, programs));
        }
    }

    /// Counts the marks so far, each a lump where collection comes in lumps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.marks.len().saturating_sub(1)
    }

    /// Returns whether only host writes were programmed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the pages programmed for `pages` page writes if the stretch repeats, by the stretch's write
    /// amplification. `near` holds the position of the previous result, and is updated.
    pub(super) fn programs(&self, pages: u64, near: &mut Near) -> f64 {
        *near = self.near(pages, *near);
        self.programs_near(pages, near)
    }

    /// Returns the position of `pages` page writes, searching from another position on.
    #[inline]
    pub(super) fn near(&self, pages: u64, mut near: Near) -> Near {
        let Some(&(stretch, _)) = self.marks.last().filter(|&&(stretch, _)| stretch > 0) else {
            return near;
        };
        if pages.wrapping_sub(near.base) >= stretch {
            let times = pages / stretch;
            near = Near { times, base: times * stretch, mark: 0 };
        }
        near.mark = self.mark_before(pages - near.base, near.mark);
        near
    }

    /// Returns [`Self::programs`] at the position of so many page writes.
    #[inline]
    pub(super) fn programs_near(&self, pages: u64, near: &Near) -> f64 {
        let Some(&(_, programs)) = self.marks.last().filter(|&&(stretch, _)| stretch > 0) else {
            return pages as f64;
        };
        let (mark, programmed) = self.marks[near.mark];
        near.times as f64 * programs as f64 + (programmed + pages - near.base - mark) as f64
    }

    /// Returns the page writes of the life at the next mark after a position.
    #[inline]
    pub(super) fn next_mark(&self, near: &Near) -> u64 {
        self.marks.get(near.mark + 1).map_or(u64::MAX, |&(mark, _)| near.base + mark)
    }

    /// Returns the last mark that is not beyond so many page writes of the stretch, searching from another mark on.
    #[inline]
    fn mark_before(&self, rest: u64, from: usize) -> usize {
        let marks = &self.marks[from..];
        let ahead = marks.iter().take(STEPS + 1).take_while(|&&(mark, _)| mark <= rest).count();
        if (1..=STEPS).contains(&ahead) {
            return from + ahead - 1;
        }
        self.marks.partition_point(|&(mark, _)| mark <= rest) - 1
    }

    /// Returns the write amplification of the stretch.
    pub(super) fn waf(&self) -> f64 {
        match self.marks.last() {
            Some(&(pages, programs)) if pages > 0 => programs as f64 / pages as f64,
            _ => 1.0,
        }
    }
}

/// Marks that are tried in sequence before a binary search.
const STEPS: usize = 8;

/// Position of a result among the repeated marks of a stretch: the repetition, its first page write, and the mark.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Near {
    times: u64,
    pub base: u64,
    mark: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

    /// Three pages per victim after every second page write, then a stretch without victims.
    fn lumps() -> Lumps {
        let mut lumps = Lumps::default();
        for (page_writes, programs) in [(1, 1), (2, 5), (3, 6), (4, 10), (5, 11)] {
            lumps.note(page_writes, programs);
        }
        lumps.end(8, 14);
        lumps
    }

    /// Searches from the beginning.
    fn programs(lumps: &Lumps, pages: u64) -> f64 {
        lumps.programs(pages, &mut Near::default())
    }

    /// Checks previous positions after the result, before it, and in another repetition.
    #[test]
    fn the_starting_point_of_a_search_makes_no_difference() {
        let (mut lumps, mut near, mut rng) = (Lumps::default(), Near::default(), Rng::new(1, "lumps"));
        let (mut page_writes, mut programmed) = (0, 0);
        for _ in 0..300 {
            page_writes += 1 + rng.below(5);
            programmed += 5 + rng.below(9);
            lumps.note(page_writes, programmed);
        }
        lumps.end(page_writes + 100, programmed + 100);
        let mut pages = 0;
        for _ in 0..20_000 {
            pages = match rng.below(20) {
                0 => rng.below(20 * page_writes),
                1 => pages.saturating_sub(rng.below(50)),
                _ => pages + rng.below(20),
            };
            assert_eq!(lumps.programs(pages, &mut near), programs(&lumps, pages), "{pages}");
            let (stretch, whole) = lumps.marks[lumps.marks.len() - 1];
            let (times, rest) = (pages / stretch, pages % stretch);
            let (mark, before) = *lumps.marks.iter().rfind(|&&(mark, _)| mark <= rest).unwrap();
            assert_eq!(programs(&lumps, pages), times as f64 * whole as f64 + (before + rest - mark) as f64);
        }
    }

    #[test]
    fn programs_come_when_they_came_and_the_stretch_repeats() {
        let lumps = lumps();
        assert_eq!(lumps.len(), 3);
        let each: Vec<f64> = (0..=12).map(|pages| programs(&lumps, pages)).collect();
        assert_eq!(each, [0.0, 1.0, 5.0, 6.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 19.0, 20.0, 24.0]);
        assert_eq!((programs(&lumps, 800), lumps.waf()), (1400.0, 1.75));
    }

    #[test]
    fn without_collection_a_page_is_a_program() {
        let mut none = Lumps::default();
        assert_eq!((programs(&none, 7), none.waf(), none.is_empty()), (7.0, 1.0, true));
        none.note(9, 9);
        none.end(20, 20);
        assert_eq!((programs(&none, 7), programs(&none, 50), none.waf()), (7.0, 50.0, 1.0));
    }
}
