//! Traces with program contexts and streams, without the library that reads Parquet. The files hold lines
//! `W, R or T, first page, pages, context, stream, predicted life, time` after the mark of a Parquet file. A test opener reads
//! them as Parquet.

use super::Folder;
use floatgate_base::testing::Bound;
use floatgate_base::{Error, Op, OptionalColumns, Place, Result, Rng};
use floatgate_trace::external::{ColumnChunk, ColumnReader, ExternalFile, register};
use std::fmt::Write as _;

/// Bytes of a page of these traces.
const PAGE_BYTES: u64 = 4096;
/// Rows that the reader hands out at once.
const ROWS: usize = 500;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub op: Op,
    pub page: u64,
    pub pages: u64,
    pub context: u64,
    pub stream: u32,
    /// Predicted life of the data in host page writes; 0 means forever.
    pub life: u32,
}

/// A write.
pub fn write(page: u64, context: u64) -> Row {
    Row { op: Op::Write, page, pages: 1, context, stream: 0, life: 0 }
}

/// Writes a trace of a request per millisecond; its name is to end in `.parquet`. Gives its path.
pub fn file(folder: &Folder, name: &str, rows: &[Row]) -> String {
    file_at(folder, name, &(0..).zip(rows).map(|(i, row)| (i * 1_000_000, *row)).collect::<Vec<_>>())
}

/// Writes a trace with these times, nanoseconds.
pub fn file_at(folder: &Folder, name: &str, rows: &[(i64, Row)]) -> String {
    register(open);
    let mut text = String::from("PAR1\n");
    for (time_ns, row) in rows {
        let op = match row.op {
            Op::Trim => 'T',
            Op::Read => 'R',
            Op::Write => 'W',
        };
        let Row { page, pages, context, stream, life, .. } = row;
        writeln!(text, "{op} {page} {pages} {context} {stream} {life} {time_ns}").unwrap();
    }
    folder.file(name, text)
}

/// Bursts of writes over a fifth of `pages`. After those of programs 1 and 2 the drive is idle for 300 ms, after those of
/// programs 3 and 4 another burst follows 5 ms later. In half of the bursts program 5 writes last but one.
pub fn bursts(seed: u64, pages: u64, count: usize) -> Vec<(i64, Row)> {
    let mut rng = Rng::new(seed, "bursts");
    let (mut now_ns, mut rows) = (0, Vec::new());
    for _ in 0..count {
        let (program, both) = (1 + rng.below(4), rng.below(2) == 0);
        for place in 0..12 {
            let context = if both && place == 10 { 5 } else { program };
            let page = rng.below(pages / 5);
            rows.push((now_ns, Row { stream: context as u32, life: 60 << context, ..write(page, context) }));
            now_ns += 2_000_000;
        }
        now_ns += if program < 3 { 300_000_000 } else { 5_000_000 };
    }
    rows
}

/// Two programs in turn: bursts of 60 pages of program 1 and of 6 pages of program 2, with 400 ms between two bursts.
pub fn bursts_in_turn(seed: u64, pages: u64, count: u64) -> Vec<(i64, Row)> {
    let mut rng = Rng::new(seed, "bursts in turn");
    let (mut now_ns, mut rows) = (0, Vec::new());
    for burst in 0..count {
        let (context, writes) = [(1, 60), (2, 6)][(burst % 2) as usize];
        for _ in 0..writes {
            rows.push((now_ns, write(rng.below(pages), context)));
            now_ns += 700_000;
        }
        now_ns += 400_000_000;
    }
    rows
}

/// Programs that repeatedly write their own pages, the first of them most, and some that write once. Contexts are 1 to
/// `contexts`; each has its own stream, and the data of a later one have longer predicted lives.
pub fn programs(seed: u64, contexts: u64, pages: u64, requests: usize) -> Vec<Row> {
    let mut rng = Rng::new(seed, "hinted programs");
    let own = pages / contexts;
    let mut rows = Vec::with_capacity(requests);
    let mut at = vec![0; contexts as usize];
    let mut bound = Bound::new(100_000_000);
    while rows.len() < requests {
        bound.step();
        // A program writes some pages in a row before another has its turn.
        let which = rng.below(contexts).min(rng.below(contexts));
        for _ in 0..1 + rng.below(12) {
            let place = &mut at[which as usize];
            *place = if which.is_multiple_of(2) { *place + 1 } else { rng.below(own) };
            let (page, stream) = (which * own + *place % own, which as u32);
            rows.push(Row { op: Op::Write, page, pages: 1, context: which + 1, stream, life: 60 << stream });
        }
        if rng.below(30) == 0 {
            rows.push(Row {
                op: Op::Trim,
                page: rng.below(pages - 4),
                pages: 3,
                context: 0,
                stream: 0,
                life: 0,
            });
        }
    }
    rows.truncate(requests);
    rows
}

struct Reader {
    rows: Vec<(i64, Row)>,
    at: usize,
}

fn open(file: ExternalFile<'_>) -> Result<Box<dyn ColumnReader>> {
    let fault = |what: String| Error::input(Place::Path(file.name.into()), what, "expected a row of ours");
    let text = std::fs::read_to_string(file.path).map_err(|e| fault(e.to_string()))?;
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| fields.get(i).and_then(|f| f.parse::<u64>().ok());
        let op = match *fields.first()? {
            "T" => Op::Trim,
            "R" => Op::Read,
            _ => Op::Write,
        };
        let (stream, life) = (number(4)? as u32, number(5)? as u32);
        let row = Row { op, page: number(1)?, pages: number(2)?, context: number(3)?, stream, life };
        Some((number(6)? as i64, row))
    };
    let rows = text.lines().skip(1).map(|line| row(line).ok_or_else(|| fault(format!("'{line}'"))));
    Ok(Box::new(Reader { rows: rows.collect::<Result<_>>()?, at: 0 }))
}

impl ColumnReader for Reader {
    fn next(&mut self, chunk: &mut ColumnChunk) -> Result<bool> {
        let from = self.at;
        self.at = (from + ROWS).min(self.rows.len());
        chunk.devices.push("ours".into());
        for (time_ns, row) in &self.rows[from..self.at] {
            let (offset, bytes) = (row.page * PAGE_BYTES, row.pages * PAGE_BYTES);
            chunk.rows.push(*time_ns, 0, row.op, offset, bytes);
            chunk.rows.stream.push(row.stream);
            chunk.rows.predicted_life.push(row.life);
            chunk.context_ids.push(row.context);
        }
        Ok(from < self.rows.len())
    }

    fn restart(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { context: true, stream: true, predicted_life: true, ..OptionalColumns::default() }
    }

    fn has_times(&self) -> bool {
        true
    }

    fn assumed(&self) -> Vec<String> {
        Vec::new()
    }
}
