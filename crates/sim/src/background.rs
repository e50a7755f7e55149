//! Slot `ftl.background`: the use of idle time.

use floatgate_base::policy::Range;
use floatgate_base::{Acts, ParamInfo, PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "ftl.background",
    selector: "policy",
    what: "use of idle time",
    summary: "Jobs in idle time.",
    policies: &[NONE, IDLE, BY_CONTEXT],
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

const BACKUP_US: ParamInfo = ParamInfo::within(
    "idle_us",
    "time without requests in flight before it begins where no context predicts, microseconds",
    10_000.0,
    Range::closed(0.0, 1e8),
)
.timed();

const SETTLE_US: ParamInfo = ParamInfo::within(
    "settle_us",
    "time without requests in flight before a context predicts; shorter gaps belong to a burst, microseconds",
    5_000.0,
    Range::closed(0.0, 1e8),
)
.timed();

const LONG_US: ParamInfo = ParamInfo::within(
    "long_us",
    "idle periods from this length on are long, microseconds",
    50_000.0,
    Range::closed(1.0, 1e9),
)
.timed();

const CONTEXTS: ParamInfo =
    ParamInfo::whole("contexts", "entries of the table of contexts", 1024, (1, 1 << 20)).timed();

const CONFIDENT_FROM: ParamInfo = ParamInfo::whole(
    "confident_from",
    "long periods more than short ones from which on a context predicts; at most 7 are counted",
    2,
    (1, 7),
)
.timed();

const PATH: ParamInfo =
    ParamInfo::whole("path", "last contexts before an idle period that predict together", 1, (1, 8)).timed();

const BY_CONTEXT: PolicyInfo = PolicyInfo {
    params: &[TRIGGER, BACKUP_US, SETTLE_US, LONG_US, CONTEXTS, CONFIDENT_FROM, PATH],
    source: "Dissertation on cross-layer optimization of NAND flash storage, section 7.2.1; Gniady, Butt and Hu, OSDI 2004",
    cost: "O(1) per event",
    memory: "24 bytes per entry of the table",
    ..PolicyInfo::plain(
        "by-context",
        "as idle, early where the program's context predicts a long idle period, and not beyond its end",
    )
};
