//! The experiment file as a user may write it. Every key is optional; unknown ones are refused.

use crate::slot_table::SlotTable;
use crate::slot_types;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tables of the slots.
pub type Map = SlotTable<slot_types::Map>;
/// See [`Map`].
pub type Collect = SlotTable<slot_types::Collect>;
/// See [`Map`].
pub type Separate = SlotTable<slot_types::Separate>;
/// See [`Map`].
pub type Level = SlotTable<slot_types::Level>;
/// See [`Map`].
pub type Reclaim = SlotTable<slot_types::Reclaim>;
/// See [`Map`].
pub type Dispatch = SlotTable<slot_types::Dispatch>;
/// See [`Map`].
pub type Throttle = SlotTable<slot_types::Throttle>;
/// See [`Map`].
pub type Reduce = SlotTable<slot_types::Reduce>;
/// See [`Map`].
pub type Disturb = SlotTable<slot_types::Disturb>;
/// See [`Map`].
pub type Endurance = SlotTable<slot_types::Endurance>;

/// Declares a table of optional keys: serialised without the missing ones, unknown keys refused.
macro_rules! table {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)*
        }
    };
}

table! {
    /// A floatgate experiment: a drive, its firmware, and a workload.
    Experiment {
        /// Seed of every random stream; default 1.
        seed: u64,
        /// How time is treated: "functional" (default) counts operations, "timed" lets them take time.
        mode: String,
        /// The flash.
        drive: Drive,
        /// The flash translation layer.
        ftl: Ftl,
        /// timed: how requests reach the drive.
        host: Host,
        /// What makes the drive last longer.
        lifetime: Lifetime,
        /// What the host does.
        workload: Workload,
    }
}

table! {
    /// The flash of a drive.
    Drive {
        /// A drive of the catalogue (`floatgate drives`) that the other keys override.
        preset: String,
        /// Size of the flash, such as "128 GiB", in place of geometry.blocks_per_plane.
        capacity: String,
        /// Counts of channels to pages.
        geometry: Geometry,
        /// Nominal times.
        timing: Timing,
        /// Optional commands of the flash; timed.
        commands: Commands,
        /// What is next at a die; timed.
        scheduling: Scheduling,
        /// How many cycles a block stands.
        endurance: Endurance,
        /// By how much reads disturb the block that they read.
        disturb: Disturb,
        /// Share of the blocks that may wear out before the drive fails, for they are replaced; default 0.02.
        bad_block_reserve: f64,
        /// Energy of the operations; without it the result has none.
        energy: Energy,
        /// Power-loss protection; default true. Without it FLUSH and FUA, and collection before it erases, program flash
        /// pages of several pages of the map before they are full.
        plp: bool,
        /// The DRAM buffer.
        buffer: Buffer,
        /// What the maker promises; results show it beside the life of the model, and nothing follows from it.
        rated: Rated,
    }
}

table! {
    /// What the maker of a drive promises. It changes no run.
    Rated {
        /// Bytes that the user of the drive as it is sold sees.
        user_bytes: u64,
        /// The same as a size such as "1.92 TB", in place of user_bytes.
        user_capacity: String,
        /// Rated endurance, 10^12 bytes that the host may write (TBW).
        tbw_tb: f64,
        /// Years of warranty within which the rating holds.
        years: f64,
    }
}

table! {
    /// The DRAM buffer (write-back).
    Buffer {
        /// Size, such as "32 MiB"; default "0 B": none.
        capacity: String,
        /// Which page leaves: "lru", the one used least recently (default), or "disturb-aware", which keeps those
        /// that are read most.
        policy: String,
        /// Whether pages that were read stay in it; default false, with policy "disturb-aware" true.
        read_cache: bool,
        /// disturb-aware: pages are kept of blocks that have been disturbed by this share of the maximum; default 0: of all.
        disturbed_share: f64,
        /// disturb-aware: share of the buffer for the pages that it keeps; default 0.8.
        kept_share: f64,
        /// disturb-aware: whether hot pages are read ahead of the host when their block reaches disturbed_share; default true.
        preload: bool,
        /// Share of its pages that may be dirty before some are flushed; default: pages are flushed as they leave.
        high_watermark: f64,
        /// Share that is still dirty after that.
        low_watermark: f64,
        /// timed: time that a page takes through it, microseconds; default 0.
        access_us: f64,
    }
}

