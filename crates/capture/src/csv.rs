//! Comma-separated values: times and levels, as Saleae Logic 2 and sigrok-cli write them.
//!
//! Logic 2 has a row for each change: `Time [s],Channel 0,...`, levels 0, 1 and X. sigrok-cli has a row for each sample (or, with
//! `dedup`, for each change), with comments in front that name channels and sample rate, and a time only with `time=true`; the
//! header says its unit (`microseconds,logic`), or just `Time`, which is then in the largest unit of which a sample takes at least
//! one. Without a header, times with a fraction are seconds.

use crate::level::Level;
use crate::lows::Lows;
use crate::options::{ReadOptions, Watch};
use crate::units::{parse_rate_hz, parse_time_unit_ps};
use floatgate_base::error::quote;
use floatgate_base::{Error, Place, Result};
use floatgate_input::{CHUNK, Input, Lines, Next};

/// Pins of a file, at most.
const PINS_MAX: usize = 4096;

/// What rows mean.
#[derive(Debug)]
struct Columns {
    /// Picoseconds of a unit of the first column; none where rows are samples.
    unit_ps: Option<f64>,
    /// Picoseconds between rows that have no time.
    period_ps: f64,
    first_pin: usize,
    pins: usize,
}

/// What the head says.
#[derive(Debug, Default)]
struct Head {
    channels: Vec<String>,
    rate_hz: Option<f64>,
}

impl Head {
    /// `; Samplerate: 1 MHz`, `; Channels (2/2): D0, D1`.
    fn comment(&mut self, line: &str) {
        if let Some((_, rate)) = line.split_once("Samplerate:") {
            self.rate_hz = parse_rate_hz(rate);
        } else if let Some((_, names)) =
            line.split_once("Channels").and_then(|(_, rest)| rest.split_once(':'))
        {
            self.channels = names.split(',').map(|name| name.trim().to_owned()).collect();
        }
    }

    /// What `Time` without a unit is in: libsigrok takes the largest unit of which a sample takes at least one.
    fn time_unit_ps(&self) -> Option<f64> {
        let rate_hz = self.rate_hz?;
        [1e12, 1e9, 1e6, 1e3, 1.0].into_iter().find(|unit_ps| rate_hz * unit_ps <= 1e12)
    }
}

/// The level that a field says; none where it is no level.
#[inline]
fn level_of(field: &[u8]) -> Option<Level> {
    match field.trim_ascii() {
        b"0" => Some(Level::Low),
        b"1" => Some(Level::High),
        b"x" | b"X" | b"z" | b"Z" | b"" => Some(Level::Unknown),
        _ => None,
    }
}

/// A time in units of `unit_ps`.
#[inline]
fn time_ps(field: &[u8], unit_ps: f64) -> Option<i64> {
    let (negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (mut whole, mut decimals, mut seen_dot) = (0u64, 0u32, false);
    if digits.is_empty() || digits.len() > 20 || unit_ps < 1.0 {
        return slow_time_ps(field, unit_ps);
    }
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                whole = whole.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
                decimals += u32::from(seen_dot);
            }
            b'.' if !seen_dot => seen_dot = true,
            _ => return slow_time_ps(field, unit_ps),
        }
    }
    let ps = u128::from(whole) * unit_ps as u128;
    let ps = if decimals > 0 { ps / 10u128.pow(decimals) } else { ps };
    let ps = i64::try_from(ps).ok()?;
    Some(if negative { -ps } else { ps })
}

/// Times with an exponent.
#[cold]
fn slow_time_ps(field: &[u8], unit_ps: f64) -> Option<i64> {
    let time: f64 = std::str::from_utf8(field).ok()?.trim().parse().ok()?;
    let ps = (time * unit_ps).round();
    (ps.abs() < 9e18).then_some(ps as i64)
}

/// Reads a file of rows.
pub(crate) fn read(input: Input, lows: &mut Lows, options: &ReadOptions, watch: &mut Watch) -> Result<()> {
    let first = lows.pins.len();
    let mut reader = Reader {
        path: input.name().to_owned(),
        lines: Lines::new(input, CHUNK)?,
        head: Head::default(),
        columns: None,
        before: Vec::new(),
        rows: 0,
        now_ps: i64::MIN,
    };
    while let Some(line) = reader.next_line(watch)? {
        reader.row(line, lows, options)?;
    }
    if reader.rows == 0 {
        return Err(Error::input(Place::Path(reader.path), "no row of levels", "expected times and levels"));
    }
    lows.end(first);
    Ok(())
}

struct Reader {
    path: String,
    lines: Lines,
    head: Head,
    columns: Option<Columns>,
    /// Levels of the row before, as they were written.
    before: Vec<u8>,
    rows: u64,
    now_ps: i64,
}

impl Reader {
    /// Where the next line lies.
    fn next_line(&mut self, watch: &mut Watch) -> Result<Option<(usize, usize)>> {
        loop {
            match self.lines.next_line() {
                Next::Line { from, len } => return Ok(Some((from, len))),
                Next::TooLong => {
                    return Err(self.fault("a line that is too long", "expected times and levels"));
                }
                Next::Empty => {
                    if !self.lines.refill()? {
                        return Ok(None);
                    }
                    watch(self.lines.input().taken())?;
                }
            }
        }
    }

