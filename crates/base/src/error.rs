//! One structured error for the whole core; the command line prints it in one plain form.

use std::fmt;

/// Class of an error, which decides the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unusable input: exit status 2.
    Input,
    /// The run failed: exit status 1.
    Run,
}

/// Place of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// No particular place.
    None,
    /// A whole file.
    Path(String),
    /// A line of a text file, from 1, with a column from 1 if known.
    Line {
        /// The file as the user named it.
        path: String,
        /// Line, from 1.
        line: u64,
        /// Column in bytes, from 1.
        column: Option<u64>,
    },
    /// A byte of a binary file, counted from 0.
    Byte {
        /// The file as the user named it.
        path: String,
        /// Offset in bytes.
        byte: u64,
    },
    /// A setting from the command line or the API.
    Setting(String),
}

/// An error: what is wrong, where, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Decides the exit status.
    pub kind: Kind,
    /// The place of the error.
    pub place: Place,
    /// The fact that is wrong.
    pub what: String,
    /// The expected value or the remedy; empty if `what` is enough.
    pub expected: String,
}

/// Result with the core's error, which is boxed to keep the successful path narrow.
pub type Result<T> = std::result::Result<T, Box<Error>>;

impl Error {
    /// Returns an error of unusable input.
    #[must_use]
    pub fn input(place: Place, what: impl Into<String>, expected: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind: Kind::Input, place, what: what.into(), expected: expected.into() })
    }

    /// Returns an error of a failed run.
    #[must_use]
    pub fn run(what: impl Into<String>, expected: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind: Kind::Run, place: Place::None, what: what.into(), expected: expected.into() })
    }

    /// Returns the exit status of the command line: 1 or 2.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self.kind {
            Kind::Input => 2,
            Kind::Run => 1,
        }
    }
}

/// Most characters of a path (the longest that Linux accepts), of a setting's name, and of each part of a message.
const PATH_MAX: usize = 4096;
const SETTING_MAX: usize = 200;
const TEXT_MAX: usize = 4000;
/// Longest word of a message, in characters; longer ones come from user input and are cut.
const WORD_MAX: usize = 300;
const WORD_SHOWN: usize = 60;

/// Puts the text on one line of bounded length and replaces escapes that a terminal would interpret.
fn plain(text: &str, most: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(most));
    let mut chars = text.chars();
    for c in chars.by_ref().take(most) {
        match c {
            '\n' | '\r' => shown.push(' '),
            c if c.is_control() => shown.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => shown.push(c),
        }
    }
    if chars.next().is_some() {
        shown.push_str("...");
    }
    shown
}

/// Formats as [`plain`] does, and cuts very long words.
fn message(text: &str) -> String {
    if text.len() <= WORD_MAX {
        return plain(text, TEXT_MAX);
    }
    let shortened = text.split(' ').map(|word| {
        let long = word.chars().nth(WORD_MAX).is_some();
        plain(word, if long { WORD_SHOWN } else { WORD_MAX })
    });
    plain(&shortened.collect::<Vec<_>>().join(" "), TEXT_MAX)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |path: &str| plain(path, PATH_MAX);
        match &self.place {
            Place::None => {}
            Place::Path(file) => write!(f, "{}: ", path(file))?,
            Place::Line { path: file, line, column: None } => write!(f, "{}:{line}: ", path(file))?,
            Place::Line { path: file, line, column: Some(column) } => {
                write!(f, "{}:{line}:{column}: ", path(file))?;
            }
            Place::Byte { path: file, byte } => write!(f, "{}@{byte}: ", path(file))?,
            Place::Setting(setting) => write!(f, "{}: ", plain(setting, SETTING_MAX))?,
        }
        f.write_str(&message(&self.what))?;
        if !self.expected.is_empty() {
            write!(f, "; {}", message(&self.expected))?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Turns user input into a quotation for a message: at most 60 characters, escaped.
#[must_use]
pub fn quote(bytes: &[u8]) -> String {
    // A character has at most four bytes: bytes beyond that limit are never read.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * (WORD_SHOWN + 1))]);
    let mut shown: String = text.chars().take(WORD_SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(WORD_SHOWN).is_some() {
        shown.push_str("...");
    }
    format!("'{shown}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_contract_form() {
        let line = Place::Line { path: "a.csv".into(), line: 3, column: Some(7) };
        let error = Error::input(line, "'x' is not a number", "expected an offset in bytes");
        assert_eq!(error.to_string(), "a.csv:3:7: 'x' is not a number; expected an offset in bytes");
        assert_eq!(error.status(), 2);
        let byte = Place::Byte { path: "a.srt".into(), byte: 12 };
        assert_eq!(Error::input(byte, "truncated", "").to_string(), "a.srt@12: truncated");
        assert_eq!(Error::run("line\nbreak", "").to_string(), "line break");
        assert_eq!(Error::run("x", "").status(), 1);
    }

    #[test]
    fn quoting_escapes_and_shortens() {
        assert_eq!(quote(b"a\tb"), "'a\\tb'");
        assert_eq!(quote(&[b'x'; 80]).len(), 65);
        assert_eq!(quote(&[b'x'; 1 << 20]), quote(&[b'x'; 80]));
        assert!(quote("\u{10ffff}".repeat(1 << 20).as_bytes()).len() < 60 * 12 + 10);
    }

    /// Messages stay bounded for any user input and keep their first and last words.
    #[test]
    fn messages_are_bounded_and_plain() {
        let huge = "x".repeat(1 << 20);
        let places = [
            Place::Path(huge.clone()),
            Place::Line { path: huge.clone(), line: 3, column: None },
            Place::Setting(huge.clone()),
        ];
        for place in places {
            let what = format!("unknown key '{huge}' and '{}'", "y ".repeat(1 << 20));
            let shown = Error::input(place, what, format!("expected less than {huge}")).to_string();
            assert!(shown.len() < 9_000, "{}", shown.len());
            assert!(shown.contains("unknown key 'xxx"), "{shown}");
            assert!(shown.contains("; expected less than xxx"), "{shown}");
        }
        let path = Place::Path("a\x1b[31m\nb".into());
        assert_eq!(Error::input(path, "no \u{9b}m", "").to_string(), "a\\x1b[31m b: no \\x9bm");
    }
}
