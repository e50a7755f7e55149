//! What the host can do to the drive: write, read, give up pages.

use crate::features::{All, Features, Looks, Plain};
use crate::ftl::Ftl;
use crate::reclaim::Manager;
use crate::setup::{Failure, Stopped};
use crate::units::NOT_INDEXED;
use floatgate_base::extents::{Extents, Kind};
use floatgate_base::{Hints, Lpn, MapWord, Owner, Ppn};
use floatgate_flash::{Cause, Flash};
use std::ops::Range;

/// Extents ahead of the present one whose map entry is asked for.
const MAP_AHEAD: usize = 16;
/// Extents ahead whose old page's block is asked for; its map entry has arrived by then.
const OLD_AHEAD: usize = 8;

impl Ftl {
    /// Serves extents in order.
    ///
    /// # Errors
    /// When the drive cannot go on; the extents before the one named were served.
    pub fn serve<F: Flash>(&mut self, flash: &mut F, extents: &Extents) -> Result<(), Stopped> {
        self.serve_range(flash, extents, 0..extents.len())
    }

    /// Serves the extents in `range`, in order; what lies behind it is only looked at ahead of time.
    ///
    /// # Errors
    /// When the drive cannot go on; the extents before the one named were served.
    pub fn serve_range<F: Flash>(
        &mut self,
        flash: &mut F,
        extents: &Extents,
        range: Range<usize>,
    ) -> Result<(), Stopped> {
        if self.needs_all || self.mapping.sides.any() {
            // A drive from a file may have blocks that stand no more reads here.
            if self.reclaiming.is_some() {
                self.start_asked(flash).map_err(|failure| Stopped { extent: range.start, failure })?;
            }
            self.serve_all::<All, F>(flash, extents, range)
        } else if self.separation.is_some() {
            self.serve_all::<Looks, F>(flash, extents, range)
        } else {
            self.serve_all::<Plain, F>(flash, extents, range)
        }
    }

