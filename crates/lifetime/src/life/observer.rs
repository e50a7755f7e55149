//! The observer of a life without a drive.

use super::ahead::Programs;
use super::lumps::{Amplification, Lumps, Near};
use crate::throttle::regulator::Regulator;
use crate::throttle::{Gate, Record, Setup, View};

/// Corrects the gate of a life as a drive would.
#[derive(Clone, Debug)]
pub(super) struct Observer<'a> {
    known: Programs<'a>,
    /// Whether the throttle allots pages at their mean cost.
    by_mean: bool,
    /// Time of the last correction.
    observed_ns: u64,
    /// Page writes at the next correction of a gate by mean cost.
    next_at: u64,
}

/// Longest time between corrections; without limits nothing leaves a period.
pub const OBSERVE_NS: u64 = 600_000_000_000;

impl<'a> Observer<'a> {
    /// Observes a drive that programs `waf` pages per page write.
    pub fn new(lumps: &'a Lumps, setup: &Setup, waf: f64) -> Self {
        let late = Amplification::new(setup.physical_bytes / u64::from(setup.page_bytes));
        let by_mean = setup.policy.parts().is_some_and(|parts| parts.regulator == Regulator::StaticCap);
        let (scale, page_bytes) = (waf / lumps.waf(), f64::from(setup.page_bytes));
        let known = Programs { lumps, scale, page_bytes, late, near: Near::default() };
        Self { known, by_mean, observed_ns: 0, next_at: 0 }
    }

    fn programs(&mut self, page_writes: u64) -> f64 {
        self.known.lumps.programs(page_writes, &mut self.known.near) * self.known.scale
    }

