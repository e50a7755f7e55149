//! How an epoch's capacity is given out over its periods. One file a regulator.

mod allotment;
pub mod optimistic;
pub mod pessimistic;
pub mod static_cap;
pub mod token_bucket;

pub use allotment::{Allotment, Left};

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
    /// What the coming epoch may write.
    #[must_use]
    pub fn allot(self, left: &Left) -> Allotment {
        match self {
            Self::StaticCap | Self::Pessimistic | Self::TokenBucket => pessimistic::allot(left),
            Self::Optimistic => optimistic::allot(left),
        }
    }
}
