//! Report on deduplication and compression, and the choice of active schemes.

use super::{IndexCounters, ReduceCounters, Schemes};
use crate::ftl::Ftl;

/// Report on both schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReduceFigures {
    /// Counters of both schemes.
    pub counters: ReduceCounters,
    /// Report on the content index, if there is one.
    pub index: Option<IndexFigures>,
    /// Contents that several logical pages share now.
    pub shared_now: u64,
    /// Logical pages that have such content.
    pub referrers_now: u64,
    /// The most logical pages that ever shared one content.
    pub references_max: u32,
    /// Chunks on flash or gathering now.
    pub chunks_now: u64,
    /// Holes in chunks on flash now.
    pub holes: u64,
    /// Bytes of all tables.
    pub memory_bytes: u64,
}

/// Report on the content index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexFigures {
    /// Capacity in entries.
    pub entries: u64,
    /// Entries in use.
    pub used: u64,
    /// Bytes of its tables.
    pub bytes: u64,
    /// Counters of entries.
    pub counters: IndexCounters,
}

impl Ftl {
    /// Returns the report, if either scheme is on or the drive holds content of one.
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

    /// Verifies that the content index names the owners of the contents.
    pub(crate) fn audit_reduction(&self) -> Result<(), String> {
        let index = self.reduction.as_ref().and_then(|reduction| reduction.index.as_ref());
        index.map_or(Ok(()), |index| index.audit())
    }

    /// Returns the pages hashed, compressed and decompressed for the host so far.
    #[must_use]
    pub fn engine_pages(&self) -> [u64; 3] {
        self.reduction.as_ref().map_or([0; 3], |reduction| {
            let counters = &reduction.counters;
            [counters.hashed_pages, counters.compressed_pages, counters.decompressed_pages]
        })
    }

    /// Selects these schemes, as far as the drive was made for them.
    pub fn set_schemes(&mut self, schemes: Schemes) {
        if let Some(reduction) = &mut self.reduction {
            reduction.set_schemes(schemes);
        }
    }
}
