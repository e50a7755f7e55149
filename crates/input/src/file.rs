//! Opens a file or standard input, decompresses it, and hashes the content as it is read.

use crate::ahead::Ahead;
use floatgate_base::{Error, Place, Result};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The path of standard input.
pub const STDIN: &str = "-";

/// Compressed bytes per read.
const RAW_CHUNK: usize = 128 << 10;

/// The compression of a file, detected from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Xz,
    Zstd,
    Bzip2,
}

impl Compression {
    /// Detects the compression; unsupported ones are rejected by name.
    fn of(head: &[u8]) -> std::result::Result<Self, &'static str> {
        match head {
            [0x1f, 0x8b, ..] => Ok(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Ok(Self::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Ok(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Ok(Self::Bzip2),
            [b'P', b'K', 3, 4, ..] => Err("is a zip archive"),
            [b'7', b'z', 0xbc, 0xaf, ..] => Err("is a 7z archive"),
            [0x04, 0x22, 0x4d, 0x18, ..] => Err("is packed with lz4"),
            _ => Ok(Self::None),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
        }
    }
}

/// Counts the bytes read from the file, for the position in error messages.
struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.taken.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// The decompressed bytes of a file.
pub struct Input {
    name: String,
    /// The expected kind of file, for messages.
    what: &'static str,
    reader: Box<dyn Read + Send>,
    compression: Compression,
    taken: Arc<AtomicU64>,
    delivered: u64,
    /// Bytes read ahead to detect the format, still to be delivered.
    head: Vec<u8>,
    /// Present during the first pass only: the content does not change later.
    hasher: Option<blake3::Hasher>,
    hash: Option<String>,
    reopens: bool,
    /// Bytes of the pieces in which another thread decompresses ahead, if one does.
    ahead: Option<usize>,
    /// Opens the content if it is more than one file.
    files: Option<Opener>,
}

/// Opens several files as one stream; receives the name and the expected kind of file.
pub type Opener = fn(&str, &'static str) -> Result<Box<dyn Read + Send>>;

impl Input {
    /// Opens the file `path`, or standard input for `-`; `what` names the expected kind of file in messages, such as
    /// "trace".
    ///
    /// # Errors
    /// A missing file, a directory, an unsupported compression.
    pub fn open(path: &str, what: &'static str) -> Result<Self> {
        let (raw, reopens) = open_raw(path, what)?;
        Self::over(path, what, raw, reopens)
    }

    /// Opens several files as one content.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn of_files(name: &str, what: &'static str, open: Opener) -> Result<Self> {
        let input = Self::over(name, what, open(name, what)?, true)?;
        Ok(Self { files: Some(open), ..input })
    }

    /// Creates an input from any stream; it cannot be read twice.
    ///
    /// # Errors
    /// As for [`Input::open`].
    pub fn from_stream(name: &str, what: &'static str, raw: Box<dyn Read + Send>) -> Result<Self> {
        Self::over(name, what, raw, false)
    }

    fn over(name: &str, what: &'static str, raw: Box<dyn Read + Send>, reopens: bool) -> Result<Self> {
        let (reader, compression, taken) = unpack(name, what, raw)?;
        let hasher = Some(blake3::Hasher::new());
        Ok(Self {
            name: name.into(),
            what,
            reader,
            compression,
            taken,
            delivered: 0,
            head: Vec::new(),
            hasher,
            hash: None,
            reopens,
            ahead: None,
            files: None,
        })
    }

    /// Decompresses a file ahead in another thread, also after [`Input::rewind`], in pieces of `chunk` bytes.
    ///
    /// To be called before anything is read. Content, errors and their places stay the same where `chunk` bytes are read
    /// at a time.
    pub fn decompress_ahead(&mut self, chunk: usize) {
        self.ahead = self.reopens.then_some(chunk);
        self.start_ahead();
    }

    fn start_ahead(&mut self) {
        if let Some(chunk) = self.ahead.filter(|_| self.compression != Compression::None) {
            let stream = std::mem::replace(&mut self.reader, Box::new(std::io::empty()));
            self.reader = Ahead::of(stream, chunk);
        }
    }

    /// Opens the same content again.
    ///
    /// # Errors
    /// As for [`Input::open`].
    pub fn again(&self) -> Result<Self> {
        match self.files {
            Some(open) => Self::of_files(&self.name, self.what, open),
            None => Self::open(&self.name, self.what),
        }
    }

    /// Returns the name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of bytes read from the file so far, before decompression.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns the BLAKE3 hash of the whole content in hex, once it has been read to its end.
    pub fn hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }

    /// Returns whether the content can be read again.
    pub fn reopens(&self) -> bool {
        self.reopens
    }

    /// Returns whether the file itself holds the uncompressed content.
    pub fn is_plain_file(&self) -> bool {
        self.reopens && self.files.is_none() && self.compression == Compression::None
    }

    /// Copies the remaining content to a temporary file, for readers with random access.
    pub fn copy_to_file(&mut self) -> Result<tempfile::NamedTempFile> {
        let name = self.name.clone();
        let failed = |e: std::io::Error| {
            Error::run(
                format!("{name}: cannot be copied to a temporary file: {e}"),
                "make room, or set TMPDIR",
            )
        };
        let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
        let mut piece = vec![0; 1 << 20];
        loop {
            let n = self.read_full(&mut piece)?;
            file.write_all(&piece[..n]).map_err(failed)?;
            if n < piece.len() {
                file.flush().map_err(failed)?;
                return Ok(file);
            }
        }
    }

    /// Restarts at the first byte.
    pub fn rewind(&mut self) -> Result<()> {
        if !self.reopens {
            return Err(Error::input(
                Place::Path(self.name.clone()),
                "a pipe can be read only once",
                format!("save the {} to a file", self.what),
            ));
        }
        let raw = match self.files {
            Some(open) => open(&self.name, self.what)?,
            None => open_raw(&self.name, self.what)?.0,
        };
        (self.reader, self.compression, self.taken) = unpack(&self.name, self.what, raw)?;
        self.start_ahead();
        self.delivered = 0;
        self.head.clear();
        self.hasher = self.hash.is_none().then(blake3::Hasher::new);
        Ok(())
    }

    /// Returns the first `n` bytes, fewer only if the content is shorter, without consuming them.
    pub fn peek(&mut self, n: usize) -> Result<&[u8]> {
        let have = self.head.len();
        if have < n {
            let mut head = std::mem::take(&mut self.head);
            head.resize(n, 0);
            let have = self.read(&mut head, have)?;
            head.truncate(have);
            self.head = head;
        }
        Ok(&self.head)
    }

    /// Fills `buf`; returns fewer bytes only at the end of the content.
    pub fn read_full(&mut self, buf: &mut [u8]) -> Result<usize> {
        let ahead = self.head.len().min(buf.len());
        buf[..ahead].copy_from_slice(&self.head[..ahead]);
        self.head.drain(..ahead);
        let n = self.read(buf, ahead)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buf[..n]);
            if n < buf.len() {
                self.hash = Some(hasher.finalize().to_hex().to_string());
                self.hasher = None;
            }
        }
        self.delivered += n as u64;
        Ok(n)
    }

    /// Reads until `buf`, which holds `n` bytes, is full or the content ends.
    fn read(&mut self, buf: &mut [u8], mut n: usize) -> Result<usize> {
        while n < buf.len() {
            match self.reader.read(&mut buf[n..]) {
                Ok(0) => break,
                Ok(more) => n += more,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(self.failure(&e, n)),
            }
        }
        Ok(n)
    }

    /// Describes an error of reading or decompressing.
    #[cold]
    fn failure(&self, e: &std::io::Error, fresh: usize) -> Box<Error> {
        let byte = self.taken.load(Ordering::Relaxed);
        let place = Place::Byte { path: self.name.clone(), byte };
        let name = self.compression.name();
        let delivered = self.delivered + fresh as u64;
        if self.compression == Compression::None || e.raw_os_error().is_some() {
            return Error::input(place, format!("cannot be read: {e}"), "");
        }
        // Decompressors report a missing end in different ways, but all of them have read to the end of the file by
        // then.
        if matches!(e.kind(), ErrorKind::UnexpectedEof) {
            return Error::input(
                place,
                format!("the {name} stream is cut short after {delivered} decompressed bytes"),
                format!("expected a complete {name} file"),
            );
        }
        Error::input(
            place,
            format!("the {name} stream is damaged after {delivered} decompressed bytes ({e})"),
            format!("expected an intact {name} file"),
        )
    }
}

