//! Helpers for comma-separated formats other than described columns: a field, the comma after it, blanks around it.

use floatgate_input::{Cursor, Fault};

/// Skips the comma after a field.
#[inline]
pub(super) fn comma(line: &mut Cursor<'_>, what: &'static str, expected: &'static str) -> Result<(), Fault> {
    line.blanks();
    if !line.eat(b',') {
        return Err(line.fault(what, expected));
    }
    line.blanks();
    Ok(())
}

/// Parses a whole number without a comma after it.
#[inline]
pub(super) fn last_uint(
    line: &mut Cursor<'_>,
    what: &'static str,
    expected: &'static str,
) -> Result<u64, Fault> {
    line.uint().ok_or_else(|| line.fault(what, expected))
}

/// Returns a whole number that names the device, at the end of a line.
#[inline]
pub(super) fn last_device<'a>(line: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], Fault> {
    let from = line.at();
    if line.uint().is_none() {
        return Err(line.fault(what, "expected a whole number"));
    }
    Ok(line.since(from))
}

/// Parses a time stamp and the comma after it.
#[inline]
pub(super) fn stamp(line: &mut Cursor<'_>, power: u32, expected: &'static str) -> Result<i128, Fault> {
    let stamp = line.stamp(power).ok_or_else(|| line.fault("is not a time stamp", expected))?;
    comma(line, "is not a time stamp", expected)?;
    Ok(stamp)
}

/// Splits a line into fields, without blanks around them.
pub(super) fn fields(line: &[u8]) -> Vec<&[u8]> {
    line.split(|&b| b == b',').map(<[u8]>::trim_ascii).collect()
}

/// Returns whether a field is a whole number.
pub(super) fn is_uint(field: &[u8]) -> bool {
    !field.is_empty() && field.iter().all(u8::is_ascii_digit)
}

/// Returns whether a field is a number with or without a fraction.
pub(super) fn is_number(field: &[u8]) -> bool {
    field.first().is_some_and(u8::is_ascii_digit)
        && field.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
}
