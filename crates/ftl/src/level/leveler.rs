//! What every wear-leveler does: the contract of the slot.
//!
//! The mechanism (`leveling.rs`) asks when a unit is about to be collected: whether cold data are to move into it, and if
//! not, whether it is passed over for another victim. It keeps the queue of units that may give their data, counts the
//! erases of each domain, draws the random numbers and makes the moves. A leveler judges by wear alone and keeps nothing.
//! It is asked a few times for each block that is collected: O(1) each.

use floatgate_base::Given;

/// A wear-leveler with its parameters.
pub trait Leveler {
    /// With the values that are given to the parameters of its row.
    fn of(given: &Given) -> Self
    where
        Self: Sized;

    /// Whether cold data are to move into a unit that is to be collected, erased so often in a domain whose units were
    /// erased `mean_erases` times on average.
    fn retires(&self, erases: u32, mean_erases: f64) -> bool;

    /// Whether a unit may give its data to a worn one: it holds `valid` valid pages, and an average unit of a full drive
    /// would hold `valid_min`, at least 1. Asked of the unit that has been closed for longest, then of the next ones.
    fn gives(&self, erases: u32, mean_erases: f64, valid: u32, valid_min: u32) -> bool;

    /// The probability with which a unit that gets no cold data is passed over: the victim policy chooses again without
    /// it, up to [`super::PASSED_MAX`] times for one victim.
    fn passed_over(&self, erases: u32, mean_erases: f64) -> f64;
}
