//! SFS: groups of units by hotness, determined by quantization; pages join the group of nearest hotness.
//!
//! The hotness of a page is its host writes over its age. That of a unit is the host writes of all its live pages over
//! the sum of their ages (the paper's sections 3.1 and 3.2). Groups are determined again before pages of the next
//! victim move (iterative segment quantization, section 3.3). Each full unit joins the group of nearest hotness, and
//! the hotness of a group becomes the mean of its units'. That is repeated until nothing changes, three times at most.
//! If units do not outnumber groups, the units' hotness is the groups'. A page that is written or moved joins the
//! nearest group by its hotness before that; a page without a past joins the hottest group. Groups are in the order of
//! their hotness: stream 0 is the hottest, and a group without units has a hotness of 0. Source: Min, Kim, Cho, Lee,
//! Eom, FAST 2012. Their file system quantizes before it writes a segment, takes the hotness of the file for a page
//! without a past, and holds back groups that fill no segment. It collects the victim of the least cost-hotness, `2 u h
//! / (1 - u)`. A drive cannot hold back writes. That rule would also need a victim policy that visits all blocks, since
//! the order of h changes with time; the victim is therefore that of `ftl.collect`. The time is in host page writes.
//! Quantization when a unit is reclaimed, and the hottest group for new pages, are as in the public simulator of
//! SepBIT's authors. Parameters: the groups (4 in the paper), and the number of reclaimed units after which groups are
//! determined again. Cost: a comparison per group and page; three per unit and group and quantization. Memory: 16 bytes
//! per page, 24 per block.

use super::{ChosenPolicy, Moved, Reclaimed, Separator, Shape, StreamId, Written};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn, ParamInfo, PolicyInfo, UnitId};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "sfs",
    summary: "groups of blocks by hotness (writes over age), determined by quantization",
    source: "Min et al., FAST 2012",
    params: &[
        ParamInfo::whole("classes", "streams", 4, (2, 256)),
        ParamInfo::whole(
            "quantize_every_blocks",
            "reclaimed blocks (superblocks) after which groups are determined again",
            1,
            (1, 1 << 20),
        ),
    ],
    cost: "a comparison per group",
    memory: "16 bytes per page, 24 per block",
};

/// Rounds of a quantization, at most.
const ROUNDS: usize = 3;
/// Unit of a page that lies in no known one.
const NOWHERE: UnitId = UnitId::MAX;

/// Parameters of SFS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    classes: u32,
    quantize_every: u32,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self { classes: settings.whole("classes"), quantize_every: settings.whole("quantize_every_blocks") }
    }

    pub fn streams(self) -> u32 {
        self.classes
    }
}

/// The live pages of a unit that were written since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct LivePages {
    /// Sums of their host writes, and of the times of their last writes.
    writes: u64,
    written_at: u64,
    pages: u32,
    /// Pages that were placed, alive or not.
    placed: u32,
}

