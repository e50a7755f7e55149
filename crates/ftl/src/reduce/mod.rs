//! Fewer programs for what the host writes: deduplication and compression.
//!
//! A page that the host writes is searched for in the content index (`index.rs`); what is there already is shared (`dedup.rs`).
//! What is new joins the chunk that gathers for its stream (`gather.rs`), which is programmed when it is full, when it has
//! waited for long, or on FLUSH. What a page leaves behind when it is written anew or given up stands in `release.rs`, and
//! how jobs move chunks in `repack.rs`. Whether either is at work may change from one page to the next.
//!
//! Where shared content and chunks lie is the map's (`owners/shared.rs`, `owners/packed.rs`), so that a drive keeps them
//! whoever runs it next.
//!
//! Equal fingerprints are taken for equal content. Source: the integrated lifetime manager (paper 2), sections II and III.

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

/// What a drive can do about content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduce {
    /// Contents that the index has room for; 0 without deduplication.
    pub index_entries: u32,
    /// How pages are compressed together, where they are.
    pub chunks: Option<ChunkSetup>,
    /// Which of both are at work from the beginning.
    pub schemes: Schemes,
    /// 2^64 times the share of the pages that are looked at for a scheme that is not at work, so that its effect can be told; 0 for
    /// none. Copies of a content are looked at together or not at all, and so are the pages of a chunk.
    pub samples_below: u64,
}

/// How pages are compressed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSetup {
    /// Pages of the map that a chunk compresses, from 1 to [`SLOTS_MAX`].
    pub pages: u32,
    /// Bytes of a page of the map.
    pub page_bytes: u32,
    /// A chunk that is not full is programmed after so long; none for never.
    pub timeout_ns: Option<u64>,
    /// Chunks that save no page are written as plain pages.
    pub plain: bool,
    /// Collection packs anew what lives of chunks that it moves.
    pub repack: bool,
}

/// Which schemes are at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schemes {
    /// Deduplication.
    pub dedup: bool,
    /// Compression.
    pub compress: bool,
}

/// What was done since counting began. Pages are pages of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReduceCounters {
    /// Page writes of the host.
    pub host_pages: u64,
    /// Those of which the trace does not say what a scheme goes by: they count as new, and as incompressible.
    pub unknown_pages: u64,
    /// Host pages whose fingerprint was computed, samples included.
    pub hashed_pages: u64,
    /// Host pages that were not programmed because their content was on the drive.
    pub duplicate_pages: u64,
    /// Host pages that were compressed, samples included.
    pub compressed_pages: u64,
    /// Host pages that took the place of an older write in a chunk which gathered.
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
    /// Slots of chunks that jobs moved and laid down anew, without holes.
    pub repacked_pages: u64,
    /// Pages programmed for the slots that jobs laid down anew.
    pub repacked_into: u64,
}

/// A chunk that gathers in the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Filling {
    /// Its entry.
    chunk: u32,
    /// When its first page came.
    since_ns: u64,
}

/// A chunk that would gather if compression were at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SampleChunk {
    /// Its pages, when the first of them came, whether it is looked at, and its bytes if so.
    slots: u32,
    since_ns: u64,
    is_sampled: bool,
    bytes: u32,
}

/// What is kept of samples from one page to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Samples {
    /// Runs over where a page of unknown content is looked at.
    unknown: u64,
    /// Runs over where a chunk is looked at.
    chunks: u64,
    /// Where the last page went.
    last: usize,
    /// By place, as real chunks gather.
    gathering: Vec<SampleChunk>,
}

/// The state of both schemes.
#[derive(Clone, Debug)]
pub(crate) struct Reduction {
    setup: Reduce,
    schemes: Schemes,
    index: Option<ContentIndex>,
    /// By slot of an open unit: the chunk that gathers for it. Under dynamic allocation each stream has one, at domain 0.
    filling: Vec<Option<Filling>>,
    /// Present time, as far as somebody says it.
    now_ns: u64,
    samples: Samples,
    pub counters: ReduceCounters,
}

impl Reduction {
    /// Of an empty drive with so many slots for open units.
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

    /// The tables that the map needs.
    pub fn tables(setup: &Reduce) -> (Option<Box<Shared>>, Option<Box<Packed>>) {
        let packed =
            setup.chunks.map(|chunks| Box::new(Packed::new(chunks.pages, chunks.page_bytes, chunks.repack)));
        ((setup.index_entries > 0).then(Box::default), packed)
    }

    /// Starts counting afresh.
    pub fn reset_counts(&mut self) {
        self.counters = ReduceCounters::default();
        if let Some(index) = &mut self.index {
            index.reset_counts();
        }
    }

    /// These are at work from now on, as far as there are tables for them.
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

    /// A logical page has no content that the index knows any more.
    #[inline(always)]
    pub(crate) fn drop_page(&mut self, lpn: Lpn) {
        if let Some(index) = &mut self.index {
            index.drop_owner(floatgate_base::Owner::page(lpn));
        }
    }

    /// The place of the chunk that gathers for a page.
    #[inline(always)]
    fn place(layout: &Layout, stream: floatgate_base::StreamId, domain: Option<DomainId>) -> usize {
        Frontier::slot(layout, stream, domain.unwrap_or(DomainId(0)))
    }
}
