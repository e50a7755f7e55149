//! Twins: workloads that no one can ship, made again from their statistics.
//!
//! A twin holds what can be counted in a trace: operations, sizes, rate over time, how many page accesses come back to
//! pages seen before, how skewed they are, how long requests run on. [`Run`] makes requests from it, [`fit()`] finds it
//! in a trace.
//!
//! What decides write amplification and wear is met by control, not by chance: the number of requests and the span are
//! exact, sizes come from a law whose mean is exact, and a page that was never written before is written whenever the
//! distinct pages lag behind their share. What is left to chance has a standard error of a few thousandths at most.

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
