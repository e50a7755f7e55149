//! The host interface: the position of a request's bytes on the drive, the pages they touch, the host queues, the
//! labels of writes that belong together, and the DRAM buffer.
//!
//! Must not depend on the map, on blocks, on the FTL's use of a label, or on trace formats.

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
