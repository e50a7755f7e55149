//! Which logical pages a workload writes, as far as it was read ahead.

use floatgate_base::permute::{InOrder, Permutation};
use floatgate_base::prefetch::prefetch;
use floatgate_base::{ExtentKind, Extents, Lpn, Rng};
use serde::{Deserialize, Serialize};

/// Where fewer pages than one of so many are written, they are listed to draw one of them; else pages are drawn until one
/// of them turns up.
const LISTED_BELOW: u64 = 8;

/// A bit for each logical page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenPages {
    words: Vec<u64>,
    pages: u64,
    count: u64,
}

impl WrittenPages {
    /// None of so many pages.
    #[must_use]
    pub fn new(pages: u64) -> Self {
        Self { words: vec![0; pages.div_ceil(64) as usize], pages, count: 0 }
    }

    /// Takes in what requests write.
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

    /// The pages of every stretch of so many, from the first page on, in which one is written.
    #[must_use]
    pub fn widened(&self, stretch: u64) -> Self {
        let mut wide = Self::new(self.pages);
        let mut from = 0;
        while from < self.pages {
            let end = (from + stretch.max(1)).min(self.pages);
            let pages = || (from..end).map(|page| Lpn(page as u32));
            if pages().any(|lpn| self.contains(lpn)) {
                pages().for_each(|lpn| wide.mark(lpn));
            }
            from = end;
        }
        wide
    }

    /// Whether a page is written.
    #[must_use]
    pub fn contains(&self, lpn: Lpn) -> bool {
        self.words[lpn.index() / 64] >> (lpn.0 % 64) & 1 == 1
    }

    /// How many are written.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// What draws them by lot, each with equal chance; none where none is written.
    #[must_use]
    pub fn lots(&self) -> Option<Lots> {
        let listed = self.count * LISTED_BELOW < self.pages;
        let all = || (0..self.pages).map(|page| Lpn(page as u32)).filter(|&lpn| self.contains(lpn));
        (self.count > 0).then(|| Lots { listed: listed.then(|| all().collect()) })
    }

    /// One of them, by lots that were made of the same pages.
    pub fn draw(&self, lots: &Lots, rng: &mut Rng) -> Lpn {
        if let Some(listed) = &lots.listed {
            return listed[rng.below(listed.len() as u64) as usize];
        }
        loop {
            let lpn = Lpn(rng.below(self.pages) as u32);
            if self.contains(lpn) {
                return lpn;
            }
        }
    }
}

/// See [`WrittenPages::lots`].
#[derive(Clone, Debug)]
pub struct Lots {
    listed: Option<Vec<Lpn>>,
}

/// The pages that a workload writes, and those that it does not, each once and in random order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Halves {
    written: WrittenPages,
    order: Permutation,
    /// Places of the order that were looked through for pages at rest, and for those written.
    looked: [u64; 2],
    /// How many of both are still to come.
    left: [u64; 2],
    /// How both look; made again from `looked`.
    #[serde(skip)]
    search: Option<Box<Search>>,
}

/// Pages of one half that wait, at most, until those of the other have been found.
const WAITING_MAX: usize = 1 << 22;

/// One look through the order serves both halves, as long as few pages of one have to wait for the other; else each has its own.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a drive that is filled has one")]
enum Search {
    /// The look, and what it has found of both.
    Shared(Ahead, [Waiting; 2]),
    /// The looks of both.
    Apart([Ahead; 2]),
}

impl Search {
    fn new(order: &Permutation, written: &WrittenPages, looked: [u64; 2]) -> Box<Self> {
        let from = looked[0].min(looked[1]);
        Box::new(Self::Shared(Ahead::new(order, written, from), Default::default()))
    }
}

/// Places and pages of a half that were found and have not been asked for.
#[derive(Clone, Debug, Default)]
struct Waiting {
    found: Vec<(u32, u32)>,
    next: usize,
}

impl Waiting {
    #[inline(always)]
    fn pop(&mut self) -> Option<(u64, Lpn)> {
        let &(place, page) = self.found.get(self.next)?;
        self.next += 1;
        Some((u64::from(place), Lpn(page)))
    }

