//! Descriptions of lines: the columns of a line, the content of each, and checks for contradictions.

use crate::formats::csv::{is_number, is_uint};
use crate::formats::vscsi;
use crate::options::{LbaUnit, TimeUnit};
use floatgate_base::Op;

/// The layout of a line.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) struct Description {
    /// Byte between two columns.
    pub separator: u8,
    /// Whether blanks and tabs may surround a field.
    pub blanks: bool,
    /// Beginning of a line that names the columns, in upper or lower case. Such lines may occur anywhere, since files
    /// are often joined with `cat`. Empty if the format has none; never begins with a digit, with which records begin.
    pub header: &'static str,
    /// The columns from left to right.
    pub columns: &'static [Column],
    /// Whether further columns may follow; they are ignored.
    pub more: bool,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) struct Column {
    pub kind: Kind,
    /// The fault of an unsuitable field, for messages.
    pub what: &'static str,
    /// The expected value, for messages.
    pub expected: &'static str,
    /// Whether the field identifies the device, together with those of adjacent columns.
    pub device: bool,
    /// Whether the line may end before this column, which is then the last one.
    pub optional: bool,
    /// Whether a record with this field empty is not a request.
    pub other_if_empty: bool,
    /// Values by which a file is recognised; empty if any value of the kind is typical.
    pub typical: &'static [&'static str],
}

/// The kind of content of a column.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) enum Kind {
    /// Time stamp; the user may override the unit.
    Time(TimeUnit),
    /// One of these words, in upper or lower case; none may begin a later one.
    Words(&'static [(&'static str, Op)]),
    /// SCSI operation code in hexadecimal; codes that neither read nor write are not requests.
    ScsiCode,
    /// Address; the user may override the unit.
    Offset(LbaUnit),
    /// Length of the transfer.
    Size(LbaUnit),
    /// Whole number that is ignored, except as a part of the device.
    Number,
    /// Text that is ignored, except as a part of the device.
    Text,
    /// Unused time, or empty.
    Latency,
    /// Unused last column that some tools write as a float or a negative number.
    Figure,
}

impl Column {
    const fn new(kind: Kind, what: &'static str, expected: &'static str) -> Self {
        let (device, optional, other_if_empty) = (false, false, false);
        Self { kind, what, expected, device, optional, other_if_empty, typical: &[] }
    }

    /// Describes the time stamp.
    pub const fn time(unit: TimeUnit) -> Self {
        let expected = match unit {
            TimeUnit::Nanoseconds => "expected nanoseconds",
            TimeUnit::Microseconds => "expected microseconds",
            TimeUnit::Milliseconds => "expected milliseconds",
            TimeUnit::Seconds => "expected seconds",
            TimeUnit::Filetime => "expected ticks of 100 ns",
        };
        Self::new(Kind::Time(unit), "is not a time stamp", expected)
    }

    /// Describes the address.
    pub const fn offset(what: &'static str, unit: LbaUnit) -> Self {
        Self::new(Kind::Offset(unit), what, expected_unit(unit))
    }

    /// Describes the length.
    pub const fn size(what: &'static str, unit: LbaUnit) -> Self {
        Self::new(Kind::Size(unit), what, expected_unit(unit))
    }

    /// Describes the operation by its words.
    pub const fn words(
        what: &'static str,
        expected: &'static str,
        words: &'static [(&'static str, Op)],
    ) -> Self {
        Self::new(Kind::Words(words), what, expected)
    }

    /// Describes the operation as a letter, R or W.
    pub const fn letter() -> Self {
        Self::words("is not an operation", "expected R or W", &[("W", Op::Write), ("R", Op::Read)])
    }

    /// Describes the operation by its SCSI code.
    pub const fn scsi_code() -> Self {
        Self::new(Kind::ScsiCode, "is not an operation", "expected a SCSI operation code in hexadecimal")
    }

    /// Describes a whole number.
    pub const fn number(what: &'static str) -> Self {
        Self::new(Kind::Number, what, "expected a whole number")
    }

    /// Describes a text.
    pub const fn text(what: &'static str, expected: &'static str) -> Self {
        Self::new(Kind::Text, what, expected)
    }

    /// Describes a latency that may be missing.
    pub const fn latency(what: &'static str, expected: &'static str) -> Self {
        Self::new(Kind::Latency, what, expected)
    }

    /// Describes a last column of any figure.
    pub const fn figure(what: &'static str, expected: &'static str) -> Self {
        Self::new(Kind::Figure, what, expected)
    }

    /// Makes the field a part of the device.
    pub const fn device(self) -> Self {
        Self { device: true, ..self }
    }

    /// Lets the line end before this column.
    pub const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// Makes records without this field other records.
    pub const fn other_if_empty(self) -> Self {
        Self { other_if_empty: true, ..self }
    }

    /// Names the values by which a file is recognised.
    pub const fn typical(self, typical: &'static [&'static str]) -> Self {
        Self { typical, ..self }
    }

    /// Returns whether a field looks like one of this column.
    fn fits(&self, field: &[u8]) -> bool {
        if !self.typical.is_empty() {
            return self.typical.iter().any(|value| value.as_bytes() == field);
        }
        match self.kind {
            // Finer units have no fraction.
            Kind::Time(TimeUnit::Seconds | TimeUnit::Milliseconds) => is_number(field),
            Kind::Time(_) | Kind::Offset(_) | Kind::Size(_) | Kind::Number => is_uint(field),
            Kind::Words(words) => words.iter().any(|(word, _)| word.as_bytes().eq_ignore_ascii_case(field)),
            Kind::ScsiCode => opcode(field).and_then(vscsi::operation).is_some(),
            Kind::Text => !field.is_empty(),
            Kind::Latency => field.is_empty() || is_number(field),
            Kind::Figure => is_figure(field),
        }
    }
}

