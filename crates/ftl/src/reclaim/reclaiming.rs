//! The mechanism's side of read disturb, present if reads disturb blocks: sums of blocks, the manager, counters.

use super::manager::{Action, Manager, Reached};
use super::sums::Sums;
use super::tails::Tails;
use super::view::DisturbView;
use super::{ManagerState, Reclaim};
use crate::jobs::{Request, Urgency};
use crate::owners::{Mapping, ReplicaCounters, Replicas};
use crate::units::{Frontier, NOT_INDEXED, Units};
use floatgate_base::{DomainId, Ppn, Rng, UnitId};
use floatgate_flash::Layout;
use floatgate_nand::Disturb;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Work that read disturb causes at one time, without a host request in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Burst {
    /// Pages moved or replicated.
    pub pages: u32,
    /// Units erased.
    pub erases: u32,
    /// The mode in which the pages were programmed.
    pub mode: u8,
}

/// Counters of a manager since counting began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReclaimCounters {
    /// Units reclaimed because a read could not wait.
    pub on_demand: u64,
    /// Units reclaimed in idle time; in functional mode, before the reclaim was due.
    pub background: u64,
    /// Host reads of flash before the first reclaim.
    pub first_after_reads: Option<u64>,
    /// Pages moved.
    pub moved_pages: u64,
    /// Reads of blocks that were beyond the maximum already.
    pub reads_beyond_max: u64,
    /// How often pages of a unit got replicas.
    pub replications: u64,
    /// Hot pages for which no block would take a replica.
    pub replicas_refused: u64,
    /// Bursts of work, with the number of times each occurred.
    pub bursts: BTreeMap<Burst, u64>,
}

/// Report on read disturb at the end of a run.
#[derive(Clone, Debug)]
pub struct ReclaimFigures {
    /// Counters of the manager.
    pub counters: ReclaimCounters,
    /// Counters of replicas.
    pub replicas: ReplicaCounters,
    /// Host reads of flash by mode and number of the page in its block: `mode * pages_per_block + page`.
    pub reads: Vec<u64>,
    /// Present disturbance of each block, thousandths of a read.
    pub sums: Vec<u32>,
    /// The largest disturbance of any block since counting began.
    pub largest: u32,
    /// Units whose tail took data.
    pub tails_forgone: u64,
    /// Bytes of the manager's tables.
    pub memory_bytes: u64,
}

/// State of read disturb on a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reclaiming {
    pub sums: Sums,
    pub manager: ManagerState,
    pub tails: Tails,
    pub counters: ReclaimCounters,
    pub rng: Rng,
    /// Blocks whose sums have reached a watched point.
    pub reached: Vec<u32>,
    /// Blocks that have become disturbed, for the reader of warnings.
    warned: Vec<u32>,
    /// Units that stay open from one job to the next: `2 * domain + target`.
    pub kept: Vec<Frontier>,
    pub burst: Burst,
    #[serde(skip)]
    plan: Option<DisturbPlan>,
}

/// What follows from the plan.
#[derive(Clone, Debug)]
struct DisturbPlan {
    disturb: Disturb,
    /// The sum at which a block is reclaimed on demand, by mode.
    limits: Vec<u32>,
    /// The sum at which a block becomes disturbed, if warnings are on.
    warn_at: Option<u32>,
    seed: u64,
}

/// Returns the sum at which a block is reclaimed on demand, by mode; a host read reads up to `pages` of its pages at
/// once.
fn limits(disturb: &Disturb, manager: &ManagerState, pages: u32) -> Vec<u32> {
    let at = (manager.at() * f64::from(disturb.max)).ceil() as u32;
    let limit = |mode: u8| {
        let heaviest = match manager.counting() {
            super::Counting::Reads => disturb.heaviest(0),
            _ => disturb.heaviest(mode),
        };
        // The next read must not exceed the maximum.
        at.min((disturb.max + 1).saturating_sub(heaviest.saturating_mul(pages))).max(1)
    };
    let modes = 0..disturb.modes as u8;
    modes.map(|mode| if manager.acts() { limit(mode) } else { disturb.max.saturating_add(1) }).collect()
}

