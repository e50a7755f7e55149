//! The transactions in the miner's form: frequent items only, by rank, in both directions.

use crate::transactions::Transactions;

const NONE: u32 = u32::MAX;

/// Transactions with ranked frequent items. Rank 0 occurs in most transactions; items of equal support are ordered by
/// number.
#[derive(Debug, Default)]
pub struct Database {
    /// The item of each rank.
    pub items: Vec<u32>,
    /// The support of each rank.
    pub supports: Vec<u32>,
    /// Words per set of transactions; each bit is a transaction.
    pub words: usize,
    /// For each rank the transactions that contain it.
    bits: Vec<u64>,
    /// For each transaction its ranks, ascending.
    ranks: Vec<u32>,
    ends: Vec<usize>,
    /// By item: its support, then its rank.
    of_item: Vec<u32>,
    /// By item: the last transaction that contained it, from 1.
    seen_in: Vec<u32>,
}

impl Database {
    /// Loads transactions, keeping the items that at least `support` of them contain.
    pub fn load(&mut self, transactions: &Transactions, support: u32) {
        self.rank_items(transactions, support);
        self.words = transactions.len().div_ceil(64);
        self.bits.clear();
        self.bits.resize(self.items.len() * self.words, 0);
        self.ranks.clear();
        self.ends.clear();
        for (t, items) in transactions.iter().enumerate() {
            let from = self.ranks.len();
            for &item in items {
                let rank = self.of_item[item as usize];
                let place = rank as usize * self.words + t / 64;
                if rank != NONE && self.bits[place] >> (t % 64) & 1 == 0 {
                    self.bits[place] |= 1 << (t % 64);
                    self.ranks.push(rank);
                }
            }
            self.ranks[from..].sort_unstable();
            self.ends.push(self.ranks.len());
        }
    }

    fn rank_items(&mut self, transactions: &Transactions, support: u32) {
        let universe = transactions.universe();
        for table in [&mut self.of_item, &mut self.seen_in] {
            table.clear();
            table.resize(universe, 0);
        }
        for (t, items) in (1..).zip(transactions.iter()) {
            for &item in items {
                let seen = &mut self.seen_in[item as usize];
                if *seen != t {
                    *seen = t;
                    self.of_item[item as usize] += 1;
                }
            }
        }
        let counts = &mut self.of_item;
        self.items.clear();
        self.items.extend((0..universe as u32).filter(|&item| counts[item as usize] >= support));
        self.items.sort_by_key(|&item| std::cmp::Reverse(counts[item as usize]));
        self.supports.clear();
        self.supports.extend(self.items.iter().map(|&item| counts[item as usize]));
        counts.fill(NONE);
        for (rank, &item) in (0..).zip(&self.items) {
            counts[item as usize] = rank;
        }
    }

    /// Returns the transactions that contain the item of a rank.
    #[inline]
    pub fn bits(&self, rank: u32) -> &[u64] {
        &self.bits[rank as usize * self.words..][..self.words]
    }

    /// Returns the ranks of a transaction, ascending.
    #[inline]
    pub fn ranks(&self, t: usize) -> &[u32] {
        let from = if t == 0 { 0 } else { self.ends[t - 1] };
        &self.ranks[from..self.ends[t]]
    }

    /// Returns the number of transactions.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Iterates over the transactions of a set of bits.
pub fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(i, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            (left != 0).then(|| {
                left &= left - 1;
                64 * i + bit
            })
        })
    })
}
