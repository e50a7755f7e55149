//! The last stages, gate, buffer and drive, with one owner per mode: [`functional`] counts operations, [`timed`] models
//! their time.

pub mod clock;
mod direct;
mod functional;
pub mod hot_reads;
pub mod idle;
pub mod idle_prediction;
pub mod pins;
mod queued;
pub mod reclaim_latency;
pub mod request_log;
mod serving;
mod stop;
mod time_slices;
mod timed;

pub(crate) use direct::Direct;
pub(crate) use functional::FunctionalServing;
pub(crate) use queued::Waiting;
pub(crate) use serving::{Kept, Serving, with_drive};
pub(crate) use stop::Stop;
pub(crate) use timed::TimedServing;
