//! Errors in the parameters of a closed form.

use std::fmt;

/// Result of a closed form.
pub type Result<T> = std::result::Result<T, Error>;

/// A parameter that a closed form cannot take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Error {
    /// A number that is infinite or not a number.
    NotFinite {
        /// The parameter's name.
        parameter: &'static str,
        /// The rejected value.
        value: f64,
        /// The accepted values.
        expected: &'static str,
    },
    /// A finite number outside its range.
    OutOfRange {
        /// The parameter's name.
        parameter: &'static str,
        /// The rejected value.
        value: f64,
        /// The accepted values.
        expected: &'static str,
    },
    /// A list of groups without a group.
    NoGroups,
    /// Writes aimed at a group without pages.
    WritesWithoutPages {
        /// The group's index in the list, from 0.
        group: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { parameter, value, expected } => {
                write!(f, "{parameter} is {value}, no finite number; expected {expected}")
            }
            Self::OutOfRange { parameter, value, expected } => {
                write!(f, "{parameter} is {value}, out of range; expected {expected}")
            }
            Self::NoGroups => write!(f, "no group of pages; expected at least one"),
            Self::WritesWithoutPages { group } => {
                write!(f, "group {group} takes writes but has no pages; expected a share of pages above 0")
            }
        }
    }
}

impl std::error::Error for Error {}

/// Returns `value` if it is finite and `accepted`, else an error that names what was expected.
pub(crate) fn checked(
    parameter: &'static str,
    value: f64,
    accepted: bool,
    expected: &'static str,
) -> Result<f64> {
    if !value.is_finite() {
        Err(Error::NotFinite { parameter, value, expected })
    } else if !accepted {
        Err(Error::OutOfRange { parameter, value, expected })
    } else {
        Ok(value)
    }
}
