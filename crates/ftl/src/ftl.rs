//! The state of the page-mapped drive, and what the host can do to it.

use crate::collect::Victim;
use crate::free_pages::{FreePages, OpenPages};
use crate::index::Index;
use crate::last::Last;
use crate::level::Level;
use crate::leveling::Leveling;
use crate::live::Live;
use crate::migrate::Migration;
use crate::pace::{NEVER, Pace};
use crate::separate::{Foresight, Separate, Separation, Shape};
use crate::units::{FreeChoice, FreePool, Frontier, Units};
use floatgate_base::extents::{Extents, Kind};
use floatgate_base::{Hints, Lpn, Ppn, Rng, memory::table, prefetch::prefetch};
use floatgate_flash::{Cause, Flash, Layout};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Map words with this bit set are no plain page numbers: the page is unmapped, or (later) shared, packed or
/// replicated, and a side table knows more.
pub(crate) const SIDE_TABLE: u32 = 1 << 31;
/// The map word of a logical page that was never written, or was trimmed.
pub(crate) const UNMAPPED: u32 = u32::MAX;

/// Extents ahead of the present one whose map entry is asked for.
const MAP_AHEAD: usize = 16;
/// Extents ahead whose old page's block is asked for; its map entry has arrived by then.
const OLD_AHEAD: usize = 8;

/// Where a host page may go (`ftl.allocation.mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// To the planes in turn.
    Dynamic,
    /// To the plane that its logical number names.
    Static,
}

/// Names of the allocations with what they do.
pub const ALLOCATIONS: &[(&str, &str)] =
    &[("dynamic", "pages go to the planes in turn"), ("static", "the logical page number names the plane")];

/// How the drive is managed.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// Whether a page may go to any plane.
    pub allocation: Allocation,
    /// Jobs in idle time collect in a domain that has fewer free units; 0 for never.
    pub background_free_units: u32,
    /// Victim policy.
    pub victim: Victim,
    /// Separator.
    pub separate: Separate,
    /// Wear-leveler.
    pub level: Level,
    /// Which free unit is opened next.
    pub free_choice: FreeChoice,
    /// Collection starts when a domain has fewer free units.
    pub trigger_free_units: u32,
    /// Collection stops when a domain has so many free units; at least the trigger.
    pub stop_free_units: u32,
    /// Whether victims are collected at a pace, too.
    pub pace: Option<Pace>,
    /// Seed of the run.
    pub seed: u64,
}

/// What collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GcCounters {
    /// Units collected.
    pub victims: u64,
    /// Of these, units without a valid page.
    pub dead_victims: u64,
    /// Pages moved.
    pub copied_pages: u64,
}

/// Why the drive stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No domain has a free page left, and collection gains none.
    OutOfFreeBlocks,
    /// The budget of program/erase cycles is used up.
    WornOut,
}

/// The drive stopped at an extent of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Index of the extent.
    pub extent: usize,
    /// Reason.
    pub failure: Failure,
}

/// A page-mapped drive.
#[derive(Clone, Debug)]
pub struct Ftl {
    pub(crate) layout: Layout,
    pub(crate) setup: Setup,
    /// Logical to physical, 4 bytes a page.
    pub(crate) map: Vec<u32>,
    /// Physical to logical, 4 bytes a page; stale where the page is not live.
    pub(crate) reverse: Vec<Lpn>,
    pub(crate) live: Live,
    pub(crate) units: Units,
    pub(crate) index: Index,
    pub(crate) free: Vec<FreePool>,
    /// Open units, `stream * domains + domain`.
    pub(crate) frontiers: Vec<Frontier>,
    /// Domain of the next host page, round-robin.
    pub(crate) next_domain: u32,
    /// Host page writes so far: the age of policies.
    pub(crate) now: u64,
    pub(crate) rng: Rng,
    pub(crate) gc: GcCounters,
    /// Units collected, by valid pages.
    pub(crate) victims_by_valid: Vec<u64>,
    /// Where there is a wear-leveler.
    pub(crate) leveling: Option<Leveling>,
    /// Where the separator looks at pages.
    pub(crate) separation: Option<Box<Separation>>,
    /// Where the separator has update blocks that are taken last: those that are closed.
    pub(crate) last: Option<Box<Last>>,
    pub(crate) free_pages: FreePages,
    pub(crate) open_pages: OpenPages,
    /// Host page writes at which the next victim at a pace is due, and the domain that is asked first.
    pub(crate) paced_at: u64,
    pub(crate) paced_domain: u32,
    /// Host pages that pass over a domain before it is tried again, after it was found full of valid pages.
    pub(crate) pass_over: Vec<u32>,
    /// The victim's live pages while it is being collected.
    pub(crate) moving: Vec<(Ppn, Lpn)>,
    /// Jobs begun in idle time, by domain.
    pub(crate) jobs: Vec<Option<Migration>>,
    /// Host page writes when idle time last found nothing to gain, by domain.
    pub(crate) futile_at: Vec<Option<u64>>,
    /// Whether counting has begun: what happens before wears nothing out. From then on the array is asked whenever the
    /// host opens a unit.
    pub(crate) counting: bool,
    pub(crate) prefetching: bool,
}

