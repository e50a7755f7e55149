//! Blocks that take replicas, first in, first out (redFTL's good block pool, section 3.4.3).
//!
//! A block that got a replica leaves the pool for one round, until every block before it had its turn. It stays out
//! once its tail is full or its own sum has reached the point at which replicas of its pages are made.

use super::view::DisturbView;
use floatgate_base::{IdVec, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The pool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Healthy {
    round: VecDeque<UnitId>,
    next_round: VecDeque<UnitId>,
    /// Units that are in either queue.
    pooled: IdVec<UnitId, bool>,
}

impl Healthy {
    pub fn new(layout: &Layout) -> Self {
        Self {
            round: VecDeque::new(),
            next_round: VecDeque::new(),
            pooled: IdVec::filled(false, layout.units()),
        }
    }

    /// Adds a unit that was closed.
    pub fn closed(&mut self, unit: UnitId) {
        if !std::mem::replace(&mut self.pooled[unit], true) {
            self.round.push_back(unit);
        }
    }

    /// Returns the unit that takes the next replica of a page of `source`; its sum must be below `sum_max`.
    pub fn take(&mut self, drive: &DisturbView<'_>, source: UnitId, sum_max: u32) -> Option<UnitId> {
        for _ in 0..2 {
            while let Some(unit) = self.round.pop_front() {
                let takes =
                    drive.is_closed(unit) && drive.tail_room(unit) > 0 && drive.sum_of(unit) < sum_max;
                if !takes {
                    self.pooled[unit] = false;
                    continue;
                }
                self.next_round.push_back(unit);
                if unit != source {
                    return Some(unit);
                }
            }
            std::mem::swap(&mut self.round, &mut self.next_round);
        }
        None
    }

    pub fn memory_bytes(&self) -> u64 {
        ((self.round.len() + self.next_round.len()) * size_of::<UnitId>() + self.pooled.len()) as u64
    }

    pub fn fits(&self, layout: &Layout) -> bool {
        let within = |unit: &UnitId| unit.0 < layout.units();
        self.pooled.len() == layout.units() as usize
            && self.round.iter().all(within)
            && self.next_round.iter().all(within)
    }
}
