//! SepBIT: six classes of pages with similar inferred times of death.
//!
//! A host write that replaces short-lived data is expected to live as briefly. Its class is 1 if the replaced data
//! lived less than l, otherwise, or if it replaces nothing, 2. l is the mean life, from opening to erasure, of the last
//! 16 units of class 1 that were reclaimed. It is renewed after 16 more, and infinite until there are 16. Pages that
//! move out of class 1 join class 3. Others join class 4, 5 or 6 by their age since the host wrote them: less than 4 l,
//! less than 16 l, or more. Streams are the classes minus one. Source: Wang et al., FAST 2022, Algorithm 1. Lives are
//! computed from exact times of the last write. The paper's queue of recent writes, which holds as many as l, saves
//! memory on the host and decides the same. Parameters: the units in the mean, and the factor between the bounds of
//! age. Cost: one look-up. Memory: 4 bytes per page.

use super::last_writes::LastWrites;
use super::{ChosenPolicy, Moved, Reclaimed, Separator, Shape, StreamId, Written};
use floatgate_base::{Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "sepbit",
    summary: "six classes: short and long lives of replaced data, and ages of moved pages",
    source: "Wang et al., FAST 2022",
    params: &[
        ParamInfo::whole("lifespan_units", "reclaimed units of class 1 in the mean life", 16, (1, 1 << 20)),
        ParamInfo::real("age_factor", "factor between the bounds of age", 4.0, (1.0, 1000.0)),
    ],
    cost: "one look-up",
    memory: "4 bytes per page",
};

const SHORT: StreamId = StreamId(0);
const LONG: StreamId = StreamId(1);
const FROM_SHORT: StreamId = StreamId(2);
/// Moved pages of the three ages.
const YOUNG: StreamId = StreamId(3);
const STREAMS: u32 = 6;

/// Parameters of SepBIT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    lifespan_units: u32,
    age_factor: f64,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self { lifespan_units: settings.whole("lifespan_units"), age_factor: settings.real("age_factor") }
    }

    pub fn streams(self) -> u32 {
        STREAMS
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    written: LastWrites,
    lifespan_units: u32,
    age_factor: f64,
    /// l in host page writes; none while it is infinite.
    mean_life: Option<f64>,
    /// The least ages that are not below l, l times the factor, and l times its square.
    bounds: [u32; 3],
    /// Lives of class-1 units since l was renewed: their sum and number.
    lives: (u64, u32),
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        Self {
            written: LastWrites::new(shape.logical_pages),
            lifespan_units: params.lifespan_units,
            age_factor: params.age_factor,
            mean_life: None,
            bounds: [u32::MAX; 3],
            lives: (0, 0),
        }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let life = self.written.renew(page.lpn, page.now);
        // Branch-free: the outcome is hard to predict.
        if page.update & (life < self.bounds[0]) { SHORT } else { LONG }
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        if page.from == SHORT {
            return FROM_SHORT;
        }
        let age = self.written.age(page.lpn, page.now);
        StreamId(YOUNG.0 + u32::from(age >= self.bounds[1]) + u32::from(age >= self.bounds[2]))
    }

    fn reclaimed(&mut self, unit: &Reclaimed) {
        if unit.stream != SHORT {
            return;
        }
        self.lives.0 += unit.now - unit.opened_at;
        self.lives.1 += 1;
        if self.lives.1 == self.lifespan_units {
            let mean = self.lives.0 as f64 / f64::from(self.lives.1);
            let factor = self.age_factor;
            self.mean_life = Some(mean);
            // Ages are whole numbers; the cast saturates at the largest.
            self.bounds = [mean, mean * factor, mean * factor * factor].map(|bound| bound.ceil() as u32);
            self.lives = (0, 0);
        }
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.written.prefetch(lpn);
    }

    fn memory_bytes(&self) -> u64 {
        self.written.bytes()
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        self.mean_life.map(|mean| ("mean_life_page_writes", mean)).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_shape;
    use super::*;

    fn state(lifespan_units: u32) -> State {
        State::new(&Params { lifespan_units, age_factor: 4.0 }, &test_shape(100))
    }

    fn write(state: &mut State, lpn: u32, update: bool, now: u64) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update, hints: Default::default(), now })
    }

    fn reclaim(state: &mut State, stream: StreamId, opened_at: u64, now: u64) {
        state.reclaimed(&Reclaimed { stream, opened_at, now });
    }

    #[test]
    fn writes_are_classed_by_the_life_of_what_they_replace() {
        let mut state = state(2);
        assert_eq!(write(&mut state, 1, false, 0), LONG);
        // Any life is short while l is infinite.
        assert_eq!(write(&mut state, 1, true, 90), SHORT);
        // Units of other classes do not count; those of class 1 lived 10 and 30: l is 20.
        reclaim(&mut state, LONG, 0, 1000);
        reclaim(&mut state, SHORT, 90, 100);
        assert_eq!(state.figures(), []);
        reclaim(&mut state, SHORT, 70, 100);
        assert_eq!(state.figures(), [("mean_life_page_writes", 20.0)]);
        assert_eq!(write(&mut state, 1, true, 109), SHORT, "lived 19");
        assert_eq!(write(&mut state, 1, true, 129), LONG, "lived 20");
        // A trimmed page is new when it is written again.
        assert_eq!(write(&mut state, 1, false, 130), LONG);
        // l is renewed by two units more, not by one.
        reclaim(&mut state, SHORT, 0, 200);
        assert_eq!(state.figures()[0].1, 20.0);
        reclaim(&mut state, SHORT, 0, 100);
        assert_eq!(state.figures()[0].1, 150.0);
    }

    #[test]
    fn moves_are_classed_by_origin_and_age() {
        let mut state = state(1);
        reclaim(&mut state, SHORT, 0, 10);
        write(&mut state, 5, false, 1000);
        let moved = |from, now| state.move_stream(&Moved { lpn: Lpn(5), from, now });
        assert_eq!(moved(SHORT, 1001), FROM_SHORT);
        assert_eq!(moved(SHORT, 9000), FROM_SHORT);
        for from in 1..6 {
            // 4 l = 40, 16 l = 160.
            assert_eq!(
                [1039, 1040, 1159, 1160].map(|now| moved(StreamId(from), now)),
                [3, 4, 4, 5].map(StreamId)
            );
        }
    }

    #[test]
    fn ages_go_on_past_four_thousand_million_writes() {
        let mut state = state(1);
        reclaim(&mut state, SHORT, 0, 10);
        let late = (1 << 32) - 3;
        write(&mut state, 5, true, late);
        assert_eq!(write(&mut state, 5, true, late + 9), SHORT);
        assert_eq!(write(&mut state, 5, true, late + 19), LONG);
    }
}
