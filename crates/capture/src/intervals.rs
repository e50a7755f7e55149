//! Reads lists of low phases: one length per line, each with its unit or with a common one.

use crate::lows::Lows;
use crate::options::{ReadOptions, Watch};
use crate::units::{parse_duration_ps, parse_time_unit_ps};
use floatgate_base::error::quote;
use floatgate_base::{Error, Place, Result};
use floatgate_input::{CHUNK, Input, Lines, Next, cut};

/// Reads a list. A header that ends in a unit (`us`, `low_us`) sets the unit of all lengths.
pub(crate) fn read(input: Input, lows: &mut Lows, options: &ReadOptions, watch: &mut Watch) -> Result<()> {
    let path = input.name().to_owned();
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let (first, mut unit_ps, mut rows) = (lows.add_pin(name), options.time_unit_ps, 0u64);
    let mut lines = Lines::new(input, CHUNK)?;
    loop {
        let (from, len) = match lines.next_line() {
            Next::Line { from, len } => (from, len),
            Next::Empty if lines.refill()? => {
                watch(lines.input().taken())?;
                continue;
            }
            Next::Empty => break,
            Next::TooLong => {
                let place = Place::Line { path, line: lines.number(), column: None };
                return Err(Error::input(place, "a line that is too long", "expected a duration"));
            }
        };
        let fault = |what: String, expected: &str| {
            let place = Place::Line { path: path.clone(), line: lines.number(), column: None };
            let (what, expected) = cut(what, expected.into(), lines.cut_len());
            Error::input(place, what, expected)
        };
        let text = String::from_utf8_lossy(&lines.bytes()[from..from + len]);
        let text = text.trim();
        if text.is_empty() || text.starts_with(['#', ';']) {
            continue;
        }
        let length_ps = parse_duration_ps(text, unit_ps).filter(|ps| *ps >= 0.0 && *ps < 9e18);
        if let Some(length_ps) = length_ps {
            lows.add_low(first, length_ps.round() as u64);
            rows += 1;
            continue;
        }
        let unit = text.rsplit(['_', ' ', '[', '(']).next().map(|unit| unit.trim_end_matches([']', ')']));
        match unit.and_then(parse_time_unit_ps) {
            Some(named) if rows == 0 => unit_ps = unit_ps.or(Some(named)),
            _ if unit_ps.is_none() && text.parse::<f64>().is_ok() => {
                return Err(fault(
                    format!("{} has no unit", quote(text.as_bytes())),
                    "expected a unit after it, a unit in the header, or --time-unit 1us",
                ));
            }
            _ => {
                let what = format!("{} is not a length of time", quote(text.as_bytes()));
                return Err(fault(what, "expected a number with a unit, such as 812.5us"));
            }
        }
    }
    if rows == 0 {
        return Err(Error::input(Place::Path(path), "no low phases", "expected one length per line"));
    }
    lows.end(first);
    Ok(())
}
