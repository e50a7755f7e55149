//! The miner: grows sets item by item.

use crate::database::{Database, ones};
use crate::patterns::Patterns;
use crate::settings::{Kind, Settings};
use crate::transactions::Transactions;
use crate::tree::{self, Begin, Trees};

/// Limit of closed sets that are visited.
///
/// 256 items in disjoint runs of any length `n` stay below it: there are at most `256 / n * 2^n` closed sets, and at
/// most `2^(256 / n)`. They also stay below [`STEPS_MAX`] with a support of 4 or more (a set can grow by at most 256 /
/// 4 items).
pub const SETS_MAX: usize = 1 << 20;
/// Limit of visited sets, including those that turn out not to be closed.
pub const STEPS_MAX: usize = 1 << 25;
/// Limit of items in all reported sets.
pub const ITEMS_MAX: usize = 1 << 25;

/// The limit [`SETS_MAX`], [`STEPS_MAX`] or [`ITEMS_MAX`] was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// FP-Growth of closed and of maximal sets. Keeps its memory between calls.
///
/// A set grows by items more frequent than its last one; its conditional tree holds them. Items in all transactions of
/// the set join it at once (the closure): equal transactions of any length, and single paths, take one step. A set is
/// dropped with all its extensions if a skipped item is in all its transactions. It is then not closed, and its closure
/// was visited before (FPclose).
///
/// For maximal sets the miner checks set and tail together; the tail holds the items by which the set can still grow.
/// If they have enough support they are the only candidate. The candidate is maximal unless a skipped item can join
/// (FPmax).
///
/// FPclose and FPmax search the earlier sets for one that contains the current set. This miner tests the transactions
/// instead, which it keeps as bits by item; the result is the same. It searches no earlier result. Its memory beside
/// the result is that of the trees, at most one level for each frequent item. It does not recurse.
///
/// Cost: a step takes at most the length of all transactions together; every step that is not dropped yields a closed
/// set.
#[derive(Debug, Default)]
pub struct Miner {
    database: Database,
    trees: Trees,
    frames: Vec<Frame>,
    /// Ranks of the current set, and whether a rank is one of them.
    set: Vec<u32>,
    in_set: Vec<bool>,
    /// The transactions of the set of each level; after them those of set and tail.
    bits: Vec<u64>,
    whole: Vec<u64>,
    /// By slot of the current tree: transactions of the set that contain it; its slot in the next tree.
    counts: Vec<u32>,
    new_slot: Vec<u32>,
    tail: Vec<Tail>,
    /// By rank: transactions that contain it; all 0 between two checks.
    joining: Vec<u32>,
    sets: usize,
    steps: usize,
    patterns: Patterns,
}

/// A set that grows.
#[derive(Clone, Copy, Debug)]
struct Frame {
    tree: Begin,
    /// Slots left to grow by; the last one is next.
    left: usize,
    /// Items of the set.
    len: usize,
}

/// An item by which a set may still grow.
#[derive(Clone, Copy, Debug)]
struct Tail {
    /// Its slot in the current tree.
    slot: u32,
    rank: u32,
    /// Transactions of the set that contain it.
    count: u32,
}

impl Miner {
    /// Creates a miner.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds the closed or maximal sets of these transactions.
    ///
    /// # Errors
    /// The limits of [`TooMany`] are exceeded.
    pub fn mine(&mut self, transactions: &Transactions, settings: &Settings) -> Result<&Patterns, TooMany> {
        let settings = Settings { support: settings.support.max(1), ..*settings };
        self.patterns.clear();
        self.sets = 0;
        self.steps = 0;
        if transactions.len() >= settings.support as usize {
            self.database.load(transactions, settings.support);
            self.grow(&settings)?;
            self.patterns.order();
        }
        Ok(&self.patterns)
    }

    /// Returns the sets of the last call.
    #[must_use]
    pub fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    fn grow(&mut self, settings: &Settings) -> Result<(), TooMany> {
        let ranks = self.database.items.len();
        self.trees.clear();
        self.frames.clear();
        self.set.clear();
        self.in_set.clear();
        self.in_set.resize(ranks, false);
        self.joining.clear();
        self.joining.resize(ranks, 0);
        self.begin(settings)?;
        while let Some(frame) = self.frames.last_mut() {
            for rank in self.set.drain(frame.len..) {
                self.in_set[rank as usize] = false;
            }
            if frame.left == 0 {
                self.trees.end(frame.tree);
                self.frames.pop();
                continue;
            }
            frame.left -= 1;
            let (tree, slot) = (frame.tree, frame.left);
            self.extend(tree, slot, settings)?;
        }
        Ok(())
    }

    /// Begins with the empty set, closed over the items of all transactions.
    fn begin(&mut self, settings: &Settings) -> Result<(), TooMany> {
        let all = self.database.len();
        self.make_level();
        for (i, word) in self.bits.iter_mut().enumerate() {
            let left = all - 64 * i;
            *word = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        }
        self.counts.clone_from(&self.database.supports);
        self.close(None, all as u32, settings.support);
        let passed = self.database.items.len() as u32;
        if self.is_to_grow(all as u32, passed, settings)? {
            let tree = self.begin_tree();
            for t in 0..all {
                let slots = self.database.ranks(t).iter().map(|&rank| self.new_slot[rank as usize]);
                self.trees.insert(tree, slots.filter(|&slot| slot != tree::NONE), 1);
            }
        }
        Ok(())
    }

