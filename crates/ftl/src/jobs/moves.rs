//! Where the pages of a job go.

use super::job::Job;
use super::request::Target;
use crate::ftl::Ftl;
use crate::pool::Want;
use crate::setup::{Allocation, Failure};
use crate::units::{Frontier, NO_UNIT};
use floatgate_base::{DomainId, Owner, Ppn, StreamId, UnitId};
use floatgate_flash::{Cause, Flash};
use std::ops::Range;

impl Ftl {
    /// Gathers the live pages of `pages`, in order, and prefetches what moving them will touch. Not inlined: its loop
    /// needs the registers that a job step would take.
    #[inline(never)]
    pub(super) fn gather(&self, pages: Range<Ppn>, moving: &mut Vec<(Ppn, Owner)>) {
        if let Some(separation) = &self.separation {
            return separation.gather(&self.mapping, pages, moving);
        }
        self.mapping.for_each(pages, |ppn, owner| {
            self.mapping.prefetch_owner(owner);
            moving.push((ppn, owner));
        });
    }

    /// Gathers the live pages of the first `most` flash pages that have any.
    pub(super) fn gather_flash_pages(&self, pages: Range<Ppn>, most: u32, moving: &mut Vec<(Ppn, Owner)>) {
        let pages_max = most.saturating_mul(self.layout.subpages());
        self.mapping.for_first(pages, pages_max, |ppn, owner| moving.push((ppn, owner)));
        let flash_page = |&(ppn, _): &(Ppn, Owner)| self.layout.flash_page_of(ppn);
        let kept =
            moving.chunk_by(|a, b| flash_page(a) == flash_page(b)).take(most as usize).map(<[_]>::len).sum();
        moving.truncate(kept);
    }

    /// Checks whether all free units are reserved for the host, and no open unit that the job may fill for one of its
    /// targets has room.
    pub(super) fn must_leave_all(&self, job: &Job, to: usize) -> bool {
        if job.leave_free == 0 || job.targets[to].room() > 0 {
            return false;
        }
        let needed = self.setup.separate.reserve().max(job.leave_free);
        match job.request.targets[to] {
            Target::Streams { domain } => {
                let own_room = job.targets.iter().any(|target| target.room() > 0);
                self.free[domain].len() <= job.leave_free
                    && !own_room
                    && self.slot_with_room(domain).is_none()
            }
            Target::Set { id, domain, .. } => {
                let is_open = self.leveling.as_ref().is_some_and(|leveling| leveling.sets.holds(id));
                self.free[domain].len() <= needed && !is_open
            }
            // An earlier job may have left a unit open.
            Target::Own { kept: true, .. } => false,
            Target::Own { domain, .. } => self.free[domain].len() <= needed,
            Target::Emptied | Target::Tails => false,
        }
    }

