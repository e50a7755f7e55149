//! The host interface: where a request's bytes lie on the drive, which pages they touch, in which queue they wait, which
//! of them belong together, and which the DRAM buffer holds.
//!
//! Must not know: the map, blocks, what the FTL does with a label, trace formats.

pub mod buffer;
pub mod counters;
pub mod dispatch;
pub mod footprint;
mod overlaps;
pub mod placement;
pub mod queues;
pub mod split;

pub use buffer::{AwareConfig, Buffer, BufferConfig, BufferCounters, Step, Why};
pub use counters::HostCounters;
pub use dispatch::{Dispatch, DispatchCounters, Dispatcher};
pub use footprint::Footprint;
pub use placement::{Beyond, Devices, Outside, Placement};
pub use queues::{QueueOf, QueueSetup, Queues, Request};
pub use split::Splitter;
