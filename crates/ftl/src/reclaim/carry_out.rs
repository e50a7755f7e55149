//! Carries out what read disturb requires: reclaims units in time, and makes, promotes and drops replicas.

use super::manager::Action;
use crate::collect::Need;
use crate::ftl::Ftl;
use crate::jobs::request::Planned;
use crate::jobs::{Job, Order, Request, Target, Urgency};
use crate::owners::Replica;
use crate::separate::WaitingPlace;
use crate::setup::Failure;
use crate::units::{Frontier, NOT_INDEXED};
use floatgate_base::{DomainId, Ppn, UnitId};
use floatgate_flash::{Cause, Flash};

impl Ftl {
    /// Takes the actions due for blocks whose sums have reached a watched point.
    #[cold]
    pub(crate) fn act_on_reads<F: Flash>(&mut self, flash: &mut F) -> Result<(), Failure> {
        while let Some(block) = self.reclaiming().reached.pop() {
            self.act_on(flash, block)?;
        }
        Ok(())
    }

    fn act_on<F: Flash>(&mut self, flash: &mut F, block: u32) -> Result<(), Failure> {
        let reclaiming = self.reclaiming();
        let unit = reclaiming.sums.unit_of(block);
        if reclaiming.is_due(unit) {
            return self.reclaim_now(flash, unit);
        }
        if reclaiming.sums.counted(block) < reclaiming.sums.watch(block) {
            return Ok(());
        }
        let Self { reclaiming, layout, units, mapping, .. } = self;
        let Some(reclaiming) = reclaiming else { return Ok(()) };
        match reclaiming.next_action((&*layout, &*units, &*mapping), block) {
            // Without reclaim, only count.
            Action::None => {
                reclaiming.count_beyond_max(block);
                Ok(())
            }
            Action::Reclaim => self.reclaim_in_time(flash, unit),
            Action::Replicate(pages) => {
                self.replicate(flash, unit, pages)?;
                // Copies that do not count as reads of the host must not start the next ones.
                self.reclaiming().watch_again(block);
                Ok(())
            }
            Action::Promote => {
                self.promote(unit);
                Ok(())
            }
        }
    }

    /// Requests a job that reclaims a unit in idle time, unless one is in progress.
    fn reclaim_in_time<F: Flash>(&mut self, flash: &mut F, unit: UnitId) -> Result<(), Failure> {
        let domain = self.layout.domain_of(unit);
        let is_meant = |job: &Job| job.request.all_sources().any(|source| source == unit);
        if self.jobs[domain].iter().any(is_meant) || !self.close_early(flash, unit)? {
            return Ok(());
        }
        let request = self.reclaim_request(unit, Urgency::Proactive);
        self.request(flash, request).map(|_| ())
    }

    fn reclaim_request(&mut self, unit: UnitId, urgency: Urgency) -> Request {
        let Self { reclaiming, layout, units, mapping, free, setup, .. } = self;
        let reclaiming = reclaiming.as_mut().expect("reads disturb");
        let spare_units = free[layout.domain_of(unit)].len().saturating_sub(setup.trigger_free_units);
        reclaiming.request((&*layout, &*units, &*mapping), spare_units, unit, urgency)
    }

    /// Reclaims a unit at once, before its next read.
    #[cold]
    fn reclaim_now<F: Flash>(&mut self, flash: &mut F, unit: UnitId) -> Result<(), Failure> {
        self.free_pages.advance(self.now);
        while self.reclaiming().is_due(unit) {
            if self.finish_job_of(flash, unit)? {
                continue;
            }
            if !self.close_early(flash, unit)? {
                break;
            }
            let request = self.reclaim_request(unit, Urgency::Urgent);
            self.request(flash, request)?;
        }
        Ok(())
    }