impl Ftl {
    /// An empty drive.
    #[must_use]
    pub fn new(layout: Layout, setup: Setup) -> Self {
        let (domains, per_domain) = (layout.domains(), layout.units_per_domain());
        let pool = |d: u32| FreePool::new(setup.free_choice, d * per_domain..(d + 1) * per_domain);
        let separation = Separation::of(setup.separate, &Shape::of(&layout, setup.logical_pages));
        let update_blocks = separation.as_ref().map(|separation| separation.update_blocks());
        Self {
            map: table(setup.logical_pages as usize, UNMAPPED),
            reverse: table(layout.pages() as usize, 0),
            live: Live::new(layout.pages()),
            units: Units::new(&layout),
            index: Index::new(setup.victim.index_kind(), &layout),
            free: (0..domains).map(pool).collect(),
            frontiers: vec![Frontier::CLOSED; (setup.separate.streams() * domains) as usize],
            next_domain: 0,
            now: 0,
            rng: Rng::new(setup.seed, "ftl"),
            gc: GcCounters::default(),
            victims_by_valid: vec![0; layout.pages_per_unit() as usize + 1],
            leveling: Leveling::of(&setup, &layout),
            separation,
            last: update_blocks.and_then(|mode| Last::of(mode, setup.victim.index_kind(), &layout)),
            free_pages: FreePages::new(layout.pages()),
            open_pages: OpenPages::default(),
            paced_at: NEVER,
            paced_domain: 0,
            pass_over: vec![0; domains as usize],
            moving: Vec::with_capacity(layout.pages_per_unit() as usize),
            jobs: vec![None; domains as usize],
            futile_at: vec![None; domains as usize],
            counting: false,
            prefetching: true,
            layout,
            setup,
        }
    }

    /// Switches the hints to the memory system; results never depend on them.
    pub fn set_prefetching(&mut self, on: bool) {
        self.prefetching = on;
    }

    /// Serves extents in order.
    ///
    /// # Errors
    /// When the drive cannot go on; the extents before the one named were served.
    pub fn serve<F: Flash>(&mut self, flash: &mut F, extents: &Extents) -> Result<(), Stopped> {
        self.serve_range(flash, extents, 0..extents.len())
    }

    /// Serves the extents in `range`, in order; what lies behind it is only looked at ahead of time.
    ///
    /// # Errors
    /// When the drive cannot go on; the extents before the one named were served.
    pub fn serve_range<F: Flash>(
        &mut self,
        flash: &mut F,
        extents: &Extents,
        range: Range<usize>,
    ) -> Result<(), Stopped> {
        match (self.separation.is_some(), self.setup.pace.is_some()) {
            (false, false) => self.serve_all::<false, false, F>(flash, extents, range),
            (true, false) => self.serve_all::<true, false, F>(flash, extents, range),
            (false, true) => self.serve_all::<false, true, F>(flash, extents, range),
            (true, true) => self.serve_all::<true, true, F>(flash, extents, range),
        }
    }

