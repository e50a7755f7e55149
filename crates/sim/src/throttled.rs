//! The throttle of a run: every request passes its gate when it arrives, before queues, buffer and FTL see it.
//!
//! The gate counts what its page writes cost by an estimate. Whenever a write would leave the gate's present period, or
//! exceed its limit, the estimate is corrected first: by what the flash has programmed since counting began, and by the
//! write amplification of late. So no period and no epoch is planned on an estimate that was never checked.
//!
//! Requests leave in the order in which they arrive; a read waits behind a write that waits.

use crate::array::Together;
use crate::chunk::TOGETHER_NS;
use crate::device::Simulation;
use crate::plan::{Arrival, Mode, Plan};
use floatgate_base::{ExtentKind as Kind, Extents, Op, RequestBatch, Result};
use floatgate_flash::Counters;
use floatgate_lifetime::SECONDS_PER_YEAR;
use floatgate_lifetime::life::Book;
use floatgate_lifetime::throttle::{Gate, GateState, Passed, Predictions, Setup, View};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Without limits nothing leaves a period: the estimate is corrected at least this often.
const OBSERVE_NS: u64 = 600_000_000_000;

/// What the throttle did in a run, for its result.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Throttling {
    /// Page writes that passed, their delays and waits.
    pub passed: Passed,
    /// Delays and waits by which arrival `shifted` moves the stamps, nanoseconds.
    pub held_back_ns: u64,
    /// Time from arrival to leaving the gate, summed over reads and over writes, nanoseconds.
    pub request_wait_ns: [u128; 2],
    /// Epochs planned.
    pub epochs: u64,
    /// How often their length was chosen anew.
    pub selections: u64,
    /// How predictions came out.
    pub predictions: Predictions,
}

/// Write amplification of late: since the stretch of host page writes before the present one began. A stretch is an
/// eighth of the drive, so that the estimate follows a workload that changes and does not follow single victims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Amplification {
    /// Page writes of the host and programs when the stretch before began, and when the present one did.
    marks: [(u64, u64); 2],
    stretch: u64,
    waf: f64,
}

impl Amplification {
    fn new(pages: u64) -> Self {
        Self { marks: [(0, 0); 2], stretch: (pages / 8).max(1), waf: 1.0 }
    }

    /// `page_writes` of the host have come to `programs` so far. Until an eighth of a stretch is written, 1 is expected.
    fn note(&mut self, page_writes: u64, programs: u64) -> f64 {
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

/// What a snapshot keeps.
pub(crate) type SavedThrottled = (GateState, Passed, [u128; 2], SavedEstimate);
type SavedEstimate = (Amplification, u64, u64);

/// The gate of a run, and what it goes by.
#[derive(Clone, Debug)]
pub(crate) struct Throttled {
    gate: Gate,
    passed: Passed,
    /// Time from arrival to leaving the gate, summed over reads and over writes.
    request_wait_ns: [u128; 2],
    amplification: Amplification,
    /// Time of the last request that left the gate.
    now_ns: u64,
    observed_ns: u64,
    shifted: bool,
    page_bytes: f64,
}

/// The throttle of a plan's drive from the beginning of counting on; blocks have been through `cycles_used` by then, in
/// `age_s` seconds.
pub(crate) fn setup(plan: &Plan, cycles_used: f64, age_s: f64) -> Setup {
    Setup {
        policy: plan.throttle,
        target_ns: (plan.target_years * SECONDS_PER_YEAR * 1e9).round() as u64,
        physical_bytes: plan.geometry.bytes(),
        page_bytes: plan.geometry.page_bytes,
        endurance: plan.endurance,
        cycles_used,
        age_s,
        arrivals_follow: match plan.mode {
            Mode::Functional => plan.shifted,
            Mode::Timed(arrival) => arrival != Arrival::Open,
        },
        params: plan.throttle_params,
    }
}

impl Throttled {
    pub fn new(plan: &Plan, setup: Setup) -> Self {
        Self {
            gate: Gate::new(setup, 1.0),
            passed: Passed::new(setup.target_ns),
            request_wait_ns: [0; 2],
            amplification: Amplification::new(plan.geometry.pages()),
            now_ns: 0,
            observed_ns: 0,
            shifted: plan.shifted,
            page_bytes: f64::from(plan.geometry.page_bytes),
        }
    }

    /// Taken apart without `..`, so that no new field is forgotten.
    pub fn saved(&self) -> impl Serialize + '_ {
        let Self {
            gate,
            passed,
            request_wait_ns,
            amplification,
            now_ns,
            observed_ns,
            // From the plan.
            shifted: _,
            page_bytes: _,
        } = self;
        (gate.state(), passed, request_wait_ns, (amplification, now_ns, observed_ns))
    }

    /// Takes over what a snapshot kept.
    pub fn restore(&mut self, setup: Setup, (gate, passed, request_wait_ns, estimate): SavedThrottled) {
        self.gate = Gate::resume(setup, gate);
        (self.passed, self.request_wait_ns) = (passed, request_wait_ns);
        (self.amplification, self.now_ns, self.observed_ns) = estimate;
    }

    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Time of the last request that left the gate, nanoseconds since counting began.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Functional mode: when a request arrives whose stamp is `stamp_ns` after the first counted one.
    fn arrival_ns(&self, stamp_ns: i64) -> u64 {
        let stamp_ns = u64::try_from(stamp_ns).unwrap_or(0);
        if self.shifted { stamp_ns.saturating_add(self.gate.held_back_ns()) } else { stamp_ns }
    }

    /// Whether the estimate wants correction before a request passes.
    fn is_due(&self, arrival_ns: u64, pages: u64) -> bool {
        pages > 0
            && (!self.gate.stays(arrival_ns, pages)
                || arrival_ns.max(self.gate.admitted_ns()) >= self.observed_ns.saturating_add(OBSERVE_NS))
    }

    /// Corrects the estimate. All page writes have been served that passed the gate, but for `waiting` of them.
    pub fn observe(&mut self, flash: &Counters, waiting: u64) {
        let programs = flash.programs_total();
        let waf = self.amplification.note(self.passed.page_writes - waiting, programs);
        let programmed_bytes = (programs as f64 + waiting as f64 * waf) * self.page_bytes;
        self.gate.observe(&View { programmed_bytes, waf });
        self.observed_ns = self.now_ns;
    }

    /// Lets a request pass that writes so many pages: when it leaves. Where the run is a whole life, its book does the
    /// sums.
    fn pass(&mut self, arrival_ns: u64, pages: u64, book: Option<&mut Book>) -> u64 {
        let left_ns = match book {
            None => self.gate.admit(arrival_ns, 0, pages, &mut self.passed),
            Some(book) => {
                let left_ns = self.gate.admit(arrival_ns, 0, pages, book);
                self.passed = *book.passed();
                left_ns
            }
        };
        self.now_ns = self.now_ns.max(left_ns);
        left_ns
    }

    /// What the throttle did.
    pub fn figures(&self) -> Throttling {
        let (epochs, selections) = self.gate.epochs();
        Throttling {
            passed: self.passed,
            held_back_ns: self.gate.held_back_ns(),
            request_wait_ns: self.request_wait_ns,
            epochs,
            selections,
            predictions: self.gate.predictions(),
        }
    }
}

/// Pages that some extents write.
fn page_writes(extents: &Extents, range: Range<usize>) -> u64 {
    let writes = |&i: &usize| matches!(extents.kind[i], Kind::Write | Kind::WritePartial);
    range.filter(writes).map(|i| u64::from(extents.pages[i])).sum()
}

impl Simulation {
    /// Counting begins: from here on requests pass the gate.
    pub(crate) fn start_throttle(&mut self) {
        let setup = match &self.life {
            Some(life) => Some(*life.setup()),
            None => (self.plan.throttle.parts().is_some()).then(|| setup(&self.plan, 0.0, 0.0)),
        };
        self.throttled = setup.map(|setup| Throttled::new(&self.plan, setup));
    }