impl Reclaiming {
    /// Creates the state for an empty drive.
    pub fn new(disturb: Disturb, reclaim: Reclaim, seed: u64, layout: &Layout) -> Self {
        let manager = ManagerState::of(reclaim, layout);
        let counting = manager.counting();
        let limits = limits(&disturb, &manager, 1);
        let mut new = Self {
            sums: Sums::new(&disturb, counting, layout),
            tails: Tails::new(manager.tail_pages(), layout),
            manager,
            counters: ReclaimCounters::default(),
            rng: Self::rng(seed),
            reached: Vec::new(),
            warned: Vec::new(),
            kept: vec![Frontier::CLOSED; 2 * layout.domains() as usize],
            burst: Burst::default(),
            plan: Some(DisturbPlan { disturb, limits, warn_at: None, seed }),
        };
        new.watch_all_anew(layout);
        new
    }

    /// Sets how many pages of a block, those of a chunk, a host read reads before anything can be reclaimed. Call it
    /// before the first read, and before a snapshot is restored.
    pub fn set_reads_at_once(&mut self, pages: u32, layout: &Layout) {
        let plan = self.plan.as_mut().expect("a drive is made from a plan");
        plan.limits = limits(&plan.disturb, &self.manager, pages);
        self.watch_all_anew(layout);
    }

    /// Enables warnings for blocks whose disturbance reaches this share of the maximum. Call it before the first read,
    /// and before a snapshot is restored.
    pub fn set_warning(&mut self, share: f64, layout: &Layout) {
        let plan = self.plan.as_mut().expect("a drive is made from a plan");
        plan.warn_at = Some((share * f64::from(plan.disturb.max)) as u32);
        self.watch_all_anew(layout);
    }

    fn watch_all_anew(&mut self, layout: &Layout) {
        UnitId::all(layout.units()).for_each(|unit| self.watch_anew(unit));
    }

    /// Checks whether a page lies in a block with a warning.
    pub fn is_disturbed(&self, layout: &Layout, ppn: Ppn) -> bool {
        self.plan().warn_at.is_some_and(|at| self.sums.counted(layout.block_of(ppn)) >= at)
    }

    /// Takes a block that became disturbed since the last call.
    pub fn take_warned(&mut self) -> Option<u32> {
        self.warned.pop()
    }

    /// Returns the random stream of a run.
    pub fn rng(seed: u64) -> Rng {
        Rng::new(seed, "reclaim")
    }

    /// Restarts the random numbers for another run.
    pub fn reseed(&mut self) {
        self.rng = Self::rng(self.plan().seed);
    }

    fn plan(&self) -> &DisturbPlan {
        self.plan.as_ref().expect("a drive is made from a plan")
    }

    /// Counts a host read of flash, and notes the block if its sum has reached a watched point.
    #[inline(always)]
    pub fn read(&mut self, layout: &Layout, unit: UnitId, ppn: Ppn) {
        if self.sums.read(layout, unit, ppn) {
            self.tell(layout, ppn);
        }
    }

    #[cold]
    fn tell(&mut self, layout: &Layout, ppn: Ppn) {
        self.reached.push(layout.block_of(ppn));
    }

    /// Counts a read that makes a replica.
    pub fn read_by_job(&mut self, layout: &Layout, ppn: Ppn) {
        if self.sums.read_by_job(layout, ppn) {
            self.tell(layout, ppn);
        }
    }

    /// Returns the sum at which the blocks of a unit are reclaimed on demand.
    fn limit(&self, unit: UnitId) -> u32 {
        self.plan().limits[usize::from(self.sums.mode_of(unit))]
    }

    /// Checks whether a unit must be reclaimed before any of its blocks is read again.
    pub fn is_due(&self, unit: UnitId) -> bool {
        self.manager.acts() && self.sums.of_unit(unit) >= self.limit(unit)
    }

    /// Returns the next watched point of a block with this sum.
    fn watch_from(&self, unit: UnitId, sum: u32) -> u32 {
        let plan = self.plan();
        let warning = plan.warn_at.filter(|&at| at > sum).unwrap_or(u32::MAX);
        let again = if self.manager.continues(unit) { sum.saturating_add(1) } else { u32::MAX };
        self.manager.next_watch(sum, plan.disturb.max).min(warning).min(again).min(self.limit(unit))
    }

    /// Sets the watched point of a block from its present sum on, after an action has read it.
    pub fn watch_again(&mut self, block: u32) {
        let watch = self.watch_from(self.sums.unit_of(block), self.sums.counted(block));
        self.sums.set_watch(block, watch);
    }

