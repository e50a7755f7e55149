//! Measurements for `floatgate lifetime` before the simulation of a life: write amplification, and the page writes left
//! by reduction. Under the integrated manager both depend on the active schemes; each choice of schemes has its own
//! laps.

use crate::lifetime_variant::is_given;
use crate::options::Progress;
use crate::workers::each;
use floatgate_base::Result;
use floatgate_config::Resolved;
use floatgate_lifetime::life::{Forecast, Managed, Reduction};
use floatgate_lifetime::reduce::{ByChoice, CHOICES};
use floatgate_lifetime::{Throttle, throttle};
use floatgate_sim::close_up::{self, CloseUp};
use floatgate_sim::laps::{Criterion, Laps, REQUESTS_MAX, Reduced, close_up_without_laps, measure};
use floatgate_sim::plan::{Plan, Schemes};
use floatgate_sim::reading::pass::Pass;
use std::cmp::Reverse;

/// The choices in the order of [`floatgate_lifetime::reduce::Decision::choice`].
pub(crate) const SCHEMES: [Schemes; CHOICES] = [
    Schemes { dedup: false, compress: false },
    Schemes { dedup: true, compress: false },
    Schemes { dedup: false, compress: true },
    Schemes { dedup: true, compress: true },
];

/// Measurements for a variant.
pub(crate) enum Measured {
    /// None: write amplification is configured, nothing is written, or each request goes through the FTL.
    Nothing,
    /// Laps of the drive with constant schemes.
    Once(Box<Laps>),
    /// Laps for each choice of schemes, in the order of [`SCHEMES`].
    ByChoice(Vec<Laps>),
}

impl Measured {
    /// Returns the laps of a drive with constant schemes.
    pub fn once(&self) -> Option<&Laps> {
        match self {
            Self::Once(laps) => Some(laps),
            Self::Nothing | Self::ByChoice(_) => None,
        }
    }

    /// Returns all laps: one, or those of each choice.
    pub fn all(&self) -> &[Laps] {
        match self {
            Self::Nothing => &[],
            Self::Once(laps) => std::slice::from_ref(laps),
            Self::ByChoice(laps) => laps,
        }
    }
}

fn criterion(forecast: &Forecast) -> Criterion {
    Criterion {
        requests_max: REQUESTS_MAX,
        error_max: forecast.waf_error_max,
        laps_max: forecast.laps_max,
        programs_min: u64::from(forecast.lap_programs_min),
    }
}

/// Laps to run: the drive, their other dependencies, and the pass.
struct LapsJob<'a> {
    plan: Plan,
    close_up: Option<close_up::CloseUpPlan>,
    forecast: &'a Forecast,
    pass: &'a Pass,
    key: String,
}

impl<'a> LapsJob<'a> {
    fn of(
        (plan, close_up): (Plan, Option<close_up::CloseUpPlan>),
        resolved: &'a Resolved,
        pass: &'a Pass,
    ) -> Self {
        let key = format!("{} {close_up:?}", laps_key(&plan, &resolved.forecast, pass));
        Self { plan, close_up, forecast: &resolved.forecast, pass, key }
    }
}

/// Returns the dependencies of laps: all but throttling, recovery of blocks, and a manager's choices. Cycles determine
/// how long wear is of interest, and the end of a life.
fn laps_key(plan: &Plan, forecast: &Forecast, pass: &Pass) -> String {
    let mut plan = plan.clone();
    plan.throttle.policy = Throttle::None;
    plan.throttle.params = throttle::Params::default();
    plan.throttle.target_years = 1.0;
    let endurance = plan.drive.endurance;
    plan.drive.endurance =
        floatgate_nand::Endurance::Fixed { pe_cycles: endurance.pe_cycles() }.wearing(endurance.wear());
    format!("{plan:?} {:?} {}", criterion(forecast), pass.windows.width_ns)
}

/// Measures each requested variant: common laps once, and all choices of schemes side by side.
pub(crate) fn measure_all(
    wanted: &[Option<(&Resolved, &Pass, Option<&Plan>)>],
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Vec<Measured>> {
    let mut unique: Vec<LapsJob<'_>> = vec![];
    // The laps of each variant, by number.
    let mut of_variant = vec![];
    for one in wanted {
        let one = one.filter(|(resolved, pass, _)| !is_given(resolved) && pass.demand.pages() > 0);
        let laps = one.map_or(vec![], |(resolved, pass, timed_plan)| {
            let requests = u64::from(resolved.forecast.close_up_requests);
            let close_ups = timed_plan
                .map(|plan| plans(plan).into_iter().map(|plan| close_up_plan(&plan, pass, requests)));
            let mut close_ups = close_ups.into_iter().flatten();
            let plans = plans(&resolved.plan).into_iter();
            plans
                .map(|plan| number_of(&mut unique, LapsJob::of((plan, close_ups.next()), resolved, pass)))
                .collect()
        });
        of_variant.push(laps);
    }
    let laps = measure_each(&unique, progress)?;
    let measured = of_variant.iter().map(|numbers| match numbers[..] {
        [] => Measured::Nothing,
        [number] => Measured::Once(Box::new(laps[number].clone())),
        _ => Measured::ByChoice(numbers.iter().map(|&number| laps[number].clone()).collect()),
    });
    Ok(measured.collect())
}

/// Returns the plan of a close-up with so many requests per part.
pub(crate) fn close_up_plan(timed_plan: &Plan, pass: &Pass, requests: u64) -> close_up::CloseUpPlan {
    close_up::CloseUpPlan { plan: close_up::plan_of(timed_plan), stretches: pass.busy.stretches(requests) }
}

/// Returns the drive itself, or under a manager one for each choice of schemes.
fn plans(plan: &Plan) -> Vec<Plan> {
    match plan.reduce.params.integrated {
        None => vec![plan.clone()],
        Some(_) => SCHEMES.map(|schemes| plan.with_schemes(schemes)).to_vec(),
    }
}

fn number_of<'a>(unique: &mut Vec<LapsJob<'a>>, wanted: LapsJob<'a>) -> usize {
    unique.iter().position(|one| one.key == wanted.key).unwrap_or_else(|| {
        unique.push(wanted);
        unique.len() - 1
    })
}

