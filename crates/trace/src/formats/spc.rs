//! SPC-1 ascii (UMass Financial and WebSearch): `ASU,LBA,Size,Opcode,Timestamp[,more]`.
//!
//! Addresses are blocks of 512 bytes, sizes bytes, stamps seconds. The ASU is the device. A size of 0 is legal and
//! counts as another record.

use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "spc",
    summary: "SPC-1 ascii (UMass Financial, WebSearch)",
    line: "expected ASU,LBA,Size,Opcode,Timestamp",
    units: "time in seconds, address in sectors of 512 bytes, size in bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Seconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["spc"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Spc>,
};

pub(super) struct Spc {
    time_power: u32,
    lba_bytes: u64,
}

impl LineFormat for Spc {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() {
            return Ok(None);
        }
        let from = line.at();
        if line.uint().is_none() {
            return Err(line.fault("is not an ASU", "expected a whole number"));
        }
        let device = line.since(from);
        comma(line, "is not an ASU", "expected a whole number")?;
        let lba = line.uint().ok_or_else(|| line.fault("is not an LBA", "expected sectors of 512 bytes"))?;
        comma(line, "is not an LBA", "expected sectors of 512 bytes")?;
        let bytes = line.uint().ok_or_else(|| line.fault("is not a size", "expected bytes"))?;
        comma(line, "is not a size", "expected bytes")?;
        let op = if line.eat_word(b"w") {
            Op::Write
        } else if line.eat_word(b"r") {
            Op::Read
        } else {
            return Err(line.fault("is not an opcode", "expected R or W"));
        };
        comma(line, "is not an opcode", "expected R or W")?;
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected seconds"))?;
        line.blanks();
        // Optional fields may follow, with a meaning defined by the producer.
        if !line.at_end() && line.peek() != Some(b',') {
            return Err(line.fault("is not a time stamp", "expected seconds"));
        }
        let offset = scaled(lba, self.lba_bytes)?;
        Ok(Some(Record { stamp, op, offset, bytes, device }))
    }

    fn device_name(key: &[u8]) -> String {
        format!("asu{}", String::from_utf8_lossy(key))
    }
}

/// Skips the comma after a field, with blanks around it.
#[inline]
fn comma(
    line: &mut Cursor<'_>,
    what: &'static str,
    expected: &'static str,
) -> std::result::Result<(), Fault> {
    line.blanks();
    if !line.eat(b',') {
        return Err(line.fault(what, expected));
    }
    line.blanks();
    Ok(())
}

fn recognise(line: &[u8]) -> Likeness {
    let fields: Vec<&[u8]> = line.split(|&b| b == b',').map(<[u8]>::trim_ascii).collect();
    let number = |f: &[u8]| !f.is_empty() && f.iter().all(u8::is_ascii_digit);
    let record = fields.len() >= 5
        && fields[..3].iter().all(|f| number(f))
        && matches!(fields[3], b"r" | b"R" | b"w" | b"W");
    Likeness::sure(record)
}
