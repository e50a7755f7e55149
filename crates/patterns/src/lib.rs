//! Sets of items that occur together: which sets of at least so many items are part of at least so many transactions?
//!
//! All such sets can be too many to write down: a transaction of 64 items that occurs four times has 2^64 subsets, each of
//! which does. So the miner tells those that stand for the others, exactly: the *closed* sets (no larger set has the
//! same support) or the *maximal* ones (no larger set has enough support). The method is FP-Growth (Han, Pei and Yin,
//! "Mining frequent patterns without candidate generation", 2000), with the closures of FPclose and the pruning of
//! FPmax (Grahne and Zhu, "Fast algorithms for frequent itemset mining using FP-trees", 2005); see [`Miner`].
//!
//! [`Window`] puts names to the items: it mines requests by whatever they are known by. The crate knows numbers; what
//! an item stands for, and what is done with a set, is its callers' affair.

/// Requests of a transaction, where nothing else is said (`docs/patterns.md`).
pub const TRANSACTION: u32 = 12;

mod database;
mod found;
mod miner;
mod settings;
mod transactions;
mod tree;
mod window;

pub use found::Patterns;
pub use miner::{ITEMS_MAX, Miner, SETS_MAX, STEPS_MAX, TooMany};
pub use settings::{Kind, Settings};
pub use transactions::Transactions;
pub use window::{Pattern, Window, mine};
