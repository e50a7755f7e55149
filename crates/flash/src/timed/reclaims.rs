//! Whether dies have something to do for the sake of read disturb. Only kept where asked for.

use super::Timed;
use crate::{Cause, Class};
use serde::{Deserialize, Serialize};

/// By die that had such an operation, the newest one. Few dies have any at a time, and those that are done leave.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Reclaims(Vec<(u32, u64)>);

impl Timed {
    /// From now on [`Timed::reclaims`] knows.
    pub fn watch_reclaims(&mut self) {
        self.reclaims = Some(Box::default());
    }

    /// Whether operations of reclaims or replications are issued and not done, as of the latest moment that was let
    /// happen.
    pub fn reclaims(&mut self) -> bool {
        let Some(reclaims) = &mut self.reclaims else { return false };
        let dies = &self.schedule.dies;
        reclaims
            .0
            .retain(|&(die, ticket)| dies[die as usize].queues[Class::Background as usize].done < ticket);
        !reclaims.0.is_empty()
    }

    /// An operation of the background was issued.
    #[inline(always)]
    pub(super) fn note_reclaim(&mut self, die: usize, ticket: u64, cause: Cause) {
        if let Some(reclaims) = &mut self.reclaims
            && matches!(cause, Cause::Reclaim | Cause::Replica)
        {
            match reclaims.0.iter_mut().find(|(of, _)| *of == die as u32) {
                Some((_, newest)) => *newest = ticket,
                None => reclaims.0.push((die as u32, ticket)),
            }
        }
    }
}
