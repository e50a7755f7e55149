//! biosnoop of bcc and of libbpf-tools: a heading, then
//! `seconds process pid disk type sector bytes [queued ms] latency ms`.
//!
//! A line is printed when its request is completed, with the time of that. The heading says whether a column for the
//! time in queues stands before the latency; names of processes may contain blanks, so a line is read from its end. The
//! stream of a request is its process. Lines without data (flushes) are other records.

use super::blkparse::{flags_of, operation};
use super::block_events::Processes;
use super::{FormatInfo, Likeness, no_head, text_reader};
use crate::intake::Record;
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::{OptionalColumns, RequestBatch, Result};
use floatgate_input::{Cursor, Fault, scaled};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "biosnoop",
    summary: "biosnoop (bcc, libbpf-tools)",
    line: "expected seconds process pid disk type sector bytes [queued] latency",
    units: "time of completion in seconds, address in sectors of 512 bytes, size in bytes",
    states_units: true,
    time_unit: Some(TimeUnit::Seconds),
    other_time_units: &[],
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["biosnoop"],
    has_times: true,
    has_actions: false,
    recognise,
    recognise_head: no_head,
    reader: text_reader::<Biosnoop>,
};

pub(super) struct Biosnoop {
    time_power: u32,
    lba_bytes: u64,
    /// Columns behind the bytes.
    behind: usize,
    flags: u8,
    processes: Processes,
}

fn is_heading(line: &[u8]) -> bool {
    line.starts_with(b"TIME(s)") && has(line, b"SECTOR") && has(line, b"BYTES")
}

fn has(line: &[u8], word: &[u8]) -> bool {
    line.split(u8::is_ascii_whitespace).any(|w| w == word)
}

/// The fields of a line before its latencies; none if it has too few.
struct Fields<'a> {
    pid: &'a [u8],
    disk: &'a [u8],
    kind: &'a [u8],
    sector: &'a [u8],
    bytes: &'a [u8],
}

fn fields(line: &[u8], behind: usize) -> Option<Fields<'_>> {
    let mut words = line.rsplit(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).skip(behind);
    let (bytes, sector, kind) = (words.next()?, words.next()?, words.next()?);
    let (disk, pid) = (words.next()?, words.next()?);
    // Process and time.
    words.nth(1)?;
    Some(Fields { pid, disk, kind, sector, bytes })
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

impl LineFormat for Biosnoop {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        let heading = head.split(|&b| b == b'\n').find(|line| is_heading(line.trim_ascii_start()));
        Ok(Self {
            time_power: setup.time_power,
            lba_bytes: setup.lba_bytes,
            behind: if heading.is_some_and(|line| has(line, b"QUE(ms)")) { 2 } else { 1 },
            flags: 0,
            processes: Processes::default(),
        })
    }

    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        line.blanks();
        let whole = line.line();
        if line.at_end() || is_heading(whole.trim_ascii_start()) {
            return Ok(None);
        }
        let stamp = line
            .stamp(self.time_power)
            .ok_or_else(|| line.fault("is not a time stamp", "expected seconds"))?;
        let Some(fields) = fields(whole, self.behind) else {
            return Err(line.fault("has too few fields", INFO.line));
        };
        let (Some(sector), Some(bytes)) = (number(fields.sector), number(fields.bytes)) else {
            return Err(line.fault("has no sector and bytes", INFO.line));
        };
        let Some(op) = operation(fields.kind).filter(|_| bytes > 0) else { return Ok(None) };
        self.flags = flags_of(fields.kind);
        self.processes.see(number(fields.pid).unwrap_or(0));
        Ok(Some(Record { stamp, op, offset: scaled(sector, self.lba_bytes)?, bytes, device: fields.disk }))
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
}

fn recognise(line: &[u8]) -> Likeness {
    let line = line.trim_ascii_start();
    if is_heading(line) {
        return Likeness::Yes;
    }
    let seconds = line.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    let is_time = line[..seconds].contains(&b'.') && line.get(seconds) == Some(&b' ');
    let is_line = |behind: usize| {
        fields(line, behind).is_some_and(|f| {
            number(f.sector).is_some()
                && number(f.bytes).is_some()
                && number(f.pid).is_some()
                && operation(f.kind).is_some()
        })
    };
    Likeness::sure(is_time && (is_line(1) || is_line(2)))
}
