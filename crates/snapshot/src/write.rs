//! Writing.

use crate::error::refused;
use crate::words::{WORDS, shuffle};
use crate::{CHUNK, CONTAINER_VERSION, Kind, MAGIC, checksum, seal};
use floatgate_base::{Error, Place, Result};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use zstd::bulk::Compressor;

/// Compression level. Page numbers are nearly random; a higher level saves hardly anything.
const LEVEL: i32 = 1;

/// A snapshot being written. It holds a few chunks in memory, whatever the size of the stored state. One type for all
/// outputs: what serializes a whole drive is compiled once.
pub struct Writer<'a> {
    out: Box<dyn Write + 'a>,
    seal: blake3::Hasher,
    content: blake3::Hasher,
    packer: Compressor<'static>,
    /// The current section, its number of chunks, and its bytes that are not packed yet.
    name: &'static str,
    chunks: u64,
    plain: Vec<u8>,
    packed: Vec<u8>,
}

impl<'a> Writer<'a> {
    /// Begins a snapshot.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: impl Write + 'a, kind: Kind, state_version: u32) -> io::Result<Self> {
        let mut out: Box<dyn Write + 'a> = Box::new(out);
        out.write_all(&MAGIC)?;
        out.write_all(&CONTAINER_VERSION.to_le_bytes())?;
        out.write_all(&[kind.byte()])?;
        out.write_all(&state_version.to_le_bytes())?;
        Ok(Self {
            out,
            seal: seal(kind, state_version),
            content: blake3::Hasher::new(),
            packer: Compressor::new(LEVEL)?,
            name: "",
            chunks: 0,
            plain: Vec::with_capacity(CHUNK),
            packed: Vec::new(),
        })
    }

    fn begin(&mut self, name: &'static str) -> io::Result<()> {
        debug_assert!(!name.is_empty() && name.len() < 256);
        (self.name, self.chunks) = (name, 0);
        self.content.update(&[name.len() as u8]).update(name.as_bytes());
        self.out.write_all(&[name.len() as u8])?;
        self.out.write_all(name.as_bytes())
    }

    /// Packs the gathered bytes.
    fn chunk(&mut self) -> io::Result<()> {
        if self.plain.is_empty() {
            return Ok(());
        }
        self.packed.resize(zstd::zstd_safe::compress_bound(CHUNK), 0);
        let n = self.packer.compress_to_buffer(&self.plain, &mut self.packed[..])?;
        let (packed, plain) = (&self.packed[..n], self.plain.len() as u32);
        let sum = checksum(&self.seal, self.name, self.chunks, plain, packed);
        self.out.write_all(&(n as u32).to_le_bytes())?;
        self.out.write_all(&plain.to_le_bytes())?;
        self.out.write_all(&sum)?;
        self.out.write_all(packed)?;
        self.content.update(&self.plain);
        self.chunks += 1;
        self.plain.clear();
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.chunk()?;
        // Distinguishes sections with equal bytes but different boundaries.
        self.content.update(&self.chunks.to_le_bytes());
        self.out.write_all(&0u32.to_le_bytes())
    }

    /// Writes a section of any state that serde can serialize.
    ///
    /// # Errors
    /// Those of the file.
    pub fn state<T: Serialize>(&mut self, name: &'static str, value: &T) -> io::Result<()> {
        self.begin(name)?;
        postcard::to_io(value, Chunks(self)).map_err(io::Error::other)?;
        self.end()
    }

    /// Writes a section of words of four bytes.
    ///
    /// # Errors
    /// Those of the file.
    pub fn words(&mut self, name: &'static str, words: impl IntoIterator<Item = u32>) -> io::Result<()> {
        self.begin(name)?;
        let (mut words, mut part) = (words.into_iter(), Vec::with_capacity(WORDS));
        loop {
            part.extend(words.by_ref().take(WORDS));
            if part.is_empty() {
                return self.end();
            }
            shuffle(&part, &mut self.plain);
            self.chunk()?;
            part.clear();
        }
    }

    /// Writes a section of words of eight bytes.
    ///
    /// # Errors
    /// Those of the file.
    pub fn long_words(&mut self, name: &'static str, words: &[u64]) -> io::Result<()> {
        self.begin(name)?;
        for part in words.chunks(CHUNK / 8) {
            self.plain.extend(part.iter().flat_map(|word| word.to_le_bytes()));
            self.chunk()?;
        }
        self.end()
    }

    /// Ends the snapshot; returns the content hash.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(mut self) -> io::Result<blake3::Hash> {
        let hash = self.content.finalize();
        self.out.write_all(&[0])?;
        self.out.write_all(&checksum(&self.seal, "", 0, 0, hash.as_bytes()))?;
        self.out.write_all(hash.as_bytes())?;
        self.out.flush()?;
        Ok(hash)
    }
}

/// Gathers the bytes of a section into chunks.
struct Chunks<'a, 'b>(&'a mut Writer<'b>);

impl Write for Chunks<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(CHUNK - self.0.plain.len());
        self.0.plain.extend_from_slice(&bytes[..n]);
        if self.0.plain.len() == CHUNK {
            self.0.chunk()?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Removes the temporary file unless it was renamed to its final name.
struct Temporary(Option<PathBuf>);

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // No further remedy if even this fails.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Writes a snapshot to a temporary file beside `path` and renames it once it is complete; an interruption leaves the
/// old file untouched. Returns the content hash in hex.
///
/// # Errors
/// A folder that is missing or may not be written, a full disk.
pub fn replace_file(
    path: &Path,
    kind: Kind,
    state_version: u32,
    content: impl FnOnce(&mut Writer<'_>) -> io::Result<()>,
) -> Result<String> {
    let shown = path.to_string_lossy();
    let fail = |e: io::Error| refused(&shown, "the snapshot cannot be written", &e);
    if path.is_dir() {
        let place = Place::Path(shown.into());
        return Err(Error::input(place, "is a directory", "expected the name of a file to write"));
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    let part = path.with_file_name(name);
    let mut temporary = Temporary(None);
    let file = File::create(&part).map_err(fail)?;
    temporary.0 = Some(part.clone());
    let mut writer = Writer::new(BufWriter::new(file), kind, state_version).map_err(fail)?;
    content(&mut writer).map_err(fail)?;
    let hash = writer.finish().map_err(fail)?;
    std::fs::rename(&part, path).map_err(fail)?;
    temporary.0 = None;
    Ok(hash.to_hex().to_string())
}
