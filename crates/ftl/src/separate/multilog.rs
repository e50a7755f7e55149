//! MultiLog: one log per class of update frequency. Moved pages go to the next colder log; pages updated sooner than
//! their log expects go to the next hotter one.
//!
//! A log expects an update of each of its pages after as many page writes as it has live pages, divided by its share of
//! the updates. The share is that of the last updates, as many as it has pages. A page updated within half of that goes
//! one log up, with a probability that rises from 0 there to 1 for an immediate update. Moved pages go one log down;
//! the last log in use opens the next when it has a unit of live pages. Stream 0 is the hottest log, where new pages
//! start. Source: Stoica and Ailamaki, PVLDB 6(9), 2013, in the form of the evaluation of Wang et al., FAST 2022: six
//! logs, promotion by chance within half the expected time. Our addition: the log's share of the updates in its
//! expectation. `variant = "artifact"`: the public simulator of that evaluation ignores the share of the updates. Its
//! logs expect an update after as many page writes as they have other live pages, times the valid share of all units
//! collected from them so far. Before the first of these nothing is promoted. Cost: two look-ups and a random number.
//! Memory: 5 bytes per page.

use super::last_writes::LastWrites;
use super::{ChosenPolicy, Moved, Reclaimed, Separator, Shape, StreamId, Written, variant};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn, ParamInfo, PolicyInfo, Rng};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "multilog",
    summary: "one log per class of update frequency: colder when moved, hotter when updated early",
    source: "Stoica and Ailamaki, PVLDB 2013",
    params: &[ParamInfo::whole("classes", "streams", 6, (2, 255)), variant::PARAM],
    cost: "two look-ups",
    memory: "5 bytes per page",
};

/// Log of a page that holds no data.
const NONE: u8 = u8::MAX;

