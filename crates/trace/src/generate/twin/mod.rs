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
mod statistics;

pub use fit::{Fit, fit};
pub use laws::{Content, REQUEST_BYTES_MAX, Rate, Side, SizeLaw, Skew, Visits};
pub use loops::Loops;
pub use run::Run;
pub use statistics::Twin;
