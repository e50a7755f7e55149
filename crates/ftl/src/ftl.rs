//! The state of the page-mapped drive, and how callers inspect it. `host.rs` serves host requests.

use crate::collect::{Apart, Candidates, Garbage, Timing, TimingCounters};
use crate::dpes::ScalerState;
use crate::free_pages::{FreePages, OpenPages};
use crate::jobs::waiting::Waiting;
use crate::jobs::{Job, Urgency};
use crate::level::{LevelCounters, Leveling};
use crate::metadata::{MapLog, MetadataCounters};
use crate::owners::{Mapping, ReplicaCounters, Replicas};
use crate::pool::FreePool;
use crate::reclaim::Reclaiming;
use crate::reduce::{Laying, Reduction, Repacking};
use crate::separate::{Foresight, Separation, Shape};
use crate::setup::{GcCounters, Pace, Setup};
use crate::units::{Frontier, NOT_INDEXED, Units};
use crate::volatile::Volatile;
use floatgate_base::{DomainId, IdSlice, IdVec, Lpn, Owner, Ppn, StreamId, UnitId};
use floatgate_flash::{Flash, Layout};

/// A page-mapped drive.
#[derive(Clone, Debug)]
pub struct Ftl {
    pub(crate) layout: Layout,
    pub(crate) setup: Setup,
    pub(crate) mapping: Mapping,
    pub(crate) units: Units,
    /// Closed units.
    pub(crate) candidates: Candidates,
    pub(crate) free: IdVec<DomainId, FreePool>,
    /// Open units, `stream * domains + domain`.
    pub(crate) frontiers: Vec<Frontier>,
    /// Domain of the next host page, round-robin.
    pub(crate) next_domain: DomainId,
    /// Pages programmed for host writes so far, the clock of age-based policies. Equals host page writes unless
    /// deduplication or compression reduces them.
    pub(crate) now: u64,
    pub(crate) gc: GcCounters,
    /// Units collected, by valid pages.
    pub(crate) victims_by_valid: Vec<u64>,
    /// Present with a wear-leveler.
    pub(crate) leveling: Option<Leveling>,
    /// Present if reads disturb blocks.
    pub(crate) reclaiming: Option<Box<Reclaiming>>,
    /// Present if erases have modes.
    pub(crate) scaler: Option<ScalerState>,
    /// Present with deduplication or compression.
    pub(crate) reduction: Option<Box<Reduction>>,
    /// Logical pages that are mapped.
    pub(crate) mapped_pages: u64,
    /// Present if the separator inspects pages.
    pub(crate) separation: Option<Box<Separation>>,
    pub(crate) free_pages: FreePages,
    pub(crate) open_pages: OpenPages,
    /// Present if program contexts decide when victims are collected.
    pub(crate) timing: Option<Box<Timing>>,
    /// Host page writes at which the next paced victim is due, and the domain to try first.
    pub(crate) paced_at: u64,
    pub(crate) paced_domain: DomainId,
    /// Turns left during which host pages skip a domain, after it turned out to be full of valid pages.
    pub(crate) pass_over: IdVec<DomainId, u32>,
    /// With several pages per flash page: the slot in which each stream last began a flash page.
    pub(crate) filling: IdVec<StreamId, u32>,
    /// Scratch: the pages of a host read that lie in one flash page.
    pub(crate) reading: Vec<(Ppn, Lpn)>,
    /// What a power cut would lose, on drives without power-loss protection.
    pub(crate) volatile: Volatile,
    /// Scratch for writing chunks, and for moving them.
    pub(crate) laying: Laying,
    pub(crate) repacking: Repacking,
    /// Scratch: the pages that a step of a job moves.
    pub(crate) moving: Vec<(Ppn, Owner)>,
    /// Waiting jobs, by domain.
    pub(crate) jobs: IdVec<DomainId, Waiting>,
    /// Host page writes when idle-time collection last had nothing to gain, by domain.
    pub(crate) futile_at: IdVec<DomainId, Option<u64>>,
    /// Under incremental collection, host pages that each domain takes before its jobs take another step.
    pub(crate) next_step_in: IdVec<DomainId, u32>,
    /// Whether counting has begun; wear before that does not count. From then on the array is queried for wear-out
    /// whenever the host opens a unit.
    pub(crate) counting: bool,
    pub(crate) prefetching: bool,
    /// Whether the setup needs the code compiled with all features.
    pub(crate) needs_all: bool,
}

