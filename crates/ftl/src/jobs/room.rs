//! Free units that jobs need, and whether enough are free.

use super::job::Job;
use super::request::{Order, Planned, Request, Target, Urgency};
use crate::ftl::Ftl;
use crate::units::{Frontier, NO_UNIT};
use floatgate_base::{DomainId, UnitId};
use floatgate_flash::Layout;

impl Request {
    /// Returns the domain that must provide two free units, if the request deals the pages of two sources out to two
    /// targets.
    fn domain_of_two_targets(&self) -> Option<DomainId> {
        match self.targets {
            [Target::Own { domain, .. }, Target::Own { domain: second, .. }] => {
                (self.sources[1] != NO_UNIT && domain == second).then_some(domain)
            }
            _ => None,
        }
    }

    /// Reduces the request to its first source and one target.
    pub(super) fn keep_to_first_source(&mut self, layout: &Layout) {
        self.sources[1] = NO_UNIT;
        if let Order::Listed(planned) = &mut self.order {
            let source = self.sources[0];
            let of_source = planned.iter().filter(|planned| layout.unit_of(planned.page) == source);
            *planned = of_source.map(|planned| Planned { target: 0, ..*planned }).collect();
        }
    }
}

/// Returns how many pages of a source each target receives: both units of a set share them.
pub(super) fn pages_to_each(targets: &[Target; 2], pages: u32) -> u32 {
    if matches!(targets[1], Target::Set { .. }) { pages.div_ceil(2) } else { pages }
}

impl Ftl {
    /// Checks whether too few units are free for a request that fills two. Its first source is erased only after the
    /// pages of both have moved, hence all of them must find room first. A request with one source only needs one free
    /// unit.
    pub(super) fn lacks_targets(&self, request: &Request) -> bool {
        let reserve = self.setup.separate.reserve();
        request.domain_of_two_targets().is_some_and(|domain| self.free[domain].len() < reserve + 2)
    }

    /// Returns the free units that a leveling job needs in its domain for collection to continue after it.
    pub(super) fn needed_for_leveling(&self, job: &Job) -> u32 {
        let reserve = self.setup.separate.reserve();
        let Target::Streams { domain } = job.request.targets[0] else { return reserve.max(1) };
        let pages = job.request.all_sources().map(|unit| self.units.meta[unit].valid).sum();
        (reserve + self.units_opened_at_most(domain, pages)).saturating_sub(1).max(reserve).max(1)
    }

    /// Returns the most units that can be opened when `pages` pages of any streams join the open units of a domain.
    fn units_opened_at_most(&self, domain: DomainId, pages: u32) -> u32 {
        let moved = Frontier::slot(&self.layout, self.setup.separate.fixed_streams().1, domain);
        if self.separation.is_none() {
            return u32::from(self.frontiers[moved].room() < pages);
        }
        let mut rooms: Vec<u32> = self.open_rooms(domain).collect();
        rooms.sort_unstable();
        // Worst case: as many streams as possible exceed the room of their units by one page.
        let mut left = pages;
        rooms
            .into_iter()
            .take_while(|&room| left.checked_sub(room + 1).map(|rest| left = rest).is_some())
            .count() as u32
    }

    /// Checks whether the first patient job of a domain fills two units and waits for them.
    pub(crate) fn mixing_job_waits(&self, domain: DomainId) -> bool {
        self.jobs[domain].patient().is_some_and(|job| !job.begun && self.lacks_targets(&job.request))
    }

    /// Yields the domains in which a job needs a unit for a set, or for wear-leveling, beyond those it has open.
    pub(crate) fn domains_of_new_units(&self, job: &Job) -> impl Iterator<Item = DomainId> + '_ {
        let valid = |unit: UnitId| self.units.meta[unit].valid;
        let pages: u32 = match job.begun {
            true => job.held().map(valid).sum(),
            false => job.request.all_sources().map(valid).sum(),
        };
        let targets = job.request.targets;
        let to_each = pages_to_each(&targets, pages);
        let open = job.targets.map(|target| target.room());
        let levels = job.request.urgency == Urgency::Leveling;
        targets.into_iter().zip(open).enumerate().filter_map(move |(to, (target, open))| match target {
            Target::Set { id, side, domain, .. } if open + self.room_in_set(id, side) < to_each => {
                Some(domain)
            }
            Target::Own { domain, .. } if levels && to == 0 && open < to_each => Some(domain),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setup;
    use crate::pool::Want;
    use floatgate_base::Ppn;
    use floatgate_flash::{Cause, Scope};
    use floatgate_nand::Geometry;

    #[test]
    fn wear_leveling_needs_a_unit_for_its_first_target_if_that_lacks_room() {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 8,
            page_bytes: 4096,
        };
        let mut ftl = Ftl::new(Layout::new(geometry, Scope::Plane), Setup::plain(32));
        let (unit, domain) = (UnitId(3), DomainId(0));
        ftl.units.meta[unit].valid = 5;
        let own = Target::Own { domain, want: Want::Next, mode: 0, kept: false };
        let job = |targets, urgency, room: u32| {
            let request = Request { targets, ..Request::emptying(unit, domain, Cause::Level, urgency) };
            let mut job = Job::waiting(request, &ftl.units);
            job.targets = [Frontier { next: Ppn(8), end: Ppn(8 + room), unit: UnitId(1) }; 2];
            job
        };
        let needed = |targets, urgency, room| ftl.domains_of_new_units(&job(targets, urgency, room)).count();
        assert_eq!(needed([own, own], Urgency::Leveling, 4), 1);
        assert_eq!(needed([own, own], Urgency::Leveling, 5), 0);
        assert_eq!(needed([own, own], Urgency::Proactive, 4), 0);
        assert_eq!(needed([Target::Streams { domain }; 2], Urgency::Leveling, 0), 0);
        // The five pages are dealt out to two units.
        let set = [0, 1].map(|side| Target::Set { id: 1, side, domain, want: Want::Next });
        assert_eq!([2, 3].map(|room| needed(set, Urgency::Leveling, room)), [2, 0]);
    }
}
