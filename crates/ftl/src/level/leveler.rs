//! What every wear-leveler does: the contract of the slot.
//!
//! A leveler hears what becomes of units: closed, emptied, erased, read. It judges each victim before that is collected, and
//! it may ask for jobs. It keeps in its own state what it needs to know and the mechanism does not; the mechanism
//! (`leveling.rs`) counts the erases of each domain, hands out random numbers and carries out what is asked for.
//!
//! What it hears comes often: O(1) each, without allocation. It is asked for a judgement a few times for each unit that is
//! collected, and for a job only after it has said that it wants one.

use super::{LevelCounters, OpenSets};
use crate::jobs::Request;
use crate::jobs::request::DriveView;
use crate::units::Units;
use floatgate_base::{DomainId, Given, IdSlice, Ppn, Rng, UnitId};
use floatgate_flash::Layout;
use floatgate_nand::LeadLimit;

/// Victims that may be passed over for one that is taken.
pub const PASSED_MAX: usize = 8;
/// Units that a leveler may look at for one judgement.
pub const LOOKS_MAX: usize = 8;

/// What a leveler knows of the drive when it judges a victim.
#[derive(Clone, Copy)]
pub struct VictimView<'a> {
    /// Valid pages of every unit, and when it was closed.
    pub units: &'a Units,
    /// Shape of the drive.
    pub layout: &'a Layout,
    /// Erases of every unit since counting began.
    pub erases: &'a IdSlice<UnitId, u32>,
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// Host page writes so far.
    pub now: u64,
    /// Domain of the victim.
    pub domain: DomainId,
}

/// What the mechanism keeps for a leveler that asks for jobs.
pub struct Books<'a> {
    /// What was done: the leveler adds what only it knows.
    pub did: &'a mut LevelCounters,
    /// Units that stay open from one of its jobs to the next.
    pub sets: &'a mut OpenSets,
}

/// What is to become of a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is collected.
    Collect,
    /// It is collected, and the data of this closed unit of its domain move in once it is erased.
    Swap(UnitId),
    /// The victim policy chooses again without it, up to [`PASSED_MAX`] times for one victim.
    PassOver,
}

/// The parameters of a wear-leveler.
pub trait Params {
    /// What it keeps.
    type State: Leveler;

    /// With the values that are given to the parameters of its row.
    fn of(given: &Given) -> Self
    where
        Self: Sized;

    /// The state of a leveler on an empty drive.
    fn state(&self, layout: &Layout) -> Self::State;

    /// How far ahead of the mean block it lets a block get before it acts. None where it does not go by that: then only its work shows
    /// how wear spreads.
    fn lead_limit(&self) -> Option<LeadLimit> {
        None
    }
}

/// A wear-leveler with its state. What it does not need to hear it leaves out.
pub trait Leveler {
    /// A unit was closed.
    fn closed(&mut self, _domain: DomainId, _unit: UnitId) {}

    /// A closed unit is to be emptied.
    fn emptying(&mut self, _domain: DomainId, _unit: UnitId) {}

    /// A unit was erased, for the `erases`th time since counting began. Whether it wants to be asked for a job.
    fn erased(&mut self, _domain: DomainId, _unit: UnitId, _erases: u32) -> bool {
        false
    }

    /// Whether it wants to hear of reads; asked once.
    fn needs_reads(&self) -> bool {
        false
    }

    /// The host read a page, whose unit may be open. Whether it wants to be asked for a job.
    fn read(&mut self, _domain: DomainId, _unit: UnitId, _page: Ppn) -> bool {
        false
    }

    /// What is to become of a victim, in a domain whose units were erased `mean_erases` times on average. `may_pass` says
    /// whether it may be passed over.
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

    /// The next job that it wants, after something that it heard in this domain; see [`crate::jobs::request`]. Asked until
    /// there is none.
    fn next_request(
        &mut self,
        _drive: &mut DriveView<'_>,
        _domain: DomainId,
        _books: &mut Books<'_>,
    ) -> Option<Request> {
        None
    }

    /// A job that it asked for, whose source is this unit, is done; or it was dropped, because the unit is not what was meant
    /// any more, or too few units are free.
    fn ended(&mut self, _domain: DomainId, _unit: UnitId, _done: bool) {}

    /// Learns how often units were erased, on a drive that was restored or whose wear goes on by leaps.
    fn learn_wear(&mut self, _erases: &IdSlice<UnitId, u32>) {}

    /// Adds erases that wear goes on by in a leap: no call of `erased` announced them.
    fn leapt(&mut self, _erases: u64) {}

    /// Counting begins: wear is 0 again.
    fn restart(&mut self) {}

    /// Whether this is the state of a drive of such a layout.
    fn fits(&self, _layout: &Layout) -> bool {
        true
    }

    /// Checks what it keeps of closed units; `closed` says which those are.
    ///
    /// # Errors
    /// Says what is wrong.
    fn audit(&self, _layout: &Layout, _closed: &IdSlice<UnitId, bool>) -> Result<(), String> {
        Ok(())
    }
}
