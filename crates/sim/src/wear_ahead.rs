//! The drive at its future wear: whether its leveler holds back the most worn blocks there, and the cost.
//!
//! Laps end when write amplification has settled, often at a hundredth of a life, long before a leveler has to act.
//! Wear is therefore advanced to near the end of life: the leads of blocks over the mean are extended by the observed
//! growth of the spread, up to the lead that the leveler allows. The workload continues, and each erase counts as
//! several: a quarter of the allowed lead. Blocks thus reach the leveler's limit within some laps, until the spare
//! blocks are used up.
//!
//! A leveler moves data about once per allowed lead. Here it moves them that many times more often per erase than on a
//! real drive; the pages programmed for wear-leveling therefore count that many times less. At other ages the cost is
//! in inverse proportion to the lead allowed there.
//!
//! Four laps are long enough for a block to get ahead by the whole allowed lead. A small drive allows more laps and
//! begins accordingly earlier in its life; if it does not reach the end, it runs twice as many. Two laps are enough if
//! the allowed lead is a small part of life and leveling costs almost nothing
//! (`docs/decisions/0040-data-at-rest-take-no-memory.md`).

use crate::lap_serve::serve;
use crate::lap_wear::{BlockWear, LapWear, WearSoFar};
use crate::serve::with_drive;
use crate::simulation::Simulation;
use floatgate_base::Result;
use floatgate_flash::Cause;
use floatgate_nand::LeadLimit;

/// Minimum and maximum of laps from the start to the end of life, each with as many programs as there are pages among
/// which data move.
const LAPS: (u64, u64) = (4, 64);
/// Laps after which it ends if leveling costs at most this share of the programs, and the allowed lead is at most this
/// share of the cycles.
const ENOUGH: (u64, f64, f64) = (2, 0.0025, 0.02);
/// Programs that any drive can run.
const PROGRAMS: u64 = 1 << 22;
/// Leaps of wear per lap.
const LEAPS_PER_LAP: u64 = 8;
/// Erases that one erase counts as, as a share of the allowed lead.
const STEP_SHARE: f64 = 0.25;
/// Minimum distance of the start from the end of life, in allowed leads.
const LEADS_BEFORE_END: f64 = 2.0;
/// Ages between now and the end of life at which the allowed lead is sampled.
const AGES: u32 = 64;

/// Measurements near the end of life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearAhead {
    /// Erases of the mean block at the start.
    pub mean_from: f64,
    /// Erases of the mean block at the end.
    pub mean: f64,
    /// Pages programmed for wear-leveling / other pages programmed at the end of life, scaled to a drive on which each
    /// erase counts once.
    pub moved: f64,
    /// The same ratio, on average from the laps to the end of life.
    pub moved_over_life: f64,
    /// Lead of the most worn block over the mean when it used up its cycles, or at the end.
    pub lead_first: f64,
    /// Lead of the first block beyond the reserve of spare blocks.
    pub lead_beyond_reserve: f64,
}

impl WearAhead {
    /// Returns the lead of the first block or of the first one beyond the reserve.
    #[must_use]
    pub fn lead(&self, of_first: bool) -> f64 {
        if of_first { self.lead_first } else { self.lead_beyond_reserve }
    }
}

/// A drive after its laps.
pub(crate) struct Aged {
    /// Number of pages among which page writes of the workload move.
    pub pages: u64,
    /// Share of these in the pages of the flash.
    pub share: f64,
    /// Cycles per block.
    pub cycles: u32,
    /// Share of the blocks that are spare.
    pub reserve: f64,
    /// Limit of the leveler.
    pub limit: LeadLimit,
    /// Exponent of the growth of the spread of wear.
    pub growth: f64,
    /// Requests served per page programmed in the laps.
    pub requests_per_program: f64,
}

impl Aged {
    /// Returns the erases that one counts as at this age.
    fn step(&self, mean: f64) -> u32 {
        ((STEP_SHARE * self.limit.at(mean)) as u32).max(1)
    }

