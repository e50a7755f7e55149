//! Distribution of an epoch's capacity over its periods. One file per regulator.

mod allotment;
pub mod optimistic;
pub mod pessimistic;
pub mod static_cap;
pub mod token_bucket;

pub use allotment::{Allotment, Remaining};

/// A regulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regulator {
    /// See [`static_cap`].
    StaticCap,
    /// See [`pessimistic`].
    Pessimistic,
    /// See [`optimistic`].
    Optimistic,
    /// See [`token_bucket`].
    TokenBucket,
}

impl Regulator {
    /// Assigns the coming epoch its capacity.
    #[must_use]
    pub fn allot(self, left: &Remaining) -> Allotment {
        match self {
            Self::StaticCap | Self::Pessimistic | Self::TokenBucket => pessimistic::allot(left),
            Self::Optimistic => optimistic::allot(left),
        }
    }
}
