//! The third stage: the throttle. Every request passes its gate on arrival, before queues, buffer and FTL.
//!
//! The gate counts the cost of its page writes by an estimate. Before a write would leave the gate's current period, or
//! exceed its limit, the estimate is corrected by the pages programmed since counting began and by the recent write
//! amplification. No period and no epoch is planned on an unchecked estimate.
//!
//! Requests leave in order of arrival; a read waits behind a waiting write.

use crate::array::BackEnd;
use crate::drive::Drive;
use crate::life_book::LifeBook;
use crate::plan::{Arrival, Mode, Plan};
use floatgate_base::{ExtentKind as Kind, Extents, Op};
use floatgate_ftl::Schemes;
use floatgate_lifetime::life::{Amplification, OBSERVE_NS};
use floatgate_lifetime::reduce::{Record, SchemePages, SchemeSeen, Seen};
use floatgate_lifetime::throttle::{Gate, GateState, Params, Passed, Predictions, Setup, View};
use floatgate_lifetime::{SECONDS_PER_YEAR, life};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Totals of the throttle in a run, for its result.
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
    /// New choices of the epoch length.
    pub selections: u64,
    /// Epochs whose delay was limited by its bound.
    pub bounded_epochs: u64,
    /// Accuracy of the predictions.
    pub predictions: Predictions,
}

/// State of the gate in a snapshot.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedThrottled {
    gate: GateState,
    passed: Passed,
    request_wait_ns: [u128; 2],
    amplification: Amplification,
    now_ns: u64,
    observed_ns: u64,
}

/// The gate of a run and its input.
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
    /// The records of a whole life, if the run is one.
    life: Option<Box<LifeBook>>,
}

/// Returns the throttle of a plan's drive from the beginning of counting on; by then blocks have completed
/// `cycles_used` cycles in `age_s` seconds.
#[must_use]
pub fn setup(plan: &Plan, cycles_used: f64, age_s: f64) -> Setup {
    let manager = plan.manager();
    Setup {
        policy: plan.throttle.policy,
        target_ns: (plan.throttle.target_years * SECONDS_PER_YEAR * 1e9).round() as u64,
        physical_bytes: plan.drive.geometry.bytes(),
        page_bytes: plan.drive.geometry.page_bytes,
        endurance: plan.drive.endurance,
        cycles_used,
        age_s,
        arrivals_follow: match plan.mode {
            Mode::Functional => plan.workload.shifted,
            Mode::Timed(arrival) => arrival != Arrival::Open,
        },
        params: match manager {
            Some(manager) => Params { fixed_epoch_ns: Some(manager.epoch_ns), ..plan.throttle.params },
            None => plan.throttle.params,
        },
        manager,
    }
}

impl Throttled {
    /// Creates the gate of a plan that has one; `life` for a whole life.
    pub fn of(plan: &Plan, life: Option<LifeBook>) -> Option<Self> {
        let setup = match &life {
            Some(life) => *life.setup(),
            None if plan.throttles() => setup(plan, 0.0, 0.0),
            None => return None,
        };
        Some(Self {
            gate: Gate::new(setup, 1.0),
            passed: Passed::new(setup.target_ns),
            request_wait_ns: [0; 2],
            amplification: Amplification::new(plan.drive.geometry.pages()),
            now_ns: 0,
            observed_ns: 0,
            shifted: plan.workload.shifted,
            page_bytes: f64::from(plan.drive.geometry.page_bytes),
            life: life.map(Box::new),
        })
    }

