//! The result of mining.

use std::cmp::Reverse;

/// Sets of items with their support, in flat columns: larger sets first, sets of one size by their items.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    items: Vec<u32>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    from: usize,
    to: usize,
    support: u32,
}

impl Patterns {
    /// Returns the number of sets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether no set was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Counts the items of all sets together.
    #[must_use]
    pub fn total_items(&self) -> usize {
        self.items.len()
    }

    /// Iterates over the items of each set, ascending, with the number of transactions that contain it.
    pub fn iter(&self) -> impl Iterator<Item = (&[u32], u32)> {
        self.rows.iter().map(|row| (&self.items[row.from..row.to], row.support))
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.rows.clear();
    }

    pub(crate) fn push(&mut self, items: impl IntoIterator<Item = u32>, support: u32) {
        let from = self.items.len();
        self.items.extend(items);
        self.items[from..].sort_unstable();
        self.rows.push(Row { from, to: self.items.len(), support });
    }

    /// Sorts the sets, independent of the order in which they were found.
    pub(crate) fn order(&mut self) {
        let items = &self.items;
        let key = |row: &Row| (Reverse(row.to - row.from), &items[row.from..row.to]);
        self.rows.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
    }
}
