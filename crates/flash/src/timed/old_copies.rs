//! Host reads of pages that a job moves, from the old copy.
//!
//! The state changes when the FTL issues a move, so a read that comes while the move waits at its die is addressed to
//! the new page, and would wait for its program. A drive changes its map once the new copy is there. Until then such a
//! read takes the old copy: from the flash until the job has read it, and then from the controller, which holds it until
//! the program. An erase of the old block waits for these reads.
//!
//! An erase that is issued already waits for a read that comes later. To keep the graph of dependencies free of circles,
//! this read and those ahead of it at the die must wait for nothing; otherwise it waits for the new copy after all.

use super::moving::{Copied, Moving};
use super::queue::{Due, Far, Kind};
use super::{Place, Timed};
use crate::{Cause, Class};
use floatgate_base::{Lpn, Ppn};

impl Timed {
    /// Returns whether jobs may be moving pages of a die: if reads take old copies and programs wait or are under way.
    #[inline(always)]
    pub(super) fn may_be_moving(&self, die: usize) -> bool {
        self.moving.is_some() && self.schedule.has_programs(die)
    }

    /// Issues a host read of pages of one flash page from their old copies, if all of them are being moved and nothing
    /// prevents it; returns whether it did.
    #[cold]
    pub(super) fn read_old_copies(&mut self, pages: &[(Ppn, Lpn)], cause: Cause) -> bool {
        let Some(mut moving) = self.moving.take() else { return false };
        moving.wanted.clear();
        let is_served = self.find_old_copies(pages, cause, &mut moving);
        let mut wanted = std::mem::take(&mut moving.wanted);
        self.moving = Some(moving);
        if is_served {
            self.newest = Far::default();
            for &(source, pages) in &wanted {
                self.read_old_copy(source, pages, cause);
            }
        }
        wanted.clear();
        if let Some(moving) = &mut self.moving {
            moving.wanted = wanted;
        }
        is_served
    }

    /// Lists the flash pages to read for pages that are being moved; returns false if the read must wait instead.
    fn find_old_copies(&mut self, pages: &[(Ppn, Lpn)], cause: Cause, moving: &mut Moving) -> bool {
        let Some(program) = pages.first().and_then(|&(first, _)| self.program_under_way(first)) else {
            return false;
        };
        for &(page, _) in pages {
            let Some(Copied { source, read, .. }) = moving.find(program, page) else { return false };
            self.schedule.catch_up(read.die as usize);
            if read.ticket <= self.schedule.dies[read.die as usize].queues[usize::from(read.class)].done {
                // The controller holds it.
                continue;
            }
            let flash_page = self.flash_page(source);
            let order =
                self.schedule.dies[read.die as usize].queues[usize::from(read.class)].order_of(read.ticket);
            match moving.wanted.iter_mut().find(|(wanted, _)| *wanted == flash_page) {
                Some((_, pages)) => *pages += 1,
                None if self.reads_pass(self.place(flash_page), flash_page, order) => {
                    moving.wanted.push((flash_page, 1))
                }
                None => return false,
            }
        }
        // A program waits for one read only, and the read before it perhaps for an operation.
        cause != Cause::Partial
            || moving.wanted.is_empty()
            || moving.wanted.len() == 1 && !self.is_pending(self.hold)
    }

    fn is_pending(&mut self, far: Far) -> bool {
        if far.ticket == 0 {
            return false;
        }
        self.schedule.catch_up(far.die as usize);
        far.ticket > self.schedule.dies[far.die as usize].queues[usize::from(far.class)].done
    }

    /// Returns the unfinished program of a page; none if there are two.
    fn program_under_way(&mut self, page: Ppn) -> Option<Far> {
        let page = self.flash_page(page);
        let place = self.place(page);
        self.schedule.catch_up(place.die);
        let due = self.programs_of(place, page);
        let far = |class: Class, due: Due| {
            let ticket = due.ticket(self.schedule.done_tickets(place.die, class));
            (ticket > 0).then_some(Far { die: place.die as u32, class: class as u8, ticket })
        };
        let [a, b] = Class::Read.others();
        match (far(a, due[0]), far(b, due[1])) {
            (Some(program), None) | (None, Some(program)) => Some(program),
            _ => None,
        }
    }

    /// Returns whether a read of a flash page, and all reads ahead of it at its die, would wait for no other operation.
    /// Of the programs of the flash page those count that were issued before the move; later ones follow its erase.
    fn reads_pass(&self, place: Place, flash_page: Ppn, order: u32) -> bool {
        let queues = &self.schedule.dies[place.die].queues;
        let newest = self.blocks[place.block].programs;
        let mut programs = Class::Read.others().into_iter().zip(newest);
        let is_there = programs
            .all(|(class, newest)| queues[class as usize].program_before(flash_page, newest, order) == 0);
        let is_free = |after: [Due; 2]| {
            let mut others = Class::Read.others().into_iter().zip(after);
            others.all(|(class, due)| !due.pending(queues[class as usize].done))
        };
        let reads = &queues[Class::Read as usize];
        let mut ahead = (0..).map_while(|n| reads.waiting(n));
        is_there && ahead.all(|op| is_free(op.after) && op.far == Due::default())
    }

    /// Reads pages of a flash page; the erases of its block that are issued already wait for that.
    fn read_old_copy(&mut self, source: Ppn, pages: u8, cause: Cause) {
        let place = self.place(source);
        let mut op = self.op(Kind::Read, source, place, cause);
        op.pages = pages;
        let ticket = self.queue_read(op, place, cause);
        let due = Due::of(ticket, self.schedule.done_tickets(place.die, Class::Read));
        if self.blocks[place.block].erase <= self.schedule.done_tickets(place.die, Class::Background) {
            return;
        }
        for n in 0.. {
            let queue = &self.schedule.dies[place.die].queues[Class::Background as usize];
            let Some(op) = queue.waiting(n) else { break };
            if op.kind == Kind::Erase && self.place(op.ppn).block == place.block {
                self.schedule.dies[place.die].queues[Class::Background as usize].follow_read(n, due);
            }
        }
    }
}
