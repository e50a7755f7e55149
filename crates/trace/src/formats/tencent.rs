//! Tencent cloud block storage: `Timestamp,Offset,Size,IOType,VolumeID`.
//!
//! The schema of the README of the traces (SNIA IOTTA): seconds since 1970, sectors of 512 bytes, 0 = read and
//! 1 = write, the other way round than in simulators. The volume is the device. No sample was at hand; those in the
//! tests are constructed from the schema.

use super::{FormatInfo, Likeness, csv, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault, scaled};

const OPERATIONS: &str = "expected 0 (read) or 1 (write)";

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "tencent",
    summary: "Tencent cloud block storage (SNIA IOTTA)",
    line: "expected Timestamp,Offset,Size,IOType,VolumeID",
    units: "time in seconds, address and size in sectors of 512 bytes, 0 = read",
    states_units: true,
    time_unit: Some(TimeUnit::Seconds),
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["tencent"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Tencent>,
};

pub(super) struct Tencent {
    time_power: u32,
    lba_bytes: u64,
}

impl LineFormat for Tencent {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() || is_header(line.rest()) {
            return Ok(None);
        }
        let stamp = csv::stamp(line, self.time_power, "expected seconds")?;
        let lba = csv::uint(line, "is no offset", "expected sectors of 512 bytes")?;
        let sectors = csv::uint(line, "is no size", "expected sectors of 512 bytes")?;
        let from = line.at();
        let op = match line.until(b',').trim_ascii_end() {
            b"0" => Op::Read,
            b"1" => Op::Write,
            _ => return Err(line.fault_from(from, "is no operation", OPERATIONS)),
        };
        csv::comma(line, "is no operation", OPERATIONS)?;
        let device = csv::last_device(line, "is no volume")?;
        csv::end(line, "is no volume", "expected a whole number")?;
        Ok(Some(Record {
            stamp,
            op,
            offset: scaled(lba, self.lba_bytes)?,
            bytes: scaled(sectors, 512)?,
            device,
        }))
    }
}

/// Whether a line names the columns.
fn is_header(line: &[u8]) -> bool {
    line.get(..17).is_some_and(|w| w.eq_ignore_ascii_case(b"timestamp,offset,"))
}

fn recognise(line: &[u8]) -> Likeness {
    let fields = csv::fields(line);
    let [time, offset, size, op, volume] = fields[..] else { return Likeness::No };
    let numbers = [offset, size, volume].into_iter().all(csv::is_uint) && csv::is_number(time);
    Likeness::sure(numbers && matches!(op, b"0" | b"1") || is_header(line))
}
