//! Arrays without power-loss protection: tracks the programs that hold host data, for FLUSH, and moved or rewritten
//! data, for the erase of their source.

use super::queue::Far;
use floatgate_base::{IdVec, UnitId};
use serde::{Deserialize, Serialize};

/// Data that are not on flash yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Volatile {
    /// By unit: whether its incomplete flash page holds host data.
    written: IdVec<UnitId, bool>,
    /// By unit: the sources of data moved into its incomplete flash page, or the earlier locations of rewritten data.
    sources: IdVec<UnitId, Vec<UnitId>>,
    /// By unit: programs of data moved out of it or rewritten, the newest of each queue.
    moved: IdVec<UnitId, Vec<Far>>,
    /// By die: the newest programs of host data, by class: host writes, background.
    programs: Vec<[u64; 2]>,
}

impl Volatile {
    pub fn new(units: u32, dies: usize) -> Self {
        Self {
            written: IdVec::filled(false, units),
            sources: IdVec::filled(Vec::new(), units),
            moved: IdVec::filled(Vec::new(), units),
            programs: vec![[0; 2]; dies],
        }
    }

    /// Returns whether it belongs to an array with as many units and dies.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.moved.len(), self.programs.len()) == (other.moved.len(), other.programs.len())
    }

    /// Adds a host page to the flash page of a unit.
    pub fn joins(&mut self, unit: UnitId) {
        self.written[unit] = true;
    }

    /// Adds data from another unit to the flash page of a unit.
    pub fn moves(&mut self, source: UnitId, unit: UnitId) {
        let sources = &mut self.sources[unit];
        if !sources.contains(&source) {
            sources.push(source);
        }
    }

    /// Records the program of the flash page of a unit.
    pub fn programmed(&mut self, unit: UnitId, program: Far) {
        if std::mem::take(&mut self.written[unit]) {
            self.programs[program.die as usize][usize::from(program.class) - 1] = program.ticket;
        }
        for source in self.sources[unit].drain(..) {
            let moved = &mut self.moved[source];
            let queue = |far: &&mut Far| (far.die, far.class) == (program.die, program.class);
            match moved.iter_mut().find(queue) {
                Some(newest) => *newest = program,
                None => moved.push(program),
            }
        }
    }

    /// Lists the newest programs of host data.
    pub fn programs(&self) -> impl Iterator<Item = Far> + '_ {
        self.programs.iter().zip(0..).flat_map(|(tickets, die)| {
            tickets.iter().zip(1..).map(move |(&ticket, class)| Far { die, class, ticket })
        })
    }

    /// Erases a unit; returns the programs that must come before.
    pub fn erased(&mut self, unit: UnitId) -> Vec<Far> {
        std::mem::take(&mut self.moved[unit])
    }
}
