//! Errors of snapshot files, in the form that all errors have.

use floatgate_base::{Error, Place};

/// Reports a file whose content differs from what was written.
#[must_use]
pub fn damaged(path: &str, byte: u64, what: impl Into<String>) -> Box<Error> {
    let place = Place::Byte { path: path.into(), byte };
    Error::input(place, what, "expected a whole snapshot; write it again")
}

/// Reports an intact file that cannot be used here.
#[must_use]
pub fn unfit(path: &str, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
    Error::input(Place::Path(path.into()), what, expected)
}

/// Reports a failed call to the operating system.
pub(crate) fn refused(path: &str, what: &str, e: &std::io::Error) -> Box<Error> {
    unfit(path, format!("{what}: {e}"), "")
}
