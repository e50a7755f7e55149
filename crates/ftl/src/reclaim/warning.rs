//! Warnings of disturbed blocks for the buffer.

use crate::ftl::Ftl;
use floatgate_base::{Lpn, Ppn};

impl Ftl {
    /// Enables warnings for blocks whose disturbance reaches this share of the maximum; they are called *disturbed*.
    /// Call it on a new drive.
    pub fn set_warning(&mut self, share: f64) {
        let Self { reclaiming, layout, .. } = self;
        reclaiming.iter_mut().for_each(|reclaiming| reclaiming.set_warning(share, layout));
    }

    /// Checks whether a read of a page goes to a disturbed block.
    #[must_use]
    pub fn is_disturbed(&self, lpn: Lpn) -> bool {
        // A page with a replica is read there, a page in a chunk with the whole chunk.
        let ppn = || {
            let word = self.mapping.get(lpn);
            let chunk = || self.mapping.packed()?.pages(self.mapping.chunk_of(word)?).map(|(first, _)| first);
            self.mapping.page_of(word).or_else(chunk)
        };
        self.reclaiming
            .as_ref()
            .is_some_and(|reclaiming| ppn().is_some_and(|ppn| reclaiming.is_disturbed(&self.layout, ppn)))
    }

    /// Puts to `out` the pages of one of the blocks that became disturbed since the last call. Returns false if no
    /// block did.
    pub fn take_disturbed(&mut self, out: &mut Vec<Lpn>) -> bool {
        let Self { reclaiming, layout, mapping, setup, .. } = self;
        let Some(block) = reclaiming.as_mut().and_then(|reclaiming| reclaiming.take_warned()) else {
            return false;
        };
        let unit = floatgate_base::UnitId(block / layout.blocks_per_unit());
        let first = layout.first_page(unit);
        let pages = Ppn::each(first..first + layout.pages_per_unit());
        let live = pages.filter(|&ppn| layout.block_of(ppn) == block && mapping.is_live(ppn));
        out.clear();
        // Metadata are no pages of the host.
        let logical_pages = setup.logical_pages;
        out.extend(live.filter_map(|ppn| mapping.owner_of(ppn).lpn()).filter(|lpn| lpn.0 < logical_pages));
        true
    }
}
