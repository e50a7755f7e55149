//! Slot `ftl.reclaim`: the response to read disturb, before a block has been read too often. One file and one row of
//! `managers!` per policy; [`Manager`] is the contract, `reclaiming` the mechanism's side, `carry_out` the actions on
//! the drive.

pub mod baseline;
mod carry_out;
mod coldest;
mod healthy;
mod hotness;
mod manager;
mod mixing;
pub mod none;
mod rates;
mod reclaiming;
pub mod redftl;
pub mod redftl_plus;
pub mod redftl_plus_plus;
mod replicate;
pub mod rrb;
mod sums;
mod tails;
#[cfg(test)]
mod tests;
mod units;
mod view;
mod warning;

pub use manager::{Action, Manager, Params, Reached};
pub(crate) use reclaiming::Reclaiming;
pub use reclaiming::{Burst, ReclaimCounters, ReclaimFigures};
pub use sums::Counting;
pub use view::DisturbView;

use crate::jobs::{Request, Urgency};
use floatgate_base::{Acts, ChosenPolicy, DomainId, PolicyInfo, Ppn, Slot, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "ftl.reclaim",
    selector: "policy",
    what: "read-disturb manager",
    summary: "Read-disturb management.",
    policies: POLICIES,
    common: &[],
    acts: Acts::Always,
};

/// The default manager of a drive whose reads disturb.
pub const DEFAULT: &str = baseline::INFO.name;

/// One row per manager: its variant and its module, which has `INFO` and `Params` with their `State`, a [`Manager`].
macro_rules! managers {
    ($($variant:ident: $module:ident,)*) => {
        /// All managers.
        pub const POLICIES: &[PolicyInfo] = &[$($module::INFO,)*];

        /// A manager with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Reclaim {
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant($module::Params),
            )*
        }

        impl Reclaim {
            /// Creates the manager with its settings.
            ///
            /// # Panics
            /// When it is of another slot.
            #[must_use]
            pub fn of(settings: &ChosenPolicy) -> Self {
                match settings.name() {
                    $(name if name == $module::INFO.name => Self::$variant($module::Params::of(settings)),)*
                    name => panic!("{name} is not a read-disturb manager"),
                }
            }

            /// Checks whether it requests jobs in idle time.
            #[must_use]
            pub fn is_proactive(self) -> bool {
                match self {
                    $(Self::$variant(_) => <$module::Params as Params>::PROACTIVE,)*
                }
            }

            /// Returns the share of the maximum at which a block is reclaimed at the latest, infinity if none is;
            /// `at_once` if jobs do not wait for idle time.
            #[must_use]
            pub fn reclaims_at(self, at_once: bool) -> f64 {
                match self {
                    $(Self::$variant(params) => Params::reclaims_at(&params, at_once),)*
                }
            }

            /// Returns its row of the policy table.
            #[must_use]
            pub fn info(self) -> &'static PolicyInfo {
                match self {
                    $(Self::$variant(_) => &$module::INFO,)*
                }
            }
        }

        /// State of any manager.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum ManagerState {
            $($variant($module::State),)*
        }

        impl ManagerState {
            /// Creates the state for an empty drive.
            pub fn of(reclaim: Reclaim, layout: &Layout) -> Self {
                match reclaim {
                    $(Reclaim::$variant(params) => Self::$variant(params.state(layout)),)*
                }
            }

            /// Takes the parameters of this run on a restored drive.
            pub fn take_params(&mut self, from: &Self) {
                match (self, from) {
                    $((Self::$variant(state), Self::$variant(from)) => state.take_params(from),)*
                    _ => {}
                }
            }
        }

        /// Runs `$body` with `$state` bound to the state of the manager.
        macro_rules! with_manager {
            ($manager:expr, $state:ident => $body:expr) => {
                match $manager {
                    $(ManagerState::$variant($state) => $body,)*
                }
            };
        }
    };
}

managers! {
    None: none,
    Baseline: baseline,
    RedFtl: redftl,
    Rrb: rrb,
    RedFtlPlus: redftl_plus,
    RedFtlPlusPlus: redftl_plus_plus,
}

impl ManagerState {
    /// Checks whether both states belong to the same manager.
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl Manager for ManagerState {
    fn counting(&self) -> Counting {
        with_manager!(self, state => state.counting())
    }

    fn acts(&self) -> bool {
        with_manager!(self, state => state.acts())
    }

    fn at(&self) -> f64 {
        with_manager!(self, state => state.at())
    }

    fn next_watch(&self, sum: u32, max: u32) -> u32 {
        with_manager!(self, state => state.next_watch(sum, max))
    }

    fn reached(&mut self, drive: &mut DisturbView<'_>, reached: Reached) -> Action {
        with_manager!(self, state => state.reached(drive, reached))
    }

    fn continues(&self, unit: UnitId) -> bool {
        with_manager!(self, state => state.continues(unit))
    }

    fn request(&mut self, drive: &mut DisturbView<'_>, unit: UnitId, urgency: Urgency) -> Request {
        with_manager!(self, state => state.request(drive, unit, urgency))
    }

    #[inline(always)]
    fn read(&mut self, ppn: Ppn) {
        with_manager!(self, state => state.read(ppn));
    }

    #[inline(always)]
    fn prefetch(&self, ppn: Ppn) {
        with_manager!(self, state => state.prefetch(ppn));
    }

    fn closed(&mut self, domain: DomainId, unit: UnitId) {
        with_manager!(self, state => state.closed(domain, unit));
    }

    fn emptying(&mut self, domain: DomainId, unit: UnitId) {
        with_manager!(self, state => state.emptying(domain, unit));
    }

    fn erased(&mut self, layout: &Layout, unit: UnitId) {
        with_manager!(self, state => state.erased(layout, unit));
    }

    fn tail_pages(&self) -> u32 {
        with_manager!(self, state => state.tail_pages())
    }

    fn holder(&mut self, drive: &mut DisturbView<'_>, source: UnitId) -> Option<UnitId> {
        with_manager!(self, state => state.holder(drive, source))
    }

    fn opens_holders(&self) -> bool {
        with_manager!(self, state => state.opens_holders())
    }

    fn memory_bytes(&self) -> u64 {
        with_manager!(self, state => state.memory_bytes())
    }

    fn fits(&self, layout: &Layout) -> bool {
        with_manager!(self, state => state.fits(layout))
    }
}
