//! Formats that another layer understands and hands in as columns: Parquet, and texts of system calls, which take a
//! library and a model that do not belong here. What comes in is checked and counted like any other trace.
//!
//! The layer registers one opener for all of them; without it these formats are refused with a reason.

mod column_hash;

use crate::intake::{Intake, Record};
use crate::options::{OnBadLine, TimeUnit};
use crate::setup::Setup;
use crate::source::{Context, Source, Summary};
use column_hash::ColumnHasher;
use floatgate_base::{Error, OptionalColumns, Place, RequestBatch, Result};
use floatgate_input::Fault;
use floatgate_input::Input;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Some rows of a trace as another layer read them, not checked yet.
#[derive(Debug, Default)]
pub struct ColumnChunk {
    /// The rows. `device` indexes `devices`; `context` is left empty.
    pub rows: RequestBatch,
    /// Names of the devices that these rows speak of.
    pub devices: Vec<String>,
    /// `Context::id` of each row, 0 where there is none; empty where the trace has no contexts.
    pub context_ids: Vec<u64>,
    /// Contexts whose names have become known.
    pub contexts: Vec<Context>,
}

impl ColumnChunk {
    fn clear(&mut self) {
        self.rows.clear();
        self.devices.clear();
        self.context_ids.clear();
        self.contexts.clear();
    }

    /// Whether all columns have the length that they must have.
    fn is_sound(&self, columns: OptionalColumns) -> bool {
        let (rows, n) = (&self.rows, self.rows.len());
        let optional = |there: bool, len: usize| len == if there { n } else { 0 };
        let content = &rows.content;
        let entries = content.end.last().copied().unwrap_or(0);
        [rows.time_ns.len(), rows.device.len(), rows.offset.len(), rows.bytes.len()].iter().all(|&l| l == n)
            && optional(columns.context, self.context_ids.len())
            && optional(columns.stream, rows.stream.len())
            && optional(columns.predicted_life, rows.predicted_life.len())
            && optional(columns.flags, rows.flags.len())
            && optional(columns.content, content.end.len())
            && content.end.is_sorted()
            && content.fingerprint.len() == entries
            && content.compressed_bytes.len() == entries
            && rows.device.iter().all(|&d| usize::from(d) < self.devices.len())
    }
}

/// A trace that another layer reads.
pub trait ColumnReader: Send {
    /// Puts the next rows into an empty chunk; false at the end.
    ///
    /// # Errors
    /// Input errors with the place at which the trace cannot be understood.
    fn next(&mut self, chunk: &mut ColumnChunk) -> Result<bool>;

    /// Starts again from the first row.
    ///
    /// # Errors
    /// When the file cannot be read again.
    fn restart(&mut self) -> Result<()>;

    /// Which optional columns there are.
    fn columns(&self) -> OptionalColumns;

    /// Whether the stamps mean anything.
    fn has_times(&self) -> bool;

    /// What was taken for granted, and what could not be used.
    fn assumed(&self) -> Vec<String>;
}

/// A trace to open: its format, its name for messages, and a file that can be read from any place.
#[derive(Clone, Copy, Debug)]
pub struct ExternalFile<'a> {
    /// Name of the format.
    pub format: &'a str,
    /// What the user called it.
    pub name: &'a str,
    /// Where its plain content lies: the file itself, or a copy of what came packed or through a pipe.
    pub path: &'a str,
}

