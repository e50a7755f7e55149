//! Commands of the FTL, operation by operation.

use super::Timed;
use super::queue::{BARRIER, Due, Far, Job, Kind, NO_REQUEST};
use crate::{Cause, Class, Counters, Flash, Layout, Part, Scaling};
use floatgate_base::{IdSlice, Lpn, Owner, Ppn, UnitId};

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
        if self.packed {
            self.counts.copy(source, destination, owner, cause);
            return if self.on {
                self.copy_packed(source, destination, cause)
            };
        }
        self.counts.count_copy(destination, cause);
        if !self.on {
            return;
        }
        let (from, to) = (self.place(source), self.place(destination));
        let written = self.blocks[from.block].programs[Class::Write as usize - 1];
        if from.die == to.die {
            let mut op = self.op(Kind::Copy, destination, to, cause);
            op.pages = u8::from(from.plane_number == to.plane_number);
            if self.detailed {
                op.read_row = self.row(source, self.counts.layout().page_in_block(source));
            }
            let ticket = self.issue_program(op, Class::Background, to, written);
            self.note_reclaim(to.die, ticket, cause);
            let copy = Far { die: to.die as u32, class: Class::Background as u8, ticket };
            self.note_move(source, destination, copy, copy);
            return;
        }
        let mut read = self.op(Kind::Read, source, from, cause);
        read.after[1] = Due::of(written, self.schedule.done_tickets(from.die, Class::Write));
        let ticket = self.schedule.push(from.die, Class::Background, read, self.now_ns);
        let mut program = self.op(Kind::Program, destination, to, cause);
        let far = Far { die: from.die as u32, class: Class::Background as u8, ticket };
        self.wait_for_far(&mut program, far);
        program.request = BARRIER + self.barrier_of(source);
        self.note_reclaim(from.die, ticket, cause);
        let ticket = self.issue_program(program, Class::Background, to, 0);
        self.note_reclaim(to.die, ticket, cause);
        self.note_move(source, destination, far, Far { die: to.die as u32, ticket, ..far });
    }

    fn copy_run(&mut self, sources: &[(Ppn, Owner)], destination: Ppn, cause: Cause) {
        let Some(&(first, _)) = sources.first() else { return };
        if !self.on && !self.packed {
            return self.counts.copy_run(sources, destination, cause);
        }
        if sources.len() == 1 || !self.schedule.rows || self.place(first).die != self.place(destination).die {
            for (&(source, owner), at) in sources.iter().zip(0..) {
                self.copy(source, destination + at, owner, cause);
            }
            return;
        }
        self.counts.copy_run(sources, destination, cause);
        self.copy_row(sources, destination, cause);
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
        if self.may_be_moving(place.die) && self.read_old_copies(&[(ppn, lpn)], cause) {
            return;
        }
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

    fn gather(&mut self, chunk: u32, _slot: u8, _lpn: Lpn) {
        if self.on {
            self.gather_page(chunk);
        }
    }

    fn forget_gathered(&mut self, chunk: u32) {
        self.gathering.chunks.remove(&chunk);
    }

    fn read_gathered(&mut self, chunk: u32, lpn: Lpn) {
        self.counts.read_gathered(chunk, lpn);
    }

    fn read_chunk(&mut self, first: Ppn, pages: u32, lpn: Lpn, cause: Cause) {
        self.counts.read_chunk(first, pages, lpn, cause);
        if self.on {
            self.read_chunk_pages(first, pages, cause);
        }
    }

    fn fetch_chunks(&mut self, sources: &[(Ppn, u32)], cause: Cause) {
        self.counts.fetch_chunks(sources, cause);
        if self.on {
            self.fetch_chunk_pages(sources, cause);
        }
    }

    fn program_chunk(&mut self, first: Ppn, pages: u32, parts: &[Part], cause: Cause) {
        self.counts.program_chunk(first, pages, parts, cause);
        if self.on {
            self.program_parts(first, pages, parts, cause);
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

    fn replace(&mut self, ppn: Ppn, before: Ppn) {
        if self.on
            && let Some(volatile) = &mut self.volatile
        {
            let layout = self.counts.layout();
            volatile.moves(layout.unit_of(before), layout.unit_of(ppn));
        }
    }

    fn flush(&mut self) {
        if self.on {
            self.flush_packed();
        }
    }

    fn force(&mut self, pages: &[(Ppn, Lpn)]) {
        if self.on {
            self.force_packed(pages);
        }
    }

    fn erase(&mut self, unit: UnitId, cause: Cause) {
        if self.on {
            self.counts.set_now(self.now_ns);
        }
        self.counts.erase(unit, cause);
        if self.on {
            self.erase_blocks(unit, cause);
        }
    }

    fn set_erase_mode(&mut self, unit: UnitId, mode: u8) {
        self.counts.set_erase_mode(unit, mode);
    }

    fn deepen(&mut self, unit: UnitId, mode: u8, cause: Cause) {
        self.counts.deepen(unit, mode, cause);
        if self.on {
            self.erase_blocks(unit, cause);
        }
    }

    fn count_scaled(&mut self, ppn: Ppn, cause: Cause) {
        self.counts.count_scaled(ppn, cause);
    }

    fn scaling(&self) -> Option<&Scaling> {
        self.counts.scaling()
    }

    fn load(&self) -> (u64, u64) {
        let waiting = |die: &super::die::Die| die.queues[Class::Write as usize].len() as u64;
        (self.now_ns, self.schedule.dies.iter().map(waiting).sum())
    }

    fn set_mode(&mut self, unit: UnitId, mode: u8) {
        debug_assert!(u32::from(mode) < self.schedule.settings.phases.modes, "mode {mode} has no times");
        self.counts.set_mode(unit, mode);
    }

    #[inline]
    fn mode(&self, unit: UnitId) -> u8 {
        self.counts.mode(unit)
    }

    fn is_gathering(&self, ppn: Ppn) -> bool {
        self.counts.is_gathering(ppn)
    }

    fn endures_more(&mut self) -> bool {
        if self.on {
            self.counts.set_now(self.now_ns);
        }
        self.counts.endures_more()
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

    fn install_run(&mut self, first: Ppn, pages: u32, lpn_of: impl Fn(Ppn) -> Option<Lpn>) {
        self.counts.install_run(first, pages, lpn_of);
    }

    fn erase_count(&self, unit: UnitId) -> u32 {
        self.counts.erase_count(unit)
    }

    fn reset_counts(&mut self) {
        self.counts.reset_counts();
        self.schedule.settle();
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

impl Timed {
    /// Issues the erases of the blocks of a unit, in the mode of erases of the unit.
    fn erase_blocks(&mut self, unit: UnitId, cause: Cause) {
        let scale = self.scale(unit) as u8;
        let first = self.counts.layout().first_page(unit);
        let subpages = self.counts.layout().subpages();
        // A later job of this unit has another barrier.
        let barrier = self.barrier_of_unit[unit].take();
        let moved = self.volatile.as_mut().map(|volatile| volatile.erased(unit)).unwrap_or_default();
        for i in 0..self.counts.layout().blocks_per_unit() {
            // Under superblock scope the first pages of a unit lie one on each plane.
            let place = self.place(first + i * subpages);
            let mut op = self.op(Kind::Erase, first + i * subpages, place, cause);
            op.row = scale;
            let written = self.blocks[place.block].programs[Class::Write as usize - 1];
            let due = |ticket, class| Due::of(ticket, self.schedule.done_tickets(place.die, class));
            let reads = &self.schedule.dies[place.die].queues[Class::Read as usize];
            let read = reads.last(|read| self.place(read.ppn).block == place.block);
            op.after = [due(read, Class::Read), due(written, Class::Write)];
            op.request = barrier.map_or(NO_REQUEST, |number| BARRIER + number);
            if !moved.is_empty() {
                self.wait_for_all(&mut op, &mut moved.clone(), (place.die, Class::Background));
            }
            let ticket = self.schedule.push(place.die, Class::Background, op, self.now_ns);
            self.blocks[place.block].erase = ticket;
            self.note_reclaim(place.die, ticket, cause);
        }
    }
}
