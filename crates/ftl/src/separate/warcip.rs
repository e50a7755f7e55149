//! WARCIP: clusters pages by rewrite interval, with k-means that adapts to the writes.
//!
//! A write joins the cluster whose centre is nearest to its rewrite interval: page writes since its last write, plus a
//! penalty if it was moved meanwhile. The penalty is its age at the last move. The centre moves to the mean of its
//! intervals, over at most as many as a unit has pages. Every 256 units that the host has filled, a cluster with over
//! half of the writes is split, if one is idle: the idle one gets the midpoint to the next lower centre. Otherwise the
//! first with less than a unit of writes is merged: it idles, and its pages go to its neighbours. Moved pages have
//! stream 0 to themselves. Source: Yang, Pei, Yang, SYSTOR 2019, in page writes instead of time; moves, penalty and the
//! 256 units as in the evaluation of Wang et al., FAST 2022. Our choices: a page's first write joins the largest centre
//! and shifts none; centres start as powers of 4 down from the number of logical pages. Cost: O(classes). Memory: 8
//! bytes per page.

use super::last_writes::LastWrites;
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "warcip",
    summary: "clusters of rewrite intervals, split and merged as the writes change",
    source: "Yang, Pei, Yang, SYSTOR 2019",
    params: &[
        ParamInfo::whole("classes", "streams", 6, (2, 64)),
        ParamInfo::whole(
            "period_units",
            "units filled by the host between two adaptations of the clusters",
            256,
            (1, 1 << 20),
        ),
    ],
    cost: "O(classes)",
    memory: "8 bytes per page",
};

const MOVED: StreamId = StreamId(0);
/// The first cluster's stream.
const FIRST: StreamId = StreamId(1);

/// Upper bound of centres: an age and a penalty of 32 bits each.
const LONGEST: f64 = 2.0 * u32::MAX as f64;

