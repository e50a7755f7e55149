//! How a drive is managed, and why it may stop.

use crate::collect::Victim;
use crate::level::Level;
use crate::pool::FreeChoice;
use crate::reclaim::Reclaim;
use crate::reduce::Reduce;
use crate::separate::Separate;
use floatgate_nand::Disturb;
use serde::{Deserialize, Serialize};

/// Where a host page may go (`ftl.allocation.mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// To the planes in turn.
    Dynamic,
    /// To the plane that its logical number names.
    Static,
}

/// Names of the allocations with what they do.
pub const ALLOCATIONS: &[(&str, &str)] =
    &[("dynamic", "pages go to the planes in turn"), ("static", "the logical page number names the plane")];

/// When victims are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Host page writes, since counting began, before the pace.
    pub from_writes: u64,
    /// Host page writes for each victim from then on; at least 1.
    pub every_writes: u64,
}

impl Pace {
    /// When nothing is due.
    pub(crate) const NEVER: u64 = u64::MAX;

    /// When the first victim is due, counting from host page write `now` on.
    pub(crate) fn first_due(self, now: u64) -> u64 {
        now.saturating_add(self.from_writes).saturating_add(self.every_writes)
    }
}

/// How the drive is managed.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// Whether a page may go to any plane.
    pub allocation: Allocation,
    /// How reads disturb, and what is done about it; none where they do not.
    pub disturb: Option<(Disturb, Reclaim)>,
    /// Deduplication and compression, where there is either.
    pub reduce: Option<Reduce>,
    /// Whether there is idle time, in which somebody steps jobs that can wait.
    pub idle_jobs: bool,
    /// Jobs in idle time collect in a domain that has fewer free units; 0 for never.
    pub background_free_units: u32,
    /// Victim policy.
    pub victim: Victim,
    /// Separator.
    pub separate: Separate,
    /// Wear-leveler.
    pub level: Level,
    /// Which free unit is opened next.
    pub free_choice: FreeChoice,
    /// Collection starts when a domain has fewer free units.
    pub trigger_free_units: u32,
    /// Collection stops when a domain has so many free units; at least the trigger.
    pub stop_free_units: u32,
    /// Whether jobs take steps with host writes; else a host write that needs room waits for whole units.
    pub incremental: bool,
    /// Power-loss protection: what gathers in the controller until a flash page is full outlives a power cut.
    pub plp: bool,
    /// Whether a page that the host reads and never wrote is programmed first, as SSDsim does; only without reduction.
    pub programs_unwritten: bool,
    /// Whether victims are collected at a pace, too.
    pub pace: Option<Pace>,
    /// Share of the pages of closed units beyond which one more is collected after a host page write, however many are free.
    pub garbage_share: Option<f64>,
    /// Seed of the run.
    pub seed: u64,
}

impl Setup {
    /// Whether it needs the code with all features.
    pub(crate) fn needs_all(&self) -> bool {
        self.disturb.is_some()
            || self.programs_unwritten
            || self.reduce.is_some()
            || matches!(self.separate, Separate::Labelled(_))
            || self.pace.is_some()
            || self.garbage_share.is_some()
            || self.incremental
    }

    /// Whether a drive of this setup may go on under another one: they differ at most in when collection works.
    #[must_use]
    pub fn goes_on_as(&self, other: &Self) -> bool {
        let Self {
            incremental, idle_jobs, background_free_units, trigger_free_units, stop_free_units, ..
        } = *other;
        let alike = Self {
            incremental,
            idle_jobs,
            background_free_units,
            trigger_free_units,
            stop_free_units,
            ..*self
        };
        // Some parameters have no equality of their own.
        format!("{alike:?}") == format!("{other:?}")
    }

    /// As which setup a drive of this one is taken that goes on under another one: where neither looks at what is moved, a plain drive
    /// learns to lay it apart.
    pub(crate) fn learning(&self, other: &Self, is_plain: bool) -> Self {
        let (was, becomes) = (self.separate, other.separate);
        let learns = is_plain && !was.looks() && !becomes.looks() && was.streams() <= becomes.streams();
        Self { separate: if learns { becomes } else { was }, ..*self }
    }

    /// Whether no drive of this setup can go on under another one ([`crate::Ftl::go_on_as`]), whatever state it is in.
    #[must_use]
    pub fn never_goes_on_as(&self, other: &Self) -> bool {
        let is_plain = self.reduce.is_none() && self.disturb.is_none();
        !self.learning(other, is_plain).goes_on_as(other)
    }

    /// A drive without anything particular, of so many pages that the host sees: greedy collection from two free units on, one
    /// stream. What a caller wants otherwise it says.
    ///
    /// # Panics
    /// Never: the victim policy exists.
    #[must_use]
    pub fn plain(logical_pages: u32) -> Self {
        Self {
            logical_pages,
            allocation: Allocation::Dynamic,
            disturb: None,
            reduce: None,
            idle_jobs: false,
            background_free_units: 0,
            victim: Victim::named("greedy"),
            separate: Separate::None,
            level: Level::None,
            free_choice: FreeChoice::LeastErased,
            trigger_free_units: 2,
            stop_free_units: 2,
            incremental: false,
            plp: true,
            programs_unwritten: false,
            pace: None,
            garbage_share: None,
            seed: 1,
        }
    }
}

/// What a read of a page does that was never written, by name, with what that is.
pub const UNWRITTEN_READS: &[(&str, &str)] = &[
    ("nothing", "the flash is not read, as on drives"),
    ("program", "the page is programmed first, as SSDsim does"),
];

/// What collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GcCounters {
    /// Units collected.
    pub victims: u64,
    /// Of these, units without a valid page.
    pub dead_victims: u64,
    /// Pages moved.
    pub copied_pages: u64,
    /// Times that a host write waited for whole units to be collected, because too few were free.
    pub forced: u64,
}

/// Why the drive stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No domain has a free page left, and collection gains none.
    OutOfFreeBlocks,
    /// The budget of program/erase cycles is used up.
    WornOut,
}

/// The drive stopped at an extent of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Index of the extent.
    pub extent: usize,
    /// Reason.
    pub failure: Failure,
}
