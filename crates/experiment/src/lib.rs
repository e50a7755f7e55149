//! One run, from the text of an experiment to its result: the common entry of command line, Python package, goldens and
//! benchmarks.
//!
//! The only crate that reads a clock; the clock fills the `run` table of a result and nothing else (`meter.rs`).
//!
//! Must not know: Python, terminals, run folders.

mod amplification;
mod block_lives;
mod buffer;
mod by_cause;
mod close_up;
mod dispatch;
mod dpes;
mod energy;
mod evidence;
mod host_queues;
mod idle_time;
mod life_interval;
pub mod lifetime;
mod lifetime_json;
mod lifetime_laps;
mod lifetime_pieces;
mod lifetime_results;
mod lifetime_variant;
pub mod live;
mod load;
pub mod meter;
mod one_life;
mod options;
mod precondition;
mod quantiles;
mod reclaim;
mod reduce;
pub mod requests;
pub mod result;
pub mod run;
mod run_lifetime;
mod separate;
mod shared_traces;
pub mod snapshot;
mod throttling;
mod throughput;
mod timing;
pub mod waveform;
mod workers;

pub use close_up::forecast_toml;
pub use floatgate_flash::timed::{Span, Timeline};
pub use floatgate_flash::{Cause, CauseInfo};
pub use floatgate_sim::reading::rate::WriteRate;
pub use floatgate_sim::{Mode, PinWindow, RequestRows, RequestSink};
pub use floatgate_stats::Row;
pub use lifetime::{LifetimeOptions, lifetime, write_rate};
pub use lifetime_json::SCHEMA as FORECAST_SCHEMA;
pub use live::{Live, LiveOptions};
pub use load::{experiment_toml, load};
pub use options::{Options, Progress};
pub use result::config_hash;
pub use run::{Output, resume, run, run_logged, run_with};
pub use waveform::Waveform;
