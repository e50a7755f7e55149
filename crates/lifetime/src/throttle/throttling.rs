//! The contract of throttles.
//!
//! A throttle is a combination of parts, each in a separate file, which the [`super::Gate`] applies to each page write
//! in turn. A throttle changes nothing else in the drive.
//!
//! - The [`Budget`] limits the total flash bytes written up to a moment, and bounds each epoch; the target is therefore
//!   met whatever the other parts allow. It sees cycles and rest, never blocks.
//! - A throttle that plans works in [`super::Epochs`]: the [`Regulator`] allots capacity and spare to the next epoch,
//!   and [`Delays`] computes the delay of its page writes. A throttle that does not plan has a single epoch, the life,
//!   without delays.
//! - The [`Regulator`] also limits the writes of a period. A write that does not fit waits for a later period.
//!
//! Guarantees of all combinations, tested for every row of the table in `gate_tests.rs`:
//! - No more flash bytes than the budget are written by the target time. Exception: with a token bucket, some two
//!   hundred page writes of debt, and only if waits have no bound.
//! - Writes keep their order.
//! - The same demand gives the same delays.
//!
//! Cost: O(1) per page write; a plan for an epoch may take `n ln n` of the windows in memory.

use super::{Budget, Delays, Regulator};
use floatgate_plugin::contract::needs;

/// A throttle. Its parameters are those of [`super::Params`] in its row.
pub trait Throttling {
    /// The parts of the throttle.
    const PARTS: Parts;
}

/// The parts of a throttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The cycles that it counts on.
    pub budget: Budget,
    /// Whether it plans in epochs; else the capacity is spread evenly over the whole life.
    pub plans: bool,
    /// How the delay of an epoch's page writes follows from earlier writes.
    pub delays: Delays,
    /// How capacity is allotted.
    pub regulator: Regulator,
}

impl Parts {
    /// Returns the parts of a throttle from outside, by its flags of [`needs`].
    #[must_use]
    pub(super) fn of_outside(flags: u32) -> Self {
        let has = |flag| flags & flag != 0;
        Self {
            budget: if has(needs::RECOVERY) { Budget::Recovered } else { Budget::Nominal },
            plans: true,
            delays: Delays::Outside,
            regulator: if has(needs::BORROWING) { Regulator::Optimistic } else { Regulator::Pessimistic },
        }
    }

    /// Returns whether it predicts demand.
    #[must_use]
    pub fn predicts(&self) -> bool {
        matches!(self.delays, Delays::Predicted | Delays::Outside)
    }
}
