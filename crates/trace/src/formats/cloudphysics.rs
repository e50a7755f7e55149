//! CloudPhysics as CSV, as libCacheSim ships it: `version,time,op,size,lbn` behind a header of these names.
//!
//! Microseconds, the SCSI operation code in hexadecimal, bytes, sectors of 512 bytes. Operation codes that are neither
//! a read nor a write are other records.

use super::{FormatInfo, Likeness, csv, no_head, text_reader, vscsi};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::Result;
use floatgate_input::{Cursor, Fault, scaled};

const OPERATIONS: &str = "expected a SCSI operation code in hexadecimal";

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "cloudphysics",
    summary: "CloudPhysics virtual disks as CSV",
    line: "expected version,time,op,size,lbn",
    units: "time in microseconds, address in sectors of 512 bytes, size in bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Microseconds),
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["cloudphysics"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<CloudPhysics>,
};

pub(super) struct CloudPhysics {
    time_power: u32,
    lba_bytes: u64,
}

impl LineFormat for CloudPhysics {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() || is_header(line.rest()) {
            return Ok(None);
        }
        csv::uint(line, "is no version", "expected a whole number")?;
        let stamp = csv::stamp(line, self.time_power, "expected microseconds")?;
        let from = line.at();
        let code = line.until(b',').trim_ascii();
        let Some(code) = opcode(code) else {
            return Err(Fault { from, to: line.at(), what: "is no operation", expected: OPERATIONS });
        };
        csv::comma(line, "is no operation", OPERATIONS)?;
        let bytes = csv::uint(line, "is no size", "expected bytes")?;
        let lbn = csv::last_uint(line, "is no lbn", "expected sectors of 512 bytes")?;
        csv::end(line, "is no lbn", "expected sectors of 512 bytes")?;
        let offset = scaled(lbn, self.lba_bytes)?;
        Ok(vscsi::operation(code).map(|op| Record { stamp, op, offset, bytes, device: ONE_DEVICE }))
    }
}

/// Whether a line names the columns.
fn is_header(line: &[u8]) -> bool {
    line.get(..8).is_some_and(|w| w.eq_ignore_ascii_case(b"version,"))
}

/// A byte in hexadecimal.
fn opcode(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    let text = std::str::from_utf8(digits).ok().filter(|_| matches!(digits.len(), 1 | 2))?;
    u8::from_str_radix(text, 16).ok()
}

fn recognise(line: &[u8]) -> Likeness {
    let fields = csv::fields(line);
    let [version, time, op, size, lbn] = fields[..] else { return Likeness::No };
    let numbers = [time, size, lbn].into_iter().all(csv::is_uint) && matches!(version, b"1" | b"2");
    Likeness::sure(numbers && opcode(op).and_then(vscsi::operation).is_some() || is_header(line))
}
