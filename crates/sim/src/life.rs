//! A whole life, every request through the FTL: the workload goes on, throttled, until the target time is over.
//!
//! What is noted is the same as where a life is gone through without a drive ([`floatgate_lifetime::life`]), so that the
//! one can be held against the other.

use crate::device::{Phase, Simulation};
use crate::outcome::Outcome;
use crate::plan::{Mode, Plan, Workload};
use crate::throttled::setup;
use floatgate_base::{Error, Place, Result};
use floatgate_lifetime::life::{self, Book};
use floatgate_lifetime::throttle::Setup;
use floatgate_trace::GeneratorConfig;

/// Requests between two ticks.
const STEP_REQUESTS: u64 = 1 << 16;

/// What a life needs beside the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifeOptions {
    /// Time of a page write without throttling, nanoseconds.
    pub service_ns: u64,
    /// Part of the life to be looked at closely: from when to when, nanoseconds.
    pub detail_ns: Option<(u64, u64)>,
    /// Passes over the workload after which the life ends even before its target.
    pub passes_max: u64,
    /// Cycles that the blocks have behind them at the beginning.
    pub cycles_used: f64,
    /// How old the drive is then, seconds.
    pub age_s: f64,
}

/// What is noted of a life.
#[derive(Clone, Debug)]
pub(crate) struct LifeBook {
    pub book: Book,
    setup: Setup,
    options: LifeOptions,
    /// Passes begun.
    passes: u64,
    /// Page writes of the first pass and its time without throttling, once it is over.
    first_pass: Option<(u64, u64)>,
}

impl LifeBook {
    fn new(setup: Setup, options: LifeOptions) -> Self {
        let book = Book::new(&setup, options.service_ns, options.detail_ns);
        Self { book, setup, options, passes: 1, first_pass: None }
    }

    /// Passes that it may take.
    pub fn passes_max(&self) -> u64 {
        self.options.passes_max
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The workload begins again.
    pub fn start_over(&mut self) {
        *self = Self::new(self.setup, self.options);
    }
}

/// Goes through the life of a plan's drive, from the state in which the plan has it when counting begins. Mode is
/// functional and arrival `shifted`, whatever the plan says; traces and twins repeat, other generators go on. A drive
/// that is worn out goes on, too: when that was stands in the outcome. `tick` is told now and then which share of the
/// target time is over, and may break off.
///
/// # Errors
/// Input errors of the workload, among them that it has no time; run errors of the drive; what `tick` returns.
pub fn full_life(
    mut plan: Plan,
    options: &LifeOptions,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<(life::Outcome, Outcome)> {
    (plan.mode, plan.shifted, plan.wears_out) = (Mode::Functional, true, false);
    let setup = setup(&plan, options.cycles_used, options.age_s);
    match &mut plan.workload {
        Workload::Synthetic(GeneratorConfig { requests, rate_per_s: Some(rate), twin: None, .. }) => {
            *requests = (*requests).max((*rate * setup.target_ns as f64 / 1e9) as u64);
        }
        Workload::Synthetic(_) | Workload::Trace { .. } => {}
    }
    let mut simulation = Simulation::new(plan)?;
    if !simulation.source.has_times() {
        let what = format!("a workload in format {} has no time to live through", simulation.source.format());
        let expected = "expected a trace with times, or workload.rate_per_s";
        return Err(Error::input(Place::Setting("workload".into()), what, expected));
    }
    simulation.life = Some(Box::new(LifeBook::new(setup, *options)));
    let mut told = 0.0;
    while simulation.step(STEP_REQUESTS)? != Phase::Done {
        let now_ns = simulation.throttled.as_ref().map_or(0, |throttled| throttled.now_ns());
        let done = now_ns as f64 / setup.target_ns as f64;
        if done >= told + 0.002 {
            tick(done)?;
            told = done;
        }
    }
    Ok(simulation.life_over())
}

impl Simulation {
    /// Whether the run is a life that is over before a request arrives.
    pub(crate) fn life_ends(&self, arrival_ns: u64) -> bool {
        self.life.as_ref().is_some_and(|life| arrival_ns >= life.setup.target_ns)
    }

    /// A request has passed the gate.
    pub(crate) fn note_life(&mut self) {
        if let (Some(life), Some(throttled)) = (&mut self.life, &self.throttled) {
            life.book.look(throttled.gate());
        }
    }

    /// A pass is over.
    pub(crate) fn note_pass(&mut self) {
        let (Some(life), Some(throttled)) = (&mut self.life, &self.throttled) else { return };
        life.passes += 1;
        if life.first_pass.is_none() {
            let from_ns = self.stream.counted_from_ns.unwrap_or(0);
            let span_ns = (self.stream.counted_to_ns - from_ns).max(1) as u64;
            life.first_pass = Some((throttled.figures().passed.page_writes, span_ns));
            life.book.first_pass = throttled.gate().predictions();
        }
    }

    /// The life is over.
    pub(crate) fn end_life(&mut self) -> Result<()> {
        let summary = self.source.summary();
        self.first_pass.get_or_insert(summary);
        self.close()
    }

    fn life_over(mut self) -> (life::Outcome, Outcome) {
        let (Some(life), Some(mut throttled)) = (self.life.take(), self.throttled.clone()) else {
            unreachable!("a life has a throttle")
        };
        let LifeBook { book, passes, first_pass, options, .. } = *life;
        throttled.observe(self.array.counters(), 0);
        let gate = throttled.gate();
        let undelayed_ns = throttled.now_ns().saturating_sub(gate.held_back_ns()).max(1);
        let (pages, span_ns) = first_pass.unwrap_or((throttled.figures().passed.page_writes, undelayed_ns));
        let written = throttled.figures().passed.page_writes.max(1);
        let rate = gate.used_bytes() / written as f64 * pages as f64 / span_ns as f64;
        let outcome = book.outcome(gate, passes.min(options.passes_max), rate);
        (outcome, self.finish())
    }
}
