//! Knowledge of the future for oracle separators: when the data of each page die, in host page writes of the workload.
//! A pass over the whole workload before the run provides it; no real drive could have it.
//!
//! Memory: 4 bytes per host page write of the workload and 4 per logical page.

use floatgate_base::{IdSlice, IdVec, Lpn, memory::table, prefetch::prefetch};
use serde::{Deserialize, Serialize};

/// Time of death of data that are neither rewritten nor trimmed.
pub const NEVER: u32 = u32::MAX;
/// The most page writes whose numbers all differ from [`NEVER`].
pub const WRITES_MAX: u64 = u32::MAX as u64 - 1;

/// When data die. Host page writes of the workload are numbered from 0. Data die at the write that replaces them.
/// Trimmed data die at the write that follows the trim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foresight {
    /// When the data of each write of the workload die.
    #[serde(skip)]
    next: Vec<u32>,
    /// When the present data of each logical page die; before the workload begins, the data from preconditioning.
    dies: IdVec<Lpn, u32>,
    /// Host page writes of the drive when the workload began; the largest number until then.
    base: u64,
}

impl Foresight {
    /// Creates the knowledge of a workload that has not begun: `next` by write, `first` by logical page for data from
    /// before.
    #[must_use]
    pub fn new(next: Vec<u32>, first: IdVec<Lpn, u32>) -> Self {
        Self { next, dies: first, base: u64::MAX }
    }

    /// Sets the host page write of the drive at which the workload begins.
    pub(super) fn begin_at(&mut self, base: u64) {
        self.base = base;
    }

    /// Returns when the data of each write die.
    #[must_use]
    pub fn next(&self) -> &[u32] {
        &self.next
    }

    /// Returns when the present data of each logical page die.
    #[must_use]
    pub fn dies(&self) -> &IdSlice<Lpn, u32> {
        &self.dies
    }

    /// Restores the part that a snapshot leaves out, when a run resumes.
    pub fn recall(&mut self, whole: Self) {
        self.next = whole.next;
    }

    /// Returns the number of the workload's write that follows `now` host page writes of the drive.
    #[inline(always)]
    fn next_write(&self, now: u64) -> u64 {
        now.saturating_sub(self.base)
    }

    /// Notes a page write after `now` host page writes and returns the lifespan of its data: at least 1; none if
    /// unlimited.
    #[inline(always)]
    pub(super) fn write(&mut self, lpn: Lpn, now: u64) -> Option<u32> {
        self.write_as(lpn, now, |_, dies| dies)
    }

    /// Performs [`Foresight::write`] with the death at a write replaced by a prediction.
    #[inline(always)]
    pub(super) fn write_as(&mut self, lpn: Lpn, now: u64, predict: impl Fn(u32, u32) -> u32) -> Option<u32> {
        if now >= self.base {
            let at = (now - self.base) as usize;
            // Unreachable within the workload: its writes are all known.
            let dies = self.next.get(at).copied().unwrap_or(NEVER);
            match self.dies.get_mut(lpn) {
                Some(place) => *place = predict(at as u32, dies),
                None => return None,
            }
        }
        self.left(lpn, now)
    }

    /// Returns the rest of the lifespan of a page's data after `now` host page writes; none if unlimited.
    #[inline(always)]
    pub(super) fn left(&self, lpn: Lpn, now: u64) -> Option<u32> {
        let dies = self.dies.get(lpn).copied().unwrap_or(NEVER);
        (dies != NEVER).then(|| u64::from(dies).saturating_sub(self.next_write(now)) as u32)
    }

    /// Checks whether a page's data should be dead after `now` host page writes.
    #[inline(always)]
    pub(super) fn is_overdue(&self, lpn: Lpn, now: u64) -> bool {
        let dies = self.dies.get(lpn).copied().unwrap_or(NEVER);
        dies != NEVER && u64::from(dies) < self.next_write(now)
    }

    /// Replaces the deaths of the present data of all logical pages by predictions.
    pub(super) fn change_held(&mut self, predict: impl Fn(Lpn, u32) -> u32) {
        (0..).map(Lpn).zip(self.dies.as_mut_slice()).for_each(|(lpn, dies)| *dies = predict(lpn, *dies));
    }

    /// Prefetches what the write of a page will touch.
    #[inline(always)]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        prefetch(self.dies.as_slice(), lpn.index());
    }

    /// Returns the bytes of its tables.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.next.len() + self.dies.len()) as u64 * 4
    }
}

/// Derives a [`Foresight`] from the writes and trims of a workload, in order.
#[derive(Clone, Debug)]
pub struct Foreseer {
    next: Vec<u32>,
    first: IdVec<Lpn, u32>,
    /// The last write of each page, or one of the two values below.
    last: IdVec<Lpn, u32>,
}

