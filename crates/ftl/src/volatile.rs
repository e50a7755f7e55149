//! What a drive without power-loss protection remembers of the flash pages that gather in its controller; and what collection
//! gained, where a victim may gain nothing: because of padding, or because chunks meet the end of a unit.

use floatgate_base::{DomainId, IdVec, Owner, Ppn, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// What was moved or written into a flash page that is not full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MovedIn {
    /// The flash page; of another one this says nothing.
    flash_page: u32,
    /// How many of its pages came from elsewhere.
    pages: u32,
    /// The units that these came from, and those in which the host's lay before it wrote them anew.
    sources: Vec<UnitId>,
}

impl MovedIn {
    const NOTHING: Self = Self { flash_page: u32::MAX, pages: 0, sources: Vec::new() };

    fn owes(&mut self, unit: UnitId) {
        if !self.sources.contains(&unit) {
            self.sources.push(unit);
        }
    }

    fn clear(&mut self) {
        (self.flash_page, self.pages) = (u32::MAX, 0);
        self.sources.clear();
    }
}

/// The gain of collection in a domain since the host last wrote a page. What is padded may cost more than a victim frees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gain {
    /// Host page writes so far.
    at: u64,
    /// The most pages that were free since.
    most: u64,
    /// Victims since then.
    victims: u32,
}

/// What is kept of both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Volatile {
    /// By place of the open unit; empty where a power cut loses nothing.
    moved_in: Vec<MovedIn>,
    /// By domain.
    gains: IdVec<DomainId, Gain>,
}

impl Volatile {
    /// Of an empty drive with so many places of open units.
    pub fn new(loses: bool, layout: &Layout, slots: usize) -> Self {
        Self {
            moved_in: vec![MovedIn::NOTHING; if loses { slots } else { 0 }],
            gains: IdVec::filled(Gain::default(), layout.domains()),
        }
    }

    /// Whether a power cut loses what gathers.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        !self.moved_in.is_empty()
    }

    /// Takes over what a snapshot kept of a drive, which need not have been such a one; false if it is of another drive.
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

    /// A unit is opened.
    pub fn opened(&mut self, slot: usize) {
        if let Some(moved) = self.moved_in.get_mut(slot) {
            moved.clear();
        }
    }

    /// Pages have moved to the end of what is written of an open unit, up to `end`.
    #[cold]
    pub fn moved(&mut self, layout: &Layout, slot: usize, pages: &[(Ppn, Owner)], end: Ppn) {
        let gathering = end.0 & (layout.subpages() - 1);
        let moved = self.filling(layout, slot, end);
        for &(ppn, _) in &pages[pages.len().saturating_sub(gathering as usize)..] {
            moved.pages += 1;
            moved.owes(layout.unit_of(ppn));
        }
    }

    /// The host wrote a page anew that lay in `before`.
    #[cold]
    pub fn replaced(&mut self, layout: &Layout, slot: usize, ppn: Ppn, before: Ppn) {
        self.filling(layout, slot, ppn).owes(layout.unit_of(before));
    }

    /// What is known of the flash page of a page.
    fn filling(&mut self, layout: &Layout, slot: usize, ppn: Ppn) -> &mut MovedIn {
        let moved = &mut self.moved_in[slot];
        if moved.flash_page != layout.flash_page_of(ppn) {
            moved.clear();
            moved.flash_page = layout.flash_page_of(ppn);
        }
        moved
    }

    /// How many pages have moved into the flash page that an open unit is within.
    pub fn pages_within(&self, layout: &Layout, slot: usize, next: Ppn) -> u32 {
        self.within(layout, slot, next).map_or(0, |moved| moved.pages)
    }

    /// Whether a unit holds what would be missing, if a power cut lost what gathers there.
    pub fn owes(&self, layout: &Layout, slot: usize, next: Ppn, source: UnitId) -> bool {
        self.within(layout, slot, next).is_some_and(|moved| moved.sources.contains(&source))
    }

    fn within(&self, layout: &Layout, slot: usize, next: Ppn) -> Option<&MovedIn> {
        self.moved_in.get(slot).filter(|moved| moved.flash_page == layout.flash_page_of(next))
    }

    /// Another victim of a domain is due, when so many pages of it are free after `now` host page writes: how many in a row have
    /// gained nothing by then, since the host last wrote a page, this one included.
    pub fn count_victim(&mut self, domain: DomainId, now: u64, free: u64) -> u32 {
        let gain = &mut self.gains[domain];
        if gain.at != now || free > gain.most {
            *gain = Gain { at: now, most: free, victims: 0 };
        }
        gain.victims += 1;
        gain.victims
    }
}
