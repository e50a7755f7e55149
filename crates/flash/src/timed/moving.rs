//! Pages that jobs move, with their sources, while the programs of their new copies are under way.

use super::queue::Far;
use floatgate_base::{IdVec, Ppn, UnitId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A page under way to another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Copied {
    /// Its new place, and the old one.
    pub page: Ppn,
    pub source: Ppn,
    /// The operation that reads the old copy: a read, or the move itself.
    pub read: Far,
}

/// The pages under way to another place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Moving {
    /// By die and class of the program: pages with the tickets of their programs, ascending.
    issued: Vec<[VecDeque<(u64, Copied)>; 2]>,
    /// By unit: pages of its incomplete flash page.
    gathered: IdVec<UnitId, Vec<Copied>>,
    /// Flash pages to read for the current read, and the pages that it takes from each. Empty between reads.
    #[serde(skip)]
    pub wanted: Vec<(Ppn, u8)>,
}

impl Moving {
    pub fn new(units: u32, dies: usize) -> Self {
        let issued = (0..dies).map(|_| Default::default()).collect();
        Self { issued, gathered: IdVec::filled(Vec::new(), units), wanted: Vec::new() }
    }

    /// Returns whether it belongs to an array with as many units and dies.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.issued.len(), self.gathered.len()) == (other.issued.len(), other.gathered.len())
    }

    /// Adds a page whose program has been issued; `done` is the last ticket done of the program's queue.
    pub fn add(&mut self, page: Copied, program: Far, done: u64) {
        self.add_row(std::iter::once(page), program, done);
    }

    /// Adds pages whose programs have been issued one after the other, the first as `program`.
    pub fn add_row(&mut self, pages: impl Iterator<Item = Copied>, program: Far, done: u64) {
        let queue = &mut self.issued[program.die as usize][usize::from(program.class) - 1];
        while queue.front().is_some_and(|&(ticket, _)| ticket <= done) {
            queue.pop_front();
        }
        queue.extend((program.ticket..).zip(pages));
    }

    /// Adds a page to the incomplete flash page of a unit.
    pub fn gather(&mut self, unit: UnitId, page: Copied) {
        self.gathered[unit].push(page);
    }

    /// Adds the pages gathered in a unit, whose program has been issued, as [`Self::add`] does.
    pub fn add_gathered(&mut self, unit: UnitId, program: Far, done: u64) {
        let mut gathered = std::mem::take(&mut self.gathered[unit]);
        gathered.drain(..).for_each(|page| self.add(page, program, done));
        // Its memory is reused for the next page.
        self.gathered[unit] = gathered;
    }

    /// Returns how a page came into the flash page of a pending program, if a job moved it.
    pub fn find(&self, program: Far, page: Ppn) -> Option<Copied> {
        let queue = &self.issued[program.die as usize][usize::from(program.class) - 1];
        let place =
            queue.binary_search_by_key(&(program.ticket, page), |&(ticket, of)| (ticket, of.page)).ok()?;
        Some(queue[place].1)
    }
}
