//! Jobs move chunks as a whole: their live slots are read and repacked, which removes holes and saves pages.
//!
//! Chunks are combined if all their live slots fit into one; none is split. Together they never take more than each
//! would take alone. A victim thus always takes fewer pages than it has valid ones, unless a chunk meets the end of a
//! unit.

use super::buffers::{Held, Repacking};
use super::lay::fitting;
use crate::ftl::Ftl;
use crate::jobs::request::Target;
use crate::jobs::{Job, Opened};
use crate::owners::{Packed, Slot};
use crate::setup::Failure;
use crate::units::Frontier;
use floatgate_base::{DomainId, Owner, Ppn, SideKind, StreamId, UnitId};
use floatgate_flash::{Cause, Flash, Part};

/// An open unit that takes in chunks of a job.
#[derive(Clone, Copy, Debug)]
enum ChunkTarget {
    /// A unit of a stream.
    Slot(usize),
    /// A unit of the job's own.
    Own(usize),
}

/// The outcome of moving chunks.
pub(crate) enum ChunksMoved {
    /// They moved, and take this many pages now.
    Pages(u64),
    /// They stay: all free units are reserved for the host.
    Stalled,
}

/// Distance in chunks at which the targets of slots are prefetched.
const AHEAD: usize = 6;

impl Ftl {
    /// Takes the pages of chunks out of the pages to move, and returns the chunks in order. A job that must leave units
    /// to the host may stop after any page; for it only the first item stays: pages, or one chunk.
    pub(crate) fn take_chunks(
        &mut self,
        job: &Job,
        moving: &mut Vec<(Ppn, Owner)>,
    ) -> (Vec<u32>, Option<Ppn>) {
        let chunk_of = |&(_, owner): &(Ppn, Owner)| match owner.entry() {
            Some((SideKind::Packed, chunk)) => Some(chunk),
            _ => None,
        };
        if job.leave_free > 0
            && let Some(first) = moving.first().map(chunk_of)
        {
            let same = moving.iter().take_while(|page| {
                chunk_of(page).is_some() == first.is_some() && (first.is_none() || chunk_of(page) == first)
            });
            let kept = same.count();
            moving.truncate(kept);
        }
        let mut chunks = std::mem::take(&mut self.repacking.chunks);
        chunks.clear();
        let mut last = None;
        moving.retain(|page| {
            let Some(chunk) = chunk_of(page) else { return true };
            last = Some(page.0);
            if chunks.last() != Some(&chunk) {
                chunks.push(chunk);
                if let Some(packed) = self.mapping.packed() {
                    packed.prefetch(chunk);
                }
            }
            false
        });
        (chunks, last)
    }

    /// Returns the memory of [`Ftl::take_chunks`] after the move.
    pub(crate) fn give_back_chunks(&mut self, chunks: Vec<u32>) {
        self.repacking.chunks = chunks;
    }

