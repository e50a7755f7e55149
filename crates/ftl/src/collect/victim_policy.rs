//! The contract of victim policies.
//!
//! A policy selects the block that is collected next in a domain. It may read what [`View`] shows and draw random
//! numbers from the stream passed to it. It changes nothing and keeps nothing between two calls. The mechanism keeps
//! the index of closed units that the policy declares; a policy needs no bookkeeping of its own.
//!
//! A policy is called once per collected block, and once more per block that wear-leveling vetoes. It may take some
//! time, but it must not visit all units: O(1), O(log units) or O(pages of a unit).

use crate::faults::Faults;
use crate::index::{Index, IndexKind};
use crate::units::Units;
use floatgate_base::{ChosenPolicy, DomainId, IdSlice, Rng, UnitId};
use floatgate_flash::Layout;
use floatgate_theory::Policy as Law;

/// Inputs of a victim policy: the index that it declared, and the state of units.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The index of the declared kind.
    pub index: &'a Index,
    /// Valid counts and times of closing.
    pub units: &'a Units,
    /// Erases of each unit.
    pub erases: &'a IdSlice<UnitId, u32>,
    /// Shape of the drive.
    pub layout: &'a Layout,
    /// Host page writes so far.
    pub now: u64,
    /// Domain to choose in.
    pub domain: DomainId,
    /// Faults of policies from outside.
    pub faults: &'a Faults,
}

impl View<'_> {
    /// Returns the valid pages of a unit.
    #[must_use]
    pub fn valid(&self, unit: UnitId) -> u32 {
        self.units.meta[unit].valid
    }

    /// Returns `Some(unit)` unless collecting it gains nothing.
    pub(super) fn worth(&self, unit: UnitId) -> Option<UnitId> {
        (self.valid(unit) < self.layout.pages_per_unit()).then_some(unit)
    }
}

/// A victim policy with its parameters.
pub trait VictimPolicy {
    /// Creates the policy with the settings of its parameters.
    fn of(settings: &ChosenPolicy) -> Self
    where
        Self: Sized;

    /// Returns the kind of index that the mechanism keeps for the policy; called once, when the drive is made.
    /// [`View::index`] is of this kind. A saved drive can continue under any policy that declares the same kind.
    fn index_kind(&self) -> IndexKind;

    /// Selects the unit to collect next among the closed units of the view's domain, all of which the index holds. None
    /// means that collection gains nothing there. A unit with only valid pages may be selected (FIFO must move on); the
    /// mechanism stops when that gains nothing. The result depends only on the view and the random numbers.
    fn pick(&self, view: View<'_>, rng: &mut Rng) -> Option<UnitId>;

    /// Returns the distribution law of valid pages in blocks under uniform writes, if one is known: drives can then
    /// start in their steady state.
    fn law(&self) -> Option<Law> {
        None
    }
}
