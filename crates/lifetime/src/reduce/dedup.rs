//! Deduplication alone: a page whose content is already on the drive is not programmed (section III-A).
//!
//! Parameters: the size of the index, energy and latency of a fingerprint. Cost: a search of the index per page write.
//! Memory: 24 bytes per index entry, 4 per logical page, 8 per shared content.

use super::rows::DEDUP;
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "dedup",
    summary: "pages whose content is already on the drive are not programmed",
    source: "integrated lifetime management (paper 2), section III-A",
    params: DEDUP,
    cost: "a search of the index per page write",
    memory: "24 bytes per index entry, 4 bytes per logical page, 8 bytes per shared content",
};
