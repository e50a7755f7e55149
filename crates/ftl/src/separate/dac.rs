//! DAC: pages rise one region with every write and sink one with every move.
//!
//! A page that the host writes again goes to the next hotter region, up to the hottest. A page that is moved out of a
//! block goes to the next colder one; a new page starts in the coldest. Streams are regions, the coldest first. Source:
//! Chiang, Lee, Chang, Software: Practice and Experience 29(3), 1999. The original also holds a page back when it has
//! been in its region for longer than a threshold, which it does not specify. This is the form without it that Wang et
//! al., FAST 2022, compare with, and with their six regions. Parameter: regions. Cost: one look-up. Memory: a byte per
//! page.

use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "dac",
    summary: "one region up with every write, one down with every move",
    source: "Chiang, Lee, Chang, Software: Practice and Experience 1999",
    params: &[ParamInfo::whole("classes", "streams", 6, (2, 256))],
    cost: "one look-up",
    memory: "a byte per page",
};

/// Parameters of DAC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    classes: u32,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self { classes: settings.whole("classes") }
    }

    pub fn streams(self) -> u32 {
        self.classes
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// Region of each page.
    region: IdVec<Lpn, u8>,
    top: u8,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        Self { region: table(shape.logical_pages as usize, 0).into(), top: (params.classes - 1) as u8 }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let region = &mut self.region[page.lpn];
        *region = if page.update { region.saturating_add(1).min(self.top) } else { 0 };
        StreamId(u32::from(*region))
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        StreamId(self.region[page.lpn].saturating_sub(1).into())
    }

    #[inline(always)]
    fn moved(&mut self, page: &Moved, stream: StreamId) {
        self.region[page.lpn] = stream.0 as u8;
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        prefetch(self.region.as_slice(), lpn.index());
    }

    fn memory_bytes(&self) -> u64 {
        self.region.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_shape;
    use super::*;

    #[test]
    fn writes_promote_and_moves_demote() {
        let mut state = State::new(&Params { classes: 3 }, &test_shape(10));
        let write = |state: &mut State, update| {
            state.write(&Written { lpn: Lpn(4), update, hints: Default::default(), now: 0 })
        };
        let streams: Vec<_> = [false, true, true, true].map(|update| write(&mut state, update)).into();
        assert_eq!(streams, [0, 1, 2, 2].map(StreamId));
        let page = Moved { lpn: Lpn(4), from: StreamId(2), now: 0 };
        for region in [1, 0, 0].map(StreamId) {
            // A query changes nothing; a move does.
            assert_eq!([state.move_stream(&page), state.move_stream(&page)], [region, region]);
            state.moved(&page, region);
        }
        assert_eq!(
            [write(&mut state, true), write(&mut state, true), write(&mut state, false)],
            [1, 2, 0].map(StreamId)
        );
    }

    #[test]
    fn all_regions_of_a_byte_can_be_used() {
        let mut state = State::new(&Params { classes: 256 }, &test_shape(1));
        let page = Written { lpn: Lpn(0), update: true, hints: Default::default(), now: 0 };
        let last = (0..300).map(|_| state.write(&page)).last();
        assert_eq!(last, Some(StreamId(255)));
    }
}
