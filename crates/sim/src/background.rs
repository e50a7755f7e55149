//! Slot `ftl.background`: the use of idle time.

use floatgate_base::policy::Range;
use floatgate_base::{Acts, ParamInfo, PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "ftl.background",
    selector: "policy",
    what: "use of idle time",
    summary: "Jobs in idle time.",
    policies: &[NONE, IDLE],
    common: &[],
    acts: Acts::Timed,
};

const NONE: PolicyInfo = PolicyInfo::plain("none", "blocks are collected when a host write needs them");

const TRIGGER: ParamInfo = ParamInfo::whole(
    "trigger_free_blocks",
    "idle time collects if fewer blocks of a plane (superblocks) are free",
    1,
    (1, u32::MAX),
)
.or("twice the stop level of ftl.collect")
.timed();

const IDLE_US: ParamInfo = ParamInfo::within(
    "idle_us",
    "time without requests in flight before it begins, microseconds",
    0.0,
    Range::closed(0.0, 1e8),
)
.timed();

const IDLE: PolicyInfo = PolicyInfo {
    params: &[TRIGGER, IDLE_US],
    cost: "O(1) per event",
    ..PolicyInfo::plain("idle", "blocks are collected in idle time, too")
};
