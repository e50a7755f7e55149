//! Fujitsu K5 cloud: `ID,Timestamp,Type,Offset,Length`.
//!
//! The schema of the README of the traces (SNIA IOTTA): seconds since the first request of all volumes, R or W,
//! bytes. The virtual storage volume is the device; further columns are legal and not read. No sample was at hand;
//! those in the tests are constructed from the schema.

use super::{FormatInfo, Likeness, csv, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::Result;
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "k5cloud",
    summary: "Fujitsu K5 cloud (SNIA IOTTA)",
    line: "expected ID,Timestamp,Type,Offset,Length",
    units: "time in seconds, address and size in bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Seconds),
    lba_unit: Some(LbaUnit::Byte),
    extensions: &["k5cloud"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<K5Cloud>,
};

pub(super) struct K5Cloud {
    time_power: u32,
    lba_bytes: u64,
}

impl LineFormat for K5Cloud {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() || is_header(line.rest()) {
            return Ok(None);
        }
        let device = csv::device(line, "is no volume")?;
        let stamp = csv::stamp(line, self.time_power, "expected seconds")?;
        let op = csv::letter(line)?;
        let lba = csv::uint(line, "is no offset", "expected bytes")?;
        let bytes = csv::last_uint(line, "is no length", "expected bytes")?;
        line.blanks();
        if !line.at_end() && line.peek() != Some(b',') {
            return Err(line.fault("is no length", "expected bytes"));
        }
        Ok(Some(Record { stamp, op, offset: scaled(lba, self.lba_bytes)?, bytes, device }))
    }
}

/// Whether a line names the columns.
fn is_header(line: &[u8]) -> bool {
    line.get(..13).is_some_and(|w| w.eq_ignore_ascii_case(b"id,timestamp,"))
}

fn recognise(line: &[u8]) -> Likeness {
    let fields = csv::fields(line);
    let [device, time, op, offset, length, ..] = fields[..] else { return Likeness::No };
    let numbers = [device, offset, length].into_iter().all(csv::is_uint) && csv::is_number(time);
    Likeness::sure(numbers && csv::is_letter(op) || is_header(line))
}
