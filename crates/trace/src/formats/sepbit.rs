//! MiDAS and SepBIT: `time_s op lba size stream`, blank-separated.
//!
//! Zenodo 10409599: seconds, 0 = read, 1 = write, 3 = TRIM (2 is not used and another record), addresses in pages of 4
//! KiB, a stream number for multi-stream drives. The unit of the size is not stated. If every size at the beginning of
//! the trace is a multiple of 512 it is read as bytes, otherwise as pages of 4 KiB. The grammar is that of SSDsim and
//! others with the columns in another order; only the extension or `--format` decides. No sample was at hand; those in
//! the tests are constructed from the schema.

use super::columns::shape;
use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, OptionalColumns, RequestBatch, Result};
use floatgate_input::{Cursor, Fault, scaled};

const OPERATIONS: &str = "expected 0 (read), 1 (write) or 3 (TRIM)";

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "sepbit",
    summary: "MiDAS, SepBIT",
    line: "expected time op lba size stream",
    units: "assumed: time in seconds, address in pages of 4 KiB, 0 = read, 1 = write, 3 = TRIM",
    states_units: false,
    time_unit: Some(TimeUnit::Seconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Page4k),
    extensions: &["sepbit", "midas"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<SepBit>,
};

pub(super) struct SepBit {
    time_power: u32,
    lba_bytes: u64,
    size_bytes: u64,
    /// Stream of the last parsed line.
    stream: u32,
}

impl LineFormat for SepBit {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        Ok(Self {
            time_power: setup.time_power,
            lba_bytes: setup.lba_bytes,
            size_bytes: size_unit(head),
            stream: 0,
        })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() {
            return Ok(None);
        }
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected seconds"))?;
        gap(line, "is not a time stamp", "expected seconds")?;
        let op = match line.peek() {
            Some(b'0') => Some(Op::Read),
            Some(b'1') => Some(Op::Write),
            Some(b'2') => None,
            Some(b'3') => Some(Op::Trim),
            _ => return Err(line.fault("is not an operation", OPERATIONS)),
        };
        let from = line.at();
        line.skip(1);
        if !line.blanks() {
            return Err(line.fault_from(from, "is not an operation", OPERATIONS));
        }
        let lba = line.uint().ok_or_else(|| line.fault("is not an address", "expected pages of 4 KiB"))?;
        gap(line, "is not an address", "expected pages of 4 KiB")?;
        let size = line.uint().ok_or_else(|| line.fault("is not a size", "expected a whole number"))?;
        gap(line, "is not a size", "expected a whole number")?;
        let from = line.at();
        let stream = line.uint().ok_or_else(|| line.fault("is not a stream", "expected a whole number"))?;
        self.stream = u32::try_from(stream)
            .map_err(|_| line.fault_from(from, "is not a stream", "expected a whole number below 2^32"))?;
        line.blanks();
        if !line.at_end() {
            return Err(line.fault("is not a stream", "expected a whole number and the end of the line"));
        }
        let (offset, bytes) = (scaled(lba, self.lba_bytes)?, scaled(size, self.size_bytes)?);
        Ok(op.map(|op| Record { stamp, op, offset, bytes, device: ONE_DEVICE }))
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { stream: true, ..OptionalColumns::default() }
    }

    fn extras(&mut self, _bytes: u64, batch: &mut RequestBatch) {
        batch.stream.push(self.stream);
    }

    fn assumed(&self, out: &mut Vec<String>) {
        let unit = if self.size_bytes == 1 { "bytes" } else { "pages of 4 KiB" };
        out.push(format!("sizes are read as {unit}, inferred from the first ones"));
    }
}

/// Skips the blanks after a column.
#[inline]
fn gap(line: &mut Cursor<'_>, what: &'static str, expected: &'static str) -> std::result::Result<(), Fault> {
    if line.blanks() || line.at_end() { Ok(()) } else { Err(line.fault(what, expected)) }
}

/// Infers the bytes per unit of size from the sizes at the beginning.
fn size_unit(head: &[u8]) -> u64 {
    let column = |line: &'_ [u8]| {
        let word = line.split(|b| matches!(b, b' ' | b'\t')).filter(|w| !w.is_empty()).nth(3)?;
        std::str::from_utf8(word).ok()?.parse::<u64>().ok()
    };
    let bytes = head.split(|&b| b == b'\n').filter_map(column).all(|size| size % 512 == 0);
    if bytes { 1 } else { 4096 }
}

fn recognise(line: &[u8]) -> Likeness {
    let op = line.split(|b| matches!(b, b' ' | b'\t')).filter(|w| !w.is_empty()).nth(1);
    let fits = shape(line).is_some() && matches!(op, Some([b'0'..=b'3']));
    if fits { Likeness::Fits } else { Likeness::No }
}
