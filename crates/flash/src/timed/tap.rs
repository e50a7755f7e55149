//! Records the waveforms of the dies' Ready/Busy pins.
//!
//! Two things can be ready: the array (ARDY), and the die as far as commands go (RDY, the pin). They differ with cache
//! commands only. A cache program is busy until the register has passed its data to the array: the pin is low from the
//! confirm command until the previous program is done. A cache read is busy from the next command until the array has
//! the page, which it read while the previous one left.
//!
//! `Timed::tap` starts recording the busy phases of the arrays, `Timed::take_phases` returns them. Recording costs one
//! branch and changes no result.

use super::die::{Die, Register, Stage};
use super::queue::Kind;
use serde::{Deserialize, Serialize};

/// The kind of array work.
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
    /// Returns the array work of an operation other than a read.
    pub(super) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Read => Self::Read,
            Kind::Program | Kind::Copy => Self::Program,
            Kind::Erase => Self::Erase,
        }
    }
}

/// A time in which the array of a die works, without commands and data on the channel. A command for several planes is
/// one phase; suspended work has a phase from each start to each stop, without the cost of stopping and resuming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayPhase {
    /// Number of the die; dies are numbered with the channel as the lowest part.
    pub die: u32,
    /// Kind of work.
    pub work: Work,
    /// Start, nanoseconds since counting began.
    pub from_ns: u64,
    /// End; later than the start.
    pub to_ns: u64,
}

/// Time that the register takes to pass pages to or from a free array (tCBSY and tRCBSY of data sheets, typical).
const CACHE_BUSY_NS: u64 = 3_000;

/// The recorded signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The arrays.
    Array,
    /// The pins.
    Pin,
}

/// Phases kept until they are taken.
#[derive(Clone, Debug)]
pub(super) struct Tap {
    signal: Signal,
    /// The only die to record, or none for all.
    die: Option<u32>,
    pub phases: Vec<ArrayPhase>,
    /// By die: when its register last became free.
    register_free_ns: Vec<u64>,
}

impl Tap {
    pub fn new(signal: Signal, die: Option<u32>, dies: usize) -> Self {
        Self { signal, die, phases: Vec::new(), register_free_ns: vec![0; dies] }
    }

    /// Checks whether a die is to be recorded.
    pub fn includes(&self, die: usize) -> bool {
        self.die.is_none_or(|only| only as usize == die)
    }

    /// Records array work of a die, past or future.
    pub fn push(&mut self, die: usize, work: Work, from_ns: u64, to_ns: u64) {
        if from_ns < to_ns && self.includes(die) {
            self.phases.push(ArrayPhase { die: die as u32, work, from_ns, to_ns });
        }
    }

    /// Records a read of the array; `hidden` if the previous page is still in the register.
    pub fn read(&mut self, die: usize, hidden: bool, from_ns: u64, to_ns: u64) {
        match (self.signal, hidden) {
            (Signal::Array, _) => self.push(die, Work::Read, from_ns, to_ns),
            (Signal::Pin, false) => {
                self.push(die, Work::Read, from_ns.max(self.register_free_ns[die]), to_ns);
            }
            (Signal::Pin, true) => {}
        }
    }

    /// Marks the register as free; `held` if it takes the next page at once.
    pub fn register_free(&mut self, die: usize, now: u64, held: bool) {
        self.register_free_ns[die] = now;
        if held && self.signal == Signal::Pin {
            self.push(die, Work::Read, now, now + CACHE_BUSY_NS);
        }
    }

    /// Records a cache program whose data arrived at `ready_ns` and enter the array at `from_ns`.
    pub fn cache_program(&mut self, die: usize, ready_ns: u64, from_ns: u64) {
        if self.signal == Signal::Pin {
            self.push(die, Work::Program, ready_ns, from_ns + CACHE_BUSY_NS);
        }
    }

    /// Records the end of array work on programs or erases, finally or for a while; `cached` if the program uses the
    /// cache register.
    pub fn work(&mut self, die: usize, (kind, cached): (Kind, bool), from_ns: u64, to_ns: u64) {
        if !cached || self.signal == Signal::Array {
            self.push(die, Work::of(kind), from_ns, to_ns);
        }
    }
}

/// Returns the time before which all phases that begin at a die are recorded, as of `present_ns`.
pub(super) fn known_ns(die: &Die, present_ns: u64) -> u64 {
    let working = matches!(die.active.stage, Stage::Reading | Stage::CopyReading | Stage::Working);
    let loaded = if let Register::In { ready_ns, .. } = die.register { ready_ns } else { u64::MAX };
    present_ns.min(if working { die.array_from } else { u64::MAX }).min(loaded)
}
