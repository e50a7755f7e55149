//! Chunks: pages that gather in the controller until they are compressed and programmed together.
//!
//! The write that fills a chunk waits for its programs; earlier writes are done at once. A chunk to be repacked is read
//! first; programs wait for all reads whose data they hold, on any die.

use super::Timed;
use super::queue::{BARRIER, Due, Far, Kind};
use crate::{Cause, Class, Flash, Part};
use floatgate_base::Ppn;

impl Timed {
    /// Adds a host page to a chunk; the chunk's programs wait for the reads that this requires.
    pub(super) fn gather_page(&mut self, chunk: u32) {
        let mut read = std::mem::take(&mut self.read_first);
        if read.ticket == 0 {
            read = std::mem::take(&mut self.hold);
        }
        if read.ticket > 0 {
            self.gathering.chunks.entry(chunk).or_default().push(read);
        }
        self.newest = read;
    }

    /// Issues a host read of the pages of a chunk.
    pub(super) fn read_chunk_pages(&mut self, first: Ppn, pages: u32, cause: Cause) {
        for (ppn, count) in self.counts.layout().clone().by_flash_page(first, pages) {
            if self.counts.is_gathering(ppn) {
                self.newest = Far::default();
                continue;
            }
            let ppn = self.flash_page(ppn);
            let place = self.place(ppn);
            let mut op = self.op(Kind::Read, ppn, place, cause);
            op.pages = count as u8;
            self.issue_read(op, place, cause);
        }
    }

    /// Reads chunks that will be repacked, each flash page once.
    pub(super) fn fetch_chunk_pages(&mut self, sources: &[(Ppn, u32)], cause: Cause) {
        self.gathering.unpacked.clear();
        let layout = self.counts.layout().clone();
        let mut last = None;
        for &(first, pages) in sources {
            for (ppn, count) in layout.by_flash_page(first, pages) {
                let page = self.flash_page(ppn);
                let read = match last {
                    Some((same, read)) if same == page => read,
                    _ => self.fetch_flash_page(page, count, cause),
                };
                last = Some((page, read));
                self.gathering.unpacked.push((first, read));
            }
        }
    }

    fn fetch_flash_page(&mut self, ppn: Ppn, pages: u32, cause: Cause) -> Far {
        let place = self.place(ppn);
        let mut op = self.op(Kind::Read, ppn, place, cause);
        op.pages = pages as u8;
        let written = self.blocks[place.block].programs[Class::Write as usize - 1];
        op.after[1] = Due::of(written, self.schedule.done_tickets(place.die, Class::Write));
        let ticket = self.schedule.push(place.die, Class::Background, op, self.now_ns);
        self.note_reclaim(place.die, ticket, cause);
        Far { die: place.die as u32, class: Class::Background as u8, ticket }
    }

    /// Returns the reads for which the programs of these parts wait.
    fn reads_of(&mut self, parts: &[Part]) -> Vec<Far> {
        let mut reads = Vec::new();
        let mut before = None;
        for &part in parts {
            match part {
                Part::Gathered { chunk, .. } => {
                    reads.extend(self.gathering.chunks.remove(&chunk).into_iter().flatten());
                }
                Part::Packed { first, .. } if before != Some(first) => {
                    let of = self.gathering.unpacked.iter().filter(|&&(chunk, _)| chunk == first);
                    reads.extend(of.map(|&(_, read)| read));
                    before = Some(first);
                }
                Part::Packed { .. } | Part::Page(_) => {}
            }
        }
        reads
    }

    /// Programs pages that hold these parts.
    pub(super) fn program_parts(&mut self, first: Ppn, pages: u32, parts: &[Part], cause: Cause) {
        let reads = self.reads_of(parts);
        let source = parts.iter().find_map(|part| match part {
            Part::Packed { first, .. } => Some(*first),
            _ => None,
        });
        for ppn in Ppn::each(first..first + pages) {
            if self.packed {
                self.join_parts(ppn, &reads, source);
                self.program_if_full(ppn + 1, cause);
            } else {
                self.program_part(ppn, &reads, source, cause);
            }
        }
    }

    fn join_parts(&mut self, ppn: Ppn, reads: &[Far], source: Option<Ppn>) {
        let layout = self.counts.layout();
        let unit = layout.unit_of(ppn);
        let from = source.map(|source| layout.unit_of(source));
        self.gathering.reads[unit].extend_from_slice(reads);
        if let Some(volatile) = &mut self.volatile {
            match from {
                Some(from) => volatile.moves(from, unit),
                None => volatile.joins(unit),
            }
        }
    }

    fn program_part(&mut self, ppn: Ppn, reads: &[Far], source: Option<Ppn>, cause: Cause) {
        let (place, class) = (self.place(ppn), cause.class());
        let mut op = self.op(Kind::Program, ppn, place, cause);
        if class == Class::Write {
            op.request = self.request;
        } else if let Some(source) = source.filter(|&source| self.place(source).die != place.die) {
            op.request = BARRIER + self.barrier_of(source);
        }
        self.wait_for_all(&mut op, &mut reads.to_vec(), (place.die, class));
        let ticket = self.issue_program(op, class, place, 0);
        self.note_reclaim(place.die, ticket, cause);
        if class == Class::Write {
            self.newest = Far { die: place.die as u32, class: class as u8, ticket };
        }
    }
}
