//! The lives of several variants and the ends of their intervals, simulated in pieces on all cores.

use crate::close_up::TimedPlan;
use crate::life_interval::{self, Ends, Interval, Parts, Sources};
use crate::lifetime_laps::{Measured, close_up_plan, reduction};
use crate::lifetime_results::{waf, waf_error};
use crate::one_life::lived;
use crate::options::Progress;
use crate::workers::each;
use floatgate_base::Result;
use floatgate_config::Resolved;
use floatgate_lifetime::SECONDS_PER_YEAR;
use floatgate_lifetime::life::{Life, Method, Outcome, Reduction};
use floatgate_sim::close_up::CloseUp;
use floatgate_sim::gate;
use floatgate_sim::laps::close_up_without_laps;
use floatgate_sim::reading::pass::Pass;
use floatgate_sim::{FullLife, LifeOptions, Plan, full_life};

/// Variants of an experiment with all that their lives need, by number.
pub(crate) struct Variants<'a> {
    pub resolved: &'a [Resolved],
    pub timed_plans: &'a [TimedPlan],
    pub methods: &'a [Method],
    pub known: Vec<Known<'a>>,
    /// Start and end of the part to record in detail.
    pub details_ns: &'a [Option<(u64, u64)>],
    pub intervals: bool,
}

/// Input of a life: the pass, the measurements of laps, and the parts of the pass.
pub(crate) type Known<'a> = (&'a Pass, &'a Measured, Option<&'a Parts>);

/// A life, the drive at its end if there was one, and the interval of the life.
pub(crate) struct Lived {
    pub life: Outcome,
    pub drive: Option<floatgate_sim::Outcome>,
    /// Seconds until the first block was worn out, and until the first one beyond the reserve was.
    pub worn_s: [Option<f64>; 2],
    /// The lives at both ends of the interval, if they are other ones.
    ends: Option<Ends>,
    /// The life that the ends are compared with, if it is another one.
    middle: Option<Outcome>,
    pub interval: Option<Interval>,
    /// The close-up of a drive without laps.
    pub close_up: Option<CloseUp>,
}

/// A piece of work: a variant, and the factor of a life for its interval if it is not its life itself.
type Work = (usize, Option<f64>);

/// Returns the lives of all variants and then those for their intervals: these fill the cores beside a long life.
fn pieces(factors: &[Vec<f64>]) -> Vec<Work> {
    let lives = (0..factors.len()).map(|i| (i, None));
    let all = factors.iter().enumerate();
    lives.chain(all.flat_map(|(i, factors)| factors.iter().map(move |&factor| (i, Some(factor))))).collect()
}

/// A finished piece of work.
enum Piece {
    Life(Box<Lived>),
    End(Option<Box<Outcome>>),
}

impl Variants<'_> {
    /// Simulates all lives, and their intervals if wanted. A life does not depend on the ends of its interval, and these
    /// do not depend on it.
    ///
    /// # Errors
    /// Run errors, and the errors of `progress`.
    pub fn lives(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Vec<Lived>> {
        let has_ends = |i: usize| self.intervals && self.methods[i] != Method::Full;
        let factors: Vec<Vec<f64>> = (0..self.resolved.len())
            .map(|i| if has_ends(i) { factors(&self.resolved[i], self.known[i]) } else { vec![] })
            .collect();
        let done = each(&pieces(&factors), "life", progress, |&work, ticker| {
            self.piece(work, &mut |share| ticker.tick(share))
        })?;
        let mut lives = assembled(done, &factors);
        for (i, lived) in lives.iter_mut().enumerate().filter(|&(i, _)| has_ends(i)) {
            let sources = sources(&self.resolved[i], self.known[i]);
            let (life, ends) = (&lived.life, lived.ends.as_ref());
            let middle = lived.middle.as_ref().unwrap_or(life);
            lived.interval = life_interval::interval(&self.resolved[i], (life, middle), ends, &sources);
        }
        Ok(lives)
    }

    fn piece(&self, (i, end): Work, tick: &mut dyn FnMut(f64) -> Result<()>) -> Result<Piece> {
        let (resolved, known) = (&self.resolved[i], self.known[i]);
        if let Some(factor) = end {
            let life = without_laps(resolved, known, None);
            return Ok(Piece::End(life_interval::end(&life, factor, tick)?.map(Box::new)));
        }
        let detail_ns = self.details_ns.get(i).copied().flatten();
        let lived = match self.methods[i] {
            Method::Full => {
                let drive = (resolved, self.timed_plans[i].as_deref().ok());
                go_through_fully(drive, known, (detail_ns, self.intervals), tick)
            }
            _ => go_through(resolved, known, detail_ns, tick),
        };
        lived.map(|lived| Piece::Life(Box::new(lived)))
    }
}

