//! Twins: workloads that cannot be redistributed, recreated from their statistics.
//!
//! A twin holds countable statistics of a trace: operations, sizes, rate over time, the share and the skew of repeated
//! page accesses, and the length of runs. [`Run`] generates requests from it, [`fit()`] derives it from a trace.
//!
//! The statistics that determine write amplification and wear are controlled, not left to chance. The number of
//! requests and the span are exact, and sizes come from a law whose mean is exact. A new page is written whenever the
//! distinct pages lag behind their share. Random quantities have a standard error of a few thousandths at most.

mod arrivals;
pub mod fit;
mod laws;
mod loops;
mod region;
mod run;
mod sets;
mod statistics;

pub use fit::{Fit, fit};
pub use laws::{Content, REQUEST_BYTES_MAX, Rate, Side, SizeLaw, Skew, Visits};
pub use loops::Loops;
pub use run::Run;
pub use sets::Sets;
pub use statistics::Twin;

/// Spreads a number over all bits (the finalizer of splitmix64).
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