    /// [`Ftl::serve_range`], with a separator that looks at pages or without one, with victims at a pace or without.
    #[inline(always)]
    fn serve_all<const LOOKS: bool, const PACED: bool, F: Flash>(
        &mut self,
        flash: &mut F,
        extents: &Extents,
        range: Range<usize>,
    ) -> Result<(), Stopped> {
        for i in range {
            if self.prefetching {
                self.prefetch_for::<LOOKS>(extents, i);
            }
            let (first, pages) = (extents.lpn[i], extents.pages[i]);
            let hints = if LOOKS { extents.hints_of(i) } else { Hints::default() };
            let done = match extents.kind[i] {
                Kind::Write => {
                    let mut all = first..first + pages;
                    all.try_for_each(|lpn| {
                        self.write::<LOOKS, F>(flash, lpn, hints, Cause::Host)?;
                        if PACED { self.keep_pace(flash) } else { Ok(()) }
                    })
                }
                Kind::Read => {
                    (first..first + pages).for_each(|lpn| self.read(flash, lpn));
                    Ok(())
                }
                Kind::WritePartial => {
                    let done = self.write_partial::<LOOKS, F>(flash, first, hints);
                    if PACED { done.and_then(|()| self.keep_pace(flash)) } else { done }
                }
                Kind::Trim => {
                    (first..first + pages).for_each(|lpn| self.trim(flash, lpn));
                    Ok(())
                }
            };
            done.map_err(|failure| Stopped { extent: i, failure })?;
        }
        Ok(())
    }

    /// The map entry of a request to come, then the block of the page that it will replace: on a large drive each
    /// is a miss to memory, and their order is known long before their turn.
    #[inline(always)]
    fn prefetch_for<const LOOKS: bool>(&self, extents: &Extents, i: usize) {
        if let Some(&lpn) = extents.lpn.get(i + MAP_AHEAD) {
            prefetch(&self.map, lpn as usize);
            if LOOKS && let Some(separation) = &self.separation {
                separation.prefetch(lpn);
            }
        }
        // A read replaces nothing.
        if let Some(&lpn) = extents.lpn.get(i + OLD_AHEAD)
            && extents.kind[i + OLD_AHEAD] != Kind::Read
        {
            let old = self.map[lpn as usize];
            if old & SIDE_TABLE == 0 {
                self.live.prefetch(old);
                self.index.prefetch(self.layout.unit_of(old), &self.units.meta);
            }
        }
    }

    #[inline(always)]
    fn write<const LOOKS: bool, F: Flash>(
        &mut self,
        flash: &mut F,
        lpn: Lpn,
        hints: Hints,
        cause: Cause,
    ) -> Result<(), Failure> {
        let stream = match &mut self.separation {
            Some(separation) if LOOKS => {
                let update = self.map[lpn as usize] & SIDE_TABLE == 0;
                separation.write(lpn, update, hints, self.now)
            }
            _ => self.setup.separate.blind().0,
        };
        let slot = self.host_frontier(flash, stream, lpn)?;
        // Opening a unit may have moved this very page: the map is read after it.
        let ppn = self.append(slot, lpn);
        let old = std::mem::replace(&mut self.map[lpn as usize], ppn);
        self.now += 1;
        flash.program(ppn, lpn, cause);
        if old & SIDE_TABLE == 0 {
            self.invalidate::<LOOKS>(old);
        }
        Ok(())
    }

    /// Takes the next page of an open unit for `lpn`; the map is the caller's to change.
    #[inline(always)]
    pub(crate) fn append(&mut self, slot: usize, lpn: Lpn) -> Ppn {
        let frontier = &mut self.frontiers[slot];
        let ppn = frontier.next;
        frontier.next += 1;
        self.reverse[ppn as usize] = lpn;
        self.live.set(ppn);
        ppn
    }

    /// A read-modify-write: what is on flash of the page is read first.
    fn write_partial<const LOOKS: bool, F: Flash>(
        &mut self,
        flash: &mut F,
        lpn: Lpn,
        hints: Hints,
    ) -> Result<(), Failure> {
        let old = self.map[lpn as usize];
        if old & SIDE_TABLE == 0 {
            flash.read(old, lpn, Cause::Partial);
        }
        self.write::<LOOKS, F>(flash, lpn, hints, Cause::Partial)
    }

    #[inline(always)]
    fn read<F: Flash>(&mut self, flash: &mut F, lpn: Lpn) {
        let ppn = self.map[lpn as usize];
        if ppn & SIDE_TABLE == 0 {
            flash.read(ppn, lpn, Cause::Host);
        } else {
            flash.read_unmapped(lpn);
        }
    }

    fn trim<F: Flash>(&mut self, flash: &mut F, lpn: Lpn) {
        let old = std::mem::replace(&mut self.map[lpn as usize], UNMAPPED);
        if old & SIDE_TABLE == 0 {
            self.invalidate::<true>(old);
            if let Some(separation) = &mut self.separation {
                separation.trimmed(lpn, self.now);
            }
        }
        flash.trim(lpn);
    }

