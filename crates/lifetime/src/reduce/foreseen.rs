//! What reduction leaves of page writes where no drive tells: ratios that were measured before, by choice of schemes.

use super::decision::Decision;
use super::manager::{Left, ManagerSetup, SchemeSeen, Seen};

/// Choices of schemes: none, deduplication, compression, both.
pub const CHOICES: usize = 4;
const DEDUP: usize = 1;
const COMPRESS: usize = 2;
const BOTH: usize = DEDUP + COMPRESS;

/// One figure for each choice of schemes, in the order of [`Decision::choice`].
pub type ByChoice = [f64; CHOICES];

/// So much of a page write costs flash at least: the cost is divided by.
const LEFT_MIN: f64 = 1e-9;

/// Pages that went into a scheme and pages that it left, at work and on samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    at_work: [f64; 2],
    sampled: [f64; 2],
}

impl Sums {
    fn add(&mut self, is_on: bool, pages: f64, left: f64, sample_share: f64) {
        let (sums, share) = if is_on { (&mut self.at_work, 1.0) } else { (&mut self.sampled, sample_share) };
        sums[0] += pages * share;
        sums[1] += left * share;
    }

    /// As a drive would have counted it.
    fn seen(&self) -> SchemeSeen {
        let left = |[pages, left]: [f64; 2]| Left { pages, left };
        SchemeSeen { at_work: left(self.at_work), sampled: left(self.sampled) }
    }

    fn pages(&self) -> f64 {
        self.at_work[0] + self.sampled[0]
    }
}

/// What the schemes came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reduced {
    /// Page writes of the host.
    pub page_writes: f64,
    /// Host page writes that reached the FTL.
    pub host_pages: f64,
    /// Pages programmed for the host.
    pub host_programs: f64,
    /// Pages programmed for any cause.
    pub programs: f64,
    /// Pages hashed and pages compressed, samples included.
    pub engine_pages: [f64; 2],
}

/// Keeps the counts that a manager goes by, from ratios in place of a drive.
#[derive(Clone, Debug)]
pub struct Foreseen {
    setup: ManagerSetup,
    /// Page writes that reach the FTL / page writes; a write buffer absorbs the others.
    through: f64,
    /// Programs of any cause / programs for the host.
    amplification: ByChoice,
    /// Pages that are left / page writes, of those at hand.
    left: ByChoice,
    choice: usize,
    page_writes: f64,
    host_pages: f64,
    host_programs: f64,
    programs: f64,
    dedup: Sums,
    compress: Sums,
}

impl Foreseen {
    /// Nothing written yet, and nothing on.
    #[must_use]
    pub fn new(setup: ManagerSetup, through: f64, amplification: ByChoice) -> Self {
        Self {
            setup,
            through,
            amplification,
            left: [1.0; CHOICES],
            choice: 0,
            page_writes: 0.0,
            host_pages: 0.0,
            host_programs: 0.0,
            programs: 0.0,
            dedup: Sums::default(),
            compress: Sums::default(),
        }
    }

    /// From now on page writes leave this.
    pub fn expect(&mut self, left: ByChoice) {
        self.left = left;
    }

    /// From now on these schemes are on.
    pub fn choose(&mut self, decision: &Decision) {
        self.choice = decision.choice();
    }

    /// The schemes that are on, as [`Decision::choice`] numbers them.
    #[must_use]
    pub fn choice(&self) -> usize {
        self.choice
    }

    /// Flash pages that a page write at hand costs, collection included.
    #[must_use]
    pub fn cost(&self) -> f64 {
        (self.through * self.left[self.choice] * self.amplification[self.choice]).max(LEFT_MIN)
    }

    /// So many page writes were admitted.
    pub fn spend(&mut self, pages: u64) {
        self.page_writes += pages as f64;
        let (pages, share) = (pages as f64 * self.through, self.setup.sample_share);
        let on = |scheme: usize| self.choice & scheme != 0;
        let programs = pages * self.left[self.choice];
        self.host_pages += pages;
        self.host_programs += programs;
        self.programs += programs * self.amplification[self.choice];
        self.dedup.add(on(DEDUP), pages, pages * self.left[DEDUP], share);
        // Duplicates never reach the compressor.
        let (given, left) =
            if on(DEDUP) { (self.left[DEDUP], self.left[BOTH]) } else { (1.0, self.left[COMPRESS]) };
        self.compress.add(on(COMPRESS), pages * given, pages * left, share);
    }

    /// What a drive would have counted.
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen {
            host_pages: self.host_pages,
            host_programs: self.host_programs,
            programs: self.programs,
            dedup: self.dedup.seen(),
            compress: self.compress.seen(),
        }
    }

    /// What the schemes came to.
    #[must_use]
    pub fn reduced(&self) -> Reduced {
        Reduced {
            page_writes: self.page_writes,
            host_pages: self.host_pages,
            host_programs: self.host_programs,
            programs: self.programs,
            engine_pages: [self.dedup.pages(), self.compress.pages()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::manager::SETUP;
    use super::*;

    /// By hand: of 1000 pages deduplication leaves 800, compression alone 600, both 400.
    #[test]
    fn counts_are_those_of_a_drive() {
        let mut foreseen = Foreseen::new(SETUP, 1.0, [2.0, 1.5, 1.25, 1.0]);
        foreseen.expect([1.0, 0.8, 0.6, 0.4]);
        assert_eq!(foreseen.cost(), 2.0);
        foreseen.spend(1000);
        let seen = foreseen.seen();
        assert_eq!((seen.host_pages, seen.host_programs, seen.programs), (1000.0, 1000.0, 2000.0));
        assert_eq!(seen.dedup.sampled, Left { pages: 10.0, left: 8.0 });
        assert_eq!(seen.compress.sampled, Left { pages: 10.0, left: 6.0 });
        foreseen.choose(&Decision { dedup: true, compress: true, ..Decision::default() });
        assert_eq!(foreseen.cost(), 0.4);
        foreseen.spend(1000);
        let seen = foreseen.seen();
        assert_eq!((seen.host_pages, seen.host_programs, seen.programs), (2000.0, 1400.0, 2400.0));
        assert_eq!(seen.dedup.at_work, Left { pages: 1000.0, left: 800.0 });
        assert_eq!(seen.compress.at_work, Left { pages: 800.0, left: 400.0 });
        assert_eq!(foreseen.reduced().engine_pages, [1010.0, 810.0]);
        foreseen.choose(&Decision { dedup: true, ..Decision::default() });
        foreseen.spend(1000);
        assert_eq!(foreseen.seen().compress.sampled, Left { pages: 18.0, left: 10.0 });
        assert_eq!(foreseen.seen().programs, 2400.0 + 1200.0);
    }
}
