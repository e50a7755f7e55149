//! What deduplication and compression in a drive would save on a user's files.
//!
//! [`measure`] goes through files in pages of 4 KiB, as a file system stores them, and counts: contents that were
//! written before (bytes are compared, a fingerprint alone decides nothing), compressed sizes of pages, flash pages that
//! chunks of pages take, and how far an index has to look back to find a duplicate. The crate knows files and bytes; it
//! knows nothing of drives and traces.

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

/// Bytes of the pages in which files are looked at.
pub const PAGE_BYTES: usize = 4096;

/// Called now and then with the bytes done, those to do, and what is being done; an error ends the work.
pub type Watch<'a> = dyn FnMut(u64, Option<u64>, &str) -> floatgate_base::Result<()> + 'a;
