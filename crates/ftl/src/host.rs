//! Host requests: writes, reads and trims.

use crate::features::{All, Features, Inspecting, Plain, Reduces};
use crate::ftl::Ftl;
use crate::reclaim::Manager;
use crate::setup::{Failure, Stopped};
use floatgate_base::extents::{Extents, Kind};
use floatgate_base::{Content, Hints, Lpn, MapWord, Ppn};
use floatgate_flash::{Cause, Flash};
use std::ops::Range;

/// Extents ahead of the present one whose map entry is prefetched.
const MAP_AHEAD: usize = 16;
/// Extents ahead whose old page's block is prefetched; the map entry has arrived by then.
const OLD_AHEAD: usize = 10;
/// Extents ahead for which the start of the bucket of blocks with as many valid pages is prefetched; the valid count
/// has arrived by then. A drive of many planes has more starts than a cache holds.
const START_AHEAD: usize = 7;
/// Extents ahead for which the first block of that bucket is prefetched; its start has arrived by then.
const BUCKET_AHEAD: usize = 4;

impl Ftl {
    /// Serves extents in order.
    ///
    /// # Errors
    /// When the drive stops; all extents before `Stopped::extent` were served.
    pub fn serve<F: Flash>(&mut self, flash: &mut F, extents: &Extents) -> Result<(), Stopped> {
        self.serve_range(flash, extents, 0..extents.len())
    }

    /// Serves the extents in `range`, in order; later extents are only used for prefetching.
    ///
    /// # Errors
    /// When the drive stops; all extents before `Stopped::extent` were served.
    #[inline(always)]
    pub fn serve_range<F: Flash>(
        &mut self,
        flash: &mut F,
        extents: &Extents,
        range: Range<usize>,
    ) -> Result<(), Stopped> {
        let end = range.end;
        let done = self.serve_by_features(flash, extents, range);
        match self.policy_fault() {
            None => done,
            Some(fault) => {
                let extent = done.err().map_or(end.saturating_sub(1), |stopped| stopped.extent);
                Err(Stopped { extent, failure: Failure::Policy(fault) })
            }
        }
    }

