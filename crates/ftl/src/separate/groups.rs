//! Update groups of program contexts, for PDS and IDS: each group writes to a unit of its own.
//!
//! The papers know no bound on groups; a drive has only so many units to keep open. Who asks for a group beyond the
//! bound shares the one that was written least recently, which is the least likely to be mixed in time.

use super::StreamId;
use serde::{Deserialize, Serialize};

/// Number of a group, from 1 on; 0 for none. Also its stream.
pub type Group = u32;

/// No group: the stream of data that are taken to be written once.
pub const NONE: Group = 0;
/// Stream of contexts without a group.
pub const WRITE_ONCE: StreamId = StreamId(NONE);

/// When each group was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Groups {
    /// Host page writes before the last one to each; that of no group is not used.
    written_at: Vec<u64>,
}

impl Groups {
    /// At most so many.
    pub fn new(most: u32) -> Self {
        Self { written_at: vec![0; most as usize + 1] }
    }

    /// How many there may be.
    pub fn most(&self) -> u32 {
        self.written_at.len() as u32 - 1
    }

    /// A page is written to a group, or to none.
    #[inline(always)]
    pub fn written(&mut self, group: Group, now: u64) {
        self.written_at[group as usize] = now;
    }

    /// The group that was written least recently; of several, that of the lowest number.
    pub fn least_recent(&self) -> Group {
        (1..=self.most()).min_by_key(|&group| self.written_at[group as usize]).expect("there is a group")
    }

    /// Bytes of the table.
    pub fn memory_bytes(&self) -> u64 {
        self.written_at.len() as u64 * 8
    }
}
