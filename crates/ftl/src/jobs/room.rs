//! Room for jobs: what is collected before one begins, and which begun ones the host waits for.

use super::job::Job;
use super::request::{Order, Planned, Request, Target, Urgency};
use crate::ftl::Ftl;
use crate::setup::Failure;
use crate::units::NO_UNIT;
use floatgate_base::{DomainId, UnitId};
use floatgate_flash::{Flash, Layout};

impl Request {
    /// The domain whose free units the request takes two of, if it deals the pages of two sources out to two.
    fn takes_two_of(&self) -> Option<DomainId> {
        match self.targets {
            [Target::Own { domain, .. }, Target::Own { domain: second, .. }] => {
                (self.sources[1] != NO_UNIT && domain == second).then_some(domain)
            }
            _ => None,
        }
    }

    /// Only the first source is emptied, into one unit.
    pub(super) fn keep_to_first_source(&mut self, layout: &Layout) {
        self.sources[1] = NO_UNIT;
        if let Order::Given(planned) = &mut self.order {
            let source = self.sources[0];
            let of_source = planned.iter().filter(|planned| layout.unit_of(planned.page) == source);
            *planned = of_source.map(|planned| Planned { target: 0, ..*planned }).collect();
        }
    }
}

/// How many of the pages that leave a unit come to each target: they are dealt out to both units of a set.
fn pages_to_each(targets: &[Target; 2], pages: u32) -> u32 {
    if matches!(targets[1], Target::Set { .. }) { pages.div_ceil(2) } else { pages }
}

impl Ftl {
    /// Whether too few units are free for a request that fills two: one source is erased only when the pages of both have moved,
    /// so that all of them must find room first. One source alone always does where a unit is free.
    pub(super) fn lacks_targets(&self, request: &Request) -> bool {
        let reserve = self.setup.separate.reserve();
        request.takes_two_of().is_some_and(|domain| self.free[domain].len() < reserve + 2)
    }

    /// Whether the first patient job of a domain waits for more room than there is.
    pub(crate) fn patient_job_lacks_targets(&self, domain: DomainId) -> bool {
        let Some(job) = self.jobs[domain].patient() else { return false };
        let mut wanted = self.domains_of_new_units(job);
        self.mixing_job_waits(domain) || wanted.any(|domain| !self.can_spare_unit(domain))
    }

    /// Whether that is one which fills two units.
    pub(crate) fn mixing_job_waits(&self, domain: DomainId) -> bool {
        self.jobs[domain].patient().is_some_and(|job| !job.begun && self.lacks_targets(&job.request))
    }

    /// Domains in which a job needs a unit for a set, or for wear-leveling, beside what it has open.
    fn domains_of_new_units(&self, job: &Job) -> impl Iterator<Item = DomainId> + '_ {
        let valid = |unit: UnitId| self.units.meta[unit].valid;
        let pages: u32 = match job.begun {
            true => job.held().map(valid).sum(),
            false => job.request.all_sources().map(valid).sum(),
        };
        let targets = job.request.targets;
        let to_each = pages_to_each(&targets, pages);
        let open = job.targets.map(|target| target.room());
        let levels = job.request.urgency == Urgency::Leveling;
        targets.into_iter().zip(open).enumerate().filter_map(move |(side, (target, open))| match target {
            Target::Set { id, domain, .. } if open + self.room_in_set(id, side) < to_each => Some(domain),
            Target::Own { domain, .. } if levels && side == 0 && open < to_each => Some(domain),
            _ => None,
        })
    }

    /// A unit of a job's own must not be the last free one: collection could move nothing any more.
    pub(super) fn make_room_for<F: Flash>(&mut self, flash: &mut F, job: &Job) -> Result<(), Failure> {
        let reserve = self.setup.separate.reserve();
        let pages: u32 = job.request.all_sources().map(|unit| self.units.meta[unit].valid).sum();
        let to_each = pages_to_each(&job.request.targets, pages);
        for (to, target) in job.request.targets.into_iter().enumerate() {
            let domain = match target {
                Target::Own { domain, .. } => domain,
                Target::Set { id, domain, .. } if self.room_in_set(id, to) < to_each => domain,
                _ => continue,
            };
            // Both may come out of one domain.
            let wanted = if to == 1 && job.request.targets[0] == target { 1 } else { 0 };
            while self.free[domain].len() <= reserve + wanted && self.collect_one(flash, domain)? {}
        }
        Ok(())
    }

    /// Collects one victim in a domain; false if nothing is to be gained.
    pub(crate) fn collect_one<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> Result<bool, Failure> {
        self.free_pages.advance(self.now);
        self.finish_jobs(flash, domain)?;
        let Some(mut job) = self.next_victim(flash, domain) else {
            return Ok(self.give_up_set(flash, domain));
        };
        self.run_to_end(flash, &mut job)?;
        Ok(true)
    }

    /// What a host write that needs room waits for, of the jobs of a domain, is carried out.
    pub(crate) fn finish_jobs<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> Result<(), Failure> {
        while let Some(mut job) = self.pop_for_room(domain) {
            self.run_to_end(flash, &mut job)?;
        }
        Ok(())
    }

    /// The next job of a domain that a host write which needs room waits for. A job under way may still need two units of its
    /// own.
    pub(crate) fn pop_for_room(&mut self, domain: DomainId) -> Option<Job> {
        let last = self.free[domain].len() <= self.setup.separate.reserve() + 2;
        self.jobs[domain].pop_for_room(last)
    }
}
