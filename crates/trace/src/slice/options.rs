//! The options of a slice on the command line.

use floatgate_base::error::quote;
use floatgate_base::units::parse_bytes;
use floatgate_base::{Error, Op, Place, Result, TRACE_PAGE_BYTES};

/// Operations by their command-line names.
pub(super) const OPERATIONS: [(&str, Op); 3] = [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim)];

/// Units of time in nanoseconds.
const SPANS: [(&str, u64); 8] = [
    ("", 1_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Most digits of a decimal fraction that fit 64 bits.
const DIGITS_MAX: usize = 18;

/// The settings of a slice; the default keeps everything unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Keeps stamps from here on, in nanoseconds since the first of the trace.
    pub from_ns: Option<i64>,
    /// Keeps stamps before this, in nanoseconds since the first of the trace.
    pub until_ns: Option<i64>,
    /// Keeps devices with these names; all if empty.
    pub devices: Vec<String>,
    /// Keeps the operations that are true, by their number.
    pub ops: Option<[bool; 3]>,
    /// Keeps at most this many requests, after all filters.
    pub requests: Option<u64>,
    /// Reduces addresses modulo this many bytes, on each device; a multiple of 4096.
    pub fold_bytes: Option<u64>,
    /// Factor of the stamps, which count from the first request kept.
    pub time_scale: Option<Scale>,
}

/// A factor above 0, exact as its decimal fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    numerator: u64,
    denominator: u64,
}

impl Scale {
    /// Parses a decimal fraction such as `0.5`: above 0, of at most 18 digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (numerator, denominator) = decimal(text)?;
        (numerator > 0).then_some(Self { numerator, denominator })
    }

    /// Scales a stamp, to the nearest nanosecond, halves up; this keeps the order of stamps.
    #[inline]
    #[must_use]
    pub fn of(self, ns: i128) -> i128 {
        let (numerator, denominator) = (i128::from(self.numerator), i128::from(self.denominator));
        // Below 2^65 * 2^60: no overflow.
        (2 * ns * numerator + denominator).div_euclid(2 * denominator)
    }
}

impl Slice {
    /// The keys that [`Slice::parse`] reads.
    pub const KEYS: [&str; 7] = ["from", "until", "device", "op", "requests", "fold", "time_scale"];

    /// Parses the options of the command line: `get` returns the text of each of [`Slice::KEYS`] that is present.
    ///
    /// - `from`, `until`: seconds since the first request of the trace, or with a unit: `90`, `0.5`, `10m`, `2h`;
    /// - `device`: names separated by line breaks;
    /// - `op`: some of `read`, `write` and `trim`, separated by commas;
    /// - `requests`: a number above 0;
    /// - `fold`: a size that is a multiple of 4096, such as `4 GiB`;
    /// - `time_scale`: a decimal fraction above 0.
    ///
    /// # Errors
    /// Quotes the invalid value and states the valid ones.
    pub fn parse<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Result<Self> {
        let time = |setting: &str, key: &str| {
            let expected = "expected seconds since the first request, such as 90, 0.5, 10m or 2h";
            read(get(key), setting, "is not a time", expected, span)
        };
        let slice = Self {
            from_ns: time("--from", "from")?,
            until_ns: time("--until", "until")?,
            devices: get("device").map_or_else(Vec::new, |d| d.split('\n').map(str::to_owned).collect()),
            ops: read(
                get("op"),
                "--op",
                "does not name operations",
                "expected one or more of read,write,trim",
                operations,
            )?,
            requests: read(
                get("requests"),
                "--requests",
                "is not a number of requests",
                "expected 1 or more",
                |text| text.parse().ok().filter(|n| *n > 0),
            )?,
            fold_bytes: read(get("fold"), "--fold", "is not a size", FOLD_EXPECTED, |t| parse_bytes(t).ok())?,
            time_scale: read(
                get("time_scale"),
                "--time-scale",
                "is not a factor",
                "expected a number above 0 such as 0.5 (twice as fast), of at most 18 digits",
                Scale::parse,
            )?,
        };
        slice.check(get("from"), get("until"), get("fold"))?;
        Ok(slice)
    }

    fn check(&self, from: Option<&str>, until: Option<&str>, fold: Option<&str>) -> Result<()> {
        if let (Some(from_ns), Some(until_ns)) = (self.from_ns, self.until_ns)
            && from_ns >= until_ns
        {
            let (from, until) = (from.unwrap_or_default(), until.unwrap_or_default());
            let what =
                format!("{} is not before --until {}", quote(from.as_bytes()), quote(until.as_bytes()));
            return Err(refusal("--from", what, "expected --from before --until"));
        }
        if self.fold_bytes.is_some_and(|fold| fold == 0 || !fold.is_multiple_of(TRACE_PAGE_BYTES)) {
            let what =
                format!("{} is not a multiple of 4096 bytes", quote(fold.unwrap_or_default().as_bytes()));
            return Err(refusal("--fold", what, FOLD_EXPECTED));
        }
        Ok(())
    }

    /// Returns whether everything is kept unchanged.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether an operation is selected; all are by default.
    #[inline]
    pub(super) fn keeps(&self, op: Op) -> bool {
        self.ops.is_none_or(|ops| ops[op as usize])
    }

    /// Returns the first setting that requires times.
    pub(super) fn needs_times(&self) -> Option<&'static str> {
        let by_time = [
            ("--from", self.from_ns.is_some()),
            ("--until", self.until_ns.is_some()),
            ("--time-scale", self.time_scale.is_some()),
        ];
        by_time.iter().find(|(_, is)| *is).map(|(name, _)| *name)
    }
}

const FOLD_EXPECTED: &str = "expected a size in multiples of 4096 bytes, such as 4 GiB";

