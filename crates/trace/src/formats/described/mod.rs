//! Reads lines of described columns: a [`Description`] states the content of each column, and this file parses it.
//!
//! The rows of `rows.rs` are descriptions known at compile time. [`Described`] names each column by a constant, and all
//! functions that examine the description are inlined. A row therefore costs no more than a reader written for it
//! alone.
//!
//! A description created at run time uses the same functions: [`Description::problem`] checks it, then each line goes
//! through [`Description::passes_over`], [`Description::column`] for every column and [`Fields::record`]. All its
//! references are static, like the [`FormatInfo`] to which it belongs, and it is leaked once per process. Devices are
//! then named by their fields alone: the prefix belongs to [`Row`]. `tests.rs` beside this file has such a reader.

mod description;
#[cfg(test)]
mod tests;

pub(super) use description::{Column, Description, Kind};
use description::{is_figure, opcode};

use super::{FormatInfo, Likeness, no_head, text_reader, vscsi};
use crate::intake::{ONE_DEVICE, Record};
use crate::setup::Setup;
use crate::text::{LineFormat, Usual};
use floatgate_base::Op;
use floatgate_input::{Cursor, Fault, Known, Scan, scaled};
use std::marker::PhantomData;

/// The units of a trace.
#[derive(Clone, Copy)]
pub(super) struct Units {
    time_power: u32,
    lba_bytes: u64,
}

impl Units {
    pub fn of(setup: &Setup) -> Self {
        Self { time_power: setup.time_power, lba_bytes: setup.lba_bytes }
    }
}

/// Continuation of a line after a column.
pub(super) enum Step {
    /// The next column follows.
    Next,
    /// The line is complete.
    Complete,
    /// The line is another record.
    Other,
}

/// The parsed columns of a line.
pub(super) struct Fields<'a> {
    stamp: i128,
    /// None for a command that is not a request.
    op: Option<Op>,
    lba: u64,
    size: u64,
    size_bytes: u64,
    device_from: Option<usize>,
    device: &'a [u8],
    /// Whether the device is that of the last request.
    device_is_known: bool,
}

impl<'a> Fields<'a> {
    #[inline(always)]
    pub fn new() -> Self {
        Self {
            stamp: 0,
            op: None,
            lba: 0,
            size: 0,
            size_bytes: 1,
            device_from: None,
            device: ONE_DEVICE,
            device_is_known: false,
        }
    }

    /// Makes the record of a complete line; `None` if it is not a request.
    #[inline(always)]
    pub fn record(self, units: Units) -> Result<Option<Record<'a>>, Fault> {
        let offset = scaled(self.lba, units.lba_bytes)?;
        let bytes = scaled(self.size, self.size_bytes)?;
        let (stamp, device) = (self.stamp, self.device);
        Ok(self.op.map(|op| Record { stamp, op, offset, bytes, device }))
    }
}

impl Description {
    /// Returns whether the line is a header or empty, with the cursor at its beginning.
    #[inline(always)]
    pub fn passes_over(&self, line: &mut Cursor<'_>) -> bool {
        if self.blanks {
            line.blanks();
        }
        match line.peek() {
            None => true,
            Some(first) => !first.is_ascii_digit() && self.is_header(line.rest()),
        }
    }

