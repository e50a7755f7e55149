//! Where writes go: opening units, collecting when free ones run low.

use crate::ftl::{Allocation, Failure, Ftl};
use crate::migrate::{Migration, Step};
use crate::separate::Stream;
use crate::units::{Frontier, NO_UNIT};
use floatgate_base::{Lpn, UnitId};
use floatgate_flash::{Cause, Flash, Scope};

/// A domain found full of valid pages is passed over for so many of its turns.
const PASS_OVER_TURNS: u32 = 64;

impl Ftl {
    /// The open unit that takes the next host page of a stream: the domains in turn.
    #[inline(always)]
    pub(crate) fn host_frontier<F: Flash>(
        &mut self,
        flash: &mut F,
        stream: Stream,
        lpn: Lpn,
    ) -> Result<usize, Failure> {
        let domains = self.layout.domains();
        let domain = match self.setup.allocation {
            Allocation::Dynamic => self.next_domain,
            Allocation::Static => lpn % domains,
        };
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
        if self.counting && !flash.stands_more() {
            return Err(Failure::WornOut);
        }
        let domains = self.layout.domains();
        if self.setup.allocation == Allocation::Static {
            let slot = (stream * domains + domain) as usize;
            let room = self.make_room(flash, slot, domain)?;
            return if room { Ok(slot) } else { Err(Failure::OutOfFreeBlocks) };
        }
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
            // A job under way may need the unit that the host would open.
            let scarce = self.free[domain as usize].len() <= self.setup.trigger_free_units;
            if scarce && self.jobs[domain as usize].is_some() {
                self.free_pages.advance(self.now);
                self.finish_job(flash, domain)?;
                continue;
            }
            if !self.open(slot, domain) {
                return Ok(false);
            }
            if self.free[domain as usize].len() < self.setup.trigger_free_units {
                self.collect(flash, domain)?;
            }
            // While nothing is to be gained, the last free units stay: collection will need them to move pages.
            let frontier = self.frontiers[slot];
            let untouched = frontier.room() == self.layout.pages_per_unit();
            if untouched && self.free[domain as usize].len() < self.setup.separate.reserve() {
                self.frontiers[slot] = Frontier::CLOSED;
                self.open_pages.closed(frontier.room(), self.now);
                self.units.meta[frontier.unit as usize].valid = 0;
                self.free[domain as usize].put(frontier.unit, flash.erase_count(frontier.unit));
                if let Some(separation) = &mut self.separation {
                    separation.put_back(slot as u32 / self.layout.domains());
                }
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
        self.open_pages.opened(pages, self.now);
        if let Some(separation) = &mut self.separation {
            separation.opened(unit, slot as u32 / self.layout.domains(), self.now);
        }
        true
    }

    /// Hands a full unit to the victim index.
    pub(crate) fn close(&mut self, slot: usize, domain: u32) {
        let full = std::mem::replace(&mut self.frontiers[slot], Frontier::CLOSED);
        if full.unit != NO_UNIT {
            self.open_pages.closed(full.room(), self.now);
            self.enter_index(domain, full.unit);
        }
    }

    /// A unit that is full becomes a candidate for collection.
    pub(crate) fn enter_index(&mut self, domain: u32, unit: UnitId) {
        self.units.closed_at[unit as usize] = self.now;
        let full = self.layout.pages_per_unit();
        match (&mut self.last, &self.separation) {
            (Some(last), Some(separation)) if separation.is_last(unit) => {
                last.insert(domain, unit, &mut self.units, full);
            }
            _ => {
                let valid = self.units.meta[unit as usize].valid;
                self.units.worthwhile[domain as usize] += u32::from(valid < full);
                self.index.insert(domain, unit, &mut self.units);
            }
        }
        if let Some(leveling) = &mut self.leveling {
            leveling.closed(domain, unit);
        }
    }

    /// Collects in a domain until it has `stop_free_units` or nothing more is to be gained.
    fn collect<F: Flash>(&mut self, flash: &mut F, domain: u32) -> Result<(), Failure> {
        self.free_pages.advance(self.now);
        self.finish_job(flash, domain)?;
        while self.free[domain as usize].len() < self.setup.stop_free_units {
            let Some(mut job) = self.next_victim(flash, domain) else { break };
            self.run_to_end(flash, &mut job)?;
        }
        Ok(())
    }

    /// Collects one victim in a domain; false if nothing is to be gained.
    pub(crate) fn collect_one<F: Flash>(&mut self, flash: &mut F, domain: u32) -> Result<bool, Failure> {
        self.free_pages.advance(self.now);
        self.finish_job(flash, domain)?;
        let Some(mut job) = self.next_victim(flash, domain) else { return Ok(false) };
        self.run_to_end(flash, &mut job)?;
        Ok(true)
    }

    /// What idle time began in a domain has become urgent.
    fn finish_job<F: Flash>(&mut self, flash: &mut F, domain: u32) -> Result<(), Failure> {
        match self.jobs[domain as usize].take() {
            Some(mut job) => self.run_to_end(flash, &mut job),
            None => Ok(()),
        }
    }

    /// Takes the next victim out of the index; none if nothing is to be gained.
    fn next_victim<F: Flash>(&mut self, flash: &F, domain: u32) -> Option<Migration> {
        let (victim, cold) = self.choose(flash, domain)?;
        let valid = self.leave_index(domain, victim);
        self.gc.victims += 1;
        self.gc.dead_victims += u64::from(valid == 0);
        self.victims_by_valid[valid as usize] += 1;
        if let Some(separation) = &mut self.separation {
            separation.chosen(victim, valid);
        }
        let job = Migration::erase_after_moving(victim, domain, Cause::Gc, &self.layout);
        Some(match cold {
            Some(cold) => {
                self.leave_index(domain, cold);
                job.taking_in(cold)
            }
            None => job,
        })
    }

    /// A closed unit is to be emptied; how many valid pages it has.
    fn leave_index(&mut self, domain: u32, unit: UnitId) -> u32 {
        let (valid, full) = (self.units.meta[unit as usize].valid, self.layout.pages_per_unit());
        match &mut self.last {
            Some(last) if last.holds(unit) => last.leave(domain, unit, &mut self.units, full),
            _ => {
                self.index.remove(domain, unit, &mut self.units);
                self.units.worthwhile[domain as usize] -= u32::from(valid < full);
            }
        }
        if let Some(leveling) = &mut self.leveling {
            leveling.opened(domain, unit);
        }
        valid
    }

    /// Whether idle time has something to do anywhere.
    #[must_use]
    pub fn wants_background(&self) -> bool {
        (0..self.layout.domains()).any(|domain| self.wants_background_in(domain))
    }

    /// Whether idle time has something to do in a domain: a job that it began, or too few free units.
    #[must_use]
    pub fn wants_background_in(&self, domain: u32) -> bool {
        let d = domain as usize;
        let low = self.free[d].len() < self.setup.background_free_units;
        self.jobs[d].is_some() || (low && self.futile_at[d] != Some(self.now))
    }

    /// A job in idle time moves its next page (under superblock scope the next page of each die), or erases its source;
    /// one is begun where there is none. False if nothing is to be gained, or the free
    /// units left are the host's.
    ///
    /// # Errors
    /// When a moved page finds no free page in its domain.
    pub fn background_step<F: Flash>(&mut self, flash: &mut F, domain: u32) -> Result<bool, Failure> {
        self.free_pages.advance(self.now);
        let job = match self.jobs[domain as usize].take() {
            Some(job) => Some(job),
            None => self.next_victim(flash, domain).map(|job| job.leaving(self.setup.trigger_free_units)),
        };
        let Some(mut job) = job else {
            self.futile_at[domain as usize] = Some(self.now);
            return Ok(false);
        };
        let pages = match self.layout.scope() {
            Scope::Plane => 1,
            Scope::Superblock => self.layout.geometry().dies(),
        };
        flash.in_background(true);
        let step = self.step(flash, &mut job, pages);
        flash.in_background(false);
        let step = step?;
        if step != Step::Done {
            self.jobs[domain as usize] = Some(job);
        }
        Ok(step != Step::Stalled)
    }

    /// Policies that do not look at valid pages may choose full blocks for ever: whether the victim is full, and so
    /// is every other closed unit of its domain.
    pub(crate) fn is_futile(&self, victim: UnitId, domain: u32) -> bool {
        let full = self.units.meta[victim as usize].valid == self.layout.pages_per_unit();
        full && self.units.worthwhile[domain as usize] == 0
    }
}
