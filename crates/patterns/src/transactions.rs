//! The input of the miner.

/// Transactions in flat columns. Items are numbers, best without gaps: tables have an entry for each number up to the
/// largest. An item that a transaction names twice counts once.
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Transactions {
    /// Removes all transactions and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
    }

    /// Adds one transaction.
    pub fn push(&mut self, items: impl IntoIterator<Item = u32>) {
        self.items.extend(items);
        self.ends.push(self.items.len());
    }

    /// Returns the number of transactions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether no transaction was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Iterates over the items of each transaction, in the order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(from, &to)| &self.items[from..to])
    }

    /// Returns the length of a table by item.
    pub(crate) fn universe(&self) -> usize {
        self.items.iter().max().map_or(0, |&item| item as usize + 1)
    }
}
