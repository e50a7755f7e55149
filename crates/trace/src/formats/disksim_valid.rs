//! DiskSim disk validation: `op hit lbn sectors service_us gap_us`, one request at a time.
//!
//! The disk received one request after the other, and lines have no stamp. DiskSim starts the next request the gap of a
//! line after that line's completion. This reader does the same, with the measured service time. (In half the lines of
//! the public traces the gap is shorter than the service; it cannot be the distance of two arrivals.) The second column
//! reports the disk's buffer and is not used. Sectors of 512 bytes.

use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "disksim-valid",
    summary: "DiskSim disk validation",
    line: "expected op hit lbn sectors service_us gap_us",
    units: "assumed: times in us and one request at a time, address and size in sectors of 512 bytes",
    states_units: false,
    time_unit: Some(TimeUnit::Microseconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["disksim-valid", "disksim-hpl"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<DiskSimValid>,
};

pub(super) struct DiskSimValid {
    time_power: u32,
    lba_bytes: u64,
    /// Arrival of the next request.
    now: i128,
}

impl LineFormat for DiskSimValid {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes, now: 0 })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() {
            return Ok(None);
        }
        let op = match line.word() {
            b"R" => Op::Read,
            b"W" => Op::Write,
            word => {
                let to = line.at();
                return Err(Fault {
                    from: to - word.len(),
                    to,
                    what: "is not an operation",
                    expected: "expected R or W",
                });
            }
        };
        line.blanks();
        if !line.word().iter().all(u8::is_ascii_alphabetic) || !line.blanks() {
            return Err(line.fault("is not a hit or miss", "expected Hit, Miss, Doub or Trip"));
        }
        let lbn = line.uint().ok_or_else(|| line.fault("is not an address", "expected sectors"))?;
        gap(line, "is not an address", "expected sectors")?;
        let sectors = line.uint().ok_or_else(|| line.fault("is not a size", "expected sectors"))?;
        gap(line, "is not a size", "expected sectors")?;
        let service = duration(line, self.time_power, "is not a service time")?;
        let pause = duration(line, self.time_power, "is not a gap")?;
        if !line.at_end() {
            return Err(line.fault("is one field too many", "expected the end of the line"));
        }
        let (offset, bytes) = (scaled(lbn, self.lba_bytes)?, scaled(sectors, 512)?);
        let stamp = self.now;
        // Times are bounded, and a file has fewer than 2^63 lines.
        self.now = self.now.saturating_add(service + pause);
        Ok(Some(Record { stamp, op, offset, bytes, device: ONE_DEVICE }))
    }

    fn restart(&mut self) {
        self.now = 0;
    }
}

/// Skips the blanks after a column.
#[inline]
fn gap(line: &mut Cursor<'_>, what: &'static str, expected: &'static str) -> std::result::Result<(), Fault> {
    if line.blanks() || line.at_end() { Ok(()) } else { Err(line.fault(what, expected)) }
}

/// Parses a nonnegative time and the blanks after it.
#[inline]
fn duration(line: &mut Cursor<'_>, power: u32, what: &'static str) -> std::result::Result<i128, Fault> {
    let from = line.at();
    match line.stamp(power) {
        Some(value) if (0..=i128::from(i64::MAX)).contains(&value) && (line.blanks() || line.at_end()) => {
            Ok(value)
        }
        _ => Err(line.fault_from(from, what, "expected microseconds")),
    }
}

fn recognise(line: &[u8]) -> Likeness {
    let words: Vec<&[u8]> = line.split(|b| matches!(b, b' ' | b'\t')).filter(|w| !w.is_empty()).collect();
    let [op, hit, lbn, sectors, service, pause] = words[..] else { return Likeness::No };
    let number = |w: &[u8]| w.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    Likeness::sure(
        matches!(op, b"R" | b"W")
            && hit.iter().all(u8::is_ascii_alphabetic)
            && [lbn, sectors, service, pause].into_iter().all(number),
    )
}
