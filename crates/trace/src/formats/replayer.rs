//! Traces of the block replayer of UChicago and Huaicheng Li: `time_ms,disk,offset,size,op`, separated by commas or
//! blanks.
//!
//! The schema of the README of github.com/huaicheng/replayer: milliseconds, bytes, 1 = read and 0 = write, the opposite
//! of fio. With blanks the grammar is that of DiskSim; then only the extension or `--format` decides. No sample was at
//! hand; those in the tests are constructed from the schema.

use super::columns::shape;
use super::{FormatInfo, Likeness, csv, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault, scaled};

const OPERATIONS: &str = "expected 1 (read) or 0 (write)";

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "replayer",
    summary: "block replayer (UChicago)",
    line: "expected time_ms,disk,offset,size,op",
    units: "assumed: time in ms, address and size in bytes, 1 = read",
    states_units: false,
    time_unit: Some(TimeUnit::Milliseconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Byte),
    extensions: &["replayer"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Replayer>,
};

pub(super) struct Replayer {
    time_power: u32,
    lba_bytes: u64,
}

impl LineFormat for Replayer {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() {
            return Ok(None);
        }
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected milliseconds"))?;
        gap(line, "is not a time stamp", "expected milliseconds")?;
        let device = csv::last_device(line, "is not a disk")?;
        gap(line, "is not a disk", "expected a whole number")?;
        let lba = csv::last_uint(line, "is not an offset", "expected bytes")?;
        gap(line, "is not an offset", "expected bytes")?;
        let bytes = csv::last_uint(line, "is not a size", "expected bytes")?;
        gap(line, "is not a size", "expected bytes")?;
        let op = match line.peek() {
            Some(b'1') => Op::Read,
            Some(b'0') => Op::Write,
            _ => return Err(line.fault("is not an operation", OPERATIONS)),
        };
        let from = line.at();
        line.skip(1);
        line.blanks();
        if !line.at_end() {
            return Err(line.fault_from(from, "is not an operation", OPERATIONS));
        }
        Ok(Some(Record { stamp, op, offset: scaled(lba, self.lba_bytes)?, bytes, device }))
    }
}

/// Skips the comma or the blanks between two fields.
#[inline]
fn gap(line: &mut Cursor<'_>, what: &'static str, expected: &'static str) -> std::result::Result<(), Fault> {
    let blanks = line.blanks();
    let comma = line.eat(b',');
    line.blanks();
    if blanks || comma || line.at_end() { Ok(()) } else { Err(line.fault(what, expected)) }
}

fn recognise(line: &[u8]) -> Likeness {
    let fields = csv::fields(line);
    let [time, disk, offset, size, op] = fields[..] else {
        let op = line.last().is_some_and(|b| matches!(b, b'0' | b'1'));
        return if op && shape(line).is_some() { Likeness::Fits } else { Likeness::No };
    };
    let numbers = [disk, offset, size].into_iter().all(csv::is_uint) && csv::is_number(time);
    Likeness::sure(numbers && matches!(op, b"0" | b"1"))
}
