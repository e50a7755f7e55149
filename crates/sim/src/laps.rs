//! Write amplification and wear of a workload that goes on and on: the FTL runs in laps until they are alike.
//!
//! A lap is as many passes as it takes to program the drive's capacity at least once, and half a million pages. Three blocks of `m` laps each, the
//! last ones, say where write amplification goes: to the limit of the geometric series that their two differences begin,
//! where these have one direction; what scatters around a value has none, and is off by their last difference. The
//! distance to that limit is the error that is stated, and what is within the limit set for it counts as stationary, for
//! the smallest `m` with which it is: one where laps are alike, more where single ones scatter or come in turns. What is
//! given is write amplification of the last block.
//!
//! Of a drive that reduces what it writes, one more pass tells what it does, and what it programs for the host window by window.

use crate::plan::{Mode, Plan, Workload};
use crate::reading::pass::PassWindows;
use crate::serve::with_drive;
use crate::simulation::{Phase, Simulation};
use crate::trend::trend;
use floatgate_base::Result;
use floatgate_ftl::reduce::ReduceCounters;
use floatgate_lifetime::Throttle;
use floatgate_nand::Endurance;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// Relative distance to the limit of write amplification that counts as none.
    pub error_max: f64,
    /// Laps after which it counts as it is.
    pub laps_max: u32,
}

/// What the laps gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Laps {
    /// Write amplification of the laps that were taken: programs by host page write.
    pub waf: f64,
    /// How many of the last laps were taken.
    pub taken: usize,
    /// The same of every lap.
    pub waf_by_lap: Vec<f64>,
    /// Relative distance to where the laps say that write amplification goes.
    pub error: f64,
    /// Whether that met the criterion.
    pub stationary: bool,
    /// Passes over the workload in all.
    pub passes: u64,
    /// Page programs in all.
    pub programs: u64,
    /// Erases of the mean and of the most erased block since the first lap; none where blocks were erased too seldom to
    /// tell.
    pub wear: Option<(f64, f64)>,
    /// What reduction did, where there is any.
    pub reduced: Option<Reduced>,
}

/// What a drive that deduplicates or compresses did in the pass after the laps.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// Page writes of the host, of which a write buffer may have absorbed some.
    pub page_writes: u64,
    /// All counts of the FTL.
    pub counters: ReduceCounters,
    /// Pages programmed for the host.
    pub host_programs: u64,
    /// Pages programmed for the host / page writes that reached the FTL, in each window of the pass.
    pub left_by_window: Vec<f64>,
}

impl Reduced {
    /// Pages programmed for the host / page writes that reached the FTL; 1 without any.
    #[must_use]
    pub fn left(&self) -> f64 {
        part(self.host_programs, self.counters.host_pages)
    }

    /// Page writes that reached the FTL / page writes of the host; 1 without any.
    #[must_use]
    pub fn through(&self) -> f64 {
        part(self.counters.host_pages, self.page_writes)
    }
}

fn part(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 1.0 }
}

#[derive(Clone, Copy, Default)]
struct Counts {
    programs: u64,
    host_pages: u64,
    erases_max: u32,
    erases_mean: f64,
}

/// Erases of a block, on average, from which on it can be told how much faster the most erased one wears: of few, one
/// more or less would be a large share.
const ERASES_MIN: f64 = 10.0;
/// Page programs of a lap at least: on a small drive fewer would scatter.
const PROGRAMS_MIN: u64 = 1 << 19;
/// Requests served between two ticks.
const STEP: u64 = 1 << 18;

