//! The flash translation layer: it maps pages, separates data, collects garbage and levels wear. Policies decide; this
//! mechanism acts.
//!
//! It has no clock: it serves requests in order of arrival and changes state when a command is issued. Suggested reading
//! order: `ftl.rs` (the state), `host.rs` (host requests), `room.rs` and `space.rs` (opening and freeing erase
//! units), `jobs/` (emptying blocks), `index/` (finding victims). After these, any policy in `collect/`, `separate/` or
//! `level/` can be read on its own.
//!
//! The parts of the drive, from the bottom up, and what each must not know:
//!
//! | part | does | must not know |
//! |---|---|---|
//! | `owners/` | maps logical to physical pages and back, keeps side tables and live bits | units, jobs, policies |
//! | `units.rs`, `pool.rs`, `index/` | valid pages of units, free units by wear, closed units in the order of the policy | who opens units |
//! | `separate/` | names the stream that a page joins | where its unit is, when it is collected |
//! | `level/` | tracks wear, vetoes victims, requests jobs, keeps block sets | how victims are found, how pages move |
//! | `collect/` | holds closed units and queues of streams, chooses victims, lets them wait, starts collection | how pages move |
//! | `regroup.rs` | applies a remapping of streams: units change queues, open ones are closed | why streams change |
//! | `reclaim/` | sums read disturb, runs the policies against it, reclaims blocks and replicates pages | which page is written |
//! | `metadata/` | keeps the map on flash: a journal of its changes and its pages | where its pages lie |
//! | `dpes/` | decides how deeply blocks are erased | why a block is erased or opened |
//! | `reduce/` | content index, chunks, samples for deduplication and compression | why a scheme is on |
//! | `space.rs` | opens and closes units, invalidates pages | the reason |
//! | `jobs/` | defines jobs, orders them, carries out their steps | what the host does |
//! | `ahead.rs` | says when collection can wait, and how much room is at hand | how victims are found |
//! | `room.rs`, `incremental.rs`, `pace.rs` | find room for a host page, by jobs if need be | which page is written |
//! | `write.rs` | programs a host page | - |
//! | `host.rs`, `grouped.rs` | write, read and trim, compiled for a set of features (`features.rs`) | - |
//!
//! `audit.rs` checks the parts against one another, `saved.rs` writes them to a snapshot, `install.rs` fills a drive
//! without simulating its writes.
//!
//! The whole crate must not know: traces, the host's queues, time, latency, throttles, configuration files.

mod ahead;
mod audit;
pub mod collect;
pub mod dpes;
mod faults;
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
pub mod metadata;
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
pub use dpes::Dpes;
pub use floatgate_base::extents::{Extents, Kind};
pub use ftl::Ftl;
pub use level::{Level, LevelCounters};
pub use owners::ReplicaCounters;
pub use pool::{FreeChoice, Want};
pub use reclaim::Reclaim;
pub use reduce::{Reduce, Schemes};
pub use separate::Separate;
pub use setup::{Allocation, Failure, GcCounters, Pace, Setup, Stopped};
