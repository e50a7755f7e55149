//! The caller's options for a trace: its format, its units, the treatment of bad lines.

use crate::formats::user_columns::{self, UserColumns};
use crate::formats::{FORMATS, FormatInfo};
use floatgate_base::error::quote;
use floatgate_base::names::remedy;
use floatgate_base::{Error, Place, Result};

/// Unit of the time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Windows FILETIME ticks of 100 ns.
    Filetime,
}

impl TimeUnit {
    /// All units by their command-line names.
    pub const NAMES: &[(&str, TimeUnit)] = &[
        ("ns", TimeUnit::Nanoseconds),
        ("us", TimeUnit::Microseconds),
        ("ms", TimeUnit::Milliseconds),
        ("s", TimeUnit::Seconds),
        ("filetime", TimeUnit::Filetime),
    ];

    /// Parses a unit's name.
    ///
    /// # Errors
    /// Quotes an unknown name and suggests close ones.
    pub fn parse(text: &str) -> Result<Self> {
        by_name(Self::NAMES, "--time-unit", "time unit", text)
    }

    /// Returns the name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        name_of(Self::NAMES, self)
    }

    /// Returns the exponent: the unit is 10 to this power nanoseconds.
    pub(crate) fn power(self) -> u32 {
        match self {
            Self::Nanoseconds => 0,
            Self::Filetime => 2,
            Self::Microseconds => 3,
            Self::Milliseconds => 6,
            Self::Seconds => 9,
        }
    }
}

/// Unit of the addresses (not of the sizes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LbaUnit {
    /// Bytes.
    Byte,
    /// Sectors of 512 bytes.
    Sector,
    /// Pages of 4096 bytes.
    Page4k,
}

impl LbaUnit {
    /// All units by their command-line names.
    pub const NAMES: &[(&str, LbaUnit)] =
        &[("byte", LbaUnit::Byte), ("sector", LbaUnit::Sector), ("page4k", LbaUnit::Page4k)];

    /// Parses a unit's name.
    ///
    /// # Errors
    /// Quotes an unknown name and suggests close ones.
    pub fn parse(text: &str) -> Result<Self> {
        by_name(Self::NAMES, "--lba-unit", "address unit", text)
    }

    /// Returns the name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        name_of(Self::NAMES, self)
    }

    /// Returns the bytes per unit.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Byte => 1,
            Self::Sector => 512,
            Self::Page4k => 4096,
        }
    }
}

/// The blkparse event that counts as the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action(pub(crate) u8);

impl Action {
    /// Events that carry an address and a length; the default is the first that occurs.
    pub const NAMES: &[&str] = &["Q", "D", "C", "I", "G", "M", "F", "A", "R", "B", "X", "S"];

    /// Parses an event's letter.
    ///
    /// # Errors
    /// Quotes an unknown letter and suggests close ones.
    pub fn parse(text: &str) -> Result<Self> {
        if Self::NAMES.contains(&text) {
            Ok(Self(text.as_bytes()[0]))
        } else {
            Err(unknown("--action", "blkparse action", text, Self::NAMES.iter().copied()))
        }
    }

    /// Returns the letter.
    #[must_use]
    pub fn letter(self) -> char {
        char::from(self.0)
    }
}

/// Treatment of a line that cannot be parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadLine {
    /// Stop with an error that names the line.
    #[default]
    Stop,
    /// Skip it, count it, keep the first.
    Skip,
}

impl OnBadLine {
    /// Both choices by their command-line names.
    pub const NAMES: &[(&str, OnBadLine)] = &[("stop", OnBadLine::Stop), ("skip", OnBadLine::Skip)];

    /// Parses `stop` or `skip`.
    ///
    /// # Errors
    /// Quotes an unknown name and suggests close ones.
    pub fn parse(text: &str) -> Result<Self> {
        by_name(Self::NAMES, "--on-bad-line", "choice", text)
    }
}

/// Options for opening a trace; the default lets the content decide.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// Row of [`FORMATS`]; detected if absent.
    pub format: Option<&'static FormatInfo>,
    /// Unit of the time stamps instead of the format's own.
    pub time_unit: Option<TimeUnit>,
    /// Unit of the addresses instead of the format's own; sizes keep theirs.
    pub lba_unit: Option<LbaUnit>,
    /// The blkparse event that counts as the request.
    pub action: Option<Action>,
    /// Treatment of a line that cannot be parsed.
    pub on_bad_line: OnBadLine,
    /// Whether streams stand for writers, where the trace knows them: for a conversion that keeps them.
    pub keep_writers: bool,
    /// Whether another thread decompresses the file ahead.
    pub(crate) decompress_ahead: bool,
    /// The columns of a line, if the user describes them.
    pub(crate) columns: Option<&'static UserColumns>,
}

