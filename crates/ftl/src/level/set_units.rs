//! Block sets on the drive: units that leveling jobs leave open, and how they are closed.

use crate::ftl::Ftl;
use crate::units::Frontier;
use floatgate_base::{DomainId, UnitId};
use floatgate_flash::{Cause, Flash};

impl Ftl {
    /// Leaves a unit of a set open for the next job. The caller must close a unit that is full or cannot be kept. A
    /// partial flash page is padded: other pages are written before the next job continues with it.
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

    /// Returns the pages left in the open unit of a set.
    pub(crate) fn room_in_set(&self, id: u32, side: u8) -> u32 {
        self.leveling.as_ref().map_or(0, |leveling| leveling.sets.room(id, side))
    }

    /// Closes the oldest set that holds a unit of a domain in which nothing else can be collected. Returns false if no
    /// set does.
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

    /// Takes an open unit out of its set.
    pub(crate) fn take_from_set(&mut self, unit: UnitId) -> Option<Frontier> {
        self.leveling.as_mut()?.sets.take_unit(unit)
    }

    /// Yields the open units of sets.
    pub(crate) fn set_units(&self) -> impl Iterator<Item = &Frontier> {
        self.leveling.iter().flat_map(|leveling| leveling.sets.units())
    }

    /// Closes units that another leveler left open, without notifying a back end: flash pages were padded.
    pub(crate) fn close_foreign_sets(&mut self, units: Vec<Frontier>) {
        for open in units {
            self.units.meta[open.unit].valid -= open.room();
            self.free_pages.take(u64::from(open.room()));
            self.begin_tail(open.unit, open.next);
            self.enter_closed(open.unit);
        }
    }
}
