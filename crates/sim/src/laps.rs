//! Write amplification and wear of a workload that goes on and on: the FTL runs in laps until they are alike.
//!
//! A lap is as many passes as it takes to program, at least once, the pages among which data move, and two million; those are all
//! pages of the flash but for blocks of data at rest (`precondition = "auto"`). Five laps are run at least. `lap_mean.rs` says what their mean is once it has settled, and how far off it may be: that error is the one that is stated,
//! and what is within the limit set for it counts as stationary. A life has the laps themselves at its beginning and that mean from then
//! on.
//!
//! Of a drive that reduces what it writes, one more pass tells what it does, and what it programs for the host window by window.

use crate::close_up::{self, CloseUp};
use crate::lap_mean::settled;
use crate::plan::{Mode, Plan, Workload};
use crate::reading::pass::{Pass, PassWindows};
use crate::serve::with_drive;
use crate::simulation::{Phase, Simulation};
use floatgate_base::Result;
use floatgate_ftl::reduce::ReduceCounters;
use floatgate_lifetime::Throttle;
use floatgate_lifetime::life::Lumps;
use floatgate_nand::Endurance;
use floatgate_stats::{WearGrowth, growth_of};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// Relative distance to the limit of write amplification that counts as none.
    pub error_max: f64,
    /// Laps after which it counts as it is.
    pub laps_max: u32,
}

/// What the laps gave.
#[derive(Clone, Debug)]
pub struct Laps {
    /// Write amplification of the laps that were taken, from which it has settled: programs by host page write.
    pub waf: f64,
    /// How many of the last laps were taken.
    pub taken: usize,
    /// Programs and host page writes at the end of each lap, and some of them on the way.
    pub marks: Vec<(u64, u64)>,
    /// The same of every lap.
    pub waf_by_lap: Vec<f64>,
    /// How far off that may be, relative.
    pub error: f64,
    /// Whether that met the criterion.
    pub stationary: bool,
    /// Passes over the workload in all.
    pub passes: u64,
    /// Page programs in all.
    pub programs: u64,
    /// Erases of the mean and of the most erased block, from a drive without wear on, at the end of the laps or when that block
    /// had its cycles; none where blocks were erased too seldom to tell.
    pub wear: Option<LapWear>,
    /// How the spread of wear had grown by then.
    pub growth: Option<WearGrowth>,
    /// How programs come after the laps, where nothing reduces them.
    pub lumps: Option<Lumps>,
    /// What reduction did, where there is any.
    pub reduced: Option<Reduced>,
    /// What requests take on the drive as it is then, where that was asked for and can be told.
    pub close_up: Option<CloseUp>,
}

/// Erases of blocks, from a drive without wear on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LapWear {
    /// Of the mean block.
    pub mean: f64,
    /// Of the most erased one.
    pub most: f64,
    /// Their standard deviation over blocks.
    pub sd: f64,
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

impl Laps {
    /// Write amplification of a life of so many programs from the beginning of the first lap on.
    #[must_use]
    pub fn waf_over(&self, programs: f64) -> f64 {
        let Some(&(last_programs, last_pages)) = self.marks.last() else { return self.waf };
        if programs >= last_programs as f64 {
            return programs / (last_pages as f64 + (programs - last_programs as f64) / self.waf);
        }
        let after = self.marks.partition_point(|&(mark, _)| (mark as f64) < programs);
        let (end_programs, end_pages) = self.marks[after];
        let (begin_programs, begin_pages) = if after > 0 { self.marks[after - 1] } else { (0, 0) };
        let waf = (end_programs - begin_programs) as f64 / (end_pages - begin_pages).max(1) as f64;
        let pages = begin_pages as f64 + (programs - begin_programs as f64) / waf;
        if pages > 0.0 { programs / pages } else { waf }
    }
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
}

/// Erases of a block, on average, from which on it can be told how much faster the most erased one wears: of few, one
/// more or less would be a large share.
const ERASES_MIN: f64 = 10.0;
/// Page programs of a lap at least: on a small drive fewer would scatter.
const PROGRAMS_MIN: u64 = 1 << 21;
/// Times in a lap, about, that programs and host page writes are noted.
const MARKS_PER_LAP: u64 = 32;
/// Laps after which most workloads are alike.
const LAPS_EXPECTED: f64 = 6.0;
/// Part of the work that laps are, about, where their drive is looked at closely then.
const LAPS_SHARE: f64 = 0.7;
/// Requests served between two ticks.
const STEP: u64 = 1 << 18;

