//! The closed unit of a domain with the fewest reads since its erase.
//!
//! Sums grow with every read and are checked only on a query. The order uses the sum of a unit at its last check, a
//! lower bound of the present one. The first unit is checked again until it stays first.

use super::view::DisturbView;
use floatgate_base::{DomainId, IdVec, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Sum at the last check, sequence number of closing, unit. Of units with equal sums, the one closed first counts as
/// colder.
type Entry = (u32, u64, UnitId);

/// Closed units ordered by their reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Coldest {
    by_sum: IdVec<DomainId, BTreeSet<Entry>>,
    /// Sum and sequence number of each unit.
    entries: IdVec<UnitId, Option<(u32, u64)>>,
    turn: u64,
}

impl Coldest {
    pub fn new(layout: &Layout) -> Self {
        Self {
            by_sum: IdVec::filled(BTreeSet::new(), layout.domains()),
            entries: IdVec::filled(None, layout.units()),
            turn: 0,
        }
    }

    /// Adds a unit that was closed.
    pub fn insert(&mut self, domain: DomainId, unit: UnitId) {
        self.turn += 1;
        self.place(domain, unit, 0, self.turn);
    }

    fn place(&mut self, domain: DomainId, unit: UnitId, sum: u32, turn: u64) {
        self.entries[unit] = Some((sum, turn));
        self.by_sum[domain].insert((sum, turn, unit));
    }

    /// Removes a unit that is no longer closed.
    pub fn remove(&mut self, domain: DomainId, unit: UnitId) -> Option<(u32, u64)> {
        let (sum, turn) = self.entries[unit].take()?;
        self.by_sum[domain].remove(&(sum, turn, unit));
        Some((sum, turn))
    }

    /// Returns the closed unit other than `source` with the fewest reads.
    pub fn find(&mut self, drive: &DisturbView<'_>, source: UnitId) -> Option<UnitId> {
        let domain = drive.layout.domain_of(source);
        let aside = self.remove(domain, source);
        let coldest = loop {
            let Some(&(seen, turn, unit)) = self.by_sum[domain].first() else { break None };
            let sum = drive.sum_of(unit);
            if sum == seen {
                break Some(unit);
            }
            self.remove(domain, unit);
            self.place(domain, unit, sum, turn);
        };
        if let Some((sum, turn)) = aside {
            self.place(domain, source, sum, turn);
        }
        coldest
    }

    pub fn memory_bytes(&self) -> u64 {
        (self.entries.len() * (size_of::<Option<(u32, u64)>>() + size_of::<Entry>())) as u64
    }

    pub fn fits(&self, layout: &Layout) -> bool {
        self.by_sum.len() == layout.domains() as usize
            && self.entries.len() == layout.units() as usize
            && self.by_sum.iter().flatten().all(|entry| entry.2.0 < layout.units())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    fn layout(planes: u32, blocks: u32) -> Layout {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: planes,
            blocks_per_plane: blocks,
            pages_per_block: 4,
            page_bytes: 4096,
        };
        Layout::new(geometry, Scope::Plane)
    }

    #[test]
    fn the_order_of_another_drive_does_not_fit() {
        let layout_of_it = layout(2, 4);
        let mut coldest = Coldest::new(&layout_of_it);
        coldest.insert(DomainId(1), UnitId(7));
        assert!(coldest.fits(&layout_of_it));
        assert!(!coldest.fits(&layout(1, 8)), "as many units in fewer planes");
        assert!(!coldest.fits(&layout(2, 5)));
        coldest.by_sum[DomainId(1)].insert((0, 2, UnitId(8)));
        assert!(!coldest.fits(&layout_of_it), "a unit that the drive does not have");
    }
}
