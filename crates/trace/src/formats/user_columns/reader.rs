//! Reads lines by the user's description.
//!
//! A number that fills its field is parsed in place. Any other field is cut out first: quotes and brackets around it and
//! a name before it (`sector=2048`) are left out, and it may be hexadecimal.

use super::grammar::separator_text;
use super::{Kind, SETTING, Separator, UserColumn, UserColumns};
use crate::formats::blkparse;
use crate::intake::{ONE_DEVICE, Record};
use crate::setup::Setup;
use crate::text::LineFormat;
use floatgate_base::error::quote;
use floatgate_base::{Error, Op, OptionalColumns, Place, RequestBatch, Result};
use floatgate_input::date::{clock_ps, day_of, iso_ps};
use floatgate_input::{Cursor, Fault, scaled};
use rustc_hash::FxHashMap;

/// Lines that decide on the separator.
const LINES_MAX: usize = 50;
/// Separators that are detected, in the order of preference.
const DETECTED: &[Separator] = &[
    Separator::Byte(b','),
    Separator::Byte(b';'),
    Separator::Byte(b'\t'),
    Separator::Byte(b'|'),
    Separator::Blanks,
];
/// Most headings before the first row.
const HEADINGS_MAX: usize = 16;
const DAY_NS: i128 = 86_400_000_000_000;

pub(super) struct Reader {
    columns: &'static UserColumns,
    separator: Separator,
    /// Lines so far in this pass.
    lines: u64,
    /// Lines before the first row that are headings by their fields; files are often joined with `cat`.
    headings: Vec<Vec<u8>>,
    /// Whether there was a row in this pass.
    began: bool,
    processes: Processes,
    flags: u8,
    filled: OptionalColumns,
}

/// Numbers of processes by name, in the order of their first request.
#[derive(Default)]
struct Processes {
    numbers: FxHashMap<Box<[u8]>, u32>,
    name: Vec<u8>,
    last: u32,
}

impl Processes {
    fn see(&mut self, name: &[u8]) {
        if self.numbers.is_empty() || self.name != name {
            let next = self.numbers.len() as u32;
            self.last = *self.numbers.entry(name.into()).or_insert(next);
            self.name.clear();
            self.name.extend_from_slice(name);
        }
    }
}

/// The fields of a line.
struct Row<'a> {
    time_ns: i128,
    date_ns: i128,
    op: Option<Op>,
    offset: u64,
    bytes: u64,
    device: &'a [u8],
}

