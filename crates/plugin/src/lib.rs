//! Policies from outside: a file in Python or a shared library brings a policy that works like a row of its slot.
//!
//! `contract` is what both sides agree on, in the types of C; `floatgate policy header` prints it. `loaded` checks a
//! policy against the contract and keeps it for the life of the process. `state` is what a policy remembers of one drive.
//! The slots call it through an adapter beside their own policies (`ftl::collect::plugin`, `ftl::separate::plugin`,
//! `ftl::level::plugin`, `lifetime::throttle::plugin`).
//!
//! A policy from outside is trusted code: it runs in this process, with its rights.

pub mod contract;
mod loaded;
mod state;

pub use loaded::{Chosen, Plugin, Refused, SlotKind, is_loaded, load};
pub use state::{Kept, Line};
