//! Room for host pages: which domain takes them, and how free units are made when few are left.
//!
//! Allocation takes the domains in turn. That alone does not balance their live pages: a domain in which collection
//! gains nothing is skipped for a while. The run fails only when all domains are full.

use crate::ahead::LAST_UNITS;
use crate::collect::Need;
use crate::features::Features;
use crate::ftl::Ftl;
use crate::setup::{Allocation, Failure};
use crate::units::{Frontier, NO_UNIT};
use floatgate_base::{DomainId, Lpn, StreamId};
use floatgate_flash::Flash;

/// Turns for which a domain full of valid pages is skipped.
const PASS_OVER_TURNS: u32 = 64;

impl Ftl {
    /// Returns the open unit that takes the next host page of a stream; domains take turns.
    #[inline(always)]
    pub(crate) fn host_frontier<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        stream: StreamId,
        lpn: Lpn,
    ) -> Result<usize, Failure> {
        if S::PACKED && self.layout.is_packed() {
            return self.packed_frontier(flash, stream, lpn);
        }
        let domains = self.layout.domains();
        let domain = match self.setup.allocation {
            Allocation::Dynamic => self.next_domain,
            Allocation::Static => DomainId(lpn.0 % domains),
        };
        self.next_domain = self.layout.domain_after(domain);
        let slot = Frontier::slot(&self.layout, stream, domain);
        let frontier = self.frontiers[slot];
        if frontier.next != frontier.end {
            return Ok(slot);
        }
        self.host_frontier_slow(flash, stream, domain)
    }

    /// Does the same with several pages per flash page: a stream fills one before the next domain's turn.
    fn packed_frontier<F: Flash>(
        &mut self,
        flash: &mut F,
        stream: StreamId,
        lpn: Lpn,
    ) -> Result<usize, Failure> {
        let domains = self.layout.domains();
        let domain = match self.setup.allocation {
            Allocation::Dynamic => {
                let slot = self.filling[stream] as usize;
                if self.layout.left_of_flash_page(self.frontiers[slot].next) > 0
                    && self.frontiers[slot].room() > 0
                {
                    return Ok(slot);
                }
                self.next_domain
            }
            Allocation::Static => DomainId(lpn.0 / self.layout.subpages() % domains),
        };
        self.next_domain = self.layout.domain_after(domain);
        let slot = Frontier::slot(&self.layout, stream, domain);
        let slot = match self.frontiers[slot].room() {
            0 => self.host_frontier_slow(flash, stream, domain)?,
            _ => slot,
        };
        self.filling[stream] = slot as u32;
        Ok(slot)
    }

    /// Returns the open unit of a stream in a domain, outside the turns of domains.
    pub(crate) fn frontier_in<F: Flash>(
        &mut self,
        flash: &mut F,
        stream: StreamId,
        domain: DomainId,
    ) -> Result<usize, Failure> {
        let slot = Frontier::slot(&self.layout, stream, domain);
        if self.frontiers[slot].room() > 0 {
            return Ok(slot);
        }
        let turn = self.next_domain;
        let slot = self.host_frontier_slow(flash, stream, domain);
        self.next_domain = turn;
        slot
    }

    /// Opens a unit in the first domain, starting at `domain`, that has room or can make some.
    #[cold]
    fn host_frontier_slow<F: Flash>(
        &mut self,
        flash: &mut F,
        stream: StreamId,
        domain: DomainId,
    ) -> Result<usize, Failure> {
        if self.counting && !flash.endures_more() {
            return Err(Failure::WornOut);
        }
        let domains = self.layout.domains();
        if self.setup.allocation == Allocation::Static {
            let slot = Frontier::slot(&self.layout, stream, domain);
            if self.make_room(flash, slot, domain)? {
                return Ok(slot);
            }
            // With deduplication, content shared with other domains stays after its own pages are overwritten. A domain
            // may then hold more than its own pages.
            if self.mapping.shared().is_none() {
                return Err(Failure::OutOfFreeBlocks);
            }
        }
        // The last resort tries even the skipped domains.
        for last_resort in [false, true] {
            for d in (domain.0..domains).chain(0..domain.0).map(DomainId) {
                let passed_over = &mut self.pass_over[d];
                if !last_resort && *passed_over > 0 {
                    *passed_over -= 1;
                    continue;
                }
                let slot = Frontier::slot(&self.layout, stream, d);
                if self.make_room(flash, slot, d)? {
                    self.next_domain = self.layout.domain_after(d);
                    return Ok(slot);
                }
                self.pass_over[d] = PASS_OVER_TURNS;
            }
        }
        Err(Failure::OutOfFreeBlocks)
    }

    /// Opens units for a host frontier and collects until it has room. Returns false if the domain can free nothing.
    fn make_room<F: Flash>(&mut self, flash: &mut F, slot: usize, domain: DomainId) -> Result<bool, Failure> {
        let incremental = self.setup.incremental;
        let trigger = if incremental { LAST_UNITS } else { self.setup.trigger_free_units };
        let reserve = if incremental { LAST_UNITS } else { self.setup.separate.reserve() };
        let mut forced = false;
        // Where host and moved pages share a unit, collection may fill the one just opened.
        while self.frontiers[slot].room() == 0 {
            // A job in progress may need the unit that the host would open.
            let scarce = self.free[domain].len() <= trigger;
            if scarce && let Some(mut job) = self.pop_for_room(domain) {
                self.gc.forced += u64::from(!forced);
                forced = true;
                self.free_pages.advance(self.now);
                self.run_to_end(flash, &mut job)?;
                continue;
            }
            if !self.open(slot, domain) {
                return Ok(false);
            }
            self.next_step_in[domain] = 0;
            if self.free[domain].len() < trigger {
                self.gc.forced += u64::from(!forced);
                forced = true;
                self.collect(flash, domain)?;
                self.start_requested(flash)?;
            }
            // While collection gains nothing, keep the last free units: it will need them to move pages.
            let frontier = self.frontiers[slot];
            let untouched =
                frontier.unit != NO_UNIT && frontier.next == self.layout.first_page(frontier.unit);
            if untouched && self.free[domain].len() < reserve {
                self.frontiers[slot] = Frontier::CLOSED;
                self.open_pages.closed(frontier.room(), self.now);
                self.units.meta[frontier.unit].valid = 0;
                self.free[domain].put(frontier.unit, flash.erase_count(frontier.unit));
                if let Some(separation) = &mut self.separation {
                    separation.put_back(Frontier::stream(&self.layout, slot));
                }
                return Ok(false);
            }
        }
        self.deepen_opened(flash, slot);
        Ok(true)
    }

    /// Collects in a domain until its free units reach the stop level or collection gains nothing.
    fn collect<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> Result<(), Failure> {
        self.free_pages.advance(self.now);
        self.finish_jobs(flash, domain)?;
        // Incremental steps along with host writes do the rest.
        let setup = &self.setup;
        let stop = if setup.incremental { LAST_UNITS } else { setup.stop_free_units };
        while self.free[domain].len() < stop {
            let need = self.need(domain);
            let Some(mut job) = self.next_victim(flash, domain, need) else {
                // A unit left open for another job can be collected once it is closed.
                let waits = need == Need::Ahead && self.can_wait(domain);
                if !waits && self.give_up_set(flash, domain) {
                    continue;
                }
                break;
            };
            self.run_to_end(flash, &mut job)?;
        }
        Ok(())
    }
}
