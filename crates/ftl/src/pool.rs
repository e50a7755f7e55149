//! The free units of a domain, by order of release and by wear.

use floatgate_base::{IdSlice, UnitId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::{Bound, Range};

/// Which free unit is opened next (`ftl.free_block`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FreeChoice {
    /// The one with the fewest erases: dynamic wear-leveling.
    LeastErased,
    /// The one that has been free for longest.
    Fifo,
}

/// Names of the free-block choices, each with its description.
pub const FREE_CHOICES: &[(&str, &str)] = &[
    ("least-erased", "open the free block with the fewest erases (dynamic wear-leveling)"),
    ("fifo", "open the block that has been free for longest"),
];

/// Which free unit a caller wants to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Want {
    /// The one selected by `ftl.free_block`.
    Next,
    /// The one with the fewest erases; of several, the one with the lowest number.
    LeastWorn,
    /// The one with the most erases; of several, the one with the highest number.
    MostWorn,
    /// The one with the fewest erases of the more worn half. Of `n` units in the order of erases and numbers, it is
    /// number `n / 2`, counted from 0.
    UpperHalf,
}

/// A free unit by its wear: erases, number, position in the order of release.
type ByWear = (u32, UnitId, u64);
/// A free unit by its position in the order of release.
type ByAge = (u64, UnitId, u32);

/// The first unit of the more worn half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Middle {
    unit: ByWear,
    /// Number of units before it.
    below: u32,
}

/// The free units of one domain. Every operation takes O(log n), the first one that looks for the middle O(n).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FreePool {
    by_wear: BTreeSet<ByWear>,
    /// Under `fifo`, the same units in the order in which they were freed.
    by_age: Option<BTreeSet<ByAge>>,
    freed: u64,
    /// Kept up to date once it has been used. It follows from `by_wear`.
    #[serde(skip)]
    middle: Option<Middle>,
}

impl FreePool {
    /// Creates a pool of `units`, all free and never erased.
    #[must_use]
    pub fn new(choice: FreeChoice, units: Range<UnitId>) -> Self {
        let by_age = (choice == FreeChoice::Fifo).then(BTreeSet::new);
        let mut pool = Self { by_wear: BTreeSet::new(), by_age, freed: 0, middle: None };
        for unit in UnitId::each(units) {
            pool.put(unit, 0);
        }
        pool
    }

