//! Write amplification and wear of a repeating workload: the FTL runs laps until they converge.
//!
//! A lap consists of whole passes that program, at least once, the pages among which data move, and at least two
//! million pages. The pages among which data move are all pages of the flash except blocks of data at rest
//! (`precondition = "auto"`).
//!
//! At least five laps run. Three are enough if they are long and wear is simulated ahead (`wear_ahead.rs`), two if, in
//! addition, only host writes are programmed. `lap_mean.rs` computes their mean once it has settled, and its error. The
//! error is reported; within its limit a workload counts as stationary. A life consists of the laps themselves at its
//! beginning and of their mean from then on.
//!
//! For a drive with reduction, one more pass measures the effect and the pages programmed for the host, window by
//! window.

use crate::close_up::{self, CloseUp};
use crate::lap_mean::{LAPS_MIN, LONG_LAPS_MIN, settled};
use crate::lap_outcome::part;
pub use crate::lap_outcome::{Laps, Reduced};
use crate::lap_serve::{STEP, programs, serve};
use crate::lap_wear::{WearSoFar, never_erased};
use crate::plan::Plan;
use crate::reading::pass::{Pass, PassWindows};
use crate::serve::with_drive;
use crate::simulation::{Phase, Simulation};
use crate::wear_ahead::{Aged, moved, wear_ahead};
use floatgate_base::Result;
use floatgate_flash::Cause;
use floatgate_lifetime::life::Lumps;

/// Criterion for the end of the laps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// Relative distance to the limit of write amplification that is acceptable.
    pub error_max: f64,
    /// Maximum of laps.
    pub laps_max: u32,
    /// Minimum of page programs per lap: on a small drive fewer would scatter.
    pub programs_min: u64,
    /// Maximum of requests per lap, if reads must be served for their effects.
    pub requests_max: u64,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    programs: u64,
    host_pages: u64,
    by_cause: [u64; Cause::ALL.len()],
}

/// Approximate samples of programs and host page writes per lap.
const MARKS_PER_LAP: u64 = 32;
/// Minimum of samples of these and of wear per life, until the spare blocks are used up.
const MARKS_PER_LIFE: u64 = 256;
/// Laps after which most workloads have converged.
const LAPS_EXPECTED: f64 = 6.0;
/// Approximate share of the laps in the work, if a close-up follows.
const LAPS_SHARE: f64 = 0.7;
/// Approximate share of filling the drive in the work, on a large drive.
const FILL_SHARE: f64 = 0.3;
/// Approximate shares of the laps, and of one more pass, in the work between filling and a close-up. Wear ahead is the
/// rest.
const SETTLING_SHARE: f64 = 0.6;
const ONE_MORE_SHARE: f64 = 0.1;

/// Approximate share of wearing a drive in, where a close-up follows it.
const WEAR_IN_SHARE: f64 = 0.3;

/// Programs of a lap that take a second or more.
const LONG_LAP: u64 = 1 << 23;

/// Default maximum of requests per lap, and in the wear-in of a drive.
pub const REQUESTS_MAX: u64 = 1 << 26;

