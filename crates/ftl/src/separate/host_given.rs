//! Host-given: the host names the stream of each write, as multi-stream drives and NVMe FDP have it.
//!
//! The handle of a request (a trace's stream column) is its stream; handles from `handles` on share the last one. Moved
//! pages stay in the stream of the unit that they leave, so that collection does not mix what the host keeps apart.
//! Source: Kang et al., HotStorage 2014 (multi-stream); NVMe 2.1 FDP, where isolation of moved pages is "persistently
//! isolated". Cost: none. Memory: none.

use super::{Given, Moved, Separator, Shape, Stream, Written};
use floatgate_base::{ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "host-given",
    summary: "the stream or placement handle that the host names",
    source: "Kang et al., HotStorage 2014; NVMe FDP",
    params: &[ParamInfo::whole(
        "handles",
        "streams that the drive has; higher ones share the last; default 8",
        8,
        (1, 4096),
    )],
    cost: "none",
    memory: "none",
};

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    handles: u32,
}

impl Params {
    pub fn of(given: &Given<'_>) -> Self {
        Self { handles: given.whole("handles") }
    }

    pub fn streams(self) -> u32 {
        self.handles
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    last: Stream,
}

impl State {
    pub fn new(params: &Params, _: &Shape) -> Self {
        Self { last: params.handles - 1 }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> Stream {
        page.hints.handle.min(self.last)
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> Stream {
        page.from
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}
