//! Idle time: jobs take steps between the completion of one host request and the arrival of the next.
//!
//! A step moves one page (under superblock scope one page per die) or erases the source. The next step is issued once
//! the previous one is complete and no request has arrived: a request waits for at most one page, or for one erase.
//! Where contexts predict, steps begin early after those that long idle periods follow, and none begins that might last
//! beyond the predicted end.
//!
//! The FTL offers `background_step`; it does not model time.

use super::clock::Clock;
use super::idle_prediction::IdlePrediction;
use crate::drive::Drive;
use crate::plan::{Background, Plan};
use floatgate_base::DomainId;
use floatgate_flash::Timed;
use floatgate_ftl::Failure;
use serde::{Deserialize, Serialize};

/// Idle time of a run, and the use of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleCounts {
    /// Idle periods: from the completion of the last host request to the arrival of the next.
    pub periods: u64,
    /// Their sum.
    pub idle_ns: u128,
    /// Periods in which jobs took steps.
    pub used: u64,
    /// Requests that arrived while a job's step was under way.
    pub delayed: u64,
    /// Requests with a context, and all.
    pub with_context: u64,
    /// All requests.
    pub requests: u64,
    /// Periods that were predicted to be long; those of them that were; and requests delayed after the others.
    pub predicted: u64,
    /// Long ones of these.
    pub predicted_long: u64,
    /// Requests delayed after wrong predictions.
    pub mispredicted_delayed: u64,
    /// Long periods that were not predicted.
    pub missed: u64,
    /// Sum of the predicted lengths, and of their parts that were idle.
    pub predicted_ns: u128,
    /// Idle parts of these.
    pub predicted_idle_ns: u128,
}

/// Jobs in idle time.
#[derive(Clone, Debug)]
pub(crate) struct Idle {
    settings: Background,
    /// The longest step by nominal times.
    step_ns: u64,
    pub prediction: Option<IdlePrediction>,
    pub counts: IdleCounts,
}

/// When jobs may begin steps in an idle period: until the end of the prediction, and from `again_ns` on.
struct Window {
    from_ns: u64,
    /// None for no end.
    predicted_ns: Option<u64>,
    last_begin_ns: u64,
    again_ns: u64,
}

impl Idle {
    /// Creates it for a plan; None without jobs in idle time.
    pub fn of(plan: &Plan) -> Option<Self> {
        let timing = &plan.drive.timing;
        // The slowest mode of erases.
        let [program, erase] = plan.ftl.setup.dpes.map_or([1.0; 2], |dpes| dpes.slowest());
        let move_us = timing.mean_read_us() + timing.mean_program_us() * program;
        plan.background().map(|settings| Self {
            settings,
            step_ns: ((timing.erase_us * erase).max(move_us) * 1e3).ceil() as u64,
            prediction: settings.by_context.map(IdlePrediction::new),
            counts: IdleCounts::default(),
        })
    }

    /// Returns the state for a snapshot. Destructured without `..`: the compiler rejects a forgotten field.
    pub fn saved(&self) -> (&IdleCounts, Option<&IdlePrediction>) {
        let Self {
            counts,
            prediction,
            // From the plan.
            settings: _,
            step_ns: _,
        } = self;
        (counts, prediction.as_ref())
    }

    /// Restores a saved state; returns false if it is of another plan.
    pub fn restore(&mut self, (counts, prediction): (IdleCounts, Option<IdlePrediction>)) -> bool {
        let fits = match (self.settings.by_context, &prediction) {
            (None, None) => true,
            (Some(settings), Some(prediction)) => prediction.fits(settings),
            _ => false,
        };
        (self.counts, self.prediction) = (counts, prediction);
        fits
    }

    /// Notes the context of an arriving request; 0 for none.
    #[inline]
    pub fn sees(&mut self, context: u32) {
        self.counts.requests += 1;
        self.counts.with_context += u64::from(context != 0);
        if let Some(prediction) = &mut self.prediction {
            prediction.sees(context);
        }
    }

