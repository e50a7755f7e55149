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
pub use figures::{IndexFigures, ReduceFigures};
pub use index::IndexCounters;
pub(crate) use repack::{ChunksMoved, Repacking};
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

/// What was done since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReduceCounters {
    /// Host page writes.
    pub host_pages: u64,
    /// Of these, pages whose fingerprint was computed.
    pub hashed_pages: u64,
    /// Of these, pages whose content was there already.
    pub duplicate_pages: u64,
    /// Pages that were compressed.
    pub compressed_pages: u64,
    /// Of these, pages that the host wrote anew before their chunk was programmed.
    pub rewritten_pages: u64,
    /// Pages that left the controller in chunks, those without gain included, and the pages that they took.
    pub chunked_pages: u64,
    /// Pages that they took.
    pub chunk_pages: u64,
    /// Chunks that were programmed as such.
    pub chunks: u64,
    /// Chunks that saved nothing and were written plain.
    pub plain_chunks: u64,
    /// Chunks that were programmed before they were full.
    pub part_chunks: u64,
    /// Pages whose fingerprint was computed while deduplication was not at work, and those that were there already.
    pub sampled_hashed: u64,
    /// Those that were there already.
    pub sampled_duplicates: u64,
    /// Pages that were compressed while compression was not at work, in full chunks, and pages that these would have taken.
    pub sampled_chunked: u64,
    /// Pages that these would have taken.
    pub sampled_chunk_pages: u64,
    /// Pages that were decompressed for host reads.
    pub decompressed_pages: u64,
    /// Pages of chunks that jobs decompressed.
    pub unpacked_pages: u64,
    /// Of these, pages that were packed anew.
    pub repacked_pages: u64,
    /// Pages that they took then.
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

/// What is kept of samples from one page to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Samples {
    /// Runs over where a page of unknown content is looked at.
    unknown: u64,
    /// Runs over where a chunk is looked at.
    chunks: u64,
    /// Pages of the chunk that would gather, when its first came, whether it is looked at, and its bytes if so.
    slots: u32,
    since_ns: u64,
    is_sampled: bool,
    bytes: u32,
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
        Self {
            index: (setup.index_entries > 0).then(|| ContentIndex::new(setup.index_entries, logical_pages)),
            filling: vec![None; if setup.chunks.is_some() { slots } else { 0 }],
            schemes: setup.schemes,
            setup,
            now_ns: 0,
            samples: Samples::default(),
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
            (self.samples.slots, self.samples.bytes) = (0, 0);
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
