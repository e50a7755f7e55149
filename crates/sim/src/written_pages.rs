//! The logical pages that a workload writes, as far as it was read ahead, and the pages at rest.

use floatgate_base::permute::{InOrder, Permutation};
use floatgate_base::{ExtentKind, Extents, Lpn, Rng};
use serde::{Deserialize, Serialize};

/// A bit per logical page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenPages {
    words: Vec<u64>,
    pages: u64,
    count: u64,
}

impl WrittenPages {
    /// Creates an empty set for `pages` pages.
    #[must_use]
    pub fn new(pages: u64) -> Self {
        Self { words: vec![0; pages.div_ceil(64) as usize], pages, count: 0 }
    }

    /// Adds the pages that requests write.
    pub fn learn(&mut self, extents: &Extents) {
        for (i, kind) in extents.kind.iter().enumerate() {
            if matches!(kind, ExtentKind::Write | ExtentKind::WritePartial) {
                let first = extents.lpn[i];
                Lpn::each(first..first + extents.pages[i]).for_each(|lpn| self.mark(lpn));
            }
        }
    }

    fn mark(&mut self, lpn: Lpn) {
        let (word, bit) = (&mut self.words[lpn.index() / 64], 1u64 << (lpn.0 % 64));
        self.count += u64::from(*word & bit == 0);
        *word |= bit;
    }

    /// Counts the written pages.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the numbers of the stretches of so many pages without a written page, and of those with one, ascending.
    fn stretches(&self, stretch: u64) -> [Vec<u32>; 2] {
        let mut is_written = vec![false; self.pages.div_ceil(stretch) as usize];
        for (i, &word) in self.words.iter().enumerate() {
            let mut bits = word;
            while bits != 0 {
                let page = i as u64 * 64 + u64::from(bits.trailing_zeros());
                is_written[(page / stretch) as usize] = true;
                bits &= bits - 1;
            }
        }
        let (written, at_rest) = (0..is_written.len()).partition(|&i| is_written[i]);
        let numbers = |of: Vec<usize>| of.into_iter().map(|i| i as u32).collect();
        [numbers(at_rest), numbers(written)]
    }
}

/// The logical pages of a drive in two halves: those that a workload writes, with their neighbours, in random order,
/// and those at rest, ascending. The halves consist of whole stretches of pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Halves {
    stretch: u64,
    /// Numbers of the stretches at rest, and of those written. Only the last stretch of the drive may be shorter.
    stretches: [Vec<u32>; 2],
    /// Pages of both halves.
    pages: [u64; 2],
    /// Order of the written pages.
    order: InOrder,
    /// Returned pages of both halves.
    come: [u64; 2],
    /// Separated stretches at rest.
    rows: usize,
}

impl Halves {
    /// Begins before the first page. A stretch with a written page counts as written.
    #[must_use]
    pub fn new(written: &WrittenPages, stretch: u64, seed: u64) -> Self {
        let stretch = stretch.max(1);
        let stretches = written.stretches(stretch);
        let pages_of = |half: &[u32]| {
            let end = |&number: &u32| ((u64::from(number) + 1) * stretch).min(written.pages);
            half.len() as u64 * stretch
                - half.last().map_or(0, |last| (u64::from(*last) + 1) * stretch - end(last))
        };
        let pages = [pages_of(&stretches[0]), pages_of(&stretches[1])];
        let order = Permutation::new(pages[1], &mut Rng::new(seed, "written and at rest"));
        Self { stretch, stretches, pages, order: InOrder::new(order), come: [0; 2], rows: 0 }
    }

    /// Returns the page of a half by its number, ascending.
    #[inline(always)]
    fn page(&self, half: usize, number: u64) -> Lpn {
        let stretch = u64::from(self.stretches[half][(number / self.stretch) as usize]);
        Lpn((stretch * self.stretch + number % self.stretch) as u32)
    }

    /// Returns the next page of a half.
    ///
    /// # Panics
    /// No page is left in it.
    #[inline]
    pub fn next(&mut self, is_written: bool) -> Lpn {
        let half = usize::from(is_written);
        let come = self.come[half];
        assert!(come < self.pages[half], "no page is left of this half");
        self.come[half] += 1;
        let number = if is_written { self.order.apply(come) } else { come };
        self.page(half, number)
    }

    /// Separates the whole stretches at rest, as [`Halves::rows`]; [`Halves::next`] skips their pages.
    pub fn set_rows_apart(&mut self) {
        self.rows = (self.pages[0] / self.stretch) as usize;
        self.come[0] = self.rows as u64 * self.stretch;
    }

