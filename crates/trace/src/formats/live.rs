//! The journal of a live drive: a header of 40 bytes, then records of 32 bytes, little-endian.
//!
//! Header: `8 bytes magic and version, u64 number of the first record, u64 check before it, u64 nanoseconds of the first
//! record since 1970, u64 bytes of the drive`.
//!
//! Record: `u64 nanoseconds since the first record, u64 offset, u32 bytes, u8 kind, u8 flags, u16 stream, u64 check`.
//!
//! The check of a record covers it and the check before it: a damaged or missing record is found, wherever it lies. A
//! journal may begin with a later record, when older ones were dropped.

use super::{FormatInfo, Likeness, live_parts, no_line};
use crate::binary::{BinaryReader, RecordFormat, field_fault, u16_le, u32_le, u64_le};
use crate::intake::Record;
use crate::setup::Setup;
use crate::source::Source;
use floatgate_base::batch::flags;
use floatgate_base::{Error, Op, OptionalColumns, Place, RequestBatch, Result};
use floatgate_input::{Fault, Input};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "live",
    summary: "the journal of a live drive (floatgate live), binary",
    line: "expected the journal of floatgate live",
    units: "time in nanoseconds, address and size in bytes",
    states_units: true,
    time_unit: None,
    other_time_units: &[],
    lba_unit: None,
    extensions: &["live"],
    has_times: true,
    has_actions: false,
    recognise: no_line,
    recognise_head,
    reader,
};

/// Bytes before the first record.
pub const HEADER_BYTES: usize = 40;
/// Bytes of a record.
pub const RECORD_BYTES: usize = 32;
/// Magic and version.
const MAGIC: &[u8; 8] = b"fgLIVE\0\x01";
const MAGIC_LEN: usize = 7;
/// Name of the only device.
const DEVICE: &[u8] = b"live";
const FLUSH: u8 = 3;
/// Where the fields of a record begin.
const OFFSET: usize = 8;
const BYTES: usize = 16;
const KIND: usize = 20;
const FLAGS: usize = 21;
const STREAM: usize = 22;
const CHECK: usize = 24;

/// The beginning of a journal, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the first record, from 0.
    pub first: u64,
    /// Check of the record before it.
    pub check: u64,
    /// Nanoseconds between 1970 and the first record of the whole journal.
    pub began_ns: u64,
    /// Bytes that the drive shows to its host.
    pub drive_bytes: u64,
}

impl Header {
    /// Encodes the header.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        let words = [self.first, self.check, self.began_ns, self.drive_bytes];
        for (field, word) in bytes[8..].chunks_exact_mut(8).zip(words) {
            field.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Decodes the header that begins `bytes`; none if it is none of this version.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) {
            return None;
        }
        let word = |i: usize| u64_le(bytes, 8 + 8 * i);
        Some(Self { first: word(0), check: word(1), began_ns: word(2), drive_bytes: word(3) })
    }
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A request.
    Request(Op),
    /// A flush: everything written before it is to be kept.
    Flush,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Nanoseconds since the first record.
    pub time_ns: u64,
    /// Request or flush.
    pub kind: Kind,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u32,
    /// Bits of [`flags`].
    pub flags: u8,
    /// Placement handle.
    pub stream: u16,
}

impl Entry {
    /// Encodes the record that follows one with `check`; returns its own check, too.
    #[must_use]
    pub fn encode(&self, check: u64) -> ([u8; RECORD_BYTES], u64) {
        let mut record = [0; RECORD_BYTES];
        record[..OFFSET].copy_from_slice(&self.time_ns.to_le_bytes());
        record[OFFSET..BYTES].copy_from_slice(&self.offset.to_le_bytes());
        record[BYTES..KIND].copy_from_slice(&self.bytes.to_le_bytes());
        record[KIND] = match self.kind {
            Kind::Request(op) => op as u8,
            Kind::Flush => FLUSH,
        };
        record[FLAGS] = self.flags;
        record[STREAM..CHECK].copy_from_slice(&self.stream.to_le_bytes());
        let check = chained(check, &record);
        record[CHECK..].copy_from_slice(&check.to_le_bytes());
        (record, check)
    }

    /// Decodes a record that follows one with `check`; returns its own check, too; none if it is damaged.
    #[must_use]
    pub fn decode(record: &[u8; RECORD_BYTES], check: u64) -> Option<(Self, u64)> {
        let kind = kind_of(record[KIND])?;
        let own = u64_le(record, CHECK);
        let entry = Self {
            time_ns: u64_le(record, 0),
            kind,
            offset: u64_le(record, OFFSET),
            bytes: u32_le(record, BYTES),
            flags: record[FLAGS],
            stream: u16_le(record, STREAM),
        };
        (chained(check, record) == own).then_some((entry, own))
    }
}

