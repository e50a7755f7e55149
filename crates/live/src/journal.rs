//! The journal of a live drive: every request in the order in which the drive took it, in a file that is a trace.
//!
//! A full part is renamed and packed; the drive saves its state then, so what follows its last state lies in the current
//! part. With a limit on all bytes the oldest parts are dropped.

use floatgate_base::{Error, Place, Result};
use floatgate_trace::formats::live::{Entry, HEADER_BYTES, Header, RECORD_BYTES};
use floatgate_trace::formats::live_parts;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Records of a part.
pub const PART_RECORDS: u64 = 1 << 23;
const BUFFER_BYTES: usize = 1 << 16;
const PACK_LEVEL: i32 = 3;

/// Limits of a journal.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Records per part.
    pub part_records: u64,
    /// Bytes of all parts, beyond which the oldest are dropped.
    pub bytes_max: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { part_records: PART_RECORDS, bytes_max: None }
    }
}

/// Position in a journal: the number of records before it, and the check of the last of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Position {
    /// Records before this position.
    pub records: u64,
    /// Check of the last one.
    pub check: u64,
}

/// A journal that is being written.
pub struct Journal {
    path: PathBuf,
    out: BufWriter<File>,
    header: Header,
    at: Position,
    limits: Limits,
}

impl Journal {
    /// Begins a journal.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn create(path: &Path, began_ns: u64, drive_bytes: u64, limits: Limits) -> Result<Self> {
        let header = Header { first: 0, check: 0, began_ns, drive_bytes };
        let out = begin(path, &header).map_err(|e| failed(path, "cannot be created", &e))?;
        Ok(Self { path: path.into(), out, header, at: Position::default(), limits })
    }

    /// Opens a journal to continue it; `each` takes its entries from `from` on. A record that is cut short or damaged
    /// ends it, with all after it: the drive was killed while it wrote.
    ///
    /// # Errors
    /// The file cannot be read or written, is no journal, or lacks the position `from`; errors of `each`.
    pub fn open(
        path: &Path,
        from: Position,
        limits: Limits,
        each: &mut dyn FnMut(Entry) -> Result<()>,
    ) -> Result<Self> {
        let name = path.to_string_lossy().into_owned();
        let unreadable = |e: &io::Error| failed(path, "cannot be read", e);
        let (header, bytes) = read_part(path).map_err(|e| unreadable(&e))?.ok_or_else(|| {
            let expected = "expected the journal of a live drive of this version of floatgate";
            Error::input(Place::Path(name.clone()), "is no journal", expected)
        })?;
        let mut at = Position { records: header.first, check: header.check };
        if from.records < header.first {
            // Only without a state of the drive: it is saved whenever a part begins.
            at = pass_earlier(path, &header, from, each)?;
        }
        let mut has_passed = from.records < header.first || at == from;
        let mut good = HEADER_BYTES;
        for record in bytes[HEADER_BYTES..].as_chunks::<RECORD_BYTES>().0 {
            let Some((entry, check)) = Entry::decode(record, at.check) else { break };
            at = Position { records: at.records + 1, check };
            good += RECORD_BYTES;
            if has_passed {
                each(entry)?;
            }
            has_passed = has_passed || at == from;
        }
        if !has_passed {
            let what =
                format!("ends with record {}, before the state of the drive ({})", at.records, from.records);
            return Err(Error::input(
                Place::Path(name),
                what,
                "expected the journal that belongs to the drive",
            ));
        }
        let file = reopen(path, good as u64).map_err(|e| failed(path, "cannot be written", &e))?;
        Ok(Self { path: path.into(), out: BufWriter::with_capacity(BUFFER_BYTES, file), header, at, limits })
    }

    /// Returns the position behind the last record.
    #[must_use]
    pub fn position(&self) -> Position {
        self.at
    }

    /// Returns the header of the current part.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// The file cannot be written; the entry does not count then.
    #[inline]
    pub fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let (record, check) = entry.encode(self.at.check);
        self.out.write_all(&record)?;
        self.at = Position { records: self.at.records + 1, check };
        Ok(())
    }

    /// Returns whether the current part is full, and [`Journal::rotate`] is due.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.at.records - self.header.first >= self.limits.part_records
    }

    /// Hands all records to the operating system.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Hands all records to the disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn sync(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_data()
    }

    /// Begins the next part, packs the last one, and drops the oldest ones beyond the limit.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn rotate(&mut self) -> io::Result<()> {
        self.sync()?;
        let name = self.path.to_string_lossy().into_owned();
        let number = live_parts::earlier(&name).last().and_then(|last| number_of(last)).unwrap_or(0) + 1;
        let done = PathBuf::from(format!("{name}.{number:06}"));
        fs::rename(&self.path, &done)?;
        self.header = Header { first: self.at.records, check: self.at.check, ..self.header };
        self.out = begin(&self.path, &self.header)?;
        pack(&done)?;
        self.drop_oldest(&name)
    }

    fn drop_oldest(&self, name: &str) -> io::Result<()> {
        let Some(bytes_max) = self.limits.bytes_max else { return Ok(()) };
        let parts = live_parts::earlier(name);
        let sizes: Vec<u64> =
            parts.iter().map(|part| fs::metadata(part).map_or(0, |data| data.len())).collect();
        let mut bytes: u64 = sizes.iter().sum();
        for (part, size) in parts.iter().zip(sizes) {
            if bytes <= bytes_max {
                break;
            }
            fs::remove_file(part)?;
            bytes -= size;
        }
        Ok(())
    }
}

