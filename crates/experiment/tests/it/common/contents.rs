//! A drive written page by page with contents determined by a test.

use floatgate_base::{Content, ExtentKind, Extents, Lpn};
use floatgate_flash::{Cause, Flash, Functional, Layout, Scope};
use floatgate_ftl::reduce::{ChunkSetup, Reduce, Schemes};
use floatgate_ftl::{Ftl, Setup, Stopped};
use floatgate_nand::Geometry;

/// Bytes of a page.
pub const PAGE: u32 = 4096;

/// A drive of one plane.
pub fn one_plane(blocks_per_plane: u32, pages_per_block: u32) -> Layout {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane,
        pages_per_block,
        page_bytes: PAGE,
    };
    Layout::new(geometry, Scope::Plane)
}

/// Deduplication alone, by an index that forgets nothing.
pub fn dedup(entries: u32) -> Reduce {
    Reduce {
        index_entries: entries,
        chunks: None,
        schemes: Schemes { dedup: true, compress: false },
        samples_below: 0,
    }
}

/// Compression alone, in chunks of so many pages.
pub fn compress(pages: u32) -> Reduce {
    let chunks = ChunkSetup { pages, page_bytes: PAGE, timeout_ns: None, plain: true, repack: true };
    Reduce {
        index_entries: 0,
        chunks: Some(chunks),
        schemes: Schemes { dedup: false, compress: true },
        samples_below: 0,
    }
}

/// Content of a page.
pub fn content(fingerprint: u64, compressed_bytes: u32) -> Content {
    Content { fingerprint, compressed_bytes }
}

/// A drive without a clock.
pub struct Drive {
    pub ftl: Ftl,
    pub flash: Functional,
}

impl Drive {
    pub fn new(layout: Layout, setup: Setup) -> Self {
        Self { ftl: Ftl::new(layout.clone(), setup), flash: Functional::new(layout) }
    }

    /// Writes pages, each with its content.
    pub fn write(&mut self, pages: impl Iterator<Item = (u32, Content)>) -> Result<(), Stopped> {
        let mut extents = Extents::default();
        for (lpn, content) in pages {
            extents.push(Lpn(lpn), 1, ExtentKind::Write);
            extents.columns.content.push([content]);
        }
        self.ftl.serve(&mut self.flash, &extents)
    }

    /// Counting begins anew.
    pub fn reset_counts(&mut self) {
        self.ftl.reset_counts(&mut self.flash);
    }

    /// Programs for each program that the host caused.
    pub fn amplification(&self) -> f64 {
        let counters = self.flash.counters();
        counters.programs_total() as f64 / counters.programs[Cause::Host as usize] as f64
    }
}