    /// Adds one item to the current set.
    fn extend(&mut self, tree: Begin, slot: usize, settings: &Settings) -> Result<(), TooMany> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(TooMany);
        }
        let header = self.trees.header(tree, slot);
        self.make_level();
        let words = self.database.words;
        let (before, here) = self.bits[(self.frames.len() - 1) * words..].split_at_mut(words);
        for ((word, &of_set), &of_item) in here.iter_mut().zip(&*before).zip(self.database.bits(header.rank))
        {
            *word = of_set & of_item;
        }
        self.join(header.rank);
        if self.is_dropped(header.rank + 1) {
            return Ok(());
        }
        self.trees.count_before(header, slot, &mut self.counts);
        self.close(Some(tree), header.count, settings.support);
        if self.is_to_grow(header.count, header.rank + 1, settings)? {
            let next = self.begin_tree();
            self.trees.insert_prefixes(next, header, &self.new_slot);
        }
        Ok(())
    }

    /// Allocates the transactions of the current set.
    fn make_level(&mut self) {
        let end = (self.frames.len() + 1) * self.database.words;
        self.bits.resize(end, 0);
    }

    fn join(&mut self, rank: u32) {
        self.set.push(rank);
        self.in_set[rank as usize] = true;
    }

    /// Adds the items that all transactions of the set contain; the other frequent items become the tail. Before the
    /// first tree, slots are ranks.
    fn close(&mut self, tree: Option<Begin>, count: u32, support: u32) {
        self.tail.clear();
        for slot in 0..self.counts.len() {
            let with = self.counts[slot];
            if with < support {
                continue;
            }
            let rank = tree.map_or(slot as u32, |tree| self.trees.header(tree, slot).rank);
            if with == count {
                self.join(rank);
            } else {
                self.tail.push(Tail { slot: slot as u32, rank, count: with });
            }
        }
    }

    /// Reports the current set if it qualifies; returns whether it may grow. Ranks from `passed` on were skipped.
    fn is_to_grow(&mut self, count: u32, passed: u32, settings: &Settings) -> Result<bool, TooMany> {
        self.sets += 1;
        if self.sets > SETS_MAX {
            return Err(TooMany);
        }
        let (len, items_min) = (self.set.len(), settings.items_min as usize);
        if len + self.tail.len() < items_min {
            return Ok(false);
        }
        match settings.kind {
            Kind::Closed if len < items_min => {}
            Kind::Closed => self.tell(count)?,
            Kind::Maximal => {
                let together = self.count_together();
                if together >= settings.support {
                    if !self.can_join(passed, settings.support) {
                        self.set.extend(self.tail.iter().map(|tail| tail.rank));
                        self.tell(together)?;
                        self.set.truncate(len);
                    }
                    return Ok(false);
                }
            }
        }
        Ok(!self.tail.is_empty())
    }

    /// Intersects the transactions of the current set and its whole tail; returns their number.
    fn count_together(&mut self) -> u32 {
        let here = self.frames.len() * self.database.words;
        self.whole.clear();
        self.whole.extend_from_slice(&self.bits[here..]);
        for tail in &self.tail {
            let of_item = self.database.bits(tail.rank);
            self.whole.iter_mut().zip(of_item).for_each(|(word, &of_item)| *word &= of_item);
        }
        self.whole.iter().map(|word| word.count_ones()).sum()
    }

    /// Returns whether a skipped item, from `passed` on, is in all transactions of the set.
    fn is_dropped(&self, passed: u32) -> bool {
        let here = &self.bits[self.frames.len() * self.database.words..];
        let Some(first) = ones(here).next() else { return false };
        let later = self.database.ranks(first).iter().rev().take_while(|&&rank| rank >= passed);
        later.filter(|&&rank| !self.in_set[rank as usize]).any(|&rank| {
            here.iter().zip(self.database.bits(rank)).all(|(&of_set, &of_item)| of_set & !of_item == 0)
        })
    }

    /// Returns whether a skipped item, from `passed` on, is in enough transactions of set and tail.
    fn can_join(&mut self, passed: u32, support: u32) -> bool {
        let (database, in_set, joining) = (&self.database, &self.in_set, &mut self.joining);
        let mut can = false;
        let later = |t| {
            let ranks = database.ranks(t).iter().rev().take_while(move |&&rank| rank >= passed);
            ranks.map(|&rank| rank as usize).filter(|&rank| !in_set[rank])
        };
        for rank in ones(&self.whole).flat_map(later) {
            joining[rank] += 1;
            can |= joining[rank] >= support;
        }
        ones(&self.whole).flat_map(later).for_each(|rank| joining[rank] = 0);
        can
    }

    fn tell(&mut self, support: u32) -> Result<(), TooMany> {
        if self.patterns.total_items() + self.set.len() > ITEMS_MAX {
            return Err(TooMany);
        }
        let items = &self.database.items;
        self.patterns.push(self.set.iter().map(|&rank| items[rank as usize]), support);
        Ok(())
    }

    /// Begins the tree of the tail, by which the current set grows.
    fn begin_tree(&mut self) -> Begin {
        self.new_slot.clear();
        self.new_slot.resize(self.counts.len(), tree::NONE);
        for (new, tail) in (0..).zip(&self.tail) {
            self.new_slot[tail.slot as usize] = new;
        }
        let tree = self.trees.begin(self.tail.iter().map(|tail| (tail.rank, tail.count)));
        self.frames.push(Frame { tree, left: self.tail.len(), len: self.set.len() });
        tree
    }
}