    /// A request arrives that touches the extents in `range`: when it leaves the gate.
    #[inline(always)]
    pub(crate) fn pass_gate(&mut self, arrival_ns: u64, range: Range<usize>, op: Op) -> u64 {
        if self.throttled.is_none() { arrival_ns } else { self.pass_throttle(arrival_ns, range, op) }
    }

    #[inline(never)]
    fn pass_throttle(&mut self, arrival_ns: u64, range: Range<usize>, op: Op) -> u64 {
        let Some(throttled) = &mut self.throttled else { return arrival_ns };
        let pages = page_writes(&self.extents, range);
        if throttled.is_due(arrival_ns, pages) {
            let waiting = self.queues.as_ref().map_or(0, |queues| queues.waiting_pages().1);
            throttled.observe(self.array.counters(), waiting);
        }
        let before_ns = throttled.gate.held_back_ns();
        let left_ns = throttled.pass(arrival_ns, pages, self.life.as_mut().map(|life| &mut life.book));
        if op != Op::Trim {
            throttled.request_wait_ns[op as usize] += u128::from(left_ns - arrival_ns);
        }
        if let Some(clock) = &mut self.clock {
            clock.delay(throttled.gate.held_back_ns() - before_ns);
        }
        left_ns
    }

    /// Serves some requests of the batch in functional mode, each when it has left the gate; false if the run had to
    /// start over.
    pub(crate) fn chunk_throttled(&mut self, range: Range<usize>) -> Result<bool> {
        let before =
            self.life.as_ref().map(|_| (self.splitter.counters().to_vec(), self.splitter.requests_moved));
        if !self.split_each(range.clone())? {
            return Ok(false);
        }
        let shift_ns = self.stream.shift_ns;
        let stamp_of = |batch: &RequestBatch, i: usize| batch.time_ns[i].saturating_add(shift_ns);
        let from_ns =
            self.stream.counted_from_ns.unwrap_or_else(|| stamp_of(&self.stream.batch, range.start));
        let (mut unserved, mut extents_from) = (range.start, 0);
        let mut end = range.end;
        self.runs.clear();
        for i in range.clone() {
            let Some(throttled) = &self.throttled else { break };
            let extents_to = self.request_ends[i - range.start];
            let arrival_ns = throttled.arrival_ns(stamp_of(&self.stream.batch, i).saturating_sub(from_ns));
            if self.life_ends(arrival_ns) {
                end = i;
                break;
            }
            let extents = extents_from..extents_to;
            if throttled.is_due(arrival_ns, page_writes(&self.extents, extents.clone())) {
                self.serve_together(&range, unserved..i)?;
                unserved = i;
            }
            let left_ns = self.pass_gate(arrival_ns, extents, self.stream.batch.op[i]);
            self.note_life();
            let now_ns = left_ns - left_ns % TOGETHER_NS as u64;
            match self.runs.last_mut() {
                Some(run) if run.now_ns == now_ns => run.end = i + 1,
                _ => self.runs.push(Together { end: i + 1, now_ns }),
            }
            extents_from = extents_to;
        }
        self.serve_together(&range, unserved..end)?;
        if end > range.start {
            self.after_chunk(range.start..end)?;
        }
        if let (true, Some((counters, moved))) = (end < range.end, before) {
            // Those behind the end do not count.
            self.splitter.restore(counters, moved);
            if end == range.start || self.split_each(range.start..end)? {
                self.end_life()?;
            }
        }
        Ok(true)
    }
}
