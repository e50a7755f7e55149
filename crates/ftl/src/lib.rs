//! The flash translation layer: map, separate, collect, level. Policies decide, this mechanism acts.
//!
//! It has no clock: it decides in order of arrival and changes state when a command is issued. Reading order:
//! [`ftl`] (the state and the host's operations), [`space`] (opening, collecting), [`migrate`] (the one kind of
//! background job), [`index`] (how victims are found), then any policy in `collect`, `separate`, `level`.
//!
//! Must not know: traces, requests, time, latency, throttles, configuration files.

mod audit;
pub mod collect;
mod free_pages;
pub mod ftl;
pub mod index;
mod install;
mod last;
pub mod level;
mod leveling;
mod live;
pub mod migrate;
mod pace;
mod saved;
pub mod separate;
pub mod slots;
mod space;
pub mod units;

pub use collect::Victim;
pub use floatgate_base::extents::{Extents, Kind};
pub use ftl::{Allocation, Failure, Ftl, GcCounters, Setup, Stopped};
pub use level::Level;
pub use leveling::LevelCounters;
pub use pace::Pace;
pub use separate::Separate;
pub use units::FreeChoice;
