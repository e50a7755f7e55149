//! What every victim policy does: the contract of the slot.
//!
//! A policy names the block that is collected next in a domain. It may read what [`View`] shows and draw random numbers
//! from the stream that it is handed; it changes nothing and keeps nothing between two calls. The mechanism keeps the
//! index of closed units that the policy declares, and none else, so that no policy does bookkeeping of its own.
//!
//! A policy is asked once for each block that is collected, and once more for each that wear-leveling passes over. So it
//! may take some time, but it must not look at all units: O(1), O(log units) or O(pages of a unit).

use crate::index::{Index, IndexKind};
use crate::units::Units;
use floatgate_base::{DomainId, Given, IdSlice, Rng, UnitId};
use floatgate_flash::Layout;
use floatgate_theory::Policy as Law;

/// What a policy sees when it chooses: the index that it declared, and the units' state.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The index of the declared kind.
    pub index: &'a Index,
    /// Valid counts and times of closing.
    pub units: &'a Units,
    /// Erases of every unit.
    pub erases: &'a IdSlice<UnitId, u32>,
    /// Shape of the drive.
    pub layout: &'a Layout,
    /// Host page writes so far.
    pub now: u64,
    /// Domain to choose in.
    pub domain: DomainId,
}

impl View<'_> {
    /// Valid pages of a unit.
    #[must_use]
    pub fn valid(&self, unit: UnitId) -> u32 {
        self.units.meta[unit].valid
    }

    /// `Some(unit)` unless collecting it would gain nothing.
    pub(super) fn worth(&self, unit: UnitId) -> Option<UnitId> {
        (self.valid(unit) < self.layout.pages_per_unit()).then_some(unit)
    }
}

/// A victim policy with its parameters.
pub trait VictimPolicy {
    /// With the values that are given to the parameters of its row.
    fn of(given: &Given) -> Self
    where
        Self: Sized;

    /// The index that the mechanism keeps for it. Asked once, when the drive is made; [`View::index`] is of this kind. A
    /// drive in a file can be taken over by every policy that declares the same kind.
    fn index_kind(&self) -> IndexKind;

    /// The unit to collect next: a closed unit of the view's domain, which is one that the index holds. None says that
    /// nothing is to be gained there. A unit all of whose pages are valid may be named (FIFO must move on); the mechanism
    /// stops where that gains nothing. The same view and the same random numbers must give the same unit.
    fn pick(&self, view: View<'_>, rng: &mut Rng) -> Option<UnitId>;

    /// The law by which the valid pages of its blocks spread under uniform writes, where one is known: drives can then
    /// start in their steady state.
    fn law(&self) -> Option<Law> {
        None
    }
}
