//! Reading. Any input yields a value or an error. Memory grows with the bytes that arrive; a length in the file
//! reserves nothing.

use crate::error::{damaged, refused, unfit};
use crate::words::{WORDS, unshuffle};
use crate::{CHUNK, CONTAINER_VERSION, Kind, MAGIC, checksum, seal};
use floatgate_base::Result;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;
use zstd::bulk::Decompressor;

/// A snapshot being read, section by section in the order in which they were written. One type for all inputs, as the
/// writer.
pub struct Reader<'a> {
    path: String,
    input: Box<dyn Read + 'a>,
    /// Bytes read so far, for messages.
    at: u64,
    seal: blake3::Hasher,
    content: blake3::Hasher,
    unpacker: Decompressor<'static>,
    name: &'static str,
    chunks: u64,
    packed: Vec<u8>,
    plain: Vec<u8>,
}

impl<'a> Reader<'a> {
    /// Opens a file.
    ///
    /// # Errors
    /// No such file, a directory, and as [`Reader::new`].
    pub fn open(path: &str, kind: Kind, state_version: u32) -> Result<Self> {
        if Path::new(path).is_dir() {
            return Err(unfit(path, "is a directory", format!("expected a snapshot of {}", kind.name())));
        }
        let file = File::open(path).map_err(|e| match e.kind() {
            ErrorKind::NotFound => {
                unfit(path, "no such file", format!("expected a snapshot of {}", kind.name()))
            }
            _ => refused(path, "the snapshot cannot be read", &e),
        })?;
        Self::new(path, BufReader::new(file), kind, state_version)
    }