    /// Moves chunks to one of a job's targets; their pages in the source are then dead.
    pub(crate) fn move_chunks<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        to: usize,
        chunks: &[u32],
    ) -> Result<ChunksMoved, Failure> {
        let Some(packed) = self.mapping.packed() else { return Ok(ChunksMoved::Pages(0)) };
        let needed: u32 = chunks.iter().map(|&chunk| packed.live_pages(chunk)).sum();
        if job.leave_free > 0 && !self.has_room(job, to, needed) {
            return Ok(ChunksMoved::Stalled);
        }
        let cause = if job.request.cause == Cause::Gc { Cause::Repack } else { job.request.cause };
        let mut buffers = std::mem::take(&mut self.repacking);
        buffers.sources.clear();
        buffers.sources.extend(chunks.iter().filter_map(|&chunk| packed.pages(chunk)));
        flash.fetch_chunks(&buffers.sources, cause);
        let pages = self.place_chunks(flash, job, (to, cause), chunks, &mut buffers)?;
        self.repacking = buffers;
        self.leave_behind(chunks);
        if let Some(reduction) = &mut self.reduction {
            reduction.counters.repacked_into += pages;
        }
        Ok(ChunksMoved::Pages(pages))
    }

    /// Writes the live slots of chunks to where a job moves them and returns the pages that they take.
    fn place_chunks<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        (to, cause): (usize, Cause),
        chunks: &[u32],
        Repacking { held, groups, .. }: &mut Repacking,
    ) -> Result<u64, Failure> {
        let mut pages = 0;
        for (i, &chunk) in chunks.iter().enumerate() {
            self.prefetch_chunks(&chunks[i..]);
            let Some(packed) = self.mapping.packed() else { break };
            hold(packed, chunk, held);
            let (slots, slots_max) = (packed.slots(chunk), packed.slots_max() as usize);
            let as_many = (!packed.repacks).then(|| packed.live_pages(chunk));
            if let Some(reduction) = &mut self.reduction {
                reduction.counters.unpacked_pages += u64::from(slots);
                reduction.counters.repacked_pages += held.len() as u64;
            }
            if as_many.is_some() {
                pages += self.place_group(flash, job, (to, cause), held, as_many)?;
            } else if let Some(full) = groups.add(held, slots_max) {
                pages += self.place_group(flash, job, (to, cause), &full, None)?;
                groups.give_back(full);
            }
        }
        for free in 0..groups.open.len() {
            let mut open = std::mem::take(&mut groups.open[free]);
            for group in open.drain(..) {
                pages += self.place_group(flash, job, (to, cause), &group, None)?;
                groups.give_back(group);
            }
            groups.open[free] = open;
        }
        Ok(pages)
    }

    /// Prefetches what a chunk changes that will move soon, at a fixed distance behind the first of these.
    #[inline(always)]
    fn prefetch_chunks(&self, chunks: &[u32]) {
        let Some(packed) = self.mapping.packed() else { return };
        let chunk = chunks.get(AHEAD);
        let slots = chunk.into_iter().flat_map(|&chunk| packed.live_slots(chunk));
        slots.for_each(|slot| self.mapping.prefetch_place(slot.owner));
    }

    /// Marks the old pages of chunks as dead.
    fn leave_behind(&mut self, chunks: &[u32]) {
        for &chunk in chunks {
            let Some(packed) = self.mapping.packed_mut() else { return };
            let live = packed.live_pages(chunk);
            let Some((first, _)) = packed.pages(chunk) else { continue };
            packed.forget_holes(chunk);
            packed.remove(chunk);
            Ppn::each(first..first + live).for_each(|ppn| self.mapping.kill(ppn));
            self.units.meta[self.layout.unit_of(first)].valid -= live;
        }
    }

    /// Checks whether a job that leaves units to the host may move this many pages.
    fn has_room(&self, job: &Job, to: usize, pages: u32) -> bool {
        let (Target::Streams { domain } | Target::Own { domain, .. } | Target::Set { domain, .. }) =
            job.request.targets[to]
        else {
            return true;
        };
        let slot = Frontier::slot(&self.layout, self.stream_of_chunks(job.source()), domain);
        let room = job.targets[to].room().max(self.frontiers[slot].room());
        room >= pages || self.free[domain].len() > job.leave_free
    }

    /// Returns the stream of chunks that leave a unit: for most separators their present one.
    fn stream_of_chunks(&self, source: UnitId) -> StreamId {
        match &self.separation {
            Some(separation) => separation.side_stream(source),
            None => self.setup.separate.fixed_streams().1,
        }
    }

    /// Writes slots to where a job moves them, as a chunk of a fixed number of pages, or of as many as it needs.
    fn place_group<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        (to, cause): (usize, Cause),
        group: &[Held],
        as_many: Option<u32>,
    ) -> Result<u64, Failure> {
        let mut rest = group;
        let mut pages = 0;
        while !rest.is_empty() {
            let into = self.open_for_chunk(flash, job, to, rest)?;
            let frontier = match into {
                ChunkTarget::Slot(slot) => self.frontiers[slot],
                ChunkTarget::Own(to) => job.targets[to],
            };
            let (count, taken) = match as_many {
                Some(taken) if taken <= frontier.room() && rest.len() == group.len() => (rest.len(), taken),
                _ => match self.mapping.packed() {
                    Some(packed) => fitting(packed, rest.iter().map(|&(_, slot)| slot), frontier.room()),
                    None => break,
                },
            };
            self.lay(flash, frontier.next, (&rest[..count], taken), None, cause);
            let end = frontier.next + taken;
            match into {
                ChunkTarget::Slot(slot) => self.filled_slot(job, to, slot, (group[0].0, end, taken)),
                ChunkTarget::Own(to) => job.targets[to].next = end,
            }
            rest = &rest[count..];
            pages += u64::from(taken);
        }
        Ok(pages)
    }

    /// Notes that pages moved into the open unit of a stream.
    fn filled_slot(&mut self, job: &Job, to: usize, slot: usize, (part, end, taken): (Part, Ppn, u32)) {
        self.frontiers[slot].next = end;
        if !matches!(job.request.targets[to], Target::Streams { .. }) {
            self.open_pages.filled(u64::from(taken), self.now);
        }
        // A drive restored with chunks may continue without power-loss protection.
        if let (true, Part::Packed { first, .. }) = (self.volatile.is_on(), part) {
            let pages = vec![(first, Owner::default()); taken as usize];
            self.volatile.moved(&self.layout, slot, &pages, end);
        }
        let stream = Frontier::stream(&self.layout, slot);
        if let Some(separation) = &mut self.separation {
            let from = separation.stream_of(job.source());
            separation.moved_chunk(from, stream, u64::from(taken));
        }
    }

    /// Returns an open unit with room for at least the first of these slots.
    fn open_for_chunk<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        to: usize,
        slots: &[Held],
    ) -> Result<ChunkTarget, Failure> {
        let Target::Streams { domain } = job.request.targets[to] else {
            if job.targets[to].room() > 0 {
                return Ok(ChunkTarget::Own(to));
            }
            let Part::Packed { first: page, .. } = slots[0].0 else { return Err(Failure::OutOfFreeBlocks) };
            let own = self.layout.domain_of(self.layout.unit_of(page));
            return match self.open_own(flash, job, to, page) {
                Opened::Unit => Ok(ChunkTarget::Own(to)),
                Opened::None(domain) => self.open_stream(job, domain).or_else(|_| self.open_stream(job, own)),
                Opened::Leave => self.open_stream(job, own),
            };
        };
        self.open_stream(job, domain)
    }

    /// Returns the open unit of the stream of a job's chunks in a domain. If no unit is free, any with room.
    fn open_stream(&mut self, job: &Job, domain: DomainId) -> Result<ChunkTarget, Failure> {
        let slot = Frontier::slot(&self.layout, self.stream_of_chunks(job.source()), domain);
        if self.frontiers[slot].room() > 0 || self.open(slot, domain) {
            return Ok(ChunkTarget::Slot(slot));
        }
        self.last_slot(self.stream_of_chunks(job.source()), domain).map(ChunkTarget::Slot)
    }
}

/// Appends the live slots of a chunk on flash.
fn hold(packed: &Packed, chunk: u32, held: &mut Vec<Held>) {
    held.clear();
    if let Some((first, _)) = packed.pages(chunk) {
        let part = |slot: Slot| (Part::Packed { first, slot: slot.index }, slot);
        held.extend(packed.live_slots(chunk).map(part));
    }
}