/// Returns whether a word is empty or the beginning of a later one, which would never be reached.
const fn ambiguous(words: &[(&str, Op)]) -> bool {
    let mut i = 0;
    while i < words.len() {
        let word = words[i].0.as_bytes();
        let mut j = i + 1;
        while j < words.len() {
            let later = words[j].0.as_bytes();
            if later.len() >= word.len() && later.split_at(word.len()).0.eq_ignore_ascii_case(word) {
                return true;
            }
            j += 1;
        }
        if word.is_empty() {
            return true;
        }
        i += 1;
    }
    false
}

const fn expected_unit(unit: LbaUnit) -> &'static str {
    match unit {
        LbaUnit::Byte => "expected bytes",
        LbaUnit::Sector => "expected sectors of 512 bytes",
        LbaUnit::Page4k => "expected pages of 4096 bytes",
    }
}

impl Description {
    /// Finds what makes the description unusable.
    pub const fn problem(&self) -> Option<&'static str> {
        let columns = self.columns;
        let (mut times, mut operations, mut offsets, mut sizes) = (0, 0, 0, 0);
        let (mut devices, mut device_ended) = (0, false);
        let mut i = 0;
        while i < columns.len() {
            let (column, last) = (&columns[i], i + 1 == columns.len());
            match column.kind {
                Kind::Time(_) => times += 1,
                Kind::Words(words) if ambiguous(words) => {
                    return Some("a word of the operation begins a later one");
                }
                Kind::Words(_) | Kind::ScsiCode => operations += 1,
                Kind::Offset(_) => offsets += 1,
                Kind::Size(_) => sizes += 1,
                Kind::Figure if !last || self.more => return Some("a figure ends the line"),
                Kind::Number | Kind::Text | Kind::Latency | Kind::Figure => {}
            }
            if column.optional && (!last || !matches!(column.kind, Kind::Figure | Kind::Number | Kind::Text))
            {
                return Some("only a last column that is not read may be missing");
            }
            if column.device {
                if device_ended {
                    return Some("the columns of the device are adjacent");
                }
                devices += 1;
            }
            device_ended = devices > 0 && !column.device;
            i += 1;
        }
        if times != 1 || operations != 1 || offsets != 1 || sizes != 1 {
            return Some("a line has one time, one operation, one address and one size");
        }
        if devices > 1 && self.blanks {
            return Some("blanks are part of a device of several columns");
        }
        if self.separator.is_ascii_alphanumeric() || matches!(self.separator, b'.' | b'-' | b'+' | b'\n') {
            return Some("a field may contain the separator");
        }
        if self.blanks && matches!(self.separator, b' ' | b'\t') {
            return Some("blanks cannot both separate and surround fields");
        }
        match self.header.as_bytes().first() {
            Some(b'0'..=b'9') => Some("a header begins like a record"),
            _ => None,
        }
    }

    /// Returns whether a line names the columns.
    #[inline(always)]
    pub fn is_header(&self, line: &[u8]) -> bool {
        let header = self.header.as_bytes();
        !header.is_empty() && line.get(..header.len()).is_some_and(|w| w.eq_ignore_ascii_case(header))
    }

    /// Returns whether a line of a file fits the description.
    pub fn recognises(&self, line: &[u8]) -> bool {
        let trimmed = |field| if self.blanks { <[u8]>::trim_ascii(field) } else { field };
        let fields: Vec<&[u8]> = line.split(|&b| b == self.separator).map(trimmed).collect();
        let least = self.columns.iter().filter(|column| !column.optional).count();
        let count_fits = fields.len() >= least && (self.more || fields.len() <= self.columns.len());
        let all_fit = || self.columns.iter().zip(&fields).all(|(column, field)| column.fits(field));
        count_fits && (self.is_header(line) || all_fit())
    }
}

/// Returns whether a text could be a number of any kind.
pub(super) fn is_figure(text: &[u8]) -> bool {
    text.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b' '))
}

/// Parses a byte in hexadecimal.
pub(super) fn opcode(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    let text = std::str::from_utf8(digits).ok().filter(|_| matches!(digits.len(), 1 | 2))?;
    u8::from_str_radix(text, 16).ok()
}