/// Units of a group in a round of quantization.
#[derive(Clone, Copy, Debug, Default)]
struct Members {
    hotness: f64,
    units: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// Host page writes before the last write of each page, and its number of host writes.
    written_at: IdVec<Lpn, u64>,
    writes: IdVec<Lpn, u32>,
    unit_of: IdVec<Lpn, UnitId>,
    units: IdVec<UnitId, LivePages>,
    pages_per_unit: u32,
    /// Hotness of each group, in descending order.
    groups: Vec<f64>,
    quantize_every: u32,
    /// Units reclaimed since groups were determined.
    reclaimed: u32,
    quantizations: u64,
    #[serde(skip)]
    members: Vec<Members>,
    /// Hotness of the full units, during quantization.
    #[serde(skip)]
    hot: Vec<f64>,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        let pages = shape.logical_pages as usize;
        Self {
            written_at: table(pages, 0).into(),
            writes: table(pages, 0).into(),
            unit_of: table(pages, NOWHERE).into(),
            units: IdVec::filled(LivePages::default(), shape.units),
            pages_per_unit: shape.pages_per_unit,
            groups: vec![0.0; params.classes as usize],
            quantize_every: params.quantize_every,
            reclaimed: 0,
            quantizations: 0,
            members: Vec::with_capacity(params.classes as usize),
            hot: Vec::with_capacity(shape.units as usize),
        }
    }

    /// Returns the hotness of a page, in writes per host page write; none without a past.
    #[inline(always)]
    fn hotness(&self, lpn: Lpn, now: u64) -> Option<f64> {
        let writes = self.writes[lpn];
        (writes > 0).then(|| f64::from(writes) / (now - self.written_at[lpn]).max(1) as f64)
    }

    /// Returns the group of nearest hotness; the coldest of several.
    #[inline(always)]
    fn nearest(groups: &[f64], hotness: f64) -> usize {
        let (mut nearest, mut least) = (0, f64::INFINITY);
        for (group, &of_group) in groups.iter().enumerate().rev() {
            let apart = (of_group - hotness).abs();
            if apart < least {
                (nearest, least) = (group, apart);
            }
        }
        nearest
    }

    #[inline(always)]
    fn stream(&self, hotness: Option<f64>) -> StreamId {
        StreamId(hotness.map_or(0, |hotness| Self::nearest(&self.groups, hotness)) as u32)
    }

    /// Yields the hotness of full units that hold live pages.
    fn hot_units(&self, now: u64) -> impl Iterator<Item = f64> + '_ {
        let full = |unit: &&LivePages| unit.placed >= self.pages_per_unit && unit.pages > 0;
        self.units.iter().filter(full).map(move |unit| {
            let ages = u64::from(unit.pages) * now - unit.written_at;
            unit.writes as f64 / ages.max(1) as f64
        })
    }

    /// Determines the groups again.
    #[cold]
    fn quantize(&mut self, now: u64) {
        let mut groups = std::mem::take(&mut self.groups);
        let mut members = std::mem::take(&mut self.members);
        let mut hot = std::mem::take(&mut self.hot);
        hot.clear();
        hot.extend(self.hot_units(now));
        if hot.len() > groups.len() {
            for _ in 0..ROUNDS {
                members.clear();
                members.resize(groups.len(), Members::default());
                for &hotness in &hot {
                    let group = &mut members[Self::nearest(&groups, hotness)];
                    group.hotness += hotness;
                    group.units += 1;
                }
                let mut changed = false;
                for (group, members) in groups.iter_mut().zip(&members) {
                    let mean =
                        if members.units > 0 { members.hotness / f64::from(members.units) } else { 0.0 };
                    changed |= std::mem::replace(group, mean) != mean;
                }
                if !changed {
                    break;
                }
            }
        } else if !hot.is_empty() {
            for (group, hotness) in groups.iter_mut().zip(hot.iter().cycle()) {
                *group = *hotness;
            }
        }
        groups.sort_unstable_by(|a, b| b.total_cmp(a));
        (self.groups, self.members, self.hot) = (groups, members, hot);
        self.quantizations += 1;
    }

    /// Removes a page from its unit.
    #[inline(always)]
    fn leave(&mut self, lpn: Lpn) {
        let unit = std::mem::replace(&mut self.unit_of[lpn], NOWHERE);
        if unit != NOWHERE {
            let live = &mut self.units[unit];
            live.writes -= u64::from(self.writes[lpn]);
            live.written_at -= self.written_at[lpn];
            live.pages -= 1;
        }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let lpn = page.lpn;
        self.leave(lpn);
        if !page.update {
            self.writes[lpn] = 0;
        }
        let stream = self.stream(self.hotness(lpn, page.now));
        self.writes[lpn] = self.writes[lpn].saturating_add(1);
        self.written_at[lpn] = page.now;
        stream
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        self.stream(self.hotness(page.lpn, page.now))
    }

    #[inline(always)]
    fn placed(&mut self, lpn: Lpn, unit: UnitId) {
        self.leave(lpn);
        self.unit_of[lpn] = unit;
        let live = &mut self.units[unit];
        live.writes += u64::from(self.writes[lpn]);
        live.written_at += self.written_at[lpn];
        live.pages += 1;
        live.placed += 1;
    }

    #[inline(always)]
    fn trimmed(&mut self, lpn: Lpn, _: u64) {
        self.leave(lpn);
    }

    fn opened(&mut self, unit: UnitId) {
        self.units[unit].placed = 0;
    }

    fn reclaimed(&mut self, unit: &Reclaimed) {
        self.reclaimed += 1;
        if self.reclaimed >= self.quantize_every {
            self.reclaimed = 0;
            self.quantize(unit.now);
        }
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        prefetch(self.written_at.as_slice(), lpn.index());
        prefetch(self.writes.as_slice(), lpn.index());
        prefetch(self.unit_of.as_slice(), lpn.index());
    }

    fn memory_bytes(&self) -> u64 {
        self.writes.len() as u64 * 16 + self.units.len() as u64 * 24
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let (hottest, coldest) = (self.groups[0], self.groups[self.groups.len() - 1]);
        vec![
            ("quantizations", self.quantizations as f64),
            ("hottest_group_writes_per_write", hottest),
            ("coldest_group_writes_per_write", coldest),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_shape;
    use super::*;

    fn state(classes: u32) -> State {
        State::new(&Params { classes, quantize_every: 1 }, &test_shape(100))
    }

    fn write(state: &mut State, lpn: u32, now: u64, unit: u32) -> StreamId {
        let update = state.writes[Lpn(lpn)] > 0;
        let stream = state.write(&Written { lpn: Lpn(lpn), update, hints: Default::default(), now });
        state.placed(Lpn(lpn), UnitId(unit));
        stream
    }

    fn reclaim(state: &mut State, now: u64) {
        state.reclaimed(&Reclaimed { stream: StreamId(0), opened_at: 0, now });
    }

    #[test]
    fn hotness_is_writes_over_age() {
        let mut state = state(2);
        assert_eq!(write(&mut state, 7, 10, 0), StreamId(0), "a new page has the hottest group");
        assert_eq!(state.hotness(Lpn(7), 14), Some(0.25));
        write(&mut state, 7, 20, 0);
        assert_eq!((state.hotness(Lpn(7), 20), state.hotness(Lpn(7), 28)), (Some(2.0), Some(0.25)));
        assert_eq!(state.hotness(Lpn(8), 28), None);
        // The unit only counts its live pages: one, written twice, last at 20; two were placed.
        let one = LivePages { writes: 2, written_at: 20, pages: 1, placed: 2 };
        assert_eq!(state.units[UnitId(0)], one);
        state.placed(Lpn(7), UnitId(3));
        assert_eq!(state.units[UnitId(0)], LivePages { placed: 2, ..LivePages::default() });
        assert_eq!(state.units[UnitId(3)], LivePages { placed: 1, ..one });
        state.trimmed(Lpn(7), 30);
        state.opened(UnitId(3));
        assert_eq!(state.units[UnitId(3)], LivePages::default());
        state.trimmed(Lpn(7), 31);
        // Trimmed and written again: without a past.
        let again = Written { lpn: Lpn(7), update: false, hints: Default::default(), now: 40 };
        assert_eq!((state.write(&again), state.writes[Lpn(7)]), (StreamId(0), 1));
    }

    /// Six full units of four pages written once, at 40, 40, 30, 20, 10 and 0; at 50 their hotness is 1/10, 1/10, 1/20,
    /// 1/30, 1/40, 1/50.
    #[test]
    fn groups_are_quantized_by_hand() {
        let mut state = state(2);
        for (unit, at) in [40, 40, 30, 20, 10, 0].into_iter().enumerate() {
            (0..4).for_each(|i| _ = write(&mut state, 4 * unit as u32 + i, at, unit as u32));
        }
        // A unit that is not full does not count.
        write(&mut state, 90, 50, 6);
        state.groups = vec![0.1, 0.0];
        reclaim(&mut state, 50);
        // At first all but the two hottest are nearer to 0. 1/20 is equally near to both and joins the colder group.
        // Their mean is (1/20 + 1/30 + 1/40 + 1/50) / 4 = 0.0321, and nothing changes then.
        let cold = (0.05 + 1.0 / 30.0 + 0.025 + 0.02) / 4.0;
        assert!((state.groups[0] - 0.1).abs() < 1e-12 && (state.groups[1] - cold).abs() < 1e-12);
        assert_eq!(state.figures()[0], ("quantizations", 1.0));
        // The midpoint is 0.066: a page written once joins the hot group up to an age of 15.
        assert_eq!(write(&mut state, 0, 55, 7), StreamId(0));
        assert_eq!(write(&mut state, 1, 56, 7), StreamId(1));
        let moved = |now| state.move_stream(&Moved { lpn: Lpn(2), from: StreamId(0), now });
        assert_eq!((moved(55), moved(56)), (StreamId(0), StreamId(1)));
    }

    #[test]
    fn few_units_are_the_groups() {
        let mut state = state(3);
        reclaim(&mut state, 0);
        assert_eq!(state.groups, [0.0; 3]);
        (0..4).for_each(|lpn| _ = write(&mut state, lpn, 0, 0));
        (4..8).for_each(|lpn| _ = write(&mut state, lpn, 10, 1));
        reclaim(&mut state, 20);
        assert_eq!(state.groups, [0.1, 0.05, 0.05]);
    }

    /// Groups are determined again after a number of units, and not in between.
    #[test]
    fn groups_wait_for_units() {
        let mut state = State::new(&Params { classes: 2, quantize_every: 3 }, &test_shape(100));
        (0..8).for_each(|now| reclaim(&mut state, now));
        assert_eq!((state.quantizations, state.reclaimed), (2, 2));
    }
}
