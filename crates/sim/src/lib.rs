//! The stages side by side: source, host interface, FTL, flash array. This crate owns the loop.
//!
//! Reading order: [`plan`] (everything a run needs), [`device`] (the loop, with `chunk`), [`precondition`], [`outcome`].
//!
//! Must not know: configuration files, presets, JSON, Python.

pub mod array;
mod buffered;
mod chunk;
pub mod clock;
pub mod device;
pub mod drive_file;
pub mod failure;
pub mod foresight;
mod idle;
pub mod laps;
pub mod life;
pub mod outcome;
pub mod pass;
pub mod plan;
pub mod precondition;
mod queued;
pub mod request_log;
pub mod saved;
pub mod throttled;
mod timed;

pub use device::{Phase, Simulation};
pub use life::{LifeOptions, full_life};
pub use outcome::Outcome;
pub use plan::{Arrival, Background, Mode, Plan, Precondition, Workload};
pub use request_log::{RequestRows, RequestSink};
