//! Pages at the end of blocks that are reserved for replicas.
//!
//! A unit with a reserved tail is closed when the pages before it are written. The tail is programmed later, page by
//! page. It counts as not valid, as does each replica in it until it takes its original's place.

use floatgate_base::{DomainId, IdVec, Ppn, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// The tail of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tail {
    /// Number of its next page in the unit.
    next: u32,
    /// Pages left.
    left: u32,
}

/// The tails of all units; none without replicas.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tails {
    /// Pages of each tail.
    pages: u32,
    pages_per_unit: u32,
    by_unit: IdVec<UnitId, Tail>,
    /// Domains whose last victim was so full that moving its pages to units with tails gains nothing.
    crowded: IdVec<DomainId, bool>,
    /// Units whose tail took data because the drive was too full.
    pub forgone: u64,
}

impl Tails {
    /// Reserves `pages` of each unit that will be opened.
    pub fn new(pages: u32, layout: &Layout) -> Self {
        if pages == 0 {
            return Self::default();
        }
        let by_unit = IdVec::filled(Tail::default(), layout.units());
        let crowded = IdVec::filled(false, layout.domains());
        Self { pages, pages_per_unit: layout.pages_per_unit(), by_unit, crowded, forgone: 0 }
    }

    /// Notes a victim with `valid` pages. Without this, collection would move full units with tails forever if a domain
    /// holds more live data than the others.
    pub fn victim(&mut self, domain: DomainId, valid: u32) {
        if let Some(crowded) = self.crowded.get_mut(domain) {
            *crowded = valid + self.pages >= self.pages_per_unit;
        }
    }

    /// Checks whether units of a domain are opened without tails.
    pub fn is_crowded(&self, domain: DomainId) -> bool {
        self.crowded[domain]
    }

    /// Returns the pages of each tail.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Registers that a unit was opened, with its tail reserved or without.
    pub fn opened(&mut self, unit: UnitId, kept: bool) {
        if self.pages == 0 {
            return;
        }
        self.forgone += u64::from(!kept);
        let left = if kept { self.pages } else { 0 };
        self.by_unit[unit] = Tail { next: self.pages_per_unit - left, left };
    }

    /// Begins the tail of a closed unit whose first `written` pages were written.
    pub fn closed(&mut self, unit: UnitId, written: u32) {
        if let Some(tail) = self.by_unit.get_mut(unit) {
            tail.next = written;
        }
    }

    /// Clears the tail of an erased unit.
    pub fn erased(&mut self, unit: UnitId) {
        if let Some(tail) = self.by_unit.get_mut(unit) {
            *tail = Tail::default();
        }
    }

    /// Returns the pages left in a tail.
    pub fn room(&self, unit: UnitId) -> u32 {
        self.by_unit.get(unit).map_or(0, |tail| tail.left)
    }

    /// Returns the number of the page that the tail of a unit writes next, if it has room.
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

    /// Checks whether the tails fit a drive of this layout.
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
