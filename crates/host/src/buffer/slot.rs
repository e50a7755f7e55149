//! Slot `drive.buffer`: the DRAM buffer and its eviction order.

use floatgate_base::policy::Range;
use floatgate_base::{Acts, ParamInfo, PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "drive.buffer",
    selector: "policy",
    what: "eviction order of the buffer",
    summary: "The DRAM buffer (write-back) and its eviction order.",
    policies: &[LRU, DISTURB_AWARE],
    common: &[CAPACITY, READ_CACHE, HIGH_WATERMARK, LOW_WATERMARK, ACCESS_US],
    acts: Acts::Always,
};

const CAPACITY: ParamInfo =
    ParamInfo::text("capacity", "size; 0 for no buffer", "0 B", "a size such as \"32 MiB\"");
const READ_CACHE: ParamInfo =
    ParamInfo::flag("read_cache", "whether it also caches pages that were read", false)
        .or("false, with disturb-aware true");
const HIGH_WATERMARK: ParamInfo = ParamInfo::within(
    "high_watermark",
    "share of dirty pages above which some are flushed",
    1.0,
    Range::SHARE,
)
.or("pages are flushed at eviction");
const LOW_WATERMARK: ParamInfo = ParamInfo::within(
    "low_watermark",
    "share of dirty pages at which that flushing stops",
    1.0,
    Range::SHARE,
)
.or("pages are flushed at eviction");
const ACCESS_US: ParamInfo =
    ParamInfo::real("access_us", "access time per page, microseconds", 0.0, (0.0, 1e9)).timed();

const LRU: PolicyInfo = PolicyInfo {
    cost: "O(1) per page",
    memory: "4 bytes per logical page, 52 per page of the buffer",
    ..PolicyInfo::plain("lru", "evicts the least recently used page")
};

/// The disturb-aware order.
pub const DISTURB_AWARE: PolicyInfo = PolicyInfo {
    name: "disturb-aware",
    summary: "keeps the most-read pages",
    source: "dissertation on cross-layer optimization of NAND flash storage, section 7.2.2, which names the idea but no algorithm",
    params: &[
        ParamInfo::within(
            "disturbed_share",
            "keeps pages of blocks whose disturbance has reached this share of the maximum; 0: of all blocks",
            0.0,
            Range::SHARE,
        ),
        ParamInfo::within("kept_share", "share of the buffer reserved for kept pages", 0.8, Range::SHARE),
        ParamInfo::flag(
            "preload",
            "whether hot pages are preloaded when their block reaches disturbed_share",
            true,
        ),
    ],
    cost: "O(1) per page",
    memory: "5 bytes per logical page, 52 per page of the buffer",
};
