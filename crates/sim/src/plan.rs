//! Everything a run needs, resolved: no defaults are filled in behind this point.

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

/// The state in which the drive starts (`ftl.precondition`).
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
    /// As the run that wrote a file left it.
    Snapshot,
    /// The last logical pages written once, the very last one first.
    Fill,
    /// Full, by [`Precondition::Steady`] where the victim policy has a law, and worn in by laps of the trace.
    Auto,
}

/// Names of the states with what they are.
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
    ("auto", "full, at steady state where the victim policy has a law, and worn in by laps of the trace"),
];

/// How [`Precondition::Auto`] fills the drive (`ftl.auto_fill`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoFill {
    /// As [`Precondition::Steady`].
    Steady,
    /// As [`Precondition::Random`], and then as many pages again, at random.
    Random,
}

/// Names of the ways with what they are.
pub const AUTO_FILLS: &[(&str, &str)] = &[
    ("steady", "block validity drawn from the steady-state law of the victim policy under uniform writes"),
    ("random", "every logical page written once in random order, then as many writes to random pages"),
];

/// What [`Precondition::Auto`] comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auto {
    /// How the drive is filled.
    pub fill: AutoFill,
    /// Why the steady state is not known, where it is not.
    pub no_law: Option<&'static str>,
    /// What laps of the trace may write at most, in logical capacities; none where there can be no laps.
    pub wear_in_max: Option<f64>,
}

/// Where requests come from.
#[derive(Clone, Debug)]
pub enum Workload {
    /// A generator.
    Synthetic(GeneratorConfig),
    /// A file.
    Trace {
        /// As the user named it; `-` is standard input.
        path: String,
        /// Format and units.
        options: OpenOptions,
        /// Passes that count.
        repeat: u64,
        /// Passes before them that do not.
        warmup_passes: u64,
    },
}

/// Whether time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Operations are counted.
    Functional,
    /// Operations take time and wait for one another.
    Timed(Arrival),
}

/// When a request arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrival {
    /// At its stamp.
    Open,
    /// At its stamp, moved by all throttling delays so far.
    Shifted,
    /// As soon as fewer than so many requests of a queue have arrived and are not done.
    Closed {
        /// At least 1.
        queue_depth: u32,
    },
    /// After the request before is done, and the gap between both stamps has passed.
    Think,
}

/// Collection in idle time (`ftl.background`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// Idle time collects in a domain that has fewer free units.
    pub trigger_free_units: u32,
    /// So long no host request must have been under way before it begins.
    pub idle_ns: u64,
}

/// The drive's flash (`[drive]`).
#[derive(Clone, Debug)]
pub struct DriveSettings {
    /// Shape of the flash in pages of the map, checked.
    pub geometry: Geometry,
    /// Pages of the map in a page of the flash.
    pub subpages: u32,
    /// Power-loss protection: what gathers in the controller outlives a power cut.
    pub plp: bool,
    /// Nominal times.
    pub timing: Timing,
    /// What the timed array is to be like.
    pub array: timed::Settings,
    /// Endurance model.
    pub endurance: Endurance,
    /// How reads disturb; none where they do not.
    pub disturb: Option<Disturb>,
    /// Share of the blocks that may wear out before the drive fails.
    pub bad_block_reserve: f64,
    /// Energy of the operations, where any is given.
    pub energy: Option<Energy>,
}

/// The DRAM buffer (`[drive.buffer]`).
#[derive(Clone, Copy, Debug)]
pub struct BufferSettings {
    /// Its size and habits.
    pub config: BufferConfig,
    /// Time that a page takes through it.
    pub access_ns: u64,
    /// The disturb-aware order: the share of the maximum by which a block has to be disturbed before its pages are kept.
    pub disturbed_share: f64,
}