    fn push(&mut self, found: &[(u32, u32)]) {
        // What is over goes before it is more than what waits.
        if self.next > self.found.len() / 2 {
            self.found.drain(..self.next);
            self.next = 0;
        }
        self.found.extend_from_slice(found);
    }

    fn len(&self) -> usize {
        self.found.len() - self.next
    }
}

/// Sorts the next block of an order into what waits of both halves, but for what has been handed out before.
#[inline(never)]
fn find_more(ahead: &mut Ahead, waiting: &mut [Waiting; 2], written: &WrittenPages, looked: [u64; 2]) {
    let mut found = [[(0, 0); BLOCK]; 2];
    let mut counts = [0; 2];
    let (first, pages) = ahead.look_at_block(written);
    for (place, &page) in (first..).zip(pages) {
        let of = usize::from(written.contains(Lpn(page)));
        // Without a branch on which half it is.
        found[of][counts[of] % BLOCK] = (place as u32, page);
        counts[of] += usize::from(place >= looked[of]);
    }
    for of in 0..2 {
        waiting[of].push(&found[of][..counts[of]]);
    }
}

/// Places of an order that are looked at together.
const BLOCK: usize = 64;

/// The pages at the places from some one on, two blocks of them: of the second one the bits are asked for while the first is looked
/// through.
#[derive(Clone, Debug)]
struct Ahead {
    order: InOrder,
    pages: u64,
    /// Place of the first page of the second block, and of the next one to be made.
    next: u64,
    blocks: [[u32; BLOCK]; 2],
    /// The page of the first block that comes next, and how many it has.
    at: usize,
    len: usize,
    /// Its place.
    place: u64,
}

impl Ahead {
    fn new(order: &Permutation, written: &WrittenPages, from: u64) -> Self {
        let (order, blocks) = (InOrder::new(order.clone()), [[0; BLOCK]; 2]);
        let mut ahead = Self { order, pages: written.pages, next: from, blocks, at: 0, len: 0, place: from };
        ahead.make(written);
        ahead.turn(written);
        ahead
    }

    /// Makes the second block.
    fn make(&mut self, written: &WrittenPages) {
        let end = self.next.saturating_add(BLOCK as u64).min(self.pages);
        for (place, page) in (self.next..end).zip(&mut self.blocks[1]) {
            *page = self.order.apply(place) as u32;
            prefetch(&written.words, *page as usize / 64);
        }
    }

    /// The second block becomes the first.
    fn turn(&mut self, written: &WrittenPages) {
        (self.at, self.len) = (0, (self.pages - self.next).min(BLOCK as u64) as usize);
        self.next += self.len as u64;
        self.blocks[0] = self.blocks[1];
        self.make(written);
    }

    /// The pages of a block that come next, and the place of the first of them.
    fn look_at_block(&mut self, written: &WrittenPages) -> (u64, &[u32]) {
        if self.at == self.len {
            self.turn(written);
        }
        let (first, from) = (self.place, self.at);
        self.place += (self.len - from) as u64;
        self.at = self.len;
        (first, &self.blocks[0][from..self.len])
    }

    /// The next page and its place.
    fn look(&mut self, written: &WrittenPages) -> (u64, Lpn) {
        if self.at == self.len {
            self.turn(written);
        }
        let found = (self.place, Lpn(self.blocks[0][self.at]));
        self.at += 1;
        self.place += 1;
        found
    }
}

impl Halves {
    /// All are still to come.
    #[must_use]
    pub fn new(written: WrittenPages, seed: u64) -> Self {
        let order = Permutation::new(written.pages, &mut Rng::new(seed, "written and at rest"));
        let left = [written.pages - written.count, written.count];
        Self { written, order, looked: [0; 2], left, search: None }
    }

