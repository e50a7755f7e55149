//! Writes requests as a trace of another format, streaming.
//!
//! What a format cannot hold is counted, never dropped in silence.

mod blkparse;
mod fio_iolog;
mod mqsim;
mod msr;

use crate::source::Source;
use floatgate_base::error::quote;
use floatgate_base::{Error, Op, Place, RequestBatch, Result};
use serde::Serialize;
use std::fmt::Display;
use std::io::Write;

/// Formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFormat {
    /// fio iolog, version 3 if the source has times, else version 2.
    FioIolog,
    /// fio iolog version 2: no times.
    FioIologV2,
    /// fio iolog version 3: times in microseconds.
    FioIologV3,
    /// MSR Cambridge CSV: no TRIM.
    Msr,
    /// MQSim ascii: whole sectors, no TRIM.
    MqSim,
    /// blkparse's default text: whole sectors.
    BlkParse,
}

impl WriteFormat {
    /// All by the names that the command line knows.
    pub const NAMES: &[(&str, WriteFormat)] = &[
        ("fio-iolog", WriteFormat::FioIolog),
        ("fio-iolog-v2", WriteFormat::FioIologV2),
        ("fio-iolog-v3", WriteFormat::FioIologV3),
        ("msr", WriteFormat::Msr),
        ("mqsim", WriteFormat::MqSim),
        ("blkparse", WriteFormat::BlkParse),
    ];

    /// Name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, f)| *f == self).map_or("", |(name, _)| name)
    }

    /// Reads a format's name.
    ///
    /// # Errors
    /// Quotes an unknown name and lists the valid ones.
    pub fn parse(text: &str) -> Result<Self> {
        Self::NAMES.iter().find(|(name, _)| *name == text).map(|(_, f)| *f).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            let what = format!("{} cannot be written", quote(text.as_bytes()));
            Error::input(Place::Setting("--to".into()), what, format!("expected one of {}", names.join(", ")))
        })
    }
}

/// What was written, and what the format could not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WriteReport {
    /// Requests written.
    pub requests: u64,
    /// TRIMs left out because the format has none.
    pub trims_left_out: u64,
    /// Requests widened to whole sectors.
    pub widened: u64,
    /// Stamps before the first one, written as the first one because the format has no sign.
    pub stamps_clamped: u64,
    /// Stamps rounded down to the format's unit.
    pub stamps_rounded: u64,
    /// Requests whose stamps were left out because the format has none.
    pub stamps_left_out: u64,
    /// Requests with the stamp 0 because the format must have one and the source has none.
    pub stamps_made_up: u64,
    /// Devices that get another name, because the format cannot hold theirs.
    pub devices_renamed: u64,
    /// Requests of the source whose program context was left out.
    pub contexts_left_out: u64,
    /// Requests of the source whose stream, other than 0, was left out.
    pub streams_left_out: u64,
    /// Requests of the source whose pages' content was left out.
    pub contents_left_out: u64,
}

/// One request on its way out.
struct Request {
    time_ns: i64,
    device: usize,
    op: Op,
    offset: u64,
    bytes: u64,
}

/// How one format is written.
trait Encoder {
    /// Appends what stands before the first request.
    fn begin(&mut self, _out: &mut Vec<u8>) {}

    /// Appends one request; `name` is its device's.
    fn request(&mut self, r: &Request, name: &str, out: &mut Vec<u8>, report: &mut WriteReport);

    /// Appends what stands behind the last request.
    fn end(&mut self, _out: &mut Vec<u8>) {}
}

