//! Incremental collection (`ftl.collect.mode`): a job takes a few steps with every host page that a domain takes. No
//! host write waits for whole blocks to move.
//!
//! The pages *at hand* of a domain are those of its free units and the unwritten ones of its open units. A collection
//! job begins when they fall below a target. It ends once the host has written as many pages as the job gains. Pages at
//! hand thus fall by one unit during a job and are back at the old level when its source is erased. The target is
//! chosen to keep their mean equal to that of whole-block collection between trigger and stop level. Pages of the
//! source that die meanwhile are never moved and save steps.
//!
//! Collection of whole blocks stays as the last resort, and is counted (`GcCounters::forced`).

use crate::ahead::LAST_UNITS;
use crate::collect::Need;
use crate::ftl::Ftl;
use crate::jobs::request::{Target, Urgency};
use crate::jobs::{Job, Step};
use crate::setup::Failure;
use crate::units::Frontier;
use floatgate_base::DomainId;
use floatgate_flash::Flash;

/// The speed of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StepPace {
    /// Flash pages that move in the next step.
    flash_pages: u32,
    /// Host pages that the domain takes before the following step.
    wait: u32,
}

impl StepPace {
    /// Returns the faster of two paces.
    fn max(self, other: Self) -> Self {
        let by_speed = |pace: &Self| (pace.flash_pages, std::cmp::Reverse(pace.wait));
        if by_speed(&self) >= by_speed(&other) { self } else { other }
    }

    /// The rest of the job at once.
    const ALL: Self = Self { flash_pages: u32::MAX, wait: 0 };

    /// Spreads work over a number of host pages.
    fn of(work: u64, host_pages: u64) -> Self {
        let work = work.max(1);
        match host_pages {
            0 => Self::ALL,
            host if work >= host => Self { flash_pages: work.div_ceil(host) as u32, wait: 0 },
            host => Self { flash_pages: 1, wait: (host / work - 1) as u32 },
        }
    }
}

impl Ftl {
    /// Takes a step of the domain's jobs after a host page, if one is due.
    #[inline(always)]
    pub(crate) fn step_jobs_if_due<F: Flash>(
        &mut self,
        flash: &mut F,
        domain: DomainId,
    ) -> Result<(), Failure> {
        match &mut self.next_step_in[domain] {
            0 => self.step_jobs(flash, domain),
            wait => {
                *wait -= 1;
                Ok(())
            }
        }
    }

    #[cold]
    fn step_jobs<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> Result<(), Failure> {
        self.free_pages.advance(self.now);
        let mut wait = self.step_collection(flash, domain)?;
        // Other jobs need not hurry: they move one flash page with every host page.
        if !self.patient_job_lacks_targets(domain)
            && let Some(job) = self.jobs[domain].pop_patient()
        {
            // Leveling alone opens no unit that collection may need before this job has freed one.
            if job.request.urgency == Urgency::Leveling && self.free[domain].len() <= LAST_UNITS + 1 {
                self.jobs[domain].put_back(job);
            } else {
                self.go_on(flash, domain, job, 1)?;
            }
            wait = 0;
        }
        self.next_step_in[domain] = wait;
        self.start_requested(flash)
    }

    /// Takes the next step of collection and returns how many host pages the domain takes before the following one. If
    /// a job ends with too few pages at hand, the next begins at once: several victims in a row may gain nothing.
    fn step_collection<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> Result<u32, Failure> {
        loop {
            let at_hand = self.pages_at_hand(domain);
            let Some(mut job) = self.collection_job(flash, domain, at_hand) else {
                return Ok(self.wait_for_collection(domain, at_hand));
            };
            let pace = self.pace(&mut job, domain, at_hand);
            if !self.go_on(flash, domain, job, pace.flash_pages)? {
                return Ok(pace.wait);
            }
        }
    }

    /// Lets a job take a step and returns whether it is done.
    fn go_on<F: Flash>(
        &mut self,
        flash: &mut F,
        domain: DomainId,
        mut job: Box<Job>,
        flash_pages: u32,
    ) -> Result<bool, Failure> {
        job.leave_free = if job.request.urgency == Urgency::Leveling { LAST_UNITS + 1 } else { 0 };
        if flash_pages == StepPace::ALL.flash_pages {
            return self.run_to_end(flash, &mut job).map(|()| true);
        }
        let done = self.step(flash, &mut job, flash_pages)? == Step::Done;
        self.end_burst();
        if !done {
            self.jobs[domain].put_back(job);
        }
        Ok(done)
    }

