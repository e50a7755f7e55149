//! The contract of wear-levelers.
//!
//! A leveler is notified when units are closed, emptied, erased or read. It may veto each victim before collection, and
//! it may request jobs. It keeps only state that the mechanism lacks. The mechanism (`leveling.rs`) counts the erases
//! of each domain, provides random numbers and runs the requested jobs.
//!
//! Notifications are frequent: O(1) each, without allocation. A leveler reviews a victim a few times per collected
//! unit. It is called for a job only after it has signalled that it has one.

use super::{LevelCounters, OpenSets};
use crate::jobs::Request;
use crate::jobs::request::DriveView;
use crate::units::Units;
use floatgate_base::{ChosenPolicy, DomainId, IdSlice, Ppn, Rng, UnitId};
use floatgate_flash::Layout;
use floatgate_nand::LeadLimit;

/// Victims that may be vetoed before one is taken.
pub const PASSED_MAX: usize = 8;
/// Units that a leveler may check per review.
pub const CHECKS_MAX: usize = 8;

/// What a leveler sees of the drive when it reviews a victim.
#[derive(Clone, Copy)]
pub struct VictimView<'a> {
    /// Valid pages of each unit, and when it was closed.
    pub units: &'a Units,
    /// Shape of the drive.
    pub layout: &'a Layout,
    /// Erases of each unit since counting began.
    pub erases: &'a IdSlice<UnitId, u32>,
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// Host page writes so far.
    pub now: u64,
    /// Domain of the victim.
    pub domain: DomainId,
}

/// State that the mechanism keeps for a leveler that requests jobs.
pub struct Books<'a> {
    /// Counters; the leveler counts what only it knows.
    pub counters: &'a mut LevelCounters,
    /// Units that stay open from one of its jobs to the next.
    pub sets: &'a mut OpenSets,
}

/// The fate of a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is collected.
    Collect,
    /// It is collected, and the data of this closed unit of its domain move in once it is erased.
    Swap(UnitId),
    /// It is vetoed: the victim policy selects again without it, up to [`PASSED_MAX`] times per victim.
    PassOver,
}

/// The parameters of a wear-leveler.
pub trait Params {
    /// State of the leveler.
    type State: Leveler;

    /// Creates the parameters from their settings.
    fn of(settings: &ChosenPolicy) -> Self
    where
        Self: Sized;

    /// Returns the state of the leveler on an empty drive.
    fn state(&self, layout: &Layout) -> Self::State;

    /// Returns the largest lead over the mean block before the leveler acts. None if its rule has no such bound: then
    /// only a simulation shows how wear spreads.
    fn lead_limit(&self) -> Option<LeadLimit> {
        None
    }
}

/// A wear-leveler with its state. Implement only the hooks it needs.
pub trait Leveler {
    /// Notes that a unit was closed.
    fn closed(&mut self, _domain: DomainId, _unit: UnitId) {}

    /// Notes that a closed unit will be emptied.
    fn emptying(&mut self, _domain: DomainId, _unit: UnitId) {}

    /// Notes the `erases`th erase of a unit since counting began. Returns whether the leveler has a job to request.
    fn erased(&mut self, _domain: DomainId, _unit: UnitId, _erases: u32) -> bool {
        false
    }

    /// Checks whether the leveler must be notified of reads; called once.
    fn needs_reads(&self) -> bool {
        false
    }

    /// Notes a host read of a page, whose unit may be open. Returns whether the leveler has a job to request.
    fn read(&mut self, _domain: DomainId, _unit: UnitId, _page: Ppn) -> bool {
        false
    }

    /// Decides the fate of a victim in a domain whose units were erased `mean_erases` times on average. `may_pass` says
    /// whether a veto is possible.
    fn review(
        &mut self,
        _drive: VictimView<'_>,
        _victim: UnitId,
        _mean_erases: f64,
        _may_pass: bool,
        _rng: &mut Rng,
    ) -> Verdict {
        Verdict::Collect
    }

    /// Returns the next job for this domain after a notification, see [`crate::jobs::request`]. Called until it returns
    /// none.
    fn next_request(
        &mut self,
        _drive: &mut DriveView<'_>,
        _domain: DomainId,
        _books: &mut Books<'_>,
    ) -> Option<Request> {
        None
    }

    /// Notes that a requested job, whose source is this unit, is done or was dropped. A job is dropped if the content
    /// of the unit has changed, or too few units are free.
    fn job_ended(&mut self, _domain: DomainId, _unit: UnitId, _done: bool) {}

    /// Updates the erases of all units, on a restored drive or after wear was extrapolated.
    fn learn_wear(&mut self, _erases: &IdSlice<UnitId, u32>) {}

    /// Adds erases by which wear was extrapolated, without calls of `erased`.
    fn leapt(&mut self, _erases: u64) {}

    /// Resets wear to 0 when counting begins.
    fn restart(&mut self) {}

    /// Checks whether this is the state of a drive of this layout.
    fn fits(&self, _layout: &Layout) -> bool {
        true
    }

    /// Checks the state about closed units against `closed`.
    ///
    /// # Errors
    /// Describes the discrepancy.
    fn audit(&self, _layout: &Layout, _closed: &IdSlice<UnitId, bool>) -> Result<(), String> {
        Ok(())
    }
}