    /// Lets jobs work while the array is idle before `until_ns`, the arrival of the next request.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn work_until(
        &mut self,
        drive: &mut Drive<Timed>,
        clock: &mut Clock,
        until_ns: u64,
    ) -> Result<(), Failure> {
        let timed = drive.array.back_end_mut();
        while timed.host_is_busy() && timed.next_ns() < until_ns {
            timed.advance(timed.next_ns());
        }
        if timed.host_is_busy() {
            return Ok(());
        }
        let from_ns = timed.idle_from_ns();
        if clock.watches_reclaims() {
            // Reads completed before a reclaim begins are not reads during it.
            clock.collect_until(timed, from_ns.min(until_ns));
        }
        if from_ns >= until_ns {
            return Ok(());
        }
        let window = self.window(from_ns);
        let used = self.work(drive, &window, from_ns, until_ns)?;
        let timed = drive.array.back_end();
        let delayed = used && DomainId::all(drive.ftl.domains()).any(|domain| !timed.job_is_idle(domain));
        self.count(until_ns - from_ns, window.predicted_ns, (used, delayed));
        Ok(())
    }

    /// Lets jobs work in a window of an idle period that began at `from_ns`. Once a burst is over, collection may
    /// prepare for the next one. Returns whether a job worked.
    fn work(
        &self,
        drive: &mut Drive<Timed>,
        window: &Window,
        from_ns: u64,
        until_ns: u64,
    ) -> Result<bool, Failure> {
        let over_ns = self.settings.burst_gap_ns.map(|gap_ns| from_ns.saturating_add(gap_ns));
        let Some(over_ns) = over_ns.filter(|&over_ns| over_ns < until_ns) else {
            return self.steps(drive, window, window.from_ns, until_ns);
        };
        let before = self.steps(drive, window, window.from_ns, over_ns)?;
        drive.ftl.burst_ends();
        let after = self.steps(drive, window, window.from_ns.max(over_ns), until_ns)?;
        Ok(before || after)
    }

    /// Decides at the beginning of an idle period when jobs may work in it.
    fn window(&self, from_ns: u64) -> Window {
        let Self { settings, step_ns, prediction, .. } = self;
        let predicted_ns = prediction.as_ref().and_then(IdlePrediction::predict);
        let waiting = from_ns.saturating_add(settings.idle_ns);
        match predicted_ns {
            None => Window { from_ns: waiting, predicted_ns, last_begin_ns: u64::MAX, again_ns: u64::MAX },
            Some(length_ns) => Window {
                from_ns: from_ns.saturating_add(self.settle_ns()),
                predicted_ns,
                last_begin_ns: from_ns.saturating_add(length_ns.saturating_sub(*step_ns)),
                again_ns: waiting.saturating_add(length_ns),
            },
        }
    }

    /// Returns the length from which on a gap between requests is an idle period.
    fn settle_ns(&self) -> u64 {
        self.settings.by_context.map_or(0, |by| by.settle_ns)
    }

    /// Lets jobs take steps in a window from `now_ns` until before `until_ns`; returns whether any did.
    fn steps(
        &self,
        drive: &mut Drive<Timed>,
        window: &Window,
        mut now_ns: u64,
        until_ns: u64,
    ) -> Result<bool, Failure> {
        let mut used = false;
        if !drive.ftl.wants_background() {
            return Ok(used);
        }
        while now_ns < until_ns {
            if now_ns > window.last_begin_ns && now_ns < window.again_ns {
                now_ns = window.again_ns;
                continue;
            }
            let mut working = false;
            for domain in DomainId::all(drive.ftl.domains()) {
                let timed = drive.array.back_end_mut();
                timed.advance(now_ns);
                if !timed.job_is_idle(domain) {
                    working = true;
                } else if drive.ftl.wants_background_in(domain) {
                    working |= drive.background_step(domain)?;
                }
            }
            if !working {
                break;
            }
            used = true;
            now_ns = drive.array.back_end().next_ns();
        }
        Ok(used)
    }

    /// Counts an idle period, and learns from it.
    fn count(&mut self, length_ns: u64, predicted_ns: Option<u64>, (used, delayed): (bool, bool)) {
        let Self { counts, prediction, settings, .. } = self;
        counts.periods += 1;
        counts.idle_ns += u128::from(length_ns);
        counts.used += u64::from(used);
        counts.delayed += u64::from(delayed);
        let Some((prediction, by)) = prediction.as_mut().zip(settings.by_context) else { return };
        if length_ns < by.settle_ns {
            return;
        }
        let is_long = length_ns >= by.long_ns;
        match predicted_ns {
            None => counts.missed += u64::from(is_long),
            Some(predicted_ns) => {
                counts.predicted += 1;
                counts.predicted_long += u64::from(is_long);
                counts.predicted_ns += u128::from(predicted_ns);
                counts.predicted_idle_ns += u128::from(predicted_ns.min(length_ns));
                counts.mispredicted_delayed += u64::from(delayed && length_ns < predicted_ns);
            }
        }
        prediction.learn(length_ns);
    }
}
