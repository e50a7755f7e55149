//! Future knowledge: classifies pages by the rest of their lives, in units of a segment.
//!
//! The bound that SepBIT is compared with. A page that dies within one unit's pages of host page writes goes to the
//! first class, within two to the second, within `n` to the `n`-th. The last class takes all longer lives. Moved pages
//! are classified by the rest of their lives at that time. The workload is read twice: first to learn when data die.
//! Source: Wang et al., "Separating Data via Block Invalidation Time Inference for Write Amplification Reduction in
//! Log-Structured Storage", FAST 2022 (FK), and its published artifact: class `min(left / segment, classes - 1)`, six
//! classes. Cost: two look-ups. Memory: 4 bytes per logical page, 4 per host page write of the workload.

use super::foresight::Foresight;
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "fk",
    summary: "oracle: pages by the rest of their lives, in units of a block's (superblock's) writes",
    source: "Wang et al., FAST 2022 (SepBIT)",
    params: &[ParamInfo::whole("classes", "classes of lifespans", 6, (1, 1024))],
    cost: "two look-ups",
    memory: "4 bytes per logical page, 4 per host page write of the workload",
};

/// Parameters of future knowledge.
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
    classes: u32,
    pages_per_unit: u32,
    future: Foresight,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        let Params { classes } = *params;
        Self { classes, pages_per_unit: shape.pages_per_unit, future: Foresight::default() }
    }

    #[inline(always)]
    fn class(&self, left: Option<u32>) -> StreamId {
        StreamId(left.map_or(self.classes - 1, |left| (left / self.pages_per_unit).min(self.classes - 1)))
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let left = self.future.write(page.lpn, page.now);
        self.class(left)
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        self.class(self.future.left(page.lpn, page.now))
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.future.prefetch(lpn);
    }

    fn foresight(&self) -> Option<&Foresight> {
        Some(&self.future)
    }

    fn future(&mut self) -> Option<&mut Foresight> {
        Some(&mut self.future)
    }

    fn memory_bytes(&self) -> u64 {
        self.future.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Hints;
    use super::super::foresight::NEVER;
    use super::*;

    /// Units of four pages, three classes: lives of 1 to 3, of 4 to 7, and longer.
    #[test]
    fn classes_by_hand() {
        let shape =
            Shape { logical_pages: 8, pages_per_unit: 4, units: 8, domains: 1, page_bytes: 4096, seed: 0 };
        let mut state = State::new(&Params { classes: 3 }, &shape);
        let next = vec![3, 5, 9, 11, NEVER, 12];
        *state.future().unwrap() = Foresight::new(next, vec![0; 8].into());
        assert_eq!(state.foresight().unwrap().next(), [3, 5, 9, 11, NEVER, 12]);
        state.future().unwrap().begin_at(100);
        let write = |state: &mut State, lpn, now| {
            state.write(&Written { lpn: Lpn(lpn), update: false, hints: Hints::default(), now })
        };
        let classes: Vec<_> = (0..6).map(|i| write(&mut state, i, 100 + u64::from(i))).collect();
        // Lifespans 3, 4, 7, 8, unlimited, 7.
        assert_eq!(classes, [0, 1, 1, 2, 2, 1].map(StreamId));
        let moved = |lpn, now| state.move_stream(&Moved { lpn: Lpn(lpn), from: StreamId(0), now });
        // After eight writes of the workload, page 3 has three left, and page 4 lives on.
        assert_eq!([moved(3, 108), moved(4, 108), moved(5, 108)], [0, 2, 1].map(StreamId));
    }
}