/// Runs laps of whole passes, and the close-up after them. Reads are served only if they may change what is written.
/// `whole` receives the finished share of the expected work, and may stop it.
///
/// # Errors
/// Errors of the run, and those of `tick`.
pub fn measure(
    plan: &Plan,
    pass: &Pass,
    criterion: &Criterion,
    close_up: Option<&close_up::CloseUpPlan>,
    whole: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Laps> {
    let of_laps = if close_up.is_some() { LAPS_SHARE } else { 1.0 };
    let tick = &mut |share: f64| whole(share * of_laps);
    let Begun { mut simulation, requests, pages } = begin(plan, pass, tick)?;
    let tick = &mut |share: f64| tick(behind_fill(share));
    let enough = pages.max(criterion.programs_min);
    let mut laps = Laps::none();
    let least = laps_min(plan, enough);
    let mut marks = vec![Counts::default()];
    let mut notes = Notes::new(plan, enough);
    while !laps.stationary && laps.waf_by_lap.len() < criterion.laps_max as usize {
        let (before, done) = (marks[marks.len() - 1].programs, laps.waf_by_lap.len());
        let mut served = 0;
        loop {
            let mut tick = |programs: u64, so_far: u64| {
                let share = (programs - before) as f64 / enough as f64;
                let share = share.max((served + so_far) as f64 / criterion.requests_max as f64).min(1.0);
                tick(SETTLING_SHARE * (done as f64 + share) / LAPS_EXPECTED.max(done as f64 + 1.0))
            };
            notes.serve(&mut simulation, requests, &mut laps.marks, &mut tick)?;
            served += requests;
            laps.passes += 1;
            let made = programs(&simulation) - before;
            // A workload without writes would never fill a lap.
            if made >= enough || made == 0 {
                break;
            }
            if served >= criterion.requests_max {
                laps.cut_short = true;
                break;
            }
        }
        marks.push(counts(&simulation));
        notes.wear.note(&simulation);
        laps.never_erased_by_lap.push(never_erased(&simulation));
        add_lap(&mut laps, &marks, least, criterion);
    }
    let moved = moved(&simulation);
    let one_more = &mut |share: f64| tick(SETTLING_SHARE + ONE_MORE_SHARE * share);
    let per_program = if plan.ftl.setup.reduce.is_some() {
        // That pass counts from zero.
        let per_program = requests_per_program(&simulation);
        laps.reduced = Some(reduced(&mut simulation, &pass.windows, one_more)?);
        per_program
    } else {
        let pages = plan.drive.geometry.pages();
        laps.lumps = Some(lumps(&mut simulation, requests, pages, one_more)?);
        requests_per_program(&simulation)
    };
    laps.growth = notes.wear.growth();
    let ahead = &mut |share: f64| {
        tick(SETTLING_SHARE + ONE_MORE_SHARE + (1.0 - SETTLING_SHARE - ONE_MORE_SHARE) * share)
    };
    if let Some(per_program) = per_program {
        look_ahead(plan, &mut laps, (&mut simulation, pages, moved, per_program), ahead)?;
    }
    laps.wear = notes.wear.estimate(laps.ahead.is_some());
    if let Some(wanted) = close_up {
        let tick = &mut |share: f64| whole(LAPS_SHARE + (1.0 - LAPS_SHARE) * share);
        laps.close_up = close_up_after(simulation, (pass, requests, pages), wanted, tick)?;
    }
    Ok(laps)
}

/// Returns the minimum of laps of so many programs. Wear is simulated ahead if leads have a limit.
fn laps_min(plan: &Plan, programs: u64) -> usize {
    let is_long = programs >= LONG_LAP && plan.ftl.lead_limit().is_some();
    if is_long { LONG_LAPS_MIN } else { LAPS_MIN }
}

/// Samples within laps, and wear.
struct Notes {
    wear: WearSoFar,
    /// Minimum of programs from one sample to the next.
    every: u64,
    /// Requests per program so far.
    requests_per_program: f64,
}

impl Notes {
    fn new(plan: &Plan, lap_programs: u64) -> Self {
        let drive = &plan.drive;
        let cycles = drive.endurance.rated_erases().round() as u32;
        let of_life = u64::from(cycles).saturating_mul(drive.geometry.pages()) / MARKS_PER_LIFE;
        Self {
            wear: WearSoFar::new(cycles, drive.bad_block_reserve),
            every: (lap_programs / MARKS_PER_LAP).min(of_life).max(1),
            requests_per_program: 1.0,
        }
    }

    /// Serves a pass of so many requests, in pieces while wear is of interest.
    fn serve(
        &mut self,
        simulation: &mut Simulation,
        requests: u64,
        marks: &mut Vec<(u64, u64)>,
        tick: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        let mut done = 0;
        while done < requests {
            let piece = (self.every as f64 * self.requests_per_program).max(1.0) as u64;
            let piece = if self.wear.is_over() { requests - done } else { piece.min(requests - done) };
            let before = programs(simulation);
            serve(simulation, piece, &mut |programs, so_far| tick(programs, done + so_far))?;
            done += piece;
            let programs = programs(simulation);
            self.requests_per_program = piece as f64 / (programs - before).max(1) as f64;
            if programs >= marks.last().map_or(0, |&(mark, _)| mark) + self.every {
                marks.push((programs, simulation.stages.addressing.total().page_writes));
                self.wear.note(simulation);
            }
        }
        Ok(())
    }
}

/// Returns the requests served per page programmed; None if nothing was programmed.
fn requests_per_program(simulation: &Simulation) -> Option<f64> {
    let programs = programs(simulation);
    (programs > 0).then(|| simulation.stages.book.counted as f64 / programs as f64)
}

/// Simulates the drive near the end of its life, and adds the cost of its leveler over life to write amplification. The
/// cost may be half as much or half as much again. `moved` are the pages programmed for wear-leveling in the laps, and
/// in all; `requests_per_program` is that of the laps.
fn look_ahead(
    plan: &Plan,
    laps: &mut Laps,
    (simulation, pages, moved, requests_per_program): (&mut Simulation, u64, (u64, u64), f64),
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    // The plan of the laps is that of a drive that does not wear out.
    let drive = &plan.drive;
    let Some(limit) = plan.ftl.lead_limit() else { return Ok(()) };
    let aged = Aged {
        pages,
        share: pages as f64 / drive.geometry.pages() as f64,
        cycles: drive.endurance.rated_erases().round() as u32,
        reserve: drive.bad_block_reserve,
        limit,
        growth: laps.growth.map_or(1.0, |growth| growth.exponent),
        requests_per_program,
    };
    laps.ahead = wear_ahead(simulation, &aged, tick)?;
    let Some(ahead) = laps.ahead else { return Ok(()) };
    let (for_wear, all) = moved;
    let so_far = for_wear as f64 / (all - for_wear).max(1) as f64;
    let more = (1.0 + ahead.moved_over_life) / (1.0 + so_far) - 1.0;
    laps.waf *= 1.0 + more;
    laps.error = (laps.error * laps.error + more * more / 4.0).sqrt();
    Ok(())
}

/// Serves the close-up on the drive of these laps. If timed mode works differently, the drive first continues in that
/// way; if that is impossible, another drive is worn in. Collection may be incremental there, and store separately what
/// it moves.
fn close_up_after(
    laps: Simulation,
    (pass, requests, pages): (&Pass, u64, u64),
    wanted: &close_up::CloseUpPlan,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Option<CloseUp>> {
    if laps.plan().ftl.setup.can_continue_as(&wanted.plan.ftl.setup) {
        return close_up::close_up(laps, wanted, tick);
    }
    let mut plan = wanted.plan.endless();
    plan.workload.without_reads = !plan.reads_matter();
    match close_up::go_on(laps, &plan)? {
        Some(mut simulation) => {
            wear_in(&mut simulation, requests, pages, &mut |share| tick(share * WEAR_IN_SHARE))?;
            close_up::close_up(simulation, wanted, &mut |share| tick(behind_wear_in(share)))
        }
        None => close_up_without_laps(pass, wanted, tick),
    }
}

/// Returns the progress when this share of the work after filling the drive is done.
fn behind_fill(share: f64) -> f64 {
    FILL_SHARE + (1.0 - FILL_SHARE) * share
}

/// Returns the progress when this share of the work after the wear-in is done.
fn behind_wear_in(share: f64) -> f64 {
    WEAR_IN_SHARE + (1.0 - WEAR_IN_SHARE) * share
}

/// The workload on a drive at its first request.
struct Begun {
    simulation: Simulation,
    /// Requests per pass.
    requests: u64,
    /// Pages of the flash except those of data at rest, which lie in separate blocks: the workload's data move among
    /// them.
    pages: u64,
}

fn begin(plan: &Plan, pass: &Pass, tick: &mut dyn FnMut(f64) -> Result<()>) -> Result<Begun> {
    let mut plan = plan.endless();
    plan.workload.without_reads = !plan.reads_matter();
    let requests = if plan.workload.without_reads { pass.requests_without_reads } else { pass.requests };
    let pages = plan.drive.geometry.pages();
    let mut simulation = Simulation::new(plan)?;
    let mut at_rest = 0;
    while simulation.phase() != Phase::Run {
        at_rest = at_rest.max(simulation.pages_at_rest());
        simulation.step(STEP)?;
        if let (Phase::Precondition, (done, Some(all))) = (simulation.phase(), simulation.progress()) {
            tick(FILL_SHARE * done as f64 / all.max(1) as f64)?;
        }
    }
    Ok(Begun { simulation, requests, pages: pages - at_rest.min(pages) })
}

/// Serves the close-up of a drive without laps. `tick` receives the finished share of wear-in and close-up, and may stop
/// them.
///
/// # Errors
/// Errors of the run, and those of `tick`.
pub fn close_up_without_laps(
    pass: &Pass,
    wanted: &close_up::CloseUpPlan,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Option<CloseUp>> {
    let of_fill = &mut |share: f64| tick(share * WEAR_IN_SHARE);
    let Begun { mut simulation, requests, pages } = begin(&wanted.plan, pass, of_fill)?;
    wear_in(&mut simulation, requests, pages, &mut |share| {
        tick(behind_fill(share.min(1.0)) * WEAR_IN_SHARE)
    })?;
    close_up::close_up(simulation, wanted, &mut |share| tick(behind_wear_in(share)))
}

/// Parts of a lap after which the wear-in of a drive is checked.
const WEAR_IN_PARTS: u64 = 4;
/// Relative difference of write amplification from part to part at which a large drive is worn in.
const WORN_IN: f64 = 0.01;

/// Serves passes until twice so many pages are programmed. A large drive is worn in once all of them were programmed
/// and write amplification no longer changes.
fn wear_in(
    simulation: &mut Simulation,
    requests: u64,
    pages: u64,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let (first, mut served) = (programs(simulation), 0);
    let (mut mark, mut waf) = (counts(simulation), None);
    loop {
        let before = programs(simulation);
        serve(simulation, requests, &mut |now, _| tick((now - first) as f64 / (2 * pages) as f64))?;
        served += requests;
        let now = counts(simulation);
        if now.programs == before || now.programs - first >= 2 * pages || served >= REQUESTS_MAX {
            return Ok(());
        }
        if now.programs - mark.programs >= pages / WEAR_IN_PARTS {
            let part = waf_between(mark, now);
            let stays = waf.is_some_and(|last: f64| (part / last - 1.0).abs() <= WORN_IN);
            if stays && pages >= LONG_LAP && now.programs - first >= pages + pages / WEAR_IN_PARTS {
                return Ok(());
            }
            (mark, waf) = (now, Some(part));
        }
    }
}

/// Returns the programs per host page write from one mark to another; 1 without any.
fn waf_between(from: Counts, to: Counts) -> f64 {
    let host = to.host_pages - from.host_pages;
    if host == 0 { 1.0 } else { (to.programs - from.programs) as f64 / host as f64 }
}

/// Maximum of requests in the search for lumps, and of lumps.
const LUMPS_REQUESTS_MAX: u64 = 1 << 20;
const LUMPS_MAX: usize = 1 << 16;

/// Records programs request by request: over whole passes that write the drive once, or up to the maximum of lumps.
fn lumps(
    simulation: &mut Simulation,
    requests: u64,
    pages: u64,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Lumps> {
    let counted = |simulation: &Simulation| {
        let stages = &simulation.stages;
        (stages.addressing.total().page_writes, stages.serving.counters().programs_total())
    };
    let (mut lumps, from) = (Lumps::default(), counted(simulation));
    let since = |(page_writes, programs): (u64, u64)| (page_writes - from.0, programs - from.1);
    let mut served = 0;
    while served < LUMPS_REQUESTS_MAX && lumps.len() < LUMPS_MAX {
        let before = simulation.stages.book.counted;
        if simulation.step(1)? == Phase::Done {
            break;
        }
        served += simulation.stages.book.counted - before;
        let (page_writes, programs) = since(counted(simulation));
        lumps.note(page_writes, programs);
        if served % requests == 0 && page_writes >= pages {
            break;
        }
        if served % STEP == 0 {
            tick(served as f64 / LUMPS_REQUESTS_MAX as f64)?;
        }
    }
    let (page_writes, programs) = since(counted(simulation));
    lumps.end(page_writes, programs);
    Ok(lumps)
}

/// Measures reduction in one more pass, and in each of its windows.
fn reduced(
    simulation: &mut Simulation,
    windows: &PassWindows,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Reduced> {
    with_drive!(&mut simulation.stages.serving, drive => drive.reset_counts());
    let page_writes = simulation.stages.addressing.total().page_writes;
    let counted = |simulation: &Simulation| {
        let figures = with_drive!(&simulation.stages.serving, drive => drive.ftl.reduced());
        let counters = figures.map(|figures| figures.counters).unwrap_or_default();
        (counters, simulation.stages.serving.counters().programs_for_host())
    };
    let mut left_by_window: Vec<Option<f64>> = Vec::with_capacity(windows.requests.len());
    let (mut before, mut programs_before) = (0, 0);
    let (mut done, all) = (0, windows.requests.iter().copied().map(u64::from).sum::<u64>().max(1) as f64);
    for &requests in &windows.requests {
        if requests == 0 {
            left_by_window.push(None);
            continue;
        }
        let requests = u64::from(requests);
        serve(simulation, requests, &mut |_, served| tick((done + served) as f64 / all))?;
        done += requests;
        let (counters, programs) = counted(simulation);
        let pages = counters.host_pages - before;
        left_by_window.push((pages > 0).then(|| (programs - programs_before) as f64 / pages as f64));
        (before, programs_before) = (counters.host_pages, programs);
    }
    let (counters, host_programs) = counted(simulation);
    let left = part(host_programs, counters.host_pages);
    Ok(Reduced {
        page_writes: simulation.stages.addressing.total().page_writes - page_writes,
        counters,
        host_programs,
        left_by_window: left_by_window.into_iter().map(|one| one.unwrap_or(left)).collect(),
    })
}

/// Adds a lap, and updates the mean of all.
fn add_lap(laps: &mut Laps, marks: &[Counts], least: usize, criterion: &Criterion) {
    let n = marks.len() - 1;
    laps.waf_by_lap.push(waf_between(marks[n - 1], marks[n]));
    if laps.marks.last().is_none_or(|&(mark, _)| mark < marks[n].programs) {
        laps.marks.push((marks[n].programs, marks[n].host_pages));
    }
    laps.programs = marks[n].programs;
    let mean = settled(&laps.waf_by_lap, least);
    (laps.error, laps.taken) = (mean.error, mean.taken);
    laps.stationary = mean.error <= criterion.error_max;
    let (from, to) = (marks[n - mean.taken], marks[n]);
    laps.waf = waf_between(from, to);
    let by_cause = std::array::from_fn(|cause| to.by_cause[cause] - from.by_cause[cause]);
    laps.by_cause = (by_cause, to.host_pages - from.host_pages);
}

fn counts(simulation: &Simulation) -> Counts {
    Counts {
        programs: programs(simulation),
        host_pages: simulation.stages.addressing.total().page_writes,
        by_cause: simulation.stages.serving.counters().programs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lap_outcome::RESOLUTION;

    /// Builds laps of 1000 host pages each, with these write amplifications.
    fn of(wafs: &[f64]) -> Laps {
        of_least(wafs, LAPS_MIN)
    }

    /// Builds them with a minimum of `least` laps.
    fn of_least(wafs: &[f64], least: usize) -> Laps {
        let mut laps = Laps::none();
        let mut marks = vec![Counts::default()];
        for waf in wafs {
            let last = marks[marks.len() - 1];
            marks.push(Counts {
                programs: last.programs + (waf * 1000.0) as u64,
                host_pages: last.host_pages + 1000,
                ..Counts::default()
            });
            add_lap(
                &mut laps,
                &marks,
                least,
                &Criterion { error_max: 0.005, laps_max: 12, programs_min: 1, requests_max: REQUESTS_MAX },
            );
        }
        laps
    }

    #[test]
    fn laps_that_are_alike_are_enough() {
        let laps = of(&[1.2, 1.9, 1.904, 1.902, 1.9]);
        assert!(laps.stationary && laps.taken == 4, "{laps:?}");
        // Too few of them give no estimate.
        assert!(!of(&[1.9; 4]).stationary);
    }

    /// Two long laps are enough if only host writes are programmed.
    #[test]
    fn two_long_laps_without_moves_are_enough() {
        let laps = of_least(&[1.0, 1.0], LONG_LAPS_MIN);
        assert!(laps.stationary && (laps.waf, laps.error, laps.taken) == (1.0, 0.0, 1), "{laps:?}");
        for (wafs, least) in
            [(&[1.2, 1.0], LONG_LAPS_MIN), (&[1.0, 1.01], LONG_LAPS_MIN), (&[1.0, 1.0], LAPS_MIN)]
        {
            assert!(!of_least(wafs, least).stationary, "{wafs:?}");
        }
    }

    /// A life within the laps is as uncertain as its parts differ, one beyond them as their mean is; neither is exact.
    #[test]
    fn parts_of_a_life_tell_its_error() {
        let laps = of(&[2.0; 8]);
        assert_eq!([4000.0, 16_000.0, 1e9].map(|programs| laps.waf_error_over(programs)), [RESOLUTION; 3]);
        let laps = of(&[1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0]);
        let programs = laps.programs as f64;
        let [within, beyond] = [programs, 1e9].map(|programs| laps.waf_error_over(programs));
        assert!(within > 0.2 && (beyond / laps.error / 2.0 - 1.0).abs() < 1e-4, "{within} {beyond} {laps:?}");
    }

    /// A life has the first laps as measured, and from then on the mean of the averaged ones.
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