    /// Returns the erases of the mean block in a leap at this age.
    fn erases_of_leap(&self, mean: f64) -> f64 {
        f64::from(self.step(mean)) * self.share / LEAPS_PER_LAP as f64
    }

    /// Returns whether leads and moves that amount to `moved_over_life` of other programs hardly change a life.
    fn is_cheap(&self, moved_over_life: f64) -> bool {
        let cycles = f64::from(self.cycles);
        moved_over_life <= ENOUGH.1 && self.limit.at(cycles) <= ENOUGH.2 * cycles
    }

    /// Returns the age from which so many leaps lead to the end of life, and at least twice the lead allowed there:
    /// leading blocks must have some life left.
    fn start(&self, leaps: u64) -> f64 {
        let end = f64::from(self.cycles);
        let start = (0..leaps).fold(end, |mean, _| mean - self.erases_of_leap(mean));
        start.min(end - LEADS_BEFORE_END * self.limit.at(end))
    }
}

/// Runs the drive near the end of its life; `tick` receives the finished share of the longest way there. None if it is
/// there already.
///
/// # Errors
/// Errors of the run, and those of `tick`.
pub(crate) fn wear_ahead(
    simulation: &mut Simulation,
    aged: &Aged,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Option<WearAhead>> {
    let now = LapWear::of(simulation, aged.reserve).first;
    let laps = (PROGRAMS / aged.pages.max(1)).clamp(LAPS.0, LAPS.1);
    let leaps = LEAPS_PER_LAP * laps;
    let start = aged.start(leaps);
    if now.mean >= start || now.erases >= f64::from(aged.cycles) {
        return Ok(None);
    }
    leap_to(simulation, aged, &now, start);
    let requests = (aged.pages / LEAPS_PER_LAP) as f64 * aged.requests_per_program;
    let mut wear = WearSoFar::new(aged.cycles, aged.reserve);
    wear.note(simulation);
    let mut moves = Moves::default();
    let over_life = over_life(aged, now.mean);
    // Because of unfilled blocks the erases of the mean block differ from the number of pages.
    let leaps_max = if laps > LAPS.0 { 2 * leaps } else { leaps };
    for leap in 0..leaps_max {
        let mean = wear.last().first.mean;
        if wear.is_over() || mean >= f64::from(aged.cycles) {
            break;
        }
        if leap == LEAPS_PER_LAP * ENOUGH.0 && laps == LAPS.0 && aged.is_cheap(moves.share() * over_life) {
            break;
        }
        let before = moved(simulation);
        let tick = &mut |share: f64| tick((leap as f64 + share) / leaps_max as f64);
        go_on(simulation, requests.max(1.0) as u64, aged.step(mean), tick)?;
        moves.note(aged, mean, before, moved(simulation));
        wear.note(simulation);
    }
    if simulation.plan().shadow {
        simulation.audit()?;
    }
    let [lead_first, lead_beyond_reserve] = wear.leads();
    Ok(Some(WearAhead {
        mean_from: start,
        mean: wear.last().first.mean,
        moved: moves.share(),
        moved_over_life: moves.share() * over_life,
        lead_first,
        lead_beyond_reserve,
    }))
}

/// Sets the mean block to `start` erases, and leads as grown until then, up to the one allowed there.
fn leap_to(simulation: &mut Simulation, aged: &Aged, now: &BlockWear, start: f64) {
    let most = (now.erases - now.mean).max(f64::MIN_POSITIVE);
    let grown = libm::pow(start / now.mean.max(1.0), aged.growth).min(aged.limit.at(start) / most);
    with_drive!(&mut simulation.stages.serving, drive => drive.leap(|_, erases| {
        let erases = f64::from(erases);
        (start + (erases - now.mean) * grown - erases).max(0.0) as u32
    }));
}

/// Moves for wear-leveling, scaled to their number at the end of life.
#[derive(Default)]
struct Moves {
    for_wear: f64,
    other: f64,
}

impl Moves {
    fn note(&mut self, aged: &Aged, mean: f64, before: (u64, u64), after: (u64, u64)) {
        let (for_wear, all) = (after.0 - before.0, after.1 - before.1);
        let of_end = aged.limit.at(mean) / aged.limit.at(f64::from(aged.cycles));
        self.for_wear += for_wear as f64 / f64::from(aged.step(mean)) * of_end;
        self.other += (all - for_wear) as f64;
    }

    fn share(&self) -> f64 {
        self.for_wear / self.other.max(1.0)
    }
}

/// Returns the allowed lead at the end of life / the allowed lead, on average from `mean` erases to the end.
fn over_life(aged: &Aged, mean: f64) -> f64 {
    let cycles = f64::from(aged.cycles);
    let at_end = aged.limit.at(cycles);
    let age = |i: u32| mean + (f64::from(i) + 0.5) / f64::from(AGES) * (cycles - mean);
    (0..AGES).map(|i| at_end / aged.limit.at(age(i))).sum::<f64>() / f64::from(AGES)
}

/// Serves requests, and counts each erase among them as `step`.
fn go_on(
    simulation: &mut Simulation,
    requests: u64,
    step: u32,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let before =
        with_drive!(&simulation.stages.serving, drive => drive.array.erase_counts().as_slice().to_vec());
    serve(simulation, requests, &mut |_, served| tick(served as f64 / requests as f64))?;
    with_drive!(&mut simulation.stages.serving, drive => {
        drive.leap(|unit, erases| (step - 1) * (erases - before[unit.0 as usize]));
    });
    Ok(())
}

/// Returns the pages programmed for wear-leveling, and all.
pub(crate) fn moved(simulation: &Simulation) -> (u64, u64) {
    let counters = simulation.stages.serving.counters();
    (counters.programs[Cause::Level as usize], counters.programs_total())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(limit: LeadLimit) -> Aged {
        let requests_per_program = 1.0;
        Aged { pages: 1, share: 0.5, cycles: 1000, reserve: 0.0, limit, growth: 1.0, requests_per_program }
    }

    const FALLING: LeadLimit = LeadLimit { pe_cycles: 1000.0, of_remaining: 0.15, least_erases: 10.0 };

    #[test]
    fn moves_are_as_frequent_as_leads_are_small() {
        let of = |limit, mean| over_life(&aged(limit), mean);
        assert!((of(LeadLimit::constant(40.0), 0.0) - 1.0).abs() < 1e-12);
        // 10 / (150 (1 - x)) down to 10 at x = 14/15, and 1 from there on: ln(15) / 15 + 1 / 15.
        assert!((of(FALLING, 0.0) - (libm::log(15.0) + 1.0) / 15.0).abs() < 2e-3, "{}", of(FALLING, 0.0));
        assert!((of(FALLING, 990.0) - 1.0).abs() < 1e-12);
        let mut moves = Moves::default();
        // At half of life the limit is 75, and an erase counts as 18: of 36 moves two are real, and as many as 15 at
        // the end.
        moves.note(&aged(FALLING), 500.0, (0, 0), (36, 136));
        assert!((moves.share() - 0.15).abs() < 1e-12, "{}", moves.share());
    }

    #[test]
    fn leaps_lead_to_the_end_of_life() {
        // Each erase counts as ten, and half of the pages move: five erases of the mean block per lap.
        let even = aged(LeadLimit::constant(40.0));
        assert_eq!((even.step(3.0), even.start(8 * 8), even.start(64 * 8)), (10, 920.0, 680.0));
        // Two up to the last 6.7 %.
        let falling = aged(FALLING);
        assert_eq!((falling.step(1000.0), falling.step(0.0)), (2, 37));
        assert_eq!(falling.start(8 * 8), 980.0);
        assert!(falling.start(64 * 8) < 940.0);
    }
}
