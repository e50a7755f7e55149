//! Why a flash operation happened, and the counters kept by cause.

use serde::{Deserialize, Serialize};

/// Who asked for a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[repr(u8)]
pub enum Cause {
    /// A host request, whole pages.
    Host = 0,
    /// A host write of part of a page: its read-modify-write.
    Partial = 1,
    /// Garbage collection.
    Gc = 2,
}

impl Cause {
    /// All causes in the order of the counters.
    pub const ALL: [Self; 3] = [Self::Host, Self::Partial, Self::Gc];

    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Partial => "partial",
            Self::Gc => "gc",
        }
    }
}

/// Operations by cause, indexed by `Cause as usize`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Pages programmed.
    pub programs: [u64; 3],
    /// Pages read.
    pub reads: [u64; 3],
    /// Blocks erased.
    pub erases: [u64; 3],
    /// Host reads of pages that were never written; they cost no flash read.
    pub unmapped_reads: u64,
}

impl Counters {
    /// Pages programmed for any cause.
    #[must_use]
    pub fn programs_total(&self) -> u64 {
        self.programs.iter().sum()
    }

    /// Pages carried over a channel: out for each read, in for each program; a copy makes both.
    #[must_use]
    pub fn transfers(&self, cause: Cause) -> u64 {
        self.reads[cause as usize] + self.programs[cause as usize]
    }

    /// Blocks erased for any cause.
    #[must_use]
    pub fn erases_total(&self) -> u64 {
        self.erases.iter().sum()
    }
}
