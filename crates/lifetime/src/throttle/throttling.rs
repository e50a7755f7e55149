//! What every throttle says: the contract of the slot.
//!
//! A throttle is a combination of parts, each in a file of its own, and the [`super::Gate`] acts by them. For each page
//! write it asks the parts in turn; nothing else of the drive is changed by a throttle.
//!
//! - The [`Budget`] says how many flash bytes may be written in all up to a moment, and bounds what an epoch may write, so
//!   that the target is met whatever the other parts allow. It sees cycles and rest, never blocks.
//! - A throttle that plans works in [`super::Epochs`]: the demand of the next one is predicted, the [`Regulator`] allots it
//!   a capacity and what it may borrow, and every page write is delayed as if the demand were spread over it. One that does
//!   not plan has a single epoch, the life, and delays nothing by prediction.
//! - The [`Regulator`] also says what a period may write. A write that finds no room waits for a later period.
//!
//! Whatever the parts: no more flash bytes than the budget are written by the target time, writes keep their order, and the
//! same demand gives the same delays (`gate_tests.rs` holds every row of the table to that). O(1) a page write; a plan for
//! an epoch may cost `n ln n` of the windows remembered.

use super::{Budget, Regulator};

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
    /// Whether it plans in epochs and delays every write; else the capacity is spread evenly over the whole life.
    pub plans: bool,
    /// How capacity is given out.
    pub regulator: Regulator,
}
