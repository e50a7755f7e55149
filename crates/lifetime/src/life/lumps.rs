//! Collection comes in lumps: a page write programs either one page, or in addition the pages of a victim. A throttle
//! that allots flash writes per period exceeds its limit after a lump, and the following writes wait. A mean cost per
//! page write cannot model these waits. A life therefore repeats the lumps of a stretch simulated with a drive, and
//! corrects its gate by them as a drive would.

use crate::throttle::regulator::Regulator;
use crate::throttle::{Gate, Record, Setup, View};
use serde::{Deserialize, Serialize};

/// Recent write amplification: since the stretch of host page writes before the current one began. A stretch is an
/// eighth of the drive; the estimate follows changes of the workload, but not single victims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Amplification {
    /// Page writes of the host and programs at the beginning of the previous stretch and of the current one.
    marks: [(u64, u64); 2],
    stretch: u64,
    waf: f64,
}

impl Amplification {
    /// Starts the estimate of a drive of `pages` pages.
    #[must_use]
    pub fn new(pages: u64) -> Self {
        Self { marks: [(0, 0); 2], stretch: (pages / 8).max(1), waf: 1.0 }
    }

    /// Returns the page writes over which the estimate hardly changes.
    fn step(&self) -> u64 {
        (self.stretch / 64).max(1)
    }

    /// Bounds the result of [`Self::note`] from `page_writes` on, up to the number that causes `programs`, in the same
    /// stretch. None if too little is known.
    pub(super) fn at_most(&self, page_writes: u64, programs: f64) -> Option<f64> {
        let (writes, programmed) = self.marks[0];
        let settled = page_writes > writes && page_writes - writes >= self.stretch / 8;
        settled.then(|| (programs - programmed as f64) / (page_writes - writes) as f64)
    }

    /// Returns the last number of page writes in the current stretch.
    pub(super) fn until(&self) -> u64 {
        self.marks[1].0.saturating_add(self.stretch) - 1
    }

    /// Updates the estimate after `page_writes` of the host caused `programs` in total. It is 1 until an eighth of a
    /// stretch is written.
    pub fn note(&mut self, page_writes: u64, programs: u64) -> f64 {
        let [(writes, programmed), (began, _)] = self.marks;
        if page_writes - writes >= (self.stretch / 8).max(1) {
            self.waf =
                ((programs - programmed) as f64 / (page_writes - writes) as f64).max(f64::MIN_POSITIVE);
        }
        if page_writes - began >= self.stretch {
            self.marks = [self.marks[1], (page_writes, programs)];
        }
        self.waf
    }
}

/// Programs as a function of the page writes of a stretch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lumps {
    /// Total page writes and programs at each point where causes other than host writes have programmed since the
    /// previous mark. The first mark is (0, 0), and the last the end of the stretch.
    marks: Vec<(u64, u64)>,
}

impl Lumps {
    /// Records the counts after one or a few more page writes; both begin with 0.
    pub fn note(&mut self, page_writes: u64, programs: u64) {
        if self.marks.is_empty() {
            self.marks.push((0, 0));
        }
        let (pages, programmed) = self.marks[self.marks.len() - 1];
        if page_writes > pages && programs - programmed != page_writes - pages {
            self.marks.push((page_writes, programs));
        }
    }

    /// Ends the stretch with these counts.
    pub fn end(&mut self, page_writes: u64, programs: u64) {
        self.note(page_writes, programs);
        if self.marks.last().is_some_and(|&(pages, _)| pages < page_writes) {
            self.marks.push((page_writes, programs));
        }
    }

