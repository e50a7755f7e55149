//! The parameters of a reducer as they were given.

use super::rows::{
    CHUNK_PAGES, CHUNK_TIMEOUT, COMPRESS_UJ, COMPRESS_US, DECOMPRESS_UJ, DECOMPRESS_US, HASH_UJ, HASH_US,
    INDEX_SHARE, PLAIN_CHUNKS, REPACK,
};
use super::rows::{EPOCH, EPOCHS, SAMPLE_SHARE};
use floatgate_base::{Given, ParamInfo};

/// What a unit of hardware takes for 4 KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Engine {
    /// Energy, microjoules.
    pub uj: f64,
    /// By how much its request is delayed, nanoseconds.
    pub delay_ns: u64,
}

impl Engine {
    /// What energy and delay are given for.
    const BYTES: u32 = 4096;

    /// What a page takes: in proportion to its bytes.
    #[must_use]
    pub fn of_page(self, page_bytes: u32) -> Self {
        Self {
            uj: self.uj * f64::from(page_bytes) / f64::from(Self::BYTES),
            delay_ns: self.delay_ns * u64::from(page_bytes) / u64::from(Self::BYTES),
        }
    }
}

/// Deduplication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dedup {
    /// Entries of the content index / logical pages.
    pub index_share: f64,
    /// What computes fingerprints.
    pub hash: Engine,
}

/// Compression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chunks {
    /// Pages of the map that a chunk compresses together.
    pub pages: u32,
    /// After how long one that is not full is programmed.
    pub timeout_ns: u64,
    /// Chunks that save nothing are written plain.
    pub plain: bool,
    /// Chunks that move are packed anew.
    pub repack: bool,
    /// What compresses.
    pub compress: Engine,
    /// What decompresses.
    pub decompress: Engine,
}

/// What the integrated manager goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integrated {
    /// Length of an epoch.
    pub epoch_ns: u64,
    /// Epochs that are remembered.
    pub epochs: u32,
    /// Share of the pages that is looked at for a scheme that is off.
    pub sample_share: f64,
}

/// Parameters of the reducers (`[lifetime.reduce]`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Params {
    /// Where duplicates are looked for.
    pub dedup: Option<Dedup>,
    /// Where pages are compressed.
    pub chunks: Option<Chunks>,
    /// Where both are chosen from epoch to epoch.
    pub integrated: Option<Integrated>,
}

impl Params {
    /// Those that are given.
    #[must_use]
    pub fn of(given: &Given) -> Self {
        let real = |param: &ParamInfo| given.find_real(param.name);
        let engine = |uj: &ParamInfo, us: &ParamInfo| {
            let delay_ns = (real(us)? * 1e3).round() as u64;
            Some(Engine { uj: real(uj)?, delay_ns })
        };
        let dedup = || Some(Dedup { index_share: real(&INDEX_SHARE)?, hash: engine(&HASH_UJ, &HASH_US)? });
        let chunks = || {
            Some(Chunks {
                pages: given.find_whole(CHUNK_PAGES.name)? as u32,
                timeout_ns: (real(&CHUNK_TIMEOUT)? * 1e6).round() as u64,
                plain: given.find_flag(PLAIN_CHUNKS.name)?,
                repack: given.find_flag(REPACK.name)?,
                compress: engine(&COMPRESS_UJ, &COMPRESS_US)?,
                decompress: engine(&DECOMPRESS_UJ, &DECOMPRESS_US)?,
            })
        };
        let integrated = || {
            Some(Integrated {
                epoch_ns: (real(&EPOCH)? * 1e9).round() as u64,
                epochs: given.find_whole(EPOCHS.name)? as u32,
                sample_share: real(&SAMPLE_SHARE)?,
            })
        };
        Self { dedup: dedup(), chunks: chunks(), integrated: integrated() }
    }
}
