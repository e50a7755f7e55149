//! A source of requests in memory with all columns, and random requests.

use floatgate_base::testing::Bound;
use floatgate_base::{Op, OptionalColumns, RequestBatch, Result};
use floatgate_trace::{Context, Source, Summary};
use proptest::prelude::*;
use std::ops::Range;

/// Names that some formats cannot represent.
pub const NAMES: [&str; 12] =
    ["sda", "a b", "a_b", "8,16", "usr_0", "usr_00", "7", "x7", "", "259,0", "a,b", "\u{e9}\u{2003}"];

#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub rows: RequestBatch,
    pub devices: Vec<String>,
    pub contexts: Vec<Context>,
    pub columns: OptionalColumns,
    pub times: bool,
    pub at: usize,
}

impl Memory {
    /// Appends request `i` of another batch with its optional columns.
    pub fn copy(&self, i: usize, to: &mut RequestBatch) {
        let from = &self.rows;
        to.push(from.time_ns[i], from.device[i], from.op[i], from.offset[i], from.bytes[i]);
        if self.columns.context {
            to.context.push(from.context[i]);
        }
        if self.columns.stream {
            to.stream.push(from.stream[i]);
        }
        if self.columns.content {
            let k = from.content.range(i);
            to.content.fingerprint.extend_from_slice(&from.content.fingerprint[k.clone()]);
            to.content.compressed_bytes.extend_from_slice(&from.content.compressed_bytes[k]);
            to.content.close();
        }
    }
}

impl Source for Memory {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        let to = self.rows.len().min(self.at.saturating_add(max));
        (self.at..to).for_each(|i| self.copy(i, batch));
        self.at = to;
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn format(&self) -> &'static str {
        "memory"
    }

    fn devices(&self) -> &[String] {
        &self.devices
    }

    fn summary(&self) -> Summary {
        Summary { content_hash: Some("hash".into()), ..Summary::default() }
    }

    fn place_of(&self, index: u64) -> String {
        format!("memory:{index}")
    }

    fn has_times(&self) -> bool {
        self.times
    }

    fn columns(&self) -> OptionalColumns {
        self.columns
    }

    fn contexts(&self) -> &[Context] {
        &self.contexts
    }
}

/// Collects the output of a source, in batches of `step` requests, and the place of each request in the trace.
pub fn all(source: &mut dyn Source, step: usize) -> (RequestBatch, Vec<String>) {
    let (mut batch, mut places) = (RequestBatch::default(), Vec::new());
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        let before = batch.len();
        source.fill(&mut batch, step).unwrap();
        places.extend((before..batch.len()).map(|i| source.place_of(i as u64)));
        if batch.len() == before {
            return (batch, places);
        }
    }
}

/// Content of a random request: time, device, operation, offset, bytes, context, stream, content.
type Draw = (i64, u16, u8, u64, u64, u32, u32, Vec<(u64, u16)>);

fn any_request() -> impl Strategy<Value = Draw> {
    let time = prop_oneof![0i64..1 << 40, -(1i64 << 60)..1 << 60];
    let time = (time, prop_oneof![Just(1i64), Just(100), Just(1000)]).prop_map(|(t, unit)| t / unit * unit);
    let size = |bits: u32| (0..bits).prop_flat_map(|b| 0..1u64 << b);
    let unit = || prop_oneof![Just(1u64), Just(512), Just(4096)];
    let offset = prop_oneof![
        8 => (size(46), unit()).prop_map(|(o, u)| o / u * u),
        1 => u64::MAX - 10_000..u64::MAX,
    ];
    let bytes = prop_oneof![
        8 => (size(22), unit()).prop_map(|(b, u)| (b / u * u).max(u)),
        1 => (1u64 << 40) - 600..=1 << 40,
        1 => Just(u64::MAX),
    ];
    let entries = prop::collection::vec((0u64..5, 0u16..4097), 0..4);
    (time, 0..NAMES.len() as u16, 0u8..3, offset, bytes, 0u32..4, 0u32..3, entries)
}

/// Generates a source of random requests.
pub fn any_source(len: Range<usize>) -> impl Strategy<Value = Memory> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.8));
    (prop::collection::vec(any_request(), len), flags, 1..=NAMES.len() as u16).prop_map(build)
}

fn build(
    (draws, (context, stream, content, times), devices): (Vec<Draw>, (bool, bool, bool, bool), u16),
) -> Memory {
    let mut out = Memory {
        devices: NAMES.iter().map(|&n| n.to_owned()).collect(),
        contexts: (0..4).map(|id| Context { id: id * 1_000_003, name: format!("c{id}") }).collect(),
        columns: OptionalColumns { context, stream, content, ..OptionalColumns::default() },
        times,
        ..Memory::default()
    };
    let origin = draws[0].0;
    for (time, device, op, offset, bytes, c, s, entries) in draws {
        let op = [Op::Read, Op::Write, Op::Trim][usize::from(op)];
        let most = if op == Op::Trim { u64::MAX } else { 1 << 40 };
        let bytes = bytes.min(most).min(u64::MAX - offset);
        let rows = &mut out.rows;
        rows.push(if times { time - origin } else { 0 }, device % devices, op, offset, bytes);
        rows.context.push(c);
        rows.stream.push(s);
        // As many entries as pages, or none at all.
        let pages = bytes.div_ceil(4096);
        if op == Op::Write && pages <= 64 && !entries.is_empty() {
            for k in 0..pages as usize {
                let (fingerprint, compressed) = entries[k % entries.len()];
                rows.content.push(fingerprint, compressed);
            }
        }
        rows.content.close();
    }
    out
}