/// Returns the factors of the lives for an interval: those of its ends, the one with the most programs first. The factor
/// of its middle follows if the ends are not to be compared with the life itself.
fn factors(resolved: &Resolved, known: Known<'_>) -> Vec<f64> {
    let Some([most, least]) = sources(resolved, known).factors(resolved) else { return vec![] };
    // The ends know no lumps of collection, which change what a throttle admits.
    if without_laps(resolved, known, None).corrects_gate() {
        vec![most, least, 1.0]
    } else {
        vec![most, least]
    }
}

/// Puts the pieces of work of [`pieces`] together: each life with those for its interval.
fn assembled(done: Vec<Piece>, factors: &[Vec<f64>]) -> Vec<Lived> {
    let (mut lives, mut ends) = (vec![], vec![]);
    for piece in done {
        match piece {
            Piece::Life(lived) => lives.push(*lived),
            Piece::End(end) => ends.push(end.map(|end| *end)),
        }
    }
    let mut ends = ends.into_iter();
    for (lived, factors) in lives.iter_mut().zip(factors).filter(|(_, factors)| !factors.is_empty()) {
        lived.ends = ends.next().zip(ends.next()).map(|(most, least)| [most, least]);
        lived.middle = if factors.len() > 2 { ends.next().flatten() } else { None };
    }
    lives
}

fn without_drive<'a>(
    resolved: &Resolved,
    pass: &'a Pass,
    (waf, reduction): (f64, Option<Reduction>),
    detail_ns: Option<(u64, u64)>,
) -> Life<'a> {
    let (plan, forecast) = (&resolved.plan, &resolved.forecast);
    let setup = gate::setup(plan, forecast.cycles_used, forecast.age_years * SECONDS_PER_YEAR);
    Life { setup, demand: &pass.demand, waf, detail_ns, lumps: None, reduction }
}

fn go_through_fully(
    (resolved, timed_plan): (&Resolved, Option<&Plan>),
    (pass, _, parts): Known<'_>,
    (detail_ns, interval): (Option<(u64, u64)>, bool),
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Lived> {
    let options = LifeOptions {
        detail_ns,
        passes_max: u64::MAX,
        cycles_used: resolved.forecast.cycles_used,
        age_s: resolved.forecast.age_years * SECONDS_PER_YEAR,
    };
    let FullLife { life, drive, worn_s } = full_life(resolved.plan.clone(), &options, tick)?;
    // No error of laps.
    let sources = Sources { waf_error: drive.waf.waf.map(|_| 0.0), parts };
    let alike = without_drive(resolved, pass, (drive.waf.waf.unwrap_or(1.0), None), None);
    let interval = match (interval, sources.factors(resolved)) {
        (false, _) => None,
        (true, None) => life_interval::interval(resolved, (&life, &life), None, &sources),
        (true, Some([most, least])) => {
            // The middle differs from the life without a drive.
            let mut later = |_: f64| tick(1.0);
            let middle = lived(&alike.scaled(1.0), &mut later)?;
            let ends = [
                life_interval::end(&alike, most, &mut later)?,
                life_interval::end(&alike, least, &mut later)?,
            ];
            life_interval::interval(resolved, (&life, &middle), Some(&ends), &sources)
        }
    };
    let close_up = match timed_plan {
        None => None,
        Some(timed_plan) => {
            let wanted = close_up_plan(timed_plan, pass, u64::from(resolved.forecast.close_up_requests));
            close_up_without_laps(pass, &wanted, &mut |_| tick(1.0))?
        }
    };
    Ok(Lived { life, drive: Some(drive), worn_s, ends: None, middle: None, interval, close_up })
}

fn go_through(
    resolved: &Resolved,
    known: Known<'_>,
    detail_ns: Option<(u64, u64)>,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Lived> {
    let life = lived(&without_laps(resolved, known, detail_ns), tick)?;
    Ok(Lived {
        life,
        drive: None,
        worn_s: [None; 2],
        ends: None,
        middle: None,
        interval: None,
        close_up: None,
    })
}

/// Returns a life by the measurements of laps.
fn without_laps<'a>(
    resolved: &Resolved,
    (pass, laps, _): Known<'a>,
    detail_ns: Option<(u64, u64)>,
) -> Life<'a> {
    // Under a manager, the one of a drive without active schemes.
    let waf = waf(resolved, pass, laps.all().first()).unwrap_or(1.0);
    let lumps = laps.once().and_then(|laps| laps.lumps.as_ref());
    Life { lumps, ..without_drive(resolved, pass, (waf, reduction(pass, laps)), detail_ns) }
}

/// Returns the sources of a life's interval by the measurements of laps.
fn sources<'a>(resolved: &Resolved, (pass, laps, parts): Known<'a>) -> Sources<'a> {
    let waf_error = laps.all().iter().map(|laps| waf_error(resolved, pass, laps)).reduce(f64::max);
    Sources { waf_error, parts }
}