impl Reader {
    /// Parses the columns of a line; `None` if it is not a request.
    fn row<'a>(&mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        let columns = self.columns;
        let mut row = Row {
            time_ns: 0,
            date_ns: 0,
            op: columns.op,
            offset: 0,
            bytes: columns.size_bytes.unwrap_or(0),
            device: ONE_DEVICE,
        };
        for (i, column) in columns.columns.iter().enumerate() {
            if i > 0 {
                self.next_column(line)?;
            }
            if !self.field(column, line, &mut row)? {
                return Ok(None);
            }
        }
        let Row { time_ns, date_ns, op, offset, bytes, device } = row;
        Ok(op.map(|op| Record { stamp: date_ns + time_ns, op, offset, bytes, device }))
    }

    /// Parses a field; returns false if the line is not a request.
    #[inline]
    fn field<'a>(
        &mut self,
        column: &'static UserColumn,
        line: &mut Cursor<'a>,
        row: &mut Row<'a>,
    ) -> std::result::Result<bool, Fault> {
        match &column.kind {
            Kind::Time(unit) => {
                let from = line.at();
                row.time_ns = match line.stamp(unit.power()) {
                    Some(ns) if self.ends(line) => ns,
                    _ => self.cut(column, from, line, |text| {
                        let mut text = text;
                        text.stamp(unit.power()).filter(|_| text.at_end())
                    })?,
                };
            }
            Kind::Offset(unit) => row.offset = scaled(self.number(column, line)?, *unit)?,
            Kind::Size(unit) => row.bytes = scaled(self.number(column, line)?, *unit)?,
            Kind::Skip => self.pass(line),
            Kind::Letter if matches!(line.peek(), Some(b'R' | b'r')) => {
                row.op = Some(Op::Read);
                self.pass(line);
            }
            Kind::Letter if matches!(line.peek(), Some(b'W' | b'w')) => {
                row.op = Some(Op::Write);
                self.pass(line);
            }
            _ => return self.text(column, line, row),
        }
        Ok(true)
    }

    /// Parses a field that is not a number; returns false if the line is not a request.
    fn text<'a>(
        &mut self,
        column: &'static UserColumn,
        line: &mut Cursor<'a>,
        row: &mut Row<'a>,
    ) -> std::result::Result<bool, Fault> {
        let from = line.at();
        let (start, end) = self.skip(from, line);
        let text = &line.line()[start..end];
        let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
        let fault = Fault { from, to: end.max(line.at()), what: &column.what, expected: &column.expected };
        match &column.kind {
            Kind::IsoTime => row.time_ns = iso_ps(text).ok_or(fault)? / 1000,
            Kind::Clock => row.time_ns = clock_ps(text).ok_or(fault)? / 1000,
            Kind::Date => row.date_ns = i128::from(day_of(text).ok_or(fault)?) * DAY_NS,
            Kind::Letter => match text.first().map(u8::to_ascii_lowercase) {
                Some(b'r') => row.op = Some(Op::Read),
                Some(b'w') => row.op = Some(Op::Write),
                // Discard, trim, unmap.
                Some(b'd' | b't' | b'u') => row.op = Some(Op::Trim),
                // Flush, sync, none.
                Some(b'f' | b's' | b'n') => return Ok(false),
                _ => return Err(fault),
            },
            Kind::Rwbs => {
                row.op = blkparse::operation(text);
                self.flags = blkparse::flags_of(text);
            }
            Kind::Words(words) => {
                let word = words.iter().find(|(word, _)| word == "*" || is(word));
                row.op = word.ok_or(fault)?.1;
            }
            Kind::Event(words) => return Ok(words.iter().any(|word| is(word))),
            Kind::Device => row.device = text,
            Kind::Process => self.processes.see(text),
            Kind::Time(_) | Kind::Offset(_) | Kind::Size(_) | Kind::Skip => {}
        }
        Ok(true)
    }

    #[inline]
    fn number(&self, column: &'static UserColumn, line: &mut Cursor<'_>) -> std::result::Result<u64, Fault> {
        let from = line.at();
        match line.uint() {
            Some(number) if self.ends(line) => Ok(number),
            _ => self.cut(column, from, line, |text| {
                let mut text = text;
                text.hex().or_else(|| text.uint()).filter(|_| text.at_end())
            }),
        }
    }

    /// Cuts out the field that begins at `from` and parses it.
    #[cold]
    fn cut<'a, T>(
        &self,
        column: &'static UserColumn,
        from: usize,
        line: &mut Cursor<'a>,
        parse: impl Fn(Cursor<'a>) -> Option<T>,
    ) -> std::result::Result<T, Fault> {
        let (start, end) = self.skip(from, line);
        let fault = Fault { from, to: end.max(line.at()), what: &column.what, expected: &column.expected };
        parse(line.part(start, end)).ok_or(fault)
    }

    /// Moves to the end of a field whose text does not matter.
    #[inline]
    fn pass(&self, line: &mut Cursor<'_>) {
        match (line.peek(), self.separator) {
            (Some(b'"' | b'\''), _) => drop(self.skip(line.at(), line)),
            (_, Separator::Byte(byte)) => drop(line.until(byte)),
            (_, Separator::Blanks | Separator::Detected) => drop(line.word()),
        }
    }

    /// Moves to the end of the field that begins at `from`; returns where its bare text begins and ends.
    fn skip(&self, from: usize, line: &mut Cursor<'_>) -> (usize, usize) {
        let rest = &line.line()[from..];
        let quoted = match rest.first() {
            Some(quote @ (b'"' | b'\'')) => rest[1..].iter().position(|b| b == quote).map(|n| n + 2),
            _ => None,
        };
        let is_end = |b: &u8| match self.separator {
            Separator::Byte(byte) => *b == byte,
            Separator::Blanks | Separator::Detected => matches!(b, b' ' | b'\t'),
        };
        let skipped = quoted.unwrap_or(0);
        let len = skipped + rest[skipped..].iter().position(is_end).unwrap_or(rest.len() - skipped);
        line.skip(from + len - line.at());
        let text = rest[..len].trim_ascii();
        let (start, end) = bare(text);
        // Positions in `text` are those in the line after its leading blanks.
        let lead = rest[..len].len() - rest[..len].trim_ascii_start().len();
        (from + lead + start, from + lead + end)
    }

    /// Returns whether a field ends here, behind blanks if they do not separate columns.
    #[inline]
    fn ends(&self, line: &mut Cursor<'_>) -> bool {
        match self.separator {
            Separator::Byte(byte) => match line.peek() {
                None => true,
                Some(next) if next == byte => true,
                Some(b' ') => {
                    line.blanks();
                    line.peek().is_none_or(|next| next == byte)
                }
                Some(_) => false,
            },
            Separator::Blanks | Separator::Detected => matches!(line.peek(), None | Some(b' ' | b'\t')),
        }
    }

    /// Moves to the next column.
    #[inline]
    fn next_column(&self, line: &mut Cursor<'_>) -> std::result::Result<(), Fault> {
        let there = match self.separator {
            Separator::Byte(byte) => {
                let there = line.eat(byte);
                while line.eat(b' ') {}
                there
            }
            Separator::Blanks | Separator::Detected => line.blanks() && !line.at_end(),
        };
        if there {
            Ok(())
        } else {
            Err(line.fault("ends the line too early", "expected the described columns"))
        }
    }

    /// Returns whether a line is a heading: its fields begin with letters where numbers are described. It may be shorter
    /// than a row, as the first line of bpftrace is.
    #[cold]
    fn is_heading(&mut self, line: &[u8]) -> bool {
        if self.columns.header_lines.is_some() {
            return false;
        }
        let fields = split(line, self.separator);
        let is_number = |kind: &Kind| {
            use Kind::{Clock, Date, IsoTime, Offset, Size, Time};
            matches!(kind, Time(_) | IsoTime | Clock | Date | Offset(_) | Size(_))
        };
        let columns = self.columns.columns.iter();
        let mut numbers = columns.zip(&fields).filter(|(column, _)| is_number(&column.kind)).peekable();
        let begins_with_letter = |field: &[u8]| {
            let (start, end) = bare(field);
            field[start..end].first().is_some_and(u8::is_ascii_alphabetic)
        };
        if numbers.peek().is_none() || !numbers.all(|(_, field)| begins_with_letter(field)) {
            return false;
        }
        if !self.began && self.headings.len() < HEADINGS_MAX {
            self.headings.push(line.to_vec());
            return true;
        }
        self.headings.iter().any(|heading| heading == line)
    }
}