    #[inline(always)]
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
            let hints = if S::LOOKS { extents.hints_of(i) } else { Hints::default() };
            let mut all = Lpn::each(first..first + pages);
            let done = match extents.kind[i] {
                Kind::Write => all.try_for_each(|lpn| {
                    let slot = self.write::<S, F>(flash, lpn, hints, Cause::Host)?;
                    if S::PACED { self.go_along(flash, slot) } else { Ok(()) }
                }),
                Kind::Read if S::PACKED && self.layout.is_packed() => self.read_packed::<S, F>(flash, all),
                Kind::Read if S::READS => all.try_for_each(|lpn| {
                    self.read::<S, F>(flash, lpn);
                    self.start_asked(flash)
                }),
                Kind::Read => {
                    all.for_each(|lpn| self.read::<S, F>(flash, lpn));
                    Ok(())
                }
                Kind::WritePartial => {
                    let done = self.write_partial::<S, F>(flash, first, hints);
                    if S::PACED { done.and_then(|slot| self.go_along(flash, slot)) } else { done.map(|_| ()) }
                }
                Kind::Trim => {
                    all.for_each(|lpn| self.trim(flash, lpn));
                    Ok(())
                }
                Kind::Flush => {
                    if S::PACKED {
                        self.flush(flash, first, pages);
                    }
                    Ok(())
                }
            };
            done.map_err(|failure| Stopped { extent: i, failure })?;
        }
        Ok(())
    }

    /// What goes along with host writes, after one into the open unit of a slot.
    #[inline(always)]
    fn go_along<F: Flash>(&mut self, flash: &mut F, slot: usize) -> Result<(), Failure> {
        if self.setup.incremental {
            let domain = self.layout.domain_of(self.frontiers[slot].unit);
            self.keep_stepping(flash, domain)?;
        }
        self.keep_pace(flash)
    }

    /// The map entry of a request to come, then the block of the page that it will replace: on a large drive each
    /// is a miss to memory, and their order is known long before their turn.
    #[inline(always)]
    fn prefetch_for<S: Features>(&self, extents: &Extents, i: usize) {
        if let Some(&lpn) = extents.lpn.get(i + MAP_AHEAD) {
            self.mapping.prefetch(lpn);
            if S::LOOKS
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
        // A read replaces nothing.
        if let Some(&lpn) = extents.lpn.get(i + OLD_AHEAD)
            && extents.kind[i + OLD_AHEAD] != Kind::Read
            && let Some(old) = self.mapping.get(lpn).ppn()
        {
            self.mapping.prefetch_live(old);
            self.candidates.index.prefetch(self.layout.unit_of(old), &self.units.meta);
        }
    }

    /// Writes a page; into the open unit of which slot.
    #[inline(always)]
    fn write<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        lpn: Lpn,
        hints: Hints,
        cause: Cause,
    ) -> Result<usize, Failure> {
        let stream = match &mut self.separation {
            Some(separation) if S::LOOKS => {
                let update = self.mapping.get(lpn).is_mapped();
                separation.write(lpn, update, hints, self.now)
            }
            _ => self.setup.separate.blind().0,
        };
        let slot = self.host_frontier::<S, F>(flash, stream, lpn)?;
        // Opening a unit may have moved this very page: the map is read after it.
        let frontier = &mut self.frontiers[slot];
        let ppn = frontier.next;
        frontier.next += 1;
        self.mapping.place(ppn, Owner::page(lpn));
        let old = self.mapping.replace(lpn, MapWord::plain(ppn));
        self.now += 1;
        if S::PACKED
            && self.volatile.is_on()
            && let Some(before) = old.ppn()
        {
            self.volatile.replaced(&self.layout, slot, ppn, before);
            flash.replace(ppn, before);
        }
        flash.program(ppn, lpn, cause);
        self.forget::<S>(lpn, old);
        Ok(slot)
    }

    /// What a logical page held dies, as far as nobody else has it.
    #[inline(always)]
    pub(crate) fn forget<S: Features>(&mut self, lpn: Lpn, old: MapWord) {
        if let Some(ppn) = old.ppn() {
            self.invalidate::<S>(ppn);
        } else if S::SIDES && old.is_mapped() {
            self.release::<S>(lpn, old);
        } else {
            self.mapped_pages += 1;
        }
    }

    #[cold]
    fn release<S: Features>(&mut self, lpn: Lpn, old: MapWord) {
        let mut dead = Vec::new();
        self.mapping.release(lpn, old, &mut |ppn| dead.push(ppn));
        dead.into_iter().for_each(|ppn| self.invalidate::<S>(ppn));
    }

    /// A read-modify-write: what is on flash of the page is read first.
    fn write_partial<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        lpn: Lpn,
        hints: Hints,
    ) -> Result<usize, Failure> {
        let old = self.mapping.get(lpn);
        if let Some(ppn) = old.ppn() {
            self.read_page::<S, F>(flash, lpn, ppn, Cause::Partial);
        } else if S::SIDES && old.is_mapped() {
            self.read_side::<S, F>(flash, lpn, old, Cause::Partial);
        }
        if S::READS {
            self.start_asked(flash)?;
        }
        self.write::<S, F>(flash, lpn, hints, Cause::Partial)
    }

    #[inline(always)]
    fn read<S: Features, F: Flash>(&mut self, flash: &mut F, lpn: Lpn) {
        let word = self.mapping.get(lpn);
        if let Some(ppn) = word.ppn() {
            self.read_page::<S, F>(flash, lpn, ppn, Cause::Host);
        } else if S::SIDES && word.is_mapped() {
            self.read_side::<S, F>(flash, lpn, word, Cause::Host);
        } else {
            flash.read_unmapped(lpn);
        }
    }

    /// Reads pages, those that follow one another and lie in one flash page together.
    fn read_packed<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        all: impl Iterator<Item = Lpn>,
    ) -> Result<(), Failure> {
        let mut together = std::mem::take(&mut self.reading);
        let mut flash_page = None;
        for lpn in all {
            let mut ppn = self.mapping.get(lpn).ppn();
            if ppn.map(|ppn| self.layout.flash_page_of(ppn)) != flash_page {
                if self.read_together::<S, F>(flash, &mut together)? {
                    // What was read may have led to a reclaim.
                    ppn = self.mapping.get(lpn).ppn();
                }
                flash_page = ppn.map(|ppn| self.layout.flash_page_of(ppn));
            }
            if let Some(ppn) = ppn {
                together.push((ppn, lpn));
                continue;
            }
            self.read::<S, F>(flash, lpn);
            if S::READS {
                self.start_asked(flash)?;
            }
        }
        self.read_together::<S, F>(flash, &mut together)?;
        self.reading = together;
        Ok(())
    }

    /// Reads pages that lie in one flash page; whether there are any.
    fn read_together<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        pages: &mut Vec<(Ppn, Lpn)>,
    ) -> Result<bool, Failure> {
        let Some(&(first, _)) = pages.first() else { return Ok(false) };
        flash.read_run(pages, Cause::Host);
        self.hear_read::<S, F>(flash, first);
        if let Some(reclaiming) = &mut self.reclaiming {
            pages.iter().for_each(|&(ppn, _)| reclaiming.manager.read(ppn));
        }
        pages.clear();
        if S::READS {
            self.start_asked(flash)?;
        }
        Ok(true)
    }

    #[inline(always)]
    fn read_page<S: Features, F: Flash>(&mut self, flash: &mut F, lpn: Lpn, ppn: Ppn, cause: Cause) {
        flash.read(ppn, lpn, cause);
        self.hear_read::<S, F>(flash, ppn);
        if S::READS
            && let Some(reclaiming) = &mut self.reclaiming
        {
            reclaiming.manager.read(ppn);
        }
    }

    /// A flash page was read: the leveler may want to know, and its block is disturbed.
    #[inline(always)]
    fn hear_read<S: Features, F: Flash>(&mut self, flash: &F, ppn: Ppn) {
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
            leveling.read(self.layout.domain_of(unit), unit);
        }
    }

    #[inline(always)]
    fn read_side<S: Features, F: Flash>(&mut self, flash: &mut F, lpn: Lpn, word: MapWord, cause: Cause) {
        match self.mapping.replica_of(word) {
            Some(ppn) => self.read_page::<S, F>(flash, lpn, ppn, cause),
            None => self.read_all::<S, F>(flash, lpn, word, cause),
        }
    }

    #[cold]
    fn read_all<S: Features, F: Flash>(&mut self, flash: &mut F, lpn: Lpn, word: MapWord, cause: Cause) {
        let mut pages = Vec::new();
        self.mapping.pages_of(lpn, word, &mut |ppn| pages.push(ppn));
        pages.into_iter().for_each(|ppn| self.read_page::<S, F>(flash, lpn, ppn, cause));
    }

    fn trim<F: Flash>(&mut self, flash: &mut F, lpn: Lpn) {
        let old = self.mapping.replace(lpn, MapWord::UNMAPPED);
        if old.is_mapped() {
            self.mapped_pages -= 1;
            self.forget::<All>(lpn, old);
            if let Some(separation) = &mut self.separation {
                separation.trimmed(lpn, self.now);
            }
        }
        flash.trim(lpn);
    }

    /// A live page dies.
    #[inline(always)]
    pub(crate) fn invalidate<S: Features>(&mut self, ppn: Ppn) {
        self.mapping.kill(ppn);
        let unit = self.layout.unit_of(ppn);
        let meta = &mut self.units.meta[unit];
        let valid = meta.valid;
        meta.valid = valid - 1;
        if meta.pos != NOT_INDEXED {
            if S::LOOKS {
                self.candidates.lost_page::<true>(&self.layout, unit, valid, &mut self.units);
            } else {
                self.candidates.lost_page::<false>(&self.layout, unit, valid, &mut self.units);
            }
        }
    }
}
