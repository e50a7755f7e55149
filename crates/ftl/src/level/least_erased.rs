//! Closed units by their erases: the least erased one of each domain, as a heap with positions.
//!
//! Every change costs O(log n), the least erased unit O(1), without allocation: each heap has room for its whole
//! domain. Memory: 12 bytes per unit.

use floatgate_base::{DomainId, IdSlice, IdVec, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Position of a unit that is in no heap.
const ABSENT: u32 = u32::MAX;

/// Closed units of all domains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LeastErased {
    /// Erases of each unit since counting began.
    erases: IdVec<UnitId, u32>,
    /// Position of each unit in the heap of its domain.
    places: IdVec<UnitId, u32>,
    heaps: IdVec<DomainId, Vec<UnitId>>,
}

impl LeastErased {
    /// Creates the heaps of an empty drive.
    pub fn new(layout: &Layout) -> Self {
        let heap = |_| Vec::with_capacity(layout.units_per_domain() as usize);
        Self {
            erases: IdVec::filled(0, layout.units()),
            places: IdVec::filled(ABSENT, layout.units()),
            heaps: (0..layout.domains()).map(heap).collect(),
        }
    }

    /// Returns the closed unit of a domain with the fewest erases; the lowest number of several.
    pub fn first(&self, domain: DomainId) -> Option<(u32, UnitId)> {
        self.heaps[domain].first().map(|&unit| (self.erases[unit], unit))
    }

    /// Returns the closed units of a domain, in no order.
    pub fn units_of(&self, domain: DomainId) -> &[UnitId] {
        &self.heaps[domain]
    }

    /// Returns the units of the drive.
    pub fn units(&self) -> u32 {
        self.erases.len() as u32
    }

    /// Records the `erases`th erase of a unit that is not closed.
    pub fn erased(&mut self, unit: UnitId, erases: u32) {
        self.erases[unit] = erases;
    }

    /// Adds a unit that was closed.
    pub fn insert(&mut self, domain: DomainId, unit: UnitId) {
        let at = self.heaps[domain].len();
        self.heaps[domain].push(unit);
        self.places[unit] = at as u32;
        self.rise(domain, at);
    }

    /// Removes a closed unit that will be emptied.
    pub fn remove(&mut self, domain: DomainId, unit: UnitId) {
        let at = std::mem::replace(&mut self.places[unit], ABSENT) as usize;
        let heap = &mut self.heaps[domain];
        let Some(last) = heap.pop() else { return };
        if last != unit {
            heap[at] = last;
            self.places[last] = at as u32;
            self.rise(domain, at);
            self.sink(domain, self.places[last] as usize);
        }
    }

    fn key(&self, unit: UnitId) -> (u32, UnitId) {
        (self.erases[unit], unit)
    }

    fn swap(&mut self, domain: DomainId, one: usize, other: usize) {
        let heap = &mut self.heaps[domain];
        heap.swap(one, other);
        (self.places[heap[one]], self.places[heap[other]]) = (one as u32, other as u32);
    }

    fn rise(&mut self, domain: DomainId, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.key(self.heaps[domain][parent]) <= self.key(self.heaps[domain][at]) {
                return;
            }
            self.swap(domain, at, parent);
            at = parent;
        }
    }

    fn sink(&mut self, domain: DomainId, mut at: usize) {
        loop {
            let heap = &self.heaps[domain];
            let children = [2 * at + 1, 2 * at + 2].into_iter().filter(|&child| child < heap.len());
            let Some(least) = children.min_by_key(|&child| self.key(heap[child])) else { return };
            if self.key(heap[at]) <= self.key(heap[least]) {
                return;
            }
            self.swap(domain, at, least);
            at = least;
        }
    }

    /// Restores heap order after many erase counts have changed.
    fn sort(&mut self) {
        for heap in self.heaps.iter_mut() {
            heap.sort_unstable_by_key(|&unit| (self.erases[unit], unit));
            (0..).zip(heap).for_each(|(at, unit)| self.places[*unit] = at);
        }
    }

    /// Resets wear to 0 when counting begins.
    pub fn restart(&mut self) {
        self.erases.fill(0);
        self.sort();
    }

    /// Updates the erases of all units; returns whether they differ.
    pub fn learn_wear(&mut self, erases: &IdSlice<UnitId, u32>) -> bool {
        let differs = self.erases.iter().ne(erases.iter());
        if differs {
            self.erases.iter_mut().zip(erases.iter()).for_each(|(ours, &n)| *ours = n);
            self.sort();
        }
        differs
    }

    /// Checks whether a unit is closed.
    pub fn holds(&self, unit: UnitId) -> bool {
        self.places[unit] != ABSENT
    }

    /// Checks whether the state fits a drive of this layout.
    pub fn fits(&self, layout: &Layout) -> bool {
        let (units, domains) = (layout.units() as usize, layout.domains() as usize);
        self.erases.len() == units
            && self.places.len() == units
            && self.heaps.len() == domains
            && self.heaps.iter().flatten().all(|unit| unit.0 < layout.units())
    }

    /// Verifies that the heaps hold exactly the closed units, in heap order.
    ///
    /// # Errors
    /// Describes the discrepancy.
    pub fn audit(&self, layout: &Layout, closed: &IdSlice<UnitId, bool>) -> Result<(), String> {
        for (unit, &closed) in closed.enumerate() {
            let heap = &self.heaps[layout.domain_of(unit)];
            let stands = heap.get(self.places[unit] as usize) == Some(&unit);
            if stands != closed {
                return Err(format!("unit {unit} is closed or in the heap of wear-leveling, not both"));
            }
        }
        for heap in &self.heaps {
            let disordered = (1..heap.len()).find(|&at| self.key(heap[(at - 1) / 2]) > self.key(heap[at]));
            if let Some(at) = disordered {
                return Err(format!("unit {} is ahead of a less erased one", heap[(at - 1) / 2]));
            }
        }
        let held: usize = self.heaps.iter().map(Vec::len).sum();
        let due = closed.iter().filter(|&&closed| closed).count();
        (held == due).then_some(()).ok_or_else(|| format!("{held} units in heaps, {due} are closed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    #[test]
    fn the_first_is_that_of_a_search() {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 20,
            pages_per_block: 4,
            page_bytes: 4096,
        };
        let layout = Layout::new(geometry, Scope::Plane);
        for seed in 0..20 {
            let mut rng = Rng::new(seed, "least erased test");
            let mut heap = LeastErased::new(&layout);
            let mut closed = IdVec::filled(false, 20);
            let mut erases = IdVec::filled(0u32, 20);
            for _ in 0..3000 {
                let unit = UnitId(rng.below(20) as u32);
                if closed[unit] {
                    heap.remove(DomainId(0), unit);
                    erases[unit] += 1 + rng.below(3) as u32;
                    heap.erased(unit, erases[unit]);
                } else {
                    heap.insert(DomainId(0), unit);
                }
                closed[unit] = !closed[unit];
                if rng.below(500) == 0 {
                    erases.fill(0);
                    heap.restart();
                }
                let units = UnitId::all(20).filter(|&unit| closed[unit]);
                assert_eq!(heap.first(DomainId(0)), units.map(|unit| (erases[unit], unit)).min());
                heap.audit(&layout, &closed).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
            }
        }
    }
}