/// Opens a trace of one of these formats.
pub type Opener = fn(ExternalFile<'_>) -> Result<Box<dyn ColumnReader>>;

static OPENER: OnceLock<Opener> = OnceLock::new();

/// Says who reads these formats, once for the whole process; later calls change nothing.
pub fn register(opener: Opener) {
    let _ = OPENER.set(opener);
}

/// Builds the reader of a format that another layer understands.
pub(crate) fn external_reader(mut input: Input, _chunk: usize, setup: Setup) -> Result<Box<dyn Source>> {
    let Some(opener) = OPENER.get() else {
        let what = format!("{} is not read by the core alone", setup.info.name);
        return Err(Error::input(
            Place::Path(setup.path),
            what,
            "use floatgate's command line or its Python package",
        ));
    };
    let copy = if input.is_plain_file() {
        None
    } else {
        check_head(&mut input, setup.info.name, &setup.path)?;
        Some(input.copy_to_file()?)
    };
    let path = match &copy {
        None => setup.path.clone(),
        Some(file) => file.path().to_string_lossy().into_owned(),
    };
    let reader = opener(ExternalFile { format: setup.info.name, name: &setup.path, path: &path })?;
    Ok(Box::new(ColumnSource::new(reader, setup, copy)))
}

/// Looks at the first bytes before all is copied: what is not of the format may be endless.
fn check_head(input: &mut Input, format: &str, path: &str) -> Result<()> {
    if format == "parquet" {
        if !input.peek(PARQUET.len())?.starts_with(PARQUET) {
            let place = Place::Path(path.into());
            return Err(Error::input(place, "is not a Parquet file", "expected one that begins with PAR1"));
        }
    } else if input.peek(HEAD_MAX)?.len() == HEAD_MAX && !input.peek(HEAD_MAX)?.contains(&b'\n') {
        let place = Place::Line { path: path.into(), line: 1, column: None };
        let what = format!("the line is longer than {} MiB", HEAD_MAX >> 20);
        return Err(Error::input(place, what, "expected lines of text"));
    }
    Ok(())
}

/// How a Parquet file begins.
const PARQUET: &[u8] = b"PAR1";
/// Bytes of a text of system calls in which its first line ends: with the data of a call lines are long.
const HEAD_MAX: usize = 8 << 20;

/// The source over a [`ColumnReader`].
struct ColumnSource {
    reader: Box<dyn ColumnReader>,
    columns: OptionalColumns,
    setup: Setup,
    chunk: ColumnChunk,
    /// Next row of the chunk, and the number of rows before the chunk.
    cursor: usize,
    before: u64,
    intake: Intake,
    contexts: Vec<Context>,
    context_of: FxHashMap<u64, u32>,
    /// Rows of the requests of the last `fill`.
    first_request: u64,
    rows: Vec<u64>,
    /// Over the columns, not over the file: a file packed in another way holds the same trace.
    hasher: Option<ColumnHasher>,
    hash: Option<String>,
    ended: bool,
    /// Lives as long as the reader may look into it.
    _copy: Option<tempfile::NamedTempFile>,
}

impl ColumnSource {
    fn new(reader: Box<dyn ColumnReader>, setup: Setup, copy: Option<tempfile::NamedTempFile>) -> Self {
        Self {
            columns: reader.columns(),
            reader,
            setup,
            chunk: ColumnChunk::default(),
            cursor: 0,
            before: 0,
            intake: Intake::default(),
            contexts: vec![Context::default()],
            context_of: FxHashMap::default(),
            first_request: 0,
            rows: Vec::new(),
            hasher: Some(ColumnHasher::default()),
            hash: None,
            ended: false,
            _copy: copy,
        }
    }

    /// Fetches the next chunk; false at the end.
    fn refill(&mut self) -> Result<bool> {
        self.before += self.chunk.rows.len() as u64;
        self.cursor = 0;
        self.chunk.clear();
        if !self.reader.next(&mut self.chunk)? {
            return Ok(false);
        }
        if !self.chunk.is_sound(self.columns) {
            let place = Place::Path(self.setup.path.clone());
            return Err(Error::input(place, "columns of different lengths", self.setup.info.line));
        }
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&self.chunk);
        }
        for context in std::mem::take(&mut self.chunk.contexts) {
            let at = self.context(context.id);
            if let Some(known) = self.contexts.get_mut(at as usize).filter(|_| at != 0) {
                *known = context;
            }
        }
        Ok(true)
    }

    /// Number of a context in the table.
    fn context(&mut self, id: u64) -> u32 {
        if id == 0 {
            return 0;
        }
        let next = self.contexts.len() as u32;
        let at = *self.context_of.entry(id).or_insert(next);
        if at == next {
            self.contexts.push(Context { id, name: String::new() });
        }
        at
    }

    /// Checks row `i` of the chunk and appends it; true if it was a request.
    #[inline]
    fn take(&mut self, i: usize, batch: &mut RequestBatch) -> std::result::Result<bool, Fault> {
        let rows = &self.chunk.rows;
        let record = Record {
            stamp: i128::from(rows.time_ns[i]),
            op: rows.op[i],
            offset: rows.offset[i],
            bytes: rows.bytes[i],
            device: self.chunk.devices[usize::from(rows.device[i])].as_bytes(),
        };
        let device_name = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
        if !self.intake.take(record, device_name, batch)? {
            return Ok(false);
        }
        if self.columns.stream {
            batch.stream.push(self.chunk.rows.stream[i]);
        }
        if self.columns.predicted_life {
            batch.predicted_life.push(self.chunk.rows.predicted_life[i]);
        }
        if self.columns.flags {
            batch.flags.push(self.chunk.rows.flags[i]);
        }
        if self.columns.content {
            let content = &self.chunk.rows.content;
            let entries = content.range(i);
            batch.content.fingerprint.extend_from_slice(&content.fingerprint[entries.clone()]);
            batch.content.compressed_bytes.extend_from_slice(&content.compressed_bytes[entries]);
            batch.content.close();
        }
        if self.columns.context {
            let id = self.chunk.context_ids[i];
            let last = batch.context.last().copied().unwrap_or(0);
            let same = self.contexts.get(last as usize).is_some_and(|c| c.id == id);
            batch.context.push(if same { last } else { self.context(id) });
        }
        Ok(true)
    }

    #[cold]
    fn bad_row(&mut self, i: usize, fault: &Fault) -> Result<()> {
        let place =
            Place::Line { path: self.setup.path.clone(), line: self.before + i as u64 + 1, column: None };
        let error = Error::input(place, format!("{} in this row", fault.what), fault.expected);
        if self.setup.options.on_bad_line == OnBadLine::Stop {
            return Err(error);
        }
        self.intake.counts.bad += 1;
        self.intake.counts.first_bad.get_or_insert_with(|| error.to_string());
        Ok(())
    }

    /// A trace must hold at least one request.
    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        if let Some(hasher) = self.hasher.take() {
            self.hash = Some(hasher.finish());
        }
        if self.intake.counts.requests > 0 {
            return Ok(());
        }
        let what = format!("no request in {} rows", self.before);
        let place = Place::Path(self.setup.path.clone());
        Err(Error::input(place, what, "expected at least one read, write or TRIM"))
    }
}

