//! The stages side by side: source, host interface, FTL, flash array. This crate owns the loop.
//!
//! Reading order: [`plan`] (everything a run needs), [`device`] (the loop), [`precondition`], [`outcome`].
//!
//! Must not know: configuration files, presets, JSON, Python.

pub mod array;
pub mod device;
pub mod failure;
pub mod outcome;
pub mod plan;
pub mod precondition;

pub use device::{Phase, Simulation};
pub use outcome::Outcome;
pub use plan::{Plan, Precondition, Workload};
