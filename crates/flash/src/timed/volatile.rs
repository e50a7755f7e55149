//! Arrays without power-loss protection: which programs hold what the host wrote, for FLUSH, and what was moved or written
//! anew, for the erase of where it lay.

use super::queue::Far;
use floatgate_base::{IdVec, UnitId};
use serde::{Deserialize, Serialize};

/// What is not on flash yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Volatile {
    /// By unit: whether its flash page that is not full holds anything that the host wrote.
    written: IdVec<UnitId, bool>,
    /// By unit: where what has moved into its flash page that is not full came from, or lay before it was written anew.
    sources: IdVec<UnitId, Vec<UnitId>>,
    /// By unit: programs of what has moved out of it or was written anew, the newest of each queue.
    moved: IdVec<UnitId, Vec<Far>>,
    /// By die: the newest programs of what the host wrote, by class: host writes, background.
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

    /// Whether it is of an array with as many units and dies.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.moved.len(), self.programs.len()) == (other.moved.len(), other.programs.len())
    }

    /// A page that the host wrote joins the flash page of a unit.
    pub fn joins(&mut self, unit: UnitId) {
        self.written[unit] = true;
    }

    /// What lay in another unit joins the flash page of a unit.
    pub fn moves(&mut self, source: UnitId, unit: UnitId) {
        let sources = &mut self.sources[unit];
        if !sources.contains(&source) {
            sources.push(source);
        }
    }

    /// The flash page of a unit is programmed.
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

    /// The newest programs of what the host wrote.
    pub fn programs(&self) -> impl Iterator<Item = Far> + '_ {
        self.programs.iter().zip(0..).flat_map(|(tickets, die)| {
            tickets.iter().zip(1..).map(move |(&ticket, class)| Far { die, class, ticket })
        })
    }

    /// A unit is erased: the programs that come before.
    pub fn erased(&mut self, unit: UnitId) -> Vec<Far> {
        std::mem::take(&mut self.moved[unit])
    }
}
