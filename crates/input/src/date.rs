//! Parses dates and times of day.

/// Picoseconds of a second.
const SECOND_PS: i128 = 1_000_000_000_000;
/// Digits of a second in picoseconds.
const DIGITS: usize = 12;

/// Computes the seconds from 1970 to the minute `YYYY-MM-DD HH:MM:`.
#[must_use]
pub fn minute_of(text: &[u8]) -> Option<i64> {
    if !fits(text, b"0000-00-00 00:00:") {
        return None;
    }
    let (hour, minute) = (number(&text[11..13]), number(&text[14..16]));
    (hour <= 23 && minute <= 59).then_some((day_of(&text[..10])? * 24 + hour) * 3600 + minute * 60)
}

/// Computes the days from 1970 to `YYYY-MM-DD`.
#[must_use]
pub fn day_of(text: &[u8]) -> Option<i64> {
    if text.len() != 10 || !fits(text, b"0000-00-00") {
        return None;
    }
    let (year, month, day) = (number(&text[..4]), number(&text[5..7]), number(&text[8..10]));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let in_month = *usize::try_from(month - 1).ok().and_then(|m| days.get(m))?;
    // Years before 1677 do not fit nanoseconds in 64 bits; no log is that old.
    if !(1970..2200).contains(&year) || !(1..=in_month).contains(&day) {
        return None;
    }
    let years_before = year - 1;
    let days_before_year = years_before * 365 + years_before / 4 - years_before / 100 + years_before / 400;
    let days_before_month: i64 = days[..month as usize - 1].iter().sum();
    Some(days_before_year + days_before_month + day - 1 - 719_162)
}

/// Computes the picoseconds from midnight to `HH:MM:SS` with or without a fraction; digits beyond picoseconds are cut.
#[must_use]
pub fn clock_ps(text: &[u8]) -> Option<i128> {
    let (whole, fraction) = text.split_at_checked(8)?;
    if !fits(whole, b"00:00:00") {
        return None;
    }
    let (hour, minute, second) = (number(&whole[..2]), number(&whole[3..5]), number(&whole[6..8]));
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let fraction_ps = match fraction {
        [] => 0,
        [b'.' | b',', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            (0..DIGITS).fold(0, |ps, i| ps * 10 + i128::from(digits.get(i).unwrap_or(&b'0') - b'0'))
        }
        _ => return None,
    };
    Some(i128::from((hour * 60 + minute) * 60 + second) * SECOND_PS + fraction_ps)
}

/// Computes the picoseconds from 1970 to a date and time by ISO 8601: `YYYY-MM-DDTHH:MM:SS.fff+HH:MM`. A blank may stand
/// for the T; fraction and time zone may be missing.
#[must_use]
pub fn iso_ps(text: &[u8]) -> Option<i128> {
    let (date, rest) = text.split_at_checked(10)?;
    let ([b'T' | b't' | b' ', clock @ ..], day) = (rest, day_of(date)?) else { return None };
    let end = clock.iter().position(|b| matches!(b, b'Z' | b'z' | b'+' | b'-')).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(end);
    Some(i128::from(day) * 86_400 * SECOND_PS + clock_ps(clock)? - zone_ps(zone)?)
}

/// Computes by how much a time zone is ahead: `Z`, `+HH:MM`, `-HHMM`, `+HH`, or none.
fn zone_ps(text: &[u8]) -> Option<i128> {
    let (sign, zone) = match text {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', zone @ ..] => (1, zone),
        [_, zone @ ..] => (-1, zone),
    };
    let digits = match zone.len() {
        5 if fits(zone, b"00:00") => [&zone[..2], &zone[3..]],
        4 if fits(zone, b"0000") => [&zone[..2], &zone[2..]],
        2 if fits(zone, b"00") => [zone, b""],
        _ => return None,
    };
    Some(i128::from(sign * (number(digits[0]) * 60 + number(digits[1])) * 60) * SECOND_PS)
}

/// Returns whether a text has digits where the form has zeros, and the form's characters elsewhere; it may be longer.
fn fits(text: &[u8], form: &[u8]) -> bool {
    let fits = |(b, f): (&u8, &u8)| if *f == b'0' { b.is_ascii_digit() } else { b == f };
    text.len() >= form.len() && text.iter().zip(form).all(fits)
}

fn number(digits: &[u8]) -> i64 {
    digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_times_count_from_1970() {
        for (text, expected) in [
            ("1970-01-01", Some(0)),
            ("2000-03-01", Some(11_017)),
            ("2024-02-29", Some(19_782)),
            ("2023-02-29", None),
            ("2024-13-01", None),
            ("2024-1-01", None),
        ] {
            assert_eq!(day_of(text.as_bytes()), expected, "{text}");
        }
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01T00:00:01.5", Some(1_500_000_000_000)),
            ("1970-01-01 01:00:00.000000001+01:00", Some(1000)),
            ("1970-01-01T00:00:00-0130", Some(5_400_000_000_000_000)),
            ("1970-01-02T00:00:00,25+00", Some(86_400_250_000_000_000)),
            ("1970-01-01T00:00:00.1234567899998Z", Some(123_456_789_999)),
            ("1970-01-01T24:00:00", None),
            ("1970-01-01T00:00:00.", None),
            ("1970-01-01T00:00:00+1", None),
            ("1970-01-01", None),
        ] {
            assert_eq!(iso_ps(text.as_bytes()), expected, "{text}");
        }
    }
}
