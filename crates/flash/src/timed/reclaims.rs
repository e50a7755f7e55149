//! Whether dies have something to do for the sake of read disturb. Only kept where asked for.

use super::schedule::Schedule;
use crate::{Cause, Class};
use serde::{Deserialize, Serialize};

/// By die that had such an operation, the newest one. Few dies have any at a time, and those that are done leave.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Reclaims(Vec<(u32, u64)>);

impl Reclaims {
    /// Whether some of them are not done.
    pub fn pending(&mut self, schedule: &Schedule) -> bool {
        self.0.retain(|&(die, ticket)| schedule.done_tickets(die as usize, Class::Background) < ticket);
        !self.0.is_empty()
    }

    /// An operation of the background was issued.
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
