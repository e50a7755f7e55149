//! Deduplication and compression: duplicates out first, what is new joins a chunk (section III-A, Fig. 1).
//!
//! Parameters, cost and memory: those of both.

use super::rows::{
    CHUNK_PAGES, CHUNK_TIMEOUT, COMPRESS_UJ, COMPRESS_US, DECOMPRESS_UJ, DECOMPRESS_US, HASH_UJ, HASH_US,
    INDEX_SHARE, PLAIN_CHUNKS, REPACK,
};
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "both",
    summary: "duplicates are not programmed, and what is new is compressed",
    source: "integrated lifetime management (paper 2), section III-A",
    params: &[
        INDEX_SHARE,
        HASH_UJ,
        HASH_US,
        CHUNK_PAGES,
        CHUNK_TIMEOUT,
        PLAIN_CHUNKS,
        REPACK,
        COMPRESS_UJ,
        COMPRESS_US,
        DECOMPRESS_UJ,
        DECOMPRESS_US,
    ],
    cost: "as dedup and compress",
    memory: "as dedup and compress",
};