    /// Returns the number of free units.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        self.by_wear.len() as u32
    }

    /// Checks whether no unit is free.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_wear.is_empty()
    }

    /// Returns the erases of the most worn free unit.
    #[must_use]
    pub fn most_erases(&self) -> Option<u32> {
        self.by_wear.last().map(|&(erases, ..)| erases)
    }

    /// Takes a unit to open.
    pub fn take(&mut self, want: Want) -> Option<UnitId> {
        let (erases, unit, freed) = match (want, &self.by_age) {
            (Want::Next, Some(by_age)) => {
                let &(freed, unit, erases) = by_age.first()?;
                (erases, unit, freed)
            }
            (Want::Next | Want::LeastWorn, _) => *self.by_wear.first()?,
            (Want::MostWorn, _) => *self.by_wear.last()?,
            (Want::UpperHalf, _) => self.middle()?.unit,
        };
        self.step_aside((erases, unit, freed));
        self.by_wear.remove(&(erases, unit, freed));
        self.balance();
        if let Some(by_age) = &mut self.by_age {
            by_age.remove(&(freed, unit, erases));
        }
        Some(unit)
    }

    /// Returns the first unit of the more worn half.
    fn middle(&mut self) -> Option<Middle> {
        if self.middle.is_none() {
            let below = self.by_wear.len() / 2;
            self.middle = self.by_wear.iter().nth(below).map(|&unit| Middle { unit, below: below as u32 });
        }
        self.middle
    }

    /// Moves the middle off a unit that leaves.
    fn step_aside(&mut self, leaving: ByWear) {
        let Some(middle) = &mut self.middle else { return };
        if leaving < middle.unit {
            middle.below -= 1;
        } else if leaving == middle.unit {
            let after = (Bound::Excluded(leaving), Bound::Unbounded);
            match (self.by_wear.range(after).next(), self.by_wear.range(..leaving).next_back()) {
                (Some(&unit), _) => middle.unit = unit,
                (None, Some(&unit)) => *middle = Middle { unit, below: middle.below - 1 },
                (None, None) => self.middle = None,
            }
        }
    }

    /// Moves the middle to its place after a unit has come or left: at most one step.
    fn balance(&mut self) {
        let Some(middle) = &mut self.middle else { return };
        let half = self.by_wear.len() as u32 / 2;
        while middle.below < half {
            let after = (Bound::Excluded(middle.unit), Bound::Unbounded);
            let Some(&unit) = self.by_wear.range(after).next() else { return };
            *middle = Middle { unit, below: middle.below + 1 };
        }
        while middle.below > half {
            let Some(&unit) = self.by_wear.range(..middle.unit).next_back() else { return };
            *middle = Middle { unit, below: middle.below - 1 };
        }
    }

    /// Returns an erased unit.
    pub fn put(&mut self, unit: UnitId, erases: u32) {
        self.by_wear.insert((erases, unit, self.freed));
        if let Some(middle) = &mut self.middle {
            middle.below += u32::from((erases, unit, self.freed) < middle.unit);
            self.balance();
        }
        if let Some(by_age) = &mut self.by_age {
            by_age.insert((self.freed, unit, erases));
        }
        self.freed += 1;
    }

    /// Yields the free units, unordered.
    pub fn iter(&self) -> impl Iterator<Item = UnitId> + '_ {
        self.by_wear.iter().map(|&(_, unit, _)| unit)
    }

    /// Resets wear to 0; the order of release stays.
    pub fn forget_wear(&mut self) {
        self.middle = None;
        self.by_wear = self.by_wear.iter().map(|&(_, unit, freed)| (0, unit, freed)).collect();
        if let Some(by_age) = &mut self.by_age {
            *by_age = by_age.iter().map(|&(freed, unit, _)| (freed, unit, 0)).collect();
        }
    }

    /// Updates the erases of all units; the order of release stays.
    pub fn learn_wear(&mut self, erases: &IdSlice<UnitId, u32>) {
        self.middle = None;
        self.by_wear = self.by_wear.iter().map(|&(_, unit, freed)| (erases[unit], unit, freed)).collect();
        if let Some(by_age) = &mut self.by_age {
            *by_age = by_age.iter().map(|&(freed, unit, _)| (freed, unit, erases[unit])).collect();
        }
    }

    /// Takes all units out, ascending; for preconditioning, not for the hot path.
    pub fn take_all(&mut self) -> Vec<UnitId> {
        let mut units: Vec<UnitId> = self.iter().collect();
        units.sort_unstable();
        self.by_wear.clear();
        self.middle = None;
        if let Some(by_age) = &mut self.by_age {
            by_age.clear();
        }
        units
    }

    /// Verifies that both orders hold the same units with the same erases.
    ///
    /// # Errors
    /// Describes the discrepancy.
    pub fn audit(&self, erases: &IdSlice<UnitId, u32>) -> Result<(), String> {
        if let Some(&(recorded, unit, _)) = self.by_wear.iter().find(|entry| erases[entry.1] != entry.0) {
            let counted = erases[unit];
            return Err(format!("free unit {unit} was erased {counted} times, its pool says {recorded}"));
        }
        let in_middle = self.by_wear.iter().nth(self.by_wear.len() / 2);
        if self.middle.is_some_and(|middle| {
            in_middle != Some(&middle.unit) || middle.below as usize != self.by_wear.len() / 2
        }) {
            return Err(format!("the middle of a pool is {in_middle:?}, it says {:?}", self.middle));
        }
        if let Some(by_age) = &self.by_age {
            let same: BTreeSet<ByWear> =
                by_age.iter().map(|&(freed, unit, erases)| (erases, unit, freed)).collect();
            if same != self.by_wear {
                return Err("a pool of free units holds other units by age than by wear".into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::{IdVec, Rng};

    /// Free units as a plain list, searched from end to end.
    fn best(free: &[(u32, UnitId, u64)], choice: FreeChoice, want: Want) -> Option<usize> {
        let fifo = want == Want::Next && choice == FreeChoice::Fifo;
        let key = |&(erases, unit, freed): &(u32, UnitId, u64)| match want {
            _ if fifo => (freed, 0),
            Want::MostWorn => (u64::from(u32::MAX - erases), u32::MAX - unit.0),
            _ => (u64::from(erases), unit.0),
        };
        let mut order: Vec<usize> = (0..free.len()).collect();
        order.sort_by_key(|&i| key(&free[i]));
        order.get(if want == Want::UpperHalf { free.len() / 2 } else { 0 }).copied()
    }

    #[test]
    fn each_end_is_that_of_a_search() {
        for seed in 0..40 {
            let mut rng = Rng::new(seed, "pool test");
            let choice = if seed % 2 == 0 { FreeChoice::LeastErased } else { FreeChoice::Fifo };
            let mut pool = FreePool::new(choice, UnitId(0)..UnitId(12));
            let mut free: Vec<_> = UnitId::all(12).map(|unit| (0, unit, u64::from(unit.0))).collect();
            let (mut erases, mut freed) = (IdVec::filled(0u32, 12), 12);
            for step in 0..2000 {
                let want =
                    [Want::Next, Want::LeastWorn, Want::MostWorn, Want::UpperHalf][rng.below(4) as usize];
                let open: Vec<UnitId> =
                    UnitId::all(12).filter(|&unit| free.iter().all(|f| f.1 != unit)).collect();
                match rng.below(200) {
                    0 => {
                        pool.forget_wear();
                        erases.fill(0);
                        free.iter_mut().for_each(|entry| entry.0 = 0);
                    }
                    1 => {
                        erases.iter_mut().for_each(|n| *n += rng.below(5) as u32);
                        pool.learn_wear(&erases);
                        free.iter_mut().for_each(|entry| entry.0 = erases[entry.1]);
                    }
                    2..=100 if !open.is_empty() => {
                        let unit = open[rng.below(open.len() as u64) as usize];
                        erases[unit] += 1 + rng.below(2) as u32;
                        pool.put(unit, erases[unit]);
                        free.push((erases[unit], unit, freed));
                        freed += 1;
                    }
                    _ => {
                        let expected = best(&free, choice, want).map(|i| free.remove(i).1);
                        assert_eq!(pool.take(want), expected, "seed {seed} step {step} {want:?}");
                    }
                }
                assert_eq!(pool.len() as usize, free.len());
                pool.audit(&erases).unwrap_or_else(|fault| panic!("seed {seed} step {step}: {fault}"));
            }
        }
    }
}