table! {
    /// Shape of the flash.
    Geometry {
        /// Independent buses; default 1.
        channels: u32,
        /// Chips on each channel; default 1.
        chips_per_channel: u32,
        /// Dies in each chip; default 1.
        dies_per_chip: u32,
        /// Planes in each die; default 1.
        planes_per_die: u32,
        /// Blocks in each plane; default 32768.
        blocks_per_plane: u32,
        /// Pages in each block; default 256.
        pages_per_block: u32,
        /// Bytes of a page, a power of two from 512 to 65536; default 4096.
        page_bytes: u32,
    }
}

table! {
    /// Nominal times of the flash.
    Timing {
        /// Array time of a page read, microseconds; default 50.
        read_us: f64,
        /// Array time of a page program, microseconds; default 600.
        program_us: f64,
        /// Array time of a block erase, microseconds; default 3000.
        erase_us: f64,
        /// In place of read_us: one time for each type of pages, LSB first; page p of a block has type p modulo their
        /// number, which is at most 4.
        read_us_by_page_type: Vec<f64>,
        /// In place of program_us: likewise.
        program_us_by_page_type: Vec<f64>,
        /// timed: a program takes up to this share more or less, drawn evenly; default 0.
        program_spread: f64,
        /// timed: an erase takes up to this share more or less, drawn evenly; default 0.
        erase_spread: f64,
        /// Command and address on the channel before each array operation, microseconds; default 0.
        command_us: f64,
        /// Transfer rate of a channel, 10^6 bytes per second; default 333.
        channel_mb_per_s: f64,
    }
}

table! {
    /// Optional commands of the flash; timed.
    Commands {
        /// Pages of several planes in one command: "none" (default), "same-page" (of one number, in any block of each
        /// plane), "same-block-and-page" or "any".
        multi_plane: String,
        /// The array reads on while the page before leaves the die; default false.
        cache_read: bool,
        /// Data of the next program come in while the array programs; default false.
        cache_program: bool,
        /// Moves within a plane stay inside the die; default false.
        copyback: bool,
        /// Host reads stop programs; default false.
        program_suspend: bool,
        /// Host reads stop erases; default false.
        erase_suspend: bool,
        /// From the suspend command until the array is free, microseconds; default 20.
        suspend_us: f64,
        /// From the resume command until the array goes on, microseconds; default 20.
        resume_us: f64,
        /// Reads that may pass one program or erase; default 16.
        suspend_reads_max: u32,
    }
}

table! {
    /// What is next at a die; timed.
    Scheduling {
        /// "priority" (default): the most preferred class that has something to do; "fcfs": what was issued first.
        policy: String,
        /// priority: the classes, the most preferred first; default ["read", "write", "background"].
        priority: Vec<String>,
        /// priority: the rank of jobs that a host write cannot do without: "background" (default: that of all jobs) or
        /// "write" (that of host writes, in the order of issue).
        urgent_jobs: String,
    }
}

table! {
    /// Where host pages go.
    Allocation {
        /// "dynamic" (default): to the planes in turn; "static": to the plane that the logical page number names.
        mode: String,
        /// timed: the order in which planes take pages, the level that changes first in front; default
        /// ["channel", "chip", "die", "plane"]. A chip is also called "way".
        order: Vec<String>,
    }
}

table! {
    /// Jobs in idle time; timed.
    Background {
        /// "none" (default): blocks are collected when they are needed; "idle": in idle time, too.
        policy: String,
        /// idle: idle time collects where fewer blocks of a plane (superblocks) are free; default: twice the stop level.
        trigger_free_blocks: u32,
        /// idle: so long no request must have been under way before it begins, microseconds; default 0.
        idle_us: f64,
    }
}

table! {
    /// Energy of the flash's operations. One without a figure is null in the result and in no sum.
    Energy {
        /// Array read of a page, microjoules.
        read_uj: f64,
        /// Array program of a page, microjoules.
        program_uj: f64,
        /// Erase of a block, microjoules.
        erase_uj: f64,
        /// A page over a channel, microjoules.
        transfer_uj: f64,
    }
}

