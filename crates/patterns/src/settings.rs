//! Settings of the miner.

/// The kind of sets that represent all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sets without a proper superset of equal support: they determine the support of all frequent sets.
    Closed,
    /// Sets without a proper superset of enough support: they determine which sets are frequent.
    Maximal,
}

/// Settings of the miner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Minimum number of transactions that contain a set, at least 1.
    pub support: u32,
    /// Minimum number of items per set, at least 1. A set counts as closed or maximal among all sets, including smaller
    /// ones.
    pub items_min: u32,
    /// The kind of frequent sets to report.
    pub kind: Kind,
}
