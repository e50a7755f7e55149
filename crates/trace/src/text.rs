//! One reader for all text formats: a format only says what a line means.

use crate::cursor::{Cursor, Fault};
use crate::formats::FormatInfo;
use crate::input::Input;
use crate::lines::{CHUNK, LINE_MAX, Lines, Next};
use crate::options::{Action, LbaUnit, OnBadLine, OpenOptions, TimeUnit};
use crate::source::{Source, Summary};
use floatgate_base::error::quote;
use floatgate_base::{Error, Op, Place, RequestBatch, Result};
use rustc_hash::FxHashMap;

/// Most bytes of one read or write: no block command moves more, so more is a broken line.
const TRANSFER_MAX: u64 = 1 << 40;

/// What a line asks for, before it is checked.
pub(crate) struct Record<'a> {
    /// Nanoseconds since any origin.
    pub stamp: i128,
    pub op: Op,
    pub offset: u64,
    pub bytes: u64,
    /// What tells one device from another.
    pub device: &'a [u8],
}

/// What a format needs to know beside the lines.
pub(crate) struct Setup {
    pub path: String,
    pub info: &'static FormatInfo,
    /// Unit of the stamps, as a power of ten of nanoseconds.
    pub time_power: u32,
    /// Bytes per unit of address.
    pub lba_bytes: u64,
    pub options: OpenOptions,
}

/// The grammar of one text format.
pub(crate) trait LineFormat: Send + Sized + 'static {
    /// Prepares for a trace that begins with `head`, its first chunk.
    fn new(setup: &Setup, head: &[u8]) -> Result<Self>;

    /// Understands one line; `None` for what is no request.
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault>;

    /// Name of a device that a record called `key`.
    fn device_name(key: &[u8]) -> String {
        String::from_utf8_lossy(key).into_owned()
    }

    /// Forgets what earlier lines said.
    fn restart(&mut self) {}

    /// Whether the stamps mean anything.
    fn has_times(&self) -> bool {
        true
    }

    /// What was assumed beside the units.
    fn assumed(&self, _out: &mut Vec<String>) {}

    /// What to do when a trace has lines but no request.
    fn hint_if_empty(&self) -> String {
        "expected at least one read, write or TRIM".into()
    }
}

/// The devices seen so far.
#[derive(Default)]
struct Devices {
    names: Vec<String>,
    by_key: FxHashMap<Box<[u8]>, u16>,
    last_key: Vec<u8>,
    last: u16,
}

impl Devices {
    /// Number of the device `key`; none if there are too many.
    #[inline]
    fn of(&mut self, key: &[u8], name: fn(&[u8]) -> String) -> Option<u16> {
        if key == self.last_key.as_slice() && !self.names.is_empty() {
            return Some(self.last);
        }
        self.change_to(key, name)
    }

    fn change_to(&mut self, key: &[u8], name: fn(&[u8]) -> String) -> Option<u16> {
        let id = match self.by_key.get(key) {
            Some(id) => *id,
            None => {
                let id = u16::try_from(self.names.len()).ok()?;
                self.names.push(name(key));
                self.by_key.insert(key.into(), id);
                id
            }
        };
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.last = id;
        Some(id)
    }
}

/// What has been counted in the present pass.
#[derive(Clone, Default)]
struct Counts {
    requests: u64,
    bad: u64,
    first_bad: Option<String>,
    other: u64,
    backwards: u64,
    /// Stamp of the first request; all stamps are relative to it.
    first_stamp: Option<i128>,
    /// Stamp of the last request.
    last_ns: i64,
}

/// Lines of the requests of the last `fill`.
#[derive(Default)]
struct Trail {
    first_request: u64,
    lines: Vec<u64>,
}

/// Reads any format whose records are lines.
pub(crate) struct TextReader<F> {
    lines: Lines,
    format: F,
    setup: Setup,
    devices: Devices,
    counts: Counts,
    trail: Trail,
    ended: bool,
}

