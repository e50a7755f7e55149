//! Write amplification and wear of a workload that goes on and on: the FTL runs in laps until they are alike.
//!
//! A lap is as many passes as it takes to program the drive's capacity at least once. Laps are alike, and what they
//! gave stationary, when write amplification differs from one to the next by no more than a limit; that difference is
//! the error that is stated.

use crate::device::{Phase, Simulation};
use crate::plan::{Mode, Plan, Workload};
use floatgate_base::Result;
use floatgate_lifetime::Throttle;
use floatgate_nand::Endurance;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// Relative difference of write amplification between two laps that counts as none.
    pub error_max: f64,
    /// Laps after which it counts as it is.
    pub laps_max: u32,
}

/// What the laps gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Laps {
    /// Write amplification of the last lap: programs by host page write.
    pub waf: f64,
    /// The same of every lap.
    pub waf_by_lap: Vec<f64>,
    /// Relative difference between the last two.
    pub error: f64,
    /// Whether that met the criterion.
    pub stationary: bool,
    /// Passes over the workload in all.
    pub passes: u64,
    /// Page programs in all.
    pub programs: u64,
    /// How much faster the most erased block wore in the last lap than the mean one; none where nothing was erased.
    pub first_block_ratio: Option<f64>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    programs: u64,
    host_pages: u64,
    erases_max: u32,
    erases_mean: f64,
}

/// Requests served between two ticks.
const STEP: u64 = 1 << 18;

/// Runs laps of passes of `requests` requests. `tick` is told how many programs were made, and may break off.
///
/// # Errors
/// Those of a run, and what `tick` returns.
pub fn measure(
    plan: &Plan,
    requests: u64,
    criterion: &Criterion,
    tick: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Laps> {
    let mut simulation = Simulation::new(endless(plan))?;
    while simulation.phase() != Phase::Run {
        simulation.step(STEP)?;
        tick(0)?;
    }
    let capacity = plan.geometry.pages();
    let mut laps = Laps {
        waf: 0.0,
        waf_by_lap: vec![],
        error: f64::INFINITY,
        stationary: false,
        passes: 0,
        programs: 0,
        first_block_ratio: None,
    };
    let mut before = Counts::default();
    while !laps.stationary && laps.waf_by_lap.len() < criterion.laps_max as usize {
        loop {
            let mut left = requests;
            while left > 0 {
                // A step ends where a pass does, and may have served nothing then.
                let served = simulation.counted;
                if simulation.step(left.min(STEP))? == Phase::Done {
                    break;
                }
                left -= (simulation.counted - served).min(left);
                tick(simulation.array.counters().programs_total())?;
            }
            laps.passes += 1;
            let now = counts(&simulation);
            // A workload that writes nothing would never fill a lap.
            if now.programs - before.programs >= capacity || now.programs == before.programs {
                break;
            }
        }
        let now = counts(&simulation);
        note(&mut laps, &before, &now, criterion);
        before = now;
    }
    Ok(laps)
}

fn note(laps: &mut Laps, before: &Counts, now: &Counts, criterion: &Criterion) {
    let host = now.host_pages - before.host_pages;
    let waf = if host == 0 { 1.0 } else { (now.programs - before.programs) as f64 / host as f64 };
    if let Some(&last) = laps.waf_by_lap.last() {
        laps.error = (waf / last - 1.0).abs();
        laps.stationary = laps.error <= criterion.error_max;
    }
    laps.waf = waf;
    laps.waf_by_lap.push(waf);
    laps.programs = now.programs;
    let mean = now.erases_mean - before.erases_mean;
    laps.first_block_ratio =
        (mean > 0.0).then(|| (f64::from(now.erases_max - before.erases_max) / mean).max(1.0));
}

/// The same workload without an end and without throttle, on a drive that does not wear out.
fn endless(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.mode = Mode::Functional;
    plan.throttle = Throttle::None;
    plan.endurance = Endurance::Fixed { pe_cycles: u32::MAX };
    plan.timeline = None;
    match &mut plan.workload {
        Workload::Trace { repeat, warmup_passes, .. } => *repeat = u64::MAX - *warmup_passes,
        // As many as stamps have room for.
        Workload::Synthetic(config) => {
            config.requests = config.rate_per_s.map_or(u64::MAX, |rate| (8e9 * rate) as u64);
        }
    }
    plan
}

fn counts(simulation: &Simulation) -> Counts {
    let erases = simulation.array.erase_counts();
    Counts {
        programs: simulation.array.counters().programs_total(),
        host_pages: simulation.splitter.total().page_writes,
        erases_max: erases.iter().copied().max().unwrap_or(0),
        erases_mean: erases.iter().map(|&n| f64::from(n)).sum::<f64>() / erases.len().max(1) as f64,
    }
}
