//! Block events of the kernel's tracer as text: ftrace's `trace` and `trace_pipe`, and `trace-cmd report`.
//!
//! `process-pid [cpu] flags seconds: event: maj,min rwbs [bytes (command)] sector + sectors [process]`. The events are
//! those of blktrace under other names; `block_events.rs` selects the one that counts as the request. Other records are
//! headings, other events and events without data.

use super::blkparse::{extent, flags_of, operation};
use super::block_events::{Events, Processes};
use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::batch::flags;
use floatgate_base::{OptionalColumns, RequestBatch, Result};
use floatgate_input::{Cursor, Fault, scaled};
use memchr::memmem;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "ftrace",
    summary: "block events of ftrace or trace-cmd report (Linux)",
    line: "expected process-pid [cpu] flags seconds: event: maj,min rwbs bytes () sector + sectors [process]",
    units: "time in seconds, address and size in sectors of 512 bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Seconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["ftrace"],
    has_times: true,
    has_actions: true,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Ftrace>,
};

/// Names of events behind `block_`, and blkparse's letters for them.
const EVENTS: &[(&[u8], u8)] = &[
    (b"bio_queue", b'Q'),
    (b"getrq", b'G'),
    (b"rq_insert", b'I'),
    (b"rq_issue", b'D'),
    (b"rq_complete", b'C'),
    (b"bio_backmerge", b'M'),
    (b"bio_frontmerge", b'F'),
    (b"bio_remap", b'A'),
    (b"rq_requeue", b'R'),
    (b"bio_bounce", b'B'),
];

pub(super) struct Ftrace {
    time_power: u32,
    lba_bytes: u64,
    events: Events,
    /// Flushes since the last request, and the flags of the current one.
    flags: u8,
    processes: Processes,
}

/// Splits a line before its event: the part with process and time, the letter of the event, and its fields.
fn split(line: &[u8]) -> Option<(&[u8], u8, usize)> {
    let at = memmem::find(line, b": block_")?;
    let name = &line[at + 8..];
    let end = memchr::memchr(b':', name)?;
    let letter = EVENTS.iter().find(|(event, _)| *event == &name[..end])?.1;
    Some((&line[..at], letter, at + 8 + end + 1))
}

/// Returns the number of the process: the digits before the CPU, behind the last hyphen.
fn process(head: &[u8]) -> Option<u64> {
    let cpu = memmem::rfind(head, b" [")?;
    let mut name = head[..cpu].trim_ascii_end();
    // The thread group in parentheses.
    if name.ends_with(b")") {
        name = name[..memchr::memrchr(b'(', name)?].trim_ascii_end();
    }
    let digits = &name[memchr::memrchr(b'-', name)? + 1..];
    std::str::from_utf8(digits).ok()?.parse().ok()
}

impl LineFormat for Ftrace {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        let with_data = |line: &[u8]| {
            let (_, letter, from) = split(line)?;
            memmem::find(&line[from..], b" + ").map(|_| letter)
        };
        Ok(Self {
            time_power: setup.time_power,
            lba_bytes: setup.lba_bytes,
            events: Events::new(setup.action(), head.split(|&b| b == b'\n').filter_map(with_data), None),
            flags: 0,
            processes: Processes::default(),
        })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        let Some((head, letter, from)) = split(line.line()) else { return Ok(None) };
        if letter != self.events.action {
            self.events.note_other(letter);
            return Ok(None);
        }
        line.skip(memchr::memrchr2(b' ', b'\t', head).map_or(0, |at| at + 1));
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected seconds"))?;
        line.skip(from - line.at());
        line.blanks();
        let device = line.word();
        line.blanks();
        let rwbs = line.word();
        self.flags &= flags::FLUSH;
        self.flags |= flags_of(rwbs);
        let Some(op) = operation(rwbs) else { return Ok(None) };
        line.blanks();
        // Bytes and a command in parentheses stand before the sector of a request, not of a bio.
        let rest = line.rest();
        if let (Some(end), Some(plus)) = (memmem::find(rest, b") "), memmem::find(rest, b" + "))
            && end < plus
        {
            line.skip(end + 2);
        }
        let Some((lba, sectors)) = extent(line).filter(|&(_, sectors)| sectors > 0) else { return Ok(None) };
        self.processes.see(process(head).unwrap_or(0));
        Ok(Some(Record {
            stamp,
            op,
            offset: scaled(lba, self.lba_bytes)?,
            bytes: scaled(sectors, 512)?,
            device,
        }))
    }

    fn processes(&self) -> Option<Vec<u64>> {
        Some(self.processes.all())
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { flags: true, stream: true, stream_is_process: true, ..OptionalColumns::default() }
    }

    fn extras(&mut self, _bytes: u64, batch: &mut RequestBatch) {
        batch.flags.push(std::mem::take(&mut self.flags));
        batch.stream.push(self.processes.last());
    }

    fn restart(&mut self) {
        self.flags = 0;
    }

    fn assumed(&self, out: &mut Vec<String>) {
        self.events.assumed(out);
    }

    fn hint_if_empty(&self) -> String {
        self.events.hint_if_empty()
    }
}

fn recognise(line: &[u8]) -> Likeness {
    let heading = line.starts_with(b"# tracer:") || line.starts_with(b"#           TASK-PID");
    let event = split(line).is_some_and(|(head, ..)| process(head).is_some());
    Likeness::sure(heading || event)
}
