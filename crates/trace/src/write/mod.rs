//! Writes requests as a trace of another format, streaming.
//!
//! Properties that a format cannot represent are counted, never dropped silently.

mod blkparse;
mod encoder;
mod fio_iolog;
mod mqsim;
mod msr;
mod report;

use crate::source::Source;
use encoder::{Encoder, Request};
use floatgate_base::error::quote;
use floatgate_base::names::remedy;
use floatgate_base::{Error, Place, RequestBatch, Result};
pub use report::WriteReport;
use std::io::Write;

/// Formats for writing.
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
    /// All formats by their command-line names.
    pub const NAMES: &[(&str, WriteFormat)] = &[
        ("fio-iolog", WriteFormat::FioIolog),
        ("fio-iolog-v2", WriteFormat::FioIologV2),
        ("fio-iolog-v3", WriteFormat::FioIologV3),
        ("msr", WriteFormat::Msr),
        ("mqsim", WriteFormat::MqSim),
        ("blkparse", WriteFormat::BlkParse),
    ];

    /// Returns the name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, f)| *f == self).map_or("", |(name, _)| name)
    }

    /// Parses a format's name.
    ///
    /// # Errors
    /// Quotes an unknown name and lists the valid ones.
    pub fn parse(text: &str) -> Result<Self> {
        Self::NAMES.iter().find(|(name, _)| *name == text).map(|(_, f)| *f).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            let what = format!("{} cannot be written", quote(text.as_bytes()));
            Error::input(
                Place::Setting("--to".into()),
                what,
                remedy(text, &names, "floatgate trace convert --help"),
            )
        })
    }
}

/// Writes all requests of a source, from its current position, to `out`.
///
/// # Errors
/// Those of the source; a trace without any request that the format supports; a failed write is a failed run.
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
    let (mut text, mut writers) = (Vec::new(), Vec::new());
    let has_processes = format == WriteFormat::BlkParse && !source.writer_fields().is_empty();
    encoder.begin(&mut text);
    loop {
        batch.clear();
        source.fill(&mut batch, RequestBatch::DEFAULT_LEN)?;
        if batch.is_empty() {
            break;
        }
        // Streams that stand for processes survive as these; the table grows with the trace.
        if has_processes && batch.stream.iter().any(|stream| *stream as usize >= writers.len()) {
            writers = source.writers();
        }
        for i in 0..batch.len() {
            let writer = batch.stream.get(i).and_then(|stream| writers.get(*stream as usize));
            let r = Request {
                time_ns: batch.time_ns[i],
                device: usize::from(batch.device[i]),
                op: batch.op[i],
                offset: batch.offset[i],
                bytes: batch.bytes[i],
                process: writer.and_then(|writer| writer.process).unwrap_or(0),
            };
            encoder.request(&r, &source.devices()[r.device], &mut text, &mut report);
        }
        report.note_columns(&batch, has_processes);
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
