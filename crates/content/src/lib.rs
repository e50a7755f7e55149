//! Estimates how much deduplication and compression in a drive would save on a user's files.
//!
//! [`measure`] reads files in pages of 4 KiB, as a file system stores them. It measures how many pages
//! are duplicates, the compressed size of each page, the flash pages that chunks (several pages compressed together) take,
//! and how large an index must be to detect duplicates.
//! Duplicates are confirmed by comparing bytes; a fingerprint alone decides nothing.
//!
//! The crate depends on files and bytes only, not on drives and traces.

mod chunks;
mod codec;
mod distances;
mod figures;
mod files;
mod fingerprint;
mod index;
mod lru_stack;
mod measure;
mod settings;

pub use codec::{CODECS, Codecs, lz4_bytes};
pub use figures::{
    ChunkFigures, CodecFigures, Collisions, DistanceFigures, Distances, Figures, IndexFigures, Joint,
    Skipped, Unreadable, Written,
};
pub use fingerprint::{Fingerprints, fingerprint};
pub use measure::{FilePages, Measured, measure};
pub use settings::{CHUNK_PAGES_MAX, Settings};

/// Bytes per page of a file.
pub const PAGE_BYTES: usize = 4096;

/// Progress callback: the bytes done, the bytes to do, and the current item; an error ends the work.
pub type Watch<'a> = dyn FnMut(u64, Option<u64>, &str) -> floatgate_base::Result<()> + 'a;