fn kind_of(byte: u8) -> Option<Kind> {
    match byte {
        0 => Some(Kind::Request(Op::Read)),
        1 => Some(Kind::Request(Op::Write)),
        2 => Some(Kind::Request(Op::Trim)),
        FLUSH => Some(Kind::Flush),
        _ => None,
    }
}

/// Returns the check of a record behind one with `check`.
fn chained(check: u64, record: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, at: usize| {
        let mixed = (sum ^ u64_le(record, at)).wrapping_mul(FACTOR);
        mixed ^ mixed >> 32
    };
    [0, OFFSET, BYTES].into_iter().fold(!check, mix)
}

pub(super) struct Live {
    header: Header,
    check: u64,
    /// Of the current request; a flush becomes a flag of the next one.
    flags: u8,
    stream: u16,
}

impl RecordFormat for Live {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        let Some(header) = Header::decode(head) else {
            let place = Place::Byte { path: setup.path.clone(), byte: 0 };
            let what = match recognise_head(head) {
                Likeness::No => "is no journal of a live drive",
                _ => "is the journal of another version of floatgate, or cut short",
            };
            return Err(Error::input(place, what, INFO.line));
        };
        Ok(Self { header, check: header.check, flags: 0, stream: 0 })
    }

    fn header(&self) -> usize {
        HEADER_BYTES
    }

    #[inline]
    fn shortest(&self) -> usize {
        RECORD_BYTES
    }

    #[inline]
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> std::result::Result<Option<Record<'a>>, Fault> {
        let decoded = record.as_array::<RECORD_BYTES>().and_then(|record| Entry::decode(record, self.check));
        let Some((entry, check)) = decoded else {
            return Err(field_fault(
                CHECK,
                8,
                "is not the check of this record",
                "expected an undamaged journal",
            ));
        };
        self.check = check;
        let Kind::Request(op) = entry.kind else {
            self.flags = flags::FLUSH;
            return Ok(None);
        };
        self.flags = self.flags & flags::FLUSH | entry.flags;
        self.stream = entry.stream;
        let (stamp, bytes) = (i128::from(entry.time_ns), u64::from(entry.bytes));
        Ok(Some(Record { stamp, op, offset: entry.offset, bytes, device: DEVICE }))
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { flags: true, stream: true, ..OptionalColumns::default() }
    }

    #[inline]
    fn extras(&mut self, batch: &mut RequestBatch) {
        batch.flags.push(std::mem::take(&mut self.flags));
        batch.stream.push(u32::from(self.stream));
    }

    fn restart(&mut self) {
        (self.check, self.flags) = (self.header.check, 0);
    }

    /// The drive that writes it may have been killed.
    fn tail_may_be_cut(&self) -> bool {
        true
    }

    fn assumed(&self, out: &mut Vec<String>) {
        if self.header.first > 0 {
            out.push(format!(
                "the journal begins with record {}; older ones were dropped",
                self.header.first + 1
            ));
        }
    }
}

/// Creates the reader: of one file, or of all parts of the journal.
fn reader(input: Input, chunk: usize, setup: Setup) -> Result<Box<dyn Source>> {
    let has_parts = input.reopens() && !live_parts::earlier(&setup.path).is_empty();
    let input = if has_parts { Input::of_files(&setup.path, "trace", live_parts::open)? } else { input };
    Ok(Box::new(BinaryReader::<Live>::new(input, chunk, setup)?))
}

fn recognise_head(head: &[u8]) -> Likeness {
    Likeness::sure(head.starts_with(&MAGIC[..MAGIC_LEN]))
}

/// Returns the sample: a write, a flush, a read, a TRIM.
pub(super) fn sample() -> Vec<u8> {
    let header = Header { first: 0, check: 0, began_ns: 1_700_000_000_000_000_000, drive_bytes: 1 << 20 };
    let entry =
        |time_ns, kind, offset, stream| Entry { time_ns, kind, offset, bytes: 4096, flags: 0, stream };
    let entries = [
        entry(0, Kind::Request(Op::Write), 8192, 1),
        Entry { bytes: 0, ..entry(1000, Kind::Flush, 0, 0) },
        entry(2000, Kind::Request(Op::Read), 8192, 0),
        entry(2500, Kind::Request(Op::Trim), 0, 0),
    ];
    let (mut bytes, mut check) = (header.encode().to_vec(), header.check);
    for entry in entries {
        let (record, own) = entry.encode(check);
        bytes.extend(record);
        check = own;
    }
    bytes
}
