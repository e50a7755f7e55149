//! All settings of a run, resolved: no defaults are filled in after this point.

use floatgate_flash::{Layout, Scope, layout, timed};
use floatgate_ftl::reduce::Reduce;
pub use floatgate_ftl::reduce::Schemes;
use floatgate_ftl::{Level, Setup};
use floatgate_host::{Beyond, BufferConfig, Devices, Dispatch, QueueSetup};
use floatgate_lifetime::reduce::{self, Engine, ManagerSetup, Reducer};
use floatgate_lifetime::{Throttle, throttle};
use floatgate_nand::{Disturb, Endurance, Energy, Geometry, LeadLimit, Timing};
use floatgate_trace::{Amplification, ContentModel, GeneratorConfig, Keep, OpenOptions, Shuffle, Until};
use serde::{Deserialize, Serialize};

/// The initial state of the drive (`ftl.precondition`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Empty.
    None,
    /// Every logical page written once, ascending.
    Sequential,
    /// Every logical page written once, in random order.
    Random,
    /// Block validity drawn from the steady-state law of the victim policy under uniform writes.
    Steady,
    /// The state left by the run that wrote a file.
    Snapshot,
    /// The last logical pages written once, from the very last one downwards.
    Fill,
    /// Full, by [`Precondition::Steady`] if the victim policy has a law, and worn in by laps of the trace.
    Auto,
}

/// Names of the states with their descriptions.
pub const PRECONDITIONS: &[(&str, &str)] = &[
    ("none", "an empty drive"),
    ("sequential", "every logical page written once, ascending"),
    ("random", "every logical page written once, in random order"),
    ("steady", "block validity drawn from the steady-state law of the victim policy under uniform writes"),
    ("snapshot", "the drive that an earlier run left in the file ftl.snapshot (run --save-drive)"),
    (
        "fill",
        "the last logical pages written once, downwards, as many as make up ftl.fill_share of the flash",
    ),
    ("auto", "full, at steady state if the victim policy has a law, and worn in by laps of the trace"),
];

/// How [`Precondition::Auto`] fills the drive (`ftl.auto_fill`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoFill {
    /// As [`Precondition::Steady`].
    Steady,
    /// As [`Precondition::Random`], then as many writes again to random pages.
    Random,
}

/// Names of the fills with their descriptions.
pub const AUTO_FILLS: &[(&str, &str)] = &[
    ("steady", "block validity drawn from the steady-state law of the victim policy under uniform writes"),
    ("random", "every logical page written once in random order, then as many writes to random pages"),
];

/// The resolved [`Precondition::Auto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auto {
    /// How the drive is filled.
    pub fill: AutoFill,
    /// Why the steady state is unknown, if it is.
    pub no_law: Option<&'static str>,
    /// Most that laps of the trace may write, in logical capacities; None if laps are impossible.
    pub wear_in_max: Option<f64>,
}

/// Source of requests.
#[derive(Clone, Debug)]
pub enum Workload {
    /// A generator.
    Synthetic(GeneratorConfig),
    /// A file.
    Trace {
        /// Path as named by the user; `-` is standard input.
        path: String,
        /// Format and units.
        options: OpenOptions,
        /// Counted passes.
        repeat: u64,
        /// Uncounted passes before them.
        warmup_passes: u64,
    },
}

/// Whether operations take time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Operations are counted.
    Functional,
    /// Operations take time and wait for one another.
    Timed(Arrival),
}

/// Arrival of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrival {
    /// At its stamp.
    Open,
    /// At its stamp, moved by all throttling delays so far.
    Shifted,
    /// As soon as fewer than this many requests of a queue have arrived and are not completed.
    Closed {
        /// At least 1.
        queue_depth: u32,
    },
    /// After the completion of the previous request plus the gap between both stamps.
    Think,
}

/// Collection in idle time (`ftl.background`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// Free units of a domain below which idle time collects.
    pub trigger_free_units: u32,
    /// Time without host requests in flight before it begins, where nothing is predicted.
    pub idle_ns: u64,
    /// Prediction of long idle periods, if any.
    pub by_context: Option<ByContext>,
    /// Time without host requests in flight after which a burst is over, if collection prepares for bursts.
    pub burst_gap_ns: Option<u64>,
}

/// Prediction of long idle periods by the program contexts before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByContext {
    /// Shorter gaps belong to a burst: nothing is predicted or learnt in them.
    pub settle_ns: u64,
    /// Periods from this length on are long.
    pub long_ns: u64,
    /// Entries of its table, at least 1.
    pub contexts: u32,
    /// Confidence from which on a context predicts.
    pub confident_from: u8,
    /// Last contexts that predict together, at least 1.
    pub path: u32,
}

