//! One reader for all binary formats: a format only defines where records begin and what they mean.
//!
//! Records follow each other without separators. A record of unknown length therefore ends the reading even under
//! `--on-bad-line skip`: nothing after it can be trusted. A record that is cut short by the end of the file is an
//! error, or skipped and counted.

use crate::intake::{Intake, Record, Trail};
use crate::options::OnBadLine;
use crate::setup::Setup;
use crate::source::{Source, Summary, Writer};
use crate::tar::is_archive;
use floatgate_base::counted::{counted, skipped};
use floatgate_base::{Error, OptionalColumns, Place, RequestBatch, Result};
use floatgate_input::CHUNK;
use floatgate_input::Fault;
use floatgate_input::Input;

/// Longest header and longest record.
pub(crate) const RECORD_MAX: usize = 64 << 10;

/// The layout of one binary format.
pub(crate) trait RecordFormat: Send + Sized + 'static {
    /// Prepares for a trace that begins with `head`.
    fn new(setup: &Setup, head: &[u8]) -> Result<Self>;

    /// Returns the number of bytes before the first record.
    fn header(&self) -> usize {
        0
    }

    /// Returns the length of the shortest record; [`RecordFormat::length`] is called with at least as many bytes.
    fn shortest(&self) -> usize;

    /// Returns the length of the record that begins `bytes`, at most [`RECORD_MAX`].
    fn length(&self, _bytes: &[u8]) -> std::result::Result<usize, Fault> {
        Ok(self.shortest())
    }

    /// Parses a record; `None` if it is not a request.
    fn parse<'a>(&'a mut self, record: &'a [u8]) -> std::result::Result<Option<Record<'a>>, Fault>;

    /// Returns the name of a device whose key in records is `key`.
    fn device_name(key: &[u8]) -> String {
        String::from_utf8_lossy(key).into_owned()
    }

    /// Returns whether the stamps are meaningful.
    fn has_times(&self) -> bool {
        true
    }

    /// Appends assumptions other than the units.
    fn assumed(&self, _out: &mut Vec<String>) {}

    /// Returns the optional columns that [`RecordFormat::extras`] fills.
    fn columns(&self) -> OptionalColumns {
        OptionalColumns::default()
    }

    /// Appends the optional columns of the last parsed record.
    #[inline]
    fn extras(&mut self, _batch: &mut RequestBatch) {}

    /// Returns the processes seen so far, by the number of their stream; none if streams are not processes.
    fn processes(&self) -> Option<Vec<u64>> {
        None
    }

    /// Forgets the current pass.
    fn restart(&mut self) {}

    /// Returns whether a last record that is cut short is a note and not an error.
    fn tail_may_be_cut(&self) -> bool {
        false
    }

    /// States what a trace without requests lacks.
    fn hint_if_empty(&self) -> String {
        "expected at least one read, write or TRIM".into()
    }
}

/// Reads a little-endian field of a record.
#[inline]
pub(crate) fn u16_le(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

/// Reads a little-endian field of a record.
#[inline]
pub(crate) fn u32_le(record: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&record[at..at + 4]);
    u32::from_le_bytes(word)
}

