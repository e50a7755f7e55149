//! One bit per physical page: whether the map points at it.

use floatgate_base::{Ppn, memory::table, prefetch::prefetch};

/// The live pages of a drive.
#[derive(Clone, Debug)]
pub struct Live(Vec<u64>);

impl Live {
    /// Creates the bits of `pages` pages, none of them live.
    pub fn new(pages: u32) -> Self {
        Self(table(pages.div_ceil(64) as usize, 0))
    }

    #[inline(always)]
    pub fn set(&mut self, ppn: Ppn) {
        self.0[ppn.index() / 64] |= 1 << (ppn.0 % 64);
    }

    #[inline(always)]
    pub fn clear(&mut self, ppn: Ppn) {
        self.0[ppn.index() / 64] &= !(1 << (ppn.0 % 64));
    }

    #[inline(always)]
    pub fn get(&self, ppn: Ppn) -> bool {
        self.0[ppn.index() / 64] >> (ppn.0 % 64) & 1 == 1
    }

    #[inline(always)]
    pub fn prefetch(&self, ppn: Ppn) {
        prefetch(&self.0, ppn.index() / 64);
    }

    /// Calls `each` with every live page of `first..end`, ascending.
    #[inline(always)]
    pub fn for_each(&self, first: Ppn, end: Ppn, mut each: impl FnMut(Ppn)) {
        let mut word_start = first.0 & !63;
        while word_start < end.0 {
            let mut word = self.0[(word_start / 64) as usize] & mask(first, end, word_start);
            while word != 0 {
                each(Ppn(word_start + word.trailing_zeros()));
                word &= word - 1;
            }
            word_start += 64;
        }
    }

    /// Calls `each` with the first `most` live pages of `first..end`, ascending.
    pub fn for_first(&self, first: Ppn, end: Ppn, most: u32, mut each: impl FnMut(Ppn)) {
        let (mut word_start, mut left) = (first.0 & !63, most);
        while word_start < end.0 && left > 0 {
            let mut word = self.0[(word_start / 64) as usize] & mask(first, end, word_start);
            while word != 0 && left > 0 {
                each(Ppn(word_start + word.trailing_zeros()));
                (word, left) = (word & (word - 1), left - 1);
            }
            word_start += 64;
        }
    }

    /// Sets `first..end`.
    pub fn set_range(&mut self, first: Ppn, end: Ppn) {
        let mut word_start = first.0 & !63;
        while word_start < end.0 {
            self.0[(word_start / 64) as usize] |= mask(first, end, word_start);
            word_start += 64;
        }
    }

    /// Clears `first..end`.
    pub fn clear_range(&mut self, first: Ppn, end: Ppn) {
        let mut word_start = first.0 & !63;
        while word_start < end.0 {
            self.0[(word_start / 64) as usize] &= !mask(first, end, word_start);
            word_start += 64;
        }
    }
}

/// Returns the bits inside `first..end` of the word that starts at `word_start`.
#[inline(always)]
fn mask(first: Ppn, end: Ppn, word_start: u32) -> u64 {
    let (first, end) = (first.0, end.0);
    let low = if first > word_start { u64::MAX << (first - word_start) } else { u64::MAX };
    let high = if end - word_start >= 64 { u64::MAX } else { !(u64::MAX << (end - word_start)) };
    low & high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_cross_words_are_exact() {
        for (first, end) in [(0, 64), (3, 5), (60, 70), (63, 64), (64, 192), (1, 200), (199, 200)] {
            let (first, end) = (Ppn(first), Ppn(end));
            let mut live = Live::new(200);
            Ppn::all(200).filter(|p| p.0 % 3 != 1).for_each(|p| live.set(p));
            let mut seen = Vec::new();
            live.for_each(first, end, |p| seen.push(p));
            assert_eq!(seen, Ppn::each(first..end).filter(|p| p.0 % 3 != 1).collect::<Vec<_>>());
            for most in [0, 1, 2, 30, 200] {
                let mut firsts = Vec::new();
                live.for_first(first, end, most, |p| firsts.push(p));
                assert_eq!(firsts, seen[..seen.len().min(most as usize)]);
            }
            live.clear_range(first, end);
            assert!(Ppn::all(200).all(|p| live.get(p) == (p.0 % 3 != 1 && !(first..end).contains(&p))));
            live.set_range(first, end);
            assert!(Ppn::all(200).all(|p| live.get(p) == (p.0 % 3 != 1 || (first..end).contains(&p))));
        }
    }
}