impl<F: LineFormat> TextReader<F> {
    /// Reads the trace of which `lines` holds the first chunk.
    pub fn new(lines: Lines, setup: Setup) -> Result<Self> {
        let format = F::new(&setup, lines.buffered_lines())?;
        Ok(Self {
            lines,
            format,
            setup,
            devices: Devices::default(),
            counts: Counts::default(),
            trail: Trail::default(),
            ended: false,
        })
    }

    /// Understands the line `from..from + len` of the buffer; true if it was a request.
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
            // An empty line is nothing at all; other records are counted.
            self.counts.other += u64::from(len > 0);
            return Ok(false);
        };
        if record.bytes == 0 {
            self.counts.other += 1;
            return Ok(false);
        }
        if record.bytes > TRANSFER_MAX && record.op != Op::Trim {
            return Err(Fault::line("a transfer of more than 1 TiB"));
        }
        if record.offset.checked_add(record.bytes).is_none() {
            return Err(Fault::line("the request ends beyond 2^64 bytes"));
        }
        let first = self.counts.first_stamp.unwrap_or(record.stamp);
        let Ok(time) = i64::try_from(record.stamp - first) else {
            return Err(Fault::line("the time stamp lies more than 292 years from the first"));
        };
        let Some(device) = self.devices.of(record.device, F::device_name) else {
            return Err(Fault::line("more than 65536 devices"));
        };
        self.counts.first_stamp = Some(first);
        self.counts.backwards += u64::from(time < self.counts.last_ns);
        self.counts.last_ns = time;
        batch.push(time, device, record.op, record.offset, record.bytes);
        Ok(true)
    }

    /// Stops at a bad line, or counts it.
    #[cold]
    fn bad_line(&mut self, place: Place, what: String, expected: &str) -> Result<()> {
        let error = Error::input(place, what, expected);
        if self.setup.options.on_bad_line == OnBadLine::Stop {
            return Err(error);
        }
        self.counts.bad += 1;
        self.counts.first_bad.get_or_insert_with(|| error.to_string());
        Ok(())
    }

    #[cold]
    fn fault(&mut self, from: usize, len: usize, fault: Fault) -> Result<()> {
        let text = &self.lines.bytes()[from..from + len];
        let (what, column) = if fault.from == fault.to && fault.expected.is_empty() {
            (format!("{} in {}", fault.what, quote(text)), None)
        } else if fault.from >= len {
            ("the line ends too early".into(), Some(len as u64 + 1))
        } else {
            (format!("{} {}", quote(&text[fault.from..fault.to]), fault.what), Some(fault.from as u64 + 1))
        };
        let place = Place::Line { path: self.setup.path.clone(), line: self.lines.number(), column };
        self.bad_line(place, what, fault.expected)
    }

    #[cold]
    fn too_long(&mut self) -> Result<()> {
        let place = Place::Line { path: self.setup.path.clone(), line: self.lines.number(), column: None };
        let what = format!("the line is longer than {LINE_MAX} bytes");
        self.bad_line(place, what, self.setup.info.line)
    }

    /// A trace must hold at least one request.
    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        if self.counts.requests > 0 {
            return Ok(());
        }
        let mut what = format!("no request in {} lines", self.lines.number());
        if let Some(bad) = &self.counts.first_bad {
            what += &format!(" ({} bad lines skipped, the first: {bad})", self.counts.bad);
        }
        let place = Place::Path(self.setup.path.clone());
        Err(Error::input(place, what, self.format.hint_if_empty()))
    }

    /// Finds the line of a request that is no longer in memory, by reading again.
    fn line_of(&self, index: u64) -> Option<u64> {
        let again = Lines::new(Input::open(&self.setup.path).ok()?, CHUNK).ok()?;
        let setup = Setup { path: self.setup.path.clone(), ..self.setup };
        let mut reader = Self::new(again, setup).ok()?;
        let mut batch = RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN);
        while reader.counts.requests <= index && !reader.ended {
            batch.clear();
            reader.fill(&mut batch, RequestBatch::DEFAULT_LEN).ok()?;
        }
        reader.trail.line_of(index)
    }
}