/// Writes all requests of a source, from where it stands, to `out`.
///
/// # Errors
/// Those of the source; a trace of which the format can hold nothing; a failed write is a failed run.
pub fn write(source: &mut dyn Source, format: WriteFormat, out: &mut dyn Write) -> Result<WriteReport> {
    let times = match format {
        WriteFormat::FioIolog => source.has_times(),
        other => other != WriteFormat::FioIologV2,
    };
    let mut encoder: Box<dyn Encoder> = match format {
        WriteFormat::Msr => Box::new(msr::Msr::default()),
        WriteFormat::MqSim => Box::new(mqsim::MqSim::default()),
        WriteFormat::BlkParse => Box::new(blkparse::BlkParse::default()),
        WriteFormat::FioIolog | WriteFormat::FioIologV2 | WriteFormat::FioIologV3 => {
            Box::new(fio_iolog::FioIolog::new(times))
        }
    };
    let failed = |e: std::io::Error| Error::run(format!("the trace cannot be written: {e}"), "");
    let mut report = WriteReport::default();
    let mut batch = RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN);
    let mut text = Vec::new();
    encoder.begin(&mut text);
    loop {
        batch.clear();
        source.fill(&mut batch, RequestBatch::DEFAULT_LEN)?;
        if batch.is_empty() {
            break;
        }
        for i in 0..batch.len() {
            let r = Request {
                time_ns: batch.time_ns[i],
                device: usize::from(batch.device[i]),
                op: batch.op[i],
                offset: batch.offset[i],
                bytes: batch.bytes[i],
            };
            encoder.request(&r, &source.devices()[r.device], &mut text, &mut report);
        }
        report.note_columns(&batch);
        out.write_all(&text).map_err(failed)?;
        text.clear();
    }
    encoder.end(&mut text);
    if report.requests == 0 && report.trims_left_out > 0 {
        let what = format!(
            "all {} requests are TRIMs, which {} does not have",
            report.trims_left_out,
            format.name()
        );
        let expected = "expected a format that has them: fio-iolog, blkparse or parquet";
        return Err(Error::input(Place::Setting("--to".into()), what, expected));
    }
    match (source.has_times(), times) {
        (true, false) => report.stamps_left_out = report.requests,
        (false, true) => report.stamps_made_up = report.requests,
        _ => {}
    }
    out.write_all(&text).and_then(|()| out.flush()).map_err(failed)?;
    Ok(report)
}

impl WriteReport {
    /// Counts what stands in the optional columns, which no text format has.
    fn note_columns(&mut self, batch: &RequestBatch) {
        let count = |column: &[u32]| column.iter().filter(|v| **v != 0).count() as u64;
        self.contexts_left_out += count(&batch.context);
        self.streams_left_out += count(&batch.stream);
        let content = &batch.content;
        let known = (0..content.end.len()).filter(|&i| !content.range(i).is_empty());
        self.contents_left_out += known.count() as u64;
    }

    /// A stamp in units of `unit_ns` without sign.
    fn unsigned_time(&mut self, time_ns: i64, unit_ns: u64) -> u64 {
        let ns = u64::try_from(time_ns).unwrap_or_else(|_| {
            self.stamps_clamped += 1;
            0
        });
        self.stamps_rounded += u64::from(ns % unit_ns != 0);
        ns / unit_ns
    }
}

const SECTOR: u64 = 512;
/// Most sectors of a read or write that readers accept, and the end of an address space of 2^64 bytes.
const SECTORS_MAX: u64 = (1 << 40) / SECTOR;
const SECTORS_END: u64 = u64::MAX / SECTOR;

/// First sector and number of sectors of a request, widened to whole ones where it cuts some.
///
/// Readers refuse what ends beyond 2^64 bytes, or a transfer of more than 1 TiB; there it gets as wide as they allow.
fn sectors(r: &Request, report: &mut WriteReport) -> (u64, u64) {
    report.widened += u64::from(!(r.offset | r.bytes).is_multiple_of(SECTOR));
    let first = (r.offset / SECTOR).min(SECTORS_END - 1);
    let end = (r.offset + (r.bytes - 1)) / SECTOR + 1;
    let count = end.min(SECTORS_END) - first;
    (first, if r.op == Op::Trim { count } else { count.min(SECTORS_MAX) })
}

/// Appends a number and one byte behind it.
fn push(out: &mut Vec<u8>, mut value: u64, then: u8) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
    out.push(then);
}

/// How devices are called in the file: made at a device's first request, never the same twice.
struct Names<T> {
    by_device: Vec<Option<T>>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { by_device: Vec::new() }
    }
}

/// What a device could be called in the file, by the name that the source has for it.
type Candidates<T> = fn(&str) -> Box<dyn Iterator<Item = T>>;

impl<T: PartialEq + Display> Names<T> {
    /// The name of the device, which the source calls `name`: the first candidate that is free.
    fn of(&mut self, device: usize, name: &str, candidates: Candidates<T>, report: &mut WriteReport) -> &T {
        if device >= self.by_device.len() {
            self.by_device.resize_with(device + 1, || None);
        }
        if self.by_device[device].is_none() {
            let free = candidates(name).find(|c| !self.by_device.iter().flatten().any(|n| n == c));
            // Readers show a name as it is displayed here.
            report.devices_renamed += u64::from(free.as_ref().is_some_and(|n| n.to_string() != name));
            self.by_device[device] = free;
        }
        match &self.by_device[device] {
            Some(name) => name,
            None => unreachable!("candidates never end"),
        }
    }

    fn knows(&self, device: usize) -> bool {
        self.by_device.get(device).is_some_and(Option::is_some)
    }

    fn all(&self) -> impl Iterator<Item = &T> {
        self.by_device.iter().flatten()
    }
}
