//! What the Ready/Busy pins of the dies would show, for whoever listens.
//!
//! Two things are called ready: the array (ARDY), and the die as far as commands go (RDY, what the pin shows). They differ with cache
//! commands only. A cache program is busy until the register has given its data to the array, so the pin is low from the
//! confirm command until the program before is done; a cache read is busy from the next command until the array has the page, which
//! it read while the last one left.
//!
//! `Timed::tap` starts recording the busy phases of the arrays, `Timed::take_phases` hands them out. Recording hangs on
//! one branch and changes no result.

use super::die::{Die, Register, Stage};
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

/// How long the register takes to hand pages to or from an array that is free (tCBSY and tRCBSY of data sheets, typical).
const CACHE_BUSY_NS: u64 = 3_000;

/// What is listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The arrays, whatever the pins show.
    Array,
    /// The pins.
    Pin,
}

/// Phases kept until they are taken.
#[derive(Clone, Debug)]
pub(super) struct Tap {
    signal: Signal,
    /// The only die that is listened to, if not all are.
    die: Option<u32>,
    pub phases: Vec<ArrayPhase>,
    /// By die: when its register became free last.
    register_free_ns: Vec<u64>,
}

impl Tap {
    pub fn new(signal: Signal, die: Option<u32>, dies: usize) -> Self {
        Self { signal, die, phases: Vec::new(), register_free_ns: vec![0; dies] }
    }

    /// The array of a die has worked, or will have.
    pub fn push(&mut self, die: usize, work: Work, from_ns: u64, to_ns: u64) {
        let die = die as u32;
        if from_ns < to_ns && self.die.is_none_or(|only| only == die) {
            self.phases.push(ArrayPhase { die, work, from_ns, to_ns });
        }
    }

    /// The array has read a page; `hidden` says whether the page before is still in the register.
    pub fn read(&mut self, die: usize, hidden: bool, from_ns: u64, to_ns: u64) {
        match (self.signal, hidden) {
            (Signal::Array, _) => self.push(die, Work::Read, from_ns, to_ns),
            (Signal::Pin, false) => {
                self.push(die, Work::Read, from_ns.max(self.register_free_ns[die]), to_ns);
            }
            (Signal::Pin, true) => {}
        }
    }

    /// The register is free; `held` says whether it takes the next page at once.
    pub fn register_free(&mut self, die: usize, now: u64, held: bool) {
        self.register_free_ns[die] = now;
        if held && self.signal == Signal::Pin {
            self.push(die, Work::Read, now, now + CACHE_BUSY_NS);
        }
    }

    /// A cache program's data came at `ready_ns`, and the array takes them at `from_ns`.
    pub fn cache_program(&mut self, die: usize, ready_ns: u64, from_ns: u64) {
        if self.signal == Signal::Pin {
            self.push(die, Work::Program, ready_ns, from_ns + CACHE_BUSY_NS);
        }
    }

    /// The array stops working on programs or erases, for good or for a while; `cached` says whether the program is one with
    /// the cache register.
    pub fn work(&mut self, die: usize, (kind, cached): (Kind, bool), from_ns: u64, to_ns: u64) {
        if !cached || self.signal == Signal::Array {
            self.push(die, Work::of(kind), from_ns, to_ns);
        }
    }
}

/// All phases of a die that begin before this moment were recorded, as of `present_ns`.
pub(super) fn known_ns(die: &Die, present_ns: u64) -> u64 {
    let working = matches!(die.active.stage, Stage::Reading | Stage::CopyReading | Stage::Working);
    let loaded = if let Register::In { ready_ns, .. } = die.register { ready_ns } else { u64::MAX };
    present_ns.min(if working { die.array_from } else { u64::MAX }).min(loaded)
}