/// Runs laps of passes of `requests` requests, which fall into these windows. `tick` is told how many programs were made, and
/// may break off.
///
/// # Errors
/// Those of a run, and what `tick` returns.
pub fn measure(
    plan: &Plan,
    (requests, windows): (u64, &PassWindows),
    criterion: &Criterion,
    tick: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Laps> {
    let mut simulation = Simulation::new(endless(plan))?;
    while simulation.phase() != Phase::Run {
        simulation.step(STEP)?;
        tick(0)?;
    }
    let enough = plan.drive.geometry.pages().max(PROGRAMS_MIN);
    let mut laps = Laps {
        waf: 0.0,
        taken: 0,
        waf_by_lap: vec![],
        error: f64::INFINITY,
        stationary: false,
        passes: 0,
        programs: 0,
        wear: None,
        reduced: None,
    };
    let mut marks = vec![Counts::default()];
    while !laps.stationary && laps.waf_by_lap.len() < criterion.laps_max as usize {
        loop {
            serve(&mut simulation, requests, tick)?;
            laps.passes += 1;
            let made =
                simulation.stages.serving.counters().programs_total() - marks[marks.len() - 1].programs;
            // A workload that writes nothing would never fill a lap.
            if made >= enough || made == 0 {
                break;
            }
        }
        marks.push(counts(&simulation));
        judge(&mut laps, &marks, criterion);
    }
    if plan.ftl.setup.reduce.is_some() {
        laps.reduced = Some(reduced(&mut simulation, windows, tick)?);
    }
    Ok(laps)
}

/// Serves so many requests.
fn serve(simulation: &mut Simulation, requests: u64, tick: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
    let mut left = requests;
    while left > 0 {
        // A step ends where a pass does, and may have served nothing then.
        let served = simulation.stages.book.counted;
        if simulation.step(left.min(STEP))? == Phase::Done {
            break;
        }
        left -= (simulation.stages.book.counted - served).min(left);
        tick(simulation.stages.serving.counters().programs_total())?;
    }
    Ok(())
}

/// What reduction does in one more pass, and in each of its windows.
fn reduced(
    simulation: &mut Simulation,
    windows: &PassWindows,
    tick: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Reduced> {
    with_drive!(&mut simulation.stages.serving, drive => drive.reset_counts());
    let page_writes = simulation.stages.placing.total().page_writes;
    let counted = |simulation: &Simulation| {
        let figures = with_drive!(&simulation.stages.serving, drive => drive.ftl.reduced());
        let counters = figures.map(|figures| figures.counters).unwrap_or_default();
        (counters, simulation.stages.serving.counters().programs_for_host())
    };
    let mut left_by_window: Vec<Option<f64>> = Vec::with_capacity(windows.requests.len());
    let (mut before, mut programs_before) = (0, 0);
    for &requests in &windows.requests {
        if requests == 0 {
            left_by_window.push(None);
            continue;
        }
        serve(simulation, u64::from(requests), tick)?;
        let (counters, programs) = counted(simulation);
        let pages = counters.host_pages - before;
        left_by_window.push((pages > 0).then(|| (programs - programs_before) as f64 / pages as f64));
        (before, programs_before) = (counters.host_pages, programs);
    }
    let (counters, host_programs) = counted(simulation);
    let left = part(host_programs, counters.host_pages);
    Ok(Reduced {
        page_writes: simulation.stages.placing.total().page_writes - page_writes,
        counters,
        host_programs,
        left_by_window: left_by_window.into_iter().map(|one| one.unwrap_or(left)).collect(),
    })
}

/// Finds the smallest blocks of laps that meet the criterion, or those that come closest.
fn judge(laps: &mut Laps, marks: &[Counts], criterion: &Criterion) {
    let n = marks.len() - 1;
    let waf = |from: usize, to: usize| {
        let host = marks[to].host_pages - marks[from].host_pages;
        let programs = marks[to].programs - marks[from].programs;
        if host == 0 { 1.0 } else { programs as f64 / host as f64 }
    };
    laps.waf_by_lap.push(waf(n - 1, n));
    laps.programs = marks[n].programs;
    let (error, taken) = trend(n, waf, criterion.error_max);
    (laps.error, laps.taken) = (error, taken);
    laps.stationary = error <= criterion.error_max;
    laps.waf = waf(n - taken, n);
    // From the first lap on, in which the drive may have been filled.
    let mean = marks[n].erases_mean - marks[1].erases_mean;
    let most = f64::from(marks[n].erases_max - marks[1].erases_max);
    laps.wear = (mean >= ERASES_MIN).then(|| (mean, most.max(mean)));
}

/// The same workload without an end and without throttle, on a drive that does not wear out.
fn endless(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.mode = Mode::Functional;
    plan.throttle.policy = Throttle::None;
    plan.drive.endurance = Endurance::Fixed { pe_cycles: u32::MAX };
    plan.timeline = None;
    plan.ftl.without_wear_in();
    match &mut plan.workload.source {
        Workload::Trace { repeat, warmup_passes, .. } => *repeat = u64::MAX - *warmup_passes,
        // As many as stamps have room for.
        Workload::Synthetic(config) => {
            config.requests = config.rate_per_s.map_or(u64::MAX, |rate| (8e9 * rate) as u64);
        }
    }
    plan
}

fn counts(simulation: &Simulation) -> Counts {
    let stages = &simulation.stages;
    let erases = with_drive!(&stages.serving, drive => drive.array.erase_counts());
    Counts {
        programs: stages.serving.counters().programs_total(),
        host_pages: stages.placing.total().page_writes,
        erases_max: erases.iter().copied().max().unwrap_or(0),
        erases_mean: erases.iter().map(|&n| f64::from(n)).sum::<f64>() / erases.len().max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Laps of 1000 host pages each, with these write amplifications.
    fn of(wafs: &[f64]) -> Laps {
        let mut laps = Laps {
            waf: 0.0,
            taken: 0,
            waf_by_lap: vec![],
            error: 0.0,
            stationary: false,
            passes: 0,
            programs: 0,
            wear: None,
            reduced: None,
        };
        let mut marks = vec![Counts::default()];
        for (i, waf) in (1..).zip(wafs) {
            let last = marks[marks.len() - 1];
            marks.push(Counts {
                programs: last.programs + (waf * 1000.0) as u64,
                host_pages: last.host_pages + 1000,
                erases_max: 9 * i,
                erases_mean: f64::from(6 * i),
            });
            judge(&mut laps, &marks, &Criterion { error_max: 0.005, laps_max: 12 });
        }
        laps
    }

    #[test]
    fn laps_that_are_alike_are_enough() {
        let laps = of(&[1.2, 1.9, 1.904]);
        assert!(laps.stationary && laps.taken == 1 && laps.waf == 1.904);
        assert!((laps.error - 0.004 / 1.904).abs() < 1e-12, "{}", laps.error);
        assert_eq!(laps.wear, Some((12.0, 18.0)));
        assert!(!of(&[1.2, 1.3, 1.4]).stationary);
        // Two laps may be alike by chance.
        assert!(!of(&[1.2]).stationary && !of(&[1.2, 1.2]).stationary);
    }

    #[test]
    fn laps_that_come_in_turns_are_taken_together() {
        let turn = [1.07, 1.05, 1.072, 1.082];
        let laps = of(&[turn, turn, turn].concat());
        assert!(laps.stationary && laps.taken == 4);
        assert!((laps.waf - 1.0685).abs() < 1e-12, "{}", laps.waf);
    }

    /// 2 - 2^-i: every difference is half of the one before, and the limit is as far away as the last one.
    #[test]
    fn the_limit_is_that_of_the_series() {
        let series: Vec<f64> = (0..4).map(|i| 2.0 - 0.5f64.powi(i)).collect();
        let laps = of(&series);
        assert!((laps.error - 0.125 / 1.875).abs() < 1e-12, "{}", laps.error);
        assert!(!laps.stationary);
    }

    /// A rise of a thousandth a lap is no stationary state, though two laps differ by less than the criterion.
    #[test]
    fn what_rises_slowly_is_not_stationary() {
        let rising: Vec<f64> = (0..12).map(|i| 1.1 + 0.001 * f64::from(i)).collect();
        let laps = of(&rising);
        assert!(!laps.stationary && laps.error > 0.015, "{}", laps.error);
    }
}