impl Trail {
    fn line_of(&self, index: u64) -> Option<u64> {
        let at = index.checked_sub(self.first_request)?;
        self.lines.get(usize::try_from(at).ok()?).copied()
    }
}

impl<F: LineFormat> Source for TextReader<F> {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        self.trail.first_request = self.counts.requests;
        self.trail.lines.clear();
        let mut room = max;
        while room > 0 && !self.ended {
            match self.lines.next() {
                Next::Line { from, len } => match self.take(from, len, batch) {
                    Ok(true) => {
                        self.trail.lines.push(self.lines.number());
                        self.counts.requests += 1;
                        room -= 1;
                    }
                    Ok(false) => {}
                    Err(fault) => self.fault(from, len, fault)?,
                },
                Next::TooLong => self.too_long()?,
                Next::Empty => {
                    if !self.lines.refill()? {
                        self.finish()?;
                    }
                }
            }
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.lines.rewind()?;
        self.format.restart();
        self.counts = Counts::default();
        self.trail = Trail::default();
        self.ended = false;
        Ok(())
    }

    fn format(&self) -> &'static str {
        self.setup.info.name
    }

    fn devices(&self) -> &[String] {
        &self.devices.names
    }

    fn summary(&self) -> Summary {
        Summary {
            bad_lines_skipped: self.counts.bad,
            first_bad_line: self.counts.first_bad.clone(),
            other_records: self.counts.other,
            stamps_backwards: self.counts.backwards,
            content_hash: self.lines.input().hash().map(str::to_owned),
        }
    }

    fn place_of(&self, index: u64) -> String {
        let path = &self.setup.path;
        let line = self.trail.line_of(index).or_else(|| {
            // Far from the present batch: only an error message asks, and it may take its time.
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

    fn assumed(&self) -> Vec<String> {
        let mut out = self.setup.info.assumed(&self.setup.options);
        self.format.assumed(&mut out);
        out
    }
}

/// Refuses a line that is no UTF-8 text.
fn check_utf8(line: &[u8]) -> std::result::Result<(), Fault> {
    match std::str::from_utf8(line) {
        Ok(_) => Ok(()),
        Err(e) => {
            let from = e.valid_up_to();
            Err(Fault { from, to: from + 1, what: "is not UTF-8", expected: "expected a line of text" })
        }
    }
}

impl Setup {
    /// Settles the units of a trace.
    pub fn new(path: &str, info: &'static FormatInfo, options: OpenOptions) -> Result<Self> {
        let refuse = |setting: &str, why: &str| {
            let what = format!("{} {why}", info.name);
            Err(Error::input(Place::Setting(setting.into()), what, "leave it out"))
        };
        if options.time_unit.is_some() && info.time_unit.is_none() {
            return refuse("--time-unit", "states its own unit of time");
        }
        if options.lba_unit.is_some() && info.lba_unit.is_none() {
            return refuse("--lba-unit", "states its own unit of addresses");
        }
        if options.action.is_some() && !info.has_actions {
            return refuse("--action", "has no actions; only blkparse has");
        }
        let time_unit = options.time_unit.or(info.time_unit).unwrap_or(TimeUnit::Nanoseconds);
        let lba_unit = options.lba_unit.or(info.lba_unit).unwrap_or(LbaUnit::Byte);
        Ok(Self {
            path: path.into(),
            info,
            time_power: time_unit.power(),
            lba_bytes: lba_unit.bytes(),
            options,
        })
    }

    /// The action that was asked for.
    pub fn action(&self) -> Option<Action> {
        self.options.action
    }
}
