//! Slots that have a single policy so far: the mechanism itself does what it says. With a second policy a slot gets a
//! folder of its own, as `collect` has.

use floatgate_base::{PolicyInfo, Slot};

/// Address mapping.
pub const MAP: Slot = Slot {
    key: "ftl.map",
    selector: "policy",
    what: "map",
    summary: "Address mapping.",
    policies: &[PolicyInfo::plain("page", "every logical page maps to any physical page")],
    common: &[],
};

/// In which order writes are programmed.
pub const DISPATCH: Slot = Slot {
    key: "ftl.dispatch",
    selector: "policy",
    what: "dispatcher",
    summary: "Order of writes.",
    policies: &[PolicyInfo::plain("fcfs", "writes are programmed in the order in which they arrive")],
    common: &[],
};
