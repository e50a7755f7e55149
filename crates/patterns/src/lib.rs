//! Frequent sets: which sets of at least so many items occur in at least so many transactions?
//!
//! All frequent sets can be too many to write down: a transaction of 64 items that occurs four times has 2^64 subsets,
//! each as frequent. The miner therefore returns those that represent the others, exactly: the *closed* sets (no larger
//! set has the same support) or the *maximal* ones (no larger set has enough support). The method is FP-Growth (Han,
//! Pei and Yin, "Mining frequent patterns without candidate generation", 2000). Closures follow FPclose and pruning
//! follows FPmax (Grahne and Zhu, "Fast algorithms for frequent itemset mining using FP-trees", 2005); see [`Miner`].
//!
//! [`Window`] maps any names to items, such as the addresses of requests. The rest of the crate handles numbers;
//! callers decide what an item means and what to do with a set.

/// Default number of requests per transaction (`docs/patterns.md`).
pub const TRANSACTION: u32 = 12;

mod database;
mod miner;
mod patterns;
mod settings;
mod transactions;
mod tree;
mod window;

pub use miner::{ITEMS_MAX, Miner, SETS_MAX, STEPS_MAX, TooMany};
pub use patterns::Patterns;
pub use settings::{Kind, Settings};
pub use transactions::Transactions;
pub use window::{Pattern, Window, mine};