    /// Counts the marks so far, each a lump where collection comes in lumps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.marks.len().saturating_sub(1)
    }

    /// Returns whether only host writes were programmed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the pages programmed for `pages` page writes if the stretch repeats, by the stretch's write
    /// amplification. `near` holds the position of the previous result, and is updated.
    fn programs(&self, pages: u64, near: &mut Near) -> f64 {
        *near = self.near(pages, *near);
        self.programs_near(pages, near)
    }

    /// Returns the position of `pages` page writes, searching from another position on.
    #[inline]
    pub(super) fn near(&self, pages: u64, mut near: Near) -> Near {
        let Some(&(stretch, _)) = self.marks.last().filter(|&&(stretch, _)| stretch > 0) else {
            return near;
        };
        if pages.wrapping_sub(near.base) >= stretch {
            let times = pages / stretch;
            near = Near { times, base: times * stretch, mark: 0 };
        }
        near.mark = self.mark_before(pages - near.base, near.mark);
        near
    }

    /// Returns [`Self::programs`] at the position of so many page writes.
    #[inline]
    pub(super) fn programs_near(&self, pages: u64, near: &Near) -> f64 {
        let Some(&(_, programs)) = self.marks.last().filter(|&&(stretch, _)| stretch > 0) else {
            return pages as f64;
        };
        let (mark, programmed) = self.marks[near.mark];
        near.times as f64 * programs as f64 + (programmed + pages - near.base - mark) as f64
    }

    /// Returns the page writes of the life at the next mark after a position.
    #[inline]
    pub(super) fn next_mark(&self, near: &Near) -> u64 {
        self.marks.get(near.mark + 1).map_or(u64::MAX, |&(mark, _)| near.base + mark)
    }

    /// Returns the last mark that is not beyond so many page writes of the stretch, searching from another mark on.
    #[inline]
    fn mark_before(&self, rest: u64, from: usize) -> usize {
        let marks = &self.marks[from..];
        let ahead = marks.iter().take(STEPS + 1).take_while(|&&(mark, _)| mark <= rest).count();
        if (1..=STEPS).contains(&ahead) {
            return from + ahead - 1;
        }
        self.marks.partition_point(|&(mark, _)| mark <= rest) - 1
    }

    /// Returns the write amplification of the stretch.
    fn waf(&self) -> f64 {
        match self.marks.last() {
            Some(&(pages, programs)) if pages > 0 => programs as f64 / pages as f64,
            _ => 1.0,
        }
    }
}

/// Marks that are tried in sequence before a binary search.
const STEPS: usize = 8;

/// Position of a result among the repeated marks of a stretch: the repetition, its first page write, and the mark.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Near {
    times: u64,
    pub base: u64,
    mark: usize,
}

/// Corrects the gate of a life as a drive would.
#[derive(Clone, Debug)]
pub(super) struct Observer<'a> {
    pub lumps: &'a Lumps,
    /// Factor that scales the lumps' programs to the life's write amplification.
    pub scale: f64,
    pub page_bytes: f64,
    pub late: Amplification,
    /// Whether the throttle allots pages at their mean cost.
    by_mean: bool,
    /// Time of the last correction.
    observed_ns: u64,
    /// Page writes at the next correction of a gate by mean cost.
    next_at: u64,
    /// Position of the latest lumps.
    pub near: Near,
}

/// Longest time between corrections; without limits nothing leaves a period.
pub const OBSERVE_NS: u64 = 600_000_000_000;

impl<'a> Observer<'a> {
    /// Observes a drive that programs `waf` pages per page write.
    pub fn new(lumps: &'a Lumps, setup: &Setup, waf: f64) -> Self {
        let late = Amplification::new(setup.physical_bytes / u64::from(setup.page_bytes));
        let by_mean = setup.policy.parts().is_some_and(|parts| parts.regulator == Regulator::StaticCap);
        Self {
            lumps,
            scale: waf / lumps.waf(),
            page_bytes: f64::from(setup.page_bytes),
            late,
            by_mean,
            observed_ns: 0,
            next_at: 0,
            near: Near::default(),
        }
    }

    fn programs(&mut self, page_writes: u64) -> f64 {
        self.lumps.programs(page_writes, &mut self.near) * self.scale
    }

    /// Reports the programs of `page_writes` to the gate.
    pub fn observe(&mut self, gate: &mut Gate, page_writes: u64) {
        let programs = self.programs(page_writes);
        let waf = self.late.note(page_writes, programs as u64);
        gate.observe(&View { programmed_bytes: programs * self.page_bytes, waf, seen: None });
        self.observed_ns = gate.admitted_ns();
    }

