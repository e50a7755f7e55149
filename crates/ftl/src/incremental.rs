//! Incremental collection (`ftl.collect.mode`): a job takes a few steps with every host page that a domain takes, so that
//! no host write waits for whole blocks to move.
//!
//! A domain has so many pages *at hand*: those of its free units, and those of its open units that are not written. A job
//! of collection begins when they fall below a target, and is to be done once the host has written as many pages as it
//! gains. So what is at hand falls by one unit while a job goes on and is back where it was when its source is erased; the
//! target is chosen so that the mean is that of whole-block collection between trigger and stop level. What dies in the
//! source meanwhile is never moved, and makes the steps fewer.
//!
//! Collection of whole blocks stays as the last resort, and is counted (`GcCounters::forced`).

use crate::ftl::Ftl;
use crate::jobs::request::{Target, Urgency};
use crate::jobs::{Job, Step};
use crate::setup::Failure;
use crate::units::Frontier;
use floatgate_base::DomainId;
use floatgate_flash::Flash;

/// Free units of a domain that the host leaves alone; one that finds no more waits until whole units are collected.
pub(crate) const LAST_UNITS: u32 = 1;

/// How fast a job goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pace {
    /// Flash pages that move in the next step.
    flash_pages: u32,
    /// Host pages that the domain takes before the step after it.
    wait: u32,
}

impl Pace {
    /// The faster one.
    fn max(self, other: Self) -> Self {
        let by_speed = |pace: &Self| (pace.flash_pages, std::cmp::Reverse(pace.wait));
        if by_speed(&self) >= by_speed(&other) { self } else { other }
    }

    /// All that is left of the job at once.
    const ALL: Self = Self { flash_pages: u32::MAX, wait: 0 };

    /// So much work over so many host pages.
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
    /// A domain has taken a host page: its jobs go on if a step is due.
    #[inline(always)]
    pub(crate) fn keep_stepping<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> Result<(), Failure> {
        match &mut self.next_step_in[domain] {
            0 => self.step_along(flash, domain),
            wait => {
                *wait -= 1;
                Ok(())
            }
        }
    }

    #[cold]
    fn step_along<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> Result<(), Failure> {
        self.free_pages.advance(self.now);
        let mut wait = self.step_collection(flash, domain)?;
        // Other jobs need not hurry: a flash page with every host page.
        if !self.patient_job_lacks_targets(domain)
            && let Some(job) = self.jobs[domain].pop_patient()
        {
            // What only evens wear out takes no room that collection may need before this job has given some back.
            if job.request.urgency == Urgency::Leveling && self.free[domain].len() <= LAST_UNITS + 1 {
                self.jobs[domain].put_back(job);
            } else {
                self.go_on(flash, domain, job, 1)?;
            }
            wait = 0;
        }
        self.next_step_in[domain] = wait;
        self.start_asked(flash)
    }

    /// The next step of collection; how many host pages the domain takes before the one after it. Where a job
    /// ends and too little is at hand still, the next one begins at once: victims that gain nothing may follow one another.
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

    /// Lets a job take a step; whether it is done.
    fn go_on<F: Flash>(
        &mut self,
        flash: &mut F,
        domain: DomainId,
        mut job: Box<Job>,
        flash_pages: u32,
    ) -> Result<bool, Failure> {
        job.leave_free = if job.request.urgency == Urgency::Leveling { LAST_UNITS + 1 } else { 0 };
        if flash_pages == Pace::ALL.flash_pages {
            return self.run_to_end(flash, &mut job).map(|()| true);
        }
        let done = self.step(flash, &mut job, flash_pages)? == Step::Done;
        self.end_burst();
        if !done {
            self.jobs[domain].put_back(job);
        }
        Ok(done)
    }

    /// The job that makes room in a domain: the one under way, or one that begins because too little is at hand.
    fn collection_job<F: Flash>(
        &mut self,
        flash: &mut F,
        domain: DomainId,
        at_hand: u64,
    ) -> Option<Box<Job>> {
        let under_way = self.jobs[domain].pop_pressing();
        let scarce = self.free[domain].len() <= LAST_UNITS;
        match under_way {
            None if scarce || at_hand < self.target_at_hand(domain) => self.next_victim(flash, domain),
            job => job,
        }
    }

    /// Host pages that a domain may take before it is looked at again: what is at hand falls by one with each.
    fn wait_for_collection(&self, domain: DomainId, at_hand: u64) -> u32 {
        u32::try_from(at_hand.saturating_sub(self.target_at_hand(domain))).unwrap_or(u32::MAX)
    }

    /// Pages of a domain that can be written before anything is collected.
    fn pages_at_hand(&self, domain: DomainId) -> u64 {
        let free = u64::from(self.free[domain].len()) * u64::from(self.layout.pages_per_unit());
        free + self.open_rooms(domain).map(u64::from).sum::<u64>()
    }

