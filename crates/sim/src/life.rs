//! A whole life, every request through the FTL: the workload goes on, throttled, until the target time is over.
//!
//! What is noted is the same as where a life is gone through without a drive ([`floatgate_lifetime::life`]), so that the
//! one can be held against the other.

use crate::gate::{Throttled, setup};
use crate::lap_wear::LapWear;
use crate::life_book::{LifeBook, LifeOptions};
use crate::outcome::Outcome;
use crate::plan::{Mode, Plan, Workload};
use crate::serve::{InOrder, Serving};
use crate::simulation::{Phase, Simulation};
use floatgate_base::Result;
use floatgate_lifetime::life;
use floatgate_nand::Endurance;
use floatgate_nand::endurance::mean_idle_s;
use floatgate_trace::GeneratorConfig;

/// Requests between two looks at the wear of blocks.
const STEP_REQUESTS: u64 = 1 << 12;

/// What came of a whole life.
pub struct FullLife {
    /// Writes, delays and the life of the average block.
    pub life: life::Outcome,
    /// The drive at the end.
    pub drive: Outcome,
    /// When the first block had its cycles, and when the first one beyond the reserve of spare blocks, seconds; none where that did
    /// not come to pass.
    pub worn_s: [Option<f64>; 2],
}

/// Goes through the life of a plan's drive, from the state in which the plan has it when counting begins. Mode is
/// functional and arrival `shifted`, whatever the plan says; traces and twins repeat, other generators go on. Without a
/// throttle the life ends when the average block and the spare blocks are worn out; a throttle acts until the target.
/// `tick` receives the share of the target time that is over, and may break off.
///
/// # Errors
/// Input errors of the workload, among them that it has no time; run errors of the drive; what `tick` returns.
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
    // Many blocks are not gone through more often than a few times for each that is erased.
    let step = STEP_REQUESTS.max(u64::from(plan.layout().units()));
    let mut worn = WornBlocks::new(&plan, options);
    let mut simulation = Simulation::of_life(plan, LifeBook::new(setup, *options))?;
    let mut told = 0.0;
    while simulation.step(step)? != Phase::Done {
        worn.look(&simulation);
        if worn.is_over() && simulation.life_is_over() {
            simulation.stop_life();
            break;
        }
        let done = simulation.throttled_ns() as f64 / setup.target_ns as f64;
        if done >= told + 0.002 {
            tick(done)?;
            told = done;
        }
    }
    let (life, drive) = simulation.finish_life();
    Ok(FullLife { life, drive, worn_s: worn.worn_s })
}

/// When blocks have their cycles, from looks at them now and then.
struct WornBlocks {
    endurance: Endurance,
    reserve: f64,
    /// Cycles that all blocks had behind them, and their age then.
    past: (f64, f64),
    /// Time of the last look, seconds, and erases beyond the cycles of the two blocks then.
    last: (f64, [f64; 2]),
    worn_s: [Option<f64>; 2],
}

impl WornBlocks {
    fn new(plan: &Plan, options: &LifeOptions) -> Self {
        let drive = &plan.drive;
        let past = (options.cycles_used, options.age_s);
        let left = -f64::from(drive.endurance.pe_cycles());
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
    /// Time of the last request that left the gate, nanoseconds since counting began.
    fn throttled_ns(&self) -> u64 {
        self.stages.serving.gate().map_or(0, Throttled::now_ns)
    }

    fn life_is_over(&self) -> bool {
        self.stages.serving.gate().and_then(Throttled::life).is_some_and(LifeBook::is_over)
    }

    fn stop_life(&mut self) {
        if let Serving::Functional(InOrder { gate: Some(gate), .. }) = &mut self.stages.serving {
            gate.stop_life();
        }
    }

    fn finish_life(mut self) -> (life::Outcome, Outcome) {
        let Serving::Functional(InOrder { drive, gate: Some(gate), .. }) = &mut self.stages.serving else {
            unreachable!("a life is functional and has a gate")
        };
        let life = gate.finish_life(drive);
        (life, self.finish())
    }
}
