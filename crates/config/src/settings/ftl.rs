//! `[ftl]`: the flash translation layer.

use super::table::table;
use super::{Background, Collect, Dispatch, Dpes, Level, Map, Metadata, Reclaim, Separate};
use floatgate_base::policy::Range;
use floatgate_ftl::pool::FREE_CHOICES;
use floatgate_ftl::setup::{ALLOCATIONS, UNWRITTEN_READS};
use floatgate_sim::plan::{AUTO_FILLS, PRECONDITIONS};

/// The largest spare factor: papers on read disturb simulate drives 14 times as large as the stored data.
pub(crate) const SPARE_MAX: f64 = 0.95;

table! {
    Ftl = "ftl", "The flash translation layer."
    rows {
        spare_factor: f64 = within(
            "(T - U) / T: the share of the flash that the host does not see",
            0.07,
            Range { above_least: true, ..Range::closed(0.0, SPARE_MAX) },
        )
        .expecting(
            "a share of the flash above 0 and up to 0.95: 0.07 to 0.13 on most drives, about 0.27 on drives rated for three \
             drive writes per day",
        );
        mapping_bytes: u32 = whole(
            "bytes that the map knows as one, a power of two. From 512 up to a page of the flash: several are programmed as \
             one flash page. Larger ones: a page of each of several planes of a die, which then always work together",
            4096,
            (0, u32::MAX),
        )
        .expecting("a power of two from 512 to 65536")
        .or("4096, or a page of the flash where that is smaller");
        precondition: String = name("state in which the drive starts", PRECONDITIONS).or("auto under a trace, else none");
        auto_fill: String = name("how the drive is filled", AUTO_FILLS)
            .or("steady where the victim policy has a law, else random")
            .with("ftl.precondition", &["auto"]);
        wear_in_max: f64 = real(
            "under a trace: what the laps that wear the drive in may write at most, in capacities of the drive as the host \
             sees it, before the first request counts; 0: no laps",
            3.0,
            (0.0, 1000.0),
        )
        .with("ftl.precondition", &["auto"])
        .expecting("a number of drive writes from 0 to 1000");
        snapshot: String = text(
            "the drive that an earlier run left (`--save-drive`); relative to this file",
            "",
            "the path of a file that `floatgate run --save-drive` wrote",
        )
        .or("none")
        .with("ftl.precondition", &["snapshot"]);
        fill_share: f64 = within(
            "share of the flash that holds data when the run begins",
            // How full the drive of PDS's section 5.4 is at first.
            0.9,
            Range::SHARE_BETWEEN,
        )
        .with("ftl.precondition", &["fill"]);
        free_block: String = name("which free block is opened next", FREE_CHOICES);
        unwritten_reads: String = name(
            "what a read of a page does that was never written: nothing, or program the page first, as SSDsim does; counted \
             as padding",
            UNWRITTEN_READS,
        );
    }
    tables {
        allocation: Allocation,
        background: Background,
        map: Map,
        metadata: Metadata,
        collect: Collect,
        separate: Separate,
        level: Level,
        reclaim: Reclaim,
        dpes: Dpes,
        dispatch: Dispatch,
    }
}

table! {
    Allocation = "ftl.allocation", "Where host pages go."
    rows {
        mode: String = name("to the planes in turn, or to the plane that the logical page number names", ALLOCATIONS);
        order: Vec<String> = other(
            "the order in which planes take pages, the level that changes first in front; a chip is also called \"way\"",
            "\"channel\", \"chip\", \"die\", \"plane\", in any order",
        )
        .or("[\"channel\", \"chip\", \"die\", \"plane\"]")
        .timed();
    }
}
