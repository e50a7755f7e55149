//! Alibaba block traces: `device_id,opcode,offset,length,timestamp`.
//!
//! The schema of the README of github.com/alibaba/block-traces: bytes, microseconds since 1970, R or W. No sample was
//! at hand; those in the tests are constructed from the schema.

use super::{FormatInfo, Likeness, csv, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::Result;
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "alibaba",
    summary: "Alibaba cloud block traces",
    line: "expected device_id,opcode,offset,length,timestamp",
    units: "time in microseconds, address and size in bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Microseconds),
    lba_unit: Some(LbaUnit::Byte),
    extensions: &["alibaba"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Alibaba>,
};

pub(super) struct Alibaba {
    time_power: u32,
    lba_bytes: u64,
}

impl LineFormat for Alibaba {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() || is_header(line.rest()) {
            return Ok(None);
        }
        let device = csv::device(line, "is no device")?;
        let op = csv::letter(line)?;
        let lba = csv::uint(line, "is no offset", "expected bytes")?;
        let bytes = csv::uint(line, "is no length", "expected bytes")?;
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is no time stamp", "expected microseconds"))?;
        csv::end(line, "is no time stamp", "expected microseconds")?;
        Ok(Some(Record { stamp, op, offset: scaled(lba, self.lba_bytes)?, bytes, device }))
    }
}

/// Whether a line names the columns.
fn is_header(line: &[u8]) -> bool {
    line.get(..10).is_some_and(|w| w.eq_ignore_ascii_case(b"device_id,"))
}

fn recognise(line: &[u8]) -> Likeness {
    let fields = csv::fields(line);
    let [device, op, offset, length, time] = fields[..] else { return Likeness::No };
    let numbers = [device, offset, length, time].into_iter().all(csv::is_uint);
    Likeness::sure(numbers && csv::is_letter(op) || is_header(line))
}
