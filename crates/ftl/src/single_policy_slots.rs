//! Slots with a single policy so far, which the mechanism itself implements. With a second policy a slot gets a folder
//! of its own, as `collect` has.

use floatgate_base::{Acts, PolicyInfo, Slot};

/// Address mapping.
pub const MAP: Slot = Slot {
    key: "ftl.map",
    selector: "policy",
    what: "map",
    summary: "Address mapping.",
    policies: &[PolicyInfo::plain("page", "every logical page maps to any physical page")],
    common: &[],
    acts: Acts::Always,
};