fn failed(path: &Path, what: &str, error: &io::Error) -> Box<Error> {
    let place = Place::Path(path.to_string_lossy().into_owned());
    Error::input(place, format!("{what}: {error}"), "expected a folder of its own with free space")
}

fn begin(path: &Path, header: &Header) -> io::Result<BufWriter<File>> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(&header.encode())?;
    Ok(BufWriter::with_capacity(BUFFER_BYTES, file))
}

fn reopen(path: &Path, bytes: u64) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.set_len(bytes)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// Reads the current part, which is never packed, with its header; none if it is no journal.
fn read_part(path: &Path) -> io::Result<Option<(Header, Vec<u8>)>> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(Header::decode(&bytes).map(|header| (header, bytes)))
}

/// Hands the entries of earlier parts behind `from` to `each`; returns the position at the current part.
fn pass_earlier(
    path: &Path,
    header: &Header,
    from: Position,
    each: &mut dyn FnMut(Entry) -> Result<()>,
) -> Result<Position> {
    let name = path.to_string_lossy().into_owned();
    let mut parts = live_parts::open(&name, "journal")?;
    let mut head = [0; HEADER_BYTES];
    let unreadable = |e: &io::Error| failed(path, "cannot be read", e);
    parts.read_exact(&mut head).map_err(|e| unreadable(&e))?;
    let first = Header::decode(&head).map_or(u64::MAX, |first| first.first);
    let what = format!(
        "begins with record {}, behind the state of the drive ({})",
        first.saturating_add(1),
        from.records
    );
    if first > from.records {
        return Err(Error::input(Place::Path(name), what, "expected all parts of the journal"));
    }
    let mut at = Position { records: first, check: Header::decode(&head).map_or(0, |first| first.check) };
    let mut record = [0; RECORD_BYTES];
    while at.records < header.first {
        parts.read_exact(&mut record).map_err(|e| unreadable(&e))?;
        let Some((entry, check)) = Entry::decode(&record, at.check) else {
            let what = format!("record {} is damaged", at.records + 1);
            return Err(Error::input(Place::Path(name), what, "expected an undamaged journal"));
        };
        if at.records >= from.records {
            each(entry)?;
        }
        at = Position { records: at.records + 1, check };
    }
    Ok(at)
}

fn number_of(part: &str) -> Option<u64> {
    let part = part.strip_suffix(".zst").unwrap_or(part);
    part.rsplit_once('.').and_then(|(_, number)| number.parse().ok())
}

/// Packs a part, whole or not at all.
fn pack(part: &Path) -> io::Result<()> {
    let named = |suffix: &str| PathBuf::from(format!("{}{suffix}", part.display()));
    let (half, whole) = (named(".zst.new"), named(".zst"));
    let mut from = File::open(part)?;
    let to = File::create(&half)?;
    zstd::stream::copy_encode(&mut from, &to, PACK_LEVEL)?;
    to.sync_data()?;
    fs::rename(half, whole)?;
    fs::remove_file(part)
}
