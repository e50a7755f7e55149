//! Block sets on the drive: units that jobs of wear-leveling leave open, and what becomes of them.

use crate::ftl::Ftl;
use crate::units::Frontier;
use floatgate_base::{DomainId, UnitId};
use floatgate_flash::{Cause, Flash};

impl Ftl {
    /// A job leaves a unit of a set open for the next one; a unit that is full, or has no place there, stays the caller's to
    /// close. A flash page that is not full is padded: nobody goes on with it before other pages are written.
    pub(crate) fn leave_in_set<F: Flash>(
        &mut self,
        flash: &mut F,
        (id, side): (u32, usize),
        target: &mut Frontier,
        cause: Cause,
    ) {
        let padding = self.layout.left_of_flash_page(target.next);
        if padding > 0 && target.room() > 0 {
            flash.pad(target.next, padding, cause);
            target.next += padding;
            self.units.meta[target.unit].valid -= padding;
            self.free_pages.take(u64::from(padding));
        }
        if let Some(leveling) = &mut self.leveling
            && target.room() > 0
            && leveling.sets.keep(id, side, *target)
        {
            *target = Frontier::CLOSED;
        }
    }

    /// The last job of a set is done: what none of its pages came to is closed.
    pub(crate) fn close_left<F: Flash>(&mut self, flash: &mut F, (id, side): (u32, usize), cause: Cause) {
        if let Some(mut open) = self.leveling.as_mut().and_then(|leveling| leveling.sets.take(id, side)) {
            self.close_target(flash, &mut open, cause);
        }
    }

    /// Whether a job before has left a unit of a set open.
    pub(crate) fn is_open_set(&self, id: u32) -> bool {
        self.leveling.as_ref().is_some_and(|leveling| leveling.sets.holds(id))
    }

    /// Sets that wear-leveling gives up are closed.
    pub(crate) fn close_given_up<F: Flash>(&mut self, flash: &mut F) {
        while let Some(units) = self.leveling.as_mut().and_then(|leveling| leveling.sets.take_given_up()) {
            self.close_set(flash, units);
        }
    }

    /// Closes the oldest set that holds a unit of a domain, for it has nothing else to collect; false if there is none.
    #[cold]
    pub(crate) fn give_up_set<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> bool {
        let Self { leveling: Some(leveling), layout, .. } = self else { return false };
        let Some(units) = leveling.sets.take_oldest(layout, domain) else { return false };
        self.close_set(flash, units);
        true
    }

    fn close_set<F: Flash>(&mut self, flash: &mut F, units: [Frontier; 2]) {
        if let Some(leveling) = &mut self.leveling {
            leveling.counters.unpaired += 1;
        }
        self.free_pages.advance(self.now);
        for mut open in units {
            self.close_target(flash, &mut open, Cause::Level);
        }
    }

    /// An open unit of a set, which leaves it.
    pub(crate) fn take_from_set(&mut self, unit: UnitId) -> Option<Frontier> {
        self.leveling.as_mut()?.sets.take_unit(unit)
    }

    /// The open units of sets.
    pub(crate) fn set_units(&self) -> impl Iterator<Item = &Frontier> {
        self.leveling.iter().flat_map(|leveling| leveling.sets.units())
    }

    /// Closes what a leveler that is not this drive's left open, without a back end to tell: flash pages were padded.
    pub(crate) fn close_strange_sets(&mut self, units: Vec<Frontier>) {
        for open in units {
            self.units.meta[open.unit].valid -= open.room();
            self.free_pages.take(u64::from(open.room()));
            self.begin_tail(open.unit, open.next);
            self.enter_closed(open.unit);
        }
    }
}