/// The drive's flash (`[drive]`).
#[derive(Clone, Debug)]
pub struct DriveSettings {
    /// Shape of the flash in pages of the map, checked.
    pub geometry: Geometry,
    /// Pages of the map in a page of the flash.
    pub subpages: u32,
    /// Power-loss protection: data that gathers in the controller survives a power cut.
    pub plp: bool,
    /// Nominal times.
    pub timing: Timing,
    /// Settings of the timed array.
    pub array: timed::Settings,
    /// Endurance model.
    pub endurance: Endurance,
    /// Parameters of read disturb; None if reads do not disturb.
    pub disturb: Option<Disturb>,
    /// Share of the blocks that may wear out before the drive fails.
    pub bad_block_reserve: f64,
    /// Energy of the operations, if configured.
    pub energy: Option<Energy>,
}

/// The DRAM buffer (`[drive.buffer]`).
#[derive(Clone, Copy, Debug)]
pub struct BufferSettings {
    /// Its size and policies.
    pub config: BufferConfig,
    /// Latency of a page through it.
    pub access_ns: u64,
    /// The disturb-aware order: the share of the maximum from which on the pages of a disturbed block are kept.
    pub disturbed_share: f64,
}

/// Management of the drive, and its initial state (`[ftl]`).
#[derive(Clone, Debug)]
pub struct FtlSettings {
    /// Required (T - U) / T.
    pub spare_factor: f64,
    /// The units that are collected together.
    pub scope: Scope,
    /// Order in which planes take pages.
    pub allocation_order: [layout::Level; 4],
    /// Collection in idle time.
    pub background: Option<Background>,
    /// Writes that belong together.
    pub dispatch: Dispatch,
    /// Settings of the FTL.
    pub setup: Setup,
    /// Initial state.
    pub precondition: Precondition,
    /// Pages of [`Precondition::Fill`], at most the logical ones.
    pub fill_pages: u32,
    /// The file of [`Precondition::Snapshot`].
    pub snapshot: Option<String>,
    /// The resolved [`Precondition::Auto`].
    pub auto: Option<Auto>,
}

impl FtlSettings {
    /// Removes the laps before the first counted request, for runs that consist of laps anyway.
    pub fn without_wear_in(&mut self) {
        self.auto.iter_mut().for_each(|auto| auto.wear_in_max = None);
    }

    /// Returns whether a wear-leveler is active.
    #[must_use]
    pub fn levels_wear(&self) -> bool {
        self.setup.level != Level::None
    }

    /// Returns how far ahead of the mean block the wear-leveler lets a block get, if its rule limits leads.
    #[must_use]
    pub fn lead_limit(&self) -> Option<LeadLimit> {
        self.setup.level.lead_limit()
    }
}

/// The throttle (`[lifetime.throttle]`).
#[derive(Clone, Copy, Debug)]
pub struct ThrottleSettings {
    /// The policy.
    pub policy: Throttle,
    /// Its parameters.
    pub params: throttle::Params,
    /// Target life of the drive, years.
    pub target_years: f64,
}

/// Deduplication and compression (`[lifetime.reduce]`); the FTL's part of it is in its setup.
#[derive(Clone, Copy, Debug)]
pub struct ReduceSettings {
    /// The policy.
    pub policy: Reducer,
    /// Its parameters.
    pub params: reduce::Params,
}

/// The host (`[workload]`).
#[derive(Clone, Debug)]
pub struct WorkloadSettings {
    /// Source of requests.
    pub source: Workload,
    /// End by the volume written.
    pub until: Option<Until>,
    /// Whether writes are shuffled.
    pub shuffle: Option<Shuffle>,
    /// Number of cursors that issue requests at once.
    pub amplification: Amplification,
    /// Uncounted requests at the beginning.
    pub warmup_requests: u64,
    /// Addresses beyond the drive.
    pub beyond: Beyond,
    /// Several devices in one trace.
    pub devices: Devices,
    /// Model of the content, if the workload does not specify it.
    pub content: Option<ContentModel>,
    /// Whether each pass over a trace writes new content.
    pub renews_content: bool,
    /// Functional mode: stamps are moved by all throttling delays so far, as under [`Arrival::Shifted`].
    pub shifted: bool,
    /// Factor on the rate of requests with times; for forecasts.
    pub demand: f64,
    /// Leaves out reads; for counting programs.
    pub without_reads: bool,
    /// Where the requests of a trace are kept between passes, and for other runs with it.
    pub keep: Keep,
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of every random stream.
    pub seed: u64,
    /// Whether operations take time.
    pub mode: Mode,
    /// The flash.
    pub drive: DriveSettings,
    /// The DRAM buffer, if there is one.
    pub buffer: Option<BufferSettings>,
    /// Management of the drive.
    pub ftl: FtlSettings,
    /// The throttle.
    pub throttle: ThrottleSettings,
    /// Deduplication and compression.
    pub reduce: ReduceSettings,
    /// The host's queues; they matter in timed mode.
    pub queues: QueueSetup,
    /// The host.
    pub workload: WorkloadSettings,
    /// Whether a worn-out drive stops the run.
    pub wears_out: bool,
    /// Timed mode: start and end of the recorded activity, nanoseconds since counting began, and its maximum of spans.
    /// Does not change results.
    pub timeline: Option<(u64, u64, usize)>,
    /// Whether the shadow model checks all operations.
    pub shadow: bool,
    /// Whether memory is prefetched; does not change results.
    pub prefetching: bool,
}

