//! Slot `ftl.level`: when and how wear is evened out beyond the choice of free blocks. One file a policy, one row of
//! [`POLICIES`] each.

pub mod hot_cold_swap;
mod none;

pub use hot_cold_swap::HotColdSwap;

use floatgate_base::PolicyInfo;

/// All wear-levelers.
pub const POLICIES: &[PolicyInfo] = &[none::INFO, hot_cold_swap::INFO];

/// A wear-leveler with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// See [`none`].
    None,
    /// See [`hot_cold_swap`].
    HotColdSwap(HotColdSwap),
}