    /// Pages at hand below which a job begins, so that write amplification is that of whole-block collection, where free
    /// units swing between trigger and stop level and the open units of all streams but one are half full. Half a unit is
    /// added, because what is at hand falls by one during a job; half a unit is taken off, because the dead pages of the
    /// source are spare space out of use.
    ///
    /// One unit and an eighth beyond the open ones are the least: when a job is about to erase its source, which is when
    /// least is at hand, a host that opens a unit then finds two that are free. Many open units seldom have all their room
    /// left, so that two of them are reckoned with.
    fn target_at_hand(&self, domain: DomainId) -> u64 {
        // A job that waits for two units of its own needs one more than the others; where victims gain little that would cost more
        // than it is worth, and the job is done once it cannot wait.
        let unit = u64::from(self.layout.pages_per_unit());
        let gains = self.gc.copied_pages * 4 < self.gc.victims * unit * 3;
        let waited_for = u64::from(gains && self.mixing_job_waits(domain));
        let setup = &self.setup;
        let streams = u64::from(setup.separate.streams());
        let levels = u64::from(setup.trigger_free_units) + u64::from(setup.stop_free_units);
        let eighths = (4 * (levels + streams - 1)).max(8 * streams.min(2) + 9);
        eighths * unit / 8 + waited_for * unit
    }

    /// Whether the first patient job of a domain waits for more room than there is.
    fn patient_job_lacks_targets(&self, domain: DomainId) -> bool {
        let Some(job) = self.jobs[domain].patient() else { return false };
        let mut wanted = self.domains_of_new_units(job);
        self.mixing_job_waits(domain) || wanted.any(|domain| !self.can_spare_unit(domain))
    }

    /// Whether a job of wear-leveling may open a unit in a domain: another one is left for each of the streams that will soon open
    /// theirs, of which two are reckoned with, too.
    fn can_spare_unit(&self, domain: DomainId) -> bool {
        let soon = self.layout.pages_per_unit() / 2;
        let streams = self.open_rooms(domain).filter(|&room| room < soon).take(2).count() as u32;
        let left = self.pages_at_hand(domain).saturating_sub(u64::from(self.layout.pages_per_unit()));
        self.free[domain].len() > LAST_UNITS + streams
            && left >= self.target_at_hand(domain) - u64::from(soon)
    }

    /// The pace at which a job is done in time.
    fn pace(&self, job: &mut Job, domain: DomainId, at_hand: u64) -> Pace {
        let unit = i64::from(self.layout.pages_per_unit());
        let at_hand = at_hand.cast_signed();
        let moves = i64::from(self.units.meta[job.source()].valid);
        // Pages that move into the unit just emptied take nothing of what is at hand.
        let taken = if job.request.targets[0] == Target::Emptied { 0 } else { moves };
        let floor = *job.floor.get_or_insert_with(|| {
            let gain = unit - moves;
            let behind = self.target_at_hand(domain).cast_signed() - at_hand;
            at_hand - unit + behind.clamp(-gain / 2, gain / 2)
        });
        let host = u64::try_from(at_hand - floor - taken).unwrap_or(0);
        let pace = Pace::of(self.work_left(job), host);
        self.pressing_pace(job, domain, floor).map_or(pace, |pressing| pace.max(pressing))
    }

    /// Where many streams may open units at about the same time, what is at hand does not say how many are free; nor where
    /// wear-leveling has taken a unit for itself, and the job ends with less at hand than a unit for each of two streams. If
    /// the host would find too few when a stream opens the next: the pace at which there is one more by then.
    fn pressing_pace(&self, job: &Job, domain: DomainId, floor: i64) -> Option<Pace> {
        let free = self.free[domain].len();
        let units_of_streams = self.setup.separate.streams().min(2) * self.layout.pages_per_unit();
        let short = self.leveling.is_some() && floor < i64::from(units_of_streams);
        if !(short || self.separation.is_some()) || free > LAST_UNITS + 1 {
            return None;
        }
        let host = match &self.separation {
            Some(_) => self.open_rooms(domain).filter(|&room| room > 0).min().unwrap_or(0),
            None => {
                self.frontiers[Frontier::slot(&self.layout, self.setup.separate.blind().0, domain)].room()
            }
        };
        // The moves may take a free unit themselves; then the job after this one must be done, too.
        let more = if free > LAST_UNITS { 0 } else { self.work_of_a_victim() };
        Some(Pace::of(self.work_left(job) + more, host.into()))
    }

    /// Flash pages that collecting a unit moves, on average so far, and the step for its erase.
    fn work_of_a_victim(&self) -> u64 {
        let pages = self.gc.copied_pages / self.gc.victims.max(1);
        pages / u64::from(self.layout.subpages()) + 1
    }

    /// Flash pages that a job is yet to move, at most, and a step for each erase.
    fn work_left(&self, job: &Job) -> u64 {
        let per_flash_page = u64::from(self.layout.subpages());
        let of_unit = u64::from(self.layout.pages_per_unit()) / per_flash_page;
        job.held().map(|unit| u64::from(self.units.meta[unit].valid).min(of_unit) + 1).sum()
    }
}
