//! One reader for all text formats: a format only defines the meaning of a line.

use crate::intake::{Intake, Record, Rows, Trail};
use crate::options::OnBadLine;
use crate::setup::Setup;
use crate::source::{Source, Summary, Writer};
use crate::tar::Tar;
use floatgate_base::counted::{counted, skipped};
use floatgate_base::error::quote;
use floatgate_base::{Error, OptionalColumns, Place, RequestBatch, Result};
use floatgate_input::Input;
use floatgate_input::{CHUNK, LINE_MAX, Lines, Next, cut, whole_lines};
use floatgate_input::{Cursor, Fault, Known, Scan};

/// The grammar of one text format.
pub(crate) trait LineFormat: Send + Sized + 'static {
    /// Prepares for a trace that begins with `head`, its first lines.
    fn new(setup: &Setup, head: &[u8]) -> Result<Self>;

    /// Parses a line; `None` if it is not a request.
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault>;

    /// Whether [`LineFormat::usual`] knows a form.
    const HAS_USUAL: bool = false;

    /// Parses a line in its usual form; a request is `None` if the line holds another record. Returns `None` for a line
    /// that [`LineFormat::parse`] must see, which then gives the same result as without this attempt.
    #[inline(always)]
    fn usual<'a>(&'a mut self, _line: Scan<'a>, _last_device: Known) -> Option<Usual<'a>> {
        None
    }

    /// Returns the optional columns that [`LineFormat::extras`] fills.
    fn columns(&self) -> OptionalColumns {
        OptionalColumns::default()
    }

    /// Appends the optional columns of the last parsed line, for a request of `bytes` bytes.
    #[inline(always)]
    fn extras(&mut self, _bytes: u64, _batch: &mut RequestBatch) {}

    /// Returns the name of a device whose key in records is `key`.
    fn device_name(key: &[u8]) -> String {
        String::from_utf8_lossy(key).into_owned()
    }

    /// Returns the processes seen so far, by the number of their stream; none if streams are not processes.
    fn processes(&self) -> Option<Vec<u64>> {
        None
    }

    /// Clears the state of earlier lines.
    fn restart(&mut self) {}

    /// Returns whether the stamps are meaningful.
    fn has_times(&self) -> bool {
        true
    }

    /// Appends assumptions other than the units.
    fn assumed(&self, _out: &mut Vec<String>) {}

    /// Returns the expectation for a trace with lines but no request.
    fn hint_if_empty(&self) -> String {
        "expected at least one read, write or TRIM".into()
    }
}

/// A line in its usual form.
pub(crate) struct Usual<'a> {
    /// None for another record.
    pub record: Option<Record<'a>>,
    /// Whether its device is that of the last request, which [`LineFormat::usual`] was called with.
    pub is_known: bool,
    /// Bytes of the line with its break.
    pub bytes: usize,
}

impl<'a> Usual<'a> {
    /// Makes another record.
    #[inline(always)]
    pub fn other(bytes: usize) -> Self {
        Self { record: None, is_known: false, bytes }
    }
}

/// A reader of formats with one record per line.
pub(crate) struct TextReader<F> {
    lines: Lines,
    format: F,
    setup: Setup,
    intake: Intake,
    trail: Trail,
    rows: Rows,
    tar: Tar,
    ended: bool,
}

impl<F: LineFormat> TextReader<F> {
    /// Reads the trace `input` from its beginning.
    pub fn new(mut input: Input, chunk: usize, setup: Setup) -> Result<Self> {
        let format = F::new(&setup, whole_lines(input.peek(CHUNK)?))?;
        let lines = Lines::new(input, chunk)?;
        let (intake, trail, tar) = (Intake::default(), Trail::default(), Tar::default());
        Ok(Self { lines, format, setup, intake, trail, rows: Rows::new(), tar, ended: false })
    }

