//! Capabilities and durations of the timed array.

use crate::Class;
use floatgate_nand::EraseModes;
use floatgate_nand::erase_modes::MODES_MAX as SCALES_MAX;
use floatgate_nand::timing::PAGE_TYPES_MAX;
use serde::{Deserialize, Serialize};

/// Most modes in which a block may be programmed.
pub const MODES_MAX: usize = 4;
/// Most rows of the table of array times in one mode of erases.
pub const ROWS_MAX: usize = MODES_MAX * PAGE_TYPES_MAX;

/// Array times of the pages of one type, in blocks of one mode of erases and one of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTimes {
    /// Time of a read, nanoseconds.
    pub read_ns: u64,
    /// Time of a program, nanoseconds.
    pub program_ns: u64,
}

/// Times of the phases in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Command and address on the channel, before every array operation.
    pub command_ns: u64,
    /// One page over the channel.
    pub transfer_ns: u64,
    /// Array times by mode of erases, mode of programs and type of the page: type `t` in modes `e` and `m` is row
    /// `(e * modes + m) * page_types + t`, with [`ROWS_MAX`] rows in each array. Further rows are unused.
    pub rows: [[PageTimes; ROWS_MAX]; SCALES_MAX],
    /// Number of page types: page `p` of a block has type `p % page_types`.
    pub page_types: u32,
    /// Number of modes of programs, from 1 to [`MODES_MAX`].
    pub modes: u32,
    /// Number of modes of erases, from 1 to [`SCALES_MAX`].
    pub scales: u32,
    /// Spread of program times: up to this share more or less, drawn evenly; 0 for none.
    pub program_spread: f64,
    /// Array time of an erase in the ordinary mode.
    pub erase_ns: u64,
    /// Further time of an erase, by its mode.
    pub erase_more_ns: [u64; SCALES_MAX],
    /// Spread of erase times: up to this share more or less, drawn evenly; 0 for none.
    pub erase_spread: f64,
}

impl Phases {
    /// Returns a row of the array times.
    #[inline(always)]
    pub(super) fn row(&self, row: u8) -> &PageTimes {
        // Rows are in the table; the remainder spares a bounds check.
        &self.rows.as_flattened()[usize::from(row) % (ROWS_MAX * SCALES_MAX)]
    }

    /// Returns the array time of an erase in a mode, without its spread.
    #[inline(always)]
    pub(super) fn erase_ns_in(&self, mode: u8) -> u64 {
        self.erase_ns + self.erase_more_ns[usize::from(mode) % SCALES_MAX]
    }

    /// Returns these phases with modes of erases. The factors of both kinds of modes multiply the time of a program.
    #[must_use]
    pub fn scaled(self, modes: &EraseModes) -> Self {
        let rows = (self.modes * self.page_types) as usize;
        let times = |ns: u64, factor: f64| (ns as f64 * factor).round() as u64;
        let mut scaled = Self { scales: u32::from(modes.count), ..self };
        for mode in 0..usize::from(modes.count) {
            for row in 0..rows {
                let PageTimes { read_ns, program_ns } = self.rows[0][row];
                let program_ns = times(program_ns, modes.program_factors[mode]);
                let at = mode * rows + row;
                scaled.rows[at / ROWS_MAX][at % ROWS_MAX] = PageTimes { read_ns, program_ns };
            }
            scaled.erase_more_ns[mode] = times(self.erase_ns, modes.erase_factors[mode] - 1.0);
        }
        scaled
    }

    /// Creates phases with one type of pages and one mode, no command overhead, no spread.
    #[must_use]
    pub const fn plain(transfer_ns: u64, read_ns: u64, program_ns: u64, erase_ns: u64) -> Self {
        Self {
            command_ns: 0,
            transfer_ns,
            rows: [[PageTimes { read_ns, program_ns }; ROWS_MAX]; SCALES_MAX],
            page_types: 1,
            modes: 1,
            scales: 1,
            program_spread: 0.0,
            erase_ns,
            erase_more_ns: [0; SCALES_MAX],
            erase_spread: 0.0,
        }
    }
}