impl DriveSettings {
    /// Returns the bytes of a flash page.
    #[must_use]
    pub fn flash_page_bytes(&self) -> u32 {
        self.geometry.page_bytes * self.subpages
    }

    /// Returns the flash pages per block.
    #[must_use]
    pub fn flash_pages_per_block(&self) -> u32 {
        self.geometry.pages_per_block / self.subpages
    }
}

impl Plan {
    /// Returns the same workload without an end and without throttle, on a drive that does not wear out.
    pub(crate) fn endless(&self) -> Self {
        let mut plan = self.clone();
        plan.mode = Mode::Functional;
        plan.throttle.policy = Throttle::None;
        plan.drive.endurance = Endurance::Fixed { pe_cycles: u32::MAX };
        plan.timeline = None;
        plan.ftl.without_wear_in();
        match &mut plan.workload.source {
            Workload::Trace { repeat, warmup_passes, .. } => *repeat = u64::MAX - *warmup_passes,
            // As many passes as time stamps can represent.
            Workload::Synthetic(config) => {
                config.requests = config.rate_per_s.map_or(u64::MAX, |rate| (8e9 * rate) as u64);
            }
        }
        plan
    }

    /// Returns the mean array time of a program, microseconds; of modes of erases that are chosen in a run, the ordinary
    /// one.
    #[must_use]
    pub fn program_us(&self) -> f64 {
        let factor =
            self.ftl.setup.dpes.map_or(1.0, |dpes| dpes.modes.program_factors[usize::from(dpes.start())]);
        self.drive.timing.mean_program_us() * factor
    }

    /// Returns the nanoseconds to read and to program a page of the map, by nominal times.
    #[must_use]
    pub fn page_ns(&self) -> [u64; 2] {
        let timing = &self.drive.timing;
        [timing.mean_read_us(), self.program_us()]
            .map(|us| (us * 1e3 / f64::from(self.drive.subpages)).round() as u64)
    }

    /// Returns the settings of background work; they apply to other jobs if not to collection.
    #[must_use]
    pub fn background(&self) -> Option<Background> {
        let others = Background { trigger_free_units: 0, idle_ns: 0, by_context: None, burst_gap_ns: None };
        self.ftl.background.or_else(|| self.ftl.setup.idle_jobs.then_some(others))
    }