impl Ftl {
    /// Creates an empty drive.
    #[must_use]
    pub fn new(layout: Layout, setup: Setup) -> Self {
        let (domains, per_domain) = (layout.domains(), layout.units_per_domain());
        let units = |d: u32| UnitId(d * per_domain)..UnitId((d + 1) * per_domain);
        let pool = |d: u32| FreePool::new(setup.free_choice, units(d));
        let leveling = Leveling::of(setup.level, setup.seed, &layout);
        let pages = setup.mapped_pages_max();
        let separation = Separation::of(setup.separate, &Shape::of(&layout, pages, setup.seed));
        let slots = (setup.separate.streams() * domains) as usize;
        let mut reclaiming = setup
            .disturb
            .map(|(disturb, reclaim)| Box::new(Reclaiming::new(disturb, reclaim, setup.seed, &layout)));
        let kind = setup.victim.index_kind();
        let apart = separation.as_ref().and_then(|separation| Apart::of(separation, kind, &layout));
        let mut mapping = Mapping::new(pages, layout.pages());
        mapping.sides.log = setup.metadata.map(|metadata| Box::new(MapLog::new(metadata)));
        if reclaiming.as_ref().is_some_and(|reclaiming| reclaiming.tails.pages() > 0) {
            mapping.sides.replicated = Some(Box::new(Replicas::new(&layout)));
        }
        if let (Some(reclaiming), Some(chunks)) =
            (&mut reclaiming, setup.reduce.and_then(|reduce| reduce.chunks))
        {
            reclaiming.set_reads_at_once(chunks.pages, &layout);
        }
        if let Some(reduce) = &setup.reduce {
            (mapping.sides.shared, mapping.sides.packed) = Reduction::tables(reduce);
        }
        let reduction = setup.reduce.map(|reduce| Box::new(Reduction::new(reduce, pages, slots)));
        let mut candidates = Candidates::new(kind, apart, &layout, setup.seed);
        candidates.garbage = setup.garbage_share.map(|_| Garbage::default());
        Self {
            mapping,
            reclaiming,
            reduction,
            scaler: setup.dpes.as_ref().map(ScalerState::of),
            units: Units::new(&layout),
            candidates,
            free: (0..domains).map(pool).collect(),
            frontiers: vec![Frontier::CLOSED; slots],
            next_domain: DomainId(0),
            now: 0,
            gc: GcCounters::default(),
            victims_by_valid: vec![0; layout.pages_per_unit() as usize + 1],
            needs_all: setup.needs_all()
                || layout.is_packed()
                || leveling.as_ref().is_some_and(|leveling| leveling.needs_reads()),
            leveling,
            mapped_pages: 0,
            separation,
            timing: Self::timing_of(&setup, &layout),
            free_pages: FreePages::new(layout.pages()),
            open_pages: OpenPages::default(),
            paced_at: Pace::NEVER,
            paced_domain: DomainId(0),
            pass_over: IdVec::filled(0, domains),
            filling: IdVec::filled(0, if layout.is_packed() { setup.separate.streams() } else { 0 }),
            reading: Vec::new(),
            volatile: Volatile::new(!setup.plp && layout.is_packed(), &layout, slots),
            laying: Laying::default(),
            repacking: Repacking::default(),
            moving: Vec::with_capacity(layout.pages_per_unit() as usize),
            jobs: IdVec::filled(Waiting::default(), domains),
            futile_at: IdVec::filled(None, domains),
            next_step_in: IdVec::filled(0, domains),
            counting: false,
            prefetching: true,
            layout,
            setup,
        }
    }

    /// Creates the timing of collection by context, if the setup has it.
    pub(crate) fn timing_of(setup: &Setup, layout: &Layout) -> Option<Box<Timing>> {
        setup.timing.map(|settings| Box::new(Timing::new(settings, layout, setup.mapped_pages_max())))
    }

    /// Turns memory prefetch hints on or off; results never depend on them.
    pub fn set_prefetching(&mut self, on: bool) {
        self.prefetching = on;
    }

    /// Restarts the counters of collection, leveling, mean free space and wear. The state stays.
    pub fn reset_counts<F: Flash>(&mut self, flash: &mut F) {
        flash.reset_counts();
        self.counting = true;
        self.gc = GcCounters::default();
        self.victims_by_valid.fill(0);
        if let Some(leveling) = &mut self.leveling {
            let levels = |job: &&Job| job.request.urgency == Urgency::Leveling;
            let pending = self.jobs.iter().map(|waiting| waiting.iter().filter(levels).count() as u64).sum();
            leveling.restart(pending);
        }
        if let Some(reclaiming) = &mut self.reclaiming {
            reclaiming.restart();
        }
        if let Some(reduction) = &mut self.reduction {
            reduction.reset_counts();
        }
        if let Some(scaler) = &mut self.scaler {
            scaler.restart();
        }
        if let Some(replicas) = self.mapping.replicas_mut() {
            replicas.counters = ReplicaCounters::default();
        }
        if let Some(log) = &mut self.mapping.sides.log {
            log.counters = MetadataCounters::default();
        }
        if let Some(separation) = &mut self.separation {
            separation.reset_counts();
        }
        if let Some(timing) = &mut self.timing {
            timing.reset_counts();
        }
        self.free_pages.restart(self.now);
        self.open_pages.restart(self.now);
        self.paced_at = self.setup.pace.map_or(Pace::NEVER, |pace| pace.first_due(self.now));
        self.free.iter_mut().for_each(FreePool::forget_wear);
    }

    /// Hands an oracle separator its knowledge of the future before the workload begins; other separators ignore it.
    pub fn foresee(&mut self, foresight: Foresight) {
        if let Some(separation) = &mut self.separation {
            separation.foresee(foresight);
        }
    }

