//! Pages at the end of blocks that are kept for replicas.
//!
//! A unit whose tail is kept is closed when the pages before are written; the tail is programmed later, page by page, behind what
//! was written last. It counts as not valid, and so does what stands in it until it takes its original's place.

use floatgate_base::{DomainId, IdVec, Ppn, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// The tail of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tail {
    /// Number of its next page in the unit.
    next: u32,
    /// Pages that are left.
    left: u32,
}

/// The tails of all units; none where nobody makes replicas.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tails {
    /// Pages of each.
    pages: u32,
    pages_per_unit: u32,
    by_unit: IdVec<UnitId, Tail>,
    /// Domains in which the last victim of collection was so full that moving its pages to units with tails gains nothing.
    crowded: IdVec<DomainId, bool>,
    /// Units whose tail took data, because the drive is too full to do without it.
    pub forgone: u64,
}

impl Tails {
    /// So many pages of each unit that will be opened.
    pub fn new(pages: u32, layout: &Layout) -> Self {
        if pages == 0 {
            return Self::default();
        }
        let by_unit = IdVec::filled(Tail::default(), layout.units());
        let crowded = IdVec::filled(false, layout.domains());
        Self { pages, pages_per_unit: layout.pages_per_unit(), by_unit, crowded, forgone: 0 }
    }

    /// Collection takes a unit with so many valid pages. Without this, it would move full units with tails for ever where a
    /// domain holds more of what is live than the others.
    pub fn victim(&mut self, domain: DomainId, valid: u32) {
        if let Some(crowded) = self.crowded.get_mut(domain) {
            *crowded = valid + self.pages >= self.pages_per_unit;
        }
    }

    /// Whether units of a domain are opened without tails.
    pub fn is_crowded(&self, domain: DomainId) -> bool {
        self.crowded[domain]
    }

    /// Pages of each tail.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// A unit is opened, with its tail kept or without.
    pub fn opened(&mut self, unit: UnitId, kept: bool) {
        if self.pages == 0 {
            return;
        }
        self.forgone += u64::from(!kept);
        let left = if kept { self.pages } else { 0 };
        self.by_unit[unit] = Tail { next: self.pages_per_unit - left, left };
    }

    /// A unit is closed whose first `written` pages were written; its tail begins there.
    pub fn closed(&mut self, unit: UnitId, written: u32) {
        if let Some(tail) = self.by_unit.get_mut(unit) {
            tail.next = written;
        }
    }

    /// A unit was erased.
    pub fn erased(&mut self, unit: UnitId) {
        if let Some(tail) = self.by_unit.get_mut(unit) {
            *tail = Tail::default();
        }
    }

    /// Pages left in a tail.
    pub fn room(&self, unit: UnitId) -> u32 {
        self.by_unit.get(unit).map_or(0, |tail| tail.left)
    }

    /// Number of the page of a unit that its tail writes next, where it has room.
    pub fn next(&self, unit: UnitId) -> Option<u32> {
        self.by_unit.get(unit).filter(|tail| tail.left > 0).map(|tail| tail.next)
    }

    /// Takes the next page of a tail that has room.
    pub fn take(&mut self, layout: &Layout, unit: UnitId) -> Ppn {
        let tail = &mut self.by_unit[unit];
        let page = layout.first_page(unit) + tail.next;
        tail.next += 1;
        tail.left -= 1;
        page
    }

    /// Whether this is of a drive of such a layout.
    pub fn fits(&self, layout: &Layout) -> bool {
        let pages = layout.pages_per_unit();
        self.pages == 0
            || self.by_unit.len() == layout.units() as usize
                && self.crowded.len() == layout.domains() as usize
                && self.pages_per_unit == pages
                && self.by_unit.iter().all(|tail| tail.next.saturating_add(tail.left) <= pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    #[test]
    fn a_domain_is_crowded_while_its_victims_are_full_but_for_a_tail() {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 4,
            pages_per_block: 8,
            page_bytes: 4096,
        };
        let mut tails = Tails::new(2, &Layout::new(geometry, Scope::Plane));
        let domains = [DomainId(0), DomainId(1)];
        let crowded = |tails: &Tails| domains.map(|domain| tails.is_crowded(domain));
        assert_eq!(crowded(&tails), [false, false]);
        tails.victim(domains[1], 6);
        assert_eq!(crowded(&tails), [false, true]);
        tails.victim(domains[1], 5);
        tails.victim(domains[0], 8);
        assert_eq!(crowded(&tails), [true, false]);
    }
}
