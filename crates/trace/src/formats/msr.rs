//! MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! Stamps are Windows FILETIME ticks of 100 ns, addresses and sizes bytes. A header line may stand anywhere, since
//! volumes are often joined with `cat`. Host and disk together name the device. The response time is checked for
//! being a number and not used; it may be missing.

use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "msr",
    summary: "MSR Cambridge CSV (SNIA IOTTA)",
    line: "expected Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    units: "time in FILETIME ticks of 100 ns, address and size in bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Filetime),
    lba_unit: Some(LbaUnit::Byte),
    extensions: &["csv", "msr"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Msr>,
};

pub(super) struct Msr {
    time_power: u32,
    lba_bytes: u64,
}

impl LineFormat for Msr {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        let Some(stamp) = line.stamp(self.time_power) else {
            if line.at_end() || is_header(line.line()) {
                return Ok(None);
            }
            return Err(line.fault("is no time stamp", "expected ticks of 100 ns"));
        };
        comma(line, "is no time stamp", "expected ticks of 100 ns")?;
        let from = line.at();
        if line.until(b',').is_empty() {
            return Err(line.fault("is no host name", "expected a host name"));
        }
        comma(line, "is no host name", "expected a host name")?;
        line.uint().ok_or_else(|| line.fault("is no disk number", "expected a whole number"))?;
        let device = line.since(from);
        comma(line, "is no disk number", "expected a whole number")?;
        let op = if line.eat_word(b"Write,") {
            Op::Write
        } else if line.eat_word(b"Read,") {
            Op::Read
        } else {
            return Err(line.fault("is no type", "expected Read or Write"));
        };
        let lba = line.uint().ok_or_else(|| line.fault("is no offset", "expected bytes"))?;
        comma(line, "is no offset", "expected bytes")?;
        let bytes = line.uint().ok_or_else(|| line.fault("is no size", "expected bytes"))?;
        response(line)?;
        let offset = scaled(lba, self.lba_bytes)?;
        Ok(Some(Record { stamp, op, offset, bytes, device }))
    }

    fn device_name(key: &[u8]) -> String {
        String::from_utf8_lossy(key).replacen(',', "_", 1)
    }
}

/// Steps over the comma behind a field.
#[inline]
fn comma(
    line: &mut Cursor<'_>,
    what: &'static str,
    expected: &'static str,
) -> std::result::Result<(), Fault> {
    if line.eat(b',') { Ok(()) } else { Err(line.fault(what, expected)) }
}

/// Steps over the response time.
#[inline]
fn response(line: &mut Cursor<'_>) -> std::result::Result<(), Fault> {
    if line.at_end() {
        return Ok(());
    }
    comma(line, "is no size", "expected bytes")?;
    let from = line.at();
    if line.uint().is_some() && line.at_end() {
        return Ok(());
    }
    // Some tools write a float or a negative number here.
    let text = &line.line()[from..];
    if text.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b' ')) {
        return Ok(());
    }
    let expected = "expected ticks of 100 ns and the end of the line";
    Err(Fault { from, to: line.line().len(), what: "is no response time", expected })
}

fn is_header(line: &[u8]) -> bool {
    line.get(..10).is_some_and(|w| w.eq_ignore_ascii_case(b"timestamp,"))
}

fn recognise(line: &[u8]) -> Likeness {
    let fields: Vec<&[u8]> = line.split(|&b| b == b',').collect();
    let record = matches!(fields.len(), 6 | 7)
        && fields[0].iter().all(u8::is_ascii_digit)
        && (fields[3].eq_ignore_ascii_case(b"read") || fields[3].eq_ignore_ascii_case(b"write"));
    // Other formats have headers that begin with a time stamp, too.
    Likeness::sure(record || is_header(line) && fields[1].eq_ignore_ascii_case(b"hostname"))
}
