//! Starts jobs that policies request when they are notified, and jobs in idle time.

use super::job::{Job, Step};
use super::request::{DriveView, StartsJobs, Urgency};
use crate::ftl::Ftl;
use crate::setup::Failure;
use floatgate_base::DomainId;
use floatgate_flash::{Flash, Scope};

impl Ftl {
    /// Executes or queues the jobs that read disturb and wear-leveling request.
    #[inline(always)]
    pub(crate) fn start_requested<F: Flash>(&mut self, flash: &mut F) -> Result<(), Failure> {
        if let Some(reclaiming) = &self.reclaiming
            && !reclaiming.reached.is_empty()
        {
            self.act_on_reads(flash)?;
        }
        match &self.leveling {
            Some(leveling) if !leveling.asking.is_empty() => self.start_leveling(flash),
            _ => Ok(()),
        }
    }

    #[cold]
    fn start_leveling<F: Flash>(&mut self, flash: &mut F) -> Result<(), Failure> {
        while let Some(domain) = self.leveling.as_mut().and_then(|leveling| leveling.asking.pop()) {
            loop {
                let mut view = DriveView {
                    layout: &self.layout,
                    units: &mut self.units,
                    erases: flash.erase_counts(),
                    now: self.now,
                    logical_pages: self.setup.logical_pages,
                    mapping: &self.mapping,
                    free: &self.free,
                };
                let wanted =
                    self.leveling.as_mut().and_then(|leveling| leveling.next_request(&mut view, domain));
                let Some(request) = wanted else { break };
                if !self.request(flash, request)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Checks whether any domain has work for idle time.
    #[must_use]
    pub fn wants_background(&self) -> bool {
        DomainId::all(self.layout.domains()).any(|domain| self.wants_background_in(domain))
    }

    /// Checks whether a domain has work for idle time: a waiting job, or too few free units.
    #[must_use]
    pub fn wants_background_in(&self, domain: DomainId) -> bool {
        !self.jobs[domain].is_empty() || self.wants_collection(domain)
    }

    /// Checks whether free units run low, and collection gained something when last tried.
    fn wants_collection(&self, domain: DomainId) -> bool {
        self.free[domain].len() < self.idle_goal(domain) && self.futile_at[domain] != Some(self.now)
    }

    /// Returns the job that idle time continues.
    fn background_job<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> Option<Box<Job>> {
        let waiting = self.jobs[domain].urgency();
        let behind = waiting.is_none_or(|urgency| urgency > Urgency::Collection);
        let collects = waiting.is_none() || self.wants_collection(domain);
        let need = self.need(domain);
        let job = if behind && collects { self.next_victim(flash, domain, need) } else { None };
        let mut job = job.or_else(|| self.jobs[domain].pop())?;
        // Until it is urgent, it leaves these units free.
        job.leave_free = self.setup.trigger_free_units;
        Some(job)
    }

    /// Takes a step of a job in idle time: moves its next page (under superblock scope the next page of each die), or
    /// erases a source. Begins a job if none is in progress. Returns false if nothing is gained, or the free units left
    /// are reserved for the host.
    ///
    /// # Errors
    /// When a moved page finds no free page.
    pub fn background_step<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> Result<bool, Failure> {
        self.free_pages.advance(self.now);
        // Open units may be closed before a victim is chosen.
        flash.in_background(true);
        let job = self.background_job(flash, domain);
        flash.in_background(false);
        let Some(mut job) = job else {
            self.futile_at[domain] = Some(self.now);
            return Ok(false);
        };
        let pages = match self.layout.scope() {
            Scope::Plane => 1,
            Scope::Superblock => self.layout.geometry().dies(),
        };
        flash.in_background(true);
        let step = self.step(flash, &mut job, pages);
        self.end_burst();
        flash.in_background(false);
        let step = step?;
        if step != Step::Done {
            self.jobs[domain].put_back(job);
        }
        self.start_requested(flash)?;
        Ok(step != Step::Stalled)
    }
}
