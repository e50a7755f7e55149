//! Statistics of a run: the series over its course, confidence intervals, histograms, metrics.
//!
//! Must not know: the FTL, the flash array, configuration. Its input is numbers.

pub mod batch_means;
pub mod histogram;
pub mod latency;
pub mod metrics;
mod passes;
pub mod replications;
pub mod series;
pub mod wear_growth;

pub use batch_means::{WafEstimate, estimate_waf, student_t_975};
pub use histogram::Histogram;
pub use latency::{Cdf, Latency};
pub use replications::replication_factor;
pub use series::{Row, Series};
pub use wear_growth::{WearGrowth, growth_of, wear_growth};