    /// Reports the programs of `page_writes` to the gate.
    pub fn observe(&mut self, gate: &mut Gate, page_writes: u64) {
        let programs = self.programs(page_writes);
        let waf = self.known.late.note(page_writes, programs as u64);
        gate.observe(&View { programmed_bytes: programs * self.known.page_bytes, waf, seen: None });
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
            true => page_flash_bytes / self.known.page_bytes,
            false => {
                let after = self.known.lumps.programs(before + pages, &mut self.known.near.clone())
                    * self.known.scale;
                ((after - programs) / pages as f64).max(f64::MIN_POSITIVE)
            }
        };
        gate.observe(&View { programmed_bytes: programs * self.known.page_bytes, waf, seen: None });
        let end_ns = gate.admit_all(arrival_ns, span_ns, pages, record);
        match end_ns {
            Some(_) => self.observe(gate, passed(record)),
            None => {
                let waf = page_flash_bytes / self.known.page_bytes;
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
                let ahead = self.known.ahead(gate, (arrival_ns, gap_ns), (before, pages, request));
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
                self.next_at = before + self.known.late.step();
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

    #[test]
    fn a_guess_changes_nothing_but_the_search() {
        for last in 0..40 {
            for guess in 0..45 {
                assert_eq!(last_below((0, 41), guess, |n| n <= last), last, "{guess}");
            }
        }
    }

    type PassPages = fn(&mut Observer<'_>, &mut Gate, (u64, u64), (u64, u64), &mut Passed);

    /// Passes a bursty workload through a gate with `pass`; returns the time held back, the pages passed, and the flash
    /// bytes used.
    fn passed_by((seed, policy): (u64, Throttle), pass: PassPages) -> (u64, u64, f64) {
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

    /// Passes a workload with a correction before each request that is due, and with as few as possible.
    fn often_and_seldom(of: (u64, Throttle)) -> [(u64, u64, f64); 2] {
        let often = passed_by(of, |observer, gate, (mut at_ns, gap_ns), (mut pages, request), passed| {
            for _ in 0..pages.div_ceil(request) {
                let count = request.min(pages);
                if observer.is_due(gate, (at_ns, gap_ns), count) {
                    observer.observe(gate, passed.page_writes);
                }
                at_ns = gate.admit(at_ns, gap_ns, count, passed).saturating_add(gap_ns);
                pages -= count;
            }
        });
        let seldom = passed_by(of, |observer, gate, arrives, pages, passed| {
            observer.admit(gate, arrives, pages, (passed, |passed| passed.page_writes));
        });
        println!("{of:?}: {often:?} {seldom:?}");
        [often, seldom]
    }

    fn same_delays(of: (u64, Throttle)) {
        let [often, seldom] = often_and_seldom(of);
        assert_eq!((often.0, often.1), (seldom.0, seldom.1), "{of:?}");
        assert!((often.2 / seldom.2 - 1.0).abs() < 1e-9, "{of:?}: {} {}", often.2, seldom.2);
    }

    /// A gate that is corrected less often delays the same pages, to the nanosecond. Only a static cap differs, in
    /// either direction: the page at which the cost changes decides which burst still passes.
    #[test]
    fn fewer_corrections_change_no_delay() {
        const SEEDS: u32 = 30;
        let mut bias: f64 = 0.0;
        for seed in 0..u64::from(SEEDS) {
            for policy in [Throttle::Dynamic, Throttle::ReadyPessimistic, Throttle::ReadyOptimistic] {
                same_delays((seed, policy));
            }
            let [often, seldom] = often_and_seldom((seed, Throttle::Static));
            let off = seldom.1 as f64 / often.1 as f64 - 1.0;
            assert!(off.abs() < 5e-3, "seed {seed}: {often:?}, {seldom:?}");
            bias += off / f64::from(SEEDS);
        }
        assert!(bias.abs() < 5e-4, "a static cap passes {bias} more on average");
    }

    /// A host without pauses under a throttle that delays it to its capacity: page writes are always close to the limit,
    /// and a victim moves 40 pages after every 100th, and
    /// later 20. Most pass without a correction before their request; that no delay
    /// changes is tested beside [`Observer::admit`].
    #[test]
    fn most_page_writes_near_the_limit_need_no_correction() {
        let mut lumps = Lumps::default();
        for victims in 1..=100 {
            let moved = 20 * victims + 20 * victims.min(50);
            lumps.note(100 * victims, 100 * victims + moved);
        }
        lumps.end(10_000, 13_000);
        let setup = Setup {
            arrivals_follow: true,
            ..Setup::ready(Throttle::ReadyPessimistic, 2 << 20, 240 * 3_600_000_000_000)
        };
        let (mut gate, mut passed) = (Gate::new(setup, 1.3), Passed::new(setup.target_ns));
        let (mut observer, mut bound) = (Observer::new(&lumps, &setup, 1.3), Bound::new(5_000_000));
        let (mut at_ns, mut ahead) = (0, 0);
        while gate.admitted_ns() < setup.target_ns {
            bound.step();
            observer.observe(&mut gate, passed.page_writes);
            let arrives = (at_ns + gate.held_back_ns(), 1_000_000);
            let count = observer.known.ahead(&gate, arrives, (passed.page_writes, 2000, 2));
            assert_eq!(count % 2, 0);
            ahead += count;
            if let Some(way) = gate.way(arrives, 2000).filter(|_| count > 0) {
                // At the cost that the gate has now: a correction that ends a stretch may have left it high.
                let charged = gate.used_bytes() + 2.0 * gate.page_flash_bytes();
                assert!(charged <= way.limit_bytes + way.page_bytes, "{charged} {way:?}");
            }
            let count = if count > 0 {
                gate.pass(arrives.0, arrives.1, count, &mut passed);
                count
            } else {
                gate.admit(arrives.0, arrives.1, 2, &mut passed);
                2
            };
            at_ns += count * arrives.1;
        }
        println!("{ahead} of {}, {} waited", passed.page_writes, passed.waits);
        assert!(3 * ahead > 2 * passed.page_writes, "{ahead} of {}", passed.page_writes);
    }
}