/// Parameters of WARCIP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    classes: u32,
    period_units: u32,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self { classes: settings.whole("classes"), period_units: settings.whole("period_units") }
    }

    pub fn streams(self) -> u32 {
        self.classes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Cluster {
    /// None while it is idle.
    centre: Option<f64>,
    /// Intervals in the mean.
    intervals: u32,
    /// Writes since the clusters were adapted.
    writes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    written: LastWrites,
    penalty: IdVec<Lpn, u32>,
    clusters: Vec<Cluster>,
    unit_pages: u32,
    /// Writes between two adaptations, and until the next.
    period: u64,
    left: u64,
    splits: u64,
    merges: u64,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        let count = params.classes - 1;
        let centre = |i| (i + 1..count).fold(f64::from(shape.logical_pages), |centre, _| centre / 4.0);
        let clusters = (0..count).map(|i| Cluster { centre: Some(centre(i)), intervals: 0, writes: 0 });
        let period = u64::from(params.period_units) * u64::from(shape.pages_per_unit);
        Self {
            written: LastWrites::new(shape.logical_pages),
            penalty: table(shape.logical_pages as usize, 0).into(),
            clusters: clusters.collect(),
            unit_pages: shape.pages_per_unit,
            period,
            left: period,
            splits: 0,
            merges: 0,
        }
    }

    /// Returns the cluster of nearest centre; the first of equals.
    #[inline(always)]
    fn nearest(&self, interval: f64) -> usize {
        let mut best = (f64::INFINITY, 0);
        for (i, cluster) in self.clusters.iter().enumerate() {
            if let Some(centre) = cluster.centre
                && (centre - interval).abs() < best.0
            {
                best = ((centre - interval).abs(), i);
            }
        }
        best.1
    }

    #[cold]
    fn adapt(&mut self) {
        self.left = self.period;
        let idle = self.clusters.iter().position(|cluster| cluster.centre.is_none());
        let large =
            self.clusters.iter().find(|cluster| cluster.writes > self.period / 2).and_then(|c| c.centre);
        if let (Some(idle), Some(centre)) = (idle, large) {
            let lower = self.clusters.iter().filter_map(|c| c.centre).filter(|&c| c < centre);
            let lower = lower.fold(0.0, f64::max);
            self.clusters[idle] =
                Cluster { centre: Some((lower + centre) / 2.0), intervals: self.unit_pages / 2, writes: 0 };
            self.splits += 1;
        } else {
            let few = |c: &Cluster| c.centre.is_some() && c.writes < u64::from(self.unit_pages);
            if self.clusters.iter().filter(|c| c.centre.is_some()).count() > 1
                && let Some(small) = self.clusters.iter().position(few)
            {
                self.clusters[small].centre = None;
                self.merges += 1;
            }
        }
        self.clusters.iter_mut().for_each(|cluster| cluster.writes = 0);
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let interval = f64::from(self.written.renew(page.lpn, page.now));
        let penalty = std::mem::take(&mut self.penalty[page.lpn]);
        let at = if page.update {
            let interval = interval + f64::from(penalty);
            let at = self.nearest(interval);
            let cluster = &mut self.clusters[at];
            cluster.intervals = (cluster.intervals + 1).min(self.unit_pages);
            cluster.centre = cluster.centre.map(|c| c + (interval - c) / f64::from(cluster.intervals));
            at
        } else {
            self.nearest(LONGEST)
        };
        self.clusters[at].writes += 1;
        self.left -= 1;
        if self.left == 0 {
            self.adapt();
        }
        StreamId(FIRST.0 + at as u32)
    }

    #[inline(always)]
    fn move_stream(&self, _: &Moved) -> StreamId {
        MOVED
    }

    #[inline(always)]
    fn moved(&mut self, page: &Moved, _: StreamId) {
        self.penalty[page.lpn] = self.written.age(page.lpn, page.now);
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.written.prefetch(lpn);
        prefetch(self.penalty.as_slice(), lpn.index());
    }

    fn memory_bytes(&self) -> u64 {
        self.written.bytes() + self.penalty.len() as u64 * 4
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let active = self.clusters.iter().filter(|cluster| cluster.centre.is_some()).count();
        vec![("clusters", active as f64), ("splits", self.splits as f64), ("merges", self.merges as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_shape;
    use super::*;

    /// Builds clusters around 25 and 100 (and 400), with 4 pages per unit and two units per period.
    fn state(classes: u32, logical_pages: u32) -> State {
        State::new(&Params { classes, period_units: 2 }, &test_shape(logical_pages))
    }

    fn write(state: &mut State, lpn: u32, update: bool, now: u64) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update, hints: Default::default(), now })
    }

    fn centres(state: &State) -> Vec<Option<f64>> {
        state.clusters.iter().map(|cluster| cluster.centre).collect()
    }

    #[test]
    fn writes_join_the_nearest_centre_and_draw_it() {
        let mut state = state(3, 100);
        assert_eq!(centres(&state), [Some(25.0), Some(100.0)]);
        assert_eq!(write(&mut state, 1, false, 1000), StreamId(2), "a first write joins the largest centre");
        assert_eq!(write(&mut state, 1, true, 1062), StreamId(1), "62 is nearer to 25");
        // The first interval replaces the initial centre.
        assert_eq!(centres(&state), [Some(62.0), Some(100.0)]);
        assert_eq!(write(&mut state, 1, true, 1072), StreamId(1));
        assert_eq!(centres(&state), [Some(36.0), Some(100.0)]);
        // Moved at the age of 20 and written at that of 60: 80 is nearer to 100.
        let page = Moved { lpn: Lpn(1), from: StreamId(1), now: 1092 };
        assert_eq!(state.move_stream(&page), MOVED);
        state.moved(&page, MOVED);
        assert_eq!(write(&mut state, 1, true, 1132), StreamId(2));
        // The penalty is added once.
        assert_eq!(write(&mut state, 1, true, 1142), StreamId(1));
        // 80 after the first one's first write; (36 x 2 + 10) / 3.
        assert_eq!(centres(&state), [Some(36.0 + (10.0 - 36.0) / 3.0), Some(80.0)]);
    }

    #[test]
    fn clusters_are_merged_and_split_by_their_writes() {
        let mut state = state(4, 400);
        assert_eq!(centres(&state), [Some(25.0), Some(100.0), Some(400.0)]);
        // 8 updates after 90 writes each: the clusters around 25 and 400 stay below a unit, and one is merged.
        for i in 0..8u32 {
            assert_eq!(write(&mut state, i, true, 90), StreamId(2));
        }
        assert_eq!(centres(&state), [None, Some(90.0), Some(400.0)]);
        // All writes in one cluster again: the idle one gets half of its centre, for no lower one exists.
        (0..8).for_each(|i| assert_eq!(write(&mut state, 10 + i, true, 90), StreamId(2)));
        assert_eq!(centres(&state), [Some(45.0), Some(90.0), Some(400.0)]);
        assert_eq!(state.figures(), [("clusters", 3.0), ("splits", 1.0), ("merges", 1.0)]);
    }

    #[test]
    fn the_last_cluster_is_never_merged() {
        let mut state = state(2, 50);
        (0..4000).for_each(|i| assert_eq!(write(&mut state, i % 50, i >= 50, u64::from(i)), StreamId(1)));
        assert_eq!(centres(&state), [Some(50.0)]);
    }
}
