//! The stages side by side: reading, placing, gate, buffer, drive, book. This crate owns the loop.
//!
//! Reading order: [`plan`] (everything a run needs), [`simulation`] (the phases and the loop), then the stages: `reading/`,
//! `addressing`, `serve/` (with `gate`, `buffer` and [`drive`]), `book`; [`outcome`].
//!
//! Must not know: configuration files, presets, JSON, Python.

mod addressing;
pub mod array;
pub mod background;
mod book;
mod buffer;
pub mod drive;
pub mod drive_file;
mod failure;
pub mod gate;
mod lap_mean;
pub mod laps;
pub mod life;
mod life_book;
pub mod outcome;
pub mod plan;
pub mod precondition;
pub mod reading;
pub mod saved;
pub mod serve;
pub mod simulation;
mod trend;
pub mod wear_in;
pub mod written_pages;

pub use life::full_life;
pub use life_book::LifeOptions;
pub use outcome::Outcome;
pub use plan::{Arrival, Background, Mode, Plan, Precondition, Workload};
pub use serve::pins::{PinCounts, PinSink, PinWindow};
pub use serve::request_log::{RequestRows, RequestSink};
pub use simulation::{Phase, Simulation};
pub use wear_in::WearIn;
