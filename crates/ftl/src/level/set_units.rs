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
        (id, side): (u32, u8),
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

    /// Pages left in the unit of a set that a job before has left open.
    pub(crate) fn room_in_set(&self, id: u32, side: u8) -> u32 {
        self.leveling.as_ref().map_or(0, |leveling| leveling.sets.room(id, side))
    }

    /// Closes the oldest set that holds a unit of a domain, for it has nothing else to collect; false if there is none.
    #[cold]
    pub(crate) fn give_up_set<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> bool {
        let Self { leveling: Some(leveling), layout, .. } = self else { return false };
        let Some(units) = leveling.sets.take_oldest(layout, domain) else { return false };
        leveling.counters.unpaired += 1;
        self.free_pages.advance(self.now);
        for mut open in units {
            self.close_target(flash, &mut open, Cause::Level);
        }
        true
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
