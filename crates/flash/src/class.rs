//! Priority classes of flash operations.

use serde::{Deserialize, Serialize};

/// The class of an operation, by its issuer; in the default order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Class {
    /// Host reads, including those of read-modify-writes.
    Read = 0,
    /// Host writes.
    Write = 1,
    /// Moves and erases of jobs.
    Background = 2,
}

impl Class {
    /// All classes, the most preferred first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Background];

    /// Returns the two other classes.
    #[inline(always)]
    pub(crate) fn others(self) -> [Self; 2] {
        match self {
            Self::Read => [Self::Write, Self::Background],
            Self::Write => [Self::Read, Self::Background],
            Self::Background => [Self::Read, Self::Write],
        }
    }

    /// Returns the name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ["read", "write", "background"][self as usize]
    }
}