    /// Checks whether a free unit takes the replicas for which [`Reclaiming::holder`] has no unit.
    pub fn opens_holders(&self) -> bool {
        self.manager.opens_holders()
    }

    fn watch_anew(&mut self, unit: UnitId) {
        for block in self.sums.blocks_of(unit) {
            self.sums.set_watch(block, self.watch_from(unit, 0));
        }
    }

    /// Returns the manager's action for a block that has reached a watched point.
    pub fn next_action(
        &mut self,
        (layout, units, mapping): (&Layout, &Units, &Mapping),
        block: u32,
    ) -> Action {
        let unit = self.sums.unit_of(block);
        let (sum, point) = (self.sums.counted(block), self.sums.watch(block));
        self.sums.set_watch(block, self.watch_from(unit, sum));
        let DisturbPlan { disturb: Disturb { max, .. }, warn_at, .. } = *self.plan();
        if warn_at.is_some_and(|at| (point..=sum).contains(&at)) {
            self.warned.push(block);
            // The point is none of the manager's.
            let own = self.manager.next_watch(point - 1, max) <= sum || self.manager.continues(unit);
            if !own && sum < self.limit(unit) {
                return Action::None;
            }
        }
        let (mut drive, manager) = self.view((layout, units, mapping));
        manager.reached(&mut drive, Reached { block, unit, point, sum, max })
    }

    /// Counts a read of a block beyond the maximum, which only happens without a manager.
    pub fn count_beyond_max(&mut self, block: u32) {
        self.counters.reads_beyond_max += u64::from(self.sums.counted(block) > self.plan().disturb.max);
    }

    /// Returns the manager's view of the drive, and the manager.
    fn view<'a>(
        &'a mut self,
        (layout, units, mapping): (&'a Layout, &'a Units, &'a Mapping),
    ) -> (DisturbView<'a>, &'a mut ManagerState) {
        let Self { sums, manager, tails, rng, plan, .. } = self;
        let disturb = &plan.as_ref().expect("a drive is made from a plan").disturb;
        (DisturbView { layout, disturb, units, mapping, sums, tails, spare_units: 0, rng }, manager)
    }

    /// Returns the request that reclaims a closed unit, in whose domain `spare_units` are free beyond those at which
    /// collection begins.
    pub fn request(
        &mut self,
        drive: (&Layout, &Units, &Mapping),
        spare_units: u32,
        unit: UnitId,
        urgency: Urgency,
    ) -> Request {
        let (mut drive, manager) = self.view(drive);
        drive.spare_units = spare_units;
        manager.request(&mut drive, unit, urgency)
    }

    /// Returns the unit that takes the next replica of a page of `source`.
    pub fn holder(&mut self, drive: (&Layout, &Units, &Mapping), source: UnitId) -> Option<UnitId> {
        let (mut drive, manager) = self.view(drive);
        manager.holder(&mut drive, source)
    }

    /// Notifies the manager that a unit was closed.
    pub fn closed(&mut self, domain: DomainId, unit: UnitId) {
        self.manager.closed(domain, unit);
    }

    /// Notifies the manager that a closed unit will be emptied.
    pub fn emptying(&mut self, domain: DomainId, unit: UnitId) {
        self.manager.emptying(domain, unit);
    }

    /// Notifies the manager that a unit was erased, and resets its sums.
    pub fn erased(&mut self, layout: &Layout, unit: UnitId) {
        self.sums.erase(unit);
        self.tails.erased(unit);
        self.manager.erased(layout, unit);
        self.watch_anew(unit);
    }

    /// Sets the mode of an empty unit before it is programmed.
    pub fn set_mode(&mut self, unit: UnitId, mode: u8) {
        self.sums.set_mode(unit, mode);
        self.watch_anew(unit);
    }

    /// Adds operations to the present burst.
    pub fn add_to_burst(&mut self, pages: u32, erases: u32, mode: u8) {
        self.burst.pages += pages;
        self.burst.erases += erases;
        self.burst.mode = self.burst.mode.max(mode);
    }

    /// Ends the present burst.
    pub fn close_burst(&mut self) {
        let burst = std::mem::take(&mut self.burst);
        if burst.pages + burst.erases > 0 {
            *self.counters.bursts.entry(burst).or_default() += 1;
        }
    }

    /// Resets the counters when counting begins.
    pub fn restart(&mut self) {
        self.counters = ReclaimCounters::default();
        self.tails.forgone = 0;
        self.sums.restart();
    }