table! {
    /// The flash translation layer.
    Ftl {
        /// (T - U) / T: the share of the flash that the host does not see, up to 0.95; default 0.07.
        spare_factor: f64,
        /// Bytes that the map knows as one, a power of two. From 512 up to a page of the flash: several are programmed as one
        /// flash page. Larger ones, up to 65536: a page of each of several planes of a die, which then always work together.
        /// Default: 4096, or a page of the flash where that is smaller.
        mapping_bytes: u32,
        /// State in which the drive starts; default "auto" under a trace, else "none".
        precondition: String,
        /// auto: how the drive is filled. Default "steady" where the victim policy has a law, else "random".
        auto_fill: String,
        /// auto, under a trace: what the laps that wear the drive in may write at most, in capacities of the drive as the
        /// host sees it, before the first request counts; 0: no laps; default 3.
        wear_in_max: f64,
        /// The drive that an earlier run left (`--save-drive`), with precondition = "snapshot"; relative to this file.
        snapshot: String,
        /// fill: share of the flash that holds data when the run begins; default 0.9.
        fill_share: f64,
        /// Which free block is opened next; default "least-erased".
        free_block: String,
        /// What a read of a page does that was never written: "nothing" (default), or "program" the page first, as SSDsim does; counted
        /// as padding.
        unwritten_reads: String,
        /// Where host pages go.
        allocation: Allocation,
        /// Jobs in idle time; timed.
        background: Background,
        /// Address mapping.
        map: Map,
        /// Choice of the block to collect.
        collect: Collect,
        /// Choice of the open block that a write joins.
        separate: Separate,
        /// Wear-leveling.
        level: Level,
        /// Read-disturb management.
        reclaim: Reclaim,
        /// Order of writes.
        dispatch: Dispatch,
    }
}

table! {
    /// The host interface, in timed mode.
    Host {
        /// timed: queues in which requests wait for the drive; default 1.
        queues: u32,
        /// timed, several queues: which one a request joins: "round-robin" (default), "device" or "stream".
        queue_of: String,
        /// timed, several queues: one number a queue, the lowest is served first; default: all equal.
        priorities: Vec<u32>,
        /// timed: requests that the drive works on at once; default: no limit.
        outstanding_max: u32,
    }
}

table! {
    /// Lifetime management.
    Lifetime {
        /// Throttling of writes.
        throttle: Throttle,
        /// How `floatgate lifetime` gets from a trace to years; `floatgate run` passes over it.
        forecast: Forecast,
        /// Deduplication and compression of writes.
        reduce: Reduce,
    }
}

table! {
    /// How `floatgate lifetime` gets from a trace to years.
    Forecast {
        /// "full" (every request of the life through the FTL), "windows" or "requests" (the life goes by windows of the
        /// trace, or by its requests, with write amplification measured before), or "auto" (default: full where that is
        /// cheap, else windows).
        method: String,
        /// windows: width in seconds; default 1.
        window_s: f64,
        /// windows, requests: write amplification, instead of measuring it.
        waf: f64,
        /// windows, requests: the same where it is known as flash bytes for each byte that the host wrote, as counters of
        /// drives tell it; by page writes it is less, as far as requests touch pages in part.
        waf_of_bytes: f64,
        /// windows, requests: laps over the trace after which write amplification counts as it is; default 12.
        laps_max: u32,
        /// windows, requests: difference from lap to lap, relative, at which it counts as stationary; default 0.005.
        waf_error_max: f64,
        /// Cycles that the blocks have behind them at the beginning; default 0.
        cycles_used: f64,
        /// How old the drive is then, years; default 0.
        age_years: f64,
        /// Standard deviation of the cycles that blocks stand, as a share of their mean, for the lower end of the life;
        /// default: not known.
        cycles_spread: f64,
    }
}

