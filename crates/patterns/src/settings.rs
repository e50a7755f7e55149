//! Which sets are looked for.

/// Which sets stand for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sets of which no proper superset is in as many transactions: they tell the support of all frequent sets.
    Closed,
    /// Sets of which no proper superset has enough support: they tell which sets are frequent.
    Maximal,
}

/// Which sets are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Transactions that a set must be part of, at least 1.
    pub support: u32,
    /// Items that a set must have, at least 1. Closed and maximal is a set among all sets, smaller ones too.
    pub items_min: u32,
    /// Which of the frequent sets are told.
    pub kind: Kind,
}
