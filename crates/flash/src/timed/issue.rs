//! What the FTL asks for becomes operations in the queues of dies.

use super::queue::{BARRIER, Due, Far, Job, Kind, NO_REQUEST, Op};
use super::{Place, Timed};
use crate::{Cause, Class, Counters, Flash, Layout, Scope};
use floatgate_base::{IdSlice, Lpn, Owner, Ppn, UnitId};

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

    #[inline(always)]
    pub(super) fn op(&self, kind: Kind, ppn: Ppn, place: Place, cause: Cause) -> Op {
        let job = if cause.class() == Class::Background { self.job } else { Job::Host };
        let mut op = Op {
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
            row: 0,
            read_row: 0,
            plane: 0,
            pages: 1,
            #[cfg(test)]
            started_ns: 0,
        };
        if self.detailed {
            self.add_details(&mut op, place);
        }
        op
    }

    fn add_details(&self, op: &mut Op, place: Place) {
        let address = self.counts.layout().address(op.ppn);
        op.plane = self.plane_at[place.plane_number as usize].plane;
        op.row = self.row(op.ppn, address.page);
        op.read_row = op.row;
    }

    /// Row of the array times of a page, which has this number in its block: of its type, in the mode that its block
    /// has now. What is issued before an erase keeps the mode of before.
    fn row(&self, ppn: Ppn, page: u32) -> u8 {
        let phases = &self.schedule.settings.phases;
        let page_type = page % phases.page_types;
        if phases.modes == 1 {
            return page_type as u8;
        }
        // A drive that was read from a file may have been programmed in more modes than this one has.
        let mode = u32::from(self.counts.mode(self.counts.layout().unit_of(ppn))).min(phases.modes - 1);
        (mode * phases.page_types + page_type) as u8
    }

    /// What an operation waits for that another die does.
    #[inline(always)]
    pub(super) fn wait_for_far(&self, op: &mut Op, far: Far) {
        if far.ticket > 0 {
            let queue = &self.schedule.dies[far.die as usize].queues[usize::from(far.class)];
            (op.far_die, op.far_class, op.far) = (far.die, far.class, Due::of(far.ticket, queue.done));
        }
    }

    /// The unfinished programs of a page, by the classes that program.
    fn programs_of(&self, place: Place, ppn: Ppn) -> [Due; 2] {
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

    /// The barrier of the job that empties the unit of a page.
    fn barrier_of(&mut self, source: Ppn) -> u32 {
        let unit = self.counts.layout().unit_of(source);
        *self.barrier_of_unit[unit].get_or_insert_with(|| self.schedule.barriers.open())
    }

    /// Issues a host read.
    #[inline(always)]
    pub(super) fn issue_read(&mut self, mut op: Op, place: Place, cause: Cause) {
        op.request = self.request;
        let queues = &self.schedule.dies[place.die].queues;
        // Where nothing is programmed, no program needs looking for.
        if !Class::Read.others().iter().all(|&class| queues[class as usize].is_empty()) {
            op.after = self.programs_of(place, op.ppn);
        }
        if cause == Cause::Partial {
            let far = std::mem::take(&mut self.hold);
            self.wait_for_far(&mut op, far);
        }
        let ticket = self.schedule.push(place.die, Class::Read, op, self.now_ns);
        self.newest = Far { die: place.die as u32, class: Class::Read as u8, ticket };
        if cause == Cause::Partial {
            self.read_first = self.newest;
        }
    }

    /// Issues a program, or a copy whose page is on the same die; a copy comes after the write `source_written`.
    /// Tickets order the operations of one class at one die by themselves: only other classes need saying.
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
        // Pages of a block are programmed in order, whoever asks for it; of one class the queue sees to it.
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

impl Flash for Timed {
    #[inline(always)]
    fn program(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.counts.program(ppn, lpn, cause);
        if !self.on {
            return;
        }
        if self.packed {
            return self.program_packed(ppn, cause);
        }
        let place = self.place(ppn);
        let mut op = self.op(Kind::Program, ppn, place, cause);
        op.request = self.request;
        let mut far = std::mem::take(&mut self.read_first);
        if far.ticket == 0 {
            far = std::mem::take(&mut self.hold);
        }
        self.wait_for_far(&mut op, far);
        let class = cause.class();
        let ticket = self.issue_program(op, class, place, 0);
        self.newest = Far { die: place.die as u32, class: class as u8, ticket };
    }

    fn copy(&mut self, source: Ppn, destination: Ppn, owner: Owner, cause: Cause) {
        self.counts.copy(source, destination, owner, cause);
        if !self.on {
            return;
        }
        if self.packed {
            return self.copy_packed(source, destination, cause);
        }
        let (from, to) = (self.place(source), self.place(destination));
        let written = self.blocks[from.block].programs[Class::Write as usize - 1];
        if from.die == to.die {
            let mut op = self.op(Kind::Copy, destination, to, cause);
            op.pages = u8::from(from.plane_number == to.plane_number);
            if self.detailed {
                op.read_row = self.row(source, self.counts.layout().address(source).page);
            }
            self.issue_program(op, Class::Background, to, written);
            return;
        }
        let mut read = self.op(Kind::Read, source, from, cause);
        read.after[1] = Due::of(written, self.schedule.done_tickets(from.die, Class::Write));
        let ticket = self.schedule.push(from.die, Class::Background, read, self.now_ns);
        let mut program = self.op(Kind::Program, destination, to, cause);
        let far = Far { die: from.die as u32, class: Class::Background as u8, ticket };
        self.wait_for_far(&mut program, far);
        program.request = BARRIER + self.barrier_of(source);
        self.issue_program(program, Class::Background, to, 0);
    }

    #[inline(always)]
    fn read(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        if self.packed {
            return self.read_run(&[(ppn, lpn)], cause);
        }
        self.counts.read(ppn, lpn, cause);
        if !self.on {
            return;
        }
        let place = self.place(ppn);
        let op = self.op(Kind::Read, ppn, place, cause);
        self.issue_read(op, place, cause);
    }

    fn read_run(&mut self, pages: &[(Ppn, Lpn)], cause: Cause) {
        self.counts.read_run(pages, cause);
        if self.on {
            self.read_packed(pages, cause);
        }
    }

    fn fetch(&mut self, sources: &[(Ppn, Owner)], cause: Cause) {
        self.counts.fetch(sources, cause);
        if self.on {
            self.fetch_packed(sources, cause);
        }
    }

    fn pad(&mut self, first: Ppn, pages: u32, cause: Cause) {
        self.counts.pad(first, pages, cause);
        if self.on {
            self.pad_packed(first, pages, cause);
        }
    }

    #[inline(always)]
    fn read_unmapped(&mut self, lpn: Lpn) {
        self.counts.read_unmapped(lpn);
    }

    fn erase(&mut self, unit: UnitId, cause: Cause) {
        if self.on {
            self.counts.set_now(self.now_ns);
        }
        self.counts.erase(unit, cause);
        if !self.on {
            return;
        }
        let first = self.counts.layout().first_page(unit);
        let subpages = self.counts.layout().subpages();
        // Another job of this unit, later, has another barrier.
        let barrier = self.barrier_of_unit[unit].take();
        for i in 0..self.counts.layout().blocks_per_unit() {
            // Under superblock scope the first pages of a unit lie one on each plane.
            let place = self.place(first + i * subpages);
            let mut op = self.op(Kind::Erase, first + i * subpages, place, cause);
            let written = self.blocks[place.block].programs[Class::Write as usize - 1];
            let due = |ticket, class| Due::of(ticket, self.schedule.done_tickets(place.die, class));
            let reads = &self.schedule.dies[place.die].queues[Class::Read as usize];
            let read = reads.last(|read| self.place(read.ppn).block == place.block);
            op.after = [due(read, Class::Read), due(written, Class::Write)];
            op.request = barrier.map_or(NO_REQUEST, |number| BARRIER + number);
            let ticket = self.schedule.push(place.die, Class::Background, op, self.now_ns);
            self.blocks[place.block].erase = ticket;
        }
    }

    fn set_mode(&mut self, unit: UnitId, mode: u8) {
        debug_assert!(u32::from(mode) < self.schedule.settings.phases.modes, "mode {mode} has no times");
        self.counts.set_mode(unit, mode);
    }

    fn stands_more(&mut self) -> bool {
        if self.on {
            self.counts.set_now(self.now_ns);
        }
        self.counts.stands_more()
    }

    fn in_background(&mut self, on: bool) {
        self.job = if on { Job::Background } else { Job::Foreground };
    }

    #[inline(always)]
    fn trim(&mut self, lpn: Lpn) {
        self.counts.trim(lpn);
    }

    #[inline(always)]
    fn install(&mut self, ppn: Ppn, lpn: Option<Lpn>) {
        self.counts.install(ppn, lpn);
    }

    fn erase_count(&self, unit: UnitId) -> u32 {
        self.counts.erase_count(unit)
    }

    fn reset_counts(&mut self) {
        self.counts.reset_counts();
        self.schedule.reset_times();
    }

    fn counters(&self) -> &Counters {
        self.counts.counters()
    }

    fn erase_counts(&self) -> &IdSlice<UnitId, u32> {
        self.counts.erase_counts()
    }

    fn layout(&self) -> &Layout {
        self.counts.layout()
    }
}
