//! The simulation: its stages (reading, addressing, gate, buffer, drive, book) and the loop over them.
//!
//! Each stage exclusively owns its state. The loop passes the stages a chunk of requests at a time:
//!
//! | step | owner | state |
//! |---|---|---|
//! | read | `reading/reader.rs` | source, batch, pass; `dispatching.rs` labels the writes of the batch |
//! | place | `addressing.rs` | ends of the devices, counters of the host, footprint, extents of the chunk |
//! | gate | `gate.rs` | the throttle; `life_book.rs` where the run is a whole life |
//! | buffer | `buffer/` | pages of the DRAM buffer and, in timed mode, their dependencies |
//! | serve | `serve/` | drive (`drive.rs`), gate, buffer; in timed mode also clock, queues, logs |
//! | book | `book.rs` | counts of requests, the series, audits |
//!
//! The type of a drive determines whether operations take time: `Drive<Functional>` or `Drive<Timed>`, each with or
//! without the shadow model (`array.rs`).
//!
//! Reading order: [`plan`] (all settings of a run), [`simulation`] (the phases and the loop), then the stages:
//! `reading/`, `addressing`, `serve/` (with `gate`, `buffer` and [`drive`]), `book`; [`outcome`].
//!
//! Must not know: configuration files, presets, JSON, Python.

mod addressing;
pub mod array;
pub mod background;
mod book;
mod buffer;
pub mod close_up;
pub mod drive;
pub mod drive_file;
mod failure;
pub mod gate;
mod glance;
mod lap_mean;
pub mod lap_outcome;
mod lap_serve;
pub mod lap_wear;
pub mod laps;
pub mod life;
mod life_book;
pub mod outcome;
pub mod plan;
pub mod precondition;
pub mod reading;
pub mod saved;
pub mod scaled;
pub mod serve;
pub mod simulation;
mod trend;
pub mod wear_ahead;
pub mod wear_in;
pub mod written_pages;

pub use glance::Glance;
pub use life::{FullLife, full_life};
pub use life_book::LifeOptions;
pub use outcome::Outcome;
pub use plan::{Arrival, Background, ByContext, Mode, Plan, Precondition, Workload};
pub use serve::pins::{PinCounts, PinSink, PinWindow};
pub use serve::request_log::{RequestRows, RequestSink};
pub use simulation::{Phase, Simulation};
pub use wear_in::WearIn;
