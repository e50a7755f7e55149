//! What the Ready/Busy pins of the dies would show: when each array works, for whoever listens.

use super::queue::Kind;
use serde::{Deserialize, Serialize};

/// What an array works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Work {
    /// Reading a page, for a read or a move.
    Read = 0,
    /// Programming a page, for a program or a move.
    Program = 1,
    /// Erasing a block.
    Erase = 2,
}

impl Work {
    /// On what an array works that is not reading.
    pub(super) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Read => Self::Read,
            Kind::Program | Kind::Copy => Self::Program,
            Kind::Erase => Self::Erase,
        }
    }
}

/// A time in which the array of a die works, commands and data on the channel left out. A command for several planes is
/// one phase; suspended work is a phase from each start to each stop, without what stopping and going on cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayPhase {
    /// Number of the die; dies are numbered with the channel as the lowest part.
    pub die: u32,
    /// On what.
    pub work: Work,
    /// Start, nanoseconds since counting began.
    pub from_ns: u64,
    /// End; later than the start.
    pub to_ns: u64,
}
