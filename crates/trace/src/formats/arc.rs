//! The ARC authors' page traces (`.lis`): `start_block count ignored request_number`, blocks of 512 bytes.
//!
//! There is neither an operation nor a time: every request is a read, and stamps are 0.

use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::LbaUnit;
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "arc",
    summary: "page traces of the ARC authors",
    line: "expected start_block count ignored request_number",
    units: "assumed: blocks of 512 bytes; no operation in the file, all requests are reads",
    states_units: false,
    time_unit: None,
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["lis", "arc"],
    has_times: false,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Arc>,
};

pub(super) struct Arc {
    lba_bytes: u64,
}

impl LineFormat for Arc {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { lba_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() {
            return Ok(None);
        }
        let start = number(line, "is not a block")?;
        let count = number(line, "is not a count")?;
        number(line, "is not a number")?;
        let last = line.uint().is_some();
        line.blanks();
        if !last || !line.at_end() {
            return Err(
                line.fault("is not a request number", "expected a whole number and the end of the line")
            );
        }
        let (offset, bytes) = (scaled(start, self.lba_bytes)?, scaled(count, self.lba_bytes)?);
        Ok(Some(Record { stamp: 0, op: Op::Read, offset, bytes, device: ONE_DEVICE }))
    }

    fn has_times(&self) -> bool {
        false
    }
}

/// Parses a whole number and the blanks after it.
#[inline]
fn number(line: &mut Cursor<'_>, what: &'static str) -> std::result::Result<u64, Fault> {
    let value = line.uint().ok_or_else(|| line.fault(what, "expected a whole number"))?;
    if line.blanks() { Ok(value) } else { Err(line.fault(what, "expected a whole number")) }
}

fn recognise(line: &[u8]) -> Likeness {
    let words: Vec<&[u8]> = line.split(|b| matches!(b, b' ' | b'\t')).filter(|w| !w.is_empty()).collect();
    Likeness::sure(words.len() == 4 && words.iter().all(|w| w.iter().all(u8::is_ascii_digit)))
}
