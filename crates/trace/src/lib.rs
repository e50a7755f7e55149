//! Trace readers and workload generators: everything that yields batches of requests.
//!
//! Must not know: drives, pages of flash, policies, configuration files.

pub mod source;

pub use source::{Source, Summary};
