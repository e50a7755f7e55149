//! The integrated lifetime manager: deduplication, compression and throttling are chosen together, anew in each epoch
//! (section III-B, Algorithm 1).
//!
//! Parameters: those of both schemes, length and number of the epochs that demand and ratios are expected from, and the share
//! of the pages that is looked at for a scheme that is off. Throttling is planned by READY's parts with the nominal cycles.
//! Cost: as both schemes at work, and a decision per epoch. Memory: as both.

use super::rows::{
    CHUNK_PAGES, CHUNK_TIMEOUT, COMPRESS_UJ, COMPRESS_US, DECOMPRESS_UJ, DECOMPRESS_US, EPOCH, EPOCHS,
    HASH_UJ, HASH_US, INDEX_SHARE, PLAIN_CHUNKS, REPACK, SAMPLE_SHARE,
};
use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "integrated",
    summary: "deduplication, compression and throttling as each epoch needs them",
    source: "integrated lifetime management (paper 2), Algorithm 1",
    params: &[
        EPOCH,
        EPOCHS,
        SAMPLE_SHARE,
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
    cost: "as dedup and compress, and a decision per epoch",
    memory: "as dedup and compress",
};