    /// Moves pages to the first target of a job as far as the units it may open reach; returns how many.
    #[inline(always)]
    pub(super) fn move_pages<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        moving: &[(Ppn, Owner)],
    ) -> Result<usize, Failure> {
        let Target::Streams { domain } = job.request.targets[0] else {
            return self.fill_target(flash, job, 0, moving);
        };
        let done = match &self.separation {
            None => self.move_to_stream(flash, job, domain, moving, self.setup.separate.fixed_streams().1),
            Some(_) if job.leave_free == 0 => self.move_by_stream(flash, job, domain, moving),
            Some(_) => self.move_page_by_page(flash, job, domain, moving),
        }?;
        if done > 0 {
            job.next = moving[done - 1].0.0 + 1;
        }
        Ok(done)
    }

    /// Moves pages of a listed order to one of the job's targets; returns how many. The caller advances the job.
    pub(super) fn move_to_target<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        to: usize,
        moving: &[(Ppn, Owner)],
    ) -> Result<usize, Failure> {
        match (job.request.targets[to], &self.separation) {
            (Target::Streams { domain }, None) => {
                self.move_to_stream(flash, job, domain, moving, self.setup.separate.fixed_streams().1)
            }
            (Target::Streams { domain }, Some(_)) => self.move_page_by_page(flash, job, domain, moving),
            (Target::Own { .. } | Target::Set { .. } | Target::Emptied, _) => {
                self.fill_own(flash, job, to, moving)
            }
            // Replicas are written elsewhere.
            (Target::Tails, _) => Ok(0),
        }
    }

    /// Moves all pages, grouped by stream: in the order of the source every change of stream would end a run.
    fn move_by_stream<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &Job,
        domain: DomainId,
        moving: &[(Ppn, Owner)],
    ) -> Result<usize, Failure> {
        let Some(separation) = &mut self.separation else { return Ok(0) };
        let by_stream = separation.move_all(moving, job.source(), self.now, &self.mapping);
        let moved = by_stream.runs().try_for_each(|(stream, pages)| {
            self.move_to_stream(flash, job, domain, pages, stream).map(|_| ())
        });
        if let Some(separation) = &mut self.separation {
            separation.keep(by_stream);
        }
        moved.map(|()| moving.len())
    }

    /// Moves pages in their order, one by one: each may be the last before only the host's units are left.
    #[cold]
    fn move_page_by_page<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &Job,
        domain: DomainId,
        moving: &[(Ppn, Owner)],
    ) -> Result<usize, Failure> {
        for (done, page) in moving.iter().enumerate() {
            let Some(separation) = &self.separation else { break };
            let unit = self.layout.unit_of(page.0);
            let stream = separation.move_stream(page.1, unit, self.now);
            if self.move_to_stream(flash, job, domain, std::slice::from_ref(page), stream)? == 0 {
                return Ok(done);
            }
            if let Some(separation) = &mut self.separation {
                separation.moved(page.1, unit, stream, self.now);
            }
        }
        Ok(moving.len())
    }

    /// Moves pages of one stream as far as the units it may open reach; returns how many.
    #[inline(always)]
    fn move_to_stream<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &Job,
        domain: DomainId,
        moving: &[(Ppn, Owner)],
        stream: StreamId,
    ) -> Result<usize, Failure> {
        let mut done = 0;
        while done < moving.len() {
            let mut slot = Frontier::slot(&self.layout, stream, domain);
            if self.frontiers[slot].room() == 0 {
                if self.free[domain].len() <= job.leave_free && job.leave_free > 0 {
                    break;
                }
                if !self.open(slot, domain) {
                    slot = self.last_slot(stream, domain)?;
                }
            }
            let run = (moving.len() - done).min(self.frontiers[slot].room() as usize);
            if let Some(separation) = &mut self.separation
                && Frontier::stream(&self.layout, slot) != stream
            {
                separation.strayed(stream, run as u64);
            }
            let destination = self.frontiers[slot].next;
            self.frontiers[slot].next += run as u32;
            let pages = &moving[done..done + run];
            self.mapping.relink_run(pages, destination);
            if self.setup.separate.needs_units()
                && let Some(separation) = &mut self.separation
            {
                separation.placed_all(pages, self.frontiers[slot].unit);
            }
            flash.copy_run(pages, destination, job.request.cause);
            if self.volatile.is_on() {
                self.volatile.moved(&self.layout, slot, pages, destination + run as u32);
            }
            done += run;
        }
        Ok(done)
    }

    /// Returns an open unit of the domain with room, for when no unit is free. The streams' units are closed together
    /// with those that collection frees. One therefore has room, provided the domain kept a unit free to begin with.
    #[cold]
    pub(crate) fn slot_with_room(&self, domain: DomainId) -> Option<usize> {
        let domains = self.layout.domains();
        let mut slots = (domain.index()..self.frontiers.len()).step_by(domains as usize);
        slots.find(|&slot| self.frontiers[slot].room() > 0)
    }

    /// Returns an open unit of the domain with room or, if the domain is full, of another one that may take any page.
    /// Opens a unit for the stream if need be, but not the last free one. Pages that do not fit the rest of a unit lose
    /// room as they move; a domain may thus need more room than it gives.
    #[cold]
    pub(crate) fn last_slot(&mut self, stream: StreamId, domain: DomainId) -> Result<usize, Failure> {
        if let Some(slot) = self.slot_with_room(domain) {
            return Ok(slot);
        }
        if self.setup.allocation == Allocation::Static {
            return Err(Failure::OutOfFreeBlocks);
        }
        let others = || DomainId::all(self.layout.domains());
        if let Some(slot) = others().find_map(|other| self.slot_with_room(other)) {
            return Ok(slot);
        }
        let most_free = others().max_by_key(|&other| (self.free[other].len(), std::cmp::Reverse(other)));
        let other = most_free.filter(|&other| self.free[other].len() > self.setup.separate.reserve());
        let slot = other.map(|other| (Frontier::slot(&self.layout, stream, other), other));
        let opened = slot.filter(|&(slot, other)| self.open(slot, other));
        opened.map(|(slot, _)| slot).ok_or(Failure::OutOfFreeBlocks)
    }

    /// Moves pages in ascending order into the job's own unit. Kept out of the code of collection, which it would slow
    /// down.
    #[cold]
    fn fill_target<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        to: usize,
        moving: &[(Ppn, Owner)],
    ) -> Result<usize, Failure> {
        let done = self.fill_own(flash, job, to, moving)?;
        if done > 0 {
            job.next = moving[done - 1].0.0 + 1;
        }
        Ok(done)
    }

    /// Moves pages into a unit of the job's own, and into another one when that is full; returns how many.
    fn fill_own<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        to: usize,
        moving: &[(Ppn, Owner)],
    ) -> Result<usize, Failure> {
        let mut done = 0;
        while done < moving.len() {
            if job.targets[to].room() == 0 {
                match self.open_own(flash, job, to, moving[done].0) {
                    Opened::Unit => {}
                    Opened::Leave => break,
                    Opened::None(domain) => {
                        done += self.join_open_unit(flash, job, domain, &moving[done..])?;
                        continue;
                    }
                }
            }
            let target = &mut job.targets[to];
            let run = (moving.len() - done).min(target.room() as usize);
            let first = target.next;
            target.next += run as u32;
            let pages = &moving[done..done + run];
            self.mapping.relink_run(pages, first);
            if self.setup.separate.needs_units()
                && let Some(separation) = &mut self.separation
            {
                separation.placed_all(pages, job.targets[to].unit);
            }
            flash.copy_run(pages, first, job.request.cause);
            done += run;
        }
        Ok(done)
    }

    /// Opens a free unit that takes in pages of `source` only.
    pub(super) fn own_target(&mut self, unit: UnitId, source: UnitId) -> Frontier {
        let pages = self.data_pages(unit);
        self.free_pages.take(u64::from(self.layout.pages_per_unit() - pages));
        let next = self.layout.first_page(unit);
        self.units.meta[unit].valid = pages;
        if let Some(separation) = &mut self.separation {
            separation.takes_in(unit, source);
        }
        Frontier { next, end: next + pages, unit }
    }

    /// Closes a unit that a job filled; its remaining pages are lost until it is erased.
    pub(crate) fn close_target<F: Flash>(&mut self, flash: &mut F, target: &mut Frontier, cause: Cause) {
        let target = std::mem::replace(target, Frontier::CLOSED);
        if target.unit == NO_UNIT {
            return;
        }
        self.units.meta[target.unit].valid -= target.room();
        if target.next == self.layout.first_page(target.unit) {
            // The host has overwritten all pages that were to move in. The mode is set when the unit is opened again.
            self.set_mode(flash, target.unit, 0);
            self.units.meta[target.unit].valid = 0;
            self.free_pages.give(u64::from(self.layout.pages_per_unit() - target.room()));
            let domain = self.layout.domain_of(target.unit);
            self.free[domain].put(target.unit, flash.erase_count(target.unit));
            return;
        }
        let padding = self.layout.left_of_flash_page(target.next);
        if padding > 0 {
            flash.pad(target.next, padding, cause);
        }
        self.free_pages.take(u64::from(target.room()));
        self.begin_tail(target.unit, target.next);
        self.enter_closed(target.unit);
    }

    /// Opens a unit of the job's own for pages of the unit of `page`.
    #[cold]
    pub(crate) fn open_own<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        to: usize,
        page: Ppn,
    ) -> Opened {
        let (domain, want, mode, kept) = match job.request.targets[to] {
            Target::Own { domain, want, mode, kept } => (domain, want, mode, kept),
            Target::Set { domain, want, .. } => (domain, want, 0, false),
            Target::Streams { domain } => (domain, Want::Next, 0, false),
            Target::Emptied | Target::Tails => {
                let source = job.source();
                (self.layout.domain_of(source), Want::Next, flash.mode(source), false)
            }
        };
        if kept && let Some(open) = self.take_kept(domain, to) {
            self.close_target(flash, &mut job.targets[to], job.request.cause);
            job.targets[to] = open;
            return Opened::Unit;
        }
        if let Target::Set { id, side, .. } = job.request.targets[to]
            && let Some(open) = self.leveling.as_mut().and_then(|leveling| leveling.sets.take(id, side))
        {
            self.close_target(flash, &mut job.targets[to], job.request.cause);
            job.targets[to] = open;
            return Opened::Unit;
        }
        // Collection in that domain needs the last units to move pages.
        let free = &mut self.free[domain];
        let needed = self.setup.separate.reserve().max(job.leave_free);
        if free.len() <= needed {
            return if job.leave_free > 0 { Opened::Leave } else { Opened::None(domain) };
        }
        let Some(unit) = free.take(want) else { return Opened::None(domain) };
        self.close_target(flash, &mut job.targets[to], job.request.cause);
        if mode > 0 {
            self.set_mode(flash, unit, mode);
        }
        job.targets[to] = self.own_target(unit, self.layout.unit_of(page));
        Opened::Unit
    }

    /// Moves pages into an open unit of the domain, or to where collection would move them, because the job can open no
    /// unit. Returns how many.
    #[cold]
    fn join_open_unit<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &Job,
        domain: DomainId,
        moving: &[(Ppn, Owner)],
    ) -> Result<usize, Failure> {
        // Leveling must not take room that another domain's collection may need.
        let is_set = matches!(job.request.targets[0], Target::Set { .. });
        let joined = if is_set { None } else { self.slot_with_room(domain) };
        let (slot, domain) = match joined {
            Some(slot) => (slot, domain),
            None => {
                let own = self.layout.domain_of(self.layout.unit_of(moving[0].0));
                (Frontier::slot(&self.layout, self.setup.separate.fixed_streams().1, own), own)
            }
        };
        let run = match self.frontiers[slot].room() {
            0 => 1,
            room => moving.len().min(room as usize),
        };
        let stream = Frontier::stream(&self.layout, slot);
        let moved = self.move_to_stream(flash, job, domain, &moving[..run], stream)?;
        self.open_pages.filled(moved as u64, self.now);
        Ok(moved)
    }
}

/// The outcome of opening a unit for a job.
pub(crate) enum Opened {
    /// The unit is open.
    Unit,
    /// All free units left are reserved for the host.
    Leave,
    /// This domain has no free unit.
    None(DomainId),
}