impl Source for ColumnSource {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        self.first_request = self.intake.counts.requests;
        self.rows.clear();
        let before = batch.len();
        let mut room = max;
        while room > 0 && !self.ended {
            if self.cursor == self.chunk.rows.len() {
                if !self.refill()? {
                    self.finish()?;
                }
                continue;
            }
            let i = self.cursor;
            self.cursor += 1;
            match self.take(i, batch) {
                Ok(true) => {
                    self.rows.push(self.before + i as u64 + 1);
                    self.intake.counts.requests += 1;
                    room -= 1;
                }
                Ok(false) => {}
                Err(fault) => self.bad_row(i, &fault)?,
            }
        }
        let rows = &self.rows;
        self.intake.note_times(&batch.time_ns[before..], |i| format!("row {}", rows[i]));
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.reader.restart()?;
        self.chunk.clear();
        (self.cursor, self.before, self.ended) = (0, 0, false);
        self.intake.restart();
        self.hasher = self.hash.is_none().then(ColumnHasher::default);
        Ok(())
    }

    fn format(&self) -> &'static str {
        self.setup.info.name
    }

    fn devices(&self) -> &[String] {
        self.intake.devices()
    }

    fn summary(&self) -> Summary {
        let unit = self.reader.has_times().then_some(TimeUnit::Nanoseconds);
        self.intake.summary(self.hash.as_deref(), unit, None, 0)
    }

    fn place_of(&self, index: u64) -> String {
        let path = &self.setup.path;
        let at = index.checked_sub(self.first_request).and_then(|at| self.rows.get(at as usize));
        at.map_or_else(|| format!("{path} (request {index})"), |row| format!("{path}:{row}"))
    }

    fn has_times(&self) -> bool {
        self.reader.has_times()
    }

    fn assumed(&self) -> Vec<String> {
        let mut out = self.setup.assumed();
        out.extend(self.reader.assumed());
        out
    }

    fn columns(&self) -> OptionalColumns {
        self.columns
    }

    fn contexts(&self) -> &[Context] {
        &self.contexts
    }
}

#[cfg(test)]
mod tests;