    /// Hands it over again when a run resumes: snapshots leave out what comes from the workload.
    pub fn recall(&mut self, foresight: Foresight) {
        if let Some(separation) = &mut self.separation {
            separation.recall(foresight);
        }
    }

    /// Returns the oracle separator's knowledge of the future, if it has any.
    #[must_use]
    pub fn foresight(&self) -> Option<&Foresight> {
        self.separation.as_ref().and_then(|separation| separation.foresight())
    }

    /// Notifies the drive that preconditioning is over: the next write is the workload's first.
    pub fn workload_begins(&mut self) {
        if let Some(separation) = &mut self.separation {
            separation.workload_begins(self.now);
        }
    }

    /// Returns the counters of collection since counting began.
    #[must_use]
    pub fn gc(&self) -> GcCounters {
        self.gc
    }

    /// Returns the counters of metadata since counting began, if the drive keeps its map on flash.
    #[must_use]
    pub fn metadata(&self) -> Option<MetadataCounters> {
        self.mapping.sides.log.as_ref().map(|log| log.counters)
    }

    /// Returns the units collected since counting began, by valid pages: entry `v` counts units that had `v`.
    #[must_use]
    pub fn victims_by_valid(&self) -> &[u64] {
        &self.victims_by_valid
    }

    /// Returns the counters of wear-leveling since counting began.
    #[must_use]
    pub fn leveled(&self) -> LevelCounters {
        self.leveling.as_ref().map_or_else(LevelCounters::default, |leveling| leveling.counters)
    }

    /// Returns what collection by context did since counting began, if contexts decide, with the entries of its table in
    /// use and the replaced ones.
    #[must_use]
    pub fn timing(&self) -> Option<(TimingCounters, (u64, u64))> {
        self.timing.as_ref().map(|timing| (timing.counters, timing.entries()))
    }

    /// Learns the erases of each unit from a restored array.
    pub fn learn_wear(&mut self, erases: &IdSlice<UnitId, u32>) {
        if let Some(leveling) = &mut self.leveling {
            leveling.learn_wear(&self.layout, erases);
        }
    }

    /// Sets the erases of all units after wear was extrapolated by `erases` in all.
    pub fn leap(&mut self, counts: &IdSlice<UnitId, u32>, erases: u64) {
        self.free.iter_mut().for_each(|pool| pool.learn_wear(counts));
        if let Some(leveling) = &mut self.leveling {
            leveling.leap(&self.layout, counts, erases);
        }
    }

    /// Returns the separator, if it inspects pages.
    #[must_use]
    pub fn separation(&self) -> Option<&Separation> {
        self.separation.as_deref()
    }

    /// Returns the number of open units with pages left, and those pages.
    #[must_use]
    pub fn open_units(&self) -> (u64, u64) {
        let open = self.frontiers.iter().filter(|frontier| frontier.room() > 0);
        open.fold((0, 0), |(units, pages), frontier| (units + 1, pages + u64::from(frontier.room())))
    }

    /// Returns the unwritten pages of open units, averaged over the counted host page writes. Each write is counted
    /// after it has its open unit.
    #[must_use]
    pub fn mean_open_pages(&self) -> f64 {
        self.open_pages.mean(self.now)
    }

    /// Returns the most units that streams held at once; a full one is held until its stream opens the next.
    #[must_use]
    pub fn most_open_units(&self) -> u64 {
        self.open_pages.most()
    }

    /// Returns the number of domains, which allocate and collect independently.
    #[must_use]
    pub fn domains(&self) -> u32 {
        self.layout.domains()
    }

    /// Returns the chip that holds a logical page in a flash page of its own; chips of the first channel come first.
    #[inline]
    #[must_use]
    pub fn chip_of(&self, lpn: Lpn) -> Option<u32> {
        let ppn = self.mapping.page_of(self.mapping.get(lpn))?;
        Some(self.layout.chip_of(ppn))
    }

    /// Counts the free units of all domains.
    #[must_use]
    pub fn free_units(&self) -> u64 {
        self.free.iter().map(|pool| u64::from(pool.len())).sum()
    }

    /// Counts the free units of a domain.
    #[must_use]
    pub fn free_units_of(&self, domain: DomainId) -> u32 {
        self.free[domain].len()
    }

    /// Returns the free pages, those of open units included, averaged over the counted host page writes.
    #[must_use]
    pub fn mean_free_pages(&self) -> f64 {
        self.free_pages.mean(self.now)
    }

    /// Counts the physical pages in use. A chunk with holes counts the pages that its live slots would take if
    /// repacked.
    #[must_use]
    pub fn live_pages(&self) -> u64 {
        u64::from(self.mapping.count_live(Ppn(0)..Ppn(self.layout.pages())))
    }

    /// Counts closed units by number of valid pages: `histogram[v]` units have `v`. Free and open units are left out.
    #[must_use]
    pub fn valid_histogram(&self) -> Vec<u64> {
        let mut histogram = vec![0; self.layout.pages_per_unit() as usize + 1];
        for meta in &self.units.meta {
            if meta.pos != NOT_INDEXED {
                histogram[meta.valid as usize] += 1;
            }
        }
        histogram
    }
}