    #[cold]
    fn fault(&self, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
        let place = Place::Line { path: self.path.clone(), line: self.lines.number(), column: None };
        Error::input(place, what, expected)
    }

    #[inline]
    fn row(&mut self, (from, len): (usize, usize), lows: &mut Lows, options: &ReadOptions) -> Result<()> {
        let line = &self.lines.bytes()[from..from + len];
        let Some(columns) = &self.columns else { return self.head_line((from, len), lows, options) };
        let (time_ps, levels) = match columns.unit_ps {
            None => ((self.rows as f64 * columns.period_ps).round() as i64, line),
            Some(unit_ps) => {
                let comma = line.iter().position(|&byte| byte == b',').unwrap_or(line.len());
                let Some(time_ps) = time_ps(line[..comma].trim_ascii(), unit_ps) else {
                    if line.trim_ascii().is_empty() {
                        return Ok(());
                    }
                    let what = format!("{} is no time", quote(&line[..comma]));
                    return Err(self.fault(what, "expected a number (export times as seconds, not as dates)"));
                };
                (time_ps, &line[(comma + 1).min(line.len())..])
            }
        };
        if time_ps < self.now_ps {
            let what = format!("time goes back to {}", quote(line));
            return Err(self.fault(what, "expected rows in ascending order of time"));
        }
        (self.now_ps, self.rows) = (time_ps, self.rows + 1);
        lows.reach(time_ps);
        if levels == self.before && self.rows > 1 {
            return Ok(());
        }
        let (first, pins) = (columns.first_pin, columns.pins);
        let mut seen = 0;
        for field in levels.split(|&byte| byte == b',') {
            let Some(level) = level_of(field) else {
                let what = format!("{} is no level", quote(field));
                return Err(self.fault(what, "expected 0 or 1 (export digital channels only)"));
            };
            if seen < pins {
                lows.change(first + seen, time_ps, level);
            }
            seen += 1;
        }
        if seen != pins {
            let what = format!("{seen} levels where the first rows have {pins}");
            return Err(self.fault(what, "expected as many columns in every row"));
        }
        self.before.clear();
        self.before.extend_from_slice(levels);
        Ok(())
    }

    /// A comment, the header, or the first row, from which on rows are known.
    #[cold]
    fn head_line(&mut self, at: (usize, usize), lows: &mut Lows, options: &ReadOptions) -> Result<()> {
        let line = String::from_utf8_lossy(&self.lines.bytes()[at.0..at.0 + at.1]).into_owned();
        let text = line.trim().trim_start_matches('\u{feff}');
        if text.is_empty() {
            return Ok(());
        }
        if text.starts_with([';', '#']) {
            self.head.comment(text);
            return Ok(());
        }
        let fields: Vec<&str> = text.split(',').map(|field| field.trim().trim_matches('"')).collect();
        let is_level = |field: &&str| level_of(field.as_bytes()).is_some();
        let is_header = fields.iter().any(|field| !is_level(field) && field.parse::<f64>().is_err());
        let given_ps = options.time_unit_ps;
        let unit_ps = match (is_header, fields.first()) {
            (true, Some(first)) if parse_time_unit_ps(first).is_some() => {
                given_ps.or(parse_time_unit_ps(first))
            }
            (true, Some(first)) if first.to_ascii_lowercase().starts_with("time") => {
                let named = first.split(['[', '(', ']', ')']).nth(1).and_then(parse_time_unit_ps);
                let unit_ps = given_ps.or(named).or_else(|| self.head.time_unit_ps());
                Some(unit_ps.ok_or_else(|| self.unknown_unit())?)
            }
            (false, Some(first)) if self.head.channels.len() != fields.len() && fields.len() > 1 => {
                let unit_ps = given_ps.or(first.contains('.').then_some(1e12));
                let unit_ps = unit_ps.or_else(|| self.head.time_unit_ps());
                Some(unit_ps.ok_or_else(|| self.unknown_unit())?)
            }
            _ => None,
        };
        if unit_ps.is_none() && self.head.rate_hz.is_none() && given_ps.is_none() {
            return Err(self.fault(
                "rows have no time, and the file does not say its sample rate",
                "export times, or say what lies between two rows, as in --time-unit 1us",
            ));
        }
        let with_time = usize::from(unit_ps.is_some());
        let pins = fields.len() - with_time;
        if pins == 0 || pins > PINS_MAX {
            return Err(
                self.fault(format!("{pins} columns of levels"), format!("expected from 1 to {PINS_MAX}"))
            );
        }
        let first_pin = lows.pins.len();
        for (pin, label) in fields[with_time..].iter().enumerate() {
            let named = is_header && *label != "logic";
            let channel = self.head.channels.get(pin).filter(|_| self.head.channels.len() == pins);
            let name = if named { Some((*label).to_owned()) } else { channel.cloned() };
            lows.add_pin(name.unwrap_or_else(|| format!("{pin}")));
        }
        let period_ps = self.head.rate_hz.map_or(given_ps.unwrap_or(1.0), |rate_hz| 1e12 / rate_hz);
        self.columns = Some(Columns { unit_ps, period_ps, first_pin, pins });
        if is_header { Ok(()) } else { self.row(at, lows, options) }
    }

    #[cold]
    fn unknown_unit(&self) -> Box<Error> {
        self.fault("the file does not say the unit of its times", "say it, as in --time-unit 1us")
    }
}
