//! The flash translation layer: map, separate, collect, level. Policies decide, this mechanism acts.
//!
//! It has no clock: it decides in order of arrival and changes state when a command is issued. Reading order:
//! [`ftl`] (the state and the host's operations), [`space`] (opening, collecting), [`migrate`] (the one kind of
//! background job), [`index`] (how victims are found), then any policy in `collect`, `separate`, `level`.
//!
//! Must not know: traces, requests, time, latency, throttles, configuration files.

mod audit;
pub mod collect;
mod features;
mod flush;
mod free_pages;
pub mod ftl;
mod grouped;
mod host;
mod incremental;
pub mod index;
mod install;
pub mod jobs;
pub mod level;
mod owners;
mod pace;
pub mod pool;
pub mod reclaim;
pub mod reduce;
mod regroup;
mod room;
mod saved;
pub mod separate;
pub mod setup;
pub mod single_policy_slots;
mod space;
pub mod units;
mod volatile;
mod write;

pub use collect::Victim;
pub use floatgate_base::extents::{Extents, Kind};
pub use ftl::Ftl;
pub use level::{Level, LevelCounters};
pub use owners::ReplicaCounters;
pub use pool::{FreeChoice, Want};
pub use reclaim::Reclaim;
pub use reduce::{Reduce, Schemes};
pub use separate::Separate;
pub use setup::{Allocation, Failure, GcCounters, Pace, Setup, Stopped};