/// Reads a little-endian field of a record.
#[inline]
pub(crate) fn u64_le(record: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&record[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Reads a big-endian field of a record.
#[inline]
pub(crate) fn u32_be(record: &[u8], at: usize) -> u32 {
    u32_le(record, at).swap_bytes()
}

/// Returns a fault of some bytes of a record.
#[cold]
pub(crate) fn field_fault(at: usize, len: usize, what: &'static str, expected: &'static str) -> Fault {
    Fault { from: at, to: at + len, what, expected }
}

/// A reader of binary records.
pub(crate) struct BinaryReader<F> {
    input: Input,
    format: F,
    setup: Setup,
    buf: Vec<u8>,
    /// Next byte to deliver.
    start: usize,
    /// End of the data in the buffer.
    end: usize,
    /// Position of the buffer in the trace, in bytes.
    base: u64,
    at_end: bool,
    chunk: usize,
    records: u64,
    intake: Intake,
    trail: Trail,
    ended: bool,
    /// How the last record is cut short.
    cut: Option<String>,
    /// What was assumed to create this reader.
    assumed: Option<String>,
}

impl<F: RecordFormat> BinaryReader<F> {
    /// Reads the trace `input` from its beginning.
    pub fn new(mut input: Input, chunk: usize, setup: Setup) -> Result<Self> {
        let head = input.peek(CHUNK)?;
        if is_archive(head) {
            let place = Place::Path(setup.path);
            return Err(Error::input(place, "is a tar archive", "unpack it first"));
        }
        let format = F::new(&setup, head)?;
        let mut reader = Self {
            input,
            format,
            setup,
            buf: vec![0; RECORD_MAX + chunk],
            start: 0,
            end: 0,
            base: 0,
            at_end: false,
            chunk,
            records: 0,
            intake: Intake::default(),
            trail: Trail::default(),
            ended: false,
            cut: None,
            assumed: None,
        };
        reader.pass_header()?;
        Ok(reader)
    }

    /// Adds an assumption.
    pub fn assume(&mut self, text: String) {
        self.assumed = Some(text);
    }

    fn place(&self, offset: usize) -> Place {
        Place::Byte { path: self.setup.path.clone(), byte: self.base + (self.start + offset) as u64 }
    }

    /// Makes at least `n` bytes available, unless the trace ends earlier.
    #[cold]
    fn need(&mut self, n: usize) -> Result<()> {
        debug_assert!(n <= RECORD_MAX);
        while self.end - self.start < n && !self.at_end {
            self.buf.copy_within(self.start..self.end, 0);
            self.base += self.start as u64;
            (self.start, self.end) = (0, self.end - self.start);
            let read = self.input.read_full(&mut self.buf[self.end..self.end + self.chunk])?;
            self.end += read;
            self.at_end = read < self.chunk;
        }
        Ok(())
    }

    /// Skips the bytes before the first record.
    fn pass_header(&mut self) -> Result<()> {
        let mut left = self.format.header();
        while left > 0 {
            let step = left.min(RECORD_MAX);
            self.need(step)?;
            let step = step.min(self.end - self.start);
            if step == 0 {
                return Err(Error::input(self.place(0), "the header is cut short", self.setup.info.line));
            }
            self.start += step;
            left -= step;
        }
        Ok(())
    }

    /// Returns the bytes of the next record; none at the end of the trace.
    #[inline]
    fn next_record(&mut self) -> Result<Option<(usize, usize)>> {
        let shortest = self.format.shortest();
        if self.end - self.start < shortest {
            self.need(shortest)?;
            if self.end - self.start < shortest {
                return self.cut_short(shortest);
            }
        }
        let len = match self.format.length(&self.buf[self.start..self.end]) {
            Ok(len) => len,
            Err(fault) => return Err(self.error(fault)),
        };
        if self.end - self.start < len {
            self.need(len)?;
            if self.end - self.start < len {
                return self.cut_short(len);
            }
        }
        let from = self.start;
        self.start += len;
        self.records += 1;
        Ok(Some((from, len)))
    }

    /// Handles a trace that ends within a record of `len` bytes, or where one would begin.
    #[cold]
    fn cut_short(&mut self, len: usize) -> Result<Option<(usize, usize)>> {
        let left = self.end - self.start;
        if left > 0 {
            let what = format!("the last record is cut short: {left} of {len} bytes");
            let error = Error::input(self.place(0), &what, self.setup.info.line);
            self.start = self.end;
            if self.format.tail_may_be_cut() {
                self.cut = Some(what);
            } else {
                self.bad_record(error)?;
            }
        }
        self.finish()?;
        Ok(None)
    }

    /// Parses the record at `from`; returns true for a request.
    #[inline]
    fn take(
        &mut self,
        from: usize,
        len: usize,
        batch: &mut RequestBatch,
    ) -> std::result::Result<bool, Fault> {
        let Some(record) = self.format.parse(&self.buf[from..from + len])? else {
            self.intake.counts.other += 1;
            return Ok(false);
        };
        let taken = self.intake.take(record, F::device_name, batch)?;
        if taken {
            self.format.extras(batch);
        }
        Ok(taken)
    }

    /// Describes the fault of the record at `start`.
    #[cold]
    fn error(&self, fault: Fault) -> Box<Error> {
        let bytes = self.buf[self.start..self.end].get(fault.from..fault.to).unwrap_or_default();
        let shown: Vec<String> = bytes.iter().take(16).map(|b| format!("{b:02x}")).collect();
        let what = match shown.is_empty() {
            true => fault.what.to_owned(),
            false => format!("'{}' {}", shown.join(" "), fault.what),
        };
        let offset = if fault.is_line() { 0 } else { fault.from };
        Error::input(self.place(offset), what, fault.expected)
    }

    /// Stops at a bad record, or counts it.
    #[cold]
    fn bad_record(&mut self, error: Box<Error>) -> Result<()> {
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
        let counts = &self.intake.counts;
        if counts.requests > 0 {
            return Ok(());
        }
        let mut what = format!("no request in {}", counted(self.records, "record"));
        if let Some(bad) = &counts.first_bad {
            what += &skipped(counts.bad, "record", bad);
        }
        let place = Place::Path(self.setup.path.clone());
        Err(Error::input(place, what, self.format.hint_if_empty()))
    }

    /// Finds the byte of a request that is no longer in memory, by reading again.
    fn byte_of(&self, index: u64) -> Option<u64> {
        let again = self.input.again().ok()?;
        let mut reader = Self::new(again, CHUNK, self.setup.clone()).ok()?;
        let mut batch = RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN);
        while reader.intake.counts.requests <= index && !reader.ended {
            batch.clear();
            reader.fill(&mut batch, RequestBatch::DEFAULT_LEN).ok()?;
        }
        reader.trail.of(index)
    }
}

impl<F: RecordFormat> Source for BinaryReader<F> {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        self.trail.first_request = self.intake.counts.requests;
        self.trail.places.clear();
        let before = batch.len();
        let mut room = max;
        while room > 0 && !self.ended {
            let Some((from, len)) = self.next_record()? else { break };
            match self.take(from, len, batch) {
                Ok(true) => {
                    self.trail.places.push(self.base + from as u64);
                    self.intake.counts.requests += 1;
                    room -= 1;
                }
                Ok(false) => {}
                Err(fault) => {
                    self.start = from;
                    let error = self.error(fault);
                    self.start = from + len;
                    self.bad_record(error)?;
                }
            }
        }
        let places = &self.trail.places;
        self.intake.note_times(&batch.time_ns[before..], |i| format!("byte {}", places[i]));
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.input.rewind()?;
        (self.start, self.end, self.base, self.at_end) = (0, 0, 0, false);
        self.records = 0;
        self.intake.restart();
        self.format.restart();
        self.trail = Trail::default();
        self.ended = false;
        self.pass_header()
    }

    fn format(&self) -> &'static str {
        self.setup.info.name
    }

    fn devices(&self) -> &[String] {
        self.intake.devices()
    }

    fn summary(&self) -> Summary {
        let unit = self.format.has_times().then_some(self.setup.time_unit);
        let mut summary = self.intake.summary(self.input.hash(), unit, self.setup.assumed_lba_bytes(), 0);
        summary.suspicions.extend(self.cut.clone());
        summary
    }

    fn place_of(&self, index: u64) -> String {
        let path = &self.setup.path;
        let byte = self.trail.of(index).or_else(|| {
            // Far from the current batch: needed only for an error message, where time does not matter.
            if self.input.reopens() { self.byte_of(index) } else { None }
        });
        match byte {
            Some(byte) => format!("{path}@{byte}"),
            None => format!("{path} (request {index})"),
        }
    }

    fn has_times(&self) -> bool {
        self.format.has_times()
    }

    fn columns(&self) -> OptionalColumns {
        self.format.columns()
    }

    fn writers(&self) -> Vec<Writer> {
        self.format.processes().unwrap_or_default().into_iter().map(Writer::process).collect()
    }

    fn writer_fields(&self) -> Vec<String> {
        self.format.processes().map_or_else(Vec::new, |_| vec!["process".into()])
    }

    fn assumed(&self) -> Vec<String> {
        let mut out = self.setup.assumed();
        self.format.assumed(&mut out);
        out.extend(self.assumed.clone());
        out
    }
}
