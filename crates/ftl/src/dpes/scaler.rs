//! The contract of a policy: what it sees of the drive, and what it decides.

use floatgate_nand::EraseModes;
use serde::{Deserialize, Serialize};

/// Nominal time of operations, for the share of time that dies are idle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// A read of a flash page with its transfer, nanoseconds.
    pub read_ns: f64,
    /// Array time of a program in the ordinary mode, nanoseconds.
    pub program_ns: f64,
    /// Command and transfer of a program, nanoseconds.
    pub send_ns: f64,
    /// Array time of an ordinary erase, nanoseconds.
    pub erase_ns: f64,
    /// Dies of the drive.
    pub dies: u32,
    /// Flash pages per block.
    pub pages_per_block: u32,
}

/// Flash operations since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Flash pages read.
    pub reads: u64,
    /// Flash pages programmed.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// The drive at the moment of a decision.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Nanoseconds since counting began.
    pub now_ns: u64,
    /// Host programs that wait or are under way at all dies.
    pub waiting: u64,
    /// Flash operations since counting began.
    pub done: Done,
    /// The modes of the drive.
    pub modes: EraseModes,
    /// Nominal times of operations.
    pub work: Work,
}

/// How deeply blocks are erased.
pub trait Scaler {
    /// Returns the mode of an erase; the mechanism takes a deeper one on a block without margin in that mode.
    fn erase_mode(&mut self, moment: &Moment) -> u8;
    /// Returns the mode in which a block that was erased in `mode` takes host pages; a deeper one needs another erase.
    fn open_mode(&mut self, moment: &Moment, mode: u8) -> u8;
}
