//! The one kind of background job: live pages leave a unit, and the unit is erased.
//!
//! Garbage collection is a migration, and so is wear-leveling, and will be read reclaim and refresh: each chooses the
//! source and the cause. A job may be stopped after any page and taken up again.
//!
//! A swap for the sake of wear is a migration that goes on: once its source is erased, the pages of another unit move
//! into it, and that one is erased and free in its stead.

use crate::ftl::{Failure, Ftl};
use crate::separate::Stream;
use crate::units::{Frontier, NO_UNIT};
use floatgate_base::{Lpn, Ppn, UnitId, prefetch::prefetch};
use floatgate_flash::{Cause, Flash, Layout};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A job, between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migration {
    source: UnitId,
    domain: u32,
    cause: Cause,
    /// Pages of the source before this one have been looked at, in ascending order.
    next: Ppn,
    end: Ppn,
    /// Free units of the domain that the job must leave to the host, however many moves that puts off.
    leave_free: u32,
    /// The unit whose pages move into the source once that is erased, or `NO_UNIT`.
    cold: UnitId,
    /// Where pages go, if not to the open units of the streams.
    target: Frontier,
}

impl Migration {
    /// Moves the live pages of `source`, in ascending order, to the open units that the separator names in the same
    /// domain, then erases it. The unit must be in no index.
    #[must_use]
    pub fn erase_after_moving(source: UnitId, domain: u32, cause: Cause, layout: &Layout) -> Self {
        let next = layout.first_page(source);
        let end = next + layout.pages_per_unit();
        Self { source, domain, cause, next, end, leave_free: 0, cold: NO_UNIT, target: Frontier::CLOSED }
    }

    /// Lets the pages of `cold`, a unit of the same domain in no index, move into the source once that is erased, and
    /// `cold` be erased in its stead.
    #[must_use]
    pub fn taking_in(mut self, cold: UnitId) -> Self {
        self.cold = cold;
        self
    }

    /// Lets the job leave so many free units of its domain alone, until it is urgent.
    #[must_use]
    pub fn leaving(mut self, free_units: u32) -> Self {
        self.leave_free = free_units;
        self
    }

    /// Whether the job can be one of a drive with so many units and pages.
    pub(crate) fn is_within(&self, units: u32, pages: Ppn) -> bool {
        let target = self.target;
        self.source < units
            && self.next <= self.end
            && self.end <= pages
            && (self.cold == NO_UNIT || self.cold < units)
            && (target.unit == NO_UNIT || target.unit < units)
            && target.next <= target.end
            && target.end <= pages
    }

    /// The unit whose pages are still to move into the source.
    #[must_use]
    pub fn cold(&self) -> Option<UnitId> {
        (self.cold != NO_UNIT).then_some(self.cold)
    }

    /// The unit of its own that the job fills.
    #[must_use]
    pub fn target(&self) -> Option<&Frontier> {
        (self.target.unit != NO_UNIT).then_some(&self.target)
    }

    /// The unit that is being emptied.
    #[must_use]
    pub fn source(&self) -> UnitId {
        self.source
    }
}

/// What a step has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing: a move would take a free unit that must be left.
    Stalled,
    /// Pages have moved, more is to do.
    Moved,
    /// The source is erased and free.
    Done,
}

impl Ftl {
    /// Runs a job to its end.
    ///
    /// # Errors
    /// When a moved page finds no free page in its domain.
    pub fn run_to_end<F: Flash>(&mut self, flash: &mut F, job: &mut Migration) -> Result<(), Failure> {
        job.leave_free = 0;
        while self.step(flash, job, u32::MAX)? != Step::Done {}
        Ok(())
    }

