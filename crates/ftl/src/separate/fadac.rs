//! FADaC: groups pages of similar update intervals, on a scale that follows the workload.
//!
//! Each page has a fading average of its update intervals. The drive has one of all intervals, over as many updates as
//! there are pages in use. Bounds between classes are the drive's average times powers of a factor, as many above as
//! below; the first stream holds the shortest intervals. A page without an update joins the last. A page that moves
//! after longer than its average is classified by what its average would be if it were updated now. Source: Kremer and
//! Brinkmann, SYSTOR 2019, who keep the page's part in the spare area of flash pages and read it back on demand; here
//! it is a table and costs no read. We do not know the paper's weights: halves, the factor 4 and the rule for moves are
//! ours; six classes are those of Wang et al., FAST 2022. `variant = "artifact"`: the public simulator of that
//! evaluation averages no intervals. A page counts its host writes, less its moves. Its class is the number of times a
//! base must be multiplied by ten until it is no less than the count; the first class is thus the coldest. The base is
//! a fading average of the pages per request, over as many requests as there are live pages (1 if requests have one
//! page). Only `classes` matters then. That simulator does not model trims; here a trimmed page begins anew. Dead pages
//! of open units do not count as live. Cost: one look-up. Memory: 8 bytes per page; 4 under `artifact`.

use super::last_writes::LastWrites;
use super::requests::Requests;
use super::{ChosenPolicy, Moved, Separator, Shape, StreamId, Written, variant};
use floatgate_base::memory::table;
use floatgate_base::prefetch::prefetch;
use floatgate_base::{IdVec, Lpn, ParamInfo, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "fadac",
    summary: "classes of fading averages of the update interval, on a scale that adapts",
    source: "Kremer and Brinkmann, SYSTOR 2019",
    params: &[
        ParamInfo::whole("classes", "streams", 6, (2, 256)),
        ParamInfo::real(
            "interval_weight",
            "weight of the newest interval in a page's average",
            0.5,
            (0.001, 1.0),
        ),
        ParamInfo::real("class_factor", "factor between the bounds of classes", 4.0, (1.01, 1000.0)),
        variant::PARAM,
    ],
    cost: "one look-up",
    memory: "8 bytes per page",
};

/// Average of a page that was never written or never updated.
const UNSEEN: f32 = 0.0;
const NOT_UPDATED: f32 = f32::MAX;

/// Parameters of FADaC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    classes: u32,
    interval_weight: f64,
    class_factor: f64,
    artifact: bool,
}

impl Params {
    pub fn of(settings: &ChosenPolicy) -> Self {
        Self {
            classes: settings.whole("classes"),
            interval_weight: settings.real("interval_weight"),
            class_factor: settings.real("class_factor"),
            artifact: variant::is_artifact(settings),
        }
    }

    pub fn streams(self) -> u32 {
        self.classes
    }
}

/// The state, by variant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum State {
    Paper(Intervals),
    Artifact(WriteCounts),
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        match params.artifact {
            false => Self::Paper(Intervals::new(params, shape)),
            true => Self::Artifact(WriteCounts::new(params, shape)),
        }
    }
}

/// Fading averages of intervals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Intervals {
    written: LastWrites,
    /// Average interval of each page.
    average: IdVec<Lpn, f32>,
    interval_weight: f32,
    /// Bounds between classes, in multiples of the drive's average.
    bounds: Vec<f64>,
    /// Average interval of the drive, over at most as many updates as pages are in use.
    drive_average: f64,
    updates: u64,
    pages: u64,
}

impl Intervals {
    fn new(params: &Params, shape: &Shape) -> Self {
        let bounds = params.classes as usize - 1;
        // The middle bound, or the lower one of two, is the average itself.
        let lowest = (0..(bounds - 1) / 2).fold(1.0, |bound, _| bound / params.class_factor);
        let bounds =
            std::iter::successors(Some(lowest), |bound| Some(bound * params.class_factor)).take(bounds);
        Self {
            written: LastWrites::new(shape.logical_pages),
            average: table(shape.logical_pages as usize, UNSEEN).into(),
            interval_weight: params.interval_weight as f32,
            bounds: bounds.collect(),
            drive_average: 0.0,
            updates: 0,
            pages: 0,
        }
    }

