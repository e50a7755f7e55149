//! Predicted reduction of page writes without a drive: previously measured ratios, by choice of schemes.

use super::decision::Decision;
use super::manager::{ManagerSetup, SchemePages, SchemeSeen, Seen};

/// Choices of schemes: none, deduplication, compression, both.
pub const CHOICES: usize = 4;
const DEDUP: usize = 1;
const COMPRESS: usize = 2;
const BOTH: usize = DEDUP + COMPRESS;

/// One value for each choice of schemes, in the order of [`Decision::choice`].
pub type ByChoice = [f64; CHOICES];

/// Least share of a page write that costs flash; avoids a division by zero.
const LEFT_MIN: f64 = 1e-9;

/// Pages into a scheme and out of it, at work and on samples.
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

    /// Returns the counts as a drive would report them.
    fn seen(&self) -> SchemeSeen {
        let left = |[pages, left]: [f64; 2]| SchemePages { pages, left };
        SchemeSeen { at_work: left(self.at_work), sampled: left(self.sampled) }
    }

    fn pages(&self) -> f64 {
        self.at_work[0] + self.sampled[0]
    }
}

/// Results of the schemes.
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

/// Counts for a manager, from ratios instead of a drive.
#[derive(Clone, Debug)]
pub struct Foreseen {
    setup: ManagerSetup,
    /// Page writes that reach the FTL / page writes; a write buffer absorbs the others.
    through: f64,
    /// Programs of any cause / programs for the host.
    amplification: ByChoice,
    /// Pages left / page writes, for the current page writes.
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
    /// Begins with nothing written and no scheme active.
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

    /// Sets the shares left of the following page writes.
    pub fn expect(&mut self, left: ByChoice) {
        self.left = left;
    }

    /// Sets the active schemes.
    pub fn choose(&mut self, decision: &Decision) {
        self.choice = decision.choice();
    }

    /// Returns the active schemes, as [`Decision::choice`] numbers them.
    #[must_use]
    pub fn choice(&self) -> usize {
        self.choice
    }

    /// Returns the flash pages per current page write, including collection.
    #[must_use]
    pub fn cost(&self) -> f64 {
        (self.through * self.left[self.choice] * self.amplification[self.choice]).max(LEFT_MIN)
    }

    /// Counts admitted page writes.
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

    /// Returns the counts that a drive would have.
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

    /// Returns the results of the schemes.
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
        assert_eq!(seen.dedup.sampled, SchemePages { pages: 10.0, left: 8.0 });
        assert_eq!(seen.compress.sampled, SchemePages { pages: 10.0, left: 6.0 });
        foreseen.choose(&Decision { dedup: true, compress: true, ..Decision::default() });
        assert_eq!(foreseen.cost(), 0.4);
        foreseen.spend(1000);
        let seen = foreseen.seen();
        assert_eq!((seen.host_pages, seen.host_programs, seen.programs), (2000.0, 1400.0, 2400.0));
        assert_eq!(seen.dedup.at_work, SchemePages { pages: 1000.0, left: 800.0 });
        assert_eq!(seen.compress.at_work, SchemePages { pages: 800.0, left: 400.0 });
        assert_eq!(foreseen.reduced().engine_pages, [1010.0, 810.0]);
        foreseen.choose(&Decision { dedup: true, ..Decision::default() });
        foreseen.spend(1000);
        assert_eq!(foreseen.seen().compress.sampled, SchemePages { pages: 18.0, left: 10.0 });
        assert_eq!(foreseen.seen().programs, 2400.0 + 1200.0);
    }
}
