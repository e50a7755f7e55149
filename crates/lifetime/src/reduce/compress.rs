//! Compression alone: successive pages are compressed together and take fewer flash pages (section III-A).
//!
//! Parameters: size and timeout of a chunk, energy and latency. Cost: a few stores per page write, and one pass over
//! the slots of the chunk that a page leaves. Memory: 32 bytes per chunk of four pages.

use super::rows::COMPRESS;
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "compress",
    summary: "successive pages are compressed together and take fewer flash pages",
    source: "integrated lifetime management (paper 2), section III-A",
    params: COMPRESS,
    cost: "O(slots of a chunk) per page write",
    memory: "32 bytes per chunk of four pages",
};
