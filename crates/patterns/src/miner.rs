//! The growth of sets.

use crate::database::{Database, ones};
use crate::found::Patterns;
use crate::settings::{Kind, Settings};
use crate::transactions::Transactions;
use crate::tree::{self, Begin, Trees};

/// Most closed sets that are looked at.
///
/// 256 items in disjoint runs of any length `n` stay below it (there are at most `256 / n * 2^n` closed sets, and at most
/// `2^(256 / n)`), and below [`STEPS_MAX`] with a support of 4 or more (a set has at most 256 / 4 items to grow by).
pub const SETS_MAX: usize = 1 << 20;
/// Most sets that are looked at, those included that turn out not to be closed.
pub const STEPS_MAX: usize = 1 << 25;
/// Most items of all sets that are told.
pub const ITEMS_MAX: usize = 1 << 25;

/// There is more to look at than [`SETS_MAX`] or [`STEPS_MAX`], or more to tell than [`ITEMS_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// FP-Growth of closed and of maximal sets. Keeps its memory from one call to the next.
///
/// A set grows by items that are more frequent than the one it grew by last; its conditional tree holds them. Items that
/// are in all transactions of the set join it at once (the closure), so that equal transactions of any length, and
/// single paths, are one step. A set is dropped with all that would grow from it if an item that was passed over is in all
/// its transactions: it is not closed then, and its closure has been met (FPclose). For maximal sets, if set and
/// tail together (the tail is what the set can still grow by) have enough support, they are the only candidate, and
/// maximal unless an item that was passed over can join (FPmax).
///
/// FPclose and FPmax ask the sets found so far whether one contains the set at hand. Here the transactions are asked,
/// kept as bits by item, which gives the same answer: nothing found is searched, and beside what is told the memory
/// is that of the trees, at most one level for each frequent item. There is no recursion.
///
/// Cost: a step is at most the length of all transactions together, and every step but the dropped ones is a closed set.
#[derive(Debug, Default)]
pub struct Miner {
    database: Database,
    trees: Trees,
    frames: Vec<Frame>,
    /// Ranks of the set at hand, and whether a rank is one of them.
    set: Vec<u32>,
    in_set: Vec<bool>,
    /// The transactions of the set of each level; behind them those of set and tail.
    bits: Vec<u64>,
    whole: Vec<u64>,
    /// By slot of the tree at hand: transactions of the set that have it; its slot in the next tree.
    counts: Vec<u32>,
    new_slot: Vec<u32>,
    tail: Vec<Tail>,
    /// By rank: transactions that have it, all 0 between two questions.
    joining: Vec<u32>,
    sets: usize,
    steps: usize,
    found: Patterns,
}

/// A set that grows.
#[derive(Clone, Copy, Debug)]
struct Frame {
    tree: Begin,
    /// Slots that it has yet to grow by: the last of them is next.
    left: usize,
    /// Items of the set.
    len: usize,
}

/// An item that a set may still grow by.
#[derive(Clone, Copy, Debug)]
struct Tail {
    /// Its place in the tree at hand.
    slot: u32,
    rank: u32,
    /// Transactions of the set that have it.
    count: u32,
}

impl Miner {
    /// A miner.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The closed or maximal sets of these transactions.
    ///
    /// # Errors
    /// There are too many of them.
    pub fn mine(&mut self, transactions: &Transactions, settings: &Settings) -> Result<&Patterns, TooMany> {
        let settings = Settings { support: settings.support.max(1), ..*settings };
        self.found.clear();
        self.sets = 0;
        self.steps = 0;
        if transactions.len() >= settings.support as usize {
            self.database.load(transactions, settings.support);
            self.grow(&settings)?;
            self.found.order();
        }
        Ok(&self.found)
    }

    /// The sets that were found last.
    #[must_use]
    pub fn found(&self) -> &Patterns {
        &self.found
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

    /// The set of no items, with what all transactions have.
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

    /// The set at hand with one item more.
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

    /// Makes room for the transactions of the set at hand.
    fn make_level(&mut self) {
        let end = (self.frames.len() + 1) * self.database.words;
        self.bits.resize(end, 0);
    }

    fn join(&mut self, rank: u32) {
        self.set.push(rank);
        self.in_set[rank as usize] = true;
    }

    /// By the counts of the slots: items that all transactions of the set have join it, others that are frequent
    /// among them are the tail. Before there is a tree, slots are ranks.
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

    /// Tells the set at hand, if it is one to tell; whether it is to grow. Ranks from `passed` on are passed over.
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

    /// The transactions that have the set at hand and all of its tail, and how many they are.
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

    /// Whether an item from `passed` on that is not in the set is in all its transactions.
    fn is_dropped(&self, passed: u32) -> bool {
        let here = &self.bits[self.frames.len() * self.database.words..];
        let Some(first) = ones(here).next() else { return false };
        let later = self.database.ranks(first).iter().rev().take_while(|&&rank| rank >= passed);
        later.filter(|&&rank| !self.in_set[rank as usize]).any(|&rank| {
            here.iter().zip(self.database.bits(rank)).all(|(&of_set, &of_item)| of_set & !of_item == 0)
        })
    }

    /// Whether an item from `passed` on is in enough transactions of set and tail.
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
        if self.found.total_items() + self.set.len() > ITEMS_MAX {
            return Err(TooMany);
        }
        let items = &self.database.items;
        self.found.push(self.set.iter().map(|&rank| items[rank as usize]), support);
        Ok(())
    }

    /// Begins the tree of the tail, by which the set at hand grows.
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
