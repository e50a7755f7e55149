//! Slot `drive.scheduling`: which of the operations that wait at a die is next.

use super::settings::Order;
use crate::Class;
use floatgate_base::{Acts, Given, ParamInfo, PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "drive.scheduling",
    selector: "policy",
    what: "scheduling",
    summary: "What is next at a die.",
    policies: &[PRIORITY, FCFS],
    common: &[],
    acts: Acts::Timed,
};

const CLASSES: &[&str] = &[Class::Read.name(), Class::Write.name(), Class::Background.name()];

const CLASSES_IN_ORDER: ParamInfo =
    ParamInfo::order("priority", "the classes, the most preferred first", CLASSES).timed();

/// Steps of incremental collection take turns with the host's writes, or a drive under load would put them off until a
/// write finds no free block.
const URGENT_JOBS: ParamInfo = ParamInfo::name(
    "urgent_jobs",
    "the rank of jobs that a host write cannot do without",
    &[("background", "that of all jobs"), ("write", "that of host writes, in the order of issue")],
)
.or_of_drive("write where collection is incremental, else background", |facts| f64::from(facts.incremental))
.timed();

const PRIORITY: PolicyInfo = PolicyInfo {
    params: &[CLASSES_IN_ORDER, URGENT_JOBS],
    cost: "O(1)",
    ..PolicyInfo::plain("priority", "the most preferred class that has something to do")
};

const FCFS: PolicyInfo =
    PolicyInfo { cost: "O(1)", ..PolicyInfo::plain("fcfs", "what was issued first of what may start") };

impl Order {
    /// The order of a policy, and whether jobs that a host write cannot do without rank as host writes do.
    #[must_use]
    pub fn of(given: &Given) -> (Self, bool) {
        let Some(names) = given.find_names(CLASSES_IN_ORDER.name) else { return (Self::Fcfs, false) };
        let mut classes = Class::ALL;
        for (class, name) in classes.iter_mut().zip(names) {
            *class = Class::ALL.into_iter().find(|class| class.name() == name).unwrap_or(*class);
        }
        (Self::Priority(classes), given.text(URGENT_JOBS.name) == "write")
    }
}
