//! Slot `lifetime.throttle`: how long a write is held back. One file a policy, one row of [`POLICIES`] each.

mod none;

use floatgate_base::PolicyInfo;

/// All throttles.
pub const POLICIES: &[PolicyInfo] = &[none::INFO];

/// A throttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throttle {
    /// See [`none`].
    None,
}
