//! Slot `drive.scheduling`: the next operation at a die.

use super::settings::Order;
use crate::Class;
use floatgate_base::{Acts, ChosenPolicy, ParamInfo, PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "drive.scheduling",
    selector: "policy",
    what: "scheduling",
    summary: "The next operation at a die.",
    policies: &[PRIORITY, FCFS],
    common: &[JOBS_HOLD, MOVED_READS],
    acts: Acts::Timed,
};

const CLASSES: &[&str] = &[Class::Read.name(), Class::Write.name(), Class::Background.name()];

const CLASSES_IN_ORDER: ParamInfo =
    ParamInfo::order("priority", "the classes, the most preferred first", CLASSES).timed();

/// Steps of incremental collection take turns with the host's writes. Otherwise a drive under load would postpone them
/// until a write finds no free block.
const URGENT_JOBS: ParamInfo = ParamInfo::name(
    "urgent_jobs",
    "the rank of jobs on which a host write depends",
    &[("background", "the rank of all jobs"), ("write", "the rank of host writes, in the order of issue")],
)
.or_of_drive("write where collection is incremental, else background", |facts| f64::from(facts.incremental))
.timed();

const JOBS_HOLD: ParamInfo = ParamInfo::name(
    "jobs_hold",
    "which dies serve no host operation while a job (collection, wear-leveling, read reclaim) is under way",
    &[
        ("nothing", "none; operations of hosts and jobs take turns by their order"),
        ("channel", "all dies of its channel, until none of its operations may start"),
    ],
)
.timed();

/// A drive changes its map when the new copy is there (docs/decisions/0056-old-copies.md).
const MOVED_READS: ParamInfo = ParamInfo::name(
    "moved_reads",
    "the copy that a host read takes of a page that a job moves",
    &[
        ("new", "the new one, once it is programmed"),
        ("old", "the old one until then: from the flash, and from the controller once the job has read it"),
    ],
)
.or_of_drive("old; new where jobs hold their channel", |facts| f64::from(!facts.jobs_hold_channel))
.timed();

const PRIORITY: PolicyInfo = PolicyInfo {
    params: &[CLASSES_IN_ORDER, URGENT_JOBS],
    cost: "O(1)",
    ..PolicyInfo::plain("priority", "the most preferred class with an operation that may start")
};

const FCFS: PolicyInfo = PolicyInfo {
    cost: "O(1)",
    ..PolicyInfo::plain("fcfs", "the first issued among the operations that may start")
};

impl Order {
    /// Returns the order of a policy, and whether jobs on which a host write depends rank with host writes.
    #[must_use]
    pub fn of(settings: &ChosenPolicy) -> (Self, bool) {
        let Some(names) = settings.find_names(CLASSES_IN_ORDER.name) else { return (Self::Fcfs, false) };
        let mut classes = Class::ALL;
        for (class, name) in classes.iter_mut().zip(names) {
            *class = Class::ALL.into_iter().find(|class| class.name() == name).unwrap_or(*class);
        }
        (Self::Priority(classes), settings.text(URGENT_JOBS.name) == "write")
    }
}

/// Returns whether host reads of pages that a job moves take the old copy.
#[must_use]
pub fn reads_old_copies(settings: &ChosenPolicy) -> bool {
    settings.text(MOVED_READS.name) == "old"
}

/// Returns whether jobs keep host operations off their whole channel, by the value of `jobs_hold`.
#[must_use]
pub fn jobs_hold_channel(value: &str) -> bool {
    value == "channel"
}