    /// Returns the average after one more interval; the least interval is one write.
    #[inline(always)]
    fn with(&self, average: f32, interval: u32) -> f32 {
        let interval = interval.max(1) as f32;
        if average == NOT_UPDATED { interval } else { average + self.interval_weight * (interval - average) }
    }

    #[inline(always)]
    fn class(&self, average: f32) -> StreamId {
        let below = |&&bound: &&f64| f64::from(average) >= bound * self.drive_average;
        StreamId(self.bounds.iter().take_while(below).count() as u32)
    }
}

impl Separator for Intervals {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let interval = self.written.renew(page.lpn, page.now);
        let average = self.average[page.lpn];
        self.pages += u64::from(average == UNSEEN);
        if average == UNSEEN || !page.update {
            self.average[page.lpn] = NOT_UPDATED;
            return StreamId(self.bounds.len() as u32);
        }
        let average = self.with(average, interval);
        self.average[page.lpn] = average;
        self.updates = (self.updates + 1).min(self.pages);
        self.drive_average += (f64::from(interval) - self.drive_average) / self.updates as f64;
        self.class(average)
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        let average = self.average[page.lpn];
        if average == UNSEEN || average == NOT_UPDATED {
            return StreamId(self.bounds.len() as u32);
        }
        let waiting = self.written.age(page.lpn, page.now);
        self.class(if waiting as f32 > average { self.with(average, waiting) } else { average })
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.written.prefetch(lpn);
        prefetch(self.average.as_slice(), lpn.index());
    }

    fn memory_bytes(&self) -> u64 {
        self.written.bytes() + self.average.len() as u64 * 4
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![("mean_interval_page_writes", self.drive_average)]
    }
}

/// Writes less moves, by page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WriteCounts {
    count: IdVec<Lpn, u32>,
    classes: u32,
    requests: Requests,
    /// Fading average of the pages per request; 0 before the second.
    request_pages: f64,
    /// Pages that hold data.
    live: u64,
}

/// Factor between the counts at which classes begin.
const COUNT_FACTOR: f64 = 10.0;

impl WriteCounts {
    fn new(params: &Params, shape: &Shape) -> Self {
        Self {
            count: table(shape.logical_pages as usize, 0).into(),
            classes: params.classes,
            requests: Requests::new(),
            request_pages: 0.0,
            live: 0,
        }
    }

    #[inline(always)]
    fn class(&self, count: u32) -> StreamId {
        let (mut class, mut base) = (0, self.request_pages);
        while base > 0.0 && f64::from(count) > base && class < self.classes - 1 {
            class += 1;
            base *= COUNT_FACTOR;
        }
        StreamId(class)
    }
}

