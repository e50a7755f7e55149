//! Update groups of program contexts, for PDS and IDS: each group writes to a unit of its own.
//!
//! The papers do not bound the number of groups; a drive can keep only a limited number of units open. A context that
//! needs a group beyond the bound shares the one that was written least recently, whose data it is least likely to mix
//! with in time.

use super::StreamId;
use serde::{Deserialize, Serialize};

/// Number of a group, from 1 on; 0 for no group. Equals its stream.
pub type Group = u32;

/// No group: the stream of data assumed to be written once.
pub const NONE: Group = 0;
/// Stream of contexts without a group.
pub const WRITE_ONCE: StreamId = StreamId(NONE);

/// The last write to each group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Groups {
    /// Host page writes before the last one to each group; entry 0 is not used.
    written_at: Vec<u64>,
}

impl Groups {
    /// Creates the table for up to `most` groups.
    pub fn new(most: u32) -> Self {
        Self { written_at: vec![0; most as usize + 1] }
    }

    /// Returns the bound on groups.
    pub fn most(&self) -> u32 {
        self.written_at.len() as u32 - 1
    }

    /// Notes a page write to a group, or to none.
    #[inline(always)]
    pub fn written(&mut self, group: Group, now: u64) {
        self.written_at[group as usize] = now;
    }

    /// Returns the group that was written least recently; of several, the lowest number.
    pub fn least_recent(&self) -> Group {
        (1..=self.most()).min_by_key(|&group| self.written_at[group as usize]).expect("there is a group")
    }

    /// Returns the bytes of the table.
    pub fn memory_bytes(&self) -> u64 {
        self.written_at.len() as u64 * 8
    }
}
