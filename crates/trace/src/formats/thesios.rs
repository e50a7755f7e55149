//! Thesios (Google's storage servers): CSV whose heading names the columns.
//!
//! The schema of the README of github.com/google-research-datasets/thesios: `start_time` in seconds since 1970, `op_type`
//! READ or WRITE, `file_offset` and `request_io_size_bytes` in bytes, `filename` hashed. The columns are found by their
//! names, in any order. Files lie side by side in the order in which they first appear, in ranges of 64 MiB. A file that
//! grows beyond one range continues in another one; a request across the end of a range reaches into the next. Reads that the server's cache served are requests, too. No sample
//! was at hand; those in the tests are constructed from the schema.

use super::csv::fields;
use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::TimeUnit;
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault, scaled};
use rustc_hash::FxHashMap;

/// Bytes of a range of a file.
const RANGE_BYTES: u64 = 64 << 20;
/// Most columns of a line.
const COLUMNS_MAX: usize = 64;
const HEADING: &str = "expected the line that names the columns, filename,file_offset,...";

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "thesios",
    summary: "Thesios (Google's storage servers)",
    line: HEADING,
    units: "assumed: time in seconds, offset and size in bytes, files side by side in ranges of 64 MiB",
    states_units: false,
    time_unit: Some(TimeUnit::Seconds),
    other_time_units: &[],
    lba_unit: None,
    extensions: &["thesios"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Thesios>,
};

/// Numbers of the columns that are read.
#[derive(Clone, Copy)]
struct Columns {
    time: usize,
    op: usize,
    file: usize,
    offset: usize,
    bytes: usize,
}

pub(super) struct Thesios {
    time_power: u32,
    columns: Option<Columns>,
    /// Ranges by file and number of the range within the file.
    ranges: FxHashMap<(Box<[u8]>, u64), u64>,
    /// The range of the last request: files are read and written in runs.
    last: (Vec<u8>, u64, u64),
}

impl Thesios {
    /// Returns the number of a range, a new one if the range is new.
    fn range(&mut self, file: &[u8], within: u64) -> u64 {
        let (name, number, range) = &self.last;
        if !self.ranges.is_empty() && name == file && *number == within {
            return *range;
        }
        let next = self.ranges.len() as u64;
        let range = *self.ranges.entry((file.into(), within)).or_insert(next);
        self.last = (file.to_vec(), within, range);
        range
    }
}

impl LineFormat for Thesios {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        let (ranges, last) = (FxHashMap::default(), (Vec::new(), 0, 0));
        Ok(Self { time_power: setup.time_power, columns: None, ranges, last })
    }

    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        if line.at_end() {
            return Ok(None);
        }
        // Parts of a day are often joined with `cat`, each with its heading.
        if let Some(columns) = heading(line.line()) {
            self.columns = Some(columns);
            return Ok(None);
        }
        let Some(columns) = self.columns else { return Err(Fault::line("no names of columns", HEADING)) };
        let mut starts = [(0, 0); COLUMNS_MAX];
        let count = split(line.line(), &mut starts);
        let part = |column: usize| -> std::result::Result<Cursor<'a>, Fault> {
            if column >= count {
                return Err(Fault::line("too few fields", "expected one for each column of the heading"));
            }
            Ok(line.part(starts[column].0, starts[column].1))
        };
        let fault = |column: usize, what, expected| {
            let (from, to) = starts[column];
            Fault { from, to, what, expected }
        };
        let whole = |column: usize, what: &'static str| {
            let mut field = part(column)?;
            field.uint().filter(|_| field.at_end()).ok_or_else(|| fault(column, what, "expected bytes"))
        };
        let mut time = part(columns.time)?;
        let stamp = time.stamp(self.time_power).filter(|_| time.at_end());
        let stamp = stamp.ok_or_else(|| fault(columns.time, "is not a time stamp", "expected seconds"))?;
        let op = match part(columns.op)?.line() {
            b"READ" => Op::Read,
            b"WRITE" => Op::Write,
            _ => return Err(fault(columns.op, "is not an operation", "expected READ or WRITE")),
        };
        let (at, bytes) =
            (whole(columns.offset, "is not an offset")?, whole(columns.bytes, "is not a size")?);
        let file = part(columns.file)?.line();
        let range = self.range(file, at / RANGE_BYTES);
        let offset = scaled(range, RANGE_BYTES)? + at % RANGE_BYTES;
        Ok(Some(Record { stamp, op, offset, bytes, device: ONE_DEVICE }))
    }

    fn restart(&mut self) {
        self.columns = None;
    }
}

/// Returns where each field of a line begins and ends, and how many there are.
fn split(line: &[u8], fields: &mut [(usize, usize); COLUMNS_MAX]) -> usize {
    let (mut from, mut count) = (0, 0);
    for end in memchr::memchr_iter(b',', line).chain([line.len()]) {
        if count < COLUMNS_MAX {
            fields[count] = (from, end);
            count += 1;
        }
        from = end + 1;
    }
    count
}

/// Returns the columns of a heading.
fn heading(line: &[u8]) -> Option<Columns> {
    memchr::memmem::find(line, b"file_offset")?;
    let names = fields(line);
    let of = |name: &[u8]| names.iter().position(|n| *n == name);
    Some(Columns {
        time: of(b"start_time")?,
        op: of(b"op_type")?,
        file: of(b"filename")?,
        offset: of(b"file_offset")?,
        bytes: of(b"request_io_size_bytes")?,
    })
}

fn recognise(line: &[u8]) -> Likeness {
    let names = fields(line);
    let wanted: [&[u8]; 5] =
        [b"filename", b"file_offset", b"op_type", b"request_io_size_bytes", b"start_time"];
    Likeness::sure(wanted.iter().all(|name| names.contains(name)))
}