impl OpenOptions {
    /// Parses all options of the command line; missing ones keep their default.
    ///
    /// # Errors
    /// Quotes the first unknown value and suggests close ones.
    pub fn parse(
        format: Option<&str>,
        time_unit: Option<&str>,
        lba_unit: Option<&str>,
        action: Option<&str>,
        on_bad_line: Option<&str>,
    ) -> Result<Self> {
        Ok(Self {
            format: format.map(parse_format).transpose()?,
            time_unit: time_unit.map(TimeUnit::parse).transpose()?,
            lba_unit: lba_unit.map(LbaUnit::parse).transpose()?,
            action: action.map(Action::parse).transpose()?,
            on_bad_line: on_bad_line.map(OnBadLine::parse).transpose()?.unwrap_or_default(),
            keep_writers: false,
            decompress_ahead: false,
            columns: None,
        })
    }

    /// Lets another thread decompress the file ahead; requests, errors and their places stay the same.
    #[must_use]
    pub fn decompressing_ahead(self, decompress_ahead: bool) -> Self {
        Self { decompress_ahead, ..self }
    }

    /// Lets streams stand for writers, where the trace knows them.
    #[must_use]
    pub fn keeping_writers(self, keep_writers: bool) -> Self {
        Self { keep_writers, ..self }
    }

    /// Reads lines by a description of their columns, or by the one in the TOML file of that name.
    ///
    /// # Errors
    /// Quotes the part of the description that cannot be used; refuses another format beside it.
    pub fn with_columns(self, description: &str) -> Result<Self> {
        if let Some(format) = self.format {
            let what = format!("the format is {} and the columns are described", format.name);
            return Err(Error::input(Place::Setting("--columns".into()), what, "expected one of the two"));
        }
        let columns = Some(UserColumns::load(description)?);
        Ok(Self { format: Some(&user_columns::INFO), columns, ..self })
    }
}

/// Finds a format by name.
///
/// # Errors
/// Quotes an unknown name and suggests close ones.
pub fn parse_format(text: &str) -> Result<&'static FormatInfo> {
    FORMATS
        .iter()
        .find(|f| f.name == text)
        .ok_or_else(|| unknown("--format", "trace format", text, FORMATS.iter().map(|f| f.name)))
}

fn by_name<T: Copy>(names: &[(&str, T)], setting: &str, kind: &str, text: &str) -> Result<T> {
    match names.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(*value),
        None => Err(unknown(setting, kind, text, names.iter().map(|(name, _)| *name))),
    }
}

fn name_of<T: Copy + PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, v)| *v == value).map_or("", |(name, _)| name)
}

fn unknown<'a>(setting: &str, kind: &str, text: &str, valid: impl Iterator<Item = &'a str>) -> Box<Error> {
    let valid: Vec<&str> = valid.collect();
    // "a" or "an" as the kind begins.
    let article = if kind.starts_with(|c| "aeio".contains(c)) { "an" } else { "a" };
    Error::input(
        Place::Setting(setting.into()),
        format!("{} is not {article} {kind}", quote(text.as_bytes())),
        remedy(text, &valid, if setting == "--format" { "floatgate schema" } else { "" }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_are_quoted_and_the_valid_ones_listed() {
        let message = |r: Result<OpenOptions>| r.unwrap_err().to_string();
        assert_eq!(
            message(OpenOptions::parse(None, Some("fortnight"), None, None, None)),
            "--time-unit: 'fortnight' is not a time unit; expected one of 'ns', 'us', 'ms', 's', 'filetime'"
        );
        assert_eq!(
            message(OpenOptions::parse(None, None, Some("block"), None, None)),
            "--lba-unit: 'block' is not an address unit; expected one of 'byte', 'sector', 'page4k'"
        );
        assert_eq!(
            message(OpenOptions::parse(None, None, None, Some("q"), None)),
            "--action: 'q' is not a blkparse action; did you mean 'Q'?"
        );
        assert_eq!(
            message(OpenOptions::parse(None, None, None, None, Some("ignore"))),
            "--on-bad-line: 'ignore' is not a choice; expected one of 'stop', 'skip'"
        );
        let unknown = message(OpenOptions::parse(Some("mrs"), None, None, None, None));
        assert!(unknown.starts_with("--format: 'mrs' is not a trace format; did you mean 'msr'?"));
    }

    #[test]
    fn names_are_read_back() {
        for (name, unit) in TimeUnit::NAMES {
            assert_eq!((TimeUnit::parse(name).unwrap(), unit.name()), (*unit, *name));
        }
        for (name, unit) in LbaUnit::NAMES {
            assert_eq!((LbaUnit::parse(name).unwrap(), unit.name()), (*unit, *name));
        }
        let options = OpenOptions::parse(Some("blkparse"), None, None, Some("D"), Some("skip")).unwrap();
        assert_eq!(options.format.unwrap().name, "blkparse");
        assert_eq!(options.action.unwrap().letter(), 'D');
        assert_eq!(options.on_bad_line, OnBadLine::Skip);
    }
}
