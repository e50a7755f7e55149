//! Tracks whether dies have pending operations for read disturb. Kept only on demand.

use super::schedule::Schedule;
use crate::{Cause, Class};
use serde::{Deserialize, Serialize};

/// The newest such operation of each die that had one. Few dies have any at a time, and completed ones are removed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Reclaims(Vec<(u32, u64)>);

impl Reclaims {
    /// Returns whether any of them is pending.
    pub fn pending(&mut self, schedule: &Schedule) -> bool {
        self.0.retain(|&(die, ticket)| schedule.done_tickets(die as usize, Class::Background) < ticket);
        !self.0.is_empty()
    }

    /// Records an operation of the background.
    pub fn note(&mut self, die: usize, ticket: u64, cause: Cause) {
        if !matches!(cause, Cause::Reclaim | Cause::Replica) {
            return;
        }
        match self.0.iter_mut().find(|(of, _)| *of == die as u32) {
            Some((_, newest)) => *newest = ticket,
            None => self.0.push((die as u32, ticket)),
        }
    }
}