    /// Moves up to `pages_max` pages of a job. Where that is a limit, the erase is a step of
    /// its own, so that a request in between need not wait for it.
    ///
    /// # Errors
    /// When a moved page finds no free page in its domain.
    pub fn step<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Migration,
        pages_max: u32,
    ) -> Result<Step, Failure> {
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        let limited = pages_max != u32::MAX;
        if limited {
            let reverse = &self.reverse;
            let push = |ppn| moving.push((ppn, reverse[ppn as usize]));
            self.live.for_first(job.next, job.end, pages_max, push);
        } else {
            self.gather(job.next..job.end, &mut moving);
        }
        let last = moving.is_empty() || !limited;
        let from = job.next;
        let moved = self.move_pages(flash, job, &moving);
        let all = moving.len();
        self.moving = moving;
        let moved = moved?;
        self.count_moved(job.cause, moved as u64);
        self.free_pages.take(moved as u64);
        if job.target.unit == NO_UNIT {
            self.open_pages.filled(moved as u64, self.now);
        }
        if last && moved == all {
            return Ok(self.finish(flash, job));
        }
        // The host may go on writing before the next step: what has moved lives elsewhere.
        self.live.clear_range(from, job.next);
        self.units.meta[job.source as usize].valid -= moved as u32;
        Ok(if moved == 0 { Step::Stalled } else { Step::Moved })
    }

    /// The live pages of `pages`, in order, with what is next to be touched for each asked for.
    #[inline(always)]
    fn gather(&self, pages: Range<Ppn>, moving: &mut Vec<(Ppn, Lpn)>) {
        if let Some(separation) = &self.separation {
            return separation.gather(&self.live, &self.reverse, pages, moving);
        }
        self.live.for_each(pages.start, pages.end, |ppn| {
            let lpn = self.reverse[ppn as usize];
            prefetch(&self.map, lpn as usize);
            moving.push((ppn, lpn));
        });
    }

    /// Moves pages to the open units of their streams, as far as the units that may be opened reach; how many.
    #[inline(always)]
    fn move_pages<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Migration,
        moving: &[(Ppn, Lpn)],
    ) -> Result<usize, Failure> {
        if job.target.unit != NO_UNIT {
            self.fill_target(flash, job, moving);
            return Ok(moving.len());
        }
        match &self.separation {
            None => self.move_to_stream(flash, job, moving, self.setup.separate.blind().1),
            Some(_) if job.leave_free == 0 => self.move_by_stream(flash, job, moving),
            Some(_) => self.move_page_by_page(flash, job, moving),
        }
    }

    /// Moves all pages, those of each stream together: in the order of the source every change of stream would end a run.
    fn move_by_stream<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Migration,
        moving: &[(Ppn, Lpn)],
    ) -> Result<usize, Failure> {
        let (Some(separation), Some(&(last, _))) = (&mut self.separation, moving.last()) else {
            return Ok(0);
        };
        let by_stream = separation.move_all(moving, job.source, self.now, &self.map);
        let moved = by_stream
            .runs()
            .try_for_each(|(stream, pages)| self.move_to_stream(flash, job, pages, stream).map(|_| ()));
        if let Some(separation) = &mut self.separation {
            separation.keep(by_stream);
        }
        job.next = last + 1;
        moved.map(|()| moving.len())
    }

    /// Moves pages in their order: where units must be left to the host, each may be the last.
    #[cold]
    fn move_page_by_page<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Migration,
        moving: &[(Ppn, Lpn)],
    ) -> Result<usize, Failure> {
        for (done, page) in moving.iter().enumerate() {
            let Some(separation) = &self.separation else { break };
            let stream = separation.move_stream(page.1, job.source, self.now);
            if self.move_to_stream(flash, job, std::slice::from_ref(page), stream)? == 0 {
                return Ok(done);
            }
            if let Some(separation) = &mut self.separation {
                separation.moved(page.1, job.source, stream, self.now);
            }
        }
        Ok(moving.len())
    }

    /// Moves pages of one stream, as far as the units that may be opened reach; how many.
    #[inline(always)]
    fn move_to_stream<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Migration,
        moving: &[(Ppn, Lpn)],
        stream: Stream,
    ) -> Result<usize, Failure> {
        let domains = self.layout.domains();
        let mut done = 0;
        while done < moving.len() {
            let mut slot = (stream * domains + job.domain) as usize;
            if self.frontiers[slot].room() == 0 {
                if self.free[job.domain as usize].len() <= job.leave_free && job.leave_free > 0 {
                    break;
                }
                if !self.open(slot, job.domain) {
                    slot = self.slot_with_room(job.domain).ok_or(Failure::OutOfFreeBlocks)?;
                }
            }
            let run = (moving.len() - done).min(self.frontiers[slot].room() as usize);
            if let Some(separation) = &mut self.separation
                && slot as u32 / domains != stream
            {
                separation.strayed(stream, run as u64);
            }
            let destination = self.frontiers[slot].next;
            self.frontiers[slot].next += run as u32;
            self.move_run(destination, &moving[done..], run);
            flash.copy_run(&moving[done..done + run], destination, job.cause);
            done += run;
            job.next = moving[done - 1].0 + 1;
        }
        Ok(done)
    }

    /// An open unit of the domain with room, when no unit is free: the streams' units are closed with those that collection
    /// frees in the end, so one has room as long as it kept a unit free to begin with.
    #[cold]
    fn slot_with_room(&self, domain: u32) -> Option<usize> {
        let domains = self.layout.domains();
        let slots = (domain..self.frontiers.len() as u32).step_by(domains as usize);
        slots.map(|slot| slot as usize).find(|&slot| self.frontiers[slot].room() > 0)
    }

    /// Remaps the first `run` pages of `moving` to the pages from `first` on.
    #[inline(always)]
    fn move_run(&mut self, first: Ppn, moving: &[(Ppn, Lpn)], run: usize) {
        self.live.set_range(first, first + run as u32);
        for ((back, &(_, lpn)), to) in
            self.reverse[first as usize..][..run].iter_mut().zip(moving).zip(first..)
        {
            *back = lpn;
            self.map[lpn as usize] = to;
        }
    }

    /// Moves pages into the unit of the job's own: it has room for all pages of another one. Out of the way of
    /// collection, whose code it would slow down.
    #[cold]
    fn fill_target<F: Flash>(&mut self, flash: &mut F, job: &mut Migration, moving: &[(Ppn, Lpn)]) {
        let Some(&(last, _)) = moving.last() else { return };
        let first = job.target.next;
        job.target.next += moving.len() as u32;
        self.move_run(first, moving, moving.len());
        flash.copy_run(moving, first, job.cause);
        job.next = last + 1;
    }

    fn count_moved(&mut self, cause: Cause, pages: u64) {
        match (cause, &mut self.leveling) {
            (Cause::Level, Some(leveling)) => leveling.counters.moved_pages += pages,
            (Cause::Level, None) => {}
            _ => self.gc.copied_pages += pages,
        }
    }

    /// All pages have left the source.
    fn finish<F: Flash>(&mut self, flash: &mut F, job: &mut Migration) -> Step {
        let first = self.layout.first_page(job.source);
        self.live.clear_range(first, job.end);
        self.units.meta[job.source as usize].valid = 0;
        job.next = job.end;
        self.free_pages.give(u64::from(self.layout.pages_per_unit()));
        // What has moved as a whole lives on: its unit is reclaimed when the one that took it in is.
        if let Some(separation) = &mut self.separation
            && job.target.unit == NO_UNIT
        {
            separation.reclaimed(job.source, self.now);
        }
        flash.erase(job.source, job.cause);
        if let Some(leveling) = &mut self.leveling {
            leveling.erased(job.domain);
        }
        if let Some(cold) = job.cold() {
            self.begin_taking_in(job, cold);
            return Step::Moved;
        }
        self.close_target(flash, job);
        self.free[job.domain as usize].put(job.source, flash.erase_count(job.source));
        Step::Done
    }

    /// The source is erased: the pages of the cold unit move in.
    #[cold]
    fn begin_taking_in(&mut self, job: &mut Migration, cold: UnitId) {
        let pages = self.layout.pages_per_unit();
        let next = self.layout.first_page(job.source);
        let target = Frontier { next, end: next + pages, unit: job.source };
        self.units.meta[job.source as usize].valid = pages;
        if let Some(separation) = &mut self.separation {
            separation.takes_in(job.source, cold);
        }
        *job = Migration {
            target,
            leave_free: job.leave_free,
            ..Migration::erase_after_moving(cold, job.domain, Cause::Level, &self.layout)
        };
        if let Some(leveling) = &mut self.leveling {
            leveling.counters.swaps += 1;
        }
    }

    /// What the job has filled, if it had a unit of its own, takes its place among the closed units; pages left in it are lost until it is erased.
    fn close_target<F: Flash>(&mut self, flash: &F, job: &mut Migration) {
        let target = std::mem::replace(&mut job.target, Frontier::CLOSED);
        if target.unit == NO_UNIT {
            return;
        }
        self.units.meta[target.unit as usize].valid -= target.room();
        if target.room() == self.layout.pages_per_unit() {
            // The host has written all of the cold unit's pages meanwhile.
            self.free[job.domain as usize].put(target.unit, flash.erase_count(target.unit));
            return;
        }
        self.free_pages.take(u64::from(target.room()));
        self.enter_index(job.domain, target.unit);
    }
}