/// Parameters of MultiLog.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    classes: u32,
    artifact: bool,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self { classes: settings.whole("classes"), artifact: variant::is_artifact(settings) }
    }

    pub fn streams(self) -> u32 {
        self.classes
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Log {
    /// Live pages.
    pages: u64,
    /// Recent mean of the page writes between two updates of its pages; 0 before the second.
    gap: f64,
    /// Updates of its pages so far, and the time of the last.
    updates: u64,
    last: u64,
    /// Pages that have moved out of its units, and its units that were reclaimed.
    left: u64,
    reclaimed: u64,
}

impl Log {
    /// Counts an update of one of its pages.
    #[inline(always)]
    fn update(&mut self, now: u64) {
        if self.updates > 0 {
            let gap = (now - self.last) as f64;
            self.gap += (gap - self.gap) / self.updates.min(self.pages.max(1)) as f64;
        }
        self.updates += 1;
        self.last = now;
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    written: LastWrites,
    log_of: IdVec<Lpn, u8>,
    logs: Vec<Log>,
    /// The coldest log in use.
    last_log: u8,
    unit_pages: u64,
    /// Whether logs expect updates by the valid share of their victims.
    artifact: bool,
    rng: Rng,
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        Self {
            written: LastWrites::new(shape.logical_pages),
            log_of: table(shape.logical_pages as usize, NONE).into(),
            logs: vec![Log::default(); params.classes as usize],
            last_log: 0,
            unit_pages: u64::from(shape.pages_per_unit),
            artifact: params.artifact,
            rng: Rng::new(0, "multilog"),
        }
    }

    /// Returns the probability of promoting a page of this log when it is updated after `interval` page writes.
    #[inline(always)]
    fn chance(&self, log: u8, interval: u32) -> f64 {
        let Log { pages, gap, left, reclaimed, .. } = self.logs[usize::from(log)];
        let half = if self.artifact {
            let collected = (reclaimed * self.unit_pages).max(1) as f64;
            pages.saturating_sub(1) as f64 * (left as f64 / collected) / 2.0
        } else {
            pages as f64 * gap / 2.0
        };
        if half > 0.0 { 1.0 - f64::from(interval) / half } else { 0.0 }
    }

    #[inline(always)]
    fn put(&mut self, lpn: Lpn, log: u8) {
        let before = std::mem::replace(&mut self.log_of[lpn], log);
        if before != NONE {
            self.logs[usize::from(before)].pages -= 1;
        }
        if log != NONE {
            self.logs[usize::from(log)].pages += 1;
        }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let interval = self.written.renew(page.lpn, page.now);
        let mut log = self.log_of[page.lpn];
        if log == NONE {
            log = 0;
        } else {
            self.logs[usize::from(log)].update(page.now);
            let chance = self.chance(log, interval);
            if log > 0 && chance > 0.0 && self.rng.unit() < chance {
                log -= 1;
            }
        }
        self.put(page.lpn, log);
        StreamId(u32::from(log))
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        let log = self.log_of[page.lpn];
        let log = if log == NONE { 0 } else { log };
        let next = usize::from(log) + 1;
        let opens = next < self.logs.len() && self.logs[usize::from(log)].pages >= self.unit_pages;
        if log < self.last_log || opens { StreamId(next as u32) } else { StreamId(u32::from(log)) }
    }

    #[inline(always)]
    fn moved(&mut self, page: &Moved, stream: StreamId) {
        self.put(page.lpn, stream.0 as u8);
        self.last_log = self.last_log.max(stream.0 as u8);
        self.logs[page.from.0 as usize].left += 1;
    }

    fn reclaimed(&mut self, unit: &Reclaimed) {
        self.logs[unit.stream.0 as usize].reclaimed += 1;
    }

    #[inline(always)]
    fn trimmed(&mut self, lpn: Lpn, _: u64) {
        self.put(lpn, NONE);
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.written.prefetch(lpn);
        prefetch(self.log_of.as_slice(), lpn.index());
    }

    fn memory_bytes(&self) -> u64 {
        self.written.bytes() + self.log_of.len() as u64
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![("logs", f64::from(self.last_log) + 1.0)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_shape;
    use super::*;

    fn write(state: &mut State, lpn: u32, now: u64) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update: true, hints: Default::default(), now })
    }

    fn shift(state: &mut State, lpn: u32) -> StreamId {
        let page = Moved { lpn: Lpn(lpn), from: StreamId(0), now: 0 };
        let stream = state.move_stream(&page);
        state.moved(&page, stream);
        stream
    }

    #[test]
    fn moved_pages_go_down_where_a_log_is_open() {
        let mut state = State::new(&Params { classes: 3, artifact: false }, &test_shape(10));
        (0..3).for_each(|lpn| assert_eq!(write(&mut state, lpn, 0), StreamId(0)));
        // 3 live pages are no unit of 4: log 0 stays the only one.
        assert_eq!(shift(&mut state, 0), StreamId(0));
        (3..7).for_each(|lpn| assert_eq!(write(&mut state, lpn, 0), StreamId(0)));
        assert_eq!(
            [0, 1, 2].map(|lpn| shift(&mut state, lpn)),
            [1; 3].map(StreamId),
            "open logs take any page"
        );
        assert_eq!(shift(&mut state, 0), StreamId(1), "log 1 has 3 pages");
        assert_eq!(shift(&mut state, 3), StreamId(1));
        assert_eq!(
            [shift(&mut state, 0), shift(&mut state, 0)],
            [2, 2].map(StreamId),
            "the last log keeps its pages"
        );
        assert_eq!(state.logs.iter().map(|log| log.pages).collect::<Vec<_>>(), [3, 3, 1]);
        state.trimmed(Lpn(0), 0);
        assert_eq!(state.logs[2].pages, 0);
        assert_eq!(write(&mut state, 0, 9), StreamId(0), "a new page starts in log 0");
    }

    #[test]
    fn the_chance_is_the_interval_within_half_of_what_the_log_expects() {
        let mut state = State::new(&Params { classes: 2, artifact: false }, &test_shape(100));
        state.logs[1] = Log { pages: 10, ..Log::default() };
        assert_eq!(state.chance(1, 0), 0.0, "nothing is known before the second update");
        // Updates at 0, 6, 10 and 16, 16/3 apart on average: a page is expected after 53 1/3 writes.
        [0, 6, 10, 16].into_iter().for_each(|now| state.logs[1].update(now));
        assert!((state.logs[1].gap - 16.0 / 3.0).abs() < 1e-12);
        assert!((state.chance(1, 20) - 0.25).abs() < 1e-12);
        assert!(state.chance(1, 27) < 0.0 && state.chance(1, 26) > 0.0);
        // Of a thousand pages that are updated after a quarter of that time half are promoted.
        let mut ups = 0;
        for _ in 0..1000 {
            state.log_of[Lpn(5)] = 1;
            state.logs[1] = Log { pages: 10, gap: 4.0, updates: 1000, last: 10, ..Log::default() };
            ups += u32::from(write(&mut state, 5, 10) == StreamId(0));
            state.written.renew(Lpn(5), 0);
        }
        assert!((450..550).contains(&ups), "{ups}");
    }

    /// Three units of four pages were collected from log 1, five pages of them valid. Its 25 pages expect an update
    /// after 24 x 5 / 12 = 10 writes.
    #[test]
    fn the_artifact_expects_by_what_was_valid_in_victims() {
        let mut state = State::new(&Params { classes: 2, artifact: true }, &test_shape(100));
        (10..35).for_each(|lpn| state.put(Lpn(lpn), 1));
        assert!(state.chance(1, 0) <= 0.0, "nothing was collected yet");
        for lpn in 0..5 {
            state.put(Lpn(lpn), 1);
            state.moved(&Moved { lpn: Lpn(lpn), from: StreamId(1), now: 9 }, StreamId(0));
        }
        (0..3).for_each(|_| state.reclaimed(&Reclaimed { stream: StreamId(1), opened_at: 0, now: 9 }));
        assert_eq!((state.logs[1].pages, state.logs[1].left, state.logs[1].reclaimed), (25, 5, 3));
        assert!((state.chance(1, 3) - 0.4).abs() < 1e-12 && state.chance(1, 5).abs() < 1e-12);
        assert!(state.chance(1, 0) == 1.0 && state.chance(1, 6) < 0.0);
    }
}