    /// Returns the fault that a policy from outside made, if one did.
    #[inline(always)]
    #[must_use]
    pub fn policy_fault(&self) -> Option<&'static str> {
        if !self.setup.has_plugin() {
            return None;
        }
        let of_separator = || self.separation.as_ref()?.fault();
        let of_leveler = || self.leveling.as_ref()?.fault();
        self.candidates.faults.first().or_else(of_separator).or_else(of_leveler)
    }

    #[inline(always)]
    fn serve_by_features<F: Flash>(
        &mut self,
        flash: &mut F,
        extents: &Extents,
        range: Range<usize>,
    ) -> Result<(), Stopped> {
        if self.needs_all || self.mapping.sides.any() {
            // A drive from a file may have blocks that endure no more reads under this setup.
            if self.reclaiming.is_some() {
                self.start_requested(flash).map_err(|failure| Stopped { extent: range.start, failure })?;
            }
            if self.reduction.is_some() {
                self.serve_all::<Reduces, F>(flash, extents, range)
            } else {
                self.serve_all::<All, F>(flash, extents, range)
            }
        } else if self.separation.is_some() {
            self.serve_all::<Inspecting, F>(flash, extents, range)
        } else {
            self.serve_all::<Plain, F>(flash, extents, range)
        }
    }

    // Each set of features is a function of its own with its own register allocation.
    #[inline(never)]
    fn serve_all<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        extents: &Extents,
        range: Range<usize>,
    ) -> Result<(), Stopped> {
        for i in range {
            if self.prefetching {
                self.prefetch_for::<S>(extents, i);
            }
            let (first, pages) = (extents.lpn[i], extents.pages[i]);
            let hints = if S::INSPECTS { extents.hints_of(i) } else { Hints::default() };
            let mut all = Lpn::each(first..first + pages);
            if S::READS && !S::REDUCES && self.setup.programs_unwritten && extents.kind[i] == Kind::Read {
                Lpn::each(first..first + pages)
                    .try_for_each(|lpn| self.program_unwritten::<S, F>(flash, lpn, hints))
                    .map_err(|failure| Stopped { extent: i, failure })?;
            }
            let done = match extents.kind[i] {
                Kind::Write if S::REDUCES => self.write_pages::<S, F>(flash, extents, i),
                Kind::Write => all.try_for_each(|lpn| {
                    let slot = self.write::<S, F>(flash, lpn, hints, Cause::Host)?;
                    self.note_writer::<S>(lpn, hints);
                    if S::PACED { self.advance_collection(flash, slot) } else { Ok(()) }
                }),
                Kind::Read if S::PACKED && self.reads_in_groups() => self.read_groups::<S, F>(flash, all),
                Kind::Read if S::READS => all.try_for_each(|lpn| {
                    self.read::<S, F>(flash, lpn);
                    self.start_requested(flash)
                }),
                Kind::Read => {
                    all.for_each(|lpn| self.read::<S, F>(flash, lpn));
                    Ok(())
                }
                Kind::WritePartial if S::REDUCES => self.read_old::<S, F>(flash, first).and_then(|()| {
                    self.write_reduced::<S, F>(flash, first, Content::default(), (hints, Cause::Partial))
                }),
                Kind::WritePartial => {
                    let done = self.write_partial::<S, F>(flash, first, hints);
                    if S::PACED {
                        done.and_then(|slot| self.advance_collection(flash, slot))
                    } else {
                        done.map(|_| ())
                    }
                }
                Kind::Trim => {
                    all.for_each(|lpn| self.trim::<S, F>(flash, lpn));
                    Ok(())
                }
                Kind::Flush => {
                    if S::PACKED {
                        let map = if self.setup.plp { Ok(()) } else { self.persist_map::<S, F>(flash, true) };
                        map.and_then(|()| self.flush_chunks(flash, first, pages))
                            .map(|()| self.flush(flash, first, pages))
                    } else {
                        Ok(())
                    }
                }
            };
            let done =
                if S::SIDES { done.and_then(|()| self.persist_map::<S, F>(flash, false)) } else { done };
            done.map_err(|failure| Stopped { extent: i, failure })?;
        }
        Ok(())
    }

    /// Prefetches the map entry of a page that will be read or written soon, for callers that serve extents one by one.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        if self.prefetching {
            self.mapping.prefetch(lpn);
        }
    }

    /// Prefetches the map entry of a coming request, then the block of the page that it will replace. On a large drive
    /// each is a cache miss, and the order of requests is known in advance.
    #[inline(always)]
    fn prefetch_for<S: Features>(&self, extents: &Extents, i: usize) {
        if let Some(&lpn) = extents.lpn.get(i + MAP_AHEAD) {
            self.mapping.prefetch(lpn);
            if S::INSPECTS
                && let Some(separation) = &self.separation
            {
                separation.prefetch(lpn);
            }
        }
        if S::READS
            && let Some(reclaiming) = &self.reclaiming
            && let Some(&lpn) = extents.lpn.get(i + OLD_AHEAD)
            && let Some(ppn) = self.mapping.get(lpn).ppn()
        {
            reclaiming.prefetch(&self.layout, ppn);
        }
        if S::REDUCES {
            return self.prefetch_replaced(extents, i);
        }
        if let Some(old) = self.replaced_by(extents, i + OLD_AHEAD) {
            self.mapping.prefetch_live(old);
            self.candidates.index.prefetch(self.layout.unit_of(old), &self.units.meta);
        }
        if self.candidates.index.has_many_domains()
            && let Some(old) = self.replaced_by(extents, i + START_AHEAD)
        {
            let unit = self.layout.unit_of(old);
            self.candidates.index.prefetch_start(&self.layout, unit, &self.units.meta);
        }
        if let Some(old) = self.replaced_by(extents, i + BUCKET_AHEAD) {
            let unit = self.layout.unit_of(old);
            self.candidates.index.prefetch_bucket(&self.layout, unit, &self.units.meta);
        }
    }

    /// Returns the page that the first page of an extent will replace; none for a read.
    #[inline(always)]
    fn replaced_by(&self, extents: &Extents, i: usize) -> Option<Ppn> {
        let &lpn = extents.lpn.get(i)?;
        if extents.kind[i] == Kind::Read { None } else { self.mapping.get(lpn).ppn() }
    }

    /// Programs a page that is about to be read and was never written (SSDsim's pre-write).
    #[cold]
    fn program_unwritten<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        lpn: Lpn,
        hints: Hints,
    ) -> Result<(), Failure> {
        if self.mapping.get(lpn).is_mapped() {
            return Ok(());
        }
        let slot = self.write::<S, F>(flash, lpn, hints, Cause::Padding)?;
        if S::PACED { self.advance_collection(flash, slot) } else { Ok(()) }
    }

    /// Writes part of a page by read-modify-write: reads the old data from flash first.
    fn write_partial<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        lpn: Lpn,
        hints: Hints,
    ) -> Result<usize, Failure> {
        self.read_old::<S, F>(flash, lpn)?;
        let slot = self.write::<S, F>(flash, lpn, hints, Cause::Partial)?;
        self.note_writer::<S>(lpn, hints);
        Ok(slot)
    }

    /// Notes the context of a page that was written, if contexts time collection.
    #[inline(always)]
    pub(crate) fn note_writer<S: Features>(&mut self, lpn: Lpn, hints: Hints) {
        if S::WRITERS
            && let Some(timing) = &mut self.timing
        {
            if timing.begins_burst() {
                let free_units = self.free.iter().map(|pool| u64::from(pool.len())).sum();
                timing.burst_begins(free_units);
            }
            timing.written(lpn, hints.context);
        }
    }

    /// Reads the old data of a page that is about to be written in part.
    fn read_old<S: Features, F: Flash>(&mut self, flash: &mut F, lpn: Lpn) -> Result<(), Failure> {
        let old = self.mapping.get(lpn);
        if let Some(ppn) = old.ppn() {
            self.read_page::<S, F>(flash, lpn, ppn, Cause::Partial);
        } else if S::SIDES && old.is_mapped() {
            self.read_side::<S, F>(flash, lpn, old, Cause::Partial);
        }
        if S::READS { self.start_requested(flash) } else { Ok(()) }
    }

    /// Writes the pages of an extent, with their content if it is known.
    #[inline(always)]
    fn write_pages<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        extents: &Extents,
        i: usize,
    ) -> Result<(), Failure> {
        let (first, pages, hints) = (extents.lpn[i], extents.pages[i], extents.hints_of(i));
        let contents = extents.columns.content.of(i);
        for (n, lpn) in Lpn::each(first..first + pages).enumerate() {
            let content = contents.get(n).copied().unwrap_or_default();
            if self.prefetching {
                self.prefetch_contents(extents, i, n);
            }
            self.write_reduced::<S, F>(flash, lpn, content, (hints, Cause::Host))?;
        }
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn read<S: Features, F: Flash>(&mut self, flash: &mut F, lpn: Lpn) {
        let word = self.mapping.get(lpn);
        if let Some(ppn) = word.ppn() {
            self.read_page::<S, F>(flash, lpn, ppn, Cause::Host);
        } else if S::SIDES && word.is_mapped() {
            self.read_side::<S, F>(flash, lpn, word, Cause::Host);
        } else {
            flash.read_unmapped(lpn);
        }
    }

    #[inline(always)]
    pub(crate) fn read_page<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        lpn: Lpn,
        ppn: Ppn,
        cause: Cause,
    ) {
        flash.read(ppn, lpn, cause);
        self.notify_read::<S, F>(flash, ppn);
        if S::READS
            && let Some(reclaiming) = &mut self.reclaiming
        {
            reclaiming.manager.read(ppn);
        }
    }

    /// Notifies the leveler and the read-disturb model that a flash page was read.
    #[inline(always)]
    pub(crate) fn notify_read<S: Features, F: Flash>(&mut self, flash: &F, ppn: Ppn) {
        if !S::READS {
            return;
        }
        let unit = self.layout.unit_of(ppn);
        if let Some(reclaiming) = &mut self.reclaiming
            && !(S::PACKED && self.layout.is_packed() && flash.is_gathering(ppn))
        {
            reclaiming.read(&self.layout, unit, ppn);
        }
        if let Some(leveling) = &mut self.leveling {
            leveling.read(self.layout.domain_of(unit), unit, ppn);
        }
    }

    #[inline(always)]
    fn read_side<S: Features, F: Flash>(&mut self, flash: &mut F, lpn: Lpn, word: MapWord, cause: Cause) {
        match (self.mapping.page_of(word), self.mapping.chunk_of(word)) {
            (Some(ppn), _) => self.read_page::<S, F>(flash, lpn, ppn, cause),
            (None, Some(chunk)) => self.read_chunk(flash, lpn, chunk, cause),
            (None, None) => {}
        }
    }

    fn trim<S: Features, F: Flash>(&mut self, flash: &mut F, lpn: Lpn) {
        if S::WRITERS
            && let Some(timing) = &mut self.timing
        {
            timing.died(lpn);
        }
        let old = self.mapping.replace(lpn, MapWord::UNMAPPED);
        if old.is_mapped() {
            if let Some(reduction) = &mut self.reduction {
                reduction.drop_page(lpn);
            }
            self.mapping.note(lpn);
            self.mapped_pages -= 1;
            self.forget::<All>(lpn, old);
            if let Some(separation) = &mut self.separation {
                separation.trimmed(lpn, self.now);
            }
        }
        flash.trim(lpn);
    }
}