    /// The next page of a half.
    ///
    /// # Panics
    /// When none is left of it.
    pub fn next(&mut self, is_written: bool) -> Lpn {
        let half = usize::from(is_written);
        assert!(self.left[half] > 0, "no page is left of this half");
        self.left[half] -= 1;
        let Self { written, order, looked, search, .. } = self;
        let search = search.get_or_insert_with(|| Search::new(order, written, *looked));
        let (place, lpn) = match search.as_mut() {
            Search::Shared(ahead, waiting) => loop {
                if let Some(found) = waiting[half].pop() {
                    break found;
                }
                find_more(ahead, waiting, written, *looked);
            },
            Search::Apart(ahead) => loop {
                let (place, lpn) = ahead[half].look(written);
                if written.contains(lpn) == is_written {
                    break (place, lpn);
                }
            },
        };
        looked[half] = place + 1;
        if let Search::Shared(_, waiting) = search.as_ref()
            && waiting[1 - half].len() > WAITING_MAX
        {
            **search = Search::Apart(looked.map(|from| Ahead::new(order, written, from)));
        }
        lpn
    }

    /// Pages that are still to come of a half.
    #[must_use]
    pub fn left(&self, is_written: bool) -> u64 {
        self.left[usize::from(is_written)]
    }

    /// Pages at rest, those that have come included.
    #[must_use]
    pub fn at_rest(&self) -> u64 {
        self.written.pages - self.written.count
    }

    /// See [`WrittenPages::lots`].
    #[must_use]
    pub fn lots(&self) -> Option<Lots> {
        self.written.lots()
    }

    /// See [`WrittenPages::draw`].
    pub fn draw(&self, lots: &Lots, rng: &mut Rng) -> Lpn {
        self.written.draw(lots, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_all_of_them_and_no_other() {
        for every in [1, 3, 20] {
            let mut written = WrittenPages::new(200);
            let mut extents = Extents::default();
            (0..200).step_by(every).for_each(|page| extents.push(Lpn(page), 1, ExtentKind::Write));
            extents.push(Lpn(1), 1, ExtentKind::Read);
            written.learn(&extents);
            written.learn(&extents);
            assert_eq!(written.count(), 200u64.div_ceil(every as u64));
            let (lots, mut rng) = (written.lots().unwrap(), Rng::new(1, "lots"));
            let mut seen = WrittenPages::new(200);
            (0..20_000).for_each(|_| seen.mark(written.draw(&lots, &mut rng)));
            assert_eq!(seen, written);
        }
        assert!(WrittenPages::new(5).lots().is_none());
    }

    /// Of stretches of four pages the second has one that is written; the last one is cut off.
    #[test]
    fn a_stretch_counts_as_written_with_one_of_its_pages() {
        let mut written = WrittenPages::new(10);
        [Lpn(5), Lpn(9)].into_iter().for_each(|lpn| written.mark(lpn));
        let wide = written.widened(4);
        let near: Vec<u32> = (0..10).filter(|&page| wide.contains(Lpn(page))).collect();
        assert_eq!((near, wide.count()), (vec![4, 5, 6, 7, 8, 9], 6));
    }

    /// Both halves in the order of the permutation, also where a snapshot is taken in between.
    #[test]
    fn halves_come_in_the_order_of_the_permutation() {
        for pages in [1, 63, 64, 65, 1000] {
            let mut rng = Rng::new(pages, "halves");
            let mut written = WrittenPages::new(pages);
            (0..pages).filter(|_| rng.below(3) == 0).for_each(|page| written.mark(Lpn(page as u32)));
            let mut halves = Halves::new(written.clone(), pages);
            let order: Vec<Lpn> = (0..pages).map(|place| Lpn(halves.order.apply(place) as u32)).collect();
            let mut due = [false, true].map(|is_written| {
                let of_half = order.iter().copied().filter(|&lpn| written.contains(lpn) == is_written);
                of_half.collect::<Vec<_>>().into_iter()
            });
            for _ in 0..pages {
                let is_written = halves.left(false) == 0 || (halves.left(true) > 0 && rng.below(2) == 0);
                assert_eq!(Some(halves.next(is_written)), due[usize::from(is_written)].next());
                if rng.below(50) == 0 {
                    // As where too many wait.
                    let Halves { written, order, looked, .. } = &halves;
                    let apart = looked.map(|from| Ahead::new(order, written, from));
                    halves.search = Some(Box::new(Search::Apart(apart)));
                }
                if rng.below(10) == 0 {
                    // As it comes from a file.
                    halves.search = None;
                }
            }
            assert_eq!((halves.left(false), halves.left(true)), (0, 0));
        }
    }
}
