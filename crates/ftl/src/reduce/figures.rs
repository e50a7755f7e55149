//! What deduplication and compression did, and what the drive may be told of both.

use super::{IndexCounters, ReduceCounters, Schemes};
use crate::ftl::Ftl;

/// Figures of both schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReduceFigures {
    /// What was done.
    pub counters: ReduceCounters,
    /// What became of index entries, where there is an index.
    pub index: Option<IndexFigures>,
    /// Contents that several logical pages have now, and those logical pages.
    pub shared_now: u64,
    /// Logical pages that have such content.
    pub referrers_now: u64,
    /// The most logical pages that one content ever had.
    pub references_max: u32,
    /// Chunks on flash or gathering now.
    pub chunks_now: u64,
    /// Holes in chunks on flash now.
    pub holes: u64,
    /// Bytes of all tables.
    pub memory_bytes: u64,
}

/// Figures of the content index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexFigures {
    /// Entries that there is room for.
    pub entries: u64,
    /// Entries in use.
    pub used: u64,
    /// Bytes of its tables.
    pub bytes: u64,
    /// What became of entries.
    pub counters: IndexCounters,
}

impl Ftl {
    /// What deduplication and compression did, where there is either, or content of either on the drive.
    #[must_use]
    pub fn reduced(&self) -> Option<ReduceFigures> {
        let (shared, packed) = (self.mapping.shared(), self.mapping.packed());
        let reduction = self.reduction.as_deref();
        if reduction.is_none() && shared.is_none() && packed.is_none() {
            return None;
        }
        let (shared_now, referrers_now, references_max) = shared.map_or((0, 0, 0), |shared| shared.counts());
        let (chunks_now, holes) = packed.map_or((0, 0), |packed| packed.counts());
        let index = reduction.and_then(|reduction| reduction.index.as_ref()).map(|index| {
            let (entries, used) = index.sizes();
            IndexFigures { entries, used, bytes: index.memory_bytes(), counters: index.counters }
        });
        let tables = shared.map_or(0, |shared| shared.memory_bytes())
            + packed.map_or(0, |packed| packed.memory_bytes());
        Some(ReduceFigures {
            counters: reduction.map(|reduction| reduction.counters).unwrap_or_default(),
            index,
            shared_now,
            referrers_now,
            references_max,
            chunks_now,
            holes,
            memory_bytes: tables + index.map_or(0, |index| index.bytes),
        })
    }

    /// Checks that the content index names those who have the contents.
    pub(crate) fn audit_reduction(&self) -> Result<(), String> {
        let index = self.reduction.as_ref().and_then(|reduction| reduction.index.as_ref());
        index.map_or(Ok(()), |index| index.audit())
    }

    /// Pages hashed, compressed and decompressed for the host so far.
    #[must_use]
    pub fn engine_pages(&self) -> [u64; 3] {
        self.reduction.as_ref().map_or([0; 3], |reduction| {
            let counters = &reduction.counters;
            [counters.hashed_pages, counters.compressed_pages, counters.decompressed_pages]
        })
    }

    /// From now on these schemes are at work, of those that the drive was made for.
    pub fn set_schemes(&mut self, schemes: Schemes) {
        if let Some(reduction) = &mut self.reduction {
            reduction.set_schemes(schemes);
        }
    }
}
