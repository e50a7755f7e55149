//! Runs jobs, which may be interrupted after any page and resumed.

use super::job::{Job, Step};
use super::request::{DriveView, Order, Planned, Request, StartsJobs, Target, Urgency};
use super::room::pages_to_each;
use crate::collect::{Collector, Need};
use crate::ftl::Ftl;
use crate::reduce::ChunksMoved;
use crate::setup::Failure;
use crate::units::{Frontier, NO_UNIT, NOT_INDEXED};
use floatgate_base::{DomainId, Ppn, SideKind, UnitId};
use floatgate_flash::{Cause, Flash};

impl Ftl {
    /// Runs a job to its end.
    ///
    /// # Errors
    /// When a moved page finds no free page.
    pub fn run_to_end<F: Flash>(&mut self, flash: &mut F, job: &mut Job) -> Result<(), Failure> {
        job.leave_free = 0;
        while self.step(flash, job, u32::MAX)? != Step::Done {}
        self.end_burst();
        Ok(())
    }

    /// Ends the burst of operations that read disturb causes at this time.
    pub(crate) fn end_burst(&mut self) {
        if let Some(reclaiming) = &mut self.reclaiming {
            reclaiming.close_burst();
        }
    }

    /// Moves up to `pages_max` flash pages of a job, or erases an emptied source. Without a limit, a source whose pages
    /// move in ascending order is erased in the same step. Otherwise the erase is a step of its own; a request that
    /// comes in between need not wait for it.
    ///
    /// # Errors
    /// When a moved page finds no free page.
    pub fn step<F: Flash>(&mut self, flash: &mut F, job: &mut Job, pages_max: u32) -> Result<Step, Failure> {
        if job.request.targets[0] == Target::Tails {
            return Ok(self.step_replicas(flash, job, pages_max));
        }
        if !job.begun {
            if self.lacks_targets(&job.request) {
                if job.leave_free > 0 {
                    return Ok(Step::Stalled);
                }
                job.request.keep_to_first_source(&self.layout);
            }
            if !self.begin(job) {
                self.request_again(job);
                return Ok(Step::Done);
            }
        }
        match job.request.order {
            Order::Ascending => self.step_ascending(flash, job, pages_max),
            Order::Listed(_) => self.step_listed(flash, job, pages_max),
        }
    }

