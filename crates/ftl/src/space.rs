//! Opens and closes units, and invalidates their pages.

use crate::features::Features;
use crate::ftl::Ftl;
use crate::separate::WaitingPlace;
use crate::units::{Frontier, NO_UNIT, NOT_INDEXED};
use floatgate_base::{DomainId, Ppn, UnitId};
use floatgate_flash::Flash;

impl Ftl {
    /// Yields the pages left in each open unit of a domain.
    pub(crate) fn open_rooms(&self, domain: DomainId) -> impl Iterator<Item = u32> + '_ {
        let domains = self.layout.domains() as usize;
        self.frontiers.iter().skip(domain.index()).step_by(domains).map(Frontier::room)
    }

    /// Closes the frontier's full unit and opens a free one. Returns false if no unit is free.
    pub(crate) fn open(&mut self, slot: usize, domain: DomainId) -> bool {
        self.close(slot);
        let want = self.setup.separate.want(Frontier::stream(&self.layout, slot));
        let Some(unit) = self.free[domain].take(want) else { return false };
        let pages = self.data_pages(unit);
        if pages < self.layout.pages_per_unit() {
            self.free_pages.advance(self.now);
            self.free_pages.take(u64::from(self.layout.pages_per_unit() - pages));
        }
        let next = self.layout.first_page(unit);
        self.units.meta[unit].valid = pages;
        self.frontiers[slot] = Frontier { next, end: next + pages, unit };
        self.open_pages.opened(pages, self.now);
        self.volatile.opened(slot);
        if let Some(separation) = &mut self.separation {
            separation.opened(unit, Frontier::stream(&self.layout, slot), self.now);
        }
        true
    }

    /// Hands a full unit to the victim index.
    pub(crate) fn close(&mut self, slot: usize) {
        let full = std::mem::replace(&mut self.frontiers[slot], Frontier::CLOSED);
        if full.unit != NO_UNIT {
            self.open_pages.closed(full.room(), self.now);
            self.enter_closed(full.unit);
        }
    }

    /// Makes a full unit a candidate for collection.
    pub(crate) fn enter_closed(&mut self, unit: UnitId) {
        self.units.closed_at[unit] = self.now;
        let place = self.separation.as_ref().map_or(WaitingPlace::Index, |separation| separation.place(unit));
        self.candidates.insert(&self.layout, unit, place, &mut self.units);
        if let Some(leveling) = &mut self.leveling {
            leveling.closed(self.layout.domain_of(unit), unit);
        }
        if let Some(reclaiming) = &mut self.reclaiming {
            reclaiming.closed(self.layout.domain_of(unit), unit);
        }
    }

    /// Removes a closed unit from the candidates because it will be emptied.
    pub(crate) fn leave_closed(&mut self, unit: UnitId) {
        self.candidates.remove(&self.layout, unit, &mut self.units);
        if let Some(timing) = &mut self.timing {
            timing.emptied(unit);
        }
        if let Some(leveling) = &mut self.leveling {
            leveling.emptying(self.layout.domain_of(unit), unit);
        }
        if let Some(reclaiming) = &mut self.reclaiming {
            reclaiming.emptying(self.layout.domain_of(unit), unit);
        }
    }

    /// Invalidates a live page.
    #[inline(always)]
    pub(crate) fn invalidate<S: Features>(&mut self, ppn: Ppn) {
        self.mapping.kill(ppn);
        let unit = self.layout.unit_of(ppn);
        let meta = &mut self.units.meta[unit];
        let valid = meta.valid;
        meta.valid = valid - 1;
        if meta.pos != NOT_INDEXED {
            if S::INSPECTS {
                self.candidates.lost_page::<true>(&self.layout, unit, valid, self.now, &mut self.units);
            } else {
                self.candidates.lost_page::<false>(&self.layout, unit, valid, self.now, &mut self.units);
            }
        }
    }

    /// Notifies leveler and counters that a unit was erased.
    pub(crate) fn notify_erase<F: Flash>(&mut self, flash: &F, unit: UnitId) {
        if let Some(leveling) = &mut self.leveling {
            leveling.erased(self.layout.domain_of(unit), unit, flash.erase_count(unit));
        }
        if let Some(reclaiming) = &mut self.reclaiming {
            reclaiming.erased(&self.layout, unit);
        }
    }
}
