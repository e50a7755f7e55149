//! None: host writes and moved pages share one open block per domain.
//!
//! Source: the drive of the closed forms. Parameters: none. Cost: none. Memory: none.

use floatgate_base::{PolicyInfo, StreamId};

pub const INFO: PolicyInfo =
    PolicyInfo::plain("none", "host writes and moved pages share one open block per plane");

pub const STREAMS: u32 = 1;
pub const STREAM: StreamId = StreamId(0);