    /// Returns the layout of units on the flash.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::new(self.drive.geometry, self.ftl.scope)
            .with_subpages(self.drive.subpages)
            .with_order(self.ftl.allocation_order)
    }

    /// Returns whether a power cut loses data that gathers in the controller, which gives FLUSH and FUA an effect on
    /// it.
    #[must_use]
    pub fn loses_power(&self) -> bool {
        !self.drive.plp && self.drive.subpages > 1
    }

    /// Returns whether changes of the map would be lost in a power cut, which lets FLUSH and FUA write its journal.
    #[must_use]
    pub fn loses_map(&self) -> bool {
        !self.drive.plp && self.ftl.setup.metadata.is_some()
    }

    /// Returns whether pages gather in the controller for compression, which gives FLUSH and FUA an effect on it.
    #[must_use]
    pub fn gathers_chunks(&self) -> bool {
        self.ftl.setup.reduce.is_some_and(|reduce| reduce.chunks.is_some())
    }

    /// Returns whether page writes pass a gate that may hold them back.
    #[must_use]
    pub fn throttles(&self) -> bool {
        self.throttle.policy.parts().is_some() || self.reduce.params.integrated.is_some()
    }

    /// Returns a note if the rate of a generator has no effect because requests follow completions.
    #[must_use]
    pub fn idle_rate(&self) -> Option<String> {
        let Workload::Synthetic(GeneratorConfig { rate_per_s: Some(_), twin: None, .. }) =
            &self.workload.source
        else {
            return None;
        };
        matches!(self.mode, Mode::Timed(Arrival::Closed { .. })).then(|| {
            "requests follow completions (workload.arrival = \"closed\"): workload.rate_per_s has no effect".into()
        })
    }

    /// Returns whether reads may change what is written.
    #[must_use]
    pub fn reads_matter(&self) -> bool {
        let setup = &self.ftl.setup;
        setup.disturb.is_some()
            || setup.programs_unwritten
            || setup.reduce.is_some()
            || self.buffer.is_some()
            || self.ftl.dispatch.makes_groups()
            || setup.level.needs_reads(&self.layout())
    }

    /// Returns the energy of programming a page of the map, microjoules. The default energy of a flash page is 600 us
    /// at 48.5 mW per 4 KiB (paper 2, section IV), because engines state their energy per 4 KiB.
    #[must_use]
    pub fn program_uj(&self) -> f64 {
        const OF_4_KIB_UJ: f64 = 29.1;
        match self.drive.energy.and_then(|energy| energy.program_uj) {
            Some(flash_page_uj) => flash_page_uj / f64::from(self.drive.subpages),
            None => OF_4_KIB_UJ * f64::from(self.drive.geometry.page_bytes) / 4096.0,
        }
    }

    /// Returns the parameters of the integrated manager, if there is one.
    #[must_use]
    pub fn manager(&self) -> Option<ManagerSetup> {
        let params = &self.reduce.params;
        let integrated = params.integrated?;
        let page_bytes = self.drive.geometry.page_bytes;
        let cost = |engine: Engine| engine.of_page(page_bytes).uj / self.program_uj();
        Some(ManagerSetup {
            epoch_ns: integrated.epoch_ns,
            epochs: integrated.epochs,
            sample_share: integrated.sample_share,
            hash_cost: params.dedup.map_or(0.0, |dedup| cost(dedup.hash)),
            compress_cost: params.chunks.map_or(0.0, |chunks| cost(chunks.compress)),
            page_bytes,
        })
    }

    /// Returns the plan with these schemes always active instead of its reducer's decisions; without a reducer if both
    /// are off.
    #[must_use]
    pub fn with_schemes(&self, schemes: Schemes) -> Self {
        let mut plan = self.clone();
        let params = &mut plan.reduce.params;
        params.integrated = None;
        params.dedup = params.dedup.filter(|_| schemes.dedup);
        params.chunks = params.chunks.filter(|_| schemes.compress);
        plan.reduce.policy = match (schemes.dedup, schemes.compress) {
            (false, false) => Reducer::None,
            (true, false) => Reducer::Dedup,
            (false, true) => Reducer::Compress,
            (true, true) => Reducer::Both,
        };
        plan.ftl.setup.reduce =
            plan.ftl.setup.reduce.filter(|_| plan.reduce.policy != Reducer::None).map(|reduce| Reduce {
                index_entries: if schemes.dedup { reduce.index_entries } else { 0 },
                chunks: reduce.chunks.filter(|_| schemes.compress),
                schemes,
                samples_below: 0,
            });
        plan
    }

    /// Returns the width of the windows of a pass in which the effect of reduction is measured: a fifth of a manager's
    /// epoch.
    #[must_use]
    pub fn reduction_window_ns(&self) -> u64 {
        const WINDOW_NS: u64 = 60_000_000_000;
        self.reduce.params.integrated.map_or(WINDOW_NS, |integrated| (integrated.epoch_ns / 5).max(1))
    }

    /// Returns the delays of a request by hashing, compressing and decompressing a page of the map, nanoseconds; None
    /// without delays.
    #[must_use]
    pub fn engine_delays(&self) -> Option<[u64; 3]> {
        let of_page = |engine: Engine| engine.of_page(self.drive.geometry.page_bytes).delay_ns;
        let params = &self.reduce.params;
        let hash = params.dedup.map_or(0, |dedup| of_page(dedup.hash));
        let chunks =
            params.chunks.map_or((0, 0), |chunks| (of_page(chunks.compress), of_page(chunks.decompress)));
        let delays = [hash, chunks.0, chunks.1];
        (delays != [0; 3]).then_some(delays)
    }

    /// Returns the flash bytes of the smallest drive of this make with a capacity of at least `logical_bytes`.
    #[must_use]
    pub fn capacity_for(&self, logical_bytes: u64) -> u64 {
        let row = Geometry { blocks_per_plane: 1, ..self.drive.geometry };
        let page_bytes = f64::from(row.page_bytes);
        let shown =
            |rows: u64| ((rows * row.pages()) as f64 * (1.0 - self.ftl.spare_factor)).floor() * page_bytes;
        let guess = logical_bytes as f64 / (1.0 - self.ftl.spare_factor) / row.bytes() as f64;
        let mut rows = (guess as u64).max(1);
        while shown(rows) < logical_bytes as f64 {
            rows += 1;
        }
        rows.saturating_mul(row.bytes())
    }
}
