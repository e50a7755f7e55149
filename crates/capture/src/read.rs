//! Detects the format of a capture and reads it.

use crate::lows::Lows;
use crate::options::{Format, ReadOptions, Watch};
use crate::{csv, intervals, saleae, sigrok, vcd};
use floatgate_base::error::quote;
use floatgate_base::{Error, Place, Result};
use floatgate_input::Input;
use std::fs::File;
use std::io::Read;
use std::ops::Range;

/// Bytes that determine the format.
const HEAD: usize = 64 << 10;

/// A capture that has been read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The file.
    pub path: String,
    /// Its format.
    pub format: Format,
    /// The range of its pins.
    pub pins: Range<usize>,
}

/// Reads a capture to its end.
///
/// # Errors
/// Unusable input, with the place.
pub fn read(path: &str, options: &ReadOptions, lows: &mut Lows, watch: &mut Watch) -> Result<Reading> {
    let first = lows.pins.len();
    let format = if is_zip(path) {
        sigrok::read(path, lows, options.time_unit_ps, watch)?;
        Format::Sigrok
    } else {
        let mut input = Input::open(path, "capture")?;
        let format = match options.format {
            Some(format) => format,
            None => detect(path, input.peek(HEAD)?)?,
        };
        match format {
            Format::Vcd => vcd::read(input, lows, options.time_unit_ps, watch)?,
            Format::Saleae => saleae::read(input, lows, watch)?,
            Format::Csv => csv::read(input, lows, options, watch)?,
            Format::Intervals => intervals::read(input, lows, options, watch)?,
            Format::Sigrok => {
                let what = "is not a zip archive, as sigrok sessions are";
                return Err(Error::input(
                    Place::Path(path.into()),
                    what,
                    "expected a file saved by sigrok (.sr)",
                ));
            }
        }
        format
    };
    Ok(Reading { path: path.into(), format, pins: first..lows.pins.len() })
}

/// Returns whether a file begins like a zip archive.
fn is_zip(path: &str) -> bool {
    let mut head = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *b"PK\x03\x04"
}

/// Detects the format from the beginning of a file.
fn detect(path: &str, head: &[u8]) -> Result<Format> {
    if head.starts_with(saleae::MAGIC) {
        return Ok(Format::Saleae);
    }
    let place = || Place::Path(path.into());
    let expected = "expected VCD, a sigrok session, CSV or lengths of low phases; select one with --format";
    let mut text = head.trim_ascii_start();
    // sigrok-cli writes the rate of raw samples first, in any format.
    if text.starts_with(csv::META_RATE.as_bytes()) {
        let line = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
        text = text[line..].trim_ascii_start();
    }
    if text.is_empty() {
        return Err(Error::input(place(), "the file is empty", "expected a capture"));
    }
    if text.starts_with(b"$") {
        return Ok(Format::Vcd);
    }
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    if head.contains(&0)
        || std::str::from_utf8(&head[..head.len().min(256)]).is_err_and(|e| e.error_len().is_some())
    {
        return Err(Error::input(
            place(),
            format!("begins with {}, which is not text", quote(&head[..head.len().min(16)])),
            expected,
        ));
    }
    if text.starts_with(b"; CSV") {
        return Ok(Format::Csv);
    }
    let Some(line) = lines.find(|line| !line.starts_with(b";") && !line.starts_with(b"#")) else {
        return Err(Error::input(place(), "has comments only", expected));
    };
    if line.contains(&b',') {
        return Ok(Format::Csv);
    }
    let has_digit = |line: &[u8]| line.first().is_some_and(u8::is_ascii_digit);
    if has_digit(line) || lines.next().is_some_and(has_digit) {
        return Ok(Format::Intervals);
    }
    Err(Error::input(place(), format!("{} is not a known capture format", quote(line)), expected))
}
