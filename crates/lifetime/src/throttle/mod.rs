//! Slot `lifetime.throttle`: how long a write is held back. One file per policy, one row of `throttles!` each;
//! [`Throttling`] is the contract.
//!
//! A throttle is a combination of parts: a [`Budget`] (how much may be written), a predictor, a choice of epoch
//! lengths, an estimator of delays, and a [`Regulator`], each in a separate file. [`Epochs`] plans the epochs with
//! them, and the [`Gate`] lets page writes through.

mod backlog;
mod budget;
mod delay;
mod dynamic;
mod epoch_length;
mod epochs;
mod gate;
#[cfg(test)]
mod gate_tests;
mod groups;
mod history;
mod incremental;
#[cfg(test)]
mod managed_tests;
mod none;
mod params;
mod passed;
mod periods;
mod plugin;
mod predictor;
mod qos;
mod ready_optimistic;
mod ready_pessimistic;
mod record;
pub mod regulator;
mod rows;
mod setup;
mod static_cap;
mod throttling;

pub use budget::Budget;
pub use delay::Delays;
pub use epoch_length::Predictions;
pub use epochs::{Epoch, Epochs};
pub use gate::{Gate, Way};
pub use params::Params;
pub use passed::Passed;
pub use periods::GateState;
pub use record::Record;
pub use regulator::Regulator;
pub use setup::{Setup, View};
pub use throttling::{Parts, Throttling};

use floatgate_base::{Acts, ChosenPolicy, PolicyInfo, Slot};
use floatgate_plugin::Plugin;

/// The slot.
pub const SLOT: Slot = Slot {
    key: "lifetime.throttle",
    selector: "policy",
    what: "throttle",
    summary: "Throttling of writes.",
    policies: POLICIES,
    common: &[rows::TARGET],
    acts: Acts::Always,
};

/// One row per throttle that holds writes back: its variant and its module, which has `INFO` and `Policy`, a
/// [`Throttling`].
macro_rules! throttles {
    ($($variant:ident: $module:ident,)*) => {
        /// All throttles.
        pub const POLICIES: &[PolicyInfo] = &[none::INFO, $($module::INFO,)*];

        /// A throttle.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Throttle {
            /// See [`none`].
            None,
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant,
            )*
            /// See [`plugin`].
            Plugin(plugin::Params),
        }

        impl Throttle {
            /// All of floatgate's own, in the order of the table.
            pub const ALL: &[Self] = &[Self::None, $(Self::$variant,)*];

            /// Returns the description of the throttle.
            #[must_use]
            pub fn info(self) -> &'static PolicyInfo {
                match self {
                    Self::None => &none::INFO,
                    $(Self::$variant => &$module::INFO,)*
                    Self::Plugin(params) => params.plugin().info,
                }
            }

            /// Returns its parts; None where writes are never held back.
            #[must_use]
            pub fn parts(self) -> Option<Parts> {
                match self {
                    Self::None => None,
                    $(Self::$variant => Some($module::Policy::PARTS),)*
                    Self::Plugin(params) => Some(Parts::of_outside(params.plugin().policy.needs)),
                }
            }
        }
    };
}

throttles! {
    Static: static_cap,
    Dynamic: dynamic,
    ReadyPessimistic: ready_pessimistic,
    ReadyOptimistic: ready_optimistic,
    Incremental: incremental,
    Qos: qos,
}

impl Throttle {
    /// Returns the configured throttle; its parameters are [`Params`].
    ///
    /// # Panics
    /// The settings belong to another slot.
    #[must_use]
    pub fn of(settings: &ChosenPolicy) -> Self {
        if let Some(params) = plugin::Params::loaded(settings) {
            return Self::Plugin(params);
        }
        let policy = Self::ALL.iter().find(|throttle| throttle.info().name == settings.name());
        *policy.unwrap_or_else(|| panic!("{} is not a throttle", settings.name()))
    }

    /// Returns the throttle from outside, if it is one.
    #[must_use]
    pub fn plugin(self) -> Option<&'static Plugin> {
        if let Self::Plugin(params) = self { Some(params.plugin()) } else { None }
    }
}
