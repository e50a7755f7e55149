//! Host/GC split: one open block for host writes, another for pages that collection moves.
//!
//! Moved pages have survived a block's life and tend to be colder than present host writes; the two kinds of blocks age
//! differently. Source: the "double log" baseline, for example Van Houdt, Performance Evaluation 70 (2013). Parameters:
//! none. Cost: none. Memory: one more open block per domain.

use floatgate_base::{PolicyInfo, StreamId};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "host-gc",
    summary: "one open block for host writes, another for moved pages",
    source: "Van Houdt, Performance Evaluation 2013",
    params: &[],
    cost: "none",
    memory: "one more open block per plane",
};

pub const STREAMS: u32 = 2;
pub const HOST: StreamId = StreamId(0);
pub const MOVED: StreamId = StreamId(1);
