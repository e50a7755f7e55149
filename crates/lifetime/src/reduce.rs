//! Slot `lifetime.reduce`: which writes need no page of their own. It has a single policy so far.

use floatgate_base::{PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "lifetime.reduce",
    selector: "policy",
    what: "reducer",
    summary: "Reduction of writes.",
    policies: &[PolicyInfo::plain("none", "every host page write is programmed")],
    common: &[],
};
