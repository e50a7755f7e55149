//! What a forecast goes by when its object is built, and the write amplification that follows from it.

use crate::close_up::InTime;
use crate::life_interval::{Interval, Parts};
use crate::lifetime_laps::Measured;
use floatgate_config::Resolved;
use floatgate_lifetime::SECONDS_PER_YEAR;
use floatgate_lifetime::life::{Method, Outcome};
use floatgate_sim::close_up::CloseUp;
use floatgate_sim::laps::Laps;
use floatgate_sim::reading::pass::Pass;

/// What a forecast goes by.
pub(crate) struct Found<'a> {
    pub resolved: &'a Resolved,
    pub pass: &'a Pass,
    /// Full, windows or requests.
    pub method: Method,
    /// None where the drive itself was there.
    pub laps: Option<&'a Measured>,
    pub life: &'a Outcome,
    /// The drive at the end, where there was one.
    pub drive: Option<&'a floatgate_sim::Outcome>,
    /// When the first block had its cycles, and the first one beyond the reserve of spare blocks, seconds, where that was seen.
    pub worn_s: [Option<f64>; 2],
    /// How it looks in timed mode, or why that is not known.
    pub in_time: &'a InTime,
    /// What was seen of it there, where its laps do not tell.
    pub close_up: Option<&'a CloseUp>,
    /// Days or hours of the pass, where it has enough of them.
    pub parts: Option<&'a Parts>,
    /// How far off the life may be, where that is known.
    pub interval: Option<&'a Interval>,
}

/// Flash programs for each host page write: as given, as measured, or none where nothing is written.
pub(crate) fn waf(resolved: &Resolved, pass: &Pass, laps: Option<&Laps>) -> Option<f64> {
    let pages = pass.host.page_writes as f64 * f64::from(resolved.plan.drive.geometry.page_bytes);
    let of_bytes = resolved.forecast.waf_of_bytes.filter(|_| pages > 0.0);
    let by_pages = of_bytes.map(|waf| waf * pass.host.write_bytes as f64 / pages);
    let measured = laps.map(|laps| laps.waf_over(programs_of_life(resolved, pass, laps.waf)));
    resolved.forecast.waf.or(by_pages).or(measured)
}

/// How far off the write amplification of the laps may be over a life, relative.
pub(crate) fn waf_error(resolved: &Resolved, pass: &Pass, laps: &Laps) -> f64 {
    laps.waf_error_over(programs_of_life(resolved, pass, laps.waf))
}

/// Page programs of a life, about: what the cycles stand, or what is written until the target.
fn programs_of_life(resolved: &Resolved, pass: &Pass, waf: f64) -> f64 {
    let plan = &resolved.plan;
    let cycles = (f64::from(plan.drive.endurance.pe_cycles()) - resolved.forecast.cycles_used).max(0.0);
    let passes = plan.throttle.target_years * SECONDS_PER_YEAR * 1e9 / pass.demand.period_ns().max(1) as f64;
    (cycles * plan.drive.geometry.pages() as f64).min(passes * pass.demand.pages() as f64 * waf)
}

impl Found<'_> {
    /// The laps that the life went by; of a managed drive those of the choice that most epochs had.
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

    /// What was seen of the drive in timed mode.
    pub fn close_up(&self) -> Option<&CloseUp> {
        self.close_up.or_else(|| self.laps()?.close_up.as_ref())
    }

    /// Write amplification of the life; none where nothing is written.
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