/// Requests of a lap at most, where reads have to be served for what they do.
const REQUESTS_MAX: u64 = 1 << 26;

/// Runs laps of whole passes. Reads are served only where they may change what is written. `tick` is told which share of the laps
/// that are expected was made, and may break off.
///
/// # Errors
/// Those of a run, and what `tick` returns.
pub fn measure(
    plan: &Plan,
    pass: &Pass,
    criterion: &Criterion,
    close_up: Option<&close_up::Wanted>,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Laps> {
    let plan_cycles = plan.drive.endurance.pe_cycles();
    let of_laps = if close_up.is_some() { LAPS_SHARE } else { 1.0 };
    let tick = &mut |share: f64| tick(share * of_laps);
    let Begun { mut simulation, requests, pages } = begin(plan, pass, tick)?;
    let enough = pages.max(PROGRAMS_MIN);
    let mut laps = Laps {
        waf: 0.0,
        taken: 0,
        marks: vec![],
        waf_by_lap: vec![],
        error: f64::INFINITY,
        stationary: false,
        passes: 0,
        programs: 0,
        wear: None,
        growth: None,
        lumps: None,
        reduced: None,
        close_up: None,
    };
    let mut wear = WearSoFar { cycles: plan_cycles, ..WearSoFar::default() };
    let mut marks = vec![Counts::default()];
    while !laps.stationary && laps.waf_by_lap.len() < criterion.laps_max as usize {
        let (before, done) = (marks[marks.len() - 1].programs, laps.waf_by_lap.len());
        let mut served = 0;
        loop {
            serve(&mut simulation, requests, &mut |programs, so_far| {
                let share = (programs - before) as f64 / enough as f64;
                let share = share.max((served + so_far) as f64 / REQUESTS_MAX as f64).min(1.0);
                tick((done as f64 + share) / LAPS_EXPECTED.max(done as f64 + 1.0))
            })?;
            served += requests;
            laps.passes += 1;
            let programs = simulation.stages.serving.counters().programs_total();
            let made = programs - before;
            if programs >= laps.marks.last().map_or(0, |&(mark, _)| mark) + enough / MARKS_PER_LAP {
                laps.marks.push((programs, simulation.stages.placing.total().page_writes));
                wear.note(&simulation);
            }
            // A workload that writes nothing would never fill a lap.
            if made >= enough || made == 0 || served >= REQUESTS_MAX {
                break;
            }
        }
        marks.push(counts(&simulation));
        wear.note(&simulation);
        judge(&mut laps, &marks, criterion);
    }
    (laps.wear, laps.growth) = wear.found();
    if plan.ftl.setup.reduce.is_some() {
        laps.reduced = Some(reduced(&mut simulation, &pass.windows, &mut || tick(1.0))?);
    } else {
        let pages = plan.drive.geometry.pages();
        laps.lumps = Some(lumps(&mut simulation, requests, pages, &mut || tick(1.0))?);
    }
    if let Some(wanted) = close_up {
        laps.close_up = close_up_after(simulation, (pass, requests, pages), wanted, &mut || tick(1.0))?;
    }
    Ok(laps)
}

/// Looks closely at the drive of these laps. Where it works otherwise in time, it goes on so first; where it cannot, another drive is
/// worn in. Collection may be incremental there, and lay apart what it moves.
fn close_up_after(
    laps: Simulation,
    (pass, requests, pages): (&Pass, u64, u64),
    wanted: &close_up::Wanted,
    tick: &mut dyn FnMut() -> Result<()>,
) -> Result<Option<CloseUp>> {
    if laps.plan().ftl.setup.goes_on_as(&wanted.plan.ftl.setup) {
        return close_up::close_up(laps, wanted, tick);
    }
    let mut plan = endless(&wanted.plan);
    plan.workload.without_reads = !plan.reads_matter();
    match close_up::go_on(laps, plan)? {
        Some(mut simulation) => {
            wear_in(&mut simulation, requests, pages, &mut |_| tick())?;
            close_up::close_up(simulation, wanted, tick)
        }
        None => close_up_without_laps(pass, wanted, &mut |_| tick()),
    }
}

/// The workload on a drive at its first request.
struct Begun {
    simulation: Simulation,
    /// Requests of a pass.
    requests: u64,
    /// Pages of the flash but for those of data at rest, which lie in blocks of their own: among them the workload's data move.
    pages: u64,
}

fn begin(plan: &Plan, pass: &Pass, tick: &mut dyn FnMut(f64) -> Result<()>) -> Result<Begun> {
    let mut plan = endless(plan);
    plan.workload.without_reads = !plan.reads_matter();
    let requests = if plan.workload.without_reads { pass.requests_without_reads } else { pass.requests };
    let pages = plan.drive.geometry.pages();
    let mut simulation = Simulation::new(plan)?;
    let mut at_rest = 0;
    while simulation.phase() != Phase::Run {
        at_rest = at_rest.max(simulation.pages_at_rest());
        simulation.step(STEP)?;
        tick(0.0)?;
    }
    Ok(Begun { simulation, requests, pages: pages - at_rest.min(pages) })
}

/// The close-up of a drive without laps. `tick` gets the progress of its wear-in, and may stop it.
///
/// # Errors
/// Those of a run, and what `tick` returns.
pub fn close_up_without_laps(
    pass: &Pass,
    wanted: &close_up::Wanted,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Option<CloseUp>> {
    let Begun { mut simulation, requests, pages } = begin(&wanted.plan, pass, tick)?;
    wear_in(&mut simulation, requests, pages, tick)?;
    close_up::close_up(simulation, wanted, &mut || tick(1.0))
}

/// Serves passes until twice so many pages are programmed.
fn wear_in(
    simulation: &mut Simulation,
    requests: u64,
    pages: u64,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let programs = |simulation: &Simulation| simulation.stages.serving.counters().programs_total();
    let (first, mut served) = (programs(simulation), 0);
    loop {
        let before = programs(simulation);
        serve(simulation, requests, &mut |now, _| tick((now - first) as f64 / (2 * pages) as f64))?;
        served += requests;
        let now = programs(simulation);
        if now == before || now - first >= 2 * pages || served >= REQUESTS_MAX {
            return Ok(());
        }
    }
}

/// Serves so many requests; `tick` is told the programs so far, and the requests of this call.
fn serve(
    simulation: &mut Simulation,
    requests: u64,
    tick: &mut dyn FnMut(u64, u64) -> Result<()>,
) -> Result<()> {
    let mut left = requests;
    while left > 0 {
        // A step ends where a pass does, and may have served nothing then.
        let served = simulation.stages.book.counted;
        if simulation.step(left.min(STEP))? == Phase::Done {
            break;
        }
        left -= (simulation.stages.book.counted - served).min(left);
        tick(simulation.stages.serving.counters().programs_total(), requests - left)?;
    }
    Ok(())
}

/// Requests after which no more lumps are looked for, and lumps that are enough.
const LUMPS_REQUESTS_MAX: u64 = 1 << 20;
const LUMPS_MAX: usize = 1 << 16;

/// How programs come, request by request: over whole passes that write the drive once, or so many lumps.
fn lumps(
    simulation: &mut Simulation,
    requests: u64,
    pages: u64,
    tick: &mut dyn FnMut() -> Result<()>,
) -> Result<Lumps> {
    let counted = |simulation: &Simulation| {
        let stages = &simulation.stages;
        (stages.placing.total().page_writes, stages.serving.counters().programs_total())
    };
    let (mut found, from) = (Lumps::default(), counted(simulation));
    let since = |(page_writes, programs): (u64, u64)| (page_writes - from.0, programs - from.1);
    let mut served = 0;
    while served < LUMPS_REQUESTS_MAX && found.len() < LUMPS_MAX {
        let before = simulation.stages.book.counted;
        if simulation.step(1)? == Phase::Done {
            break;
        }
        served += simulation.stages.book.counted - before;
        let (page_writes, programs) = since(counted(simulation));
        found.note(page_writes, programs);
        if served % requests == 0 && page_writes >= pages {
            break;
        }
        if served % STEP == 0 {
            tick()?;
        }
    }
    let (page_writes, programs) = since(counted(simulation));
    found.end(page_writes, programs);
    Ok(found)
}

/// What reduction does in one more pass, and in each of its windows.
fn reduced(
    simulation: &mut Simulation,
    windows: &PassWindows,
    tick: &mut dyn FnMut() -> Result<()>,
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
        serve(simulation, u64::from(requests), &mut |_, _| tick())?;
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

/// Takes note of a lap, and says what all of them come to.
fn judge(laps: &mut Laps, marks: &[Counts], criterion: &Criterion) {
    let n = marks.len() - 1;
    let waf = |from: usize, to: usize| {
        let host = marks[to].host_pages - marks[from].host_pages;
        let programs = marks[to].programs - marks[from].programs;
        if host == 0 { 1.0 } else { programs as f64 / host as f64 }
    };
    laps.waf_by_lap.push(waf(n - 1, n));
    if laps.marks.last().is_none_or(|&(mark, _)| mark < marks[n].programs) {
        laps.marks.push((marks[n].programs, marks[n].host_pages));
    }
    laps.programs = marks[n].programs;
    let found = settled(&laps.waf_by_lap);
    (laps.error, laps.taken) = (found.error, found.taken);
    laps.stationary = found.error <= criterion.error_max;
    laps.waf = waf(n - found.taken, n);
}

/// Wear as it grows, until the most erased block has its cycles: laps of a small drive go on for many lives, and where a block
/// is ahead by as much for good, its share of the mean's erases falls meanwhile.
#[derive(Default)]
struct WearSoFar {
    cycles: u32,
    /// Erases of the mean block, with their standard deviation over blocks, as they grew.
    spreads: Vec<(f64, f64)>,
    most: u32,
}

impl WearSoFar {
    fn note(&mut self, simulation: &Simulation) {
        if self.most >= self.cycles {
            return;
        }
        let erases = with_drive!(&simulation.stages.serving, drive => drive.array.erase_counts());
        let blocks = erases.len().max(1) as f64;
        let mean = erases.iter().map(|&n| f64::from(n)).sum::<f64>() / blocks;
        let variance =
            erases.iter().map(|&n| (f64::from(n) - mean) * (f64::from(n) - mean)).sum::<f64>() / blocks;
        self.spreads.push((mean, variance.sqrt()));
        self.most = erases.iter().copied().max().unwrap_or(0);
    }

    /// Erases of the mean and of the most erased block, and how the spread grew.
    fn found(&self) -> (Option<LapWear>, Option<WearGrowth>) {
        let (mean, sd) = self.spreads.last().copied().unwrap_or_default();
        let most = f64::from(self.most).max(mean);
        ((mean >= ERASES_MIN).then_some(LapWear { mean, most, sd }), growth_of(&self.spreads))
    }
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
    Counts {
        programs: stages.serving.counters().programs_total(),
        host_pages: stages.placing.total().page_writes,
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
            marks: vec![],
            waf_by_lap: vec![],
            error: 0.0,
            stationary: false,
            passes: 0,
            programs: 0,
            wear: None,
            growth: None,
            lumps: None,
            reduced: None,
            close_up: None,
        };
        let mut marks = vec![Counts::default()];
        for waf in wafs {
            let last = marks[marks.len() - 1];
            marks.push(Counts {
                programs: last.programs + (waf * 1000.0) as u64,
                host_pages: last.host_pages + 1000,
            });
            judge(&mut laps, &marks, &Criterion { error_max: 0.005, laps_max: 12 });
        }
        laps
    }

    #[test]
    fn laps_that_are_alike_are_enough() {
        let laps = of(&[1.2, 1.9, 1.904, 1.902, 1.9]);
        assert!(laps.stationary && laps.taken == 4, "{laps:?}");
        // Too few of them say nothing.
        assert!(!of(&[1.9; 4]).stationary);
    }

    /// A life has the first laps as they were, and the mean of those taken from then on.
    #[test]
    fn a_life_has_its_first_laps() {
        let laps = of(&[1.0, 2.0, 2.0, 2.0, 2.0]);
        assert_eq!((laps.waf, laps.programs), (2.0, 9000));
        let waf = |programs: f64| laps.waf_over(programs);
        assert_eq!((waf(0.0), waf(500.0), waf(1000.0)), (1.0, 1.0, 1.0));
        assert_eq!((waf(3000.0), waf(9000.0)), (1.5, 1.8));
        assert!((waf(19_000.0) - 1.9).abs() < 1e-12);
    }
}