    /// Returns the fault that a throttle from outside made, if one did.
    #[must_use]
    pub fn policy_fault(&self) -> Option<&'static str> {
        self.gate.policy_fault()
    }

    /// Returns the state for a snapshot. Destructured without `..`: the compiler rejects a forgotten field.
    pub fn saved(&self) -> SavedThrottled {
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
            // Of a whole life, which is never interrupted.
            life: _,
        } = self;
        SavedThrottled {
            gate: gate.state().clone(),
            passed: *passed,
            request_wait_ns: *request_wait_ns,
            amplification: amplification.clone(),
            now_ns: *now_ns,
            observed_ns: *observed_ns,
        }
    }

    /// Restores the state of the gate of the same plan; returns false if it is of another throttle.
    pub fn restore(&mut self, plan: &Plan, saved: SavedThrottled) -> bool {
        let SavedThrottled { gate, passed, request_wait_ns, amplification, now_ns, observed_ns } = saved;
        self.gate = Gate::resume(setup(plan, 0.0, 0.0), gate);
        (self.passed, self.request_wait_ns, self.amplification) = (passed, request_wait_ns, amplification);
        (self.now_ns, self.observed_ns) = (now_ns, observed_ns);
        self.gate.fits()
    }

    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Returns the time of the last request that left the gate, nanoseconds since counting began.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Returns the book of a whole life.
    pub fn life(&self) -> Option<&LifeBook> {
        self.life.as_deref()
    }

    /// Returns when a request arrives in functional mode, if its stamp is `stamp_ns` after the first counted one.
    pub fn arrival_ns(&self, stamp_ns: i64) -> u64 {
        let stamp_ns = u64::try_from(stamp_ns).unwrap_or(0);
        if self.shifted { stamp_ns.saturating_add(self.gate.held_back_ns()) } else { stamp_ns }
    }

    /// Returns whether the estimate needs a correction before a request passes.
    fn is_due(&self, arrival_ns: u64, pages: u64) -> bool {
        pages > 0
            && (!self.gate.stays(arrival_ns, pages)
                || arrival_ns.max(self.gate.admitted_ns()) >= self.observed_ns.saturating_add(OBSERVE_NS))
    }

    /// Corrects the estimate. All page writes that passed the gate have been served, except `waiting` of them.
    pub fn observe<F: BackEnd>(&mut self, drive: &Drive<F>, waiting: u64) {
        let programs = drive.counters().programs_total();
        let waf = self.amplification.note(self.passed.page_writes - waiting, programs);
        let programmed_bytes = (programs as f64 + waiting as f64 * waf) * self.page_bytes;
        let seen = self.gate.manager().map(|_| seen(drive));
        self.gate.observe(&View { programmed_bytes, waf, seen });
        self.observed_ns = self.now_ns;
    }

    /// Returns whether the estimate needs a correction before a request with this arrival and these extents passes.
    pub fn is_due_for(&self, arrival_ns: u64, extents: &Extents, range: Range<usize>) -> bool {
        self.is_due(arrival_ns, page_writes(extents, range))
    }

    /// Lets a request with the extents in `range` pass; returns when it leaves the gate. Of the page writes that passed
    /// before, `waiting` have not been served.
    pub fn pass<F: BackEnd>(
        &mut self,
        arrival_ns: u64,
        (extents, range): (&Extents, Range<usize>),
        op: Op,
        drive: &Drive<F>,
        waiting: u64,
    ) -> u64 {
        let pages = page_writes(extents, range);
        if self.is_due(arrival_ns, pages) {
            self.observe(drive, waiting);
        }
        let left_ns = match &mut self.life {
            None => self.gate.admit(arrival_ns, 0, pages, &mut self.passed),
            Some(life) => {
                let left_ns = self.gate.admit(arrival_ns, 0, pages, &mut life.book);
                self.passed = *life.book.passed();
                life.book.look(&self.gate);
                left_ns
            }
        };
        self.now_ns = self.now_ns.max(left_ns);
        if op != Op::Trim {
            self.request_wait_ns[op as usize] += u128::from(left_ns - arrival_ns);
        }
        left_ns
    }

    /// Returns the active schemes of the current epoch, if a manager decides about them.
    pub fn schemes(&self) -> Option<Schemes> {
        let decision = self.gate.manager()?.decision();
        Some(Schemes { dedup: decision.dedup, compress: decision.compress })
    }

    /// Returns the decisions of a manager so far.
    pub fn record(&self) -> Option<&Record> {
        self.gate.manager().map(|manager| manager.record())
    }

    /// Returns whether the run is a life that ends before a request arrives.
    pub fn life_ends(&self, arrival_ns: u64) -> bool {
        self.life.as_ref().is_some_and(|life| life.ends(arrival_ns))
    }

    /// Ends a pass over the workload; the next one begins `period_ns` after counting did.
    pub fn end_pass(&mut self, period_ns: u64) {
        if let Some(life) = &mut self.life {
            life.end_pass(self.passed.page_writes, period_ns, self.gate.predictions());
        }
    }

    /// Ends a whole life before its target.
    pub fn stop_life(&mut self) {
        if let Some(life) = &mut self.life {
            life.book.stop(self.now_ns);
        }
    }

    /// Returns the outcome of a whole life, after its last page writes were served.
    ///
    /// # Panics
    /// The run is not a whole life.
    pub fn finish_life<F: BackEnd>(&mut self, drive: &Drive<F>) -> life::Outcome {
        self.observe(drive, 0);
        let life = self.life.take().expect("the run is a life");
        life.outcome(&self.gate, self.passed.page_writes, self.now_ns)
    }

    /// Returns the totals of the throttle.
    pub fn figures(&self) -> Throttling {
        let (epochs, selections) = self.gate.epochs();
        Throttling {
            passed: self.passed,
            held_back_ns: self.gate.held_back_ns(),
            request_wait_ns: self.request_wait_ns,
            epochs,
            selections,
            bounded_epochs: self.gate.bounded_epochs(),
            predictions: self.gate.predictions(),
        }
    }
}

/// Returns the input of the integrated manager.
fn seen<F: BackEnd>(drive: &Drive<F>) -> Seen {
    let flash = drive.counters();
    let counters = drive.ftl.reduced().map(|figures| figures.counters).unwrap_or_default();
    let (deduplicated, left) = counters.deduplicated();
    let sampled_left = counters.sampled_hashed - counters.sampled_duplicates;
    let of = |pages: u64, left: u64| SchemePages { pages: pages as f64, left: left as f64 };
    Seen {
        host_pages: counters.host_pages as f64,
        host_programs: flash.programs_for_host() as f64,
        programs: flash.programs_total() as f64,
        dedup: SchemeSeen {
            at_work: of(deduplicated, left),
            sampled: of(counters.sampled_hashed, sampled_left),
        },
        compress: SchemeSeen {
            at_work: of(counters.chunked_pages, counters.chunk_pages),
            sampled: of(counters.sampled_chunked, counters.sampled_chunk_pages),
        },
    }
}

/// Counts the pages that some extents write.
fn page_writes(extents: &Extents, range: Range<usize>) -> u64 {
    let writes = |&i: &usize| matches!(extents.kind[i], Kind::Write | Kind::WritePartial);
    range.filter(writes).map(|i| u64::from(extents.pages[i])).sum()
}
