//! What can be wrong with a file, in the form that all errors have.

use floatgate_base::{Error, Place};

/// A file whose content is not what was written.
#[must_use]
pub fn damaged(path: &str, byte: u64, what: impl Into<String>) -> Box<Error> {
    let place = Place::Byte { path: path.into(), byte };
    Error::input(place, what, "expected a whole snapshot; write it again")
}

/// A sound file that does not serve here.
#[must_use]
pub fn unfit(path: &str, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
    Error::input(Place::Path(path.into()), what, expected)
}

/// The system refuses.
pub(crate) fn refused(path: &str, what: &str, e: &std::io::Error) -> Box<Error> {
    unfit(path, format!("{what}: {e}"), "")
}
