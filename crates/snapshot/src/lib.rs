//! The file that holds a drive or a whole run: named sections, each in compressed chunks with checksums.
//!
//! ```text
//! file    = magic (8 bytes), container version (u16), kind (1 byte), state version (u32), section*, 0 (u8), end
//! section = length of the name (u8, not 0), name, chunk*, 0 (u32)
//! chunk   = packed bytes (u32), plain bytes (u32), checksum (8 bytes), packed with zstd
//! end     = checksum (8 bytes), content hash (32 bytes)
//! ```
//! Numbers are little-endian. A chunk's checksum covers the kind, both versions, the name of its section, its number in
//! the section and its packed bytes: a swapped, cut or changed chunk is detected. The content hash is over the plain
//! bytes and does not depend on the compression.
//!
//! Must not know: the meaning of the stored state.

mod error;
mod read;
mod words;
mod write;

pub use error::{damaged, unfit};
pub use read::Reader;
pub use write::{Writer, replace_file};

/// First bytes of every snapshot. They are not text, and a conversion of line ends damages them.
pub const MAGIC: [u8; 8] = *b"\x89FGS\r\n\x1a\n";
/// Version of the container described above.
pub const CONTAINER_VERSION: u16 = 1;
/// Maximum of plain bytes per chunk.
const CHUNK: usize = 1 << 20;

/// The content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A drive, to start runs from.
    Drive,
    /// A run that was interrupted.
    Run,
    /// A live drive.
    Live,
}

impl Kind {
    fn byte(self) -> u8 {
        match self {
            Self::Drive => b'd',
            Self::Run => b'r',
            Self::Live => b'l',
        }
    }

    fn of(byte: u8) -> Option<Self> {
        [Self::Drive, Self::Run, Self::Live].into_iter().find(|kind| kind.byte() == byte)
    }

    /// Returns the kind's name for messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Drive => "a drive (--save-drive)",
            Self::Run => "an interrupted run (run.snapshot)",
            Self::Live => "a live drive (drive.snapshot)",
        }
    }
}

/// Begins a checksum with the fields that all checksums share.
fn seal(kind: Kind, state_version: u32) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(&CONTAINER_VERSION.to_le_bytes())
        .update(&[kind.byte()])
        .update(&state_version.to_le_bytes());
    hasher
}

/// Returns the checksum of a chunk of a section, or of the end (an empty name).
fn checksum(seal: &blake3::Hasher, name: &str, number: u64, plain: u32, packed: &[u8]) -> [u8; 8] {
    let mut hasher = seal.clone();
    hasher.update(name.as_bytes()).update(&number.to_le_bytes()).update(&plain.to_le_bytes()).update(packed);
    let mut out = [0; 8];
    out.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    out
}

#[cfg(test)]
mod tests;
