//! ETI: hot and cold extents of addresses, and a stream for moved pages.
//!
//! Each extent of 1 MiB counts the page writes into it; counts fade to a half each period. An extent is hot while its
//! count is above the mean of all extents ever written. Writes of hot and of cold extents have a stream each, moved
//! pages a third. Source: Shafaei, Desnoyers, Fitzpatrick, HotStorage 2016, who split and join extents as requests cut
//! them, in a bounded tree. Their counts have 4 bits and are halved after a number of requests; extents are hot from a
//! fixed count on. Here extents have one size and the mean replaces the fixed count, which makes one setting serve
//! drives of all sizes. The third stream for moved pages is as in the evaluation of Wang et al., FAST 2022. `variant =
//! "artifact"` is closer to the paper: a table of unequal extents, as in the public simulator of that evaluation. At
//! first one extent covers the whole drive. Requests cut extents, up to 1024 of them; a request that would cut one more
//! counts only in extents that it covers completely. Counts saturate at 15. Every 4096 requests they are halved, and
//! neighbours are joined whose counts are equal, or both below 4. From 4 on an extent is hot. Cost: one look-up; a
//! binary search under `artifact`. Memory: 8 bytes per extent.

use super::requests::Requests;
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written, variant};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "eti",
    summary: "hot and cold extents of addresses, and moved pages",
    source: "Shafaei, Desnoyers, Fitzpatrick, HotStorage 2016",
    params: &[
        ParamInfo::whole("extent_bytes", "bytes per extent", 1 << 20, (512, 1 << 31)),
        ParamInfo::whole("halve_every_writes", "page writes between two halvings", 65536, (1, u32::MAX)),
        variant::PARAM,
    ],
    cost: "one look-up",
    memory: "8 bytes per extent",
};

const HOT: StreamId = StreamId(0);
const COLD: StreamId = StreamId(1);
const MOVED: StreamId = StreamId(2);

/// Parameters of ETI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    extent_bytes: u32,
    halve_every: u32,
    artifact: bool,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            extent_bytes: settings.whole("extent_bytes"),
            halve_every: settings.whole("halve_every_writes"),
            artifact: variant::is_artifact(settings),
        }
    }

    pub fn streams(self) -> u32 {
        3
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Extent {
    count: u32,
    /// Halvings applied to the count, plus one; 0 means never written.
    halvings: u32,
}

/// The state, by variant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum State {
    Paper(Equal),
    Artifact(Cut),
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        match params.artifact {
            false => Self::Paper(Equal::new(params, shape)),
            true => Self::Artifact(Cut::new()),
        }
    }
}

/// Extents of equal size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Equal {
    extents: Vec<Extent>,
    /// Binary logarithm of the pages of an extent.
    shift: u32,
    halve_every: u32,
    /// Writes until the next halving, and halvings so far plus one.
    left: u32,
    halvings: u32,
    /// Sum of all counts, and number of extents ever written.
    sum: f64,
    written: u32,
}

impl Equal {
    fn new(params: &Params, shape: &Shape) -> Self {
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

impl Separator for Equal {
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

/// For extents cut by requests: their largest number, the largest count, the least count of a hot one, and requests
/// between two halvings.
const CUT_MAX: usize = 1024;
const COUNT_MAX: u8 = 15;
const HOT_FROM: u8 = 4;
const HALVE_EVERY_REQUESTS: u32 = 4096;

/// An extent, from its first page to that of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Piece {
    first: Lpn,
    count: u8,
}

/// Extents cut by requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cut {
    /// In the order of their addresses; the first begins at page 0, the last is unbounded.
    pieces: Vec<Piece>,
    requests: Requests,
    /// Requests until the next halving.
    left: u32,
}

impl Cut {
    fn new() -> Self {
        // A request cuts an extent in three at most.
        let mut pieces = Vec::with_capacity(CUT_MAX + 2);
        pieces.push(Piece { first: Lpn(0), count: 0 });
        Self { pieces, requests: Requests::new(), left: HALVE_EVERY_REQUESTS }
    }

