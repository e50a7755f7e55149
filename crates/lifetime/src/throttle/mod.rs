//! Slot `lifetime.throttle`: how long a write is held back. One file a policy, one row of [`POLICIES`] each.
//!
//! A throttle is a combination of parts: a [`Budget`] (how much may be written), a predictor, a choice of epoch
//! lengths, an estimator of delays, and a [`Regulator`], each in a file of its own. [`Epochs`] plans with them from one
//! epoch to the next, and the [`Gate`] lets page writes through.

mod budget;
mod delay;
mod dynamic;
mod epoch_length;
mod epochs;
mod gate;
#[cfg(test)]
mod gate_tests;
mod history;
mod none;
mod passed;
mod predictor;
mod ready_optimistic;
mod ready_pessimistic;
pub mod regulator;
mod setup;
mod static_cap;

pub use budget::Budget;
pub use epoch_length::Predictions;
pub use epochs::{Epoch, Epochs};
pub use gate::{Gate, GateState, Record};
pub use passed::Passed;
pub use regulator::Regulator;
pub use setup::{Params, Setup, View};

use floatgate_base::{ParamInfo, PolicyInfo};

/// All throttles.
pub const POLICIES: &[PolicyInfo] =
    &[none::INFO, static_cap::INFO, dynamic::INFO, ready_pessimistic::INFO, ready_optimistic::INFO];

/// Parameters that all throttles but `none` share.
pub const COMMON_PARAMS: &[ParamInfo] = &[
    ParamInfo::new("target_years", "years that the drive should last; default 5"),
    ParamInfo::new("period_s", "time in which a regulator gives out one share; default 1"),
];

/// Parameters of the throttles that plan in epochs.
pub const EPOCH_PARAMS: &[ParamInfo] = &[
    ParamInfo::new(
        "unit_window_s",
        "windows by which demand is remembered, and the first epoch; default 600",
    ),
    ParamInfo::new("history_s", "how much demand is remembered; default two weeks"),
    ParamInfo::new("epoch_s", "epochs of just this length; default: chosen by demand"),
    ParamInfo::new("error_max", "a prediction that is off by no less is wrong; default 0.25"),
    ParamInfo::new(
        "errors_in_a_row",
        "wrong predictions before the length of epochs is chosen anew; default 3",
    ),
    ParamInfo::new("pairs_min", "pairs of epochs that a candidate length must have; default 1"),
];

/// A throttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throttle {
    /// See [`none`].
    None,
    /// See [`static_cap`].
    Static,
    /// See [`dynamic`].
    Dynamic,
    /// See [`ready_pessimistic`].
    ReadyPessimistic,
    /// See [`ready_optimistic`].
    ReadyOptimistic,
}

/// What a throttle is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Which cycles it counts on.
    pub budget: Budget,
    /// Whether it plans in epochs and delays every write; else the capacity is spread evenly over the whole life.
    pub plans: bool,
    /// How capacity is given out.
    pub regulator: Regulator,
}

impl Throttle {
    /// The throttle of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        const ALL: [Throttle; 5] = [
            Throttle::None,
            Throttle::Static,
            Throttle::Dynamic,
            Throttle::ReadyPessimistic,
            Throttle::ReadyOptimistic,
        ];
        ALL.into_iter().find(|throttle| throttle.info().name == name)
    }

    /// What it says of itself.
    #[must_use]
    pub fn info(self) -> &'static PolicyInfo {
        match self {
            Self::None => &none::INFO,
            Self::Static => &static_cap::INFO,
            Self::Dynamic => &dynamic::INFO,
            Self::ReadyPessimistic => &ready_pessimistic::INFO,
            Self::ReadyOptimistic => &ready_optimistic::INFO,
        }
    }

    /// Its parts; none where writes are never held back.
    #[must_use]
    pub fn parts(self) -> Option<Parts> {
        match self {
            Self::None => None,
            Self::Static => Some(static_cap::PARTS),
            Self::Dynamic => Some(dynamic::PARTS),
            Self::ReadyPessimistic => Some(ready_pessimistic::PARTS),
            Self::ReadyOptimistic => Some(ready_optimistic::PARTS),
        }
    }
}