    /// Returns the numbers of the separated stretches.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.stretches[0][..self.rows]
    }

    /// Returns the number of pages left in a half.
    #[must_use]
    pub fn left(&self, is_written: bool) -> u64 {
        let half = usize::from(is_written);
        self.pages[half] - self.come[half]
    }

    /// Returns the pages at rest, including the returned ones.
    #[must_use]
    pub fn at_rest(&self) -> u64 {
        self.pages[0]
    }

    /// Returns whether a page is written.
    #[must_use]
    pub fn any_written(&self) -> bool {
        self.pages[1] > 0
    }

    /// Draws one of the written pages, each with equal probability.
    pub fn draw(&self, rng: &mut Rng) -> Lpn {
        self.page(1, rng.below(self.pages[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks some pages as written, with a random share of written stretches.
    fn some_written(pages: u64, rng: &mut Rng) -> WrittenPages {
        let (mut written, every) = (WrittenPages::new(pages), 1 + rng.below(40));
        (0..pages).filter(|_| rng.below(every) == 0).for_each(|page| written.mark(Lpn(page as u32)));
        written
    }

    /// Returns both halves, computed page by page.
    fn expected(written: &WrittenPages, stretch: u64) -> [Vec<Lpn>; 2] {
        let is_written = |page: u64| written.words[page as usize / 64] >> (page % 64) & 1 == 1;
        let near = |page: &u64| {
            let from = page / stretch * stretch;
            (from..(from + stretch).min(written.pages)).any(is_written)
        };
        let (of_written, at_rest): (Vec<u64>, Vec<u64>) = (0..written.pages).partition(near);
        let pages = |of: Vec<u64>| of.into_iter().map(|page| Lpn(page as u32)).collect();
        [pages(at_rest), pages(of_written)]
    }

    #[test]
    fn writes_are_learned_once_each() {
        let (mut written, mut extents) = (WrittenPages::new(200), Extents::default());
        extents.push(Lpn(5), 3, ExtentKind::Write);
        extents.push(Lpn(100), 1, ExtentKind::WritePartial);
        extents.push(Lpn(1), 1, ExtentKind::Read);
        written.learn(&extents);
        written.learn(&extents);
        assert_eq!(
            (written.count(), expected(&written, 1)[1].clone()),
            (4, [5, 6, 7, 100].map(Lpn).to_vec())
        );
    }

    #[test]
    fn halves_are_whole_stretches_and_come_once_each() {
        for case in 0..300 {
            let mut rng = Rng::new(case, "halves");
            let (pages, stretch) = (1 + rng.below(1000), 1 + rng.below(80));
            let written = some_written(pages, &mut rng);
            let [at_rest, of_written] = expected(&written, stretch);
            let mut halves = Halves::new(&written, stretch, case);
            assert_eq!(
                (halves.at_rest(), halves.any_written()),
                (at_rest.len() as u64, !of_written.is_empty())
            );
            let mut come = [vec![], vec![]];
            for _ in 0..pages {
                let is_written = halves.left(false) == 0 || (halves.left(true) > 0 && rng.below(2) == 0);
                come[usize::from(is_written)].push(halves.next(is_written));
                if rng.below(10) == 0 {
                    // Restored from a snapshot.
                    halves.order = InOrder::from(Permutation::from(halves.order.clone()));
                }
            }
            assert_eq!((halves.left(false), halves.left(true)), (0, 0), "case {case}");
            assert_eq!(come[0], at_rest, "case {case}: at rest, ascending");
            assert!(of_written.len() < 100 || come[1] != of_written, "case {case}: in random order");
            come[1].sort_unstable();
            assert_eq!(come[1], of_written, "case {case}");
        }
    }

    #[test]
    fn rows_and_what_is_left_of_them_are_all_that_rests() {
        for case in 0..300 {
            let mut rng = Rng::new(case, "rows");
            let (pages, stretch) = (1 + rng.below(1000), 1 + rng.below(80));
            let written = some_written(pages, &mut rng);
            let mut halves = Halves::new(&written, stretch, case);
            halves.set_rows_apart();
            let stretch = stretch as u32;
            let of_row = |&row: &u32| (row * stretch..(row + 1) * stretch).map(Lpn);
            let mut all: Vec<Lpn> = halves.rows().iter().flat_map(of_row).collect();
            let in_rows = all.len() as u64;
            all.extend((0..halves.left(false)).map(|_| halves.next(false)));
            assert_eq!(all, expected(&written, stretch.into())[0], "case {case}");
            assert!(
                (all.len() as u64) < in_rows + u64::from(stretch),
                "case {case}: less than a row is left"
            );
        }
    }

    #[test]
    fn draws_all_written_pages_and_no_other() {
        for case in 0..20 {
            let mut rng = Rng::new(case, "draws");
            let written = some_written(200, &mut rng);
            let halves = Halves::new(&written, 1 + case, case);
            let mut seen: Vec<Lpn> = match halves.any_written() {
                true => (0..20_000).map(|_| halves.draw(&mut rng)).collect(),
                false => vec![],
            };
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen, expected(&written, 1 + case)[1], "case {case}");
        }
    }
}