impl LineFormat for Reader {
    fn new(setup: &Setup, head: &[u8]) -> Result<Self> {
        let columns = setup.options.columns.expect("a description selects this format");
        let separator = separator_of(columns, &setup.path, head)?;
        let has = |is: fn(&Kind) -> bool| columns.columns.iter().any(|column| is(&column.kind));
        let stream = has(|kind| matches!(kind, Kind::Process));
        let flags = has(|kind| matches!(kind, Kind::Rwbs));
        let filled =
            OptionalColumns { stream, stream_is_process: stream, flags, ..OptionalColumns::default() };
        let (headings, processes) = (Vec::new(), Processes::default());
        Ok(Self { columns, separator, lines: 0, headings, began: false, processes, flags: 0, filled })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> std::result::Result<Option<Record<'a>>, Fault> {
        self.lines += 1;
        while line.eat(b' ') {}
        let comment = &self.columns.comment;
        if self.lines <= self.columns.header_lines.unwrap_or(0)
            || line.at_end()
            || !comment.is_empty() && line.rest().starts_with(comment)
        {
            return Ok(None);
        }
        match self.row(line) {
            Err(_) if self.is_heading(line.line()) => Ok(None),
            row => {
                self.began = true;
                row
            }
        }
    }

    fn columns(&self) -> OptionalColumns {
        self.filled
    }