    /// Parses a column and the separator after it.
    #[inline(always)]
    pub fn column<'a>(
        &self,
        index: usize,
        units: Units,
        line: &mut Cursor<'a>,
        fields: &mut Fields<'a>,
    ) -> Result<Step, Fault> {
        let column = &self.columns[index];
        let next = self.columns.get(index + 1);
        if column.device {
            fields.device_from = fields.device_from.or(Some(line.at()));
        }
        let may_end = matches!(next, None | Some(Column { optional: true, .. }));
        if column.other_if_empty && self.is_empty(may_end, line) {
            return Ok(Step::Other);
        }
        self.field(column, may_end, units, line, fields)?;
        if let (true, Some(from)) = (column.device, fields.device_from) {
            fields.device = line.since(from);
            if self.blanks {
                fields.device = fields.device.trim_ascii_end();
            }
        }
        if self.blanks {
            line.blanks();
        }
        let Some(next) = next else { return self.end(column, line) };
        if next.optional && line.at_end() {
            return Ok(Step::Complete);
        }
        if line.peek() != Some(self.separator) {
            return Err(self.fault(column, line));
        }
        line.skip(1);
        if self.blanks {
            line.blanks();
        }
        Ok(Step::Next)
    }

    /// Returns whether a field is empty; `may_end` if it may be the last one.
    #[inline(always)]
    fn is_empty(&self, may_end: bool, line: &Cursor<'_>) -> bool {
        line.peek().map_or(may_end, |byte| byte == self.separator)
    }

    /// Parses the field of a column.
    #[inline(always)]
    fn field<'a>(
        &self,
        column: &Column,
        may_end: bool,
        units: Units,
        line: &mut Cursor<'a>,
        fields: &mut Fields<'a>,
    ) -> Result<(), Fault> {
        let (separator, what, expected) = (self.separator, column.what, column.expected);
        match column.kind {
            Kind::Time(_) => {
                fields.stamp = line
                    .stamp(units.time_power)
                    .ok_or_else(|| line.fault_between(separator, what, expected))?
            }
            Kind::Words(words) => {
                fields.op = Some(
                    operation(words, line).ok_or_else(|| line.fault_between(separator, what, expected))?,
                );
            }
            Kind::ScsiCode => {
                let from = line.at();
                let Some(code) = opcode(line.until(separator).trim_ascii()) else {
                    return Err(Fault { from, to: line.at(), what, expected });
                };
                fields.op = vscsi::operation(code);
            }
            Kind::Offset(_) => {
                fields.lba = line.uint().ok_or_else(|| line.fault_between(separator, what, expected))?
            }
            Kind::Size(unit) => {
                fields.size = line.uint().ok_or_else(|| line.fault_between(separator, what, expected))?;
                fields.size_bytes = unit.bytes();
            }
            Kind::Number => {
                line.uint().ok_or_else(|| line.fault_between(separator, what, expected))?;
            }
            Kind::Text => {
                if line.until(separator).is_empty() {
                    return Err(line.fault_between(separator, what, expected));
                }
            }
            Kind::Latency => {
                if !self.is_empty(may_end, line) && line.stamp(units.time_power).is_none() {
                    return Err(line.fault_between(separator, what, expected));
                }
            }
            Kind::Figure => self.figure(column, line)?,
        }
        Ok(())
    }

    /// Skips a figure up to the end of the line.
    #[inline(always)]
    fn figure(&self, column: &Column, line: &mut Cursor<'_>) -> Result<(), Fault> {
        let from = line.at();
        if line.uint().is_some() && line.at_end() {
            return Ok(());
        }
        let (len, text) = (line.line().len(), &line.line()[from..]);
        if is_figure(if self.blanks { text.trim_ascii_end() } else { text }) {
            line.skip(len);
            return Ok(());
        }
        Err(Fault { from, to: len, what: column.what, expected: column.expected })
    }

    /// Checks that nothing follows the last column.
    #[inline(always)]
    fn end(&self, column: &Column, line: &Cursor<'_>) -> Result<Step, Fault> {
        match line.peek() {
            None => Ok(Step::Complete),
            Some(byte) if byte == self.separator && self.more => Ok(Step::Complete),
            Some(byte) if byte == self.separator => Err(Fault {
                from: line.at(),
                to: line.line().len(),
                what: "is more than the format has",
                expected: "expected the end of the line",
            }),
            Some(_) => Err(self.fault(column, line)),
        }
    }

    #[inline(always)]
    fn fault(&self, column: &Column, line: &Cursor<'_>) -> Fault {
        line.fault_between(self.separator, column.what, column.expected)
    }
}

/// Parses one of the words.
#[inline(always)]
fn operation(words: &[(&str, Op)], line: &mut Cursor<'_>) -> Option<Op> {
    match words {
        // The usual two words are not in a loop: each is a compile-time constant, like the columns.
        [first, second, more @ ..] => {
            if line.eat_word(first.0.as_bytes()) {
                return Some(first.1);
            }
            if line.eat_word(second.0.as_bytes()) {
                return Some(second.1);
            }
            more.iter().find(|(word, _)| line.eat_word(word.as_bytes())).map(|(_, op)| *op)
        }
        _ => words.iter().find(|(word, _)| line.eat_word(word.as_bytes())).map(|(_, op)| *op),
    }
}

impl Description {
    /// Returns whether lines have a usual form: a command by its code or name has none.
    const fn has_usual(&self) -> bool {
        let mut i = 0;
        while i < self.columns.len() {
            if matches!(self.columns[i].kind, Kind::ScsiCode) {
                return false;
            }
            i += 1;
        }
        true
    }

    /// Parses a column and the separator after it in the usual form, without blanks.
    #[inline(always)]
    fn usual_column<'a>(
        &self,
        index: usize,
        units: Units,
        last_device: Known,
        line: &mut Scan<'a>,
        fields: &mut Fields<'a>,
    ) -> Option<()> {
        let column = &self.columns[index];
        let next = self.columns.get(index + 1);
        if column.device {
            // Not at the end of a line, where no separator follows.
            if fields.device_from.is_none() && !self.columns[self.columns.len() - 1].device {
                fields.device_is_known = line.has_known(last_device, self.separator);
            }
            fields.device_from = fields.device_from.or(Some(line.at()));
            if fields.device_is_known {
                return if next.is_some_and(|next| next.device) {
                    Some(())
                } else {
                    line.eat(self.separator)
                };
            }
        }
        match column.kind {
            Kind::Time(_) => fields.stamp = line.stamp(units.time_power)?,
            Kind::Words(words) => fields.op = Some(usual_operation(words, line)?),
            Kind::ScsiCode => return None,
            Kind::Offset(_) => fields.lba = line.uint()?,
            Kind::Size(unit) => (fields.size, fields.size_bytes) = (line.uint()?, unit.bytes()),
            Kind::Number | Kind::Figure => {
                line.uint()?;
            }
            Kind::Text => line.until(self.separator)?,
            Kind::Latency => {
                if line.next() != self.separator {
                    line.stamp(units.time_power)?;
                }
            }
        }
        if let (true, Some(from)) = (column.device, fields.device_from) {
            fields.device = line.since(from)?;
        }
        match next {
            None => Some(()),
            Some(_) => line.eat(self.separator),
        }
    }
}

