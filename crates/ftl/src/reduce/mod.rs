//! Fewer programs for host writes: deduplication and compression.
//!
//! Each page that the host writes is looked up in the content index (`index.rs`); known content is shared (`dedup.rs`).
//! New content joins the gathering chunk of its stream (`gather.rs`), which is programmed when it is full, after a
//! timeout, or on FLUSH. `release.rs` handles old data of rewritten and trimmed pages, `repack.rs` chunks that jobs
//! move. Either scheme may be switched on or off from one page to the next.
//!
//! The map knows where shared content and chunks lie (`owners/shared.rs`, `owners/packed.rs`); a drive keeps them under
//! any later setup.
//!
//! Equal fingerprints are taken for equal content. Source: the integrated lifetime manager (paper 2), sections II and
//! III.

mod ahead;
mod buffers;
mod dedup;
mod figures;
mod gather;
mod index;
mod lay;
mod release;
mod repack;
mod sample;
mod saved;
#[cfg(test)]
mod tests;

pub use crate::owners::SLOTS_MAX;
pub(crate) use buffers::{Laying, Repacking};
pub use figures::{IndexFigures, ReduceFigures};
pub use index::IndexCounters;
pub(crate) use repack::ChunksMoved;
pub(crate) use saved::SavedReduction;

use crate::owners::{Packed, Shared};
use crate::units::Frontier;
use floatgate_base::{DomainId, Lpn};
use floatgate_flash::Layout;
use index::ContentIndex;
use serde::{Deserialize, Serialize};

/// Setup of deduplication and compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduce {
    /// Capacity of the index in contents; 0 without deduplication.
    pub index_entries: u32,
    /// How pages are compressed together, if they are.
    pub chunks: Option<ChunkSetup>,
    /// The schemes active at the beginning.
    pub schemes: Schemes,
    /// 2^64 times the share of pages sampled for an inactive scheme to estimate its effect; 0 for none. Copies of a
    /// content are sampled together or not at all, as are the pages of a chunk.
    pub samples_below: u64,
}

/// How pages are compressed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSetup {
    /// Logical pages that a chunk compresses, from 1 to [`SLOTS_MAX`].
    pub pages: u32,
    /// Bytes of a logical page.
    pub page_bytes: u32,
    /// Time after which a partial chunk is programmed; none for never.
    pub timeout_ns: Option<u64>,
    /// Whether chunks that save no page are written as plain pages.
    pub plain: bool,
    /// Whether collection repacks the live slots of chunks that it moves.
    pub repack: bool,
}

/// The active schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schemes {
    /// Deduplication.
    pub dedup: bool,
    /// Compression.
    pub compress: bool,
}

/// Counters since counting began. Pages are logical pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReduceCounters {
    /// Page writes of the host.
    pub host_pages: u64,
    /// Host pages without the trace data that a scheme needs: they count as new, and as incompressible.
    pub unknown_pages: u64,
    /// Host pages whose fingerprint was computed, samples included.
    pub hashed_pages: u64,
    /// Host pages that were not programmed because their content was on the drive.
    pub duplicate_pages: u64,
    /// Host pages that were compressed, samples included.
    pub compressed_pages: u64,
    /// Host pages that replaced an older write in a gathering chunk.
    pub rewritten_pages: u64,
    /// Slots of gathered chunks that were programmed, in chunks or plain.
    pub chunked_pages: u64,
    /// Pages programmed for the slots of gathered chunks.
    pub chunk_pages: u64,
    /// Gathered chunks, or parts of them, that were programmed compressed.
    pub chunks: u64,
    /// Gathered chunks, or parts of them, that saved no page and were written plain.
    pub plain_chunks: u64,
    /// Gathered chunks that were programmed before all their slots were in use.
    pub part_chunks: u64,
    /// Samples whose fingerprint was computed while deduplication was off.
    pub sampled_hashed: u64,
    /// Samples whose content the index knew while deduplication was off.
    pub sampled_duplicates: u64,
    /// Samples that would have been in a chunk by now if compression were on.
    pub sampled_chunked: u64,
    /// Pages that the chunks of samples would have taken.
    pub sampled_chunk_pages: u64,
    /// Slots of chunks that host reads decompressed, holes included.
    pub decompressed_pages: u64,
    /// Slots of chunks that jobs moved, holes included.
    pub unpacked_pages: u64,
    /// Slots of chunks that jobs moved and repacked, without holes.
    pub repacked_pages: u64,
    /// Pages programmed for the repacked slots.
    pub repacked_into: u64,
}

