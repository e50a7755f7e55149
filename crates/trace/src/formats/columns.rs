//! The five blank-separated columns that DiskSim, SSDsim, MQSim and FlashSim share: `time device lba size op`.

use super::Likeness;
use crate::intake::Record;
use floatgate_base::Op;
use floatgate_input::{Cursor, Fault, scaled};

/// The differences between the formats of the family.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    pub time_power: u32,
    pub lba_bytes: u64,
    pub size_bytes: u64,
    /// Whether the last column holds hexadecimal flags whose bit 0 means read; otherwise it must be 0 or 1.
    pub flags: bool,
}

impl Columns {
    /// Parses a line.
    #[inline]
    pub fn parse<'a>(&self, line: &mut Cursor<'a>) -> Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() {
            return Ok(None);
        }
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected a number"))?;
        gap(line, "is not a time stamp", "expected a number")?;
        let from = line.at();
        if line.uint().is_none() {
            return Err(line.fault("is not a device number", "expected a whole number"));
        }
        let device = line.since(from);
        gap(line, "is not a device number", "expected a whole number")?;
        let lba = line.uint().ok_or_else(|| line.fault("is not an address", "expected a whole number"))?;
        gap(line, "is not an address", "expected a whole number")?;
        let size = line.uint().ok_or_else(|| line.fault("is not a size", "expected a whole number"))?;
        gap(line, "is not a size", "expected a whole number")?;
        let op = if self.flags { flags(line)? } else { zero_or_one(line)? };
        line.blanks();
        if !line.at_end() {
            return Err(line.fault("is one column too many", "expected time device lba size op"));
        }
        let offset = scaled(lba, self.lba_bytes)?;
        let bytes = scaled(size, self.size_bytes)?;
        Ok(Some(Record { stamp, op, offset, bytes, device }))
    }
}

/// Skips the blanks after a column.
#[inline]
fn gap(line: &mut Cursor<'_>, what: &'static str, expected: &'static str) -> Result<(), Fault> {
    if !line.blanks() && !line.at_end() {
        return Err(line.fault(what, expected));
    }
    Ok(())
}

#[inline]
fn zero_or_one(line: &mut Cursor<'_>) -> Result<Op, Fault> {
    const WHAT: (&str, &str) = ("is not an operation", "expected 1 (read) or 0 (write)");
    let op = if line.eat(b'1') {
        Op::Read
    } else if line.eat(b'0') {
        Op::Write
    } else {
        return Err(line.fault(WHAT.0, WHAT.1));
    };
    gap(line, WHAT.0, WHAT.1)?;
    Ok(op)
}

#[inline]
fn flags(line: &mut Cursor<'_>) -> Result<Op, Fault> {
    let word = line.rest().split(|b| matches!(b, b' ' | b'\t')).next().unwrap_or_default();
    let digits = word.strip_prefix(b"0x").unwrap_or(word);
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(
            line.fault("is not a set of flags", "expected a hexadecimal number whose bit 0 means read")
        );
    }
    let last = char::from(digits[digits.len() - 1]).to_digit(16).unwrap_or(0);
    line.skip(word.len());
    Ok(if last & 1 == 1 { Op::Read } else { Op::Write })
}

/// The form of a line with five columns.
pub(super) struct Shape {
    pub float_time: bool,
    pub tabs: bool,
}

/// Returns the form of a line with five columns.
pub(super) fn shape(line: &[u8]) -> Option<Shape> {
    let fields: Vec<&[u8]> = line.split(|b| matches!(b, b' ' | b'\t')).filter(|f| !f.is_empty()).collect();
    let digits = |f: &[u8]| f.iter().all(u8::is_ascii_digit);
    let [time, device, lba, size, op] = fields[..] else { return None };
    let time_fits = time.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    let fits = time_fits && time[0].is_ascii_digit() && digits(device) && digits(lba) && digits(size);
    (fits && op.iter().all(u8::is_ascii_hexdigit))
        .then(|| Shape { float_time: !digits(time), tabs: line.contains(&b'\t') })
}

/// Rates how typical the form of a line is.
pub(super) fn likeness(line: &[u8], typical: fn(&Shape) -> bool) -> Likeness {
    match shape(line) {
        None => Likeness::No,
        Some(shape) if typical(&shape) => Likeness::Yes,
        Some(_) => Likeness::Fits,
    }
}
