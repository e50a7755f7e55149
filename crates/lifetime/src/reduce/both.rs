//! Deduplication and compression: duplicates are removed first, new content joins a chunk (section III-A, Fig. 1).
//!
//! Parameters, cost and memory: those of both.

use super::rows::BOTH;
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "both",
    summary: "duplicates are not programmed, and new content is compressed",
    source: "integrated lifetime management (paper 2), section III-A",
    params: BOTH,
    cost: "as dedup and compress",
    memory: "as dedup and compress",
};
