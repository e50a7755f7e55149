//! What wear-leveling did.

use serde::{Deserialize, Serialize};

/// What wear-leveling did since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelCounters {
    /// Rounds of a block erasing table that were completed.
    pub rounds: u64,
    /// Jobs that it had asked for before counting began, and that were not done. They wait longest where few units are free.
    pub pending_at_start: u64,
    /// Units that it decided to empty for the sake of wear.
    pub triggered: u64,
    /// Units whose data moved into a worn one that had just been erased.
    pub swaps: u64,
    /// Units of opposite read types that shared a pair of destinations.
    pub pairs: u64,
    /// Units that shared destinations with pages of any read type, because too many pairs waited.
    pub alike: u64,
    /// Pairs of destinations that were closed before a second unit came.
    pub unpaired: u64,
    /// Pages moved.
    pub moved_pages: u64,
    /// Victims passed over.
    pub passed_over: u64,
}
