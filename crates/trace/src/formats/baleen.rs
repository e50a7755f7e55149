//! Baleen (Meta's Tectonic): `block_id io_offset io_size op_time op_name ... [op_count host]`, blank-separated.
//!
//! Seconds, bytes; op_name is a number: 1, 2 and 5 read, 3, 4 and 6 write (temporary, permanent, not initialised).
//! Lines that begin with `#` name the columns. A block of up to 8 MiB has its own range: its bytes begin at
//! `block_id * 8 MiB` of one device. One row is one request, regardless of its op_count. Columns after the operation
//! are not read. The sample in the tests has the form of one in the unit tests of ben-manes/caffeine.

use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::TimeUnit;
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault, scaled};

/// Largest block of Tectonic.
const BLOCK_BYTES: u64 = 8 << 20;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "baleen",
    summary: "Baleen (Meta's Tectonic)",
    line: "expected block_id io_offset io_size op_time op_name ...",
    units: "assumed: time in seconds, offset and size in bytes, blocks of 8 MiB side by side, a line is one request whatever its op_count",
    states_units: false,
    time_unit: Some(TimeUnit::Seconds),
    other_time_units: &[],
    lba_unit: None,
    extensions: &["baleen"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Baleen>,
};

pub(super) struct Baleen {
    time_power: u32,
}

impl LineFormat for Baleen {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() || line.peek() == Some(b'#') {
            return Ok(None);
        }
        let block = number(line, "is not a block")?;
        let within = number(line, "is not an offset")?;
        let bytes = number(line, "is not a size")?;
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected seconds"))?;
        if !line.blanks() {
            return Err(line.fault("is not a time stamp", "expected seconds"));
        }
        let from = line.at();
        let op = match line.word() {
            b"1" | b"2" | b"5" => Op::Read,
            b"3" | b"4" | b"6" => Op::Write,
            _ => {
                let expected = "expected 1, 2, 5 (read) or 3, 4, 6 (write)";
                return Err(Fault { from, to: line.at(), what: "is not an operation", expected });
            }
        };
        if within.checked_add(bytes).is_none_or(|end| end > BLOCK_BYTES) {
            return Err(Fault::line(
                "the request reaches beyond the 8 MiB of its block",
                "expected an offset and a size within them",
            ));
        }
        let offset = scaled(block, BLOCK_BYTES)? + within;
        Ok(Some(Record { stamp, op, offset, bytes, device: ONE_DEVICE }))
    }
}

/// Parses a whole number and the blanks after it.
#[inline]
fn number(line: &mut Cursor<'_>, what: &'static str) -> std::result::Result<u64, Fault> {
    let value = line.uint().ok_or_else(|| line.fault(what, "expected a whole number"))?;
    if line.blanks() { Ok(value) } else { Err(line.fault(what, "expected a whole number")) }
}

fn recognise(line: &[u8]) -> Likeness {
    if line.starts_with(b"#") {
        return Likeness::sure(line.windows(8).any(|w| w == b"block_id" || w == b"op_name "));
    }
    let fields: Vec<&[u8]> = line.split(|&b| b == b' ').filter(|f| !f.is_empty()).collect();
    let digits = |f: &[u8]| f.iter().all(u8::is_ascii_digit);
    Likeness::sure(
        (8..=12).contains(&fields.len())
            && fields[..3].iter().all(|f| digits(f))
            && fields[3].iter().all(|b| b.is_ascii_digit() || *b == b'.')
            && matches!(fields[4], [b'1'..=b'6']),
    )
}
