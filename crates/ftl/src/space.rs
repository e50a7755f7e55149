//! Where writes go: opening units, collecting when free ones run low.

use crate::collect::View;
use crate::ftl::{Failure, Ftl};
use crate::migrate::Migration;
use crate::separate::Stream;
use crate::units::{Frontier, NO_UNIT};
use floatgate_base::UnitId;
use floatgate_flash::{Cause, Flash};

/// A domain found full of valid pages is passed over for so many of its turns.
const PASS_OVER_TURNS: u32 = 64;

impl Ftl {
    /// The open unit that takes the next host page of a stream: the domains in turn.
    #[inline(always)]
    pub(crate) fn host_frontier<F: Flash>(
        &mut self,
        flash: &mut F,
        stream: Stream,
    ) -> Result<usize, Failure> {
        let domains = self.layout.domains();
        let domain = self.next_domain;
        self.next_domain = if domain + 1 == domains { 0 } else { domain + 1 };
        let slot = (stream * domains + domain) as usize;
        let frontier = self.frontiers[slot];
        if frontier.next != frontier.end {
            return Ok(slot);
        }
        self.host_frontier_slow(flash, stream, domain)
    }

    /// Opens a unit in the first domain, from `domain` on, that has room or can make some.
    #[cold]
    fn host_frontier_slow<F: Flash>(
        &mut self,
        flash: &mut F,
        stream: Stream,
        domain: u32,
    ) -> Result<usize, Failure> {
        if self.counting && flash.counters().programs_total() >= self.programs_max {
            return Err(Failure::WornOut);
        }
        let domains = self.layout.domains();
        // The last resort tries even the domains that were to be passed over.
        for last_resort in [false, true] {
            for d in (domain..domains).chain(0..domain) {
                let passed_over = &mut self.pass_over[d as usize];
                if !last_resort && *passed_over > 0 {
                    *passed_over -= 1;
                    continue;
                }
                let slot = (stream * domains + d) as usize;
                if self.make_room(flash, slot, d)? {
                    self.next_domain = if d + 1 == domains { 0 } else { d + 1 };
                    return Ok(slot);
                }
                self.pass_over[d as usize] = PASS_OVER_TURNS;
            }
        }
        Err(Failure::OutOfFreeBlocks)
    }

    /// Opens units for a host frontier and collects until it has room; false if the domain has none to give.
    fn make_room<F: Flash>(&mut self, flash: &mut F, slot: usize, domain: u32) -> Result<bool, Failure> {
        // Collection may fill the very unit that was opened, where host and moved pages share one.
        while self.frontiers[slot].room() == 0 {
            if !self.open(slot, domain) {
                return Ok(false);
            }
            if self.free[domain as usize].len() < self.setup.trigger_free_units {
                self.collect(flash, domain)?;
            }
            // While nothing is to be gained, the last free units stay: collection will need them to move pages.
            let frontier = self.frontiers[slot];
            let untouched = frontier.room() == self.layout.pages_per_unit();
            if untouched && self.free[domain as usize].len() < self.setup.separate.streams() {
                self.frontiers[slot] = Frontier::CLOSED;
                self.units.meta[frontier.unit as usize].valid = 0;
                self.free[domain as usize].put(frontier.unit, flash.erase_count(frontier.unit));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Closes the frontier's full unit and opens a free one; false if there is none.
    pub(crate) fn open(&mut self, slot: usize, domain: u32) -> bool {
        self.close(slot, domain);
        let Some(unit) = self.free[domain as usize].take() else { return false };
        let pages = self.layout.pages_per_unit();
        let next = self.layout.first_page(unit);
        self.units.meta[unit as usize].valid = pages;
        self.frontiers[slot] = Frontier { next, end: next + pages, unit };
        true
    }

    /// Hands a full unit to the victim index.
    pub(crate) fn close(&mut self, slot: usize, domain: u32) {
        let unit = std::mem::replace(&mut self.frontiers[slot], Frontier::CLOSED).unit;
        if unit != NO_UNIT {
            self.enter_index(domain, unit);
        }
    }

    /// A unit that is full becomes a candidate for collection.
    pub(crate) fn enter_index(&mut self, domain: u32, unit: UnitId) {
        self.units.closed_at[unit as usize] = self.now;
        let valid = self.units.meta[unit as usize].valid;
        self.units.worthwhile[domain as usize] += u32::from(valid < self.layout.pages_per_unit());
        self.index.insert(domain, unit, &mut self.units);
    }

    /// Collects in a domain until it has `stop_free_units` or nothing more is to be gained.
    fn collect<F: Flash>(&mut self, flash: &mut F, domain: u32) -> Result<(), Failure> {
        self.free_pages.advance(self.now);
        while self.free[domain as usize].len() < self.setup.stop_free_units {
            let view = View {
                index: &self.index,
                units: &self.units,
                erases: flash.erase_counts(),
                layout: &self.layout,
                now: self.now,
                domain,
            };
            let Some(victim) = self.setup.victim.pick(view, &mut self.rng) else { break };
            if self.is_futile(victim, domain) {
                break;
            }
            self.collect_unit(flash, victim, domain)?;
        }
        Ok(())
    }

    /// Policies that do not look at valid pages may choose full blocks for ever: whether the victim is full, and so
    /// is every other closed unit of its domain.
    fn is_futile(&self, victim: UnitId, domain: u32) -> bool {
        let full = self.units.meta[victim as usize].valid == self.layout.pages_per_unit();
        full && self.units.worthwhile[domain as usize] == 0
    }

    fn collect_unit<F: Flash>(&mut self, flash: &mut F, victim: UnitId, domain: u32) -> Result<(), Failure> {
        self.index.remove(domain, victim, &mut self.units);
        let valid = self.units.meta[victim as usize].valid;
        self.units.worthwhile[domain as usize] -= u32::from(valid < self.layout.pages_per_unit());
        self.gc.victims += 1;
        self.gc.dead_victims += u64::from(valid == 0);
        self.gc.copied_pages += u64::from(valid);
        self.free_pages.take(u64::from(valid));
        self.free_pages.give(u64::from(self.layout.pages_per_unit()));
        let mut job = Migration::erase_after_moving(victim, domain, Cause::Gc, &self.layout);
        // Functional mode has no idle time to wait for: the job runs to its end.
        while !self.step(flash, &mut job, u32::MAX)? {}
        Ok(())
    }
}
