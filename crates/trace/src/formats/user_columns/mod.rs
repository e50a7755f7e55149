//! Lines whose columns the user describes (`--columns "time:s op:RW offset:sectors size:bytes"`).
//!
//! `grammar.rs` parses the description, `file.rs` the same in a TOML file, `reader.rs` reads lines by it. Unlike the rows
//! of `described/`, which are known at compile time, a description may name words for operations, skip heading lines and
//! comments, and pick rows by a word. Fields may be quoted, in brackets, hexadecimal, or `name=value`.

mod file;
mod grammar;
mod reader;
#[cfg(test)]
mod tests;

use super::{FormatInfo, Likeness, no_line};
use crate::options::TimeUnit;
use crate::setup::Setup;
use crate::source::Source;
use crate::text::TextReader;
use floatgate_base::{Op, Result};
use floatgate_input::Input;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// An example for messages.
const EXAMPLE: &str = "time:s op:RW offset:sectors size:bytes";
/// The setting, for messages.
const SETTING: &str = "--columns";

/// The format of described columns. It is not in the table of formats: only a description selects it.
pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "columns",
    summary: "columns that the user describes",
    line: "expected the described columns",
    units: "as described",
    states_units: true,
    time_unit: None,
    other_time_units: &[],
    lba_unit: None,
    extensions: &[],
    has_times: true,
    has_actions: false,
    recognise: no_line,
    recognise_head: |_| Likeness::No,
    reader: open,
};

/// The layout of a line, as the user describes it.
#[derive(Debug, PartialEq, Eq)]
pub struct UserColumns {
    separator: Separator,
    /// Lines to skip at the beginning; none if headings are recognised by their fields.
    header_lines: Option<u64>,
    /// Beginning of lines that are comments; empty for no comments.
    comment: Vec<u8>,
    /// The columns from left to right, up to the last one that is read.
    columns: Vec<UserColumn>,
    /// Operation of all requests, if no column has it.
    op: Option<Op>,
    /// Bytes of all requests, if no column has them.
    size_bytes: Option<u64>,
    /// The description in its canonical form.
    text: String,
}

/// What separates columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    /// Comma, semicolon, tab, `|` or blanks: the first that gives enough columns.
    Detected,
    /// Runs of blanks and tabs.
    Blanks,
    Byte(u8),
}

/// A column.
#[derive(Debug, PartialEq, Eq)]
struct UserColumn {
    kind: Kind,
    /// The fault of an unsuitable field, for messages.
    what: String,
    /// The expected value, for messages.
    expected: String,
}

/// The content of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Time in units of 10 to this power nanoseconds.
    Time(TimeUnit),
    /// Date and time by ISO 8601.
    IsoTime,
    /// Time of day, behind or before a column with the date.
    Clock,
    /// Date, `YYYY-MM-DD`.
    Date,
    /// Operation by its first letter.
    Letter,
    /// Operation as RWBS letters of the Linux kernel.
    Rwbs,
    /// Operation by words; none for rows that are not requests. The last entry may be `*`.
    Words(Vec<(String, Option<Op>)>),
    /// Address in units of this many bytes.
    Offset(u64),
    /// Length in units of this many bytes.
    Size(u64),
    /// Name of the device.
    Device,
    /// Process, which becomes the stream of the request.
    Process,
    /// Rows with another word in this column are not requests.
    Event(Vec<String>),
    /// A column that is not read.
    Skip,
}

impl UserColumns {
    /// Parses a description, or reads the one in the TOML file of that name.
    ///
    /// Equal descriptions share one value, which lasts as long as the process.
    ///
    /// # Errors
    /// Quotes the part that cannot be used, or names the file that cannot be read.
    pub fn load(text: &str) -> Result<&'static Self> {
        static KNOWN: Mutex<BTreeMap<String, &'static UserColumns>> = Mutex::new(BTreeMap::new());
        let columns = if Self::is_file(text) { file::load(text)? } else { grammar::parse(text)? };
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let text = columns.text.clone();
        Ok(known.entry(text).or_insert_with(|| Box::leak(Box::new(columns))))
    }

    /// Returns whether the text names a file with the description.
    #[must_use]
    pub fn is_file(text: &str) -> bool {
        text.to_ascii_lowercase().ends_with(".toml")
    }

    /// Returns the description in its canonical form, which [`UserColumns::load`] parses to the same value.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether a column has times.
    fn has_times(&self) -> bool {
        self.columns.iter().any(|c| matches!(c.kind, Kind::Time(_) | Kind::IsoTime | Kind::Clock))
    }

    /// Returns the unit of the times; nanoseconds for dates.
    fn time_unit(&self) -> TimeUnit {
        let unit = |column: &UserColumn| match column.kind {
            Kind::Time(unit) => Some(unit),
            _ => None,
        };
        self.columns.iter().find_map(unit).unwrap_or(TimeUnit::Nanoseconds)
    }
}

/// Creates the reader.
fn open(input: Input, chunk: usize, mut setup: Setup) -> Result<Box<dyn Source>> {
    let columns = setup.options.columns.expect("a description selects this format");
    setup.time_unit = columns.time_unit();
    Ok(Box::new(TextReader::<reader::Reader>::new(input, chunk, setup)?))
}
