//! The configured parameters of a reducer.

use super::rows::{
    CHUNK_PAGES, CHUNK_TIMEOUT, COMPRESS_UJ, COMPRESS_US, DECOMPRESS_UJ, DECOMPRESS_US, HASH_UJ, HASH_US,
    INDEX_SHARE, PLAIN_CHUNKS, REPACK,
};
use super::rows::{EPOCH, EPOCHS, SAMPLE_SHARE};
use floatgate_base::{ChosenPolicy, ParamInfo};

/// Cost of a hardware unit per 4 KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Engine {
    /// Energy, microjoules.
    pub uj: f64,
    /// Delay of its request, nanoseconds.
    pub delay_ns: u64,
}

impl Engine {
    /// Bytes to which energy and delay refer.
    const BYTES: u32 = 4096;

    /// Returns the cost of a page, in proportion to its bytes.
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
    /// The fingerprint unit.
    pub hash: Engine,
}

/// Compression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chunks {
    /// Pages of the map that a chunk compresses together.
    pub pages: u32,
    /// Time after which an incomplete chunk is programmed.
    pub timeout_ns: u64,
    /// Whether chunks that save nothing are written uncompressed.
    pub plain: bool,
    /// Whether moved chunks are repacked.
    pub repack: bool,
    /// The compressor.
    pub compress: Engine,
    /// The decompressor.
    pub decompress: Engine,
}

/// Parameters of the integrated manager.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integrated {
    /// Length of an epoch.
    pub epoch_ns: u64,
    /// Epochs remembered.
    pub epochs: u32,
    /// Share of the pages sampled for an inactive scheme.
    pub sample_share: f64,
}

/// Parameters of the reducers (`[lifetime.reduce]`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Params {
    /// Deduplication, if enabled.
    pub dedup: Option<Dedup>,
    /// Compression, if enabled.
    pub chunks: Option<Chunks>,
    /// The integrated manager, if it chooses both per epoch.
    pub integrated: Option<Integrated>,
}

impl Params {
    /// Returns the configured parameters.
    #[must_use]
    pub fn of(settings: &ChosenPolicy) -> Self {
        let real = |param: &ParamInfo| settings.find_real(param.name);
        let engine = |uj: &ParamInfo, us: &ParamInfo| {
            let delay_ns = (real(us)? * 1e3).round() as u64;
            Some(Engine { uj: real(uj)?, delay_ns })
        };
        let dedup = || Some(Dedup { index_share: real(&INDEX_SHARE)?, hash: engine(&HASH_UJ, &HASH_US)? });
        let chunks = || {
            Some(Chunks {
                pages: settings.find_whole(CHUNK_PAGES.name)? as u32,
                timeout_ns: (real(&CHUNK_TIMEOUT)? * 1e6).round() as u64,
                plain: settings.find_flag(PLAIN_CHUNKS.name)?,
                repack: settings.find_flag(REPACK.name)?,
                compress: engine(&COMPRESS_UJ, &COMPRESS_US)?,
                decompress: engine(&DECOMPRESS_UJ, &DECOMPRESS_US)?,
            })
        };
        let integrated = || {
            Some(Integrated {
                epoch_ns: (real(&EPOCH)? * 1e9).round() as u64,
                epochs: settings.find_whole(EPOCHS.name)? as u32,
                sample_share: real(&SAMPLE_SHARE)?,
            })
        };
        Self { dedup: dedup(), chunks: chunks(), integrated: integrated() }
    }
}
