//! ETI: hot and cold extents of addresses, and moved pages by themselves.
//!
//! Every extent of 1 MiB counts the page writes into it; counts fade to a half each period. An extent is hot while its count
//! is above the mean of all extents that were ever written. Writes of hot and of cold extents have a stream each, moved
//! pages a third.
//! Source: Shafaei, Desnoyers, Fitzpatrick, HotStorage 2016, who split and join extents as requests cut them, in a bounded
//! tree, with counts of 4 bits that are halved every so many requests, hot from a fixed count on. Here extents are of one
//! size and the mean takes the place of the count, so that one setting serves drives of all sizes; a third stream for moved
//! pages as in the evaluation of Wang et al., FAST 2022. Cost: one look-up. Memory: 8 bytes an extent.

use super::{Given, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "eti",
    summary: "hot and cold extents of addresses, and moved pages",
    source: "Shafaei, Desnoyers, Fitzpatrick, HotStorage 2016",
    params: &[
        ParamInfo::whole("extent_bytes", "bytes of an extent", 1 << 20, (512, 1 << 31)),
        ParamInfo::whole("halve_every_writes", "page writes between two halvings", 65536, (1, u32::MAX)),
    ],
    cost: "one look-up",
    memory: "8 bytes an extent",
};

const HOT: StreamId = StreamId(0);
const COLD: StreamId = StreamId(1);
const MOVED: StreamId = StreamId(2);

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    extent_bytes: u32,
    halve_every: u32,
}

impl Params {
    pub fn of(given: &Given) -> Self {
        Self { extent_bytes: given.whole("extent_bytes"), halve_every: given.whole("halve_every_writes") }
    }

    pub fn streams(self) -> u32 {
        3
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Extent {
    count: u32,
    /// Halvings that the count has seen, and one more: 0 means never written.
    halvings: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    extents: Vec<Extent>,
    /// An extent has 2 to this power pages.
    shift: u32,
    halve_every: u32,
    /// Writes until the next halving, and halvings so far and one more.
    left: u32,
    halvings: u32,
    /// Sum of all counts, and extents that were ever written.
    sum: f64,
    written: u32,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        let shift = (params.extent_bytes / shape.page_bytes).max(1).ilog2();
        let extents = (shape.logical_pages as usize).div_ceil(1 << shift);
        Self {
            extents: table(extents, Extent::default()),
            shift,
            halve_every: params.halve_every,
            left: params.halve_every,
            halvings: 1,
            sum: 0.0,
            written: 0,
        }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let extent = &mut self.extents[(page.lpn.0 >> self.shift) as usize];
        self.written += u32::from(extent.halvings == 0);
        let count = extent.count.checked_shr(self.halvings - extent.halvings).unwrap_or(0);
        *extent = Extent { count: count.saturating_add(1), halvings: self.halvings };
        self.sum += 1.0;
        let hot = f64::from(count) + 1.0 > self.sum / f64::from(self.written);
        self.left -= 1;
        if self.left == 0 {
            self.left = self.halve_every;
            self.halvings = self.halvings.saturating_add(1);
            self.sum /= 2.0;
        }
        if hot { HOT } else { COLD }
    }

    #[inline(always)]
    fn move_stream(&self, _: &Moved) -> StreamId {
        MOVED
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.extents, (lpn.0 >> self.shift) as usize);
    }

    fn memory_bytes(&self) -> u64 {
        self.extents.len() as u64 * 8
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![("mean_count", if self.written > 0 { self.sum / f64::from(self.written) } else { 0.0 })]
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_shape;
    use super::*;

    fn write(state: &mut State, lpn: u32) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update: true, hints: Default::default(), now: 0 })
    }

    #[test]
    fn extents_above_the_mean_are_hot_until_their_count_fades() {
        // Extents of 2 pages; halved every 8 writes.
        let mut state = State::new(&Params { extent_bytes: 8192 + 4096, halve_every: 8 }, &test_shape(9));
        assert_eq!((state.extents.len(), state.memory_bytes()), (5, 40));
        // 1 of a mean of 1; 2 of 2; extent 1: 1 of 1.5; extent 0: 3 of 2.
        assert_eq!([0, 1, 2, 0].map(|lpn| write(&mut state, lpn)), [COLD, COLD, COLD, HOT]);
        assert_eq!(state.move_stream(&Moved { lpn: Lpn(0), from: HOT, now: 0 }), MOVED);
        // Extent 4, of one page: 1 of 5/3, 2 of 2, 3 of 7/3, 4 of 8/3.
        assert_eq!([8, 8, 8, 8].map(|lpn| write(&mut state, lpn)), [COLD, COLD, HOT, HOT]);
        // Halved: 1, 0, 2 of sum 4. Extent 0: 2 of 5/3; extent 1: 1 of 2.
        assert_eq!([0, 2].map(|lpn| write(&mut state, lpn)), [HOT, COLD]);
        // Extent 4 is halved when it is written next: 3 of 7/3.
        assert_eq!(write(&mut state, 8), HOT);
    }

    #[test]
    fn long_rest_clears_a_count() {
        let mut state = State::new(&Params { extent_bytes: 4096, halve_every: 1 }, &test_shape(1_000_000));
        let bytes = state.memory_bytes();
        (0..1_000_000).for_each(|lpn| _ = write(&mut state, lpn));
        assert_eq!((state.extents[0].count, state.memory_bytes()), (1, bytes));
        write(&mut state, 0);
        assert_eq!(state.extents[0].count, 1, "nothing was left of the first");
    }
}
