//! The host interface: where a request's bytes lie on the drive, and which pages they touch.
//!
//! Must not know: the map, blocks, policies, trace formats.

pub mod counters;
pub mod footprint;
pub mod placement;
pub mod split;

pub use counters::HostCounters;
pub use footprint::Footprint;
pub use placement::{Beyond, Devices, Outside, Placement};
pub use split::Splitter;
