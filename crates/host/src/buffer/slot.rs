//! Slot `drive.buffer`: the DRAM buffer, and which of its pages leave.

use floatgate_base::policy::Range;
use floatgate_base::{Acts, ParamInfo, PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "drive.buffer",
    selector: "policy",
    what: "order of a buffer",
    summary: "The DRAM buffer (write-back), and which of its pages leave.",
    policies: &[LRU, DISTURB_AWARE],
    common: &[CAPACITY, READ_CACHE, HIGH_WATERMARK, LOW_WATERMARK, ACCESS_US],
    acts: Acts::Always,
};

const CAPACITY: ParamInfo =
    ParamInfo::text("capacity", "size; without one there is no buffer", "0 B", "a size such as \"32 MiB\"");
const READ_CACHE: ParamInfo = ParamInfo::flag("read_cache", "whether pages that were read stay in it", false)
    .or("false, with disturb-aware true");
const HIGH_WATERMARK: ParamInfo = ParamInfo::within(
    "high_watermark",
    "share of its pages that may be dirty before some are flushed",
    1.0,
    Range::SHARE,
)
.or("pages are flushed as they leave");
const LOW_WATERMARK: ParamInfo =
    ParamInfo::within("low_watermark", "share that is still dirty after that", 1.0, Range::SHARE)
        .or("pages are flushed as they leave");
const ACCESS_US: ParamInfo =
    ParamInfo::real("access_us", "time that a page takes through it, microseconds", 0.0, (0.0, 1e9)).timed();

const LRU: PolicyInfo = PolicyInfo {
    cost: "O(1) per page",
    memory: "4 bytes per logical page, 52 per page of the buffer",
    ..PolicyInfo::plain("lru", "the page used least recently leaves")
};

/// The disturb-aware order.
pub const DISTURB_AWARE: PolicyInfo = PolicyInfo {
    name: "disturb-aware",
    summary: "pages that are read most are kept",
    source: "dissertation on cross-layer optimization of NAND flash storage, section 7.2.2, which names the idea and no algorithm",
    params: &[
        ParamInfo::within(
            "disturbed_share",
            "pages are kept of blocks that have been disturbed by this share of the maximum; 0: of all",
            0.0,
            Range::SHARE,
        ),
        ParamInfo::within("kept_share", "share of the buffer for the pages that it keeps", 0.8, Range::SHARE),
        ParamInfo::flag(
            "preload",
            "whether hot pages are read ahead of the host when their block reaches disturbed_share",
            true,
        ),
    ],
    cost: "O(1) per page",
    memory: "5 bytes per logical page, 52 per page of the buffer",
};
