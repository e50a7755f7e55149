//! Chunks that gather in the controller: successive pages of a stream, until they are compressed and programmed
//! together.
//!
//! Gathering pages survive a power cut: configurations ensure that drives which compress have power-loss protection.
//!
//! A chunk lies on consecutive pages of one unit. If the present unit has too few left, as many pages as fit go there
//! and the others follow in the next unit.

use super::lay::fitting;
use super::{ChunkSetup, Filling, Reduction};
use crate::features::{All, Features};
use crate::ftl::Ftl;
use crate::owners::Slot;
use crate::separate::labelled;
use crate::setup::{Allocation, Failure, Pace};
use crate::units::Frontier;
use floatgate_base::{DomainId, Hints, Lpn, MapWord, Owner, Ppn, SideKind};
use floatgate_flash::{Cause, Flash, Part};

impl Ftl {
    /// Adds a new page to the gathering chunk of its stream, and programs the chunk if it is full.
    pub(super) fn gather_page<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        lpn: Lpn,
        compressed_bytes: u32,
        hints: Hints,
    ) -> Result<(), Failure> {
        let old = self.mapping.get(lpn);
        let stream = self.separated(lpn, hints);
        let domain = match self.setup.allocation {
            Allocation::Dynamic => labelled::domain_of(hints.label, self.layout.domains()),
            Allocation::Static => Some(DomainId(lpn.0 / self.layout.subpages() % self.layout.domains())),
        };
        let at = Reduction::place(&self.layout, stream, domain);
        // All its pages may have been rewritten or trimmed.
        self.has_gathered(flash, at);
        let Some(reduction) = self.reduction.as_deref_mut() else { return Ok(()) };
        let Some(ChunkSetup { pages, page_bytes, .. }) = reduction.setup.chunks else { return Ok(()) };
        let Some(packed) = self.mapping.packed_mut() else { return Ok(()) };
        // Unknown content cannot be compressed.
        let bytes = if compressed_bytes == 0 { page_bytes } else { compressed_bytes.min(page_bytes) };
        reduction.counters.compressed_pages += 1;
        let now_ns = reduction.now_ns;
        let filling =
            reduction.filling[at].get_or_insert_with(|| Filling { chunk: packed.add(), since_ns: now_ns });
        let (chunk, owner) = (filling.chunk, Owner::page(lpn));
        if old == MapWord::side(SideKind::Packed, chunk)
            && let Some(slot) = packed.slot_of(chunk, owner)
        {
            reduction.counters.rewritten_pages += 1;
            packed.set_slot(chunk, u32::from(slot.index), owner, bytes);
            flash.gather(chunk, slot.index, lpn);
            return Ok(());
        }
        let slot = packed.push(chunk, owner, bytes);
        let is_full = packed.slots(chunk) == pages;
        flash.gather(chunk, slot, lpn);
        self.mapping.replace(lpn, MapWord::side(SideKind::Packed, chunk));
        self.mapping.note(lpn);
        self.forget::<S>(lpn, old);
        if is_full { self.write_out(flash, at) } else { Ok(()) }
    }

    /// Programs the chunk that gathers at a slot.
    #[inline(never)]
    pub(super) fn write_out<F: Flash>(&mut self, flash: &mut F, at: usize) -> Result<(), Failure> {
        let (stream, domain) = (Frontier::stream(&self.layout, at), at as u32 % self.layout.domains());
        // Under static allocation a page of the domain stands for all of them.
        let lpn = Lpn(domain * self.layout.subpages());
        let stays = self.setup.separate.keeps_in_domain(stream).then_some(DomainId(domain));
        self.count_part_chunk(at);
        let goes_along =
            self.setup.incremental || self.paced_at != Pace::NEVER || self.setup.garbage_share.is_some();
        while self.has_gathered(flash, at) {
            let slot = match stays {
                Some(domain) => self.frontier_in(flash, stream, domain)?,
                None => self.host_frontier::<All, F>(flash, stream, lpn)?,
            };
            // Making room may have programmed the chunk.
            if !self.has_gathered(flash, at) {
                break;
            }
            if goes_along {
                self.advance_jobs(flash, at, slot)?;
                if self.frontiers[slot].room() == 0 || !self.has_gathered(flash, at) {
                    continue;
                }
            }
            let frontier = self.frontiers[slot];
            let pages = self.lay_gathered(flash, at, (frontier.next, frontier.room()), Cause::Host);
            self.frontiers[slot].next += pages;
            self.now += u64::from(pages);
        }
        Ok(())
    }

    /// Lets jobs take the steps that go along with the pages of a chunk before it takes them all at once. Otherwise it
    /// could take pages that they need meanwhile.
    fn advance_jobs<F: Flash>(&mut self, flash: &mut F, at: usize, slot: usize) -> Result<(), Failure> {
        let domain = self.layout.domain_of(self.frontiers[slot].unit);
        let mut gone = 0;
        // Steps fill the open unit, or open another one.
        loop {
            let pages = self.pages_gathered(at, self.frontiers[slot].room());
            if pages <= gone {
                return Ok(());
            }
            for _ in gone..pages {
                self.advance_collection_in(flash, domain)?;
            }
            gone = pages;
        }
    }

    /// Returns the pages that gathering slots take, as many as fit into `room` pages.
    fn pages_gathered(&self, at: usize, room: u32) -> u32 {
        let filling = self.reduction.as_ref().and_then(|reduction| reduction.filling[at].as_ref());
        let (Some(Filling { chunk, .. }), Some(packed)) = (filling, self.mapping.packed()) else { return 0 };
        fitting(packed, packed.live_slots(*chunk), room).1
    }

    fn count_part_chunk(&mut self, at: usize) {
        let (Some(reduction), Some(packed)) = (self.reduction.as_deref_mut(), self.mapping.packed()) else {
            return;
        };
        if let Some(filling) = &reduction.filling[at]
            && packed.slots(filling.chunk) < packed.slots_max()
        {
            reduction.counters.part_chunks += 1;
        }
    }

    /// Checks whether any gathering slot is in use; drops the chunk otherwise.
    #[inline(always)]
    pub(super) fn has_gathered<F: Flash>(&mut self, flash: &mut F, at: usize) -> bool {
        let filling = self.reduction.as_ref().and_then(|reduction| reduction.filling[at].as_ref());
        let (Some(&Filling { chunk, .. }), Some(packed)) = (filling, self.mapping.packed()) else {
            return false;
        };
        let is_needed = packed.is_needed(chunk);
        if !is_needed {
            self.give_up_gathered(flash, at, chunk);
        }
        is_needed
    }

    #[cold]
    fn give_up_gathered<F: Flash>(&mut self, flash: &mut F, at: usize, chunk: u32) {
        flash.forget_gathered(chunk);
        if let (Some(reduction), Some(packed)) = (self.reduction.as_deref_mut(), self.mapping.packed_mut()) {
            packed.remove(chunk);
            reduction.filling[at] = None;
        }
    }

    /// Puts as many gathering slots on flash as fit into `room` pages and returns the pages that they take.
    pub(super) fn lay_gathered<F: Flash>(
        &mut self,
        flash: &mut F,
        at: usize,
        (first, room): (Ppn, u32),
        cause: Cause,
    ) -> u32 {
        let filling = self.reduction.as_ref().and_then(|reduction| reduction.filling[at].as_ref());
        let (Some(Filling { chunk, .. }), Some(packed)) = (filling, self.mapping.packed()) else { return 0 };
        let chunk = *chunk;
        let held = |slot: Slot| (Part::Gathered { chunk, slot: slot.index }, slot);
        let mut slots = std::mem::take(&mut self.laying.held);
        slots.clear();
        slots.extend(packed.live_slots(chunk).map(held));
        let (count, pages) = fitting(packed, slots.iter().map(|&(_, slot)| slot), room);
        let (now, rest) = slots.split_at(count);
        let has_holes = slots.len() < packed.slots(chunk) as usize;
        let whole = (rest.is_empty() && !has_holes).then_some(chunk);
        let is_chunk = self.lay(flash, first, (now, pages), whole, cause);
        let (Some(reduction), Some(packed)) = (self.reduction.as_deref_mut(), self.mapping.packed_mut())
        else {
            return 0;
        };
        let counters = &mut reduction.counters;
        counters.chunked_pages += count as u64;
        counters.chunk_pages += u64::from(pages);
        counters.chunks += u64::from(is_chunk);
        counters.plain_chunks += u64::from(!is_chunk);
        now.iter().filter(|_| whole.is_none()).for_each(|(_, slot)| packed.vacate(chunk, slot.index));
        if rest.is_empty() {
            reduction.filling[at] = None;
            flash.forget_gathered(chunk);
            if whole.is_none() || !is_chunk {
                packed.remove(chunk);
            }
        }
        self.laying.held = slots;
        pages
    }

    /// Checks whether pages gather for compression.
    #[inline(always)]
    #[must_use]
    pub fn gathers_chunks(&self) -> bool {
        self.setup.reduce.is_some_and(|reduce| reduce.chunks.is_some())
    }

    /// Advances the time to `now_ns` and programs chunks that have gathered for long enough.
    ///
    /// # Errors
    /// When the drive stops.
    #[inline(always)]
    pub fn tell_time<F: Flash>(&mut self, flash: &mut F, now_ns: u64) -> Result<(), Failure> {
        match &mut self.reduction {
            Some(reduction) if reduction.setup.chunks.is_some() => {
                reduction.now_ns = reduction.now_ns.max(now_ns)
            }
            _ => return Ok(()),
        }
        self.write_out_old(flash)
    }

    fn write_out_old<F: Flash>(&mut self, flash: &mut F) -> Result<(), Failure> {
        let due = |reduction: &Reduction, at: usize| {
            let timeout_ns = reduction.setup.chunks.and_then(|chunks| chunks.timeout_ns);
            let since = reduction.filling[at].as_ref().map(|filling| filling.since_ns);
            since
                .zip(timeout_ns)
                .is_some_and(|(since, timeout)| reduction.now_ns >= since.saturating_add(timeout))
        };
        let places = self.reduction.as_ref().map_or(0, |reduction| reduction.filling.len());
        for at in 0..places {
            if self.reduction.as_ref().is_some_and(|reduction| due(reduction, at)) {
                self.write_out(flash, at)?;
            }
        }
        Ok(())
    }

    /// Returns when the next gathering chunk is due, if any gathers.
    #[must_use]
    pub fn chunk_due_ns(&self) -> Option<u64> {
        let reduction = self.reduction.as_ref()?;
        let timeout_ns = reduction.setup.chunks?.timeout_ns?;
        let oldest = reduction.filling.iter().flatten().map(|filling| filling.since_ns).min()?;
        Some(oldest.saturating_add(timeout_ns))
    }

    /// Programs the gathering chunks of these pages; all if `pages` is 0.
    #[cold]
    pub(crate) fn flush_chunks<F: Flash>(
        &mut self,
        flash: &mut F,
        first: Lpn,
        pages: u32,
    ) -> Result<(), Failure> {
        if let Some(reduction) = &mut self.reduction {
            reduction.end_samples(pages == 0);
        }
        let places = self.reduction.as_ref().map_or(0, |reduction| reduction.filling.len());
        for at in 0..places {
            let filling = self.reduction.as_ref().and_then(|reduction| reduction.filling[at].as_ref());
            let Some(chunk) = filling.map(|filling| filling.chunk) else { continue };
            let word = MapWord::side(SideKind::Packed, chunk);
            let mut all = Lpn::each(first..first + pages);
            if pages == 0 || all.any(|lpn| self.mapping.resolved(self.mapping.get(lpn)) == word) {
                self.write_out(flash, at)?;
            }
        }
        Ok(())
    }
}
