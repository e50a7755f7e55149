//! Division of the time of operations.

use crate::Cause;
use serde::{Deserialize, Serialize};

/// Time of a class, summed over its operations: the parts of an operation add up to the time from its issue to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassTimes {
    /// Operations done.
    pub operations: u64,
    /// Waiting for the die while it worked for hosts, or while predecessors were pending.
    pub die_wait_ns: u64,
    /// Waiting for the die while it worked on a foreground job.
    pub foreground_wait_ns: u64,
    /// Waiting for the die while it worked on a background job.
    pub background_wait_ns: u64,
    /// Waiting for the channel, including pages of the same multi-plane command.
    pub channel_wait_ns: u64,
    /// Suspended, with the overhead of it.
    pub suspended_ns: u64,
    /// Commands, transfers and array work.
    pub service_ns: u64,
}

/// How often the optional commands were used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandCounts {
    /// Multi-plane commands of at least two planes.
    pub multi_plane: u64,
    /// Pages (blocks) of these commands.
    pub multi_plane_pages: u64,
    /// Reads whose array time began while another page left the die.
    pub cache_reads: u64,
    /// Programs whose data arrived while the array programmed.
    pub cache_programs: u64,
    /// Moves that stayed inside their die, by cause.
    pub copybacks: [u64; Cause::ALL.len()],
    /// Suspensions of programs.
    pub program_suspends: u64,
    /// Suspensions of erases.
    pub erase_suspends: u64,
}
