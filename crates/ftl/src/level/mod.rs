//! Slot `ftl.level`: when and how wear is evened out beyond the choice of free blocks. One file and one row of
//! `levelers!` per policy; [`Leveler`] is the contract, `leveling` the mechanism's side.

pub mod adaptive;
mod block_erasing_table;
mod cold;
mod counters;
pub mod gap;
pub mod hot_cold_swap;
pub mod lazy;
mod least_erased;
mod leveler;
mod leveling;
mod none;
mod open_sets;
mod plane_balance;
pub mod plugin;
pub mod read_balance;
#[cfg(test)]
mod read_balance_tests;
#[cfg(test)]
pub(crate) mod relocating_tests;
mod set_units;
pub mod swl;

pub use counters::LevelCounters;
pub use hot_cold_swap::Params as HotColdSwap;
pub use leveler::{Books, CHECKS_MAX, Leveler, PASSED_MAX, Params, Verdict, VictimView};
pub(crate) use leveling::Leveling;
pub use open_sets::OpenSets;
pub use read_balance::Params as ReadBalance;
pub use swl::Params as Swl;

use crate::jobs::Request;
use crate::jobs::request::DriveView;
use floatgate_base::{Acts, ChosenPolicy, DomainId, IdSlice, PolicyInfo, Ppn, Rng, Slot, UnitId};
use floatgate_flash::Layout;
use floatgate_nand::LeadLimit;
use floatgate_plugin::Plugin;
use serde::{Deserialize, Serialize};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "ftl.level",
    selector: "policy",
    what: "wear-leveler",
    summary: "Wear-leveling.",
    policies: POLICIES,
    common: &[],
    acts: Acts::Always,
};

/// One row per leveler that does anything: its variant and its module, which has `INFO` and `Params` with their
/// `State`, a [`Leveler`]. Those from outside have rows of their own ([`plugin`]).
macro_rules! levelers {
    ($($(#[$on:meta])* $variant:ident: $module:ident,)*) => {
        /// All wear-levelers.
        pub const POLICIES: &[PolicyInfo] = &[none::INFO, $($(#[$on])* $module::INFO,)*];

        /// A wear-leveler with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Level {
            /// See [`none`].
            None,
            $(
                $(#[$on])*
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant($module::Params),
            )*
            /// See [`plugin`].
            Plugin(plugin::Params),
        }

        impl Level {
            /// Creates the leveler with its settings.
            ///
            /// # Panics
            /// When it is of another slot.
            #[must_use]
            pub fn of(settings: &ChosenPolicy) -> Self {
                if let Some(params) = plugin::Params::loaded(settings) {
                    return Self::Plugin(params);
                }
                match settings.name() {
                    name if name == none::INFO.name => Self::None,
                    $($(#[$on])* name if name == $module::INFO.name => Self::$variant($module::Params::of(settings)),)*
                    name => panic!("{name} is not a wear-leveler"),
                }
            }

            /// Returns the largest lead over the mean block that its rule allows, if it bounds one.
            #[must_use]
            pub fn lead_limit(self) -> Option<LeadLimit> {
                match self {
                    Self::None => None,
                    $($(#[$on])* Self::$variant(params) => params.lead_limit(),)*
                    Self::Plugin(params) => params.lead_limit(),
                }
            }
        }

        /// State of any leveler.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum LevelerState {
            $($(#[$on])* $variant($module::State),)*
            Plugin(plugin::State),
        }

        impl LevelerState {
            /// Creates the state for an empty drive; none for [`Level::None`].
            pub fn of(level: Level, layout: &Layout) -> Option<Self> {
                match level {
                    Level::None => None,
                    $($(#[$on])* Level::$variant(params) => Some(Self::$variant(params.state(layout))),)*
                    Level::Plugin(params) => Some(Self::Plugin(params.state(layout))),
                }
            }
        }

        /// Runs `$body` with `$state` bound to the state of the leveler.
        macro_rules! with_leveler {
            ($leveler:expr, $state:ident => $body:expr) => {
                match $leveler {
                    $($(#[$on])* LevelerState::$variant($state) => $body,)*
                    LevelerState::Plugin($state) => $body,
                }
            };
        }
    };
}

levelers! {
    HotColdSwap: hot_cold_swap,
    Swl: swl,
    ReadBalance: read_balance,
    Lazy: lazy,
    Adaptive: adaptive,
    Gap: gap,
    #[cfg(test)]
    Relocating: relocating_tests,
}

impl Level {
    /// Returns the wear-leveler from outside, if it is one.
    #[must_use]
    pub fn plugin(self) -> Option<&'static Plugin> {
        if let Self::Plugin(params) = self { Some(params.plugin()) } else { None }
    }

    /// Checks whether the leveler must be notified of reads, which can then change what is written.
    #[must_use]
    pub fn needs_reads(self, layout: &Layout) -> bool {
        LevelerState::of(self, layout).is_some_and(|state| state.needs_reads())
    }
}

impl LevelerState {
    /// Checks whether both states belong to the same leveler.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Plugin(one), Self::Plugin(other)) => one.is_like(other),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Returns the first fault of a leveler from outside.
    pub fn fault(&self) -> Option<&'static str> {
        if let Self::Plugin(state) = self { state.fault() } else { None }
    }
}

impl Leveler for LevelerState {
    fn closed(&mut self, domain: DomainId, unit: UnitId) {
        with_leveler!(self, state => state.closed(domain, unit));
    }

    fn emptying(&mut self, domain: DomainId, unit: UnitId) {
        with_leveler!(self, state => state.emptying(domain, unit));
    }

    fn erased(&mut self, domain: DomainId, unit: UnitId, erases: u32) -> bool {
        with_leveler!(self, state => state.erased(domain, unit, erases))
    }

    fn needs_reads(&self) -> bool {
        with_leveler!(self, state => state.needs_reads())
    }

    fn read(&mut self, domain: DomainId, unit: UnitId, page: Ppn) -> bool {
        with_leveler!(self, state => state.read(domain, unit, page))
    }

    fn review(
        &mut self,
        drive: VictimView<'_>,
        victim: UnitId,
        mean_erases: f64,
        may_pass: bool,
        rng: &mut Rng,
    ) -> Verdict {
        with_leveler!(self, state => state.review(drive, victim, mean_erases, may_pass, rng))
    }

    fn next_request(
        &mut self,
        drive: &mut DriveView<'_>,
        domain: DomainId,
        books: &mut Books<'_>,
    ) -> Option<Request> {
        with_leveler!(self, state => state.next_request(drive, domain, books))
    }

    fn job_ended(&mut self, domain: DomainId, unit: UnitId, done: bool) {
        with_leveler!(self, state => state.job_ended(domain, unit, done));
    }

    fn leapt(&mut self, erases: u64) {
        with_leveler!(self, state => state.leapt(erases));
    }

    fn learn_wear(&mut self, erases: &IdSlice<UnitId, u32>) {
        with_leveler!(self, state => state.learn_wear(erases));
    }

    fn restart(&mut self) {
        with_leveler!(self, state => state.restart());
    }

    fn fits(&self, layout: &Layout) -> bool {
        with_leveler!(self, state => state.fits(layout))
    }

    fn audit(&self, layout: &Layout, closed: &IdSlice<UnitId, bool>) -> Result<(), String> {
        with_leveler!(self, state => state.audit(layout, closed))
    }
}
