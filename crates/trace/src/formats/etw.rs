//! Microsoft production servers as printed by xperf: events by line, fields by comma, padded with blanks.
//!
//! `DiskRead` and `DiskWrite` are requests: `TimeStamp, Process Name (PID), ThreadID, IrpPtr, ByteOffset, IOSize,
//! ElapsedTime, DiskNum, ...`. Stamps are in microseconds (those of the completion, as Windows logs it), offset and
//! size in hexadecimal bytes. The header between `BeginHeader` and `EndHeader`, flushes and all other events are other
//! records. Fields after the disk number are ignored; they may contain commas in file names. The sample in the tests is
//! one in the unit tests of ben-manes/caffeine and lines constructed from the schema.

use super::{FormatInfo, Likeness, csv, no_head, text_reader};
use crate::intake::Record;
use crate::options::TimeUnit;
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Op, Result};
use floatgate_input::{Cursor, Fault};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "etw",
    summary: "Microsoft production servers, xperf text of Windows events (SNIA IOTTA)",
    line: "expected DiskRead or DiskWrite, TimeStamp, Process (PID), TID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum",
    units: "time in microseconds, address and size in bytes; stamps are those of completions",
    states_units: true,
    time_unit: Some(TimeUnit::Microseconds),
    other_time_units: &[],
    lba_unit: None,
    extensions: &["etw"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Etw>,
};

pub(super) struct Etw {
    time_power: u32,
    in_header: bool,
}

impl LineFormat for Etw {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        Ok(Self { time_power: setup.time_power, in_header: false })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        let op = match line.until(b',').trim_ascii_end() {
            b"DiskRead" => Op::Read,
            b"DiskWrite" => Op::Write,
            b"BeginHeader" => return Ok(self.header(true)),
            b"EndHeader" => return Ok(self.header(false)),
            _ => return Ok(None),
        };
        if self.in_header {
            return Ok(None);
        }
        csv::comma(line, "has no time stamp", "expected microseconds")?;
        let stamp = csv::stamp(line, self.time_power, "expected microseconds")?;
        line.until(b',');
        csv::comma(line, "is not a process", "expected a name and a number")?;
        line.until(b',');
        csv::comma(line, "is not a thread", "expected a number")?;
        line.until(b',');
        csv::comma(line, "is not a request pointer", "expected 0x...")?;
        let offset = hex(line, "is not an offset")?;
        let bytes = hex(line, "is not a size")?;
        line.until(b',');
        csv::comma(line, "is not an elapsed time", "expected microseconds")?;
        let device = csv::last_device(line, "is not a disk")?;
        line.blanks();
        if !line.at_end() && line.peek() != Some(b',') {
            return Err(line.fault("is not a disk", "expected a whole number"));
        }
        Ok(Some(Record { stamp, op, offset, bytes, device }))
    }

    fn device_name(key: &[u8]) -> String {
        format!("disk{}", String::from_utf8_lossy(key))
    }

    fn restart(&mut self) {
        self.in_header = false;
    }

    fn hint_if_empty(&self) -> String {
        "expected events DiskRead or DiskWrite".into()
    }
}

impl Etw {
    fn header<'a>(&mut self, begins: bool) -> Option<Record<'a>> {
        self.in_header = begins;
        None
    }
}

/// Parses a hexadecimal number and the comma after it.
#[inline]
fn hex(line: &mut Cursor<'_>, what: &'static str) -> std::result::Result<u64, Fault> {
    let value = line.hex().ok_or_else(|| line.fault(what, "expected bytes as 0x..."))?;
    csv::comma(line, what, "expected bytes as 0x...")?;
    Ok(value)
}

fn recognise(line: &[u8]) -> Likeness {
    const EVENTS: [&[u8]; 8] = [
        b"DiskRead",
        b"DiskWrite",
        b"DiskFlush",
        b"DiskReadInit",
        b"DiskWriteInit",
        b"DiskFlushInit",
        b"BeginHeader",
        b"EndHeader",
    ];
    let first = line.split(|&b| b == b',').next().unwrap_or_default().trim_ascii();
    Likeness::sure(EVENTS.contains(&first))
}