    /// Reads lines in memory that have their usual form, up to `room` requests; returns how many requests there were.
    #[inline]
    fn take_usual(&mut self, batch: &mut RequestBatch, room: usize) -> usize {
        let Self { lines, format, intake, trail, .. } = self;
        let Some((bytes, whole)) = lines.pending() else { return 0 };
        let (mut at, mut count, number) = (0, 0, lines.number());
        let (room, rows) = (room.min(Rows::MAX), &mut self.rows);
        while rows.len < room && at < whole {
            let known = intake.last_device();
            let line = Scan::new(&bytes[at..]).and_then(|line| format.usual(line, known));
            let Some(Usual { record, is_known, bytes: len }) = line else { break };
            if let Some(record) = record {
                let request_bytes = record.bytes;
                let key = (!is_known).then_some(record.device);
                match intake.take_row(&record, key, F::device_name, rows) {
                    Ok(true) => {
                        format.extras(request_bytes, batch);
                        trail.places.push(number + count + 1);
                    }
                    Ok(false) => {}
                    // Its fault is described below, where the place of the line is known.
                    Err(_) => break,
                }
            } else {
                intake.counts.other += 1;
            }
            (at, count) = (at + len, count + 1);
        }
        let taken = rows.len;
        rows.move_to(batch);
        intake.counts.requests += taken as u64;
        lines.delivered(count, at);
        taken
    }

    /// Parses the line `from..from + len` of the buffer; returns true for a request.
    #[inline]
    fn take(
        &mut self,
        from: usize,
        len: usize,
        batch: &mut RequestBatch,
    ) -> std::result::Result<bool, Fault> {
        let mut cursor = Cursor::new(&self.lines.bytes()[from..], len);
        if !self.lines.ascii() {
            check_utf8(cursor.line())?;
        }
        let Some(record) = self.format.parse(&mut cursor)? else {
            // An empty line does not count as another record.
            self.intake.counts.other += u64::from(len > 0);
            return Ok(false);
        };
        let bytes = record.bytes;
        let taken = self.intake.take(record, F::device_name, batch)?;
        if taken {
            self.format.extras(bytes, batch);
        }
        Ok(taken)
    }

    /// Handles a line that is not a record: remains of a tar archive are skipped and the rest of the line is tried by
    /// itself; any other is a bad line.
    #[cold]
    fn no_record(&mut self, from: usize, len: usize, mut fault: Fault) -> Result<()> {
        let passed = self.tar.passed_on(self.lines.number());
        let line = &self.lines.bytes()[from..from + len];
        if let Some(rest) = self.tar.passed_over(line, self.lines.number()) {
            if rest < len {
                self.lines.again(from + rest);
            }
            return Ok(());
        }
        // Columns count from the beginning of the line; a fault of the whole line quotes the record.
        if fault.is_line() {
            return self.fault(from, len, fault);
        }
        (fault.from, fault.to) = (fault.from + passed, fault.to + passed);
        self.fault(from - passed, len + passed, fault)
    }

    /// Stops at a bad line, or counts it.
    #[cold]
    fn bad_line(&mut self, place: Place, what: String, expected: &str) -> Result<()> {
        let error = Error::input(place, what, expected);
        if self.setup.options.on_bad_line == OnBadLine::Stop {
            return Err(error);
        }
        self.intake.counts.bad += 1;
        self.intake.counts.first_bad.get_or_insert_with(|| error.to_string());
        Ok(())
    }

    #[cold]
    fn fault(&mut self, from: usize, len: usize, fault: Fault) -> Result<()> {
        let text = &self.lines.bytes()[from..from + len];
        let (what, column) = if fault.is_line() {
            (format!("{} in {}", fault.what, quote(text)), None)
        } else if fault.from >= len {
            ("the line ends too early".into(), Some(len as u64 + 1))
        } else {
            (format!("{} {}", quote(&text[fault.from..fault.to]), fault.what), Some(fault.from as u64 + 1))
        };
        let place = Place::Line { path: self.setup.path.clone(), line: self.lines.number(), column };
        let (what, expected) = cut(what, fault.expected.into(), self.lines.cut_len());
        self.bad_line(place, what, &expected)
    }

