//! Everything a run needs, resolved: no defaults are filled in behind this point.

use floatgate_flash::timed::{Commands, Order, Phases, Settings};
use floatgate_flash::{Layout, Scope, layout};
use floatgate_ftl::{Allocation, FreeChoice, Level, Pace, Separate, Setup, Victim};
use floatgate_host::{Beyond, BufferConfig, Devices, QueueSetup};
use floatgate_lifetime::Throttle;
use floatgate_nand::{Endurance, Energy, Geometry, Timing};
use floatgate_trace::{GeneratorConfig, OpenOptions};
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
];

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

/// A run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whether time passes.
    pub mode: Mode,
    /// The host's queues; they matter in timed mode.
    pub queues: QueueSetup,
    /// Seed of every random stream.
    pub seed: u64,
    /// Shape of the flash, checked.
    pub geometry: Geometry,
    /// Nominal times.
    pub timing: Timing,
    /// Optional commands of the flash.
    pub commands: Commands,
    /// Which operation is next at a die.
    pub order: Order,
    /// Whether urgent jobs rank with host writes.
    pub urgent_as_writes: bool,
    /// Endurance model.
    pub endurance: Endurance,
    /// Energy of the operations, where any is given.
    pub energy: Option<Energy>,
    /// The DRAM buffer, if there is one.
    pub buffer: Option<BufferConfig>,
    /// Time that a page takes through the buffer.
    pub buffer_access_ns: u64,
    /// What is collected together.
    pub scope: Scope,
    /// (T - U) / T as asked for.
    pub spare_factor: f64,
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// Whether a page may go to any plane.
    pub allocation: Allocation,
    /// In which order planes take pages.
    pub allocation_order: [layout::Level; 4],
    /// Collection in idle time.
    pub background: Option<Background>,
    /// Victim policy.
    pub victim: Victim,
    /// Separator.
    pub separate: Separate,
    /// Wear-leveler.
    pub level: Level,
    /// Throttle.
    pub throttle: Throttle,
    /// Its parameters.
    pub throttle_params: floatgate_lifetime::throttle::Params,
    /// Functional mode: stamps are moved by all throttling delays so far, as under [`Arrival::Shifted`].
    pub shifted: bool,
    /// Whether a drive that is worn out stops the run.
    pub wears_out: bool,
    /// Which free block is opened next.
    pub free_choice: FreeChoice,
    /// Collection starts when a domain has fewer free units.
    pub trigger_free_units: u32,
    /// Collection stops at so many.
    pub stop_free_units: u32,
    /// Functional: victims collected at a pace beside these levels.
    pub pace: Option<Pace>,
    /// State at the start.
    pub precondition: Precondition,
    /// Pages of [`Precondition::Fill`], no more than the logical ones.
    pub fill_pages: u32,
    /// The file of [`Precondition::Snapshot`].
    pub snapshot: Option<String>,
    /// Years that the drive should last.
    pub target_years: f64,
    /// Where requests come from.
    pub workload: Workload,
    /// Requests served first that do not count.
    pub warmup_requests: u64,
    /// Addresses beyond the drive.
    pub beyond: Beyond,
    /// Several devices in one trace.
    pub devices: Devices,
    /// Timed: who is busy with what is recorded from the first to the second of these times, nanoseconds since counting
    /// began, but no more spans than the third. Changes no result.
    pub timeline: Option<(u64, u64, usize)>,
    /// Whether the shadow model watches.
    pub shadow: bool,
    /// Whether memory is asked for ahead of time; never changes results.
    pub prefetching: bool,
}

impl Plan {
    /// How units lie on the flash.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::new(self.geometry, self.scope).with_order(self.allocation_order)
    }

    /// Bytes of flash of the smallest drive of this make that shows at least `logical_bytes`.
    #[must_use]
    pub fn capacity_for(&self, logical_bytes: u64) -> u64 {
        let row = Geometry { blocks_per_plane: 1, ..self.geometry };
        let page_bytes = f64::from(row.page_bytes);
        let shown =
            |rows: u64| ((rows * row.pages()) as f64 * (1.0 - self.spare_factor)).floor() * page_bytes;
        let guess = logical_bytes as f64 / (1.0 - self.spare_factor) / row.bytes() as f64;
        let mut rows = (guess as u64).max(1);
        while shown(rows) < logical_bytes as f64 {
            rows += 1;
        }
        rows.saturating_mul(row.bytes())
    }

    /// How the FTL is to manage the drive.
    #[must_use]
    pub fn ftl_setup(&self) -> Setup {
        Setup {
            logical_pages: self.logical_pages,
            allocation: self.allocation,
            background_free_units: self.background.map_or(0, |b| b.trigger_free_units),
            victim: self.victim,
            separate: self.separate,
            level: self.level,
            free_choice: self.free_choice,
            trigger_free_units: self.trigger_free_units,
            stop_free_units: self.stop_free_units,
            pace: self.pace,
            seed: self.seed,
        }
    }

    /// What the timed array is to be like.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let ns = |us: f64| (us * 1e3).round() as u64;
        let t = &self.timing;
        let phases = Phases {
            command_ns: ns(t.command_us),
            transfer_ns: ns(t.transfer_us(self.geometry.page_bytes)),
            read_ns: t.read_us.map(ns),
            program_ns: t.program_us.map(ns),
            page_types: t.page_types,
            program_spread: t.program_spread,
            erase_ns: ns(t.erase_us),
        };
        Settings {
            phases,
            commands: self.commands,
            order: self.order,
            urgent_as_writes: self.urgent_as_writes,
            seed: self.seed,
        }
    }
}
