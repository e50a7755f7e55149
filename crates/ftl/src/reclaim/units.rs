//! What read disturb provides to jobs and open units: tails, replicas, modes, units that stay open between jobs.

use super::Reclaiming;
use crate::ftl::Ftl;
use crate::jobs::{Job, Order, Planned, Step};
use crate::owners::Replica;
use crate::pool::Want;
use crate::units::{Frontier, NO_UNIT};
use floatgate_base::{DomainId, Owner, Ppn, SideKind, UnitId};
use floatgate_flash::{Cause, Flash};

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

    /// Makes up to `pages_max` replicas. The source stays unchanged. A job whose source has been closed or erased
    /// meanwhile has nothing left to do.
    #[cold]
    pub(crate) fn step_replicas<F: Flash>(&mut self, flash: &mut F, job: &mut Job, pages_max: u32) -> Step {
        let source = job.source();
        if self.mapping.replicas().is_none() || self.units.closed_at[source] != job.closed_at[0] {
            return Step::Done;
        }
        let Job { request, next, .. } = job;
        let Order::Listed(planned) = &request.order else { return Step::Done };
        let mut made = 0;
        while let Some(&Planned { page, .. }) = planned.get(*next as usize) {
            if made == pages_max {
                return Step::Moved;
            }
            *next += 1;
            // The page may have died, or may already have a replica.
            let Some(lpn) = self.mapping.owner_of(page).lpn().filter(|_| self.mapping.is_live(page)) else {
                continue;
            };
            if self.reclaiming().is_due(source) {
                break;
            }
            let Self { reclaiming, layout, units, mapping, .. } = self;
            let Some(reclaiming) = reclaiming else { break };
            let holder = reclaiming.holder((&*layout, &*units, &*mapping), source);
            let Some(holder) = holder.or_else(|| self.open_holder(source)) else {
                let left = u64::from(planned.len() as u32 - *next + 1);
                self.reclaiming().counters.replicas_refused += left;
                break;
            };
            let Self { reclaiming, layout, mapping, .. } = self;
            let Some(reclaiming) = reclaiming else { break };
            let replica = reclaiming.tails.take(layout, holder);
            reclaiming.read_by_job(layout, page);
            reclaiming.add_to_burst(1, 0, 0);
            let entry = mapping.replicate(layout, Replica { lpn, original: page, replica });
            flash.copy(page, replica, Owner::side(SideKind::Replicated, entry), Cause::Replica);
            made += 1;
        }
        Step::Done
    }

    /// Returns the domain whose free units take replicas: the one with most of them, of several the first.
    pub(super) fn domain_of_holders(&self) -> DomainId {
        let domains = DomainId::all(self.layout.domains());
        let most = domains.max_by_key(|&domain| (self.free[domain].len(), std::cmp::Reverse(domain)));
        most.expect("a drive has a domain")
    }

    /// Opens a free unit for replicas only, as many as a tail holds, and closes it at once: it holds no valid page, and
    /// its other pages are lost until it is erased. None if the manager takes no free units, or the last ones are left.
    #[cold]
    fn open_holder(&mut self, source: UnitId) -> Option<UnitId> {
        let domain = self.domain_of_holders();
        let last = self.free[domain].len() <= self.setup.separate.reserve().max(1);
        if last || !self.reclaiming().opens_holders() {
            return None;
        }
        let unit = self.free[domain].take(Want::Next)?;
        self.free_pages.take(u64::from(self.layout.pages_per_unit()));
        self.units.meta[unit].valid = 0;
        let reclaiming = self.reclaiming();
        reclaiming.tails.opened(unit, true);
        reclaiming.tails.closed(unit, 0);
        self.enter_closed(unit);
        let Self { reclaiming, layout, units, mapping, .. } = self;
        // The manager has its turns: the unit is the only one in its pool, unless the source is, too.
        reclaiming.as_mut()?.holder((&*layout, &*units, &*mapping), source)
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