    #[cold]
    fn too_long(&mut self) -> Result<()> {
        let place = Place::Line { path: self.setup.path.clone(), line: self.lines.number(), column: None };
        let what = format!("the line is longer than {LINE_MAX} bytes");
        self.bad_line(place, what, self.setup.info.line)
    }

    /// Checks that the trace holds at least one request.
    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        let counts = &self.intake.counts;
        if counts.requests > 0 {
            return Ok(());
        }
        let mut what = format!("no request in {}", counted(self.lines.number(), "line"));
        if let Some(bad) = &counts.first_bad {
            what += &skipped(counts.bad, "line", bad);
        }
        let place = Place::Path(self.setup.path.clone());
        Err(Error::input(place, what, self.format.hint_if_empty()))
    }

    /// Finds the line of a request that is no longer in memory, by reading again.
    fn line_of(&self, index: u64) -> Option<u64> {
        let again = Input::open(&self.setup.path, "trace").ok()?;
        let mut reader = Self::new(again, CHUNK, self.setup.clone()).ok()?;
        let mut batch = RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN);
        while reader.intake.counts.requests <= index && !reader.ended {
            batch.clear();
            reader.fill(&mut batch, RequestBatch::DEFAULT_LEN).ok()?;
        }
        reader.trail.of(index)
    }
}

impl<F: LineFormat> Source for TextReader<F> {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        self.trail.first_request = self.intake.counts.requests;
        self.trail.places.clear();
        let before = batch.len();
        let mut room = max;
        while room > 0 && !self.ended {
            if F::HAS_USUAL {
                let taken = self.take_usual(batch, room);
                room -= taken;
                if room == 0 || taken == Rows::MAX {
                    continue;
                }
            }
            match self.lines.next_line() {
                Next::Line { from, len } => match self.take(from, len, batch) {
                    Ok(true) => {
                        self.trail.places.push(self.lines.number());
                        self.intake.counts.requests += 1;
                        room -= 1;
                    }
                    Ok(false) => {}
                    Err(fault) => self.no_record(from, len, fault)?,
                },
                Next::TooLong => self.too_long()?,
                Next::Empty => {
                    if !self.lines.refill()? {
                        self.finish()?;
                    }
                }
            }
        }
        let places = &self.trail.places;
        self.intake.note_times(&batch.time_ns[before..], |i| format!("line {}", places[i]));
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.lines.rewind()?;
        self.format.restart();
        self.intake.restart();
        self.trail = Trail::default();
        self.tar = Tar::default();
        self.ended = false;
        Ok(())
    }

    fn format(&self) -> &'static str {
        self.setup.info.name
    }

    fn devices(&self) -> &[String] {
        self.intake.devices()
    }

    fn summary(&self) -> Summary {
        let unit = self.format.has_times().then_some(self.setup.time_unit);
        let lba_bytes = self.setup.assumed_lba_bytes();
        self.intake.summary(self.lines.input().hash(), unit, lba_bytes, self.tar.lines)
    }

    fn place_of(&self, index: u64) -> String {
        let path = &self.setup.path;
        let line = self.trail.of(index).or_else(|| {
            // Far from the current batch: needed only for an error message, where time does not matter.
            if self.lines.input().reopens() { self.line_of(index) } else { None }
        });
        match line {
            Some(line) => format!("{path}:{line}"),
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
        if self.tar.lines > 0 {
            out.push(format!("{} lines of tar headers and padding were skipped", self.tar.lines));
        }
        out
    }
}

/// Rejects a line that is not UTF-8 text.
fn check_utf8(line: &[u8]) -> std::result::Result<(), Fault> {
    match std::str::from_utf8(line) {
        Ok(_) => Ok(()),
        Err(e) => {
            let from = e.valid_up_to();
            Err(Fault { from, to: from + 1, what: "is not UTF-8", expected: "expected a line of text" })
        }
    }
}
