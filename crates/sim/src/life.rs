//! A whole life, every request through the FTL: the workload goes on, throttled, until the target time is over.
//!
//! What is noted is the same as where a life is gone through without a drive ([`floatgate_lifetime::life`]), so that the
//! one can be held against the other.

use crate::gate::{Throttled, setup};
use crate::life_book::{LifeBook, LifeOptions};
use crate::outcome::Outcome;
use crate::plan::{Mode, Plan, Workload};
use crate::serve::{InOrder, Serving};
use crate::simulation::{Phase, Simulation};
use floatgate_base::Result;
use floatgate_lifetime::life;
use floatgate_trace::GeneratorConfig;

/// Requests between two ticks.
const STEP_REQUESTS: u64 = 1 << 16;

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
    (plan.mode, plan.workload.shifted, plan.wears_out) = (Mode::Functional, true, false);
    plan.ftl.without_wear_in();
    let setup = setup(&plan, options.cycles_used, options.age_s);
    match &mut plan.workload.source {
        Workload::Synthetic(GeneratorConfig { requests, rate_per_s: Some(rate), twin: None, .. }) => {
            *requests = (*requests).max((*rate * setup.target_ns as f64 / 1e9) as u64);
        }
        Workload::Synthetic(_) | Workload::Trace { .. } => {}
    }
    let mut simulation = Simulation::of_life(plan, LifeBook::new(setup, *options))?;
    let mut told = 0.0;
    while simulation.step(STEP_REQUESTS)? != Phase::Done {
        let done = simulation.throttled_ns() as f64 / setup.target_ns as f64;
        if done >= told + 0.002 {
            tick(done)?;
            told = done;
        }
    }
    Ok(simulation.finish_life())
}

impl Simulation {
    /// Time of the last request that left the gate, nanoseconds since counting began.
    fn throttled_ns(&self) -> u64 {
        self.stages.serving.gate().map_or(0, Throttled::now_ns)
    }

    fn finish_life(mut self) -> (life::Outcome, Outcome) {
        let Serving::Functional(InOrder { drive, gate: Some(gate), .. }) = &mut self.stages.serving else {
            unreachable!("a life is functional and has a gate")
        };
        let life = gate.finish_life(drive);
        (life, self.finish())
    }
}
