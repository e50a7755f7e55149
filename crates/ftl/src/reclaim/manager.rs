//! What every read-disturb manager does: the contract of the slot.
//!
//! The mechanism (`reclaiming.rs`) keeps for every block the sum of what its reads disturb, as the manager counts, and beside it
//! the sum of the model. It tells the manager when a sum reaches a point that the manager watches, and carries out what that asks
//! for. Whatever the manager does, a block is reclaimed before a read could exceed the maximum.

use super::sums::Counting;
use super::view::DisturbView;
use crate::jobs::{Request, Urgency};
use floatgate_base::{DomainId, Given, Ppn, UnitId};
use floatgate_flash::Layout;

/// A sum that has reached a point that is watched.
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
    /// The most that a block stands.
    pub max: u32,
}

/// What a manager wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    None,
    /// The unit is reclaimed in idle time, as [`Manager::request`] says.
    Reclaim,
    /// These pages of the unit get replicas.
    Replicate(Vec<Ppn>),
    /// The replicas that the unit holds take the place of their originals.
    Promote,
}

/// The parameters of a manager.
pub trait Params {
    /// What it keeps.
    type State: Manager;

    /// Whether it asks for jobs in idle time.
    const PROACTIVE: bool;

    /// With the values that are given to the parameters of its row.
    fn of(given: &Given) -> Self
    where
        Self: Sized;

    /// The state of a manager on an empty drive.
    fn state(&self, layout: &Layout) -> Self::State;
}

/// A manager with its state. What it does not need it leaves out.
pub trait Manager {
    /// What reads count as.
    fn counting(&self) -> Counting;

    /// Whether blocks are reclaimed at all.
    fn acts(&self) -> bool {
        true
    }

    /// Share of the maximum at which a block is reclaimed on demand.
    fn at(&self) -> f64 {
        1.0
    }

    /// The first sum above `sum` at which it wants to be told; `u32::MAX` for none.
    fn next_watch(&self, _sum: u32, _max: u32) -> u32 {
        u32::MAX
    }

    /// A sum has reached a point that it watches.
    fn reached(&mut self, _drive: &mut DisturbView<'_>, _reached: Reached) -> Action {
        Action::None
    }

    /// Goes on with the parameters of another state of the same manager.
    fn take_params(&mut self, _from: &Self)
    where
        Self: Sized,
    {
    }

    /// How a closed unit is reclaimed. All its live pages move, and it is erased.
    fn request(&mut self, drive: &mut DisturbView<'_>, unit: UnitId, urgency: Urgency) -> Request;

    /// The host read a page. Comes with every read: O(1), a few instructions.
    #[inline(always)]
    fn read(&mut self, _ppn: Ppn) {}

    /// Asks for what [`Manager::read`] will change.
    #[inline(always)]
    fn prefetch(&self, _ppn: Ppn) {}

    /// A unit was closed.
    fn closed(&mut self, _domain: DomainId, _unit: UnitId) {}

    /// A closed unit is to be emptied.
    fn emptying(&mut self, _domain: DomainId, _unit: UnitId) {}

    /// A unit was erased.
    fn erased(&mut self, _layout: &Layout, _unit: UnitId) {}

    /// Pages at the end of each block that take replicas.
    fn tail_pages(&self) -> u32 {
        0
    }

    /// The unit that takes the next replica of a page of `source`; it is closed and has room in its tail.
    fn holder(&mut self, _drive: &mut DisturbView<'_>, _source: UnitId) -> Option<UnitId> {
        None
    }

    /// Bytes of its tables.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Whether this is the state of a drive of such a layout.
    fn fits(&self, _layout: &Layout) -> bool {
        true
    }
}
