//! The one kind of background job: live pages leave a unit, and the unit is erased.
//!
//! Garbage collection is a migration, and so will be wear-leveling, read reclaim and refresh: each chooses the
//! source and the cause. A job may be stopped after any page and taken up again.

use crate::ftl::{Failure, Ftl};
use floatgate_base::{Ppn, UnitId, prefetch::prefetch};
use floatgate_flash::{Cause, Flash, Layout};

/// Pages ahead whose map entry is asked for.
const MAP_AHEAD: usize = 16;

/// A job, between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    source: UnitId,
    domain: u32,
    cause: Cause,
    /// Pages of the source before this one have been looked at, in ascending order.
    next: Ppn,
    end: Ppn,
}

impl Migration {
    /// Moves the live pages of `source`, in ascending order, to the open units that the separator names in the same
    /// domain, then erases it. The unit must be in no index.
    #[must_use]
    pub fn erase_after_moving(source: UnitId, domain: u32, cause: Cause, layout: &Layout) -> Self {
        let next = layout.first_page(source);
        Self { source, domain, cause, next, end: next + layout.pages_per_unit() }
    }
}

impl Ftl {
    /// Moves up to `pages_max` pages of a job; true when the job is done and its source is erased and free.
    ///
    /// # Errors
    /// When a moved page finds no free page in its domain.
    pub fn step<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Migration,
        pages_max: u32,
    ) -> Result<bool, Failure> {
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        let reverse = &self.reverse;
        self.live.for_each(job.next, job.end, |ppn| {
            moving.push((ppn, reverse[ppn as usize]));
        });
        let more = moving.len() > pages_max as usize;
        moving.truncate(pages_max as usize);
        let moved = self.move_pages(flash, job, &moving);
        self.moving = moving;
        moved?;
        if more {
            return Ok(false);
        }
        self.finish(flash, job);
        Ok(true)
    }

    fn move_pages<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Migration,
        moving: &[(Ppn, u32)],
    ) -> Result<(), Failure> {
        let domains = self.layout.domains();
        for (i, &(source, lpn)) in moving.iter().enumerate() {
            if let Some(&(_, ahead)) = moving.get(i + MAP_AHEAD) {
                prefetch(&self.map, ahead as usize);
            }
            let slot = (self.setup.separate.move_stream(lpn) * domains + job.domain) as usize;
            if self.frontiers[slot].room() == 0 && !self.open(slot, job.domain) {
                return Err(Failure::OutOfFreeBlocks);
            }
            let destination = self.append(slot, lpn);
            self.map[lpn as usize] = destination;
            flash.copy(source, destination, lpn, job.cause);
            job.next = source + 1;
        }
        Ok(())
    }

    fn finish<F: Flash>(&mut self, flash: &mut F, job: &mut Migration) {
        let first = self.layout.first_page(job.source);
        self.live.clear_range(first, job.end);
        self.units.meta[job.source as usize].valid = 0;
        job.next = job.end;
        flash.erase(job.source, job.cause);
        self.free[job.domain as usize].put(job.source, flash.erase_count(job.source));
    }
}