    /// Returns the extent that holds a page.
    #[inline(always)]
    fn find(&self, lpn: Lpn) -> usize {
        self.pieces.partition_point(|piece| piece.first <= lpn) - 1
    }

    /// Counts a request.
    fn count(&mut self, mut at: Lpn, pages: u32) {
        let end = Lpn(at.0.saturating_add(pages));
        while at < end {
            let i = self.find(at);
            let Piece { first, count } = self.pieces[i];
            let next = self.pieces.get(i + 1).map_or(Lpn::MAX, |piece| piece.first);
            let (cuts_front, cuts_back) = (first < at, end < next);
            if count < COUNT_MAX {
                if !cuts_front && !cuts_back {
                    self.pieces[i].count += 1;
                } else if self.pieces.len() < CUT_MAX {
                    if cuts_back {
                        self.pieces.insert(i + 1, Piece { first: end, count });
                    }
                    if cuts_front {
                        self.pieces.insert(i + 1, Piece { first: at, count: count + 1 });
                    } else {
                        self.pieces[i].count += 1;
                    }
                }
            }
            at = next;
        }
    }

    /// Halves all counts and joins neighbours of equal heat.
    fn halve(&mut self) {
        let mut last = None;
        self.pieces.retain_mut(|piece| {
            piece.count /= 2;
            let joins =
                last == Some(piece.count) || last.is_some_and(|last| last.max(piece.count) < HOT_FROM);
            if !joins {
                last = Some(piece.count);
            }
            !joins
        });
    }
}

impl Separator for Cut {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        if self.requests.write(page).begins {
            self.left -= 1;
            if self.left == 0 {
                self.left = HALVE_EVERY_REQUESTS;
                self.halve();
            }
            self.count(page.lpn, page.hints.request_pages.max(1));
        }
        if self.pieces[self.find(page.lpn)].count >= HOT_FROM { HOT } else { COLD }
    }

    #[inline(always)]
    fn move_stream(&self, _: &Moved) -> StreamId {
        MOVED
    }

    fn memory_bytes(&self) -> u64 {
        (CUT_MAX + 2) as u64 * 8
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![("extents", self.pieces.len() as f64)]
    }
}

