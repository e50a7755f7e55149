//! Creates operations and adds them to the queues of their dies.

use super::moving::Copied;
use super::queue::{Due, Far, Job, Kind, NO_REQUEST, Op, row_after};
use super::{Place, Timed};
use crate::{Cause, Class, Flash, Scope};
use floatgate_base::{Owner, Ppn, UnitId};

impl Timed {
    #[inline(always)]
    pub(super) fn place(&self, ppn: Ppn) -> Place {
        let layout = self.counts.layout();
        let unit = layout.unit_of(ppn);
        let (plane_number, block) = match layout.scope() {
            Scope::Plane => (layout.domain_of(unit).0, unit.0),
            Scope::Superblock => {
                let offset = (ppn - layout.first_page(unit)) / layout.subpages();
                let number = offset % self.planes;
                (number, unit.0 * self.planes + number)
            }
        };
        let die = self.plane_at[plane_number as usize].die as usize;
        Place { die, block: block as usize, plane_number }
    }

    /// Returns the first page of a flash page, which represents it in operations.
    pub(super) fn flash_page(&self, ppn: Ppn) -> Ppn {
        Ppn(ppn.0 & !(self.counts.layout().subpages() - 1))
    }

    #[inline(always)]
    pub(super) fn op(&self, kind: Kind, ppn: Ppn, place: Place, cause: Cause) -> Op {
        let job = if cause.class() == Class::Background { self.job } else { Job::Host };
        // Built by values alone: an operation whose address escapes goes through memory in pieces, and each wide load
        // of it waits for the stores before.
        let (plane, row) = if self.detailed { self.details(ppn, place) } else { (0, 0) };
        Op {
            issued_ns: 0,
            jobs_ns: [0; 2],
            ppn,
            request: NO_REQUEST,
            order: 0,
            after: [Due::default(); 2],
            previous: Due::default(),
            far_die: 0,
            far: Due::default(),
            far_class: 0,
            kind,
            cause: cause as u8,
            job,
            row,
            read_row: row,
            plane,
            pages: 1,
            #[cfg(test)]
            started_ns: 0,
        }
    }

    /// Returns the plane of a page in its die, and the row of its array times.
    fn details(&self, ppn: Ppn, place: Place) -> (u8, u8) {
        let page = self.counts.layout().page_in_block(ppn);
        (self.plane_at[place.plane_number as usize].plane, self.row(ppn, page))
    }

    /// Returns the row of the array times of a page with this number in its block: by its type, in the current modes of
    /// the block. Operations issued before an erase keep the earlier modes.
    pub(super) fn row(&self, ppn: Ppn, page: u32) -> u8 {
        let phases = &self.schedule.settings.phases;
        let page_type = page % phases.page_types;
        if !self.has_modes {
            return page_type as u8;
        }
        // A drive restored from a file may have been programmed in more modes than this one has.
        let unit = self.counts.layout().unit_of(ppn);
        let mode = u32::from(self.counts.mode(unit)).min(phases.modes - 1);
        ((self.scale(unit) * phases.modes + mode) * phases.page_types + page_type) as u8
    }

    /// Returns the mode of erases of a unit.
    pub(super) fn scale(&self, unit: UnitId) -> u32 {
        let last = self.schedule.settings.phases.scales - 1;
        self.counts.scaling().map_or(0, |scaling| u32::from(scaling.mode(unit))).min(last)
    }

    /// Makes an operation wait for another die's operation.
    #[inline(always)]
    pub(super) fn wait_for_far(&mut self, op: &mut Op, far: Far) {
        if far.ticket > 0 {
            self.schedule.catch_up(far.die as usize);
            let queue = &self.schedule.dies[far.die as usize].queues[usize::from(far.class)];
            (op.far_die, op.far_class, op.far) = (far.die, far.class, Due::of(far.ticket, queue.done));
        }
    }

    /// Returns the unfinished programs of a page, by the classes that program.
    pub(super) fn programs_of(&self, place: Place, ppn: Ppn) -> [Due; 2] {
        let mut after = [Due::default(); 2];
        let programs = self.blocks[place.block].programs;
        for (class, (newest, after)) in Class::Read.others().into_iter().zip(programs.iter().zip(&mut after))
        {
            let done = self.schedule.done_tickets(place.die, class);
            if *newest > done {
                *after = Due::of(self.schedule.program_of(place.die, class, ppn, *newest), done);
            }
        }
        after
    }

    /// Returns the barrier of the job that empties the unit of a page.
    pub(super) fn barrier_of(&mut self, source: Ppn) -> u32 {
        let unit = self.counts.layout().unit_of(source);
        *self.barrier_of_unit[unit].get_or_insert_with(|| self.schedule.barriers.open())
    }

