//! Host-given: the host names the stream of each write, as in multi-stream drives and NVMe FDP.
//!
//! The handle of a request (a trace's stream column) is its stream; handles from `handles` on share the last one.
//! `isolation` decides where collection moves pages, after the types of reclaim unit handles of NVMe FDP (TP4146).
//! Persistently isolated data stay with their handle for good. They go to the unit that takes the host's writes of it
//! (`persistent`) or to one that takes moved pages alone (`persistent-apart`). The specification allows both; a host
//! that tracks the rest of its reclaim units needs the second. Initially isolated data of all handles meet in one
//! additional stream once they have been moved (`initial`). Each additional stream is an additional open unit. Source:
//! Kang et al., HotStorage 2014 (multi-stream); NVMe 2.1 FDP. Handles from `update_from` on hold update blocks, which
//! collection takes last (`update_blocks_last`): the drive then knows which handles PDS or IDS made of update groups.
//! Pages moved out of them are in update blocks as long as they stay with their handle. Cost: none. Memory: none; with
//! update blocks a second victim index.

use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, UpdateBlocks, Written};
use floatgate_base::{ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

const PERSISTENT: &str = "persistent";
const APART: &str = "persistent-apart";
const INITIAL: &str = "initial";

pub const INFO: PolicyInfo = PolicyInfo {
    name: "host-given",
    summary: "the stream or placement handle named by the host",
    source: "Kang et al., HotStorage 2014; NVMe FDP",
    params: &[
        ParamInfo::whole("handles", "streams that the drive has; higher ones share the last", 8, (1, 4096)),
        ParamInfo::name(
            "isolation",
            "which unit a moved page joins",
            &[
                (PERSISTENT, "the one that takes the host's writes of its handle"),
                (APART, "one of its handle that takes moved pages alone"),
                (INITIAL, "one for moved pages of all handles"),
            ],
        ),
        ParamInfo::whole(
            "update_from",
            "first handle of update blocks; beyond the last handle for none",
            4096,
            (0, 4096),
        ),
        // A user who names handles of update blocks wants them last.
        UpdateBlocks::param(1),
    ],
    cost: "none",
    memory: "none",
};

/// Where moved pages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Isolation {
    Persistent,
    PersistentApart,
    Initial,
}

impl Isolation {
    fn of(settings: &ChosenPolicy) -> Self {
        match settings.text("isolation") {
            INITIAL => Self::Initial,
            APART => Self::PersistentApart,
            _ => Self::Persistent,
        }
    }

    /// Returns the number of streams for moved pages alone.
    fn streams(self, handles: u32) -> u32 {
        match self {
            Self::Persistent => 0,
            Self::PersistentApart => handles,
            Self::Initial => 1,
        }
    }
}

/// Parameters of host-given streams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    handles: u32,
    isolation: Isolation,
    update_from: u32,
    update_blocks: UpdateBlocks,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            handles: settings.whole("handles"),
            isolation: Isolation::of(settings),
            update_from: settings.whole("update_from"),
            update_blocks: UpdateBlocks::of(settings),
        }
    }

    pub fn streams(self) -> u32 {
        self.handles + self.isolation.streams(self.handles)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    handles: u32,
    isolation: Isolation,
    update_from: StreamId,
    update_blocks: UpdateBlocks,
}

impl State {
    pub fn new(params: &Params, _: &Shape) -> Self {
        let none = params.update_from >= params.handles;
        let update_blocks = if none { UpdateBlocks::AsAny } else { params.update_blocks };
        let Params { handles, isolation, update_from, .. } = *params;
        Self { handles, isolation, update_from: StreamId(update_from), update_blocks }
    }

    /// Returns the handle that a stream belongs to; none for the stream in which all handles meet.
    fn handle(&self, stream: StreamId) -> Option<StreamId> {
        match self.isolation {
            Isolation::Persistent => Some(stream),
            Isolation::PersistentApart => Some(StreamId(stream.0 % self.handles)),
            Isolation::Initial => (stream.0 < self.handles).then_some(stream),
        }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        StreamId(page.hints.handle.min(self.handles - 1))
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        match self.isolation {
            Isolation::Persistent => page.from,
            // Streams of moved pages follow those of the handles, in their order.
            Isolation::PersistentApart => {
                StreamId(page.from.0.max(page.from.0 % self.handles + self.handles))
            }
            Isolation::Initial => StreamId(self.handles),
        }
    }

    fn update_blocks(&self) -> UpdateBlocks {
        self.update_blocks
    }

    fn is_last(&self, stream: StreamId) -> bool {
        self.handle(stream).is_some_and(|handle| handle >= self.update_from)
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Hints, SLOT, Separate, test_shape};
    use super::*;
    use floatgate_base::{Lpn, Setting};

    fn separate(isolation: &str, update_from: u32) -> (State, u32) {
        let values = [
            ("handles", 3.into()),
            ("isolation", Setting::Name(isolation.into())),
            ("update_from", update_from.into()),
        ];
        let facts =
            floatgate_base::policy::Facts { pe_cycles: 3000, ..floatgate_base::policy::Facts::default() };
        let settings = SLOT.fill(&INFO, &values, &facts).unwrap();
        (State::new(&Params::of(&settings), &test_shape(64)), Separate::of(&settings).streams())
    }

    fn written(state: &mut State, handle: u32) -> u32 {
        let hints = Hints { handle, ..Hints::default() };
        state.write(&Written { lpn: Lpn(0), update: false, hints, now: 0 }).0
    }

    fn moved(state: &State, from: u32) -> u32 {
        state.move_stream(&Moved { lpn: Lpn(0), from: StreamId(from), now: 0 }).0
    }

    /// Three handles, one page of each, moved twice.
    #[test]
    fn moved_pages_stay_with_their_handle_or_meet() {
        for (isolation, streams, once, twice) in [
            ("persistent", 3, [0, 1, 2], [0, 1, 2]),
            ("persistent-apart", 6, [3, 4, 5], [3, 4, 5]),
            ("initial", 4, [3, 3, 3], [3, 3, 3]),
        ] {
            let (mut state, had) = separate(isolation, 4096);
            assert_eq!(had, streams, "{isolation}");
            let first = [0, 1, 2].map(|handle| written(&mut state, handle));
            assert_eq!(first, [0, 1, 2], "{isolation}");
            assert_eq!(first.map(|from| moved(&state, from)), once, "{isolation}");
            assert_eq!(once.map(|from| moved(&state, from)), twice, "{isolation}");
            // Handles that the drive does not have share the last one.
            assert_eq!([3, 7, u32::MAX].map(|handle| written(&mut state, handle)), [2, 2, 2], "{isolation}");
        }
    }

    /// Handle 2 holds update blocks. So do units of pages moved out of them, unless they mix with pages of other
    /// handles.
    #[test]
    fn moved_pages_are_update_blocks_while_they_are_isolated() {
        for (isolation, last) in [
            ("persistent", vec![false, false, true]),
            ("persistent-apart", vec![false, false, true, false, false, true]),
            ("initial", vec![false, false, true, false]),
        ] {
            let (state, streams) = separate(isolation, 2);
            let is_last: Vec<_> = (0..streams).map(|stream| state.is_last(StreamId(stream))).collect();
            assert_eq!(is_last, last, "{isolation}");
        }
    }
}