/// Neither written nor trimmed so far.
const UNTOUCHED: u32 = u32::MAX;
/// Trimmed: no data left to die.
const EMPTY: u32 = u32::MAX - 1;

impl Foreseer {
    /// Creates the state for a drive of `logical_pages`.
    #[must_use]
    pub fn new(logical_pages: u32) -> Self {
        let pages = logical_pages as usize;
        Self { next: Vec::new(), first: table(pages, NEVER).into(), last: table(pages, UNTOUCHED).into() }
    }

    /// Returns the host page writes so far.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.next.len() as u64
    }

    /// Adds a page write; returns false if it exceeds the numbering.
    #[must_use]
    pub fn write(&mut self, lpn: Lpn) -> bool {
        let number = self.next.len() as u32;
        if self.writes() >= WRITES_MAX {
            return false;
        }
        self.dies_at(lpn, number);
        self.last[lpn] = number;
        self.next.push(NEVER);
        true
    }

    /// Adds a page write with a predicted life in host page writes; 0 for unlimited. Do not mix with
    /// [`Foreseer::write`]. Returns false if it exceeds the numbering.
    #[must_use]
    pub fn foretold(&mut self, life: u32) -> bool {
        let number = self.next.len() as u32;
        if self.writes() >= WRITES_MAX {
            return false;
        }
        self.next.push(if life == 0 { NEVER } else { number.saturating_add(life).min(NEVER - 1) });
        true
    }

    /// Adds a page trim.
    pub fn trim(&mut self, lpn: Lpn) {
        self.dies_at(lpn, self.next.len() as u32);
        self.last[lpn] = EMPTY;
    }

    #[inline(always)]
    fn dies_at(&mut self, lpn: Lpn, number: u32) {
        match self.last[lpn] {
            EMPTY => {}
            UNTOUCHED => self.first[lpn] = number,
            write => self.next[write as usize] = number,
        }
    }

    /// Returns the resulting knowledge.
    #[must_use]
    pub fn finish(mut self) -> Foresight {
        self.next.shrink_to_fit();
        Foresight::new(self.next, self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages 0 1 0, trim 1, 1 1, trim 0, trim 0, 2, on a drive of four pages that were written before.
    #[test]
    fn deaths_by_hand() {
        let mut seer = Foreseer::new(4);
        assert!([0, 1, 0].into_iter().all(|lpn| seer.write(Lpn(lpn))));
        seer.trim(Lpn(1));
        assert!([1, 1].into_iter().all(|lpn| seer.write(Lpn(lpn))));
        seer.trim(Lpn(0));
        seer.trim(Lpn(0));
        assert!(seer.write(Lpn(2)));
        let mut seen = seer.finish();
        assert_eq!(seen.next(), [2, 3, 5, 4, NEVER, NEVER]);
        assert_eq!(seen.dies().as_slice(), [0, 1, 5, NEVER]);
        // While the drive is filled: four host page writes before the workload.
        assert_eq!(seen.write(Lpn(2), 1), Some(5));
        assert_eq!(seen.write(Lpn(3), 3), None);
        // The workload's first write lives for two writes.
        seen.begin_at(4);
        assert_eq!(seen.write(Lpn(0), 4), Some(2));
        assert_eq!(seen.left(Lpn(2), 7), Some(2));
        assert_eq!(seen.write(Lpn(1), 5), Some(2));
        assert_eq!((seen.left(Lpn(0), 6), seen.left(Lpn(1), 6)), (Some(0), Some(1)));
        assert_eq!(seen.memory_bytes(), 40);
    }

    /// Lives of 3, of none, and beyond the numbering.
    #[test]
    fn lives_that_are_foretold() {
        let mut seer = Foreseer::new(4);
        assert!([3, 0, u32::MAX].into_iter().all(|life| seer.foretold(life)));
        let mut seen = seer.finish();
        assert_eq!((seen.next(), seen.dies().as_slice()), (&[3, NEVER, NEVER - 1][..], &[NEVER; 4][..]));
        seen.begin_at(0);
        assert_eq!((seen.write(Lpn(2), 0), seen.is_overdue(Lpn(2), 3)), (Some(3), false));
        assert!(seen.is_overdue(Lpn(2), 4) && !seen.is_overdue(Lpn(1), 4));
    }

    /// Without foresight all lives are unlimited, and nothing fails.
    #[test]
    fn nothing_foreseen() {
        let mut nothing = Foresight::default();
        assert_eq!((nothing.write(Lpn(7), 3), nothing.left(Lpn(7), 9)), (None, None));
    }
}