    /// Begins to read; messages name the file `path`.
    ///
    /// # Errors
    /// The input is not a snapshot, or has another version or kind.
    pub fn new(path: &str, input: impl Read + 'a, kind: Kind, state_version: u32) -> Result<Self> {
        let unpacker = Decompressor::new().map_err(|e| refused(path, "the snapshot cannot be read", &e))?;
        let mut reader = Self {
            path: path.into(),
            input: Box::new(input),
            at: 0,
            seal: seal(kind, state_version),
            content: blake3::Hasher::new(),
            unpacker,
            name: "",
            chunks: 0,
            packed: Vec::new(),
            plain: Vec::with_capacity(CHUNK),
        };
        let mut magic = [0; MAGIC.len()];
        // A file too short for a header is not a snapshot, rather than a damaged one.
        if reader.fill(&mut magic).is_err() || magic != MAGIC {
            let expected = format!("expected {}", kind.name());
            return Err(unfit(path, "is not a snapshot of floatgate", expected));
        }
        let version = u16::from_le_bytes(reader.array()?);
        let [kind_byte] = reader.array()?;
        let state = u32::from_le_bytes(reader.array()?);
        // Each kind has its own versions.
        if version == CONTAINER_VERSION && kind_byte != kind.byte() {
            return Err(match Kind::of(kind_byte) {
                Some(other) => {
                    unfit(path, format!("holds {}", other.name()), format!("expected {}", kind.name()))
                }
                None => damaged(path, 10, "the snapshot is damaged: it does not say what it holds"),
            });
        }
        if version != CONTAINER_VERSION || state != state_version {
            let what = format!("is a snapshot of version {version}.{state}");
            let expected = format!(
                "expected version {CONTAINER_VERSION}.{state_version}, which this floatgate writes; write it again, or \
                 use the floatgate that wrote it"
            );
            return Err(unfit(path, what, expected));
        }
        Ok(reader)
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns an error at the current position.
    fn damage(&self, what: &str) -> Box<floatgate_base::Error> {
        damaged(&self.path, self.at, format!("the snapshot is damaged: {what}"))
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        match self.input.read_exact(bytes) {
            Ok(()) => {
                self.at += bytes.len() as u64;
                Ok(())
            }
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Err(self.cut()),
            Err(e) => Err(refused(&self.path, "the snapshot cannot be read", &e)),
        }
    }

    fn cut(&self) -> Box<floatgate_base::Error> {
        damaged(&self.path, self.at, "the snapshot is cut off")
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn begin(&mut self, name: &'static str) -> Result<()> {
        let [length] = self.array()?;
        let mut stored = [0; 255];
        self.fill(&mut stored[..usize::from(length)])?;
        if &stored[..usize::from(length)] != name.as_bytes() {
            return Err(self.damage(&format!("section '{name}' is missing")));
        }
        (self.name, self.chunks) = (name, 0);
        self.content.update(&[length]).update(name.as_bytes());
        Ok(())
    }

    /// Reads the next chunk into `plain`; false at the end of the section.
    fn chunk(&mut self) -> Result<bool> {
        self.plain.clear();
        let packed = u32::from_le_bytes(self.array()?) as usize;
        if packed == 0 {
            self.content.update(&self.chunks.to_le_bytes());
            return Ok(false);
        }
        let plain = u32::from_le_bytes(self.array()?);
        let sum: [u8; 8] = self.array()?;
        if plain as usize > CHUNK || plain == 0 || packed > zstd::zstd_safe::compress_bound(CHUNK) {
            return Err(self.damage("a chunk has an impossible length"));
        }
        self.packed.resize(packed, 0);
        let mut bytes = std::mem::take(&mut self.packed);
        let filled = self.fill(&mut bytes);
        self.packed = bytes;
        filled?;
        if checksum(&self.seal, self.name, self.chunks, plain, &self.packed) != sum {
            return Err(self.damage("the checksum does not match"));
        }
        self.plain.resize(plain as usize, 0);
        match self.unpacker.decompress_to_buffer(&self.packed, &mut self.plain[..]) {
            Ok(n) if n == plain as usize => {}
            _ => return Err(self.damage("a chunk cannot be decompressed")),
        }
        self.content.update(&self.plain);
        self.chunks += 1;
        Ok(true)
    }

    /// Reads a section of state.
    ///
    /// # Errors
    /// A damaged or cut file, another section in its place.
    pub fn state<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<T> {
        self.begin(name)?;
        let mut bytes = Vec::new();
        while self.chunk()? {
            bytes.extend_from_slice(&self.plain);
        }
        match postcard::take_from_bytes(&bytes) {
            Ok((value, [])) => Ok(value),
            _ => Err(self.damage(&format!("section '{name}' does not hold what it should"))),
        }
    }

    /// Reads a section of words of four bytes into `words`, which it must fill.
    ///
    /// # Errors
    /// As [`Reader::state`], and another number of words.
    pub fn words(&mut self, name: &'static str, words: &mut [u32]) -> Result<()> {
        self.begin(name)?;
        for part in words.chunks_mut(WORDS) {
            if !self.chunk()? || self.plain.len() != 4 * part.len() {
                return Err(self.damage(&format!("section '{name}' has another length")));
            }
            unshuffle(&self.plain, part);
        }
        self.no_more(name)
    }

    /// Reads a section of words of eight bytes into `words`, which it must fill.
    ///
    /// # Errors
    /// As [`Reader::words`].
    pub fn long_words(&mut self, name: &'static str, words: &mut [u64]) -> Result<()> {
        self.begin(name)?;
        for part in words.chunks_mut(CHUNK / 8) {
            if !self.chunk()? || self.plain.len() != 8 * part.len() {
                return Err(self.damage(&format!("section '{name}' has another length")));
            }
            for (word, bytes) in part.iter_mut().zip(self.plain.chunks_exact(8)) {
                *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            }
        }
        self.no_more(name)
    }

    fn no_more(&mut self, name: &str) -> Result<()> {
        match self.chunk()? {
            true => Err(self.damage(&format!("section '{name}' has another length"))),
            false => Ok(()),
        }
    }

    /// Reads the end; returns the content hash in hex.
    ///
    /// # Errors
    /// A damaged or cut file, or bytes after its end.
    pub fn finish(mut self) -> Result<String> {
        let [mark] = self.array()?;
        let sum: [u8; 8] = self.array()?;
        let hash: [u8; 32] = self.array()?;
        let sound = mark == 0 && sum == checksum(&self.seal, "", 0, 0, &hash);
        if !sound || *self.content.finalize().as_bytes() != hash {
            return Err(self.damage("the checksum of the whole does not match"));
        }
        match self.input.read(&mut [0]) {
            Ok(0) => Ok(blake3::Hash::from_bytes(hash).to_hex().to_string()),
            _ => Err(self.damage("something follows its end")),
        }
    }
}
