//! One structured error for the whole core; the command line prints it in one plain form.

use std::fmt;

/// Whose fault it is, which decides the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unusable input: exit status 2.
    Input,
    /// The run failed: exit status 1.
    Run,
}

/// Where it went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// No place in particular.
    None,
    /// A file as a whole.
    Path(String),
    /// A line of a text file, counted from 1, with a column counted from 1 where there is one.
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
    /// A setting given on the command line or through the API.
    Setting(String),
}

/// What went wrong, where, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Decides the exit status.
    pub kind: Kind,
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What was expected or what to do; empty where `what` says it all.
    pub expected: String,
}

/// Result with the core's error. The error is boxed to keep the good path narrow.
pub type Result<T> = std::result::Result<T, Box<Error>>;

impl Error {
    /// Unusable input.
    #[must_use]
    pub fn input(place: Place, what: impl Into<String>, expected: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind: Kind::Input, place, what: what.into(), expected: expected.into() })
    }

    /// A run that failed.
    #[must_use]
    pub fn run(what: impl Into<String>, expected: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind: Kind::Run, place: Place::None, what: what.into(), expected: expected.into() })
    }

    /// Exit status of the command line: 1 or 2.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self.kind {
            Kind::Input => 2,
            Kind::Run => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::None => {}
            Place::Path(path) => write!(f, "{path}: ")?,
            Place::Line { path, line, column: None } => write!(f, "{path}:{line}: ")?,
            Place::Line { path, line, column: Some(column) } => write!(f, "{path}:{line}:{column}: ")?,
            Place::Byte { path, byte } => write!(f, "{path}@{byte}: ")?,
            Place::Setting(setting) => write!(f, "{setting}: ")?,
        }
        // The message must stay on one line whatever a file put into it.
        let clean = |s: &str| s.replace(['\n', '\r'], " ");
        f.write_str(&clean(&self.what))?;
        if !self.expected.is_empty() {
            write!(f, "; {}", clean(&self.expected))?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Shows at most 60 characters of what a user gave, escaped, for quoting in a message.
#[must_use]
pub fn quote(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().count() > 60 {
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
        let error = Error::input(line, "'x' is no number", "expected an offset in bytes");
        assert_eq!(error.to_string(), "a.csv:3:7: 'x' is no number; expected an offset in bytes");
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
    }
}
