//! Lifetime management: forecasts of a drive's life, throttling, and data reduction.
//!
//! Must not know: the map, blocks, victims. Its input is wear and write amplification as plain numbers.

pub mod demand_growth;
pub mod life;
pub mod projection;
pub mod reduce;
pub mod throttle;
pub mod worn_blocks;

pub use projection::{Projection, Wear};
pub use throttle::Throttle;
pub use worn_blocks::{BlockLife, Growth, WornBlock};

/// Hours per year, as in all the papers.
pub const HOURS_PER_YEAR: f64 = 8760.0;
/// Seconds per hour.
pub const SECONDS_PER_HOUR: f64 = 3600.0;
/// Seconds per year.
pub const SECONDS_PER_YEAR: f64 = HOURS_PER_YEAR * SECONDS_PER_HOUR;
/// Seconds per day.
pub const SECONDS_PER_DAY: f64 = 86_400.0;
/// Nanoseconds per second.
#[cfg(test)]
pub(crate) const SECOND_NS: u64 = 1_000_000_000;
