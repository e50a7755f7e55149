//! Host reads of pages that share a flash page or a chunk: successive ones are served by one read.

use crate::features::Features;
use crate::ftl::Ftl;
use crate::reclaim::Manager;
use crate::setup::Failure;
use floatgate_base::{Lpn, MapWord, Ppn};
use floatgate_flash::{Cause, Flash};

/// What pages served by one read share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadGroup {
    /// The flash page.
    FlashPage(u32),
    /// The chunk.
    Chunk(u32),
}

impl Ftl {
    /// Checks whether reads may be grouped.
    #[inline(always)]
    pub(crate) fn reads_in_groups(&self) -> bool {
        self.layout.is_packed() || self.mapping.packed().is_some()
    }

    /// Returns the group of a page, if it can be read together with others.
    fn group_of(&self, word: MapWord) -> Option<(ReadGroup, Ppn)> {
        if let Some(ppn) = self.mapping.page_of(word) {
            return self
                .layout
                .is_packed()
                .then(|| (ReadGroup::FlashPage(self.layout.flash_page_of(ppn)), ppn));
        }
        let chunk = self.mapping.chunk_of(word)?;
        let (first, _) = self.mapping.packed()?.pages(chunk)?;
        Some((ReadGroup::Chunk(chunk), first))
    }

    /// Reads pages, successive ones of a group at once.
    pub(crate) fn read_groups<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        all: impl Iterator<Item = Lpn>,
    ) -> Result<(), Failure> {
        let mut together = std::mem::take(&mut self.reading);
        let mut group = None;
        for lpn in all {
            let mut next = self.group_of(self.mapping.get(lpn));
            if next.map(|(group, _)| group) != group {
                if self.read_together::<S, F>(flash, group, &mut together)? {
                    // The read may have led to a reclaim that moved pages.
                    next = self.group_of(self.mapping.get(lpn));
                }
                group = next.map(|(group, _)| group);
            }
            if let Some((_, ppn)) = next {
                together.push((ppn, lpn));
                continue;
            }
            self.read::<S, F>(flash, lpn);
            if S::READS {
                self.start_requested(flash)?;
            }
        }
        self.read_together::<S, F>(flash, group, &mut together)?;
        self.reading = together;
        Ok(())
    }

    /// Reads pages of a group and returns whether any were mapped.
    fn read_together<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        group: Option<ReadGroup>,
        pages: &mut Vec<(Ppn, Lpn)>,
    ) -> Result<bool, Failure> {
        let (Some(&(first, lpn)), Some(group)) = (pages.first(), group) else { return Ok(false) };
        match group {
            ReadGroup::Chunk(chunk) => self.read_chunk(flash, lpn, chunk, Cause::Host),
            ReadGroup::FlashPage(_) => {
                flash.read_run(pages, Cause::Host);
                self.notify_read::<S, F>(flash, first);
                if let Some(reclaiming) = &mut self.reclaiming {
                    pages.iter().for_each(|&(ppn, _)| reclaiming.manager.read(ppn));
                }
            }
        }
        pages.clear();
        if S::READS {
            self.start_requested(flash)?;
        }
        Ok(true)
    }

    /// Reads a chunk to serve one of its pages.
    #[cold]
    pub(crate) fn read_chunk<F: Flash>(&mut self, flash: &mut F, lpn: Lpn, chunk: u32, cause: Cause) {
        let Some((first, pages)) = self.mapping.packed().and_then(|packed| packed.pages(chunk)) else {
            return flash.read_gathered(chunk, lpn);
        };
        flash.read_chunk(first, pages, lpn, cause);
        let slots = self.mapping.packed().map_or(0, |packed| packed.slots(chunk));
        if let Some(reduction) = &mut self.reduction {
            reduction.counters.decompressed_pages += u64::from(slots);
        }
        for (ppn, _) in self.layout.by_flash_page(first, pages) {
            self.notify_read::<crate::features::All, F>(flash, ppn);
            if let Some(reclaiming) = &mut self.reclaiming {
                reclaiming.manager.read(ppn);
            }
        }
    }
}