/// How the drive is managed, and its first state (`[ftl]`).
#[derive(Clone, Debug)]
pub struct FtlSettings {
    /// (T - U) / T as asked for.
    pub spare_factor: f64,
    /// What is collected together.
    pub scope: Scope,
    /// In which order planes take pages.
    pub allocation_order: [layout::Level; 4],
    /// Collection in idle time.
    pub background: Option<Background>,
    /// Which writes belong together.
    pub dispatch: Dispatch,
    /// What the FTL itself goes by.
    pub setup: Setup,
    /// State at the start.
    pub precondition: Precondition,
    /// Pages of [`Precondition::Fill`], no more than the logical ones.
    pub fill_pages: u32,
    /// The file of [`Precondition::Snapshot`].
    pub snapshot: Option<String>,
    /// What [`Precondition::Auto`] comes to.
    pub auto: Option<Auto>,
}

impl FtlSettings {
    /// Leaves out the laps before the first request that counts: for who goes on in laps anyway.
    pub fn without_wear_in(&mut self) {
        self.auto.iter_mut().for_each(|auto| auto.wear_in_max = None);
    }

    /// Whether a wear-leveler is at work.
    #[must_use]
    pub fn levels_wear(&self) -> bool {
        self.setup.level != Level::None
    }

    /// How far ahead of the mean block the wear-leveler lets a block get, where its rule says so.
    #[must_use]
    pub fn lead_limit(&self) -> Option<LeadLimit> {
        self.setup.level.lead_limit()
    }
}

/// The throttle (`[lifetime.throttle]`).
#[derive(Clone, Copy, Debug)]
pub struct ThrottleSettings {
    /// Which one.
    pub policy: Throttle,
    /// Its parameters.
    pub params: throttle::Params,
    /// Years that the drive should last.
    pub target_years: f64,
}

/// Deduplication and compression (`[lifetime.reduce]`); what the FTL needs of it stands in its setup.
#[derive(Clone, Copy, Debug)]
pub struct ReduceSettings {
    /// Which reducer.
    pub policy: Reducer,
    /// Its parameters.
    pub params: reduce::Params,
}

/// What the host does (`[workload]`).
#[derive(Clone, Debug)]
pub struct WorkloadSettings {
    /// Where requests come from.
    pub source: Workload,
    /// Where it ends by what it has written.
    pub until: Option<Until>,
    /// Whether writes are mixed up.
    pub shuffle: Option<Shuffle>,
    /// How many cursors issue them at once.
    pub amplification: Amplification,
    /// Requests served first that do not count.
    pub warmup_requests: u64,
    /// Addresses beyond the drive.
    pub beyond: Beyond,
    /// Several devices in one trace.
    pub devices: Devices,
    /// The model of what is written, where the workload does not say.
    pub content: Option<ContentModel>,
    /// Whether each pass over a trace writes content that no other pass has.
    pub renews_content: bool,
    /// Functional mode: stamps are moved by all throttling delays so far, as under [`Arrival::Shifted`].
    pub shifted: bool,
    /// Reads are left out, for whoever counts programs.
    pub without_reads: bool,
    /// Where the requests of a trace are kept from one pass to the next, and for other runs with it.
    pub keep: Keep,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of every random stream.
    pub seed: u64,
    /// Whether time passes.
    pub mode: Mode,
    /// The flash.
    pub drive: DriveSettings,
    /// The DRAM buffer, if there is one.
    pub buffer: Option<BufferSettings>,
    /// How it is managed.
    pub ftl: FtlSettings,
    /// The throttle.
    pub throttle: ThrottleSettings,
    /// Deduplication and compression.
    pub reduce: ReduceSettings,
    /// The host's queues; they matter in timed mode.
    pub queues: QueueSetup,
    /// What the host does.
    pub workload: WorkloadSettings,
    /// Whether a drive that is worn out stops the run.
    pub wears_out: bool,
    /// Timed: who is busy with what is recorded from the first to the second of these times, nanoseconds since counting
    /// began, but no more spans than the third. Changes no result.
    pub timeline: Option<(u64, u64, usize)>,
    /// Whether the shadow model watches.
    pub shadow: bool,
    /// Whether memory is asked for ahead of time; never changes results.
    pub prefetching: bool,
}