/// Opens the file and returns whether it can be opened again.
fn open_raw(path: &str, what: &'static str) -> Result<(Box<dyn Read + Send>, bool)> {
    if path == STDIN {
        return Ok((Box::new(std::io::stdin()), false));
    }
    let expected = format!("expected a {what} file");
    let refuse = |fault: String| Error::input(Place::Path(path.into()), fault, expected.clone());
    let failed = |e: std::io::Error| match e.kind() {
        ErrorKind::NotFound => refuse("no such file".into()),
        _ => refuse(format!("cannot be opened ({e})")),
    };
    let meta = std::fs::metadata(path).map_err(failed)?;
    if meta.is_dir() {
        return Err(refuse("is a directory".into()));
    }
    let file = File::open(path).map_err(failed)?;
    Ok((Box::new(file), meta.is_file()))
}

type Unpacked = (Box<dyn Read + Send>, Compression, Arc<AtomicU64>);

/// Detects the compression and starts the decompressor.
fn unpack(name: &str, what: &'static str, raw: Box<dyn Read + Send>) -> Result<Unpacked> {
    let taken = Arc::new(AtomicU64::new(0));
    let mut raw = Counted { inner: raw, taken: taken.clone() };
    let mut head = Vec::with_capacity(6);
    let place = || Place::Path(name.into());
    raw.by_ref().take(6).read_to_end(&mut head).map_err(|e| {
        Error::input(place(), format!("cannot be read ({e})"), format!("expected a {what} file"))
    })?;
    let compression = Compression::of(&head).map_err(|what| {
        Error::input(place(), what, "expected plain text or gz, xz, zst, bz2 (unpack it first)")
    })?;
    let raw = std::io::Cursor::new(head).chain(raw);
    let buffered = |raw| BufReader::with_capacity(RAW_CHUNK, raw);
    let reader: Box<dyn Read + Send> = match compression {
        Compression::None => Box::new(raw),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(raw))),
        Compression::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(buffered(raw))),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(raw))),
        Compression::Zstd => {
            let decoder = zstd::stream::read::Decoder::with_buffer(buffered(raw)).and_then(|mut d| {
                // Some traces are compressed with windows of up to 2 GiB.
                d.window_log_max(31)?;
                Ok(d)
            });
            Box::new(decoder.map_err(|e| Error::input(place(), format!("zstd cannot start ({e})"), ""))?)
        }
    };
    Ok((reader, compression, taken))
}
