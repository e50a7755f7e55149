//! From TOML to a plan: layers of settings, defaults, checks with places, the schema, the catalogue.
//!
//! Reading order: [`settings`] (what a user may write), [`slot_types`] (the tables of policies), [`layers`] (preset,
//! file, overrides), [`resolve`] (defaults and checks), [`catalogue`], [`schema`].
//!
//! Must not know: how a simulation runs, or what a result looks like.

pub mod catalogue;
mod checks;
mod generator;
pub mod layers;
mod policy_code;
pub mod policy_sets;
pub mod presets;
mod property;
pub mod resolve;
pub mod schema;
pub mod settings;
mod sizes;
pub mod slot_table;
pub mod slot_types;
mod tables;
mod toml_errors;
pub mod twins;

pub use generator::{Made, generator};
pub use resolve::Rated;
pub use resolve::{Resolved, resolve};
pub use settings::Experiment;

/// Returns all keys that act in timed mode alone.
pub fn acting_in_time() -> impl Iterator<Item = String> {
    settings::conditions::acting_in(floatgate_base::policy::Acts::Timed).into_iter()
}
