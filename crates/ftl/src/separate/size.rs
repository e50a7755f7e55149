//! Size: small requests are hot.
//!
//! A page is hot if its request is no longer than a bound. Moved pages keep the stream of the unit that they leave,
//! hence nothing is stored. Source: Chang, "Hybrid solid-state disks", ASP-DAC 2008, as the dissertation on PDS
//! (section 2.4.2) cites the idea; no bound is printed there, 16 KiB is ours. Cost: a comparison. Memory: none.

use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::{ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "size",
    summary: "pages of small requests separate from those of large ones",
    source: "Chang, ASP-DAC 2008",
    params: &[ParamInfo::whole(
        "small_bytes",
        "bytes, in whole pages, up to which a request is small",
        16384,
        (1, u32::MAX),
    )],
    cost: "a comparison",
    memory: "none",
};

const SMALL: StreamId = StreamId(0);
const LARGE: StreamId = StreamId(1);

/// Parameters of separation by size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    small_bytes: u32,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self { small_bytes: settings.whole("small_bytes") }
    }

    pub fn streams(self) -> u32 {
        2
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// Pages of the longest small request.
    small_pages: u32,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        Self { small_pages: params.small_bytes / shape.page_bytes }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        if page.hints.request_pages <= self.small_pages { SMALL } else { LARGE }
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        page.from
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Hints, test_shape};
    use super::*;
    use floatgate_base::Lpn;

    #[test]
    fn requests_up_to_the_bound_are_small() {
        let mut state = State::new(&Params { small_bytes: 3 * 4096 + 4095 }, &test_shape(10));
        let mut write = |request_pages| {
            let hints = Hints { request_pages, ..Hints::default() };
            state.write(&Written { lpn: Lpn(1), update: false, hints, now: 0 })
        };
        assert_eq!([1, 3, 4, 1000].map(&mut write), [SMALL, SMALL, LARGE, LARGE]);
        for from in [SMALL, LARGE] {
            assert_eq!(state.move_stream(&Moved { lpn: Lpn(1), from, now: 9 }), from);
        }
    }
}
