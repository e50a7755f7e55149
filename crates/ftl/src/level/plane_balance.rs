//! The fill of planes, for a wear-leveler that moves data between them.
//!
//! Host rewrites go to all planes in turn, but cold data stay where they are put. A leveler that moves cold data
//! between planes must therefore ensure that none of them runs out of spare space. Valid pages of each plane are
//! recounted once a sixteenth of the drive's units has been erased, O(16) per erase. In between only the leveler's own
//! moves are added and subtracted.

use super::OpenSets;
use crate::units::Units;
use floatgate_base::{DomainId, IdVec, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Units of the drive per erase after which they are recounted.
const UNITS_PER_ERASE: u32 = 16;

/// A unit whose pages are being split, half each, between two domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Split {
    pub from: DomainId,
    pub into: [DomainId; 2],
    /// Its valid pages.
    pub pages: u32,
}

impl Split {
    /// Returns what the two targets gain and the source loses.
    fn gains(self) -> [(DomainId, i64); 3] {
        let pages = i64::from(self.pages);
        [(self.from, -pages), (self.into[0], (pages + 1) / 2), (self.into[1], pages / 2)]
    }
}

/// Valid pages of each domain, once all pending splits are done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlaneBalance {
    valid: IdVec<DomainId, i64>,
    /// Erases until the next count.
    due_in: u32,
    units: u32,
    pages_per_unit: u32,
}

impl PlaneBalance {
    /// Creates the state of a drive whose pages have not been counted.
    pub fn new(layout: &Layout) -> Self {
        let valid = IdVec::filled(0, layout.domains());
        Self { valid, due_in: 0, units: layout.units(), pages_per_unit: layout.pages_per_unit() }
    }

    /// Counts an erased unit.
    pub fn erased(&mut self) {
        self.due_in = self.due_in.saturating_sub(1);
    }

    /// Counts again if that is due; sets the pages of the pending `splits` to those still to move.
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
        // An open unit counts as full; every domain has equally many of the host's.
        for open in sets.units() {
            self.valid[layout.domain_of(open.unit)] -= i64::from(open.room());
        }
        for (unit, split) in splits {
            split.pages = units.meta[unit].valid;
            self.split(*split);
        }
    }

    /// Returns the mean of the valid pages of these domains.
    pub fn mean(&self, domains: impl Iterator<Item = DomainId>) -> i64 {
        let (sum, count) = domains.fold((0, 0), |(sum, count), domain| (sum + self.valid[domain], count + 1));
        sum / count.max(1)
    }

    /// Checks whether a domain may take in half of a unit. Afterwards it may have at most one unit's pages more than
    /// the average.
    pub fn may_take(&self, domain: DomainId, from: DomainId, pages: u32, mean: i64) -> bool {
        let left = if domain == from { i64::from(pages) } else { 0 };
        self.valid[domain] + i64::from(pages.div_ceil(2)) - left <= mean + i64::from(self.pages_per_unit)
    }

    /// Adds a unit that will be split.
    pub fn split(&mut self, split: Split) {
        split.gains().into_iter().for_each(|(domain, pages)| self.valid[domain] += pages);
    }

    /// Removes a split that was dropped.
    pub fn undo(&mut self, split: Split) {
        split.gains().into_iter().for_each(|(domain, pages)| self.valid[domain] -= pages);
    }

    /// Checks whether the state fits a drive of this layout.
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