    /// Records a background operation that may belong to a reclaim.
    #[inline(always)]
    pub(super) fn note_reclaim(&mut self, die: usize, ticket: u64, cause: Cause) {
        if let Some(reclaims) = &mut self.reclaims {
            reclaims.note(die, ticket, cause);
        }
    }

    /// Records a move whose program has been issued. `read`: the operation that reads the old copy.
    pub(super) fn note_move(&mut self, source: Ppn, page: Ppn, read: Far, program: Far) {
        if let Some(moving) = &mut self.moving {
            moving.add(Copied { page, source, read }, program, self.schedule.surely_done(program));
        }
    }

    /// Records a row of moves from `sources` to consecutive pages from `destination` on; the first one is `program`.
    fn note_row(&mut self, sources: &[(Ppn, Owner)], destination: Ppn, program: Far) {
        let Some(moving) = &mut self.moving else { return };
        let first = Copied { page: destination, source: sources[0].0, read: program };
        let done = self.schedule.surely_done(program);
        moving.add_row(sources.iter().map(|&(source, _)| source), first, program, done);
    }

    /// Stores the rows of the array times of the pages read by a row of moves on drives with page types, but for the
    /// first page; returns that of the first page.
    fn note_read_rows(&mut self, first: Ppn, others: &[(Ppn, Owner)], die: usize) -> u8 {
        // Consecutive pages of a block cycle through the types, and share one mode.
        let read_row = self.row(first, self.counts.layout().page_in_block(first));
        let page_types = self.schedule.settings.phases.page_types;
        if page_types > 1 {
            let reads = &mut self.schedule.dies[die].queues[Class::Background as usize].reads;
            reads.extend(others.iter().map(|&(source, _)| row_after(read_row, source - first, page_types)));
        }
        read_row
    }

    /// Issues moves of one block to consecutive pages of another one on the same die, as a row.
    pub(super) fn copy_row(&mut self, sources: &[(Ppn, Owner)], destination: Ppn, cause: Cause) {
        let Some((&(first, _), others)) = sources.split_first() else { return };
        let (from, to) = (self.place(first), self.place(destination));
        debug_assert!(sources.iter().all(|&(source, _)| self.place(source).block == from.block));
        let mut op = self.op(Kind::Copy, destination, to, cause);
        op.pages = u8::from(from.plane_number == to.plane_number);
        op.far_die = others.len() as u32;
        if self.detailed {
            op.read_row = self.note_read_rows(first, others, to.die);
        }
        let written = self.blocks[from.block].programs[Class::Write as usize - 1];
        let ticket = self.issue_program(op, Class::Background, to, written);
        self.note_reclaim(to.die, ticket, cause);
        let (die, class) = (to.die as u32, Class::Background as u8);
        self.note_row(sources, destination, Far { die, class, ticket: ticket - others.len() as u64 });
    }

    /// Issues a host read, after the unfinished programs of its page.
    #[inline(always)]
    pub(super) fn issue_read(&mut self, mut op: Op, place: Place, cause: Cause) {
        if self.schedule.has_programs(place.die) {
            op.after = self.programs_of(place, op.ppn);
        }
        self.queue_read(op, place, cause);
    }

    /// Adds a host read to the queue of its die; returns its ticket.
    #[inline(always)]
    pub(super) fn queue_read(&mut self, mut op: Op, place: Place, cause: Cause) -> u64 {
        op.request = self.request;
        if cause == Cause::Partial {
            let far = std::mem::take(&mut self.hold);
            self.wait_for_far(&mut op, far);
        }
        let ticket = self.schedule.push(place.die, Class::Read, op, self.now_ns);
        self.newest = Far { die: place.die as u32, class: Class::Read as u8, ticket };
        if cause == Cause::Partial {
            self.read_first = self.newest;
        }
        ticket
    }

    /// Issues a program, or a copy whose page is on the same die; a copy follows the write `source_written`. Tickets
    /// order the operations of one class at one die; only other classes need a dependency.
    #[inline(always)]
    pub(super) fn issue_program(
        &mut self,
        mut op: Op,
        class: Class,
        place: Place,
        source_written: u64,
    ) -> u64 {
        let b = self.blocks[place.block];
        let done = |class| self.schedule.done_tickets(place.die, class);
        // Pages of a block are programmed in order across classes; within one class the queue ensures it.
        if class == Class::Write {
            let before = b.erase.max(b.programs[Class::Background as usize - 1]);
            op.after[1] = Due::of(before, done(Class::Background));
        } else {
            let before = source_written.max(b.programs[Class::Write as usize - 1]);
            op.after[1] = Due::of(before, done(Class::Write));
        }
        op.previous = Due::of(b.programs[class as usize - 1], done(class));
        let ticket = self.schedule.push(place.die, class, op, self.now_ns);
        self.blocks[place.block].programs[class as usize - 1] = ticket;
        ticket
    }
}