    /// Returns whether the gate needs a correction before `pages` page writes with these arrivals.
    fn is_due(&self, gate: &Gate, (arrival_ns, gap_ns): (u64, u64), pages: u64) -> bool {
        // The gaps between them act like a later arrival.
        let last_ns = arrival_ns.max(gate.admitted_ns()).saturating_add((pages - 1).saturating_mul(gap_ns));
        !gate.stays(last_ns, pages) || last_ns >= self.observed_ns.saturating_add(OBSERVE_NS)
    }

    /// Lets many page writes pass at once like [`Gate::admit_all`], if none of them may have to wait for their lumps
    /// either. The gate is corrected only where a drive would have corrected it. More corrections would detect lumps
    /// earlier than with a drive.
    pub fn admit_all<R: Record>(
        &mut self,
        gate: &mut Gate,
        (arrival_ns, span_ns): (u64, u64),
        pages: u64,
        (record, passed): (&mut R, fn(&R) -> u64),
    ) -> Option<u64> {
        if pages == 0 || gate.stays(arrival_ns.saturating_add(span_ns), pages) {
            return gate.admit_all(arrival_ns, span_ns, pages, record);
        }
        let before = passed(record);
        let (used_bytes, page_flash_bytes) = (gate.used_bytes(), gate.page_flash_bytes());
        let programs = self.programs(before);
        // A static cap allots shares by write amplification alone.
        let waf = match self.by_mean {
            true => page_flash_bytes / self.page_bytes,
            false => {
                let after = self.lumps.programs(before + pages, &mut self.near.clone()) * self.scale;
                ((after - programs) / pages as f64).max(f64::MIN_POSITIVE)
            }
        };
        gate.observe(&View { programmed_bytes: programs * self.page_bytes, waf, seen: None });
        let end_ns = gate.admit_all(arrival_ns, span_ns, pages, record);
        match end_ns {
            Some(_) => self.observe(gate, passed(record)),
            None => {
                let waf = page_flash_bytes / self.page_bytes;
                gate.observe(&View { programmed_bytes: used_bytes, waf, seen: None });
            }
        }
        end_ns
    }

    /// Lets page writes pass like [`Gate::admit`], in requests of about `request_pages`. The gate is corrected whenever
    /// a request would leave its period or exceed its limit. `passed` returns how many pages have passed.
    pub fn admit<R: Record>(
        &mut self,
        gate: &mut Gate,
        (mut arrival_ns, gap_ns): (u64, u64),
        (mut pages, request_pages): (u64, u64),
        (record, passed): (&mut R, fn(&R) -> u64),
    ) {
        if self.by_mean {
            return self.admit_by_mean(gate, (arrival_ns, gap_ns), pages, (record, passed));
        }
        while pages > 0 {
            let request = request_pages.min(pages);
            // Pages within the period pass at once; the gate is corrected before the request after them.
            let mut count = self.staying(gate, (arrival_ns, gap_ns), (pages, request));
            if count == 0 {
                let before = passed(record);
                self.observe(gate, before);
                let ahead = self.ahead(gate, (arrival_ns, gap_ns), (before, pages, request));
                if ahead > 0 {
                    arrival_ns = gate.pass(arrival_ns, gap_ns, ahead, record).saturating_add(gap_ns);
                    pages -= ahead;
                    continue;
                }
                count = request;
            }
            let last_ns = gate.admit(arrival_ns, gap_ns, count, record);
            arrival_ns = last_ns.saturating_add(gap_ns);
            pages -= count;
        }
    }

    /// Admits pages at their mean cost. The cost changes slowly; one correction per [`Amplification::step`] is enough.
    fn admit_by_mean<R: Record>(
        &mut self,
        gate: &mut Gate,
        (mut arrival_ns, gap_ns): (u64, u64),
        mut pages: u64,
        (record, passed): (&mut R, fn(&R) -> u64),
    ) {
        while pages > 0 {
            let before = passed(record);
            let is_current = before < self.next_at
                && arrival_ns.max(gate.admitted_ns()) < self.observed_ns.saturating_add(OBSERVE_NS);
            if !is_current {
                self.observe(gate, before);
                self.next_at = before + self.late.step();
            }
            let count = pages.min(self.next_at - before);
            let last_ns = gate.admit(arrival_ns, gap_ns, count, record);
            arrival_ns = last_ns.saturating_add(gap_ns);
            pages -= count;
        }
    }

