//! How a drive is managed, and why it may stop.

use crate::collect::{ByContext, Victim};
use crate::dpes::Dpes;
use crate::level::Level;
use crate::metadata::Metadata;
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
    /// To the plane given by its logical page number.
    Static,
}

/// Names of the allocations with what they do.
pub const ALLOCATIONS: &[(&str, &str)] =
    &[("dynamic", "pages go to the planes in turn"), ("static", "the logical page number names the plane")];

/// Schedule of paced victims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Host page writes, since counting began, before the first interval.
    pub from_writes: u64,
    /// Host page writes per victim from then on; at least 1.
    pub every_writes: u64,
}

impl Pace {
    /// No victim is ever due.
    pub(crate) const NEVER: u64 = u64::MAX;

    /// Returns the host page write at which the first victim is due, counting from `now`.
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
    /// Read-disturb model and its manager; none if reads do not disturb.
    pub disturb: Option<(Disturb, Reclaim)>,
    /// Modes of erases and their policy; none if every erase is an ordinary one.
    pub dpes: Option<Dpes>,
    /// Deduplication and compression, if either is on.
    pub reduce: Option<Reduce>,
    /// Whether the drive has idle time in which jobs that can wait take steps.
    pub idle_jobs: bool,
    /// Idle-time jobs collect in a domain with fewer free units than this; 0 for never.
    pub background_free_units: u32,
    /// Victim policy.
    pub victim: Victim,
    /// Separator.
    pub separate: Separate,
    /// Wear-leveler.
    pub level: Level,
    /// Which free unit is opened next.
    pub free_choice: FreeChoice,
    /// Collection starts when a domain has fewer free units than this.
    pub trigger_free_units: u32,
    /// Collection stops when a domain has this many free units; at least the trigger.
    pub stop_free_units: u32,
    /// Whether jobs take steps along with host writes; otherwise a host write that needs room waits for whole units.
    pub incremental: bool,
    /// Power-loss protection: pages that the controller gathers into a flash page survive a power cut.
    pub plp: bool,
    /// Whether a page that the host reads before writing it is programmed first, as in SSDsim; only without reduction.
    pub programs_unwritten: bool,
    /// Paced collection in addition to the trigger, if on.
    pub pace: Option<Pace>,
    /// Share of dead pages beyond which a host page write collects another unit, however many are free.
    pub garbage_share: Option<f64>,
    /// The map on flash, if it costs programs.
    pub metadata: Option<Metadata>,
    /// Timing of collection by program contexts, if contexts decide.
    pub timing: Option<ByContext>,
    /// Seed of the run.
    pub seed: u64,
}

impl Setup {
    /// Checks whether a policy comes from outside, which may make faults.
    #[inline(always)]
    pub(crate) fn has_plugin(&self) -> bool {
        self.victim.is_plugin()
            || matches!(self.separate, Separate::Plugin(_))
            || matches!(self.level, Level::Plugin(_))
    }

    /// Checks whether the setup needs the code with all features.
    pub(crate) fn needs_all(&self) -> bool {
        self.disturb.is_some()
            || self.dpes.is_some()
            || self.programs_unwritten
            || self.reduce.is_some()
            || matches!(self.separate, Separate::Labelled(_))
            || self.pace.is_some()
            || self.garbage_share.is_some()
            || self.incremental
            || self.metadata.is_some()
            || self.timing.is_some()
    }

    /// Returns the logical pages of the host and of the metadata.
    #[must_use]
    pub fn mapped_pages_max(&self) -> u32 {
        let metadata = self.metadata.map_or(0, |metadata| metadata.pages());
        self.logical_pages.saturating_add(u32::try_from(metadata).unwrap_or(u32::MAX))
    }

    /// Checks whether a drive of this setup may continue under another one: they may differ only in when collection
    /// works.
    #[must_use]
    pub fn can_continue_as(&self, other: &Self) -> bool {
        let Self {
            incremental,
            idle_jobs,
            background_free_units,
            trigger_free_units,
            stop_free_units,
            timing,
            ..
        } = *other;
        let alike = Self {
            incremental,
            idle_jobs,
            background_free_units,
            trigger_free_units,
            stop_free_units,
            timing,
            ..*self
        };
        // Some parameters do not implement `PartialEq`.
        format!("{alike:?}") == format!("{other:?}")
    }

    /// Returns the setup to assume for a drive that continues under another one. A plain drive can learn to place moved
    /// data apart, if neither separator inspects pages.
    pub(crate) fn learning(&self, other: &Self, is_plain: bool) -> Self {
        let (was, becomes) = (self.separate, other.separate);
        let learns = is_plain
            && !was.inspects_pages()
            && !becomes.inspects_pages()
            && was.streams() <= becomes.streams();
        Self { separate: if learns { becomes } else { was }, ..*self }
    }

    /// Checks whether no drive of this setup can continue under another one ([`crate::Ftl::continue_as`]), whatever its
    /// state.
    #[must_use]
    pub fn can_never_continue_as(&self, other: &Self) -> bool {
        let is_plain = self.reduce.is_none() && self.disturb.is_none();
        !self.learning(other, is_plain).can_continue_as(other)
    }

    /// Returns a basic setup for `logical_pages`: greedy collection from two free units on, one stream. Callers
    /// override the rest.
    ///
    /// # Panics
    /// Never: the victim policy exists.
    #[must_use]
    pub fn plain(logical_pages: u32) -> Self {
        Self {
            logical_pages,
            allocation: Allocation::Dynamic,
            disturb: None,
            dpes: None,
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
            metadata: None,
            timing: None,
            seed: 1,
        }
    }
}

/// Choices for the read of a page that was never written, each with its description.
pub const UNWRITTEN_READS: &[(&str, &str)] = &[
    ("nothing", "the flash is not read, as on drives"),
    ("program", "the page is programmed first, as SSDsim does"),
];

/// Counters of garbage collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GcCounters {
    /// Units collected.
    pub victims: u64,
    /// Of these, units without a valid page.
    pub dead_victims: u64,
    /// Pages moved.
    pub copied_pages: u64,
    /// Host writes that waited for whole units to be collected because too few were free.
    pub forced: u64,
}

/// Why the drive stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No domain has a free page left, and collection gains none.
    OutOfFreeBlocks,
    /// The budget of program/erase cycles is used up.
    WornOut,
    /// A policy from outside made this fault.
    Policy(&'static str),
}

/// The drive stopped at an extent of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Index of the extent.
    pub extent: usize,
    /// Reason.
    pub failure: Failure,
}
