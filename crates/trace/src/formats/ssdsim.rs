//! SSDsim ascii: `time_ns device lba size op`, sectors of 512 bytes, 1 = read.
//!
//! A file does not state the unit of time, and some are in microseconds (Microsoft's servers as DTRS1K). If the
//! beginning, read in nanoseconds, requires more than any drive can transfer throughout, microseconds are used and the
//! choice is reported (`docs/decisions/0006-reading-foreign-traces.md`). `--time-unit` overrides it.

use super::columns::{Columns, likeness};
use super::{FormatInfo, no_head, text_reader};
use crate::intake::{BYTES_MAX_PER_S, Record};
use crate::options::{LbaUnit, TimeUnit};
use crate::setup::Setup;
use crate::source::Source;
use crate::text::LineFormat;
use floatgate_base::Result;
use floatgate_input::{CHUNK, Cursor, Fault, Input, PAD, whole_lines};

/// Fewest requests for a conclusion about the unit: a burst may be as long.
const REQUESTS_MIN: usize = 4096;
/// Parts of the beginning that are examined separately: a burst ends in one of them.
const PARTS: usize = 8;
/// Least rate of a part, as a share of what no drive can transfer.
const LEAST_SHARE: f64 = 0.5;
/// Most requests per second of a trace in microseconds; stamps that merely count requests would exceed it.
const RATE_MAX_PER_S: f64 = 1e5;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "ssdsim",
    summary: "SSDsim ascii",
    line: "expected time device lba size op",
    units: "assumed: time in ns, address and size in sectors of 512 bytes, 1 = read",
    states_units: false,
    time_unit: Some(TimeUnit::Nanoseconds),
    lba_unit: Some(LbaUnit::Sector),
    extensions: &["ssdsim"],
    has_times: true,
    has_actions: false,
    recognise: |line| likeness(line, |shape| !shape.float_time),
    recognise_head: no_head,
    reader: open,
};

pub(super) struct SsdSim(Columns);

impl LineFormat for SsdSim {
    fn new(setup: &Setup, _head: &[u8]) -> Result<Self> {
        let (time_power, lba_bytes) = (setup.time_power, setup.lba_bytes);
        Ok(Self(Columns { time_power, lba_bytes, size_bytes: 512, flags: false }))
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        self.0.parse(line)
    }
}

/// Creates the reader, in microseconds if the beginning of the trace suggests it and the user has set no unit.
fn open(mut input: Input, chunk: usize, mut setup: Setup) -> Result<Box<dyn Source>> {
    if setup.options.time_unit.is_none()
        && let Some(bytes_per_s) = too_fast(whole_lines(input.peek(CHUNK)?))
    {
        let note = format!(
            "time unit: us, since in ns the trace would begin with {:.0} GB per second (override with --time-unit ns)",
            bytes_per_s / 1e9
        );
        setup.take_unit(TimeUnit::Microseconds, note);
    }
    text_reader::<SsdSim>(input, chunk, setup)
}

/// Returns the bytes per second at the beginning of a trace in nanoseconds, if they exceed any drive and microseconds
/// are plausible.
fn too_fast(head: &[u8]) -> Option<f64> {
    let requests = requests(head);
    if requests.len() < REQUESTS_MIN {
        return None;
    }
    // Up to the request after a part, whose own bytes come later.
    let bytes_per_ns = |from: usize, to: usize| {
        let bytes: f64 = requests[from..to].iter().map(|&(_, bytes)| bytes as f64).sum();
        bytes / (requests[to].0 - requests[from].0).max(0) as f64
    };
    let last = requests.len() - 1;
    let (all, span_ns) = (bytes_per_ns(0, last), (requests[last].0 - requests[0].0) as f64);
    let limit = BYTES_MAX_PER_S / 1e9;
    let is_fast = span_ns > 0.0
        && all > limit
        && (0..PARTS).all(|i| bytes_per_ns(last * i / PARTS, last * (i + 1) / PARTS) > limit * LEAST_SHARE);
    let fits_in_us = all * 1e6 <= BYTES_MAX_PER_S && last as f64 / span_ns * 1e6 <= RATE_MAX_PER_S;
    (is_fast && fits_in_us).then_some(all * 1e9)
}

/// Collects the raw stamps and bytes of the requests up to the first line that is not a request.
fn requests(head: &[u8]) -> Vec<(i128, u64)> {
    let columns = Columns { time_power: 0, lba_bytes: 1, size_bytes: 512, flags: false };
    let mut line = Vec::new();
    let lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end).filter(|text| !text.is_empty());
    lines
        .map_while(|text| {
            line.clear();
            line.extend_from_slice(text);
            line.resize(text.len() + PAD, b' ');
            let record = columns.parse(&mut Cursor::new(&line, text.len())).ok()??;
            Some((record.stamp, record.bytes))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::open_stream;
    use crate::options::OpenOptions;
    use std::fmt::Write as _;

    /// Makes requests of 64 KiB at these stamps.
    fn trace(stamps: impl Iterator<Item = u64>) -> Vec<u8> {
        let mut text = String::new();
        stamps
            .zip(0u64..)
            .for_each(|(stamp, i)| writeln!(text, "{stamp} 0 {} 128 {}", i * 128, i % 2).unwrap());
        text.into_bytes()
    }

    /// Returns whether microseconds were chosen, with the last stamp.
    fn read(content: &[u8], unit: Option<TimeUnit>) -> (bool, i64) {
        let options = OpenOptions { time_unit: unit, ..OpenOptions::default() };
        let stream = Box::new(std::io::Cursor::new(content.to_vec()));
        let mut source = open_stream(stream, "t.ssdsim", &options).unwrap();
        let mut batch = floatgate_base::RequestBatch::default();
        source.fill(&mut batch, 1 << 20).unwrap();
        let chosen = source.assumed().iter().any(|text| text.starts_with("time unit: us, since in ns"));
        (chosen, *batch.time_ns.last().unwrap())
    }

    /// Generates the gaps of a server, between 1 and 3 ms on average by the part of the trace, in microseconds.
    fn server(n: u64) -> impl Iterator<Item = u64> {
        (0..n).scan(0, |at, i| {
            *at += (i * 7919) % (2000 + 4000 * (i * 4 / 10_000 % 2));
            Some(*at)
        })
    }

    #[test]
    fn microseconds_are_recognised_and_reported() {
        let last = server(10_000).last().unwrap() as i64;
        let content = trace(server(10_000));
        assert_eq!(read(&content, None), (true, last * 1000));
        // The user's unit prevails.
        assert_eq!(read(&content, Some(TimeUnit::Nanoseconds)), (false, last));
        assert_eq!(read(&content, Some(TimeUnit::Microseconds)), (false, last * 1000));
    }

    #[test]
    fn nanoseconds_are_left_alone() {
        let last = server(10_000).last().unwrap() as i64;
        // The same server in nanoseconds, and one that is a hundred times as busy.
        assert_eq!(read(&trace(server(10_000).map(|t| t * 1000)), None), (false, last * 1000));
        assert_eq!(read(&trace(server(10_000).map(|t| t * 10)), None), (false, last * 10));
        // Too few requests; a burst before a pause; stamps that are all equal, that count requests, that decrease.
        assert!(!read(&trace(server(4000)), None).0);
        assert!(!read(&trace(server(10_000).map(|t| t + 100_000_000 * (t / 9_000_000))), None).0);
        assert!(!read(&trace((0..10_000).map(|_| 7)), None).0);
        assert!(!read(&trace(0..10_000), None).0);
        assert!(!read(&trace((0..10_000).map(|i| 1_000_000_000 - 2000 * i)), None).0);
    }
}