fn refusal(setting: &str, what: String, expected: &str) -> Box<Error> {
    Error::input(Place::Setting(setting.into()), what, expected)
}

/// Parses a value, if present.
fn read<T>(
    text: Option<&str>,
    setting: &str,
    wrong: &str,
    expected: &str,
    understand: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>> {
    let Some(text) = text else { return Ok(None) };
    let value = understand(text);
    match value {
        Some(value) => Ok(Some(value)),
        None => Err(refusal(setting, format!("{} {wrong}", quote(text.as_bytes())), expected)),
    }
}

/// Parses a decimal fraction without a sign, to numerator and power of ten.
fn decimal(text: &str) -> Option<(u64, u64)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.len() + fraction.len();
    let plain = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if digits == 0 || digits > DIGITS_MAX || !plain(whole) || !plain(fraction) {
        return None;
    }
    let numerator = format!("{whole}{fraction}").parse().ok()?;
    Some((numerator, 10u64.pow(fraction.len() as u32)))
}

/// Parses a duration to nanoseconds; fractions of one are cut off.
fn span(text: &str) -> Option<i64> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (numerator, denominator) = decimal(&text[..split])?;
    let unit = text[split..].trim();
    let (_, ns) = SPANS.iter().find(|(name, _)| *name == unit)?;
    i64::try_from(u128::from(numerator) * u128::from(*ns) / u128::from(denominator)).ok()
}

/// Parses operations separated by commas.
fn operations(text: &str) -> Option<[bool; 3]> {
    let mut kept = [false; 3];
    for name in text.split(',') {
        let (_, op) = OPERATIONS.iter().find(|(n, _)| *n == name.trim())?;
        kept[*op as usize] = true;
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(key: &str, value: &str) -> Result<Slice> {
        Slice::parse(|k| (k == key).then_some(value))
    }

    #[test]
    fn times_are_read_with_their_units() {
        for (text, ns) in [
            ("90", 90_000_000_000),
            ("0.5", 500_000_000),
            (".25", 250_000_000),
            ("10m", 600_000_000_000),
            ("1.5 h", 5_400_000_000_000),
            ("2d", 172_800_000_000_000),
            ("3ms", 3_000_000),
            ("7us", 7_000),
            ("12 ns", 12),
            ("0.0000000019", 1),
            ("0", 0),
        ] {
            assert_eq!(parse("from", text).unwrap().from_ns, Some(ns), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_quoted() {
        let message = |key: &str, value: &str| parse(key, value).unwrap_err().to_string();
        for (key, value, expected) in [
            (
                "from",
                "soon",
                "--from: 'soon' is not a time; expected seconds since the first request, such as 90, 0.5, 10m or 2h",
            ),
            ("until", "-1", "--until: '-1' is not a time; "),
            ("until", "1e3", "--until: '1e3' is not a time; "),
            ("until", "300000d", "--until: '300000d' is not a time; "),
            ("until", "", "--until: '' is not a time; "),
            (
                "op",
                "write,erase",
                "--op: 'write,erase' does not name operations; expected one or more of read,write,trim",
            ),
            ("requests", "0", "--requests: '0' is not a number of requests; expected 1 or more"),
            (
                "fold",
                "lots",
                "--fold: 'lots' is not a size; expected a size in multiples of 4096 bytes, such as 4 GiB",
            ),
            ("fold", "5000", "--fold: '5000' is not a multiple of 4096 bytes; "),
            ("fold", "0", "--fold: '0' is not a multiple of 4096 bytes; "),
            (
                "time_scale",
                "0.0",
                "--time-scale: '0.0' is not a factor; expected a number above 0 such as 0.5",
            ),
            ("time_scale", "inf", "--time-scale: 'inf' is not a factor; "),
            ("time_scale", "-1", "--time-scale: '-1' is not a factor; "),
        ] {
            let refusal_text = message(key, value);
            assert!(refusal_text.starts_with(expected), "{refusal_text}");
        }
        let both = |key: &str| match key {
            "from" => Some("1m"),
            "until" => Some("60"),
            _ => None,
        };
        assert_eq!(
            Slice::parse(both).unwrap_err().to_string(),
            "--from: '1m' is not before --until '60'; expected --from before --until"
        );
    }

    #[test]
    fn everything_is_kept_by_default() {
        assert!(Slice::parse(|_| None).unwrap().is_all());
        let slice = parse("device", "8,16\nsda").unwrap();
        assert_eq!(slice.devices, ["8,16", "sda"]);
        assert!(!slice.is_all() && slice.keeps(Op::Trim));
        let slice = parse("op", "trim, read").unwrap();
        assert!(slice.keeps(Op::Trim) && slice.keeps(Op::Read) && !slice.keeps(Op::Write));
        assert_eq!(parse("fold", "4 GiB").unwrap().fold_bytes, Some(4 << 30));
    }

    #[test]
    fn factors_are_exact() {
        let tenth = Scale::parse("0.1").unwrap();
        assert_eq!(tenth.of(90_071_992_547_409_930), 9_007_199_254_740_993);
        let half = Scale::parse("0.5").unwrap();
        assert_eq!([-3, -1, 0, 1, 3].map(|ns| half.of(ns)), [-1, 0, 0, 1, 2]);
    }

    proptest! {
        #[test]
        fn scaling_keeps_the_order(a in any::<i64>(), b in any::<i64>(), factor in 1u64..999_999_999, digits in 0usize..9) {
            let text = format!("{factor:09}");
            let scale = Scale::parse(&format!("{}.{}", &text[..digits], &text[digits..])).unwrap();
            let (low, high) = (i128::from(a.min(b)), i128::from(a.max(b)));
            prop_assert!(scale.of(low) <= scale.of(high));
        }
    }
}
