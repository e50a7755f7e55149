//! fio's iolog, versions 2 and 3: `[time] file action [offset length]` after a line that names the version.
//!
//! Version 3 has stamps, which fio writes and replays in microseconds (its documentation names no unit). Version 2 has
//! `wait` lines. Each advances the clock by its microseconds (fio's HOWTO: the time is relative to the previous wait).
//! Without one in the head of the file there are no times. The file is the device. Sync, wait and what happens to
//! whole files (add, open, close, unlink, mkdir and the like) are other records.

use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{Error, Op, Place, Result};
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "fio-iolog",
    summary: "fio iolog, versions 2 and 3",
    line: "expected [time] file action [offset length]",
    units: "assumed: time in us, in version 2 the sum of its wait lines; address and size in bytes",
    states_units: false,
    time_unit: Some(TimeUnit::Microseconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Byte),
    extensions: &["iolog", "fio"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<FioIolog>,
};

pub(super) struct FioIolog {
    time_power: u32,
    lba_bytes: u64,
    /// 2 or 3; 0 until a line states it.
    version: u8,
    /// Whether the file has times: version 3, or version 2 with waits.
    has_times: bool,
    /// Sum of the waits of version 2, in nanoseconds.
    clock_ns: i128,
}

const NO_HEADER: &str = "expected 'fio version 2 iolog' or 'fio version 3 iolog' first";

impl LineFormat for FioIolog {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        let first = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).find(|l| !l.is_empty());
        let waits =
            |line: &[u8]| line.split(|&b| b == b' ').filter(|word| !word.is_empty()).nth(1) == Some(b"wait");
        let has_times = first.and_then(version) != Some(2) || head.split(|&b| b == b'\n').any(waits);
        if !has_times && setup.options.time_unit.is_some() {
            let place = Place::Setting("--time-unit".into());
            return Err(Error::input(
                place,
                "fio iolog version 2 without waits has no times",
                "leave it out",
            ));
        }
        let (time_power, lba_bytes) = (setup.time_power, setup.lba_bytes);
        Ok(Self { time_power, lba_bytes, version: 0, has_times, clock_ns: 0 })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        if line.at_end() {
            return Ok(None);
        }
        if let Some(version) = version(line.line()) {
            self.version = version;
            return Ok(None);
        }
        let mut stamp = self.clock_ns;
        match self.version {
            2 => {}
            3 => {
                stamp = line
                    .stamp(self.time_power)
                    .ok_or_else(|| line.fault("is not a time stamp", "expected microseconds"))?;
                gap(line, "is not a time stamp", "expected microseconds")?;
            }
            _ => {
                return Err(Fault {
                    from: 0,
                    to: line.line().len(),
                    what: "is not a header",
                    expected: NO_HEADER,
                });
            }
        }
        let device = line.word();
        line.blanks();
        let from = line.at();
        let op = match line.word() {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"wait" => {
                line.blanks();
                let wait = line.stamp(self.time_power);
                let wait = wait.ok_or_else(|| line.fault("is not a wait", "expected microseconds"))?;
                if self.version == 2 {
                    self.clock_ns += wait;
                }
                return Ok(None);
            }
            b"sync" | b"datasync" | b"sync_file_range" | b"add" | b"open" | b"close" | b"create"
            | b"mkdir" | b"rename" | b"rmdir" | b"stat" | b"truncate" | b"unlink" => return Ok(None),
            _ => {
                let (from, to) = (from, line.at());
                let expected = "expected read, write, trim, sync, datasync, wait, add, open or close";
                return Err(Fault { from, to, what: "is not an action", expected });
            }
        };
        line.blanks();
        let lba = line.uint().ok_or_else(|| line.fault("is not an offset", "expected bytes"))?;
        gap(line, "is not an offset", "expected bytes")?;
        let bytes = line.uint().ok_or_else(|| line.fault("is not a length", "expected bytes"))?;
        gap(line, "is not a length", "expected bytes")?;
        if !line.at_end() {
            return Err(line.fault("is one field too many", "expected the end of the line"));
        }
        Ok(Some(Record { stamp, op, offset: scaled(lba, self.lba_bytes)?, bytes, device }))
    }

    fn restart(&mut self) {
        self.version = 0;
        self.clock_ns = 0;
    }

    fn has_times(&self) -> bool {
        self.has_times
    }
}

/// Skips the blanks after a field.
#[inline]
fn gap(line: &mut Cursor<'_>, what: &'static str, expected: &'static str) -> std::result::Result<(), Fault> {
    if line.blanks() || line.at_end() { Ok(()) } else { Err(line.fault(what, expected)) }
}

/// Returns the version in a header line.
#[inline]
fn version(line: &[u8]) -> Option<u8> {
    match line.strip_prefix(b"fio version ")?.trim_ascii_end() {
        b"2 iolog" => Some(2),
        b"3 iolog" => Some(3),
        _ => None,
    }
}

fn recognise(line: &[u8]) -> Likeness {
    const ACTIONS: [&[u8]; 9] =
        [b"add", b"open", b"close", b"read", b"write", b"trim", b"sync", b"datasync", b"wait"];
    let words: Vec<&[u8]> = line.split(|&b| b == b' ').filter(|w| !w.is_empty()).collect();
    let action = |i: usize| words.get(i).is_some_and(|w| ACTIONS.contains(w));
    let record = action(1) && matches!(words.len(), 2 | 4) || action(2) && matches!(words.len(), 3 | 5);
    Likeness::sure(record || version(line).is_some())
}
