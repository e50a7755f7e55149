//! Formats that another layer parses and passes on as columns: Parquet, and texts of system calls. They need a library
//! and a model that do not belong here. The columns are checked and counted like any other trace.
//!
//! The layer registers one opener for all of them; without it these formats are rejected with a reason.

mod column_hash;

use crate::intake::{Intake, Record};
use crate::options::{OnBadLine, TimeUnit};
use crate::setup::Setup;
use crate::source::{Context, Source, Summary, Writer};
use column_hash::ColumnHasher;
use floatgate_base::counted::counted;
use floatgate_base::{Error, OptionalColumns, Place, RequestBatch, Result};
use floatgate_input::Fault;
use floatgate_input::Input;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Rows of a trace from another layer, still unchecked.
#[derive(Debug, Default)]
pub struct ColumnChunk {
    /// The rows. `device` indexes `devices`; `context` is left empty.
    pub rows: RequestBatch,
    /// Names of the devices of these rows.
    pub devices: Vec<String>,
    /// `Context::id` of each row, 0 for none; empty if the trace has no contexts.
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

    /// Returns whether all columns have the required length.
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
    /// Appends the next rows to an empty chunk; returns false at the end.
    ///
    /// # Errors
    /// Input errors with the place that cannot be parsed.
    fn next(&mut self, chunk: &mut ColumnChunk) -> Result<bool>;

    /// Restarts at the first row.
    ///
    /// # Errors
    /// When the file cannot be read again.
    fn restart(&mut self) -> Result<()>;

    /// Returns the optional columns of the trace.
    fn columns(&self) -> OptionalColumns;

    /// Returns the writers by stream, and which fields are known; empty where streams do not stand for writers.
    fn writers(&self) -> (Vec<Writer>, Vec<String>) {
        (Vec::new(), Vec::new())
    }

    /// Returns whether the stamps are meaningful.
    fn has_times(&self) -> bool;

    /// Returns the assumptions, and parts of the trace that could not be used.
    fn assumed(&self) -> Vec<String>;
}

/// A trace to open: its format, its name for messages, and a file with random access.
#[derive(Clone, Copy, Debug)]
pub struct ExternalFile<'a> {
    /// Name of the format.
    pub format: &'a str,
    /// The user's name of the trace.
    pub name: &'a str,
    /// The file with its plain content: the file itself, or a copy of compressed or piped content.
    pub path: &'a str,
    /// Whether streams stand for writers: process, thread, descriptor, file.
    pub keep_writers: bool,
}

/// Opens a trace of one of these formats.
pub type Opener = fn(ExternalFile<'_>) -> Result<Box<dyn ColumnReader>>;

static OPENER: OnceLock<Opener> = OnceLock::new();

/// Registers the opener of these formats for the whole process; later calls have no effect.
pub fn register(opener: Opener) {
    let _ = OPENER.set(opener);
}

/// Creates the reader of a format that another layer parses.
pub(crate) fn external_reader(mut input: Input, _chunk: usize, setup: Setup) -> Result<Box<dyn Source>> {
    let Some(opener) = OPENER.get() else {
        let what = format!("{} cannot be read by the core alone", setup.info.name);
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
    let reader = opener(ExternalFile {
        format: setup.info.name,
        name: &setup.path,
        path: &path,
        keep_writers: setup.options.keep_writers,
    })?;
    Ok(Box::new(ColumnSource::new(reader, setup, copy)))
}

/// Checks the first bytes before everything is copied: a file of another format may be endless.
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

/// The beginning of a Parquet file.
const PARQUET: &[u8] = b"PAR1";
/// Limit on the first line of a text of system calls, in bytes: data of a call make lines long.
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
    /// Hashes the columns, not the file: the same trace may be compressed differently.
    hasher: Option<ColumnHasher>,
    hash: Option<String>,
    ended: bool,
    /// Kept as long as the reader may access it.
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

    /// Fetches the next chunk; returns false at the end.
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

    /// Returns the number of a context in the table.
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

    /// Checks row `i` of the chunk and appends it; returns true for a request.
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

    /// Checks that the trace holds at least one request.
    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        if let Some(hasher) = self.hasher.take() {
            self.hash = Some(hasher.finish());
        }
        if self.intake.counts.requests > 0 {
            return Ok(());
        }
        let what = format!("no request in {}", counted(self.before, "row"));
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

    fn writers(&self) -> Vec<Writer> {
        self.reader.writers().0
    }

    fn writer_fields(&self) -> Vec<String> {
        self.reader.writers().1
    }

    fn contexts(&self) -> &[Context] {
        &self.contexts
    }
}

#[cfg(test)]
mod tests;
