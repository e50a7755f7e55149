//! Lifetime management: how long a drive lasts, and what makes it last longer.
//!
//! Must not know: the map, blocks, victims. Wear and write amplification reach it as plain numbers.

pub mod demand_growth;
pub mod life;
pub mod projection;
pub mod reduce;
pub mod throttle;
pub mod worn_blocks;

pub use projection::{Projection, Wear};
pub use throttle::Throttle;
pub use worn_blocks::{BlockLife, Growth, WornBlock};

/// Hours in a year, as in all the papers.
pub const HOURS_PER_YEAR: f64 = 8760.0;
/// Seconds in an hour.
pub const SECONDS_PER_HOUR: f64 = 3600.0;
/// Seconds in a year.
pub const SECONDS_PER_YEAR: f64 = HOURS_PER_YEAR * SECONDS_PER_HOUR;
/// Seconds in a day.
pub const SECONDS_PER_DAY: f64 = 86_400.0;
/// Nanoseconds in a second.
#[cfg(test)]
pub(crate) const SECOND_NS: u64 = 1_000_000_000;
