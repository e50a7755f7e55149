//! What every throttle says: the contract of the slot.
//!
//! A throttle is a combination of parts, each in a file of its own, and the [`super::Gate`] acts by them. For each page
//! write it asks the parts in turn; nothing else of the drive is changed by a throttle.
//!
//! - The [`Budget`] says how many flash bytes may be written in all up to a moment, and bounds what an epoch may write, so
//!   that the target is met whatever the other parts allow. It sees cycles and rest, never blocks.
//! - A throttle that plans works in [`super::Epochs`]: the [`Regulator`] allots the next one a capacity and what it may
//!   borrow, and [`Delays`] says how long every page write of it is delayed. One that does not plan has a single epoch, the
//!   life, and delays nothing.
//! - The [`Regulator`] also says what a period may write. A write that finds no room waits for a later period.
//!
//! Whatever the parts: no more flash bytes than the budget are written by the target time (with a token bucket: but for
//! some two hundred page writes of debt, and only where waits have no bound), writes keep their order, and the same
//! demand gives the same delays (`gate_tests.rs` holds every row of the table to that). O(1) per page write; a plan for
//! an epoch may cost `n ln n` of the windows remembered.

use super::{Budget, Delays, Regulator};

/// A throttle. Its parameters are those of [`super::Params`] that its row has.
pub trait Throttling {
    /// What it is made of.
    const PARTS: Parts;
}

/// What a throttle is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Which cycles it counts on.
    pub budget: Budget,
    /// Whether it plans in epochs; else the capacity is spread evenly over the whole life.
    pub plans: bool,
    /// How the delay of an epoch's page writes follows from what was written before.
    pub delays: Delays,
    /// How capacity is given out.
    pub regulator: Regulator,
}

impl Parts {
    /// Whether it predicts demand at all.
    #[must_use]
    pub fn predicts(&self) -> bool {
        self.delays == Delays::Predicted
    }
}
