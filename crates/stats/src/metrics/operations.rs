//! Metrics of the operations of host, flash and firmware, by count and by time.

use super::metric::{Group, count, histogram, number, numbers, text};

/// The groups, in the order of `docs/results.md`.
pub(super) const GROUPS: &[Group] = &[
    Group {
        key: "host",
        about: "Requests of the counted phase.",
        when: "",
        rows: &[
            count("{direction}_requests", "requests", "of the kind"),
            count("{direction}_bytes", "bytes", "of the kind"),
            count("page_reads", "pages", "pages of the map that reads touch, in part or whole"),
            count("page_writes", "pages", "pages of the map that writes touch, in part or whole"),
        ],
    },
    Group {
        key: "flash",
        about: "Operations of the counted phase by cause.",
        when: "",
        rows: &[
            count("programs.{cause}", "programs", "flash pages programmed, by the cause of their last page"),
            count(
                "pages_written.{cause}",
                "pages",
                "pages of the map programmed; several share a larger flash page",
            ),
            count("reads.{cause}", "reads", "flash pages read"),
            count("erases.{erasing}", "erases", "blocks erased"),
            number(
                "time_s.{cause}",
                "s",
                "nominal time: commands, array and transfers of the operations in sequence",
            ),
            count(
                "unmapped_reads",
                "pages",
                "pages read by the host that were never written; they cost no flash read",
            ),
            count(
                "gathered_reads",
                "pages",
                "pages read from an unfinished flash page or chunk; they cost no flash read",
            ),
        ],
    },
    Group {
        key: "waf_bytes_parts",
        about: "Write amplification by cause; the parts add up to `waf_bytes`.",
        when: "where the host wrote something",
        rows: &[number(
            "{cause}",
            "bytes/byte",
            "bytes programmed for the cause / bytes that the host wrote",
        )],
    },
    Group {
        key: "gc",
        about: "Garbage collection.",
        when: "",
        rows: &[
            count("victims", "blocks", "collected blocks; a superblock counts once"),
            count("dead_victims", "blocks", "of them without a valid page"),
            count(
                "forced",
                "times",
                "host writes that waited until whole blocks were collected, because too few were free",
            ),
            count("copied_pages", "pages", "pages of the map moved"),
            number("copied_pages_per_victim", "pages", "copied_pages / victims").or_null(),
            histogram("victims_by_valid", "victims", "victims by their valid pages"),
            number("time_s", "s", "nominal time of its operations in sequence"),
            number(
                "timing.pages_with_context_share",
                "-",
                "pages that the host wrote with a program context / all; null unless contexts time collection",
            )
            .or_null(),
            count(
                "timing.predicted_deaths",
                "pages",
                "pages overwritten or trimmed whose context was confident when they die",
            )
            .or_null(),
            count("timing.deaths_in_time", "pages", "of these, those within the horizon of the expected time")
                .or_null(),
            count(
                "timing.outlived_pages",
                "pages",
                "pages copied that should have been dead for longer than the horizon",
            )
            .or_null(),
            count(
                "timing.passed_over",
                "blocks",
                "blocks (superblocks) passed over because their data were dying, each once until it is collected",
            )
            .or_null(),
            count("timing.put_off", "times", "times when nothing was collected, because all victims could wait")
                .or_null(),
            count("timing.collected_later", "blocks", "blocks that were passed over and are collected now")
                .or_null(),
            count("timing.dead_later", "blocks", "of these, those without a valid page").or_null(),
            count("timing.saved_pages", "pages", "their pages that died while they waited").or_null(),
            count("timing.copied_later", "pages", "their pages that were copied all the same").or_null(),
            count("timing.instead", "blocks", "blocks collected instead of others that were passed over")
                .or_null(),
            count("timing.instead_pages", "pages", "their valid pages beyond those of the others").or_null(),
            count("timing.needed", "blocks", "blocks collected although they could wait, for space was needed")
                .or_null(),
            count("timing.needed_pages", "pages", "their dying pages").or_null(),
            count("timing.bursts.bursts", "bursts", "bursts with a write, in timed mode").or_null(),
            count("timing.bursts.predicted", "bursts", "of these, those whose pages were predicted").or_null(),
            count("timing.bursts.as_predicted", "bursts", "of these, those from half to twice as large").or_null(),
            count("timing.bursts.prepared_blocks", "blocks", "blocks freed in idle time before predicted bursts")
                .or_null(),
            count("timing.bursts.used_blocks", "blocks", "of these, those that the burst filled").or_null(),
            count("timing.contexts", "entries", "entries of the table of contexts in use").or_null(),
            count("timing.contexts_replaced", "entries", "entries that another one replaced").or_null(),
        ],
    },
    Group {
        key: "level",
        about: "Wear-leveling, apart from the choice of free blocks.",
        when: "",
        rows: &[
            count("rounds", "rounds", "completed rounds of a block erasing table"),
            count("pending_at_start", "jobs", "jobs requested before counting began and not yet done"),
            count("triggered", "blocks", "blocks, or superblocks, selected for emptying to level wear"),
            count("moved_pages", "pages", "pages of the map moved"),
            count(
                "pairs",
                "pairs",
                "pairs of blocks with opposite read types whose data shared a pair of destinations",
            ),
            count(
                "alike",
                "blocks",
                "blocks whose data shared destinations with any read type, because too many pairs waited",
            ),
            count("unpaired", "pairs", "pairs of destinations closed before a second block arrived"),
            count("swaps", "swaps", "blocks whose data moved into a newly erased worn block"),
            count("passed_over", "victims", "victims of collection skipped because they are too worn"),
            number("time_s", "s", "nominal time of its operations in sequence"),
        ],
    },
    Group {
        key: "separate",
        about: "Separation of data into streams; without it, `streams` and `contexts` are null.",
        when: "",
        rows: &[
            count("streams[].stream", "", "number of the stream; empty streams have no row"),
            count("streams[].host_pages", "pages", "pages of the map that the host wrote to the stream"),
            count("streams[].moved_pages", "pages", "pages that collection moved to it"),
            count("streams[].strayed_pages", "pages", "pages of the stream written to blocks of another"),
            count("streams[].opened", "blocks", "blocks opened for it"),
            count("streams[].victims", "victims", "victims filled by it"),
            count("streams[].dead_victims", "victims", "of them without a valid page"),
            count("streams[].copied_pages", "pages", "valid pages of its victims"),
            number("found.*", "", "state of the separator, under its own names"),
            count("contexts[].context", "", "number of a context of the program"),
            text("contexts[].name", "its name").or_null(),
            count("contexts[].stream", "", "its assigned stream").or_null(),
            count("memory_bytes", "bytes", "tables of the separator").or_null(),
            count("open_blocks", "blocks", "open blocks, or superblocks, with pages left at the end"),
            count("open_free_pages", "pages", "pages left in them at the end"),
            number("open_free_pages_mean", "pages", "such pages, mean over the host page writes"),
            count(
                "open_blocks_max",
                "blocks",
                "largest number of blocks held by streams at once; a stream holds a full block until it opens the next",
            ),
        ],
    },
    Group {
        key: "dispatch",
        about: "Writes that the dispatcher labels, and patterns if it mines them.",
        when: "where a dispatcher labels writes",
        rows: &[
            count("windows", "windows", "windows with a served request, including the last partial one"),
            number("patterns_per_window", "patterns", "patterns / windows").or_null(),
            number("pattern_size_mean", "addresses", "addresses of a pattern, mean").or_null(),
            count("windows_too_dense", "windows", "windows with too many patterns, which label no write")
                .or_null(),
            count("matched_requests", "requests", "write requests that were labelled"),
            count("matched_pages", "pages", "pages that the host wrote under a label"),
        ],
    },
    Group {
        key: "jobs",
        about: "Firmware jobs that requests wait for, and jobs in idle time.",
        when: "in timed mode",
        rows: &[
            number(
                "foreground_s",
                "s",
                "time of dies on jobs that a write depended on, summed over the dies",
            ),
            number("background_s", "s", "time of dies on background jobs, summed over the dies"),
            count(
                "idle.periods",
                "periods",
                "times between the completion of the last request in flight and the next arrival; null without jobs in idle time",
            )
            .or_null(),
            number("idle.idle_s", "s", "their sum").or_null(),
            count("idle.used_periods", "periods", "of these, those in which a job worked").or_null(),
            count(
                "idle.delayed_requests",
                "requests",
                "requests that arrived while a step of a job was under way",
            )
            .or_null(),
            number(
                "idle.prediction.requests_with_context_share",
                "-",
                "requests with a program context / all; null unless contexts predict",
            )
            .or_null(),
            count("idle.prediction.long_periods", "periods", "idle periods of `long_us` or more").or_null(),
            count("idle.prediction.predicted_periods", "periods", "periods that were predicted to be long")
                .or_null(),
            count("idle.prediction.predicted_long_periods", "periods", "of these, those that were").or_null(),
            number(
                "idle.prediction.predicted_idle_share",
                "-",
                "predicted idle time that was idle / all of it",
            )
            .or_null(),
            count(
                "idle.prediction.mispredicted_delayed_requests",
                "requests",
                "requests that arrived before the predicted end and found a step of a job under way",
            )
            .or_null(),
            count("idle.prediction.contexts", "entries", "entries of the table in use").or_null(),
            count("idle.prediction.contexts_replaced", "entries", "entries that another one replaced").or_null(),
        ],
    },
    Group {
        key: "commands",
        about: "Use of the optional flash commands.",
        when: "in timed mode",
        rows: &[
            count("multi_plane", "commands", "commands to at least two planes at once"),
            count("multi_plane_pages", "pages", "pages (of erases blocks) in these commands"),
            count("cache_reads", "commands", "reads whose array time began while another page left the die"),
            count("cache_programs", "commands", "programs whose data arrived while the array programmed"),
            count("copybacks", "pages", "pages moved inside their die"),
            count("program_suspends", "suspensions", "suspensions of a program for a host read"),
            count("erase_suspends", "suspensions", "suspensions of an erase for a host read"),
        ],
    },
    Group {
        key: "latency_us.waiting.{class}",
        about: "Waits of flash operations by class, mean per operation.",
        when: "in timed mode, where there was an operation of the class",
        rows: &[
            count("operations", "operations", "operations of the class"),
            number("die", "us", "for the die while it worked for requests, or for preceding operations"),
            number("foreground_job", "us", "for the die while it did a job that a write depended on"),
            number("background_job", "us", "for the die while it did a background job"),
            number("channel", "us", "for the channel, including pages of the same multi-plane command"),
            number("suspended", "us", "suspended, including the overhead of suspension"),
            number("service", "us", "the operation itself: commands, transfers and array"),
        ],
    },
    Group {
        key: "latency_us",
        about: "Waits of requests before the flash.",
        when: "in timed mode; waits at throttle and buffer where there is one",
        rows: &[
            number("arrivals_s", "s", "until the last request arrived, or left the throttle"),
            number(
                "queue_wait.{kind}",
                "us",
                "in the host's queues until the drive fetched it, mean over the requests of the kind",
            )
            .or_null(),
            number(
                "throttle_wait.{kind}",
                "us",
                "from arrival to leaving the throttle, mean over the requests of the kind",
            )
            .or_null(),
            count("queues[].queue", "", "number of the queue; null with but one"),
            count("queues[].priority", "", "its priority; the lowest number is served first"),
            count("queues[].requests", "requests", "completed requests"),
            number("queues[].queue_wait", "us", "wait in the queue, mean").or_null(),
            number("queues[].mean", "us", "latency, mean").or_null(),
            number("queues[].max", "us", "latency of the slowest request").or_null(),
            number(
                "buffer_wait.{kind}.{place}",
                "us",
                "for space in the buffer, or afterwards until data is on flash; mean, `write` includes TRIMs",
            ),
            count(
                "buffer_wait.{kind}.{counted}",
                "requests",
                "requests of the kind (`write` includes TRIMs), and those that waited for space or for flash",
            ),
        ],
    },
    Group {
        key: "hot_reads",
        about: "Read requests that begin with a frequently read page.",
        when: "in timed mode",
        rows: &[
            count("from_read", "reads", "first pages of read requests, from which on a page counts as hot"),
            count("latency_us.count", "reads", "read requests that begin with a hot page"),
            number("latency_us.{quantile}", "us", "their latency"),
            numbers("latency_us.cdf.us", "us", "its distribution: times"),
            numbers("latency_us.cdf.share", "-", "its distribution: shares"),
            numbers("by_chip", "reads", "read requests that begin with a hot page, by the chip of that page"),
            number("max_over_mean", "-", "hot reads of the busiest chip / mean over the chips").or_null(),
        ],
    },
    Group {
        key: "",
        about: "Blocks at the end of the run.",
        when: "",
        rows: &[histogram("valid_pages", "units", "closed blocks, or superblocks, by their valid pages")],
    },
    Group {
        key: "buffer",
        about: "The DRAM buffer.",
        when: "where `drive.buffer.capacity` is set",
        rows: &[
            count("capacity_bytes", "bytes", "its capacity"),
            count("{access}_hits", "pages", "pages read or written that were in it"),
            count("{access}_misses", "pages", "pages read or written that were not in it, in part or whole"),
            number("{access}_hit_ratio", "-", "hits / (hits + misses)").or_null(),
            count("kept_pages", "pages", "pages kept by the disturb-aware order at the end").or_null(),
            count(
                "preloaded_pages",
                "pages",
                "pages of disturbed blocks read ahead of the host; neither hits nor misses",
            )
            .or_null(),
            count(
                "pages_merged",
                "pages",
                "pages written that were already dirty in it; the older write never reaches flash",
            ),
            count("pages_dropped", "pages", "dirty pages that the host trimmed"),
            count("evictions", "pages", "pages that made room for others, dirty or not"),
            count("flush_requests", "requests", "flushes of the host"),
            count("flushed_pages.{reason}", "pages", "dirty pages written to flash, by reason"),
        ],
    },
    Group {
        key: "throttle",
        about: "Delays and waits caused by the throttle.",
        when: "where a throttle or the integrated manager is on",
        rows: &[
            text("policy", "the throttle, or the integrated manager"),
            number("delay_us_mean", "us", "delay per page write, mean over all, without waits for capacity")
                .or_null(),
            number("held_share", "-", "page writes that were delayed or waited / all").or_null(),
            count("waits", "pages", "page writes that waited for capacity of a later period"),
            number("wait_s", "s", "sum of these waits"),
            number("held_back_s", "s", "delays and waits by which arrival `shifted` moves the time stamps"),
            count("epochs", "epochs", "epochs planned").or_null(),
            count("selections", "times", "new choices of the epoch length").or_null(),
            number("epoch_s", "s", "length of the last whole epoch").or_null(),
            count(
                "prediction.compared",
                "epochs",
                "epochs whose demand was compared with that of the previous one",
            ),
            number("prediction.within", "-", "epochs with an error below `error_max` / compared").or_null(),
            number("prediction.error_max", "-", "the allowed error, relative"),
            number("max_delay_s", "s", "the bound on delays").or_null(),
            count("epochs_at_max_delay", "epochs", "epochs limited by the bound").or_null(),
        ],
    },
];