    /// Runs the job that has begun to empty or to fill a unit; returns whether one has.
    fn finish_job_of<F: Flash>(&mut self, flash: &mut F, unit: UnitId) -> Result<bool, Failure> {
        for domain in DomainId::all(self.layout.domains()) {
            let Some(mut job) = self.jobs[domain].pop_begun_with(unit) else { continue };
            job.request.urgency = Urgency::Urgent;
            self.run_to_end(flash, &mut job)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Closes an open unit; its remaining pages are lost until it is erased. Returns whether the unit is closed. On a
    /// trace that only reads, an open unit would otherwise stay open forever.
    fn close_early<F: Flash>(&mut self, flash: &mut F, unit: UnitId) -> Result<bool, Failure> {
        // Its stream will soon open another unit.
        let domain = self.layout.domain_of(unit);
        while self.units.meta[unit].pos == NOT_INDEXED
            && self.free[domain].len() <= self.setup.separate.reserve()
            && self.collect_one(flash, domain, Need::Space)?
        {}
        if self.units.meta[unit].pos != NOT_INDEXED {
            return Ok(true);
        }
        self.free_pages.advance(self.now);
        let streams = self.frontiers.iter_mut().find(|frontier| frontier.unit == unit);
        let mut open = if let Some(frontier) = streams {
            self.open_pages.closed(frontier.room(), self.now);
            std::mem::replace(frontier, Frontier::CLOSED)
        } else if let Some(kept) = self.reclaiming().kept.iter_mut().find(|kept| kept.unit == unit) {
            std::mem::replace(kept, Frontier::CLOSED)
        } else if let Some(open) = self.take_from_set(unit) {
            open
        } else {
            return Ok(false);
        };
        self.close_target(flash, &mut open, Cause::Reclaim);
        Ok(true)
    }

    /// Requests a job that makes replicas of pages of a unit.
    fn replicate<F: Flash>(&mut self, flash: &mut F, unit: UnitId, pages: Vec<Ppn>) -> Result<(), Failure> {
        if pages.is_empty() || !self.make_room_for_holders(flash, unit)? {
            return Ok(());
        }
        self.reclaiming().counters.replications += 1;
        let planned: Vec<_> = pages.into_iter().map(|page| Planned { page, target: 0 }).collect();
        let request = Request {
            order: Order::Listed(planned.into()),
            targets: [Target::Tails; 2],
            erase: false,
            ..Request::emptying(unit, self.layout.domain_of(unit), Cause::Replica, Urgency::Proactive)
        };
        self.request(flash, request).map(|_| ())
    }

    /// Collects where free units that take replicas run low, as for a host write. Returns false if the unit whose pages
    /// get replicas was collected.
    fn make_room_for_holders<F: Flash>(&mut self, flash: &mut F, unit: UnitId) -> Result<bool, Failure> {
        if !self.reclaiming().opens_holders() {
            return Ok(true);
        }
        let closed_at = self.units.closed_at[unit];
        let is_closed = self.units.meta[unit].pos != NOT_INDEXED;
        let domain = self.domain_of_holders();
        if self.free[domain].len() < self.setup.trigger_free_units {
            while self.free[domain].len() < self.setup.stop_free_units
                && self.collect_one(flash, domain, Need::Space)?
            {}
        }
        let is_same = closed_at == self.units.closed_at[unit];
        Ok(is_same && is_closed == (self.units.meta[unit].pos != NOT_INDEXED))
    }

    /// Puts the replicas that a unit holds in the place of their originals.
    fn promote(&mut self, unit: UnitId) {
        // A unit that is being emptied is processed in page order, and may have passed these pages.
        if self.units.meta[unit].pos == NOT_INDEXED {
            return;
        }
        let Some(replicas) = self.mapping.replicas() else { return };
        let held: Vec<_> = replicas.held_by(&self.layout, unit).collect();
        if held.is_empty() {
            return;
        }
        for &(entry, Replica { original, .. }) in &held {
            self.mapping.promote(entry);
            self.invalidate::<crate::features::All>(original);
        }
        // Indexes cannot gain valid pages: reinsert the unit as if closed now.
        self.candidates.remove(&self.layout, unit, &mut self.units);
        self.units.meta[unit].valid += held.len() as u32;
        self.units.closed_at[unit] = self.now;
        let place = self.separation.as_ref().map_or(WaitingPlace::Index, |separation| separation.place(unit));
        self.candidates.insert(&self.layout, unit, place, &mut self.units);
    }

    /// Checks whether a reclaim or replication job has begun and waits for its next step.
    #[must_use]
    pub fn reclaims_by_steps(&self) -> bool {
        let begun = |job: &Job| job.begun || job.next > 0;
        let is_one = |job: &Job| matches!(job.request.cause, Cause::Reclaim | Cause::Replica) && begun(job);
        DomainId::all(self.layout.domains()).any(|domain| self.jobs[domain].iter().any(is_one))
    }

    /// Returns the units reclaimed on demand and in the background since counting began.
    #[must_use]
    pub fn reclaims(&self) -> [u64; 2] {
        self.reclaiming
            .as_ref()
            .map_or([0; 2], |reclaiming| [reclaiming.counters.on_demand, reclaiming.counters.background])
    }

    /// Returns the report on read disturb since counting began, if reads disturb blocks.
    #[must_use]
    pub fn reclaimed(&self) -> Option<super::ReclaimFigures> {
        let reclaiming = self.reclaiming.as_deref()?;
        let replicas = self.mapping.replicas().map(|replicas| replicas.counters);
        Some(super::ReclaimFigures {
            counters: reclaiming.counters.clone(),
            replicas: replicas.unwrap_or_default(),
            reads: reclaiming.sums.reads().to_vec(),
            sums: reclaiming.sums.actual().collect(),
            largest: reclaiming.sums.largest(),
            tails_forgone: reclaiming.tails.forgone,
            memory_bytes: reclaiming.memory_bytes(self.mapping.replicas()),
        })
    }
}