impl Separator for WriteCounts {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        if self.requests.write(page).begins && self.live > 0 {
            let pages = f64::from(page.hints.request_pages.max(1));
            self.request_pages += (pages - self.request_pages) / self.live as f64;
        }
        self.live += u64::from(!page.update);
        let count = &mut self.count[page.lpn];
        *count = if page.update { count.saturating_add(1) } else { 1 };
        let count = *count;
        self.class(count)
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        self.class(self.count[page.lpn].saturating_sub(1))
    }

    #[inline(always)]
    fn moved(&mut self, page: &Moved, _: StreamId) {
        let count = &mut self.count[page.lpn];
        *count = count.saturating_sub(1);
    }

    #[inline(always)]
    fn trimmed(&mut self, _: Lpn, _: u64) {
        self.live = self.live.saturating_sub(1);
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        prefetch(self.count.as_slice(), lpn.index());
    }

    fn memory_bytes(&self) -> u64 {
        self.count.len() as u64 * 4
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![("mean_request_pages", self.request_pages)]
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
    fn moved(&mut self, page: &Moved, stream: StreamId) {
        by_rule!(self, rule => rule.moved(page, stream));
    }

    #[inline(always)]
    fn trimmed(&mut self, lpn: Lpn, now: u64) {
        by_rule!(self, rule => rule.trimmed(lpn, now));
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

    fn state(classes: u32) -> Intervals {
        let params = Params { classes, interval_weight: 0.5, class_factor: 4.0, artifact: false };
        Intervals::new(&params, &test_shape(100))
    }

    fn write(state: &mut impl Separator, lpn: u32, update: bool, now: u64) -> StreamId {
        state.write(&Written { lpn: Lpn(lpn), update, hints: Default::default(), now })
    }

    #[test]
    fn averages_fade_and_classes_follow_the_drive() {
        let mut state = state(6);
        assert_eq!(state.bounds, [0.0625, 0.25, 1.0, 4.0, 16.0]);
        assert_eq!([write(&mut state, 1, false, 0), write(&mut state, 2, false, 0)], [5, 5].map(StreamId));
        // The first interval is also the drive's average: class 3 begins there.
        assert_eq!(write(&mut state, 1, true, 64), StreamId(3));
        // The page: 64 and 0, which counts as 1; the drive: 64 and 0.
        assert_eq!(write(&mut state, 1, true, 64), StreamId(3), "32.5 of 32");
        assert_eq!((state.average[Lpn(1)], state.drive_average), (32.5, 32.0));
        // Two pages are in use; the drive's average therefore moves half way: to 16, then 8. The page's moves to 16.75
        // and 8.875.
        assert_eq!([write(&mut state, 1, true, 64), write(&mut state, 1, true, 64)], [3, 3].map(StreamId));
        // The other page's first interval is 1000, and the drive's average becomes 504.
        assert_eq!(write(&mut state, 2, true, 1000), StreamId(3));
        assert_eq!(state.figures(), [("mean_interval_page_writes", 504.0)]);
        let moved = |lpn, now| state.move_stream(&Moved { lpn: Lpn(lpn), from: StreamId(0), now });
        // 504 / 16 is 31.5. After 8 writes the page has waited no longer than its average; after 68 it would have 8.875
        // + 0.5 x (68 - 8.875) = 38.4375.
        assert_eq!(state.average[Lpn(1)], 8.875);
        assert_eq!(
            [moved(1, 64), moved(1, 72), moved(1, 132), moved(2, 1000), moved(7, 1000)],
            [0, 0, 1, 3, 5].map(StreamId)
        );
        // Trimmed and written again: without an update.
        assert_eq!(write(&mut state, 1, false, 1001), StreamId(5));
    }

    #[test]
    fn two_and_three_classes_have_the_average_as_first_bound() {
        assert_eq!((state(2).bounds, state(3).bounds), (vec![1.0], vec![1.0, 4.0]));
    }

    /// Requests of one page: classes begin at counts of 2, 11 and 101.
    #[test]
    fn the_artifact_counts_writes_less_moves() {
        let params = Params { classes: 4, interval_weight: 0.5, class_factor: 4.0, artifact: true };
        let State::Artifact(mut state) = State::new(&params, &test_shape(100)) else { panic!() };
        assert_eq!([write(&mut state, 1, false, 0), write(&mut state, 2, false, 0)], [0, 0].map(StreamId));
        assert_eq!((state.request_pages, state.live), (1.0, 2));
        let streams: Vec<_> = (2..=101).map(|_| write(&mut state, 1, true, 0).0).collect();
        assert_eq!((streams[0], streams[8], streams[9], streams[98], streams[99]), (1, 1, 2, 2, 3));
        // Each move subtracts one: 100 is no longer above 100.
        let page = Moved { lpn: Lpn(1), from: StreamId(3), now: 0 };
        assert_eq!(state.move_stream(&page), StreamId(2));
        state.moved(&page, StreamId(2));
        assert_eq!(state.count[Lpn(1)], 100);
        let once = Moved { lpn: Lpn(2), ..page };
        (0..2).for_each(|_| state.moved(&once, StreamId(0)));
        assert_eq!((state.move_stream(&once), state.count[Lpn(2)]), (StreamId(0), 0));
        // A trimmed page begins anew; a request of five pages counts once: 1 + (5 - 1) / 1.
        state.trimmed(Lpn(1), 0);
        let hints = super::super::Hints { request_pages: 5, ..Default::default() };
        for lpn in 1..6 {
            state.write(&Written { lpn: Lpn(lpn), update: lpn == 2, hints, now: 0 });
        }
        assert_eq!((state.count[Lpn(1)], state.live, state.request_pages), (1, 5, 5.0));
    }
}