    fn step_ascending<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        pages_max: u32,
    ) -> Result<Step, Failure> {
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        let (source, from) = (job.source(), Ppn(job.next));
        let end = self.layout.first_page(source) + self.layout.pages_per_unit();
        let limited = pages_max != u32::MAX;
        if limited && self.layout.is_packed() {
            self.gather_flash_pages(from..end, pages_max, &mut moving);
        } else if limited {
            self.mapping.for_first(from..end, pages_max, |ppn, owner| {
                self.mapping.prefetch_owner(owner);
                moving.push((ppn, owner));
            });
        } else {
            self.gather(from..end, &mut moving);
        }
        let (chunks, last_packed) = match self.mapping.packed() {
            Some(_) => self.take_chunks(job, &mut moving),
            None => (Vec::new(), None),
        };
        let last = (moving.is_empty() && chunks.is_empty()) || (!limited && job.leave_free == 0);
        if self.layout.is_packed() {
            // Do not read what cannot move.
            if !moving.is_empty() && self.must_leave_all(job, 0) {
                self.moving = moving;
                return Ok(Step::Stalled);
            }
            flash.fetch(&moving, job.request.cause);
        }
        let moved = self.move_pages(flash, job, &moving);
        let all = moving.len();
        self.moving = moving;
        let mut moved = moved?;
        self.count_moved(job, 0, moved as u64);
        if let Some(packed) = last_packed {
            match self.move_chunks(flash, job, 0, &chunks)? {
                ChunksMoved::Stalled => return Ok(Step::Stalled),
                ChunksMoved::Pages(pages) => self.count_moved(job, 0, pages),
            }
            job.next = job.next.max(packed.0 + 1);
        }
        let done = last && moved == all;
        if !done || !job.request.erase {
            // The host may write before the next step: moved pages are dead here.
            self.mapping.kill_range(from..Ppn(job.next));
            self.units.meta[source].valid -= moved as u32;
            if limited {
                self.mapping.prefetch_moves(Ppn(job.next)..end, pages_max);
            }
        }
        moved += chunks.len();
        if last_packed.is_some() {
            self.give_back_chunks(chunks);
        }
        Ok(match moved {
            _ if done => self.emptied(flash, job),
            0 => Step::Stalled,
            _ => Step::Moved,
        })
    }

    /// Moves pages in a listed order, each to its target.
    #[cold]
    fn step_listed<F: Flash>(
        &mut self,
        flash: &mut F,
        job: &mut Job,
        pages_max: u32,
    ) -> Result<Step, Failure> {
        let mut moved = 0;
        while moved < pages_max
            && let Some(Planned { page, target }) = self.next_planned(job)
        {
            let (moving, to) = ([(page, self.mapping.owner_of(page))], usize::from(target));
            if let Some((SideKind::Packed, chunk)) = moving[0].1.entry() {
                match self.move_chunks(flash, job, to, &[chunk])? {
                    ChunksMoved::Stalled if moved == 0 => return Ok(Step::Stalled),
                    ChunksMoved::Stalled => return Ok(Step::Moved),
                    ChunksMoved::Pages(pages) => self.count_moved(job, to, pages),
                }
                moved += 1;
                continue;
            }
            if self.layout.is_packed() {
                if self.must_leave_all(job, to) {
                    return Ok(if moved == 0 { Step::Stalled } else { Step::Moved });
                }
                flash.fetch(&moving, job.request.cause);
            }
            if self.move_to_target(flash, job, to, &moving)? == 0 {
                return Ok(if moved == 0 { Step::Stalled } else { Step::Moved });
            }
            self.count_moved(job, to, 1);
            self.mapping.kill(page);
            self.units.meta[self.layout.unit_of(page)].valid -= 1;
            moved += 1;
        }
        Ok(if moved > 0 { Step::Moved } else { self.emptied(flash, job) })
    }

    /// Returns the next live page of a listed order. Live pages missing from the order come last: an erase must not
    /// lose them.
    fn next_planned(&self, job: &mut Job) -> Option<Planned> {
        let Order::Listed(planned) = &job.request.order else { return None };
        let rest = planned.get(job.next as usize..).unwrap_or_default();
        if let Some(skipped) = rest.iter().position(|planned| self.mapping.is_live(planned.page)) {
            job.next += skipped as u32;
            return Some(rest[skipped]);
        }
        job.next = planned.len() as u32;
        if !job.request.erase {
            return None;
        }
        let first = self.layout.first_page(job.source());
        let mut forgotten = None;
        let pages = first..first + self.layout.pages_per_unit();
        self.mapping.for_first(pages, 1, |page, _| forgotten = Some(Planned { page, target: 0 }));
        forgotten
    }

    /// Requests the rest of a dropped job again, after its sources changed.
    #[cold]
    fn request_again(&mut self, job: &Job) {
        if let (Cause::Reclaim, Some(reclaiming)) = (job.request.cause, &mut self.reclaiming) {
            reclaiming.reconsider(job.request.sources[0]);
        }
        self.notify_leveling(job, false);
    }

    /// Notifies wear-leveling that a job is done or dropped.
    fn notify_leveling(&mut self, job: &Job, done: bool) {
        if let (Cause::Level, Some(leveling)) = (job.request.cause, &mut self.leveling) {
            let source = job.source();
            leveling.job_ended(self.layout.domain_of(source), source, done);
        }
    }

    fn count_moved(&mut self, job: &Job, to: usize, pages: u64) {
        match (job.request.cause, &mut self.leveling, &mut self.reclaiming) {
            (Cause::Gc, ..) => self.gc.copied_pages += pages,
            (Cause::Level, Some(leveling), _) => leveling.counters.moved_pages += pages,
            (Cause::Reclaim, _, Some(reclaiming)) => {
                reclaiming.counters.moved_pages += pages;
                let mode = if let Target::Own { mode, .. } = job.request.targets[to] { mode } else { 0 };
                reclaiming.add_to_burst(pages as u32, 0, mode);
            }
            _ => {}
        }
        self.free_pages.take(pages);
        if matches!(job.request.targets[to], Target::Streams { .. }) {
            self.open_pages.filled(pages, self.now);
        }
    }

    /// Removes the sources of a job from the closed units; false if one no longer holds the content it held at the
    /// request.
    pub(crate) fn begin(&mut self, job: &mut Job) -> bool {
        if !job.is_current(&self.units) {
            return false;
        }
        for unit in job.request.all_sources() {
            self.leave_closed(unit);
        }
        *job = Job { leave_free: job.leave_free, ..Job::begun(job.request.clone(), &self.layout) };
        true
    }

    /// Handles a source that all pages have left.
    fn emptied<F: Flash>(&mut self, flash: &mut F, job: &mut Job) -> Step {
        if self.volatile.is_on() {
            self.persist_moves(flash, job);
        }
        let source = job.source();
        if !job.request.erase {
            self.enter_closed(source);
            return self.next_source(flash, job, None);
        }
        if self.mapping.sides.any() {
            self.drop_replicas_of(source);
        }
        if let (Cause::Reclaim, Some(reclaiming)) = (job.request.cause, &mut self.reclaiming) {
            reclaiming.add_to_burst(0, 1, 0);
        }
        let first = self.layout.first_page(source);
        self.mapping.kill_range(first..first + self.layout.pages_per_unit());
        self.units.meta[source].valid = 0;
        self.free_pages.give(u64::from(self.layout.pages_per_unit()));
        // Data that moved as a whole into another unit lives on: it counts as reclaimed when that unit is.
        if let Some(separation) = &mut self.separation
            && matches!(job.request.targets[0], Target::Streams { .. })
        {
            separation.reclaimed(source, self.now);
        }
        self.erase(flash, source, job.request.cause);
        self.notify_erase(flash, source);
        self.next_source(flash, job, Some(source))
    }

    /// Continues with the second source, or with the following request, or ends the job. `erased` is the source just
    /// erased.
    fn next_source<F: Flash>(&mut self, flash: &mut F, job: &mut Job, erased: Option<UnitId>) -> Step {
        let second = job.source == 0 && job.request.sources[1] != NO_UNIT;
        if second {
            if let Some(unit) = erased {
                self.free[self.layout.domain_of(unit)].put(unit, flash.erase_count(unit));
            }
            job.source = 1;
            if job.request.order == Order::Ascending {
                job.next = self.layout.first_page(job.source()).0;
            }
            return Step::Moved;
        }
        if let (Some(unit), Some(_)) = (erased, &job.request.then) {
            self.close_targets(flash, job);
            self.follow(flash, job, unit);
            return Step::Moved;
        }
        self.close_targets(flash, job);
        self.notify_leveling(job, true);
        if let (Cause::Reclaim, Some(reclaiming)) = (job.request.cause, &mut self.reclaiming) {
            reclaiming.count_reclaim(job.request.urgency);
        }
        if let Some(unit) = erased {
            self.free[self.layout.domain_of(unit)].put(unit, flash.erase_count(unit));
        }
        Step::Done
    }

    /// Starts the request that follows: its pages move into the source just erased.
    #[cold]
    fn follow<F: Flash>(&mut self, flash: &mut F, job: &mut Job, emptied: UnitId) {
        let Some(then) = job.request.then.take() else { return };
        let cause = then.cause;
        *job = Job { leave_free: job.leave_free, floor: job.floor, ..Job::begun(*then, &self.layout) };
        // Data programmed to endure more reads stays in that mode.
        let mode = flash.mode(job.source());
        if mode > 0 {
            self.set_mode(flash, emptied, mode);
        }
        job.targets[0] = self.own_target(emptied, job.source());
        if let (Cause::Level, Some(leveling)) = (cause, &mut self.leveling) {
            leveling.counters.swaps += 1;
        }
    }

    fn close_targets<F: Flash>(&mut self, flash: &mut F, job: &mut Job) {
        for (to, target) in job.targets.iter_mut().enumerate() {
            if let Target::Own { domain, kept: true, .. } = job.request.targets[to]
                && target.unit != NO_UNIT
                && self.keep(domain, to, *target)
            {
                *target = Frontier::CLOSED;
                continue;
            }
            if let Target::Set { id, side, .. } = job.request.targets[to] {
                self.leave_in_set(flash, (id, side), target, job.request.cause);
            }
            self.close_target(flash, target, job.request.cause);
        }
    }

    /// Begins the next collection job of a domain; none if nothing is gained, or if all victims can wait.
    pub(crate) fn next_victim<F: Flash>(
        &mut self,
        flash: &mut F,
        domain: DomainId,
        need: Need,
    ) -> Option<Box<Job>> {
        if need == Need::Ahead && self.can_wait(domain) {
            return None;
        }
        if self.separation.as_ref().is_some_and(|separation| separation.wants_regroup()) {
            self.regroup(flash);
        }
        let packed = self.mapping.packed().is_some();
        if self.volatile.is_on() || packed {
            let (tries, units) = (self.count_victim(domain), self.layout.units_per_domain());
            if tries > units {
                // Where a victim may take in more than it frees, some policies select units that gain nothing again and
                // again.
                let request = (tries <= 2 * units).then(|| self.emptiest(domain)).flatten()?;
                return Some(self.collected(request, need));
            }
        }
        let mut view = DriveView {
            layout: &self.layout,
            units: &mut self.units,
            erases: flash.erase_counts(),
            now: self.now,
            logical_pages: self.setup.logical_pages,
            mapping: &self.mapping,
            free: &self.free,
        };
        let (candidates, leveling) = (&mut self.candidates, self.leveling.as_mut());
        let separation = self.separation.as_deref();
        let timing = self.timing.as_deref_mut().filter(|_| need == Need::Ahead);
        let mut collector = Collector { victim: self.setup.victim, candidates, leveling, separation, timing };
        let request = collector.next_request(&mut view, domain)?;
        Some(self.collected(request, need))
    }

    /// Requests the collection of the closed unit with the fewest valid pages of a domain; none if all pages of all
    /// units are valid.
    #[cold]
    fn emptiest(&self, domain: DomainId) -> Option<Request> {
        let meta = |unit: UnitId| self.units.meta[unit];
        let closed = UnitId::all(self.layout.units())
            .filter(|&unit| self.layout.domain_of(unit) == domain && meta(unit).pos != NOT_INDEXED);
        let unit = closed.min_by_key(|&unit| meta(unit).valid)?;
        let gains = meta(unit).valid < self.layout.pages_per_unit();
        gains.then(|| Request::emptying(unit, domain, Cause::Gc, Urgency::Collection))
    }

    /// Counts the start of a collection and creates its job.
    fn collected(&mut self, request: Request, need: Need) -> Box<Job> {
        let victim = request.sources[0];
        let valid = self.units.meta[victim].valid;
        self.gc.victims += 1;
        self.gc.dead_victims += u64::from(valid == 0);
        self.victims_by_valid[valid as usize] += 1;
        if let Some(reclaiming) = &mut self.reclaiming {
            reclaiming.tails.victim(self.layout.domain_of(victim), valid);
        }
        if let Some(separation) = &mut self.separation {
            separation.chosen(victim, valid, self.units.closed_at[victim], self.now);
        }
        if let Some(timing) = &mut self.timing {
            timing.collected(victim, valid, need, &self.layout, &self.mapping);
        }
        request.all_sources().for_each(|unit| self.leave_closed(unit));
        Box::new(Job::begun(request, &self.layout))
    }

    /// Accepts a request: runs it at once if it cannot wait or if no idle time or host write would step it, else queues
    /// it. Returns false if wear-leveling requested a job for which too few units are free.
    ///
    /// # Errors
    /// When a moved page finds no free page.
    pub fn request<F: Flash>(&mut self, flash: &mut F, request: Request) -> Result<bool, Failure> {
        let domain = self.layout.domain_of(request.sources[0]);
        let later = self.setup.idle_jobs || self.setup.incremental;
        let waits = request.urgency != Urgency::Urgent && later;
        let levels = request.urgency == Urgency::Leveling;
        let mut job = Box::new(Job::waiting(request, &self.units));
        if waits {
            self.jobs[domain].push(job);
            match levels.then(|| self.jobs[domain].pop_overdue()).flatten() {
                Some(overdue) => job = overdue,
                None => return Ok(true),
            }
        }
        self.free_pages.advance(self.now);
        self.make_room_for(flash, &job)?;
        // Its erase returns one unit; streams that open more for its pages must not take the last ones.
        if levels && self.free[domain].len() < self.needed_for_leveling(&job) {
            if waits {
                self.jobs[domain].put_back(job);
                return Ok(true);
            }
            self.request_again(&job);
            return Ok(false);
        }
        self.run_to_end(flash, &mut job)?;
        Ok(true)
    }

    /// Collects until a job's own unit would not be the last free one: otherwise collection could move nothing any
    /// more.
    fn make_room_for<F: Flash>(&mut self, flash: &mut F, job: &Job) -> Result<(), Failure> {
        let reserve = self.setup.separate.reserve();
        let pages: u32 = job.request.all_sources().map(|unit| self.units.meta[unit].valid).sum();
        let to_each = pages_to_each(&job.request.targets, pages);
        for (to, target) in job.request.targets.into_iter().enumerate() {
            let domain = match target {
                Target::Own { domain, .. } => domain,
                Target::Set { id, side, domain, .. } if self.room_in_set(id, side) < to_each => domain,
                _ => continue,
            };
            // Both targets may come from one domain.
            let wanted = if to == 1 && job.request.targets[0] == target { 1 } else { 0 };
            while self.free[domain].len() <= reserve + wanted
                && self.collect_one(flash, domain, Need::Space)?
            {}
        }
        Ok(())
    }

    /// Collects one victim in a domain; returns false if nothing is gained, or if all victims can wait.
    pub(crate) fn collect_one<F: Flash>(
        &mut self,
        flash: &mut F,
        domain: DomainId,
        need: Need,
    ) -> Result<bool, Failure> {
        self.free_pages.advance(self.now);
        self.finish_jobs(flash, domain)?;
        let Some(mut job) = self.next_victim(flash, domain, need) else {
            let waits = need == Need::Ahead && self.can_wait(domain);
            return Ok(!waits && self.give_up_set(flash, domain));
        };
        self.run_to_end(flash, &mut job)?;
        Ok(true)
    }

    /// Runs the jobs of a domain that a host write in need of room waits for.
    pub(crate) fn finish_jobs<F: Flash>(&mut self, flash: &mut F, domain: DomainId) -> Result<(), Failure> {
        while let Some(mut job) = self.pop_for_room(domain) {
            self.run_to_end(flash, &mut job)?;
        }
        Ok(())
    }

    /// Takes out the next job of a domain that a host write in need of room waits for. A job in progress may still need
    /// two units of its own.
    pub(crate) fn pop_for_room(&mut self, domain: DomainId) -> Option<Box<Job>> {
        let last = self.free[domain].len() <= self.setup.separate.reserve() + 2;
        self.jobs[domain].pop_for_room(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setup;
    use floatgate_base::Lpn;
    use floatgate_base::extents::{Extents, Kind};
    use floatgate_flash::{Functional, Layout, Scope};
    use floatgate_nand::Geometry;

    #[test]
    fn the_emptiest_unit_is_collected_if_that_gains_a_page() {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 8,
            page_bytes: 4096,
        };
        let layout = Layout::new(geometry, Scope::Plane);
        let (mut flash, mut ftl) = (Functional::new(layout.clone()), Ftl::new(layout, Setup::plain(64)));
        let mut write = |ftl: &mut Ftl, lpns: std::ops::Range<u32>| {
            let mut extents = Extents::default();
            lpns.for_each(|lpn| extents.push(Lpn(lpn), 1, Kind::Write));
            ftl.serve(&mut flash, &extents).unwrap();
        };
        write(&mut ftl, 0..32);
        assert!(ftl.emptiest(DomainId(0)).is_none(), "every page of every closed unit is valid");
        let emptiest = |ftl: &Ftl| {
            let request = ftl.emptiest(DomainId(0)).expect("a unit has a dead page");
            assert_eq!(request.cause, Cause::Gc);
            request.sources[0]
        };
        write(&mut ftl, 8..9);
        let second = emptiest(&ftl);
        assert_eq!(ftl.units.meta[second].valid, 7);
        write(&mut ftl, 16..20);
        let third = emptiest(&ftl);
        assert_ne!(third, second);
        assert_eq!(ftl.units.meta[third].valid, 4);
    }
}
