//! fio's logs of single requests with offsets (`write_lat_log` and its like, `log_offset=1`):
//! `time_ms, value, direction, bytes, offset[, priority][, issue time]`.
//!
//! The value (a latency, a bandwidth) is not used. A line is logged when its request completes, with the milliseconds
//! since the job began (fio HOWTO, "Log File Formats"). Direction 0 reads, 1 writes, 2 trims. Lines of averages
//! (`log_avg_msec`) have no single request: their size is 0, and they are other records. Logs without offsets are
//! refused.

use super::csv::{comma, fields};
use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::{ONE_DEVICE, Record};
use crate::options::TimeUnit;
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "fio-log",
    summary: "fio's latency or bandwidth logs with log_offset=1",
    line: "expected time, value, direction, bytes, offset",
    units: "time of completion in ms, size and offset in bytes; 0 = read, 1 = write, 2 = trim",
    states_units: true,
    time_unit: Some(TimeUnit::Milliseconds),
    other_time_units: &[],
    lba_unit: None,
    extensions: &["fio-log"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<FioLog>,
};

const WITHOUT_OFFSET: &str = "expected an offset: run fio with --log_offset=1";

pub(super) struct FioLog {
    time_power: u32,
}

impl LineFormat for FioLog {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() {
            return Ok(None);
        }
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected milliseconds"))?;
        comma(line, "is not a time stamp", "expected milliseconds")?;
        line.until(b',');
        comma(line, "is not a value", "expected a number")?;
        let op = match line.uint() {
            Some(0) => Op::Read,
            Some(1) => Op::Write,
            Some(2) => Op::Trim,
            _ => return Err(line.fault("is not a direction", "expected 0 (read), 1 (write) or 2 (trim)")),
        };
        comma(line, "is not a direction", "expected 0 (read), 1 (write) or 2 (trim)")?;
        let bytes = line.uint().ok_or_else(|| line.fault("is not a size", "expected bytes"))?;
        line.blanks();
        if line.at_end() {
            return Err(Fault::line("no offset", WITHOUT_OFFSET));
        }
        comma(line, "is not a size", "expected bytes")?;
        // The priority is hexadecimal, and stands here in a log without offsets.
        if line.rest().starts_with(b"0x") {
            return Err(Fault::line("no offset", WITHOUT_OFFSET));
        }
        let offset = line.uint().ok_or_else(|| line.fault("is not an offset", "expected bytes"))?;
        Ok(Some(Record { stamp, op, offset, bytes, device: ONE_DEVICE }))
    }

    fn hint_if_empty(&self) -> String {
        "expected lines of single requests: run fio without --log_avg_msec".into()
    }
}

/// fio writes a blank after each comma, which the other formats of whole numbers do not.
fn recognise(line: &[u8]) -> Likeness {
    let all = fields(line);
    let number = |f: &&[u8]| {
        let digits = f.strip_prefix(b"0x").unwrap_or(f);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
    };
    let blanks = line.windows(2).filter(|pair| pair == b", ").count();
    Likeness::sure(
        (4..=7).contains(&all.len())
            && blanks + 1 == all.len()
            && all[..4].iter().all(|f| f.iter().all(u8::is_ascii_digit))
            && all.iter().all(number)
            && matches!(all[2], b"0" | b"1" | b"2"),
    )
}
