//! Units of time, and their common divisors.

/// Units of time, largest first, in picoseconds; a femtosecond is below one.
const UNITS: [(&str, f64); 14] = [
    ("seconds", 1e12),
    ("milliseconds", 1e9),
    ("microseconds", 1e6),
    ("nanoseconds", 1e3),
    ("picoseconds", 1.0),
    ("femtoseconds", 1e-3),
    ("s", 1e12),
    ("ms", 1e9),
    ("us", 1e6),
    ("\u{b5}s", 1e6),
    ("\u{3bc}s", 1e6),
    ("ns", 1e3),
    ("ps", 1.0),
    ("fs", 1e-3),
];

/// Parses a unit of time (`us`, `microseconds`) and returns its picoseconds.
#[must_use]
pub fn parse_time_unit_ps(text: &str) -> Option<f64> {
    let text = text.trim();
    UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|&(_, ps)| ps)
}

/// Parses a duration with or without a unit and returns picoseconds: `812.5us`, `0.9 ms`, or `812.5` in the unit
/// `otherwise_ps`.
#[must_use]
pub fn parse_duration_ps(text: &str, otherwise_ps: Option<f64>) -> Option<f64> {
    let text = text.trim();
    let digits =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
    // An exponent belongs to the number.
    let exponent = text[digits..].strip_prefix(['e', 'E']).map_or(digits, |rest| {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+'))).unwrap_or(rest.len());
        if end > 0 { digits + 1 + end } else { digits }
    });
    let (number, unit) = text.split_at(exponent);
    let unit_ps = if unit.trim().is_empty() { otherwise_ps } else { parse_time_unit_ps(unit) }?;
    let number: f64 = number.parse().ok()?;
    number.is_finite().then_some(number * unit_ps)
}

/// Parses a rate: `1 MHz`, `24000000`.
pub(crate) fn parse_rate_hz(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let factor = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "hz" => 1.0,
        "khz" => 1e3,
        "mhz" => 1e6,
        "ghz" => 1e9,
        _ => return None,
    };
    text[..digits].parse::<f64>().ok().map(|rate| rate * factor).filter(|rate| (1e-3..=1e12).contains(rate))
}

/// Returns the greatest common divisor; that of 0 and a number is the number.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_units() {
        for (text, expected) in [
            ("812.5us", Some(812.5e6)),
            ("0.9 ms", Some(0.9e9)),
            ("1e-3 s", Some(1e9)),
            ("3", Some(3e3)),
            ("3 parsecs", None),
            ("", None),
            ("us", None),
            ("inf", None),
        ] {
            assert_eq!(parse_duration_ps(text, Some(1e3)), expected, "{text}");
        }
        assert_eq!(parse_duration_ps("3", None), None);
        assert_eq!(parse_time_unit_ps("Microseconds"), Some(1e6));
    }
}
