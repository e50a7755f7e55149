//! What the comma-separated formats share: a field, the comma behind it, blanks around it.

use floatgate_base::Op;
use floatgate_input::{Cursor, Fault};

/// Steps over the comma behind a field.
#[inline]
pub(super) fn comma(line: &mut Cursor<'_>, what: &'static str, expected: &'static str) -> Result<(), Fault> {
    line.blanks();
    if !line.eat(b',') {
        return Err(line.fault(what, expected));
    }
    line.blanks();
    Ok(())
}

/// A whole number and the comma behind it.
#[inline]
pub(super) fn uint(line: &mut Cursor<'_>, what: &'static str, expected: &'static str) -> Result<u64, Fault> {
    let value = last_uint(line, what, expected)?;
    comma(line, what, expected)?;
    Ok(value)
}

/// A whole number without a comma behind it.
#[inline]
pub(super) fn last_uint(
    line: &mut Cursor<'_>,
    what: &'static str,
    expected: &'static str,
) -> Result<u64, Fault> {
    line.uint().ok_or_else(|| line.fault(what, expected))
}

/// A whole number that names the device, and the comma behind it.
#[inline]
pub(super) fn device<'a>(line: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], Fault> {
    let key = last_device(line, what)?;
    comma(line, what, "expected a whole number")?;
    Ok(key)
}

/// A whole number that names the device, at the end of a line.
#[inline]
pub(super) fn last_device<'a>(line: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], Fault> {
    let from = line.at();
    if line.uint().is_none() {
        return Err(line.fault(what, "expected a whole number"));
    }
    Ok(line.since(from))
}

/// A time stamp and the comma behind it.
#[inline]
pub(super) fn stamp(line: &mut Cursor<'_>, power: u32, expected: &'static str) -> Result<i128, Fault> {
    let stamp = line.stamp(power).ok_or_else(|| line.fault("is no time stamp", expected))?;
    comma(line, "is no time stamp", expected)?;
    Ok(stamp)
}

/// R or W and the comma behind it.
#[inline]
pub(super) fn letter(line: &mut Cursor<'_>) -> Result<Op, Fault> {
    const WHAT: (&str, &str) = ("is no operation", "expected R or W");
    let op = if line.eat_word(b"w") {
        Op::Write
    } else if line.eat_word(b"r") {
        Op::Read
    } else {
        return Err(line.fault(WHAT.0, WHAT.1));
    };
    comma(line, WHAT.0, WHAT.1)?;
    Ok(op)
}

/// Nothing but blanks may follow the field before.
#[inline]
pub(super) fn end(line: &mut Cursor<'_>, what: &'static str, expected: &'static str) -> Result<(), Fault> {
    line.blanks();
    match line.peek() {
        None => Ok(()),
        Some(b',') => {
            let (from, to) = (line.at(), line.line().len());
            Err(Fault {
                from,
                to,
                what: "is more than the format has",
                expected: "expected the end of the line",
            })
        }
        Some(_) => Err(line.fault(what, expected)),
    }
}

/// The fields of a line, without blanks around them.
pub(super) fn fields(line: &[u8]) -> Vec<&[u8]> {
    line.split(|&b| b == b',').map(<[u8]>::trim_ascii).collect()
}

/// Whether a field is a whole number.
pub(super) fn is_uint(field: &[u8]) -> bool {
    !field.is_empty() && field.iter().all(u8::is_ascii_digit)
}

/// Whether a field is a number with or without a fraction.
pub(super) fn is_number(field: &[u8]) -> bool {
    field.first().is_some_and(u8::is_ascii_digit)
        && field.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
}

/// Whether a field is the letter of a read or a write.
pub(super) fn is_letter(field: &[u8]) -> bool {
    matches!(field, b"r" | b"R" | b"w" | b"W")
}
