//! The pages of the drive that the host has touched.

use floatgate_base::{ExtentKind, Extents, memory::table};

/// One bit per logical page.
#[derive(Clone, Debug)]
pub struct Footprint {
    words: Vec<u64>,
    pages: u64,
}

impl Footprint {
    /// Creates the empty footprint of a drive with `logical_pages` pages.
    #[must_use]
    pub fn new(logical_pages: u32) -> Self {
        Self { words: table(logical_pages.div_ceil(64) as usize, 0), pages: 0 }
    }

    /// Returns the bits, for a snapshot.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the bits to be filled from a snapshot.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Counts the bits after they were filled.
    pub fn recount(&mut self) {
        self.pages = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
    }

    /// Records the pages that are read or written; trimmed pages do not count.
    pub fn add(&mut self, extents: &Extents) {
        for ((&first, &pages), &kind) in extents.lpn.iter().zip(&extents.pages).zip(&extents.kind) {
            if matches!(kind, ExtentKind::Trim | ExtentKind::Flush) {
                continue;
            }
            let (mut page, end) = (first.0, first.0 + pages);
            while page < end {
                let word_end = (page | 63).saturating_add(1).min(end);
                let bits = (u64::MAX >> (64 - (word_end - page))) << (page % 64);
                let word = &mut self.words[(page / 64) as usize];
                self.pages += u64::from((bits & !*word).count_ones());
                *word |= bits;
                page = word_end;
            }
        }
    }

    /// Clears all bits.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.pages = 0;
    }

    /// Returns the number of distinct pages read or written.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::{Lpn, Rng};

    #[test]
    fn counts_each_page_once() {
        let mut rng = Rng::new(1, "footprint test");
        let mut footprint = Footprint::new(1000);
        let mut seen = [false; 1000];
        for _ in 0..200 {
            let first = rng.below(900) as u32;
            let pages = rng.below(100) as u32 + 1;
            let mut extents = Extents::default();
            extents.push(Lpn(first), pages, ExtentKind::Read);
            footprint.add(&extents);
            seen[first as usize..(first + pages) as usize].fill(true);
            assert_eq!(footprint.pages(), seen.iter().filter(|&&s| s).count() as u64);
        }
        let pages = footprint.pages();
        let mut trim = Extents::default();
        trim.push(Lpn(0), 1000, ExtentKind::Trim);
        footprint.add(&trim);
        assert_eq!(footprint.pages(), pages);
        footprint.clear();
        assert_eq!(footprint.pages(), 0);
    }
}