/// A gathering chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Filling {
    /// Its entry.
    chunk: u32,
    /// When its first page arrived.
    since_ns: u64,
}

/// A chunk that would gather if compression were active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SampleChunk {
    /// Its pages, arrival of the first of them, whether it is sampled, and its bytes if so.
    slots: u32,
    since_ns: u64,
    is_sampled: bool,
    bytes: u32,
}

/// State of sampling from one page to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Samples {
    /// Overflows when a page of unknown content is sampled.
    unknown: u64,
    /// Overflows when a chunk is sampled.
    chunks: u64,
    /// Slot of the last page.
    last: usize,
    /// By slot, as real chunks gather.
    gathering: Vec<SampleChunk>,
}

/// State of both schemes.
#[derive(Clone, Debug)]
pub(crate) struct Reduction {
    setup: Reduce,
    schemes: Schemes,
    index: Option<ContentIndex>,
    /// The gathering chunk by slot of an open unit. Under dynamic allocation each stream has one, at domain 0.
    filling: Vec<Option<Filling>>,
    /// Present time, as last reported.
    now_ns: u64,
    samples: Samples,
    pub counters: ReduceCounters,
}

impl Reduction {
    /// Creates the state for an empty drive with `slots` open units.
    pub fn new(setup: Reduce, logical_pages: u32, slots: usize) -> Self {
        let chunk_places = if setup.chunks.is_some() { slots } else { 0 };
        Self {
            index: (setup.index_entries > 0).then(|| ContentIndex::new(setup.index_entries, logical_pages)),
            filling: vec![None; chunk_places],
            schemes: setup.schemes,
            setup,
            now_ns: 0,
            samples: Samples { gathering: vec![SampleChunk::default(); chunk_places], ..Samples::default() },
            counters: ReduceCounters::default(),
        }
    }

    /// Creates the tables that the map needs.
    pub fn tables(setup: &Reduce) -> (Option<Box<Shared>>, Option<Box<Packed>>) {
        let packed =
            setup.chunks.map(|chunks| Box::new(Packed::new(chunks.pages, chunks.page_bytes, chunks.repack)));
        ((setup.index_entries > 0).then(Box::default), packed)
    }

    /// Restarts the counters.
    pub fn reset_counts(&mut self) {
        self.counters = ReduceCounters::default();
        if let Some(index) = &mut self.index {
            index.reset_counts();
        }
    }

    /// Selects these schemes, as far as they have tables.
    fn set_schemes(&mut self, schemes: Schemes) {
        let schemes = Schemes {
            dedup: schemes.dedup && self.index.is_some(),
            compress: schemes.compress && self.setup.chunks.is_some(),
        };
        if schemes != self.schemes {
            self.samples.gathering.fill(SampleChunk::default());
            self.schemes = schemes;
        }
    }

    /// Removes a logical page from the index.
    #[inline(always)]
    pub(crate) fn drop_page(&mut self, lpn: Lpn) {
        if let Some(index) = &mut self.index {
            index.drop_owner(floatgate_base::Owner::page(lpn));
        }
    }

    /// Returns the slot of the gathering chunk for a page.
    #[inline(always)]
    fn place(layout: &Layout, stream: floatgate_base::StreamId, domain: Option<DomainId>) -> usize {
        Frontier::slot(layout, stream, domain.unwrap_or(DomainId(0)))
    }
}