/// Creates the table of a drive whose blocks have one mode of each kind, from the times of reads and programs by page
/// type.
#[must_use]
pub fn one_mode(
    read_ns: [u64; PAGE_TYPES_MAX],
    program_ns: [u64; PAGE_TYPES_MAX],
) -> [[PageTimes; ROWS_MAX]; SCALES_MAX] {
    let mut rows = [PageTimes::default(); ROWS_MAX];
    for (row, (read_ns, program_ns)) in rows.iter_mut().zip(read_ns.into_iter().zip(program_ns)) {
        *row = PageTimes { read_ns, program_ns };
    }
    [rows; SCALES_MAX]
}

/// Which pages of several planes one command may address together (`drive.commands.multi_plane`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MultiPlane {
    /// No multi-plane commands.
    None,
    /// Pages with one number, in any block of each plane.
    SamePage,
    /// Pages with one number, in blocks with one number.
    SameBlockAndPage,
    /// Any page of each plane.
    Any,
}

/// Names of the rules with their meaning.
pub const MULTI_PLANE: &[(&str, &str)] = &[
    ("none", "one plane at a time"),
    ("same-page", "pages with one number, in any block of each plane"),
    ("same-block-and-page", "pages with one number in blocks with one number"),
    ("any", "any page of each plane"),
];

/// Optional commands of the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    /// Planes that work together.
    pub multi_plane: MultiPlane,
    /// The next read's array time overlaps the previous transfer.
    pub cache_read: bool,
    /// The next program's transfer overlaps the previous array time.
    pub cache_program: bool,
    /// Moves within a plane stay inside the die.
    pub copyback: bool,
    /// Suspension of programs and erases for host reads.
    pub suspend: Suspend,
}

/// Suspension of programs and erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspend {
    /// Whether programs may be suspended.
    pub program: bool,
    /// Whether erases may be suspended.
    pub erase: bool,
    /// From the suspend command until the array is free.
    pub suspend_ns: u64,
    /// From the resume command until the array continues.
    pub resume_ns: u64,
    /// Most reads that may overtake one program or erase; then it ends undisturbed.
    pub reads_max: u32,
}

impl Commands {
    /// No optional commands.
    pub const PLAIN: Self = Self {
        multi_plane: MultiPlane::None,
        cache_read: false,
        cache_program: false,
        copyback: false,
        suspend: Suspend { program: false, erase: false, suspend_ns: 0, resume_ns: 0, reads_max: 0 },
    };
}

/// The order in which a die serves its waiting operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// The most preferred class with an operation that may start.
    Priority([Class; 3]),
    /// The operation that was issued first among those that may start.
    Fcfs,
}

/// Settings of a timed array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Durations.
    pub phases: Phases,
    /// Optional commands.
    pub commands: Commands,
    /// Order of service.
    pub order: Order,
    /// Under priorities: whether jobs on which a host write depends rank with host writes.
    pub urgent_as_writes: bool,
    /// Whether jobs keep host operations off their whole channel (`hold.rs`); not with suspension or cache commands.
    pub jobs_hold_channel: bool,
    /// Whether host reads of pages that a job moves take the old copy (`old_copies.rs`); not where jobs hold their channel.
    pub reads_old_copies: bool,
    /// Seed of the spread of program times.
    pub seed: u64,
    /// Whether data that gather in the controller survive a power cut; if not, an erase waits for the programs of data
    /// moved from its block.
    pub plp: bool,
}

impl Settings {
    /// Creates settings with plain commands, and reads before writes before the background.
    #[must_use]
    pub const fn plain(phases: Phases) -> Self {
        Self {
            phases,
            commands: Commands::PLAIN,
            order: Order::Priority(Class::ALL),
            urgent_as_writes: false,
            jobs_hold_channel: false,
            reads_old_copies: false,
            seed: 1,
            plp: true,
        }
    }
}

/// Draws a time up to a share above or below `ns`.
#[inline(always)]
pub(super) fn spread(rng: &mut floatgate_base::Rng, ns: u64, share: f64) -> u64 {
    if share == 0.0 {
        return ns;
    }
    (ns as f64 * (1.0 + share * (2.0 * rng.unit() - 1.0))).round() as u64
}
