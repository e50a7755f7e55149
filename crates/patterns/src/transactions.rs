//! What is mined.

/// Transactions in flat columns. Items are numbers, best without gaps: there are tables with a place for each number up to
/// the largest. An item that a transaction names twice counts once.
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Transactions {
    /// Forgets all transactions and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
    }

    /// Adds one transaction.
    pub fn push(&mut self, items: impl IntoIterator<Item = u32>) {
        self.items.extend(items);
        self.ends.push(self.items.len());
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The items of each, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(from, &to)| &self.items[from..to])
    }

    /// Places that a table by item must have.
    pub(crate) fn universe(&self) -> usize {
        self.items.iter().max().map_or(0, |&item| item as usize + 1)
    }
}