    /// Counts the pages that stay within the period and its limit: all of them, or whole requests.
    #[inline]
    fn staying(&self, gate: &Gate, arrives: (u64, u64), (pages, request): (u64, u64)) -> u64 {
        let expected = gate.staying(arrives);
        // The guess may be one too low.
        if expected.saturating_add(1) >= pages && !self.is_due(gate, arrives, pages) {
            return pages;
        }
        let requests = last_below((0, pages.div_ceil(request)), expected / request, |count| {
            !self.is_due(gate, arrives, count * request)
        });
        requests * request
    }
}

/// Returns the last number of a range for which a condition holds. The condition holds for the first number, and fails
/// from some number on. A guess that is right, or off by one, needs no search.
fn last_below((mut low, mut high): (u64, u64), guess: u64, mut is_so: impl FnMut(u64) -> bool) -> u64 {
    for at in [guess, guess.saturating_add(1), guess.saturating_sub(1)] {
        if low < at && at < high {
            if is_so(at) { low = at } else { high = at }
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_so(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throttle::{Passed, Throttle};
    use floatgate_base::Rng;
    use floatgate_base::testing::Bound;

    /// Three pages per victim after every second page write, then a stretch without victims.
    fn lumps() -> Lumps {
        let mut lumps = Lumps::default();
        for (page_writes, programs) in [(1, 1), (2, 5), (3, 6), (4, 10), (5, 11)] {
            lumps.note(page_writes, programs);
        }
        lumps.end(8, 14);
        lumps
    }

    /// Searches from the beginning.
    fn programs(lumps: &Lumps, pages: u64) -> f64 {
        lumps.programs(pages, &mut Near::default())
    }

    /// Checks previous positions after the result, before it, and in another repetition.
    #[test]
    fn the_starting_point_of_a_search_makes_no_difference() {
        let (mut lumps, mut near, mut rng) = (Lumps::default(), Near::default(), Rng::new(1, "lumps"));
        let (mut page_writes, mut programmed) = (0, 0);
        for _ in 0..300 {
            page_writes += 1 + rng.below(5);
            programmed += 5 + rng.below(9);
            lumps.note(page_writes, programmed);
        }
        lumps.end(page_writes + 100, programmed + 100);
        let mut pages = 0;
        for _ in 0..20_000 {
            pages = match rng.below(20) {
                0 => rng.below(20 * page_writes),
                1 => pages.saturating_sub(rng.below(50)),
                _ => pages + rng.below(20),
            };
            assert_eq!(lumps.programs(pages, &mut near), programs(&lumps, pages), "{pages}");
            let (stretch, whole) = lumps.marks[lumps.marks.len() - 1];
            let (times, rest) = (pages / stretch, pages % stretch);
            let (mark, before) = *lumps.marks.iter().rfind(|&&(mark, _)| mark <= rest).unwrap();
            assert_eq!(programs(&lumps, pages), times as f64 * whole as f64 + (before + rest - mark) as f64);
        }
    }

    #[test]
    fn a_guess_changes_nothing_but_the_search() {
        for last in 0..40 {
            for guess in 0..45 {
                assert_eq!(last_below((0, 41), guess, |n| n <= last), last, "{guess}");
            }
        }
    }

    #[test]
    fn programs_come_when_they_came_and_the_stretch_repeats() {
        let lumps = lumps();
        assert_eq!(lumps.len(), 3);
        let each: Vec<f64> = (0..=12).map(|pages| programs(&lumps, pages)).collect();
        assert_eq!(each, [0.0, 1.0, 5.0, 6.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 19.0, 20.0, 24.0]);
        assert_eq!((programs(&lumps, 800), lumps.waf()), (1400.0, 1.75));
    }

    #[test]
    fn without_collection_a_page_is_a_program() {
        let mut none = Lumps::default();
        assert_eq!((programs(&none, 7), none.waf(), none.is_empty()), (7.0, 1.0, true));
        none.note(9, 9);
        none.end(20, 20);
        assert_eq!((programs(&none, 7), programs(&none, 50), none.waf()), (7.0, 50.0, 1.0));
    }

    type PassPages = fn(&mut Observer<'_>, &mut Gate, (u64, u64), (u64, u64), &mut Passed);

    /// Passes a bursty workload through a gate with `pass`; returns the time held back, the pages passed, and the flash
    /// bytes used.
    fn passed_by(seed: u64, policy: Throttle, pass: PassPages) -> (u64, u64, f64) {
        let mut rng = Rng::new(seed, "observer");
        let (mut lumps, mut writes, mut programs) = (Lumps::default(), 0, 0);
        let largest = 2 + rng.below(200);
        for _ in 0..200 {
            let (pages, moved) = (1 + rng.below(largest), 1 + rng.below(40));
            (writes, programs) = (writes + pages, programs + pages + moved);
            lumps.note(writes, programs);
        }
        lumps.end(writes + 1, programs + 1);
        let (target_ns, request) = ((6 + rng.below(60)) * 3_600_000_000_000, 1 + rng.below(8));
        let setup = Setup::ready(policy, (8 + rng.below(40)) << 20, target_ns);
        let waf = lumps.waf() * (0.9 + 0.2 * rng.unit());
        let (mut gate, mut passed) = (Gate::new(setup, waf), Passed::new(target_ns));
        let mut observer = Observer::new(&lumps, &setup, waf);
        let (mut stamp_ns, mut bound) = (0, Bound::new(10_000_000));
        while gate.admitted_ns() < target_ns {
            bound.step();
            let arrives = (stamp_ns + gate.held_back_ns(), rng.below(4) * rng.below(3_000_000));
            let pages = 1 + rng.below(2000);
            pass(&mut observer, &mut gate, arrives, (pages, request), &mut passed);
            stamp_ns += pages * arrives.1 + rng.below(3_000_000_000);
        }
        observer.observe(&mut gate, passed.page_writes);
        (gate.held_back_ns(), passed.page_writes, gate.used_bytes())
    }

    /// A gate that is corrected less often delays the same pages, to the nanosecond. Only a static cap differs, in
    /// either direction: the page at which the cost changes decides which burst still passes.
    #[test]
    fn fewer_corrections_change_no_delay() {
        const SEEDS: u32 = 30;
        let mut bias: f64 = 0.0;
        for seed in 0..u64::from(SEEDS) {
            for policy in
                [Throttle::Static, Throttle::Dynamic, Throttle::ReadyPessimistic, Throttle::ReadyOptimistic]
            {
                let often = passed_by(
                    seed,
                    policy,
                    |observer, gate, (mut at_ns, gap_ns), (mut pages, request), passed| {
                        for _ in 0..pages.div_ceil(request) {
                            let count = request.min(pages);
                            if observer.is_due(gate, (at_ns, gap_ns), count) {
                                observer.observe(gate, passed.page_writes);
                            }
                            at_ns = gate.admit(at_ns, gap_ns, count, passed).saturating_add(gap_ns);
                            pages -= count;
                        }
                    },
                );
                let seldom = passed_by(seed, policy, |observer, gate, arrives, pages, passed| {
                    observer.admit(gate, arrives, pages, (passed, |passed| passed.page_writes));
                });
                println!("seed {seed}, {policy:?}: {often:?} {seldom:?}");
                if policy == Throttle::Static {
                    let off = seldom.1 as f64 / often.1 as f64 - 1.0;
                    assert!(off.abs() < 5e-3, "seed {seed}: {often:?}, {seldom:?}");
                    bias += off / f64::from(SEEDS);
                } else {
                    assert_eq!((often.0, often.1), (seldom.0, seldom.1), "seed {seed}, {policy:?}");
                    assert!(
                        (often.2 / seldom.2 - 1.0).abs() < 1e-9,
                        "seed {seed}, {policy:?}: {} {}",
                        often.2,
                        seldom.2
                    );
                }
            }
        }
        assert!(bias.abs() < 5e-4, "a static cap passes {bias} more on average");
    }
}
