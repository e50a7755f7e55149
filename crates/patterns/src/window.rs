//! Frequent sets of named items, such as requests by their address.

use crate::miner::{Miner, TooMany};
use crate::patterns::Patterns;
use crate::settings::Settings;
use crate::transactions::Transactions;

/// A set of names that occur together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern<K> {
    /// The names, ascending.
    pub items: Vec<K>,
    /// Transactions that contain it.
    pub support: u32,
}

/// Mines one window of requests after another and holds the sets of the last one. Keeps its memory.
#[derive(Debug)]
pub struct Window<K> {
    /// All names, ascending; an item is an index into it.
    names: Vec<K>,
    /// By item: whether it is in a pattern.
    in_pattern: Vec<bool>,
    transactions: Transactions,
    miner: Miner,
}

impl<K> Default for Window<K> {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            in_pattern: Vec::new(),
            transactions: Transactions::default(),
            miner: Miner::new(),
        }
    }
}

impl<K: Copy + Ord> Window<K> {
    /// Splits requests into disjoint runs of `run` (at least 1), each a transaction, and mines them. The last run may be
    /// shorter.
    ///
    /// # Errors
    /// The limits of [`TooMany`] are exceeded.
    pub fn mine(&mut self, requests: &[K], run: usize, settings: &Settings) -> Result<&Patterns, TooMany> {
        self.mine_transactions(requests.chunks(run.max(1)), settings)
    }

    fn mine_transactions<'a>(
        &mut self,
        transactions: impl Iterator<Item = &'a [K]> + Clone,
        settings: &Settings,
    ) -> Result<&Patterns, TooMany>
    where
        K: 'a,
    {
        self.names.clear();
        self.names.extend(transactions.clone().flatten());
        self.names.sort_unstable();
        self.names.dedup();
        self.transactions.clear();
        for transaction in transactions {
            self.transactions
                .push(transaction.iter().map(|name| Self::find(&self.names, name).expect("a name") as u32));
        }
        let patterns = self.miner.mine(&self.transactions, settings)?;
        self.in_pattern.clear();
        self.in_pattern.resize(self.names.len(), false);
        for (items, _) in patterns.iter() {
            items.iter().for_each(|&item| self.in_pattern[item as usize] = true);
        }
        Ok(patterns)
    }

    fn find(names: &[K], name: &K) -> Option<usize> {
        names.binary_search(name).ok()
    }

    /// Returns the sets of the last call, in items; [`Window::name`] names them.
    #[must_use]
    pub fn patterns(&self) -> &Patterns {
        self.miner.patterns()
    }

    /// Returns the name of an item.
    #[must_use]
    pub fn name(&self, item: u32) -> K {
        self.names[item as usize]
    }

    /// Returns the item of a name, if it has one.
    #[must_use]
    pub fn item_of(&self, name: &K) -> Option<u32> {
        Self::find(&self.names, name).map(|item| item as u32)
    }

    /// Returns the number of items of the mined requests; all items are below it.
    #[must_use]
    pub fn items(&self) -> usize {
        self.names.len()
    }

    /// Returns whether a name is in one of the sets.
    #[must_use]
    pub fn is_in_pattern(&self, name: &K) -> bool {
        Self::find(&self.names, name).is_some_and(|item| self.in_pattern[item])
    }

    /// Iterates over the names that are in any set, ascending.
    pub fn names_in_patterns(&self) -> impl Iterator<Item = K> {
        self.names.iter().zip(&self.in_pattern).filter(|&(_, &is)| is).map(|(&name, _)| name)
    }
}

/// Finds the closed or maximal sets of transactions: larger sets first, sets of one size by their names.
///
/// # Errors
/// The limits of [`TooMany`] are exceeded.
///
/// ```
/// use floatgate_patterns::{Kind, Settings, mine};
/// let settings = Settings { support: 2, items_min: 2, kind: Kind::Maximal };
/// let patterns = mine(&[vec!["a", "b", "c"], vec!["b", "c"], vec!["a", "d"]], &settings).unwrap();
/// assert_eq!((patterns.len(), &patterns[0].items[..], patterns[0].support), (1, &["b", "c"][..], 2));
/// ```
pub fn mine<K: Copy + Ord>(transactions: &[Vec<K>], settings: &Settings) -> Result<Vec<Pattern<K>>, TooMany> {
    let mut window = Window::default();
    window.mine_transactions(transactions.iter().map(Vec::as_slice), settings)?;
    let named = |(items, support): (&[u32], u32)| Pattern {
        items: items.iter().map(|&item| window.name(item)).collect(),
        support,
    };
    Ok(window.patterns().iter().map(named).collect())
}
