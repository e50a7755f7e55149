//! The host interface: where a request's bytes lie on the drive, which pages they touch, and which of them the DRAM
//! buffer holds.
//!
//! Must not know: the map, blocks, policies, trace formats.

pub mod buffer;
pub mod counters;
pub mod footprint;
pub mod placement;
pub mod split;

pub use buffer::{Buffer, BufferConfig, BufferCounters, Step, Why};
pub use counters::HostCounters;
pub use footprint::Footprint;
pub use placement::{Beyond, Devices, Outside, Placement};
pub use split::Splitter;
