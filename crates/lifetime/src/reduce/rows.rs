//! The parameters in the rows of reducers, shared by several reducers.

use floatgate_base::ParamInfo;
use floatgate_base::policy::Range;

/// Shared by all reducers that deduplicate.
pub(super) const INDEX_SHARE: ParamInfo = ParamInfo::within(
    "index_share",
    "entries of the content index / logical pages; further contents are forgotten",
    0.25,
    Range { above_least: true, ..Range::closed(0.0, 4.0) },
)
.shared();
pub(super) const HASH_UJ: ParamInfo = ParamInfo::within(
    "hash_uj",
    "energy of the fingerprint of 4 KiB, microjoules (8.6 us at 49 mW)",
    0.4214,
    Range::FROM_0,
)
.shared();
pub(super) const HASH_US: ParamInfo = ParamInfo::within(
    "hash_us",
    "delay of a request or page write by the fingerprint of 4 KiB (timed, lifetime), microseconds",
    0.0,
    Range::FROM_0,
)
.shared();
/// Shared by all reducers that compress.
pub(super) const CHUNK_PAGES: ParamInfo =
    ParamInfo::whole("chunk_pages", "pages of the map that are compressed together", 4, (1, 64)).shared();
pub(super) const CHUNK_TIMEOUT: ParamInfo = ParamInfo::within(
    "chunk_timeout_ms",
    "time after which an incomplete chunk is programmed, milliseconds; functional mode counts whole seconds",
    1000.0,
    Range { above_least: true, ..Range::closed(0.0, 1e12) },
)
.shared();
pub(super) const PLAIN_CHUNKS: ParamInfo = ParamInfo::flag(
    "plain_chunks",
    "chunks that save no page are written uncompressed; false shows how holes grow",
    true,
)
.shared();
pub(super) const REPACK: ParamInfo = ParamInfo::flag(
    "repack",
    "moved chunks are repacked without their holes; false shows how holes grow",
    true,
)
.shared();
pub(super) const COMPRESS_UJ: ParamInfo = ParamInfo::within(
    "compress_uj",
    "energy of compressing 4 KiB, microjoules (64 us at 60 mW)",
    3.84,
    Range::FROM_0,
)
.shared();
pub(super) const COMPRESS_US: ParamInfo = ParamInfo::within(
    "compress_us",
    "delay of a request or page write by compressing 4 KiB (timed, lifetime), microseconds",
    0.0,
    Range::FROM_0,
)
.shared();
pub(super) const DECOMPRESS_UJ: ParamInfo =
    ParamInfo::within("decompress_uj", "energy of decompressing 4 KiB, microjoules", 0.0, Range::FROM_0)
        .shared();
pub(super) const DECOMPRESS_US: ParamInfo = ParamInfo::within(
    "decompress_us",
    "timed: delay of a request by decompressing 4 KiB, microseconds",
    0.0,
    Range::FROM_0,
)
.shared();
/// Parameters of the integrated manager.
pub(super) const EPOCH: ParamInfo = ParamInfo::within(
    "epoch_s",
    "time from one decision to the next, seconds",
    300.0,
    Range::closed(1.0, 1e7),
);
pub(super) const EPOCHS: ParamInfo = ParamInfo::whole(
    "history_epochs",
    "epochs from which demand and ratios are predicted; the newest has this weight, the oldest 1",
    10,
    (1, 1000),
);
pub(super) const SAMPLE_SHARE: ParamInfo = ParamInfo::within(
    "sample_share",
    "share of the pages, chosen by content, sampled for an inactive scheme",
    0.01,
    Range { above_least: true, ..Range::SHARE },
);

/// Parameters of deduplication.
pub(super) const DEDUP: &[ParamInfo] = &[INDEX_SHARE, HASH_UJ, HASH_US];
/// Parameters of compression.
pub(super) const COMPRESS: &[ParamInfo] = &[
    CHUNK_PAGES,
    CHUNK_TIMEOUT,
    PLAIN_CHUNKS,
    REPACK,
    COMPRESS_UJ,
    COMPRESS_US,
    DECOMPRESS_UJ,
    DECOMPRESS_US,
];
/// Parameters of both.
pub(super) const BOTH: &[ParamInfo] = &joined::<{ DEDUP.len() + COMPRESS.len() }>(DEDUP, COMPRESS);
/// Parameters of the integrated manager, which chooses among both.
pub(super) const INTEGRATED: &[ParamInfo] = &joined::<{ MANAGER.len() + BOTH.len() }>(MANAGER, BOTH);
const MANAGER: &[ParamInfo] = &[EPOCH, EPOCHS, SAMPLE_SHARE];

/// Concatenates two lists.
const fn joined<const N: usize>(first: &[ParamInfo], second: &[ParamInfo]) -> [ParamInfo; N] {
    let mut all = [first[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() { first[i] } else { second[i - first.len()] };
        i += 1;
    }
    all
}
