//! The integrated lifetime manager: chooses deduplication, compression and throttling together in each epoch (section
//! III-B, Algorithm 1).
//!
//! Parameters: those of both schemes, the length and number of the epochs from which demand and ratios are predicted,
//! and the share of pages sampled for an inactive scheme. Throttling is planned by READY's parts with the nominal
//! cycles. Cost: as both schemes at work, and a decision per epoch. Memory: as both.

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
