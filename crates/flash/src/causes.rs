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
    /// Wear-leveling beyond the choice of free blocks.
    Level = 3,
}

impl Cause {
    /// All causes in the order of the counters.
    pub const ALL: [Self; 4] = [Self::Host, Self::Partial, Self::Gc, Self::Level];
    /// Those that erase.
    pub const ERASING: [Self; 2] = [Self::Gc, Self::Level];

    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Partial => "partial",
            Self::Gc => "gc",
            Self::Level => "level",
        }
    }
}

/// Operations by cause, indexed by `Cause as usize`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Pages programmed.
    pub programs: [u64; Cause::ALL.len()],
    /// Pages read.
    pub reads: [u64; Cause::ALL.len()],
    /// Blocks erased.
    pub erases: [u64; Cause::ALL.len()],
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
