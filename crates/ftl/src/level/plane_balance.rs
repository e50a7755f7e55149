//! How full planes are, for a wear-leveler that moves data from one to another.
//!
//! What the host writes again goes to all planes in turn, but cold data stay where they are put. So a leveler that moves cold
//! data between planes must see to it that none of them runs out of spare space. Valid pages of each plane are counted anew once
//! a sixteenth of the drive's units has been erased, O(16) per erase; in between only what the leveler moves is added and taken
//! off.

use super::OpenSets;
use crate::units::Units;
use floatgate_base::{DomainId, IdVec, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Units of the drive per erase after which they are counted anew.
const UNITS_PER_ERASE: u32 = 16;

/// A unit whose pages move, half each, to two domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Split {
    pub from: DomainId,
    pub into: [DomainId; 2],
    /// Its valid pages.
    pub pages: u32,
}

impl Split {
    /// What the domains gain, and the first loses.
    fn gains(self) -> [(DomainId, i64); 3] {
        let pages = i64::from(self.pages);
        [(self.from, -pages), (self.into[0], (pages + 1) / 2), (self.into[1], pages / 2)]
    }
}

/// Valid pages of each domain, once all that is to be split has been.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlaneBalance {
    valid: IdVec<DomainId, i64>,
    /// Erases until they are counted anew.
    due_in: u32,
    units: u32,
    pages_per_unit: u32,
}

impl PlaneBalance {
    /// Of a drive whose pages have not been counted.
    pub fn new(layout: &Layout) -> Self {
        let valid = IdVec::filled(0, layout.domains());
        Self { valid, due_in: 0, units: layout.units(), pages_per_unit: layout.pages_per_unit() }
    }

    /// A unit was erased.
    pub fn erased(&mut self) {
        self.due_in = self.due_in.saturating_sub(1);
    }

    /// Counts, if that is due; `splits` are those under way, which learn how many of their pages are still to move.
    pub fn count<'a>(
        &mut self,
        layout: &Layout,
        units: &Units,
        sets: &OpenSets,
        splits: impl Iterator<Item = (UnitId, &'a mut Split)>,
    ) {
        if self.due_in > 0 {
            return;
        }
        self.due_in = self.units.div_ceil(UNITS_PER_ERASE);
        self.valid.fill(0);
        for (unit, meta) in units.meta.enumerate() {
            self.valid[layout.domain_of(unit)] += i64::from(meta.valid);
        }
        // An open unit counts as if it were full; of the host's every domain has as many.
        for open in sets.units() {
            self.valid[layout.domain_of(open.unit)] -= i64::from(open.room());
        }
        for (unit, split) in splits {
            split.pages = units.meta[unit].valid;
            self.split(*split);
        }
    }

    /// Valid pages of the average one of these domains.
    pub fn mean(&self, domains: impl Iterator<Item = DomainId>) -> i64 {
        let (sum, count) = domains.fold((0, 0), |(sum, count), domain| (sum + self.valid[domain], count + 1));
        sum / count.max(1)
    }

    /// Whether a domain may take in half of a unit: it then has at most a unit's pages more than the average.
    pub fn may_take(&self, domain: DomainId, from: DomainId, pages: u32, mean: i64) -> bool {
        let left = if domain == from { i64::from(pages) } else { 0 };
        self.valid[domain] + i64::from(pages.div_ceil(2)) - left <= mean + i64::from(self.pages_per_unit)
    }

    /// A unit is to be split.
    pub fn split(&mut self, split: Split) {
        split.gains().into_iter().for_each(|(domain, pages)| self.valid[domain] += pages);
    }

    /// What was to be split stays where it is.
    pub fn undo(&mut self, split: Split) {
        split.gains().into_iter().for_each(|(domain, pages)| self.valid[domain] -= pages);
    }

    /// Whether it is that of a drive of such a layout.
    pub fn fits(&self, layout: &Layout) -> bool {
        self.valid.len() == layout.domains() as usize
            && (self.units, self.pages_per_unit) == (layout.units(), layout.pages_per_unit())
            && self.due_in <= self.units
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    fn layout(planes: u32, blocks: u32, pages: u32) -> Layout {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: planes,
            blocks_per_plane: blocks,
            pages_per_block: pages,
            page_bytes: 4096,
        };
        Layout::new(geometry, Scope::Plane)
    }

    #[test]
    fn the_balance_of_another_drive_does_not_fit() {
        let balance = PlaneBalance::new(&layout(2, 8, 4));
        assert!(balance.fits(&layout(2, 8, 4)));
        assert!(!balance.fits(&layout(4, 4, 4)), "as many units in more planes");
        assert!(!balance.fits(&layout(2, 9, 4)));
        assert!(!balance.fits(&layout(2, 8, 5)));
        assert!(PlaneBalance { due_in: 16, ..balance.clone() }.fits(&layout(2, 8, 4)));
        assert!(!PlaneBalance { due_in: 17, ..balance }.fits(&layout(2, 8, 4)));
    }
}
