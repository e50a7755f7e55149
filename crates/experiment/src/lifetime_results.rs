//! Results of a forecast, and its write amplification.

use crate::close_up::TimedPlan;
use crate::life_interval::{Interval, Parts};
use crate::lifetime_laps::Measured;
use floatgate_config::Resolved;
use floatgate_lifetime::SECONDS_PER_YEAR;
use floatgate_lifetime::life::{Method, Outcome};
use floatgate_sim::close_up::CloseUp;
use floatgate_sim::laps::Laps;
use floatgate_sim::reading::pass::Pass;

/// Results of a forecast, from which its object is built.
pub(crate) struct LifeResults<'a> {
    pub resolved: &'a Resolved,
    pub pass: &'a Pass,
    /// Full, windows or requests.
    pub method: Method,
    /// None if the drive itself was simulated.
    pub laps: Option<&'a Measured>,
    pub life: &'a Outcome,
    /// The drive at the end, if it was simulated.
    pub drive: Option<&'a floatgate_sim::Outcome>,
    /// Seconds until the first block used up its cycles, and until the first one beyond the reserve of spare blocks
    /// did, if that happened.
    pub worn_s: [Option<f64>; 2],
    /// The plan in timed mode, or the reason for its absence.
    pub timed_plan: &'a TimedPlan,
    /// The close-up, if it is not among the results of laps.
    pub close_up: Option<&'a CloseUp>,
    /// Days or hours of the pass, if it has enough of them.
    pub parts: Option<&'a Parts>,
    /// Interval of the life, if known.
    pub interval: Option<&'a Interval>,
}

/// Returns the flash programs per host page write: as configured, as measured, or None if nothing is written.
pub(crate) fn waf(resolved: &Resolved, pass: &Pass, laps: Option<&Laps>) -> Option<f64> {
    let pages = pass.host.page_writes as f64 * f64::from(resolved.plan.drive.geometry.page_bytes);
    let of_bytes = resolved.forecast.waf_of_bytes.filter(|_| pages > 0.0);
    let by_pages = of_bytes.map(|waf| waf * pass.host.write_bytes as f64 / pages);
    let measured = laps.map(|laps| laps.waf_over(programs_of_life(resolved, pass, laps.waf)));
    resolved.forecast.waf.or(by_pages).or(measured)
}

/// Returns the relative error of the laps' write amplification over a life.
pub(crate) fn waf_error(resolved: &Resolved, pass: &Pass, laps: &Laps) -> f64 {
    laps.waf_error_over(programs_of_life(resolved, pass, laps.waf))
}

/// Estimates the page programs of a life: the endurance, or the writes until the target.
fn programs_of_life(resolved: &Resolved, pass: &Pass, waf: f64) -> f64 {
    let plan = &resolved.plan;
    let cycles = (plan.drive.endurance.rated_erases() - resolved.forecast.cycles_used).max(0.0);
    let passes = plan.throttle.target_years * SECONDS_PER_YEAR * 1e9 / pass.demand.period_ns().max(1) as f64;
    (cycles * plan.drive.geometry.pages() as f64).min(passes * pass.demand.pages() as f64 * waf)
}

impl LifeResults<'_> {
    /// Returns the laps of the life; for a managed drive those of the choice with the most epochs.
    pub fn laps(&self) -> Option<&Laps> {
        let by_choice = self.life.decisions.as_ref().map(|decisions| decisions.by_choice);
        match self.laps? {
            Measured::ByChoice(laps) => {
                let epochs = by_choice.unwrap_or_default();
                laps.iter().zip(epochs).max_by_key(|&(_, epochs)| epochs).map(|(laps, _)| laps)
            }
            measured => measured.once(),
        }
    }

    /// Returns the close-up of the drive in timed mode.
    pub fn close_up(&self) -> Option<&CloseUp> {
        self.close_up.or_else(|| self.laps()?.close_up.as_ref())
    }

    /// Returns the write amplification of the life; None if nothing is written.
    pub fn waf(&self) -> Option<f64> {
        match self.drive {
            Some(drive) => drive.waf.waf,
            None => match &self.life.reduced {
                Some(reduced) => (reduced.page_writes > 0.0).then(|| reduced.programs / reduced.page_writes),
                None => waf(self.resolved, self.pass, self.laps()),
            },
        }
    }
}
