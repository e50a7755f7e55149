//! Block sets: pairs of units that stay open from one leveling job to the next.
//!
//! A job whose targets are `Target::Set` continues with the open units of the set, and leaves those open that are not
//! full. A set is given up when collection can gain nothing else: its units are closed, and their remaining pages are
//! lost until they are erased.

use crate::units::{Frontier, NO_UNIT};
use floatgate_base::{DomainId, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// The open units of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OpenSet {
    id: u32,
    units: [Frontier; 2],
}

impl OpenSet {
    fn open(&self) -> impl Iterator<Item = &Frontier> {
        self.units.iter().filter(|open| open.unit != NO_UNIT)
    }
}

/// All open sets, ordered by how long they have been open, longest first. They are few.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSets {
    sets: Vec<OpenSet>,
}

impl OpenSets {
    /// Checks whether a unit of a set is open.
    #[must_use]
    pub fn holds(&self, id: u32) -> bool {
        self.sets.iter().any(|set| set.id == id)
    }

    /// Returns the pages left in a unit of a set; 0 if it is not open.
    pub(crate) fn room(&self, id: u32, side: u8) -> u32 {
        self.sets.iter().find(|set| set.id == id).map_or(0, |set| set.units[side as usize].room())
    }

    /// Checks whether no set is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Takes out a unit of a set for a job, if it was left open.
    pub(crate) fn take(&mut self, id: u32, side: u8) -> Option<Frontier> {
        let at = self.sets.iter().position(|set| set.id == id)?;
        let open = std::mem::replace(&mut self.sets[at].units[side as usize], Frontier::CLOSED);
        if self.sets[at].open().next().is_none() {
            self.sets.remove(at);
        }
        (open.unit != NO_UNIT).then_some(open)
    }

    /// Keeps a unit of a set open after a job; returns false if one is open already.
    pub(crate) fn keep(&mut self, id: u32, side: u8, open: Frontier) -> bool {
        let at = self.sets.iter().position(|set| set.id == id).unwrap_or_else(|| {
            self.sets.push(OpenSet { id, units: [Frontier::CLOSED; 2] });
            self.sets.len() - 1
        });
        let place = &mut self.sets[at].units[side as usize];
        let is_vacant = place.unit == NO_UNIT;
        if is_vacant {
            *place = open;
        }
        is_vacant
    }

    fn remove(&mut self, id: u32) -> Option<[Frontier; 2]> {
        let at = self.sets.iter().position(|set| set.id == id)?;
        Some(self.sets.remove(at).units)
    }

    /// Takes out the longest-open set that has a unit in a domain.
    pub(crate) fn take_oldest(&mut self, layout: &Layout, domain: DomainId) -> Option<[Frontier; 2]> {
        let lies_there = |set: &&OpenSet| set.open().any(|open| layout.domain_of(open.unit) == domain);
        let id = self.sets.iter().find(lies_there)?.id;
        self.remove(id)
    }

    /// Takes an open unit out of its set.
    pub(crate) fn take_unit(&mut self, unit: UnitId) -> Option<Frontier> {
        let location = self.sets.iter().find_map(|set| {
            set.units.iter().position(|open| open.unit == unit).map(|side| (set.id, side as u8))
        });
        location.and_then(|(id, side)| self.take(id, side))
    }

    /// Yields the open units.
    pub(crate) fn units(&self) -> impl Iterator<Item = &Frontier> {
        self.sets.iter().flat_map(OpenSet::open)
    }

    /// Checks whether the sets fit a drive of this layout.
    pub(crate) fn fits(&self, layout: &Layout) -> bool {
        self.units()
            .all(|open| open.next <= open.end && open.end.0 <= layout.pages() && open.unit.0 < layout.units())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Ppn;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    /// Builds two domains of four units of four pages.
    fn layout() -> Layout {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 4,
            pages_per_block: 4,
            page_bytes: 4096,
        };
        Layout::new(geometry, Scope::Plane)
    }

    /// Builds a unit with one page programmed.
    fn open(layout: &Layout, unit: u32) -> Frontier {
        let first = layout.first_page(UnitId(unit));
        Frontier { next: first + 1, end: first + 4, unit: UnitId(unit) }
    }

    #[test]
    fn the_oldest_set_of_a_domain_is_given_up_whole() {
        let layout = layout();
        let mut sets = OpenSets::default();
        let first = layout.units_per_domain();
        for (id, side, unit) in [(7, 0, 0), (8, 0, first), (9, 1, 1), (9, 0, first + 1)] {
            assert!(sets.keep(id, side, open(&layout, unit)));
        }
        assert!(!sets.keep(9, 1, open(&layout, 2)), "that side is open already");
        let oldest = sets.take_oldest(&layout, DomainId(1));
        assert_eq!(oldest, Some([open(&layout, first), Frontier::CLOSED]));
        assert!(!sets.holds(8) && sets.holds(7) && sets.holds(9));
        let oldest = sets.take_oldest(&layout, DomainId(1));
        assert_eq!(oldest, Some([open(&layout, first + 1), open(&layout, 1)]));
        assert_eq!(sets.take_oldest(&layout, DomainId(1)), None);
        assert_eq!((sets.room(7, 0), sets.room(7, 1), sets.room(9, 1)), (3, 0, 0));
        assert_eq!(sets.take(7, 0), Some(open(&layout, 0)));
        assert!(sets.is_empty());
    }

    #[test]
    fn units_of_another_drive_do_not_fit() {
        let layout = layout();
        let with = |frontier| {
            let mut sets = OpenSets::default();
            sets.keep(1, 0, frontier);
            sets.fits(&layout)
        };
        let last = open(&layout, layout.units() - 1);
        assert!(with(last));
        assert!(!with(Frontier { unit: UnitId(layout.units()), ..last }));
        assert!(!with(Frontier { end: Ppn(layout.pages() + 1), ..last }));
        assert!(!with(Frontier { next: last.end + 1, ..last }));
    }
}
