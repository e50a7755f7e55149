//! A whole life with every request through the FTL: the workload repeats, throttled, until the target time is over.
//!
//! It records the same data as a life without a drive ([`floatgate_lifetime::life`]), which allows a comparison of
//! both.

use crate::gate::{Throttled, setup};
use crate::lap_wear::LapWear;
use crate::life_book::{LifeBook, LifeOptions};
use crate::outcome::Outcome;
use crate::plan::{Mode, Plan, Workload};
use crate::serve::{FunctionalServing, Serving};
use crate::simulation::{Phase, Simulation};
use floatgate_base::Result;
use floatgate_lifetime::life;
use floatgate_nand::Endurance;
use floatgate_nand::endurance::mean_idle_s;
use floatgate_trace::GeneratorConfig;

/// Requests between two samples of the wear of blocks.
const STEP_REQUESTS: u64 = 1 << 12;

/// Outcome of a whole life.
pub struct FullLife {
    /// Writes, delays and the life of the average block.
    pub life: life::Outcome,
    /// The drive at the end.
    pub drive: Outcome,
    /// Seconds until the first block used up its cycles, and until the first one beyond the reserve of spare blocks
    /// did; None if that did not happen.
    pub worn_s: [Option<f64>; 2],
}

/// Simulates the life of a plan's drive, from its state when counting begins. Mode is functional and arrival `shifted`,
/// regardless of the plan; traces and twins repeat, other generators continue. Without a throttle the life ends when
/// the average block and the spare blocks are worn out; a throttle acts until the target. `tick` receives the elapsed
/// share of the target time, and may stop the simulation.
///
/// # Errors
/// Input errors of the workload, which must have time stamps; run errors of the drive; errors of `tick`.
pub fn full_life(
    mut plan: Plan,
    options: &LifeOptions,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<FullLife> {
    (plan.mode, plan.workload.shifted, plan.wears_out) = (Mode::Functional, true, false);
    plan.ftl.without_wear_in();
    plan.workload.keep = plan.workload.keep.or_place();
    let setup = setup(&plan, options.cycles_used, options.age_s);
    match &mut plan.workload.source {
        Workload::Synthetic(GeneratorConfig { requests, rate_per_s: Some(rate), twin: None, .. }) => {
            *requests = (*requests).max((*rate * setup.target_ns as f64 / 1e9) as u64);
        }
        Workload::Synthetic(_) | Workload::Trace { .. } => {}
    }
    // With many blocks, samples are limited to a few per erased block.
    let step = STEP_REQUESTS.max(u64::from(plan.layout().units()));
    let mut worn = WornBlocks::new(&plan, options);
    let mut simulation = Simulation::of_life(plan, LifeBook::new(setup, *options))?;
    let mut reported = 0.0;
    while simulation.step(step)? != Phase::Done {
        worn.look(&simulation);
        if worn.is_over() && simulation.life_is_over() {
            simulation.stop_life();
            break;
        }
        let done = simulation.throttled_ns() as f64 / setup.target_ns as f64;
        if done >= reported + 0.002 {
            tick(done)?;
            reported = done;
        }
    }
    let (life, drive) = simulation.finish_life();
    Ok(FullLife { life, drive, worn_s: worn.worn_s })
}

/// Times at which blocks use up their cycles, by sampling them.
struct WornBlocks {
    endurance: Endurance,
    reserve: f64,
    /// Cycles of all blocks at the beginning, and their age then.
    past: (f64, f64),
    /// Time of the last sample, seconds, and erases beyond the cycles of the two blocks then.
    last: (f64, [f64; 2]),
    worn_s: [Option<f64>; 2],
}

impl WornBlocks {
    fn new(plan: &Plan, options: &LifeOptions) -> Self {
        let drive = &plan.drive;
        let past = (options.cycles_used, options.age_s);
        let left = -drive.endurance.rated_erases();
        let (endurance, reserve) = (drive.endurance, drive.bad_block_reserve);
        Self { endurance, reserve, past, last: (0.0, [left; 2]), worn_s: [None; 2] }
    }

    fn is_over(&self) -> bool {
        self.worn_s.iter().all(Option::is_some)
    }

    fn look(&mut self, simulation: &Simulation) {
        if self.is_over() || simulation.phase() != Phase::Run {
            return;
        }
        let now_s = simulation.throttled_ns() as f64 / 1e9;
        let wear = LapWear::of(simulation, self.reserve);
        let beyond = [wear.first, wear.beyond_reserve].map(|block| {
            let cycles = block.erases + self.past.0;
            cycles - self.endurance.cycles(mean_idle_s(now_s + self.past.1, cycles))
        });
        let (before_s, before) = self.last;
        for ((worn_s, before), now) in self.worn_s.iter_mut().zip(before).zip(beyond) {
            if worn_s.is_none() && now >= 0.0 {
                *worn_s = Some(now_s - (now_s - before_s) * now / (now - before));
            }
        }
        self.last = (now_s, beyond);
    }
}

impl Simulation {
    /// Returns the time of the last request that left the gate, nanoseconds since counting began.
    fn throttled_ns(&self) -> u64 {
        self.stages.serving.gate().map_or(0, Throttled::now_ns)
    }

    fn life_is_over(&self) -> bool {
        self.stages.serving.gate().and_then(Throttled::life).is_some_and(LifeBook::is_over)
    }

    fn stop_life(&mut self) {
        if let Serving::Functional(FunctionalServing { gate: Some(gate), .. }) = &mut self.stages.serving {
            gate.stop_life();
        }
    }

    fn finish_life(mut self) -> (life::Outcome, Outcome) {
        let Serving::Functional(FunctionalServing { drive, gate: Some(gate), .. }) = &mut self.stages.serving
        else {
            unreachable!("a life is functional and has a gate")
        };
        let life = gate.finish_life(drive);
        (life, self.finish())
    }
}