    /// A live page dies.
    #[inline(always)]
    fn invalidate<const LOOKS: bool>(&mut self, ppn: Ppn) {
        self.live.clear(ppn);
        let unit = self.layout.unit_of(ppn);
        let meta = &mut self.units.meta[unit as usize];
        let valid = meta.valid;
        meta.valid = valid - 1;
        if meta.pos != crate::units::NOT_INDEXED {
            if LOOKS
                && let Some(last) = &mut self.last
                && last.holds(unit)
            {
                return last.demote(&self.layout, unit, valid, &mut self.units);
            }
            if valid == self.layout.pages_per_unit() {
                self.units.worthwhile[self.layout.domain_of(unit) as usize] += 1;
            }
            self.index.demote(&self.layout, unit, valid, &mut self.units.meta);
        }
    }

    /// Starts counting afresh: what collection did, mean free space and wear. The state stays.
    pub fn reset_counts<F: Flash>(&mut self, flash: &mut F) {
        flash.reset_counts();
        self.counting = true;
        self.gc = GcCounters::default();
        self.victims_by_valid.fill(0);
        if let Some(leveling) = &mut self.leveling {
            leveling.restart();
        }
        if let Some(separation) = &mut self.separation {
            separation.reset_counts();
        }
        self.free_pages.restart(self.now);
        self.open_pages.restart(self.now);
        self.start_pace();
        self.free.iter_mut().for_each(FreePool::forget_wear);
    }

    /// Hands a separator that knows the future what it is to know, before the workload begins; others take no notice.
    pub fn foresee(&mut self, foresight: Foresight) {
        if let Some(separation) = &mut self.separation {
            separation.foresee(foresight);
        }
    }

    /// Hands it over again, when a run goes on: snapshots leave out what the workload tells.
    pub fn recall(&mut self, foresight: Foresight) {
        if let Some(separation) = &mut self.separation {
            separation.recall(foresight);
        }
    }

    /// What the separator knows of the future, where it knows any.
    #[must_use]
    pub fn foresight(&self) -> Option<&Foresight> {
        self.separation.as_ref().and_then(|separation| separation.foresight())
    }

    /// The drive is in its first state: the next write is the workload's first.
    pub fn workload_begins(&mut self) {
        if let Some(separation) = &mut self.separation {
            separation.workload_begins(self.now);
        }
    }

    /// What collection did since counting began.
    #[must_use]
    pub fn gc(&self) -> GcCounters {
        self.gc
    }

    /// Units collected since counting began, by valid pages: `[v]` had `v`.
    #[must_use]
    pub fn victims_by_valid(&self) -> &[u64] {
        &self.victims_by_valid
    }

    /// The separator at work, where it looks at pages.
    #[must_use]
    pub fn separation(&self) -> Option<&Separation> {
        self.separation.as_deref()
    }

    /// Units that are open and have pages left, and those pages.
    #[must_use]
    pub fn open_units(&self) -> (u64, u64) {
        let open = self.frontiers.iter().filter(|frontier| frontier.room() > 0);
        open.fold((0, 0), |(units, pages), frontier| (units + 1, pages + u64::from(frontier.room())))
    }

    /// Pages of open units that are yet to be written, on average over the host page writes counted: as each comes, once
    /// it has its unit.
    #[must_use]
    pub fn mean_open_pages(&self) -> f64 {
        self.open_pages.mean(self.now)
    }

    /// The most units that streams held at once; a full one is held until its stream opens the next.
    #[must_use]
    pub fn most_open_units(&self) -> u64 {
        self.open_pages.most()
    }

    /// Domains that allocate and collect for themselves.
    #[must_use]
    pub fn domains(&self) -> u32 {
        self.layout.domains()
    }

    /// Free units of all domains.
    #[must_use]
    pub fn free_units(&self) -> u64 {
        self.free.iter().map(|pool| u64::from(pool.len())).sum()
    }

    /// Free pages, those of open units included, on average over the host page writes counted.
    #[must_use]
    pub fn mean_free_pages(&self) -> f64 {
        self.free_pages.mean(self.now)
    }

    /// Units by number of valid pages, free and open units left out: `histogram[v]` units have `v`.
    #[must_use]
    pub fn valid_histogram(&self) -> Vec<u64> {
        let mut histogram = vec![0; self.layout.pages_per_unit() as usize + 1];
        for meta in &self.units.meta {
            if meta.pos != crate::units::NOT_INDEXED {
                histogram[meta.valid as usize] += 1;
            }
        }
        histogram
    }
}
