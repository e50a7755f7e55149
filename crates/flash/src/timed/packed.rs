//! Flash pages that hold several pages of the map.
//!
//! Written pages gather in the controller's buffer, one flash page per open unit. The write that fills it waits for its
//! program; earlier writes are done at once, since the buffer survives power cuts. The program starts when all its data
//! have been read: old parts of pages written in part, and live pages that move. These may come from several dies, and
//! a program can wait for more than one other die (`joins.rs`).

use super::Timed;
use super::moving::Copied;
use super::queue::{Due, Far, Kind, Op};
use crate::{Cause, Class, Flash};
use floatgate_base::{Lpn, Owner, Ppn};

impl Timed {
    /// Adds a host page to the flash page of its unit.
    #[cold]
    pub(super) fn program_packed(&mut self, ppn: Ppn, cause: Cause) {
        let mut read = std::mem::take(&mut self.read_first);
        if read.ticket == 0 {
            read = std::mem::take(&mut self.hold);
        }
        self.join(ppn, read);
        if let Some(volatile) = &mut self.volatile {
            volatile.joins(self.counts.layout().unit_of(ppn));
        }
        self.newest = read;
        self.program_if_full(ppn + 1, cause);
    }

    /// Adds a moved page to the flash page of its unit.
    #[cold]
    pub(super) fn copy_packed(&mut self, source: Ppn, destination: Ppn, cause: Cause) {
        let page = self.counts.layout().flash_page_of(source);
        let fetched = &self.gathering.fetched;
        let read = fetched.binary_search_by_key(&page, |&(page, _)| page).map(|i| fetched[i].1);
        debug_assert!(read.is_ok(), "page {source} moves without having been read");
        let read = read.unwrap_or_default();
        self.join(destination, read);
        if let Some(moving) = &mut self.moving {
            let unit = self.counts.layout().unit_of(destination);
            moving.gather(unit, Copied { page: destination, source, read });
        }
        if let Some(volatile) = &mut self.volatile {
            let layout = self.counts.layout();
            volatile.moves(layout.unit_of(source), layout.unit_of(destination));
        }
        self.program_if_full(destination + 1, cause);
    }

    /// Fills a flash page with pages without data.
    #[cold]
    pub(super) fn pad_packed(&mut self, first: Ppn, pages: u32, cause: Cause) {
        self.program_if_full(first + pages, cause);
    }

    fn join(&mut self, ppn: Ppn, read: Far) {
        if read.ticket > 0 {
            let unit = self.counts.layout().unit_of(ppn);
            self.gathering.reads[unit].push(read);
        }
    }

    /// Issues the program of the flash page that ends at `end`, if one does.
    pub(super) fn program_if_full(&mut self, end: Ppn, cause: Cause) {
        let layout = self.counts.layout();
        if layout.left_of_flash_page(end) > 0 {
            return;
        }
        let last = Ppn(end.0 - 1);
        let (unit, ppn) = (layout.unit_of(last), self.flash_page(last));
        let mut reads = std::mem::take(&mut self.gathering.reads[unit]);
        let (place, class) = (self.place(ppn), cause.class());
        let mut op = self.op(Kind::Program, ppn, place, cause);
        if class == Class::Write {
            op.request = self.request;
        }
        self.wait_for_all(&mut op, &mut reads, (place.die, class));
        reads.clear();
        // Its memory is reused for the next page.
        self.gathering.reads[unit] = reads;
        let ticket = self.issue_program(op, class, place, 0);
        self.note_reclaim(place.die, ticket, cause);
        let program = Far { die: place.die as u32, class: class as u8, ticket };
        if let Some(moving) = &mut self.moving {
            self.schedule.catch_up(place.die);
            moving.add_gathered(unit, program, self.schedule.done_tickets(place.die, class));
        }
        if let Some(volatile) = &mut self.volatile {
            volatile.programmed(unit, program);
        }
        if class == Class::Write {
            self.newest = program;
        }
    }

    /// Makes an operation of a queue wait for operations of others; only the relevant ones remain in `others`.
    pub(super) fn wait_for_all(&mut self, op: &mut Op, others: &mut Vec<Far>, (die, class): (usize, Class)) {
        self.schedule.keep_due(others, (die as u32, class as u8));
        match others[..] {
            [] => {}
            [other] => self.wait_for_far(op, other),
            _ => self.schedule.joins.open(others, op),
        }
    }

    /// Reads the flash pages of live pages that will move.
    #[cold]
    pub(super) fn fetch_packed(&mut self, sources: &[(Ppn, Owner)], cause: Cause) {
        self.gathering.fetched.clear();
        let layout = self.counts.layout().clone();
        let flash_page = |&(ppn, _): &(Ppn, Owner)| layout.flash_page_of(ppn);
        for pages in sources.chunk_by(|a, b| flash_page(a) == flash_page(b)) {
            let ppn = self.flash_page(pages[0].0);
            let place = self.place(ppn);
            let mut op = self.op(Kind::Read, ppn, place, cause);
            op.pages = pages.len() as u8;
            let written = self.blocks[place.block].programs[Class::Write as usize - 1];
            op.after[1] = Due::of(written, self.schedule.done_tickets(place.die, Class::Write));
            let ticket = self.schedule.push(place.die, Class::Background, op, self.now_ns);
            self.note_reclaim(place.die, ticket, cause);
            let read = Far { die: place.die as u32, class: Class::Background as u8, ticket };
            self.gathering.fetched.push((flash_page(&pages[0]), read));
        }
    }

    /// Issues a host read of pages of one flash page.
    #[cold]
    pub(super) fn read_packed(&mut self, pages: &[(Ppn, Lpn)], cause: Cause) {
        let Some(&(first, _)) = pages.first() else { return };
        if self.counts.is_gathering(first) {
            self.newest = Far::default();
            return;
        }
        let ppn = self.flash_page(first);
        let place = self.place(ppn);
        if self.may_be_moving(place.die) && self.read_old_copies(pages, cause) {
            return;
        }
        let mut op = self.op(Kind::Read, ppn, place, cause);
        op.pages = pages.len() as u8;
        self.issue_read(op, place, cause);
    }
}