    /// Restores the state from a snapshot; returns false if it is of another drive. Without saved state of its own, the
    /// manager is notified of all closed units, in the order of closing, and counts hot pages anew.
    pub fn adopt(&mut self, saved: Option<Self>, layout: &Layout, units: &Units) -> bool {
        let mut alike = false;
        if let Some(saved) = saved {
            alike = saved.manager.is_like(&self.manager) && saved.tails.pages() == self.tails.pages();
            let counts_alike = saved.manager.counting() == self.manager.counting();
            if !self.sums.adopt(saved.sums, counts_alike) || saved.kept.len() != self.kept.len() {
                return false;
            }
            self.kept = saved.kept;
            if alike {
                if !saved.manager.fits(layout) || !saved.tails.fits(layout) {
                    return false;
                }
                let fresh = std::mem::replace(&mut self.manager, saved.manager);
                self.manager.take_params(&fresh);
                (self.tails, self.rng) = (saved.tails, saved.rng);
                (self.counters, self.burst) = (saved.counters, saved.burst);
                (self.reached, self.warned) = (saved.reached, saved.warned);
            }
        }
        if !alike {
            let is_closed = |unit: &UnitId| units.meta[*unit].pos != NOT_INDEXED;
            let mut closed: Vec<UnitId> = UnitId::all(layout.units()).filter(is_closed).collect();
            closed.sort_by_key(|&unit| units.closed_at[unit]);
            closed.into_iter().for_each(|unit| self.closed(layout.domain_of(unit), unit));
        }
        self.watch_adopted(layout, alike);
        true
    }

    /// Sets the watched points of blocks that have been read before. The maximum may have changed; another manager is
    /// notified of the points that it would have watched.
    fn watch_adopted(&mut self, layout: &Layout, alike: bool) {
        // Notifications that were pending in the snapshot stay pending.
        let there_is = |block: &u32| u64::from(*block) < layout.geometry().blocks();
        self.reached.retain(there_is);
        self.warned.retain(there_is);
        let pending: std::collections::BTreeSet<u32> = self.reached.iter().copied().collect();
        for block in (0..layout.geometry().blocks() as u32).filter(|block| !pending.contains(block)) {
            let (unit, sum) = (self.sums.unit_of(block), self.sums.counted(block));
            let watch = self.watch_from(unit, if alike { sum } else { 0 });
            self.sums.set_watch(block, watch);
            if self.is_due(unit) || watch <= sum && self.manager.acts() {
                self.reached.push(block);
            }
        }
    }

    /// Returns the mode of a unit in a snapshot, if this drive has no such mode.
    pub fn foreign_mode(&self, saved: &Self) -> Option<u32> {
        let modes = self.plan().disturb.modes;
        saved.sums.last_mode(&self.sums).filter(|&mode| mode >= modes)
    }

    /// Counts a unit that was reclaimed.
    pub fn count_reclaim(&mut self, urgency: Urgency) {
        let reads = || self.sums.reads().iter().sum();
        self.counters.first_after_reads = self.counters.first_after_reads.or_else(|| Some(reads()));
        match urgency {
            Urgency::Urgent => self.counters.on_demand += 1,
            _ => self.counters.background += 1,
        }
    }

    /// Checks a unit again whose job was dropped.
    pub fn reconsider(&mut self, unit: UnitId) {
        for block in self.sums.blocks_of(unit) {
            let sum = self.sums.counted(block);
            if sum > 0 {
                self.sums.set_watch(block, sum);
                self.reached.push(block);
            }
        }
    }

    /// Prefetches what a read of a page will change.
    #[inline(always)]
    pub fn prefetch(&self, layout: &Layout, ppn: Ppn) {
        self.sums.prefetch(layout.unit_of(ppn));
        self.manager.prefetch(ppn);
    }

    /// Returns the bytes of the manager's tables and of the replicas.
    pub fn memory_bytes(&self, replicas: Option<&Replicas>) -> u64 {
        self.manager.memory_bytes() + replicas.map_or(0, Replicas::memory_bytes)
    }

    /// Yields the units that stay open from one job to the next.
    pub fn kept(&self) -> impl Iterator<Item = &Frontier> {
        self.kept.iter().filter(|frontier| frontier.unit != crate::units::NO_UNIT)
    }
}
