//! What read disturb provides to jobs and open units: tails, replicas of
//! erased units, modes, units that stay open between jobs.

use super::Reclaiming;
use crate::ftl::Ftl;
use crate::units::{Frontier, NO_UNIT};
use floatgate_base::{DomainId, Ppn, UnitId};
use floatgate_flash::Flash;

impl Ftl {
    /// Returns the state of read disturb.
    ///
    /// # Panics
    /// When reads do not disturb.
    pub(super) fn reclaiming(&mut self) -> &mut Reclaiming {
        self.reclaiming.as_mut().expect("reads disturb")
    }

    /// Returns the pages of a newly opened unit that take data: without its tail, unless the drive is too full for
    /// tails.
    pub(crate) fn data_pages(&mut self, unit: UnitId) -> u32 {
        let all = self.layout.pages_per_unit();
        let Some(reclaiming) = &mut self.reclaiming else { return all };
        let tail = reclaiming.tails.pages();
        if tail == 0 {
            return all;
        }
        // With a tail in every unit, live data must leave the collector its stop level beside the open units.
        let domains = u64::from(self.layout.domains());
        let apart = u64::from(self.setup.stop_free_units) + u64::from(self.setup.separate.streams()) + 2;
        let units = u64::from(self.layout.units_per_domain()).saturating_sub(apart) * domains;
        let room = self.mapped_pages <= units * u64::from(all - tail);
        let domain = self.layout.domain_of(unit);
        // A victim may have as many live pages as the last free units have room for.
        let last = self.free[domain].len() < self.setup.separate.reserve().max(1);
        let keeps = room && !last && !reclaiming.tails.is_crowded(domain);
        reclaiming.tails.opened(unit, keeps);
        if keeps { all - tail } else { all }
    }

    /// Sets the mode of a unit that will take data.
    pub(crate) fn set_mode<F: Flash>(&mut self, flash: &mut F, unit: UnitId, mode: u8) {
        flash.set_mode(unit, mode);
        if let Some(reclaiming) = &mut self.reclaiming {
            reclaiming.set_mode(unit, mode);
        }
    }

    /// Begins the tail of a unit at `next`; it is closed before its last page of data was written.
    pub(crate) fn begin_tail(&mut self, unit: UnitId, next: Ppn) {
        if let Some(reclaiming) = &mut self.reclaiming {
            reclaiming.tails.closed(unit, next - self.layout.first_page(unit));
        }
    }

    /// Takes the unit that the preceding job left open for this one, if any.
    pub(crate) fn take_kept(&mut self, domain: DomainId, to: usize) -> Option<Frontier> {
        let slot = 2 * domain.index() + to;
        let kept = self.reclaiming.as_mut()?.kept.get_mut(slot)?;
        (kept.unit != NO_UNIT).then(|| std::mem::replace(kept, Frontier::CLOSED))
    }

    /// Keeps a unit open for the next job; returns false if one is kept already, or it has no room.
    pub(crate) fn keep(&mut self, domain: DomainId, to: usize, frontier: Frontier) -> bool {
        let slot = 2 * domain.index() + to;
        let kept = self.reclaiming.as_mut().and_then(|reclaiming| reclaiming.kept.get_mut(slot));
        match kept {
            Some(kept) if kept.unit == NO_UNIT && frontier.room() > 0 => {
                *kept = frontier;
                true
            }
            _ => false,
        }
    }

    /// Drops the replicas in a unit that is about to be erased.
    pub(crate) fn drop_replicas_of(&mut self, unit: UnitId) {
        let Some(replicas) = self.mapping.replicas() else { return };
        let held: Vec<_> = replicas.held_by(&self.layout, unit).map(|(entry, _)| entry).collect();
        for entry in held {
            self.mapping.dissolve(entry);
            if let Some(replicas) = self.mapping.replicas_mut() {
                replicas.counters.died_by_erase += 1;
            }
        }
        if let Some(replicas) = self.mapping.replicas_mut() {
            replicas.erased(unit);
        }
    }

    /// Drops all replicas because another manager takes over the drive.
    pub(crate) fn drop_all_replicas(&mut self) {
        let entries = self.mapping.replicas().map(|replicas| replicas.iter().map(|(entry, _)| entry));
        let entries: Vec<u32> = entries.into_iter().flatten().collect();
        entries.into_iter().for_each(|entry| self.mapping.dissolve(entry));
        self.mapping.sides.replicated = None;
    }
}
