//! Closed units ordered by their number of valid pages, in constant time per step.
//!
//! The units of a domain are in a ring sorted by valid count; `start[v]` is the position of the first unit with `v`
//! valid pages. A unit that loses a page changes places with the first unit of its bucket, whose start then moves past
//! it: two swaps, no links to follow. The best victim is at the front of the ring.

use crate::units::{NOT_INDEXED, UnitMeta};
use floatgate_base::{IdSlice, UnitId, prefetch::prefetch};
use serde::{Deserialize, Serialize};

/// The ring of one domain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ValidRing {
    order: Vec<UnitId>,
    mask: u64,
    /// Positions count up forever; `order` is indexed by their low bits.
    front: u64,
    end: u64,
    /// First position of each bucket. May lag behind `front`; readers take the larger of the two.
    start: Vec<u64>,
}

impl ValidRing {
    /// Creates an empty ring for up to `units` units of `pages_per_unit` pages.
    #[must_use]
    pub fn new(units: u32, pages_per_unit: u32) -> Self {
        let capacity = units.next_power_of_two();
        Self {
            order: vec![UnitId(0); capacity as usize],
            mask: u64::from(capacity) - 1,
            front: 0,
            end: 0,
            start: vec![0; pages_per_unit as usize + 1],
        }
    }

    /// Returns the number of units in the ring.
    #[must_use]
    pub fn len(&self) -> u32 {
        (self.end - self.front) as u32
    }

    /// Checks whether the ring holds no unit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end == self.front
    }

    /// Returns a unit with the fewest valid pages.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<UnitId> {
        (!self.is_empty()).then(|| self.order[(self.front & self.mask) as usize])
    }

    /// Inserts a unit that was just closed; `meta[unit].valid` is its count.
    pub fn insert(&mut self, unit: UnitId, meta: &mut IdSlice<UnitId, UnitMeta>) {
        let index = (self.end & self.mask) as u32;
        self.end += 1;
        self.order[index as usize] = unit;
        meta[unit].pos = index;
        let full = self.start.len() as u32 - 1;
        for valid in (meta[unit].valid + 1..=full).rev() {
            self.demote(unit, valid, meta);
        }
    }

    /// Prefetches the start of the bucket that a unit of this state is in.
    #[inline(always)]
    pub fn prefetch_start(&self, unit: UnitMeta) {
        prefetch(&self.start, unit.valid as usize);
    }

    /// Prefetches the places that a unit of this state and the first one of its bucket have in the ring.
    #[inline(always)]
    pub fn prefetch(&self, unit: UnitMeta) {
        prefetch(&self.order, unit.pos as usize);
        if let Some(first) = self.start.get(unit.valid as usize) {
            prefetch(&self.order, (first & self.mask) as usize);
        }
    }

    /// Moves a unit from bucket `from` to bucket `from - 1`.
    #[inline(always)]
    pub fn demote(&mut self, unit: UnitId, from: u32, meta: &mut IdSlice<UnitId, UnitMeta>) {
        let first = self.start[from as usize].max(self.front);
        self.start[from as usize] = first + 1;
        let to = (first & self.mask) as u32;
        let at = meta[unit].pos;
        let other = self.order[to as usize];
        self.order[at as usize] = other;
        meta[other].pos = at;
        self.order[to as usize] = unit;
        meta[unit].pos = to;
    }

    /// Removes a unit: at once if it is the first, otherwise by moving it down through the buckets.
    pub fn remove(&mut self, unit: UnitId, meta: &mut IdSlice<UnitId, UnitMeta>) {
        if self.first() != Some(unit) {
            for valid in (0..=meta[unit].valid).rev() {
                self.demote(unit, valid, meta);
            }
            // Now the unit is the only one of an imaginary bucket below 0: the front.
            debug_assert_eq!(self.first(), Some(unit));
        }
        self.front += 1;
        meta[unit].pos = NOT_INDEXED;
    }

    /// Checks the order against the counts; calls `hold` with every unit.
    ///
    /// # Errors
    /// Names the unit out of place.
    pub fn audit(
        &self,
        meta: &IdSlice<UnitId, UnitMeta>,
        hold: &mut impl FnMut(UnitId) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut last = 0;
        for position in self.front..self.end {
            let index = (position & self.mask) as u32;
            let unit = self.order[index as usize];
            let UnitMeta { valid, pos } = meta[unit];
            hold(unit)?;
            if pos != index || valid < last {
                return Err(format!("unit {unit} ({valid} valid) is out of order in the valid-count index"));
            }
            if position < self.start[valid as usize].max(self.front) {
                return Err(format!("unit {unit} is before its bucket {valid}"));
            }
            last = valid;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::{IdVec, Rng};

    /// Random closings, losses and removals match a sorted list.
    #[test]
    fn agrees_with_a_plain_list_under_random_use() {
        const UNITS: u32 = 37;
        const PAGES: u32 = 9;
        for seed in 0..50 {
            let mut rng = Rng::new(seed, "ring test");
            let mut ring = ValidRing::new(UNITS, PAGES);
            let mut meta = IdVec::filled(UnitMeta { valid: 0, pos: NOT_INDEXED }, UNITS);
            for step in 0..3000 {
                let unit = UnitId(rng.below(u64::from(UNITS)) as u32);
                let m = meta[unit];
                match rng.below(8) {
                    0 if m.pos != NOT_INDEXED => ring.remove(unit, &mut meta),
                    1 if !ring.is_empty() => {
                        let first = ring.first().unwrap();
                        ring.remove(first, &mut meta);
                    }
                    2..=3 if m.pos == NOT_INDEXED => {
                        meta[unit].valid = rng.below(u64::from(PAGES) + 1) as u32;
                        ring.insert(unit, &mut meta);
                    }
                    _ if m.pos != NOT_INDEXED && m.valid > 0 => {
                        meta[unit].valid -= 1;
                        ring.demote(unit, m.valid, &mut meta);
                    }
                    _ => {}
                }
                ring.audit(&meta, &mut |_| Ok(())).unwrap_or_else(|e| panic!("seed {seed} step {step}: {e}"));
                let held = meta.iter().filter(|m| m.pos != NOT_INDEXED);
                assert_eq!(ring.len() as usize, held.clone().count(), "seed {seed}");
                let least = held.map(|m| m.valid).min();
                assert_eq!(ring.first().map(|u| meta[u].valid), least, "seed {seed} step {step}");
            }
        }
    }
}
