//! @title@: Replace: which pages it separates, in one line.
//!
//! Source: Replace: authors and venue, or floatgate.
//! Parameters: none. Cost: O(1) per page. Memory: none.

use super::{Given, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::PolicyInfo;
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "@name@",
    summary: "Replace: which pages it separates",
    source: "floatgate",
    params: &[],
    cost: "O(1) per page",
    memory: "none",
};

const NEW: StreamId = StreamId(0);
const UPDATED: StreamId = StreamId(1);

/// The separator has no parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params;

impl Params {
    pub fn of(_: &Given) -> Self {
        Self
    }

    pub fn streams(self) -> u32 {
        2
    }
}

/// State of the separator, stored in snapshots. Replace: its tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State;

impl State {
    pub fn new(_: &Params, _: &Shape) -> Self {
        Self
    }
}

impl Separator for State {
    // Replace: the stream of a page that the host writes. Here pages that held data before are apart.
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        if page.update { UPDATED } else { NEW }
    }

    // Replace: the stream of a page that a job moves.
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

    // Replace: the worked example of the source.
    #[test]
    fn updates_are_apart() {
        let mut state = State::new(&Params, &test_shape(10));
        let mut write =
            |update| state.write(&Written { lpn: Lpn(1), update, hints: Hints::default(), now: 0 });
        assert_eq!([false, true].map(&mut write), [NEW, UPDATED]);
        assert_eq!(state.move_stream(&Moved { lpn: Lpn(1), from: UPDATED, now: 9 }), UPDATED);
    }
}