    #[inline]
    fn extras(&mut self, _bytes: u64, batch: &mut RequestBatch) {
        if self.filled.stream {
            batch.stream.push(self.processes.last);
        }
        if self.filled.flags {
            batch.flags.push(std::mem::take(&mut self.flags));
        }
    }

    fn restart(&mut self) {
        (self.lines, self.began) = (0, false);
        self.headings.clear();
    }

    fn has_times(&self) -> bool {
        self.columns.has_times()
    }

    fn assumed(&self, out: &mut Vec<String>) {
        let separator = match self.columns.separator {
            Separator::Detected => format!(" separator={}", separator_text(self.separator)),
            _ => String::new(),
        };
        out.push(format!("columns: {}{separator}", self.columns.text));
    }

    fn hint_if_empty(&self) -> String {
        let events = self.columns.columns.iter().find_map(|column| match &column.kind {
            Kind::Event(words) => Some(words.join(" or ")),
            _ => None,
        });
        match events {
            Some(words) => format!("expected a row whose event is {words}"),
            None => format!("expected rows of {}", self.columns.text),
        }
    }
}

/// Returns the separator, which the first lines decide if the description does not.
fn separator_of(columns: &UserColumns, path: &str, head: &[u8]) -> Result<Separator> {
    if columns.separator != Separator::Detected {
        return Ok(columns.separator);
    }
    let skipped = usize::try_from(columns.header_lines.unwrap_or(0)).unwrap_or(usize::MAX);
    let is_comment = |line: &&[u8]| !columns.comment.is_empty() && line.starts_with(&columns.comment);
    let lines = head.split(|&b| b == b'\n').skip(skipped).map(<[u8]>::trim_ascii);
    let lines: Vec<&[u8]> = lines.filter(|l| !l.is_empty() && !is_comment(l)).take(LINES_MAX).collect();
    let wanted = columns.columns.len();
    let fitting = |separator: Separator| {
        lines.iter().filter(|line| split(line, separator).len() >= wanted).count() * 2 >= lines.len().max(1)
    };
    match DETECTED.iter().find(|separator| fitting(**separator)) {
        Some(separator) => Ok(*separator),
        None => {
            let first = lines.first().copied().unwrap_or_default();
            let what = format!("{} does not have {wanted} columns", quote(first));
            let place = Place::Path(path.into());
            Err(Error::input(place, what, format!("expected {} ({SETTING})", columns.text)))
        }
    }
}

/// Splits a line into its fields.
fn split(line: &[u8], separator: Separator) -> Vec<&[u8]> {
    match separator {
        Separator::Byte(byte) => line.split(|b| *b == byte).map(<[u8]>::trim_ascii).collect(),
        Separator::Blanks | Separator::Detected => {
            line.split(|b| matches!(b, b' ' | b'\t')).filter(|field| !field.is_empty()).collect()
        }
    }
}

/// Returns where the bare text of a field begins and ends: without quotes, brackets, a colon behind it, or a name and `=`
/// before it.
fn bare(field: &[u8]) -> (usize, usize) {
    let around =
        |b: &u8| matches!(b, b'"' | b'\'' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b' ');
    let (mut start, mut end) = (0, field.len());
    let name = field.iter().position(|b| *b == b'=').filter(|n| {
        *n > 0
            && field[..*n]
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'"' | b'\'' | b'['))
    });
    if let Some(at) = name {
        start = at + 1;
    }
    while start < end && around(&field[start]) {
        start += 1;
    }
    while end > start && (around(&field[end - 1]) || matches!(field[end - 1], b':' | b',' | b';')) {
        end -= 1;
    }
    (start, end)
}