/// Maximum of pages of drives that run side by side, one for laps and one for the close-up: they take less than 5 GB
/// each.
const SIDE_BY_SIDE_MAX: u64 = 600_000_000;

/// A piece of the work for laps, by number.
#[derive(Clone, Copy)]
enum Piece {
    /// Laps, and the close-up of their drive.
    Laps(usize),
    /// The close-up of a separate drive.
    CloseUp(usize),
}

/// Result of a piece. The error of a close-up only matters if the laps succeed.
enum Done {
    Laps(Box<Laps>),
    CloseUp(Box<Result<Option<CloseUp>>>),
}

impl LapsJob<'_> {
    /// Returns whether the close-up needs another drive than the laps, and both fit into memory at a time.
    fn is_apart(&self) -> bool {
        let pages = self.plan.drive.geometry.pages();
        let never = |wanted: &close_up::CloseUpPlan| {
            self.plan.ftl.setup.can_never_continue_as(&wanted.plan.ftl.setup) && pages <= SIDE_BY_SIDE_MAX
        };
        self.close_up.as_ref().is_some_and(never)
    }
}

/// Runs all jobs; close-ups with separate drives run beside the laps.
fn measure_each(
    wanted: &[LapsJob<'_>],
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Vec<Laps>> {
    let apart = (0..wanted.len()).filter(|&i| wanted[i].is_apart()).map(Piece::CloseUp);
    let mut pieces: Vec<Piece> = (0..wanted.len()).map(Piece::Laps).chain(apart).collect();
    // The longest pieces come first, or the last of them would leave the other cores without work. Filling the drive
    // takes most of the time, and laps take longer than a close-up.
    pieces.sort_by_key(|piece| match *piece {
        Piece::Laps(i) => (Reverse(wanted[i].plan.drive.geometry.pages()), 0),
        Piece::CloseUp(i) => (Reverse(wanted[i].plan.drive.geometry.pages()), 1),
    });
    let done = each(&pieces, "write amplification", progress, |&piece, ticker| match piece {
        Piece::Laps(i) => {
            let LapsJob { plan, close_up, forecast, pass, .. } = &wanted[i];
            let close_up = close_up.as_ref().filter(|_| !wanted[i].is_apart());
            let laps = measure(plan, pass, &criterion(forecast), close_up, &mut |share| ticker.tick(share))?;
            Ok(Done::Laps(Box::new(laps)))
        }
        Piece::CloseUp(i) => {
            let LapsJob { close_up, pass, .. } = &wanted[i];
            let seen = close_up.as_ref().map_or(Ok(None), |wanted| {
                close_up_without_laps(pass, wanted, &mut |share| ticker.tick(share))
            });
            Ok(Done::CloseUp(Box::new(seen)))
        }
    })?;
    let (mut laps, mut close_ups) = (vec![None; wanted.len()], vec![None; wanted.len()]);
    for (piece, done) in pieces.into_iter().zip(done) {
        match (piece, done) {
            (Piece::Laps(i), Done::Laps(one)) => laps[i] = Some(*one),
            (Piece::CloseUp(i), Done::CloseUp(seen)) => close_ups[i] = (*seen)?,
            _ => unreachable!("laps give laps, and close-ups give close-ups"),
        }
    }
    let with_close_ups = laps.into_iter().flatten().zip(close_ups).map(|(one, seen)| match seen {
        Some(_) => Laps { close_up: seen, ..one },
        None => one,
    });
    Ok(with_close_ups.collect())
}

/// Returns the effect of reduction on the writes of a life, from the measurements.
pub(crate) fn reduction(pass: &Pass, measured: &Measured) -> Option<Reduction> {
    match measured {
        Measured::Nothing => None,
        Measured::Once(laps) => laps.reduced.as_ref().map(|_| Reduction::Always),
        Measured::ByChoice(laps) => {
            let of_choice = |choice: usize| laps[choice].reduced.as_ref();
            // The buffer absorbs as much under any schemes.
            let through = of_choice(CHOICES - 1).map_or(1.0, Reduced::through);
            let amplification = std::array::from_fn(|choice| {
                let left = through * of_choice(choice).map_or(1.0, Reduced::left);
                if left > 0.0 { laps[choice].waf / left } else { 1.0 }
            });
            let windows = (0..pass.windows.requests.len()).map(|window| -> ByChoice {
                std::array::from_fn(|choice| of_choice(choice).map_or(1.0, |one| one.left_by_window[window]))
            });
            let windows = (pass.windows.width_ns, windows.collect());
            let managed = Managed::new(&pass.demand, windows, (through, amplification));
            Some(Reduction::Managed(Box::new(managed)))
        }
    }
}
