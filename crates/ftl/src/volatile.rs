//! State of drives without power-loss protection: the flash pages that gather in the controller.
//!
//! Also tracks what collection gained, for a victim may gain nothing because of padding, or because chunks meet the end
//! of a unit.

use floatgate_base::{DomainId, IdVec, Owner, Ppn, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Pages that were moved or written into a flash page that is not full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MovedIn {
    /// The flash page that the entry is about.
    flash_page: u32,
    /// Pages in it that were moved.
    pages: u32,
    /// The units that these came from, and those that held the old data of host rewrites.
    sources: Vec<UnitId>,
}

impl MovedIn {
    const NOTHING: Self = Self { flash_page: u32::MAX, pages: 0, sources: Vec::new() };

    fn add_source(&mut self, unit: UnitId) {
        if !self.sources.contains(&unit) {
            self.sources.push(unit);
        }
    }

    fn clear(&mut self) {
        (self.flash_page, self.pages) = (u32::MAX, 0);
        self.sources.clear();
    }
}

/// The gain of collection in a domain since the last host page write. Padding may cost more than a victim frees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gain {
    /// Host page writes so far.
    at: u64,
    /// The most pages that were free since then.
    most: u64,
    /// Victims since then.
    victims: u32,
}

/// Both kinds of state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Volatile {
    /// By slot of the open unit; empty if a power cut loses nothing.
    moved_in: Vec<MovedIn>,
    /// By domain.
    gains: IdVec<DomainId, Gain>,
}

impl Volatile {
    /// Creates the state of an empty drive; `loses` says whether a power cut loses data.
    pub fn new(loses: bool, layout: &Layout, slots: usize) -> Self {
        Self {
            moved_in: vec![MovedIn::NOTHING; if loses { slots } else { 0 }],
            gains: IdVec::filled(Gain::default(), layout.domains()),
        }
    }

    /// Checks whether a power cut loses gathering pages.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        !self.moved_in.is_empty()
    }

    /// Restores the state from a snapshot, possibly of a drive with other protection. Returns false if it is of another
    /// drive.
    pub fn adopt(&mut self, saved: Self, units: u32) -> bool {
        if saved.gains.len() != self.gains.len() {
            return false;
        }
        if !self.is_on() || !saved.is_on() {
            self.gains = saved.gains;
            return true;
        }
        let fits = saved.moved_in.len() == self.moved_in.len()
            && saved.moved_in.iter().flat_map(|moved| &moved.sources).all(|unit| unit.0 < units);
        if fits {
            *self = saved;
        }
        fits
    }

    /// Clears the record of a slot whose unit was opened.
    pub fn opened(&mut self, slot: usize) {
        if let Some(moved) = self.moved_in.get_mut(slot) {
            moved.clear();
        }
    }

    /// Records pages that moved to the end of an open unit, up to `end`.
    #[cold]
    pub fn moved(&mut self, layout: &Layout, slot: usize, pages: &[(Ppn, Owner)], end: Ppn) {
        let gathering = end.0 & (layout.subpages() - 1);
        let moved = self.filling(layout, slot, end);
        for &(ppn, _) in &pages[pages.len().saturating_sub(gathering as usize)..] {
            moved.pages += 1;
            moved.add_source(layout.unit_of(ppn));
        }
    }

    /// Registers that the host rewrote a page whose old data lies at `before`.
    #[cold]
    pub fn replaced(&mut self, layout: &Layout, slot: usize, ppn: Ppn, before: Ppn) {
        self.filling(layout, slot, ppn).add_source(layout.unit_of(before));
    }

    /// Returns the record of the flash page that holds `ppn`, cleared if it was about another one.
    fn filling(&mut self, layout: &Layout, slot: usize, ppn: Ppn) -> &mut MovedIn {
        let moved = &mut self.moved_in[slot];
        if moved.flash_page != layout.flash_page_of(ppn) {
            moved.clear();
            moved.flash_page = layout.flash_page_of(ppn);
        }
        moved
    }

    /// Counts the pages that moved into the partial flash page of an open unit.
    pub fn pages_within(&self, layout: &Layout, slot: usize, next: Ppn) -> u32 {
        self.within(layout, slot, next).map_or(0, |moved| moved.pages)
    }

    /// Checks whether `source` holds data that a power cut would lose with the gathering pages.
    pub fn depends_on(&self, layout: &Layout, slot: usize, next: Ppn, source: UnitId) -> bool {
        self.within(layout, slot, next).is_some_and(|moved| moved.sources.contains(&source))
    }

    fn within(&self, layout: &Layout, slot: usize, next: Ppn) -> Option<&MovedIn> {
        self.moved_in.get(slot).filter(|moved| moved.flash_page == layout.flash_page_of(next))
    }

    /// Counts victims of a domain that gained nothing in a row since the last host page write, this one included.
    ///
    /// `free` pages of the domain are free after `now` host page writes.
    pub fn count_victim(&mut self, domain: DomainId, now: u64, free: u64) -> u32 {
        let gain = &mut self.gains[domain];
        if gain.at != now || free > gain.most {
            *gain = Gain { at: now, most: free, victims: 0 };
        }
        gain.victims += 1;
        gain.victims
    }
}