table! {
    /// What the host does.
    Workload {
        /// "synthetic" (default), "trace" (default where a file is given) or "twin" (default where a twin is).
        kind: String,
        /// Requests served first that do not count; default 0.
        warmup_requests: u64,
        /// The workload ends with the request by which so much was written since counting began, such as "5 GiB". A trace begins
        /// again where it ends before; workload.requests or workload.repeat are then as many as it takes.
        stop_after: String,
        /// stop_after: the workload begins behind the request by which it would have written so much, such as "10 GiB"; what comes
        /// before is passed over. Default: at its beginning.
        start_after: String,
        /// Cursors that issue the same requests at once, each with gaps of its own; default 1.
        read_amplification: u64,
        /// read_amplification above 1: each gap of a cursor is multiplied by a number drawn evenly from 1 - this to
        /// 1 + this; default 1.
        gap_spread: f64,
        /// The writes of every so many requests change places at random, from the first request on: a control for patterns
        /// (docs/patterns.md); default 0: none do.
        shuffle_window: u64,
        /// timed: "open" (at the stamps; default of traces and twins), "shifted" (the stamps, moved by all throttling
        /// delays so far), "closed" (queue_depth under way; default of
        /// synthetic workloads) or "think" (after the one before and the recorded gap).
        arrival: String,
        /// timed, closed: requests under way at once, in each of the host's queues; default 32.
        queue_depth: u32,

        /// synthetic: sequential, uniform (default), zipf, hot-cold, jobs or jesd219.
        pattern: String,
        /// synthetic, twin: requests that count; default 10000000, of a twin its own number.
        requests: u64,
        /// synthetic: bytes of each request, but for jesd219; default 4096.
        request_bytes: u64,
        /// synthetic: share of requests that read; default 0, of jesd219 0.4.
        read_share: f64,
        /// synthetic: share of requests that trim; default 0.
        trim_share: f64,
        /// synthetic, with a buffer: share of the writes that must be on flash before they are done; default 0.
        fua_share: f64,
        /// synthetic, with a buffer: every so many requests one asks for all to be on flash; default 0: none does.
        flush_every: u64,
        /// synthetic: requests per second; without it the workload has no time.
        rate_per_s: f64,
        /// zipf: exponent of the law; default 0.99.
        zipf_theta: f64,
        /// hot-cold: share of the pages that is hot; default 0.2.
        hot_share_of_pages: f64,
        /// hot-cold: share of the requests that goes there; default 0.8.
        hot_share_of_writes: f64,
        /// jobs: share of the requests that go to a random place; the rest goes on; default 1.
        random_share: f64,
        /// jobs: request sizes as pairs of bytes and weight; default: request_bytes.
        sizes: Vec<(u64, f64)>,
        /// jobs: requests begin at multiples of this; default 4096.
        align_bytes: u64,
        /// jobs: first byte of the working set; default 0.
        offset_bytes: u64,
        /// jobs: length of the working set; default: up to the end of the drive.
        working_set_bytes: u64,
        /// jobs: mean length of a time with requests, seconds; default: no bursts.
        burst_on_s: f64,
        /// jobs: mean length of a time without requests, seconds.
        burst_off_s: f64,
        /// Share of the page writes that repeat what is stored already, where the workload has no content of its own; with it or
        /// compressed_share a seeded model makes content up (docs/generate.md).
        duplicate_share: f64,
        /// Mean compressed / plain size of new content, incompressible pages included.
        compressed_share: f64,
        /// Share of new content that cannot be compressed at all.
        incompressible_share: f64,
        /// Seed of the content; default 1.
        content_seed: u64,

        /// synthetic: a micro-benchmark of RB-Explorer, which stands for a pattern and its parameters.
        micro: String,

        /// twin: a name of the catalogue, or the path of a TOML file.
        twin: String,
        /// twin: one in so many of its requests, in a space that is as much smaller, over the same time: for a drive that is as
        /// much smaller; default 1.
        thin: u64,

        /// trace: the file; "-" is standard input.
        file: String,
        /// trace: format of the file (`floatgate trace info`); default: detected.
        format: String,
        /// trace: unit of the stamps where the format does not say.
        time_unit: String,
        /// trace: unit of the addresses where the format does not say.
        lba_unit: String,
        /// trace: blkparse event that is taken as the request.
        action: String,
        /// trace: "stop" (default) at a line that cannot be read, or "skip" and count it.
        on_bad_line: String,
        /// trace: passes that count; default 1.
        repeat: u64,
        /// trace: passes served first that do not count; default 0.
        warmup_passes: u64,
        /// trace: what later passes write where the first wrote known content: "new" (default), content that no other pass
        /// has, or the "same".
        repeat_content: String,
        /// trace: several devices "apart" (default) or "fold" onto the same addresses.
        devices: String,
        /// trace, twin: addresses beyond the drive: "refuse" (default), "wrap" or "scale".
        beyond: String,
    }
}
