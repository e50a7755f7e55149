//! Counters of wear-leveling.

use serde::{Deserialize, Serialize};

/// Counters of wear-leveling since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelCounters {
    /// Completed rounds of a block erasing table.
    pub rounds: u64,
    /// Jobs requested before counting began and not yet done. They wait longest when few units are free.
    pub pending_at_start: u64,
    /// Units that the leveler decided to empty.
    pub triggered: u64,
    /// Swaps: data of a unit that moved into a worn one that had just been erased.
    pub swaps: u64,
    /// Units of opposite read types that shared a pair of destinations.
    pub pairs: u64,
    /// Units that shared destinations with pages of any read type, because too many pairs waited.
    pub alike: u64,
    /// Pairs of destinations that were closed before a second unit came.
    pub unpaired: u64,
    /// Pages moved.
    pub moved_pages: u64,
    /// Vetoed victims.
    pub passed_over: u64,
}
