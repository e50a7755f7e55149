//! Slot `ftl.level`: when and how wear is evened out beyond the choice of free blocks. One file a policy, one row of
//! [`POLICIES`] each.

mod none;

use floatgate_base::PolicyInfo;

/// All wear-levelers.
pub const POLICIES: &[PolicyInfo] = &[none::INFO];

/// A wear-leveler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// See [`none`].
    None,
}
