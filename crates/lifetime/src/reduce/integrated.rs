//! The integrated lifetime manager: deduplication, compression and throttling are chosen together, anew in each epoch
//! (section III-B, Algorithm 1).
//!
//! Parameters: those of both schemes, length and number of the epochs that demand and ratios are expected from, and the share
//! of the pages that is looked at for a scheme that is off. Throttling is planned by READY's parts with the nominal cycles.
//! Cost: as both schemes at work, and a decision per epoch. Memory: as both.

use super::rows::INTEGRATED;
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "integrated",
    summary: "deduplication, compression and throttling as each epoch needs them",
    source: "integrated lifetime management (paper 2), Algorithm 1",
    params: INTEGRATED,
    cost: "as dedup and compress, and a decision per epoch",
    memory: "as dedup and compress",
};
