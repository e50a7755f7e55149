//! The contract of read-disturb managers.
//!
//! The mechanism (`reclaiming.rs`) keeps two disturbance sums per block: one as the manager counts, one of the model.
//! It notifies the manager when a sum reaches a watched point, and carries out the returned action. Whatever the
//! manager does, a block is reclaimed before a read could exceed the maximum.

use super::sums::Counting;
use super::view::DisturbView;
use crate::jobs::{Request, Urgency};
use floatgate_base::{ChosenPolicy, DomainId, Ppn, UnitId};
use floatgate_flash::Layout;

/// A sum that has reached a watched point.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// The block, numbered over the drive.
    pub block: u32,
    /// Its unit.
    pub unit: UnitId,
    /// The point that was reached, thousandths of a read.
    pub point: u32,
    /// Its sum, which may lie beyond.
    pub sum: u32,
    /// The most that a block endures.
    pub max: u32,
}

/// What a manager requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// No action.
    None,
    /// Reclaim the unit in idle time, as [`Manager::request`] specifies.
    Reclaim,
    /// Make replicas of these pages of the unit.
    Replicate(Vec<Ppn>),
    /// Put the replicas that the unit holds in the place of their originals.
    Promote,
}

/// The parameters of a manager.
pub trait Params {
    /// State of the manager.
    type State: Manager;

    /// Whether it requests jobs in idle time.
    const PROACTIVE: bool;

    /// Creates the parameters from their settings.
    fn of(settings: &ChosenPolicy) -> Self
    where
        Self: Sized;

    /// Returns the share of the maximum at which a block is reclaimed at the latest; infinity if none is. `at_once`:
    /// jobs do not wait for idle time.
    fn reclaims_at(&self, at_once: bool) -> f64;

    /// Returns the state of the manager on an empty drive.
    fn state(&self, layout: &Layout) -> Self::State;
}

/// A manager with its state. Implement only the hooks it needs.
pub trait Manager {
    /// Returns how reads count.
    fn counting(&self) -> Counting;

    /// Checks whether blocks are reclaimed at all.
    fn acts(&self) -> bool {
        true
    }

    /// Returns the share of the maximum at which a block is reclaimed on demand.
    fn at(&self) -> f64 {
        1.0
    }

    /// Returns the next watched point above `sum`; `u32::MAX` for none.
    fn next_watch(&self, _sum: u32, _max: u32) -> u32 {
        u32::MAX
    }

    /// Returns the action for a sum that has reached a watched point.
    fn reached(&mut self, _drive: &mut DisturbView<'_>, _reached: Reached) -> Action {
        Action::None
    }

    /// Checks whether it acts at the next read of a unit again, because it has done only a part.
    fn continues(&self, _unit: UnitId) -> bool {
        false
    }

    /// Takes the parameters of another state of the same manager.
    fn take_params(&mut self, _from: &Self)
    where
        Self: Sized,
    {
    }

    /// Requests the reclaim of a closed unit: all its live pages move, and it is erased.
    fn request(&mut self, drive: &mut DisturbView<'_>, unit: UnitId, urgency: Urgency) -> Request;

    /// Notes a host read of a page. Called for every read: O(1), a few instructions.
    #[inline(always)]
    fn read(&mut self, _ppn: Ppn) {}

    /// Prefetches what [`Manager::read`] will change.
    #[inline(always)]
    fn prefetch(&self, _ppn: Ppn) {}

    /// Notes that a unit was closed.
    fn closed(&mut self, _domain: DomainId, _unit: UnitId) {}

    /// Notes that a closed unit will be emptied.
    fn emptying(&mut self, _domain: DomainId, _unit: UnitId) {}

    /// Notes that a unit was erased.
    fn erased(&mut self, _layout: &Layout, _unit: UnitId) {}

    /// Returns the pages at the end of each block that take replicas.
    fn tail_pages(&self) -> u32 {
        0
    }

    /// Returns the unit that takes the next replica of a page of `source`; it must be closed and have room in its tail.
    fn holder(&mut self, _drive: &mut DisturbView<'_>, _source: UnitId) -> Option<UnitId> {
        None
    }

    /// Checks whether a free unit takes replicas when [`Manager::holder`] has no unit for them.
    fn opens_holders(&self) -> bool {
        false
    }

    /// Returns the bytes of its tables.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Checks whether this is the state of a drive of this layout.
    fn fits(&self, _layout: &Layout) -> bool {
        true
    }
}
