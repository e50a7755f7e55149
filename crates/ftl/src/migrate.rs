//! The one kind of background job: live pages leave a unit, and the unit is erased.
//!
//! Garbage collection is a migration, and so will be wear-leveling, read reclaim and refresh: each chooses the
//! source and the cause. A job may be stopped after any page and taken up again.

use crate::ftl::{Failure, Ftl};
use floatgate_base::{Lpn, Ppn, UnitId, prefetch::prefetch};
use floatgate_flash::{Cause, Flash, Layout};
use serde::{Deserialize, Serialize};

/// Pages ahead whose map entry is asked for.
const MAP_AHEAD: usize = 16;

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
}

impl Migration {
    /// Moves the live pages of `source`, in ascending order, to the open units that the separator names in the same
    /// domain, then erases it. The unit must be in no index.
    #[must_use]
    pub fn erase_after_moving(source: UnitId, domain: u32, cause: Cause, layout: &Layout) -> Self {
        let next = layout.first_page(source);
        Self { source, domain, cause, next, end: next + layout.pages_per_unit(), leave_free: 0 }
    }
}

impl Migration {
    /// Lets the job leave so many free units of its domain alone, until it is urgent.
    #[must_use]
    pub fn leaving(mut self, free_units: u32) -> Self {
        self.leave_free = free_units;
        self
    }

    /// Whether the job can be one of a drive with so many units and pages.
    pub(crate) fn is_within(&self, units: u32, pages: Ppn) -> bool {
        self.source < units && self.next <= self.end && self.end <= pages
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
    /// Runs a job to its end, which counts as collection.
    ///
    /// # Errors
    /// When a moved page finds no free page in its domain.
    pub fn run_to_end<F: Flash>(&mut self, flash: &mut F, job: &mut Migration) -> Result<(), Failure> {
        job.leave_free = 0;
        while self.step(flash, job, u32::MAX)? != Step::Done {}
        Ok(())
    }

    /// Moves up to `pages_max` pages of a job, which counts as collection. Where that is a limit, the erase is a step of
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
        let reverse = &self.reverse;
        self.live.for_each(job.next, job.end, |ppn| {
            moving.push((ppn, reverse[ppn as usize]));
        });
        let last = moving.is_empty() || (moving.len() <= pages_max as usize && pages_max == u32::MAX);
        moving.truncate(pages_max as usize);
        let from = job.next;
        let moved = self.move_pages(flash, job, &moving);
        let all = moving.len();
        self.moving = moving;
        let moved = moved?;
        self.gc.copied_pages += moved as u64;
        self.free_pages.take(moved as u64);
        if last && moved == all {
            self.finish(flash, job);
            return Ok(Step::Done);
        }
        // The host may go on writing before the next step: what has moved lives elsewhere.
        self.live.clear_range(from, job.next);
        self.units.meta[job.source as usize].valid -= moved as u32;
        Ok(if moved == 0 { Step::Stalled } else { Step::Moved })
    }

    /// Moves pages in runs that go to one open unit, as far as the units that may be opened reach; how many.
    fn move_pages<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Migration,
        moving: &[(Ppn, Lpn)],
    ) -> Result<usize, Failure> {
        let domains = self.layout.domains();
        let mut done = 0;
        while let Some(&(_, lpn)) = moving.get(done) {
            let stream = self.setup.separate.move_stream(lpn);
            let slot = (stream * domains + job.domain) as usize;
            if self.frontiers[slot].room() == 0 {
                if self.free[job.domain as usize].len() <= job.leave_free && job.leave_free > 0 {
                    break;
                }
                if !self.open(slot, job.domain) {
                    return Err(Failure::OutOfFreeBlocks);
                }
            }
            let room = self.frontiers[slot].room() as usize;
            let run = self.setup.separate.move_run(&moving[done..moving.len().min(done + room)]);
            let destination = self.move_run(slot, &moving[done..], run);
            flash.copy_run(&moving[done..done + run], destination, job.cause);
            done += run;
            job.next = moving[done - 1].0 + 1;
        }
        Ok(done)
    }

    /// Remaps the first `run` pages of `moving` to the next pages of an open unit with room for them; returns the
    /// first of these.
    #[inline(always)]
    fn move_run(&mut self, slot: usize, moving: &[(Ppn, Lpn)], run: usize) -> Ppn {
        let first = self.frontiers[slot].next;
        self.frontiers[slot].next += run as u32;
        self.live.set_range(first, first + run as u32);
        let reverse = &mut self.reverse[first as usize..][..run];
        for (i, back) in reverse.iter_mut().enumerate() {
            if let Some(&(_, ahead)) = moving.get(i + MAP_AHEAD) {
                prefetch(&self.map, ahead as usize);
            }
            let lpn = moving[i].1;
            *back = lpn;
            self.map[lpn as usize] = first + i as u32;
        }
        first
    }

    fn finish<F: Flash>(&mut self, flash: &mut F, job: &mut Migration) {
        let first = self.layout.first_page(job.source);
        self.live.clear_range(first, job.end);
        self.units.meta[job.source as usize].valid = 0;
        job.next = job.end;
        self.free_pages.give(u64::from(self.layout.pages_per_unit()));
        flash.erase(job.source, job.cause);
        self.free[job.domain as usize].put(job.source, flash.erase_count(job.source));
    }
}