/// Parses one of two words in their usual spelling.
#[inline(always)]
fn usual_operation(words: &[(&str, Op)], line: &mut Scan<'_>) -> Option<Op> {
    let [first, second, ..] = words else { return None };
    // Without a branch on the word: it is hard to predict.
    let is_first = line.is_text(first.0.as_bytes());
    if !is_first && !line.is_text(second.0.as_bytes()) {
        return None;
    }
    let (word, op) = if is_first { first } else { second };
    line.skip(word.len());
    Some(*op)
}

/// A row of the table: a format with described lines.
pub(super) trait Row: Send + 'static {
    const INFO: FormatInfo;
    const LINE: Description;
    /// Prefix of a device name, before its fields.
    const DEVICE_PREFIX: &str = "";
}

/// Most columns of a row.
const COLUMNS_MAX: usize = 8;

/// Derives the information on a format from the description of a row.
pub(super) const fn info<R: Row>() -> FormatInfo {
    let mut out = FormatInfo {
        name: "",
        summary: "",
        line: "",
        units: "",
        states_units: true,
        time_unit: None,
        other_time_units: &[],
        lba_unit: None,
        extensions: &[],
        has_times: true,
        has_actions: false,
        recognise: recognise::<R>,
        recognise_head: no_head,
        reader: text_reader::<Described<R>>,
    };
    let mut i = 0;
    while i < R::LINE.columns.len() {
        match R::LINE.columns[i].kind {
            Kind::Time(unit) => out.time_unit = Some(unit),
            Kind::Offset(unit) => out.lba_unit = Some(unit),
            _ => {}
        }
        i += 1;
    }
    out
}

fn recognise<R: Row>(line: &[u8]) -> Likeness {
    Likeness::sure(R::LINE.recognises(line))
}

/// A reader of a row's lines.
pub(super) struct Described<R> {
    units: Units,
    row: PhantomData<R>,
}

impl<R: Row> LineFormat for Described<R> {
    fn new(setup: &Setup, _head: &[u8]) -> floatgate_base::Result<Self> {
        const {
            assert!(R::LINE.problem().is_none(), "the description of a row contradicts itself");
            assert!(R::LINE.columns.len() <= COLUMNS_MAX, "a row has more columns than its reader");
        }
        Ok(Self { units: Units::of(setup), row: PhantomData })
    }

    #[inline]
    fn parse<'a>(&'a mut self, line: &mut Cursor<'a>) -> Result<Option<Record<'a>>, Fault> {
        let description = const { &R::LINE };
        if description.passes_over(line) {
            return Ok(None);
        }
        let mut fields = Fields::new();
        // Not a loop: each column number is a compile-time constant.
        macro_rules! columns {
            ($($index:literal)*) => { 'line: {$(
                if $index < description.columns.len() {
                    match description.column($index, self.units, line, &mut fields)? {
                        Step::Next => {}
                        Step::Complete => break 'line,
                        Step::Other => return Ok(None),
                    }
                }
            )*} };
        }
        columns!(0 1 2 3 4 5 6 7);
        fields.record(self.units)
    }

    const HAS_USUAL: bool = R::LINE.has_usual();

    #[inline(always)]
    fn usual<'a>(&'a mut self, mut line: Scan<'a>, last_device: Known) -> Option<Usual<'a>> {
        let description = const { &R::LINE };
        if !line.next().is_ascii_digit() {
            return None;
        }
        let mut fields = Fields::new();
        macro_rules! columns {
            ($($index:literal)*) => { $(
                if $index < description.columns.len() {
                    description.usual_column($index, self.units, last_device, &mut line, &mut fields)?;
                }
            )* };
        }
        columns!(0 1 2 3 4 5 6 7);
        let bytes = line.end()?;
        let is_known = fields.device_is_known;
        Some(Usual { record: fields.record(self.units).ok()?, is_known, bytes })
    }

    fn device_name(key: &[u8]) -> String {
        let separator = char::from(R::LINE.separator);
        format!("{}{}", R::DEVICE_PREFIX, String::from_utf8_lossy(key).replacen(separator, "_", 1))
    }
}