/// Dispatches to the variant, each in code of its own.
macro_rules! by_rule {
    ($state:expr, $rule:ident => $body:expr) => {
        match $state {
            State::Paper($rule) => $body,
            State::Artifact($rule) => $body,
        }
    };
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        by_rule!(self, rule => rule.write(page))
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        by_rule!(self, rule => rule.move_stream(page))
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        by_rule!(self, rule => rule.prefetch(lpn));
    }

    fn memory_bytes(&self) -> u64 {
        by_rule!(self, rule => rule.memory_bytes())
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        by_rule!(self, rule => rule.figures())
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_shape;
    use super::*;

    fn write(state: &mut impl Separator, lpn: u32) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update: true, hints: Default::default(), now: 0 })
    }

    #[test]
    fn extents_above_the_mean_are_hot_until_their_count_fades() {
        // Extents of 2 pages; halved every 8 writes.
        let params = Params { extent_bytes: 8192 + 4096, halve_every: 8, artifact: false };
        let mut state = Equal::new(&params, &test_shape(9));
        assert_eq!((state.extents.len(), state.memory_bytes()), (5, 40));
        assert_eq!(state.figures(), [("mean_count", 0.0)]);
        // 1 of a mean of 1; 2 of 2; extent 1: 1 of 1.5; extent 0: 3 of 2.
        assert_eq!([0, 1, 2, 0].map(|lpn| write(&mut state, lpn)), [COLD, COLD, COLD, HOT]);
        assert_eq!(state.move_stream(&Moved { lpn: Lpn(0), from: HOT, now: 0 }), MOVED);
        assert_eq!(state.figures(), [("mean_count", 2.0)], "3 and 1");
        // Extent 4, of one page: 1 of 5/3, 2 of 2, 3 of 7/3, 4 of 8/3.
        assert_eq!([8, 8, 8, 8].map(|lpn| write(&mut state, lpn)), [COLD, COLD, HOT, HOT]);
        // Halved: 1, 0, 2 of sum 4. Extent 0: 2 of 5/3; extent 1: 1 of 2.
        assert_eq!([0, 2].map(|lpn| write(&mut state, lpn)), [HOT, COLD]);
        // Extent 4 is halved when it is written next: 3 of 7/3.
        assert_eq!(write(&mut state, 8), HOT);
    }

    #[test]
    fn long_rest_clears_a_count() {
        let params = Params { extent_bytes: 4096, halve_every: 1, artifact: false };
        let mut state = Equal::new(&params, &test_shape(1_000_000));
        let bytes = state.memory_bytes();
        (0..1_000_000).for_each(|lpn| _ = write(&mut state, lpn));
        assert_eq!((state.extents[0].count, state.memory_bytes()), (1, bytes));
        write(&mut state, 0);
        assert_eq!(state.extents[0].count, 1, "nothing was left of the first");
    }

    fn pieces(state: &Cut) -> Vec<(u32, u8)> {
        state.pieces.iter().map(|piece| (piece.first.0, piece.count)).collect()
    }

    #[test]
    fn requests_cut_extents_which_join_when_they_cool() {
        let mut state = Cut::new();
        state.count(Lpn(8), 4);
        assert_eq!(pieces(&state), [(0, 0), (8, 1), (12, 0)]);
        // The second half of one, all of the next, and the first half of one.
        state.count(Lpn(4), 4);
        state.count(Lpn(8), 4);
        state.count(Lpn(10), 4);
        assert_eq!(pieces(&state), [(0, 0), (4, 1), (8, 2), (10, 3), (12, 1), (14, 0)]);
        assert_eq!([write(&mut state, 10), write(&mut state, 11)], [HOT, HOT], "requests of one page");
        assert_eq!(pieces(&state)[3..5], [(10, 4), (11, 4)]);
        // Halved, all are below 4 and join; the count is that of the first.
        state.halve();
        assert_eq!(pieces(&state), [(0, 0)]);
        // Equal counts join from 4 on, and counts saturate at 15.
        (0..20).for_each(|_| state.count(Lpn(4), 2));
        (0..9).for_each(|_| state.count(Lpn(6), 2));
        (0..15).for_each(|_| state.count(Lpn(8), 2));
        assert_eq!(pieces(&state), [(0, 0), (4, 15), (6, 9), (8, 15), (10, 0)]);
        state.halve();
        assert_eq!(pieces(&state), [(0, 0), (4, 7), (6, 4), (8, 7), (10, 0)]);
        state.count(Lpn(6), 1);
        state.count(Lpn(7), 1);
        (0..3).for_each(|_| state.count(Lpn(6), 2));
        assert_eq!(pieces(&state)[2..4], [(6, 8), (7, 8)]);
        state.halve();
        assert_eq!(pieces(&state), [(0, 0), (6, 4), (8, 3)], "4 joins 0, 7 joins 6, 10 joins 8");
    }

    /// Beyond the largest number of single pages, only extents covered completely count.
    #[test]
    fn extents_are_bounded() {
        let mut state = Cut::new();
        (0..5000).for_each(|i| state.count(Lpn(3 * i + 1), 1));
        assert_eq!(state.pieces.len(), CUT_MAX + 1);
        let before = pieces(&state);
        state.count(Lpn(9001), 1);
        assert_eq!(pieces(&state), before);
        state.count(Lpn(4), 1);
        assert_eq!(pieces(&state)[..3], [(0, 0), (1, 1), (2, 0)]);
        assert_eq!(state.pieces[state.find(Lpn(4))].count, 2);
        assert_eq!(state.pieces.capacity(), CUT_MAX + 2);
    }
}