    /// Returns the collection job in progress in a domain, or begins one because too few pages are at hand.
    fn collection_job<F: Flash>(
        &mut self,
        flash: &mut F,
        domain: DomainId,
        at_hand: u64,
    ) -> Option<Box<Job>> {
        let under_way = self.jobs[domain].pop_pressing();
        let scarce = self.free[domain].len() <= LAST_UNITS;
        match under_way {
            None if scarce || at_hand < self.target_at_hand(domain) => {
                let need = if scarce { Need::Space } else { self.need(domain) };
                self.next_victim(flash, domain, need)
            }
            job => job,
        }
    }

    /// Returns the host pages that a domain may take before it is checked again: each takes one page at hand.
    fn wait_for_collection(&self, domain: DomainId, at_hand: u64) -> u32 {
        u32::try_from(at_hand.saturating_sub(self.target_at_hand(domain))).unwrap_or(u32::MAX)
    }

    /// Checks whether the first patient job of a domain waits for more room than is available.
    fn patient_job_lacks_targets(&self, domain: DomainId) -> bool {
        let Some(job) = self.jobs[domain].patient() else { return false };
        let mut wanted = self.domains_of_new_units(job);
        self.mixing_job_waits(domain) || wanted.any(|domain| !self.can_spare_unit(domain))
    }

    /// Checks whether a leveling job may open a unit in a domain. One unit must be left for each stream that will soon
    /// open its own; two streams are counted here, too.
    fn can_spare_unit(&self, domain: DomainId) -> bool {
        let soon = self.layout.pages_per_unit() / 2;
        let streams = self.open_rooms(domain).filter(|&room| room < soon).take(2).count() as u32;
        let left = self.pages_at_hand(domain).saturating_sub(u64::from(self.layout.pages_per_unit()));
        self.free[domain].len() > LAST_UNITS + streams
            && left >= self.target_at_hand(domain) - u64::from(soon)
    }

    /// Returns the pace at which a job ends in time.
    fn pace(&self, job: &mut Job, domain: DomainId, at_hand: u64) -> StepPace {
        let unit = i64::from(self.layout.pages_per_unit());
        let at_hand = at_hand.cast_signed();
        let moves = i64::from(self.units.meta[job.source()].valid);
        // Pages that move into the unit just emptied take no pages at hand.
        let taken = if job.request.targets[0] == Target::Emptied { 0 } else { moves };
        let floor = *job.floor.get_or_insert_with(|| {
            let gain = unit - moves;
            let behind = self.target_at_hand(domain).cast_signed() - at_hand;
            at_hand - unit + behind.clamp(-gain / 2, gain / 2)
        });
        let host = u64::try_from(at_hand - floor - taken).unwrap_or(0);
        let pace = StepPace::of(self.work_left(job), host);
        self.pressing_pace(job, domain, floor).map_or(pace, |pressing| pace.max(pressing))
    }

    /// Returns the pace that yields one more free unit by the time a stream opens its next, if the host would have too
    /// few.
    ///
    /// Pages at hand do not say how many units are free when many streams open units at about the same time. Nor do
    /// they when wear-leveling has taken a unit, and the job ends with less at hand than a unit for each of two
    /// streams.
    fn pressing_pace(&self, job: &Job, domain: DomainId, floor: i64) -> Option<StepPace> {
        let free = self.free[domain].len();
        let units_of_streams = self.setup.separate.streams().min(2) * self.layout.pages_per_unit();
        let short = self.leveling.is_some() && floor < i64::from(units_of_streams);
        if !(short || self.separation.is_some()) || free > LAST_UNITS + 1 {
            return None;
        }
        let host = match &self.separation {
            Some(_) => self.open_rooms(domain).filter(|&room| room > 0).min().unwrap_or(0),
            None => self.frontiers
                [Frontier::slot(&self.layout, self.setup.separate.fixed_streams().0, domain)]
            .room(),
        };
        // If the moves themselves take a free unit, the following job must be done in time, too.
        let more = if free > LAST_UNITS { 0 } else { self.work_of_a_victim() };
        Some(StepPace::of(self.work_left(job) + more, host.into()))
    }

    /// Returns the flash pages that collecting a unit moves, averaged so far, plus a step for its erase.
    fn work_of_a_victim(&self) -> u64 {
        let pages = self.gc.copied_pages / self.gc.victims.max(1);
        pages / u64::from(self.layout.subpages()) + 1
    }

    /// Returns the most flash pages that a job has yet to move, plus a step for each erase.
    fn work_left(&self, job: &Job) -> u64 {
        let per_flash_page = u64::from(self.layout.subpages());
        let of_unit = u64::from(self.layout.pages_per_unit()) / per_flash_page;
        job.held().map(|unit| u64::from(self.units.meta[unit].valid).min(of_unit) + 1).sum()
    }
}
