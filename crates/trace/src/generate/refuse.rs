//! Errors of settings, by the keys that users write.

use floatgate_base::{Error, Place, Result};

/// Returns the error of a key of `[workload]`.
pub(super) fn setting(name: &str, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
    Error::input(Place::Setting(format!("workload.{name}")), what, expected)
}

/// Rejects a value that is not a share.
pub(super) fn share(name: &str, value: f64) -> Result<()> {
    match value {
        v if (0.0..=1.0).contains(&v) => Ok(()),
        v => Err(setting(name, format!("{v} is not a share"), "expected a number from 0 to 1")),
    }
}
