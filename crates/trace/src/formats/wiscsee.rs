//! WiscSee's events: `pid D|C operation offset length time_s gap_s sync`.
//!
//! D is the issue of a request, which counts; C its completion, which is another record. Bytes, seconds since the first
//! event; `discard` is a TRIM. The gap since the previous event and the sync flag are not used.

use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "wiscsee",
    summary: "WiscSee events",
    line: "expected pid D|C operation offset length time gap sync",
    units: "time in seconds, address and size in bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Seconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Byte),
    extensions: &["wiscsee"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<WiscSee>,
};

pub(super) struct WiscSee {
    time_power: u32,
    lba_bytes: u64,
}

impl LineFormat for WiscSee {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() {
            return Ok(None);
        }
        number(line, "is not a process number")?;
        let from = line.at();
        let issued = match line.word() {
            b"D" => true,
            b"C" => false,
            _ => {
                let expected = "expected D (issued) or C (completed)";
                return Err(Fault { from, to: line.at(), what: "is not an event", expected });
            }
        };
        line.blanks();
        let from = line.at();
        let op = match line.word() {
            b"read" => Some(Op::Read),
            b"write" => Some(Op::Write),
            b"discard" => Some(Op::Trim),
            b"flush" | b"none" => None,
            _ => {
                let expected = "expected read, write or discard";
                return Err(Fault { from, to: line.at(), what: "is not an operation", expected });
            }
        };
        line.blanks();
        let lba = number(line, "is not an offset")?;
        let bytes = number(line, "is not a length")?;
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected seconds"))?;
        if !line.blanks() && !line.at_end() {
            return Err(line.fault("is not a time stamp", "expected seconds"));
        }
        let offset = scaled(lba, self.lba_bytes)?;
        Ok(op.filter(|_| issued).map(|op| Record { stamp, op, offset, bytes, device: ONE_DEVICE }))
    }

    fn hint_if_empty(&self) -> String {
        "expected events D with an offset and a length".into()
    }
}

/// Parses a whole number and the blanks after it.
#[inline]
fn number(line: &mut Cursor<'_>, what: &'static str) -> std::result::Result<u64, Fault> {
    let value = line.uint().ok_or_else(|| line.fault(what, "expected a whole number"))?;
    if line.blanks() { Ok(value) } else { Err(line.fault(what, "expected a whole number")) }
}

fn recognise(line: &[u8]) -> Likeness {
    let words: Vec<&[u8]> = line.split(|&b| b == b' ').filter(|w| !w.is_empty()).collect();
    Likeness::sure(
        words.len() >= 6
            && words[0].iter().all(u8::is_ascii_digit)
            && matches!(words[1], b"D" | b"C")
            && matches!(words[2], b"read" | b"write" | b"discard" | b"flush")
            && words[3..5].iter().all(|w| w.iter().all(u8::is_ascii_digit)),
    )
}