impl DriveSettings {
    /// Bytes of a page of the flash.
    #[must_use]
    pub fn flash_page_bytes(&self) -> u32 {
        self.geometry.page_bytes * self.subpages
    }

    /// Pages of the flash in a block.
    #[must_use]
    pub fn flash_pages_per_block(&self) -> u32 {
        self.geometry.pages_per_block / self.subpages
    }
}

impl Plan {
    /// Nanoseconds that the flash takes to read and to program a page of the map, by nominal times.
    #[must_use]
    pub fn page_ns(&self) -> [u64; 2] {
        let timing = &self.drive.timing;
        [timing.mean_read_us(), timing.mean_program_us()]
            .map(|us| (us * 1e3 / f64::from(self.drive.subpages)).round() as u64)
    }

    /// What idle time is used for; where it is not for collection, it is for other jobs.
    #[must_use]
    pub fn background(&self) -> Option<Background> {
        let others = Background { trigger_free_units: 0, idle_ns: 0 };
        self.ftl.background.or_else(|| self.ftl.setup.idle_jobs.then_some(others))
    }

    /// How units lie on the flash.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::new(self.drive.geometry, self.ftl.scope)
            .with_subpages(self.drive.subpages)
            .with_order(self.ftl.allocation_order)
    }

    /// Whether a power cut loses what gathers in the controller, so that FLUSH and FUA mean something to it.
    #[must_use]
    pub fn loses_power(&self) -> bool {
        !self.drive.plp && self.drive.subpages > 1
    }

    /// Whether pages gather in the controller until they are compressed together, so that FLUSH and FUA mean something to it.
    #[must_use]
    pub fn gathers_chunks(&self) -> bool {
        self.ftl.setup.reduce.is_some_and(|reduce| reduce.chunks.is_some())
    }

    /// Whether page writes pass a gate that may hold them back.
    #[must_use]
    pub fn throttles(&self) -> bool {
        self.throttle.policy.parts().is_some() || self.reduce.params.integrated.is_some()
    }

    /// What is to be said of a rate of a generator whose requests come as others end.
    #[must_use]
    pub fn idle_rate(&self) -> Option<String> {
        let Workload::Synthetic(GeneratorConfig { rate_per_s: Some(_), twin: None, .. }) =
            &self.workload.source
        else {
            return None;
        };
        matches!(self.mode, Mode::Timed(Arrival::Closed { .. })).then(|| {
            "requests come as others end (workload.arrival = \"closed\"): workload.rate_per_s has no effect".into()
        })
    }

    /// Whether what is read may change what is written.
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

    /// Energy of programming a page of the map, microjoules. Where the drive does not say what a flash page takes, it is 600 us at
    /// 48.5 mW for each 4 KiB (paper 2, section IV), as engines take their energy for each 4 KiB.
    #[must_use]
    pub fn program_uj(&self) -> f64 {
        const OF_4_KIB_UJ: f64 = 29.1;
        match self.drive.energy.and_then(|energy| energy.program_uj) {
            Some(flash_page_uj) => flash_page_uj / f64::from(self.drive.subpages),
            None => OF_4_KIB_UJ * f64::from(self.drive.geometry.page_bytes) / 4096.0,
        }
    }

    /// What the integrated manager goes by, where there is one.
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

    /// The plan with these schemes on all the time in place of what its reducer decides; without any where both are off.
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

    /// Width of the windows of a pass in which it is told apart how much reduction leaves: a fifth of a manager's epoch.
    #[must_use]
    pub fn reduction_window_ns(&self) -> u64 {
        const WINDOW_NS: u64 = 60_000_000_000;
        self.reduce.params.integrated.map_or(WINDOW_NS, |integrated| (integrated.epoch_ns / 5).max(1))
    }

    /// By how much hashing, compressing and decompressing a page of the map delays its request, nanoseconds; none where nothing
    /// is delayed.
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

    /// Bytes of flash of the smallest drive of this make that shows at least `logical_bytes`.
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
