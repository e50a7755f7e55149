//! The throttle of a run: every request passes its gate when it arrives, before queues, buffer and FTL see it.
//!
//! The gate counts what its page writes cost by an estimate. Whenever a write would leave the gate's present period, or
//! exceed its limit, the estimate is corrected first: by what the flash has programmed since counting began, and by the
//! write amplification of late. So no period and no epoch is planned on an estimate that was never checked.
//!
//! Requests leave in the order in which they arrive; a read waits behind a write that waits.

use crate::array::Together;
use crate::device::{Simulation, TOGETHER_NS};
use crate::plan::{Arrival, Mode, Plan};
use floatgate_base::{ExtentKind as Kind, Extents, Op, RequestBatch, Result};
use floatgate_flash::Counters;
use floatgate_lifetime::SECONDS_PER_YEAR;
use floatgate_lifetime::throttle::{Epoch, Gate, GateState, Predictions, Record, Setup, View};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Without limits nothing leaves a period: the estimate is corrected at least this often.
const OBSERVE_NS: u64 = 600_000_000_000;

/// What the throttle did in a run, for its result.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Throttling {
    /// Page writes that passed.
    pub page_writes: u64,
    /// Page writes that were delayed or waited.
    pub held_page_writes: u64,
    /// Page writes that waited for room in a later period.
    pub waits: u64,
    /// All delays, nanoseconds.
    pub delay_ns: u128,
    /// All waits for room, nanoseconds.
    pub wait_ns: u128,
    /// Delays and waits by which arrival `shifted` moves the stamps, nanoseconds.
    pub held_back_ns: u64,
    /// Time from arrival to leaving the gate, summed over reads and over writes, nanoseconds.
    pub request_wait_ns: [u128; 2],
    /// Epochs planned.
    pub epochs: u64,
    /// How often their length was chosen anew.
    pub selections: u64,
    /// Length of the last whole epoch, nanoseconds; 0 without epochs.
    pub epoch_ns: u64,
    /// How predictions came out.
    pub predictions: Predictions,
}

/// What passed the gate so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    page_writes: u64,
    held_page_writes: u64,
    waits: u64,
    delay_ns: u128,
    wait_ns: u128,
    request_wait_ns: [u128; 2],
    /// Length of the last epoch that was not the end of a life.
    epoch_ns: u64,
    target_ns: u64,
}

impl Record for Tally {
    #[inline]
    fn passed(&mut self, _: u64, _: u64, count: u64, delay_ns: u64) {
        self.page_writes += count;
        self.delay_ns += u128::from(delay_ns) * u128::from(count);
        self.held_page_writes += if delay_ns > 0 { count } else { 0 };
    }

    fn waited(&mut self, _: u64, delay_ns: u64, wait_ns: u64) {
        self.page_writes += 1;
        self.delay_ns += u128::from(delay_ns);
        self.wait_ns += u128::from(wait_ns);
        self.held_page_writes += 1;
        self.waits += 1;
    }

    fn epoch(&mut self, epoch: &Epoch) {
        if epoch.end_ns < self.target_ns {
            self.epoch_ns = epoch.end_ns - epoch.start_ns;
        }
    }
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
pub(crate) type SavedThrottled = (GateState, Tally, SavedEstimate);
type SavedEstimate = (Amplification, u64, u64);

/// The gate of a run, and what it goes by.
#[derive(Clone, Debug)]
pub(crate) struct Throttled {
    gate: Gate,
    tally: Tally,
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
            tally: Tally { target_ns: setup.target_ns, ..Tally::default() },
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
            tally,
            amplification,
            now_ns,
            observed_ns,
            // From the plan.
            shifted: _,
            page_bytes: _,
        } = self;
        (gate.state(), tally, (amplification, now_ns, observed_ns))
    }

    /// Takes over what a snapshot kept.
    pub fn restore(&mut self, setup: Setup, (gate, tally, estimate): SavedThrottled) {
        self.gate = Gate::resume(setup, gate);
        self.tally = tally;
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
        let waf = self.amplification.note(self.tally.page_writes - waiting, programs);
        let programmed_bytes = (programs as f64 + waiting as f64 * waf) * self.page_bytes;
        self.gate.observe(&View { programmed_bytes, waf });
        self.observed_ns = self.now_ns;
    }

    /// Lets a request pass that writes so many pages: when it leaves.
    fn pass<R: Record>(&mut self, arrival_ns: u64, pages: u64, record: &mut R) -> u64 {
        let both = &mut Both(&mut self.tally, record);
        let left_ns = self.gate.admit(arrival_ns, 0, pages, both);
        self.now_ns = self.now_ns.max(left_ns);
        left_ns
    }

    /// What the throttle did.
    pub fn figures(&self) -> Throttling {
        let Tally { page_writes, held_page_writes, waits, delay_ns, wait_ns, request_wait_ns, .. } =
            self.tally;
        let (epochs, selections) = self.gate.epochs();
        Throttling {
            page_writes,
            held_page_writes,
            waits,
            delay_ns,
            wait_ns,
            held_back_ns: self.gate.held_back_ns(),
            request_wait_ns,
            epochs,
            selections,
            epoch_ns: if epochs > 0 { self.tally.epoch_ns } else { 0 },
            predictions: self.gate.predictions(),
        }
    }
}

/// Two that take note of the same.
struct Both<'a, R>(&'a mut Tally, &'a mut R);

impl<R: Record> Record for Both<'_, R> {
    #[inline]
    fn passed(&mut self, first_ns: u64, last_ns: u64, count: u64, delay_ns: u64) {
        self.0.passed(first_ns, last_ns, count, delay_ns);
        self.1.passed(first_ns, last_ns, count, delay_ns);
    }

    fn waited(&mut self, time_ns: u64, delay_ns: u64, wait_ns: u64) {
        self.0.waited(time_ns, delay_ns, wait_ns);
        self.1.waited(time_ns, delay_ns, wait_ns);
    }

    fn epoch(&mut self, epoch: &Epoch) {
        self.0.epoch(epoch);
        self.1.epoch(epoch);
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
        let left_ns = match &mut self.life {
            Some(life) => throttled.pass(arrival_ns, pages, &mut life.book),
            None => throttled.pass(arrival_ns, pages, &mut ()),
        };
        if op != Op::Trim {
            throttled.tally.request_wait_ns[op as usize] += u128::from(left_ns - arrival_ns);
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
