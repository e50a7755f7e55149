//! What host, flash and firmware did, by count and by time.

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
            count(
                "programs.{cause}",
                "programs",
                "flash pages programmed, by the cause of the page that filled them",
            ),
            count(
                "pages_written.{cause}",
                "pages",
                "pages of the map programmed: several share a flash page where it is larger",
            ),
            count("reads.{cause}", "reads", "flash pages read"),
            count("erases.{erasing}", "erases", "blocks erased"),
            number(
                "time_s.{cause}",
                "s",
                "nominal time: commands, array and transfers of the operations, one after the other",
            ),
            count(
                "unmapped_reads",
                "pages",
                "pages that the host read and that were never written; they cost no flash read",
            ),
            count(
                "gathered_reads",
                "pages",
                "pages read whose flash page or chunk was still filling; they cost no flash read",
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
            count("victims", "blocks", "blocks collected, superblocks counted once"),
            count("dead_victims", "blocks", "of them without a valid page"),
            count(
                "forced",
                "times",
                "times that a host write waited for whole blocks to be collected, for too few were free",
            ),
            count("copied_pages", "pages", "pages of the map moved"),
            number("copied_pages_per_victim", "pages", "copied_pages / victims").or_null(),
            histogram("victims_by_valid", "victims", "victims by their valid pages"),
            number("time_s", "s", "nominal time of its operations, one after the other"),
        ],
    },
    Group {
        key: "level",
        about: "Wear-leveling beyond the choice of free blocks.",
        when: "",
        rows: &[
            count("rounds", "rounds", "rounds of a block erasing table that were completed"),
            count(
                "pending_at_start",
                "jobs",
                "jobs that it had asked for before counting began, and that were not done",
            ),
            count(
                "triggered",
                "blocks",
                "blocks, or superblocks, that it decided to empty for the sake of wear",
            ),
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
            count("unpaired", "pairs", "pairs of destinations that were closed before a second block came"),
            count("swaps", "swaps", "blocks whose data moved into a worn block that had just been erased"),
            count(
                "passed_over",
                "victims",
                "victims of collection that were passed over because they are too worn",
            ),
            number("time_s", "s", "nominal time of its operations, one after the other"),
        ],
    },
    Group {
        key: "separate",
        about: "Separation of data into streams; without it, `streams` and `contexts` are null.",
        when: "",
        rows: &[
            count("streams[].stream", "", "number of the stream; one that held nothing has no row"),
            count("streams[].host_pages", "pages", "pages of the map that the host wrote to the stream"),
            count("streams[].moved_pages", "pages", "pages that collection moved to it"),
            count(
                "streams[].strayed_pages",
                "pages",
                "pages of the stream that were put in blocks of another",
            ),
            count("streams[].opened", "blocks", "blocks opened for it"),
            count("streams[].victims", "victims", "victims that it had filled"),
            count("streams[].dead_victims", "victims", "of them without a valid page"),
            count("streams[].copied_pages", "pages", "valid pages of its victims"),
            number("found.*", "", "what the separator found, by its own names"),
            count("contexts[].context", "", "number of a context of the program"),
            text("contexts[].name", "its name").or_null(),
            count("contexts[].stream", "", "the stream that it was given").or_null(),
            count("memory_bytes", "bytes", "tables of the separator").or_null(),
            count("open_blocks", "blocks", "open blocks, or superblocks, with pages left at the end"),
            count("open_free_pages", "pages", "pages left in them at the end"),
            number("open_free_pages_mean", "pages", "such pages, mean over the host page writes"),
            count(
                "open_blocks_max",
                "blocks",
                "the most that streams held at once; a full one is held until its stream opens the next",
            ),
        ],
    },
    Group {
        key: "dispatch",
        about: "Writes that the dispatcher labels, and patterns where it looks for them.",
        when: "where a dispatcher labels writes",
        rows: &[
            count(
                "windows",
                "windows",
                "windows of which a request was served, the last partial one included",
            ),
            number("patterns_per_window", "patterns", "patterns / windows").or_null(),
            number("pattern_size_mean", "addresses", "addresses of a pattern, mean").or_null(),
            count(
                "windows_too_dense",
                "windows",
                "windows with more patterns than could be told, by which no write is labelled",
            )
            .or_null(),
            count("matched_requests", "requests", "write requests that were labelled"),
            count("matched_pages", "pages", "pages that the host wrote under a label"),
        ],
    },
    Group {
        key: "jobs",
        about: "Work of the firmware that requests wait for, and work in idle time.",
        when: "in timed mode",
        rows: &[
            number(
                "foreground_s",
                "s",
                "time of dies on jobs that a write could not do without, summed over the dies",
            ),
            number("background_s", "s", "time of dies on background jobs, summed over the dies"),
        ],
    },
    Group {
        key: "commands",
        about: "How often the optional commands of the flash were used.",
        when: "in timed mode",
        rows: &[
            count("multi_plane", "commands", "commands to at least two planes at once"),
            count("multi_plane_pages", "pages", "pages (of erases blocks) in these commands"),
            count("cache_reads", "commands", "reads whose array time began while another page left the die"),
            count("cache_programs", "commands", "programs whose data came in while the array programmed"),
            count("copybacks", "pages", "pages moved inside their die"),
            count("program_suspends", "suspensions", "times that a program was suspended for a host read"),
            count("erase_suspends", "suspensions", "times that an erase was suspended for a host read"),
        ],
    },
    Group {
        key: "latency_us.waiting.{class}",
        about: "What flash operations of each class waited for, mean by operation.",
        when: "in timed mode, where there was an operation of the class",
        rows: &[
            count("operations", "operations", "operations of the class"),
            number("die", "us", "for the die while it worked for requests, or for what had to come before"),
            number(
                "foreground_job",
                "us",
                "for the die while it did a job that a write could not do without",
            ),
            number("background_job", "us", "for the die while it did a background job"),
            number("channel", "us", "for the channel, behind pages of the same multi-plane command too"),
            number("suspended", "us", "suspended, with the overhead of it"),
            number("service", "us", "the operation itself: commands, transfers and array"),
        ],
    },
    Group {
        key: "latency_us",
        about: "What requests waited for before the flash.",
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
            count("queues[].priority", "", "its priority, the lowest is served first"),
            count("queues[].requests", "requests", "requests that ended"),
            number("queues[].queue_wait", "us", "wait in the queue, mean").or_null(),
            number("queues[].mean", "us", "latency, mean").or_null(),
            number("queues[].max", "us", "latency of the slowest request").or_null(),
            number(
                "buffer_wait.{kind}.{place}",
                "us",
                "for a place in the buffer, or then for data to be on flash; mean, `write` with TRIMs",
            ),
            count(
                "buffer_wait.{kind}.{counted}",
                "requests",
                "requests of the kind (`write` with TRIMs), and those that waited for a place or for flash",
            ),
        ],
    },
    Group {
        key: "hot_reads",
        about: "Read requests that begin with a page that is read often.",
        when: "in timed mode",
        rows: &[
            count(
                "from_read",
                "reads",
                "read requests that begin with a page from which on it counts as hot",
            ),
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
            count("{access}_hits", "pages", "pages read or written that lay in it"),
            count("{access}_misses", "pages", "pages read or written that did not, in part or whole"),
            number("{access}_hit_ratio", "-", "hits / (hits + misses)").or_null(),
            count("kept_pages", "pages", "pages that the disturb-aware order keeps at the end").or_null(),
            count(
                "preloaded_pages",
                "pages",
                "pages of disturbed blocks read ahead of the host; neither hits nor misses",
            )
            .or_null(),
            count(
                "pages_merged",
                "pages",
                "pages written that were dirty in it already: the older write never reaches flash",
            ),
            count("pages_dropped", "pages", "dirty pages that the host trimmed"),
            count("evictions", "pages", "pages that made room for others, dirty or not"),
            count("flush_requests", "requests", "flushes of the host"),
            count("flushed_pages.{reason}", "pages", "dirty pages written to flash, by reason"),
        ],
    },
    Group {
        key: "throttle",
        about: "What the throttle did.",
        when: "where a throttle or the integrated manager is on",
        rows: &[
            text("policy", "the throttle, or the integrated manager"),
            number("delay_us_mean", "us", "delay by page write, mean over all, waits for capacity left out")
                .or_null(),
            number("held_share", "-", "page writes that were delayed or waited / all").or_null(),
            count("waits", "pages", "page writes that waited for capacity of a later period"),
            number("wait_s", "s", "time of these waits, summed"),
            number("held_back_s", "s", "delays and waits by which arrival `shifted` moves the stamps"),
            count("epochs", "epochs", "epochs planned").or_null(),
            count("selections", "times", "times that the length of epochs was chosen anew").or_null(),
            number("epoch_s", "s", "length of the last whole epoch").or_null(),
            count(
                "prediction.compared",
                "epochs",
                "epochs whose demand was compared with that of the one before",
            ),
            number("prediction.within", "-", "epochs less than `error_max` off / compared").or_null(),
            number("prediction.error_max", "-", "the allowed error, relative"),
            number("max_delay_s", "s", "the bound on delays").or_null(),
            count("epochs_at_max_delay", "epochs", "epochs that wanted a longer delay than the bound")
                .or_null(),
        ],
    },
];
