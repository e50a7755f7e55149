//! Host-given: the host names the stream of each write, as multi-stream drives and NVMe FDP have it.
//!
//! The handle of a request (a trace's stream column) is its stream; handles from `handles` on share the last one. Moved
//! pages stay in the stream of the unit that they leave, so that collection does not mix what the host keeps apart.
//! Source: Kang et al., HotStorage 2014 (multi-stream); NVMe 2.1 FDP, where isolation of moved pages is "persistently
//! isolated". Handles from `update_from` on hold update blocks, which collection takes last (`update_blocks_last`): a drive
//! that is told which handles PDS or IDS made of update groups. Cost: none. Memory: none; with update blocks a second
//! victim index.

use super::{Given, Moved, Separator, Shape, StreamId, UpdateBlocks, Written};
use floatgate_base::{ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "host-given",
    summary: "the stream or placement handle that the host names",
    source: "Kang et al., HotStorage 2014; NVMe FDP",
    params: &[
        ParamInfo::whole("handles", "streams that the drive has; higher ones share the last", 8, (1, 4096)),
        ParamInfo::whole(
            "update_from",
            "handle from which on they hold update blocks; beyond the last one none does",
            4096,
            (0, 4096),
        ),
        UpdateBlocks::PARAM,
    ],
    cost: "none",
    memory: "none",
};

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    handles: u32,
    update_from: u32,
    update_blocks: UpdateBlocks,
}

impl Params {
    pub fn of(given: &Given) -> Self {
        Self {
            handles: given.whole("handles"),
            update_from: given.whole("update_from"),
            update_blocks: UpdateBlocks::of(given),
        }
    }

    pub fn streams(self) -> u32 {
        self.handles
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    last: StreamId,
    update_from: StreamId,
    update_blocks: UpdateBlocks,
}

impl State {
    pub fn new(params: &Params, _: &Shape) -> Self {
        let none = params.update_from >= params.handles;
        let update_blocks = if none { UpdateBlocks::AsAny } else { params.update_blocks };
        Self { last: StreamId(params.handles - 1), update_from: StreamId(params.update_from), update_blocks }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        StreamId(page.hints.handle).min(self.last)
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        page.from
    }

    fn update_blocks(&self) -> UpdateBlocks {
        self.update_blocks
    }

    fn is_last(&self, stream: StreamId) -> bool {
        stream >= self.update_from
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}
