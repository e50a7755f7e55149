//! `[drive]`: the flash of a drive.

use super::table::table;
use super::{Buffer, Disturb, Endurance, Scheduling};
use crate::presets::PRESETS;
use floatgate_base::policy::Range;
use floatgate_flash::timed::settings::MULTI_PLANE;
use floatgate_nand::timing::PAGE_TYPES_MAX;

/// The shortest and the longest time of an operation, microseconds: the clock counts whole nanoseconds, and 584 years of
/// them.
pub(crate) const US_MIN: f64 = 1e-3;
/// See [`US_MIN`].
pub(crate) const US_MAX: f64 = 1e8;
const OPERATION_US: (f64, f64) = (US_MIN, US_MAX);
const OPERATION_US_RANGE: Range = Range::closed(US_MIN, US_MAX);
const OPERATION_US_WORDS: &str = "a number from 0.001 (a nanosecond) to 1e8 (100 seconds)";
const FROM_0_US: (f64, f64) = (0.0, US_MAX);
const FROM_0_US_WORDS: &str = "a number from 0 to 1e8 (100 seconds)";
const COUNT: (u32, u32) = (1, u32::MAX);

table! {
    Drive = "drive", "The flash of a drive."
    rows {
        preset: String = listed("a drive of the catalogue (`floatgate drives`), which the other keys override", || {
            PRESETS.iter().map(|preset| preset.name).collect()
        });
        capacity: String = text("size of the flash, in place of geometry.blocks_per_plane", "", "a size such as \"128 GiB\"")
            .or("that of geometry");
        visible: String = text("bytes that the host sees, in place of ftl.spare_factor", "", "a size such as \"7 GiB\"")
            .or("by ftl.spare_factor");
    }
    tables {
        geometry: Geometry,
        timing: Timing,
        commands: Commands,
        scheduling: Scheduling,
        endurance: Endurance,
        disturb: Disturb,
    }
    rows {
        bad_block_reserve: f64 = real(
            "share of the blocks that may wear out before the drive fails, for they are replaced",
            // Makers of flash promise that at most so many blocks go bad within the rated cycles (98 % stay valid).
            0.02,
            (0.0, 0.5),
        );
    }
    tables {
        energy: Energy,
    }
    rows {
        plp: bool = flag(
            "power-loss protection; without it FLUSH and FUA, and collection before it erases, program flash pages of \
             several pages of the map before they are full",
            true,
        );
    }
    tables {
        buffer: Buffer,
        rated: Rated,
    }
}

table! {
    Rated = "drive.rated", "What the maker promises; results show it beside the life of the model, and nothing follows from it."
    rows {
        user_bytes: u64 = count_from("bytes that the user of the drive as it is sold sees", 1, 1).or("not known").up_to(USER_BYTES_MAX);
        user_capacity: String = text("the same as a size, in place of user_bytes", "", "a size such as \"1.92 TB\"").or("not known");
        tbw_tb: f64 = within(
            "rated endurance, 10^12 bytes that the host may write (TBW)",
            1.0,
            Range { above_least: true, ..Range::closed(0.0, USER_BYTES_MAX as f64 / 1e12) },
        )
        .or("not known");
        years: f64 = within(
            "years of warranty within which the rating holds",
            5.0,
            Range { above_least: true, ..Range::closed(0.0, 1000.0) },
        )
        .or("not known");
    }
}

/// More than any drive has, and far from the largest count of bytes.
pub(crate) const USER_BYTES_MAX: u64 = 9_000_000_000_000_000_000;

table! {
    Geometry = "drive.geometry", "Shape of the flash."
    rows {
        channels: u32 = whole("independent buses", 1, COUNT);
        chips_per_channel: u32 = whole("chips on each channel", 1, COUNT);
        dies_per_chip: u32 = whole("dies in each chip", 1, COUNT);
        planes_per_die: u32 = whole("planes in each die", 1, COUNT);
        blocks_per_plane: u32 = whole("blocks in each plane", 32_768, COUNT);
        pages_per_block: u32 = whole("pages in each block", 256, COUNT);
        page_bytes: u32 = whole("bytes of a page, a power of two", 4096, (512, 65_536))
            .expecting("a power of two from 512 to 65536");
    }
}

table! {
    Timing = "drive.timing", "Nominal times of the flash."
    rows {
        read_us: f64 = real("array time of a page read", 50.0, OPERATION_US).expecting(OPERATION_US_WORDS);
        program_us: f64 = real("array time of a page program", 600.0, OPERATION_US).expecting(OPERATION_US_WORDS);
        erase_us: f64 = real("array time of a block erase", 3000.0, OPERATION_US).expecting(OPERATION_US_WORDS);
        read_us_by_page_type: Vec<f64> = numbers(
            "in place of read_us: one time for each type of pages, LSB first; page p of a block has type p modulo their number",
            &[],
            (OPERATION_US_RANGE, PAGE_TYPES_MAX),
        )
        .or("read_us for all");
        program_us_by_page_type: Vec<f64> = numbers(
            "in place of program_us: one time for each type of pages, LSB first",
            &[],
            (OPERATION_US_RANGE, PAGE_TYPES_MAX),
        )
        .or("program_us for all");
        program_spread: f64 = within("a program takes up to this share more or less, drawn evenly", 0.0, Range::SHARE_BELOW_1)
            .timed();
        erase_spread: f64 = within("an erase takes up to this share more or less, drawn evenly", 0.0, Range::SHARE_BELOW_1)
            .timed();
        command_us: f64 = real("command and address on the channel before each array operation", 0.0, FROM_0_US)
            .expecting(FROM_0_US_WORDS);
        channel_mb_per_s: f64 = within("transfer rate of a channel", 333.0, Range::ABOVE_0);
    }
}

table! {
    Commands = "drive.commands", "Optional commands of the flash."
    rows {
        multi_plane: String = name("which pages of several planes one command may address", MULTI_PLANE).timed();
        cache_read: bool = flag("the array reads on while the page before leaves the die", false).timed();
        cache_program: bool = flag("data of the next program come in while the array programs", false).timed();
        copyback: bool = flag("moves within a plane stay inside the die", false).timed();
        program_suspend: bool = flag("host reads stop programs", false).timed();
        erase_suspend: bool = flag("host reads stop erases", false).timed();
        suspend_us: f64 = real("from the suspend command until the array is free", 20.0, FROM_0_US)
            .expecting(FROM_0_US_WORDS)
            .timed();
        resume_us: f64 = real("from the resume command until the array goes on", 20.0, FROM_0_US)
            .expecting(FROM_0_US_WORDS)
            .timed();
        suspend_reads_max: u32 = whole("reads that may pass one program or erase", 16, COUNT).timed();
    }
}

table! {
    Energy = "drive.energy", "Energy of the flash's operations. One without a figure is null in the result and in no sum."
    rows {
        read_uj: f64 = within("array read of a page", 0.0, Range::FROM_0).or("not known");
        program_uj: f64 = within("array program of a page", 0.0, Range::FROM_0).or("not known");
        erase_uj: f64 = within("erase of a block", 0.0, Range::FROM_0).or("not known");
        transfer_uj: f64 = within("a page over a channel", 0.0, Range::FROM_0).or("not known");
    }
}
