//! Makes replicas, page by page, at the ends of closed units or in free ones.

use crate::ftl::Ftl;
use crate::jobs::{Job, Order, Planned, Step};
use crate::owners::Replica;
use crate::pool::Want;
use floatgate_base::{DomainId, Owner, SideKind, UnitId};
use floatgate_flash::{Cause, Flash};

impl Ftl {
    /// Makes up to `pages_max` replicas. The source stays unchanged. A job whose source has been closed or erased
    /// meanwhile has nothing left to do.
    #[cold]
    pub(crate) fn step_replicas<F: Flash>(&mut self, flash: &mut F, job: &mut Job, pages_max: u32) -> Step {
        let source = job.source();
        if self.mapping.replicas().is_none() || self.units.closed_at[source] != job.closed_at[0] {
            return Step::Done;
        }
        let Job { request, next, .. } = job;
        let Order::Listed(planned) = &request.order else { return Step::Done };
        let mut made = 0;
        while let Some(&Planned { page, .. }) = planned.get(*next as usize) {
            if made == pages_max {
                return Step::Moved;
            }
            *next += 1;
            // The page may have died, or may already have a replica.
            let Some(lpn) = self.mapping.owner_of(page).lpn().filter(|_| self.mapping.is_live(page)) else {
                continue;
            };
            if self.reclaiming().is_due(source) {
                break;
            }
            let Self { reclaiming, layout, units, mapping, .. } = self;
            let Some(reclaiming) = reclaiming else { break };
            let holder = reclaiming.holder((&*layout, &*units, &*mapping), source);
            let Some(holder) = holder.or_else(|| self.open_holder(source)) else {
                let left = u64::from(planned.len() as u32 - *next + 1);
                self.reclaiming().counters.replicas_refused += left;
                break;
            };
            let Self { reclaiming, layout, mapping, .. } = self;
            let Some(reclaiming) = reclaiming else { break };
            let replica = reclaiming.tails.take(layout, holder);
            reclaiming.read_by_job(layout, page);
            reclaiming.add_to_burst(1, 0, 0);
            let entry = mapping.replicate(layout, Replica { lpn, original: page, replica });
            flash.copy(page, replica, Owner::side(SideKind::Replicated, entry), Cause::Replica);
            made += 1;
        }
        Step::Done
    }

    /// Returns the domain whose free units take replicas: the one with most of them, of several the first.
    pub(super) fn domain_of_holders(&self) -> DomainId {
        let domains = DomainId::all(self.layout.domains());
        let most = domains.max_by_key(|&domain| (self.free[domain].len(), std::cmp::Reverse(domain)));
        most.expect("a drive has a domain")
    }

    /// Opens a free unit for replicas only, as many as a tail holds, and closes it at once: it holds no valid page, and
    /// its other pages are lost until it is erased. None if the manager takes no free units, or the last ones are left.
    #[cold]
    fn open_holder(&mut self, source: UnitId) -> Option<UnitId> {
        let domain = self.domain_of_holders();
        let last = self.free[domain].len() <= self.setup.separate.reserve().max(1);
        if last || !self.reclaiming().opens_holders() {
            return None;
        }
        let unit = self.free[domain].take(Want::Next)?;
        self.free_pages.take(u64::from(self.layout.pages_per_unit()));
        self.units.meta[unit].valid = 0;
        let reclaiming = self.reclaiming();
        reclaiming.tails.opened(unit, true);
        reclaiming.tails.closed(unit, 0);
        self.enter_closed(unit);
        let Self { reclaiming, layout, units, mapping, .. } = self;
        // The manager has its turns: the unit is the only one in its pool, unless the source is, too.
        reclaiming.as_mut()?.holder((&*layout, &*units, &*mapping), source)
    }
}
