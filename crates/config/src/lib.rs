//! From TOML to a plan: layers of settings, defaults, checks with places, the schema, the catalogue.
//!
//! Reading order: [`raw`] (what a user may write), [`slots`] (the tables of policies), [`layers`] (preset, file,
//! overrides), [`resolve`] (defaults and checks), [`catalogue`], [`schema`].
//!
//! Must not know: how a simulation runs, or what a result looks like.

pub mod catalogue;
mod generator;
pub mod layers;
pub mod presets;
pub mod raw;
pub mod resolve;
mod resolve_arrival;
mod resolve_buffer;
mod resolve_content;
mod resolve_dispatch;
mod resolve_drive;
mod resolve_ftl;
mod resolve_host;
mod resolve_level;
mod resolve_lifetime;
mod resolve_mapping;
mod resolve_precondition;
mod resolve_rated;
mod resolve_reclaim;
mod resolve_reduce;
mod resolve_slot;
mod resolve_stop;
mod resolve_timed;
mod resolve_workload;
pub mod schema;
pub mod slot_table;
pub mod slot_types;
mod tables;
pub mod twins;

pub use generator::{Made, generator};
pub use raw::Experiment;
pub use resolve::{Resolved, resolve};
pub use resolve_rated::Rated;
