//! Metrics of read disturb, data reduction, and the input of a run.

use super::metric::{Group, count, flag, number, numbers, pairs, text, texts};

/// The groups, in the order of `docs/results.md`.
pub(super) const GROUPS: &[Group] = &[
    Group {
        key: "reclaim",
        about: "Read disturb and its reclaims.",
        when: "where `drive.disturb.model` is set",
        rows: &[
            count(
                "on_demand",
                "reclaims",
                "reclaims that a read could not wait for; each empties a block (superblock), or two that it mixes",
            ),
            count(
                "background",
                "reclaims",
                "reclaims in idle time; in functional mode those done before they were due",
            ),
            count("first_after_reads", "reads", "flash reads of the host before the first reclaim").or_null(),
            count("moved_pages", "pages", "valid pages of the map moved"),
            count(
                "reads_beyond_max",
                "reads",
                "reads of blocks whose disturbance had already exceeded the maximum",
            ),
            count(
                "replicas.{fate}",
                "",
                "replications (`jobs`), copies of hot pages and their fate, blocks whose tail took data",
            ),
            count("reads_by_page_type.{page_type}", "reads", "flash reads of the host by type of the page")
                .or_null(),
            numbers(
                "reads_by_mode",
                "reads",
                "flash reads of the host by mode of the block, 0 the ordinary one",
            ),
            number("largest_disturbance_share", "-", "largest disturbance of any block / the maximum"),
            numbers(
                "disturbance.edges",
                "-",
                "lower edges of the bins of disturbance / the maximum; the last bin is open",
            ),
            numbers("disturbance.blocks", "blocks", "blocks in each bin at the end"),
            number("time_s.reclaim", "s", "nominal time of reclaims, its operations in sequence"),
            number("time_s.replica", "s", "nominal time of replications, its operations in sequence"),
            count("service_ms.count", "times", "instants with reclaims or replications"),
            number("service_ms.{rank}", "ms", "nominal time of all operations of an instant, in sequence")
                .or_null(),
            pairs(
                "service_ms.cdf",
                "ms, share",
                "its distribution: pairs of a time and the share that took no longer",
            ),
            count(
                "response_us.{while}.count",
                "reads",
                "read requests during reclaims or replications, and otherwise",
            ),
            number("response_us.{while}.{quantile}", "us", "their latency"),
            numbers("response_us.{while}.cdf.us", "us", "its distribution: times"),
            numbers("response_us.{while}.cdf.share", "-", "its distribution: shares"),
            numbers("over_time.requests", "requests", "edges of the intervals, in requests"),
            numbers("over_time.time_s", "s", "the same in time; null if the workload has no time stamps")
                .or_null(),
            numbers("over_time.on_demand", "reclaims", "reclaims on demand in each interval"),
            numbers("over_time.background", "reclaims", "reclaims in idle time in each interval"),
            count("memory_bytes", "bytes", "tables of the manager"),
            count(
                "max_reads",
                "reads",
                "the maximum: the disturbance that a block endures between two erases",
            ),
        ],
    },
    METADATA,
    REDUCE,
    Group {
        key: "dpes",
        about: "Dynamic program and erase scaling.",
        when: "where `ftl.dpes.policy` is not `none`",
        rows: &[
            numbers("erases_by_mode", "blocks", "blocks erased by mode, 0 the ordinary one"),
            numbers("programs_by_mode", "pages", "flash pages programmed by mode of the block"),
            count(
                "deepened",
                "blocks",
                "blocks erased once more, to a deeper mode, because a burst came; no erases of their own",
            ),
            number("effective_cycles", "cycles", "wear of all blocks, an ordinary erase counting as one"),
            number("cycles_saved", "cycles", "erases of all blocks less their wear"),
            number("mean_wear", "-", "mean wear of an erase as a share of a cycle"),
            number("time_added_s.programs", "s", "nominal time of programs beyond that of the ordinary mode"),
            number("time_added_s.erases", "s", "nominal time of erases beyond that of the ordinary mode"),
            number("time_added_s.deepened", "s", "nominal time of erases of blocks that were erased already"),
            number("time_added_s.total", "s", "sum of these"),
            number("time_added_share", "-", "the sum / nominal time of all operations, in sequence")
                .or_null(),
        ],
    },
    Group {
        key: "precondition",
        about: "Outcome of `ftl.precondition = \"auto\"`.",
        when: "where the drive starts so",
        rows: &[
            text("asked", "`auto`"),
            text("became", "`steady` or `random`").or_null(),
            text("why", "why no steady-state law applies").or_null(),
            count(
                "wear_in_laps",
                "laps",
                "laps of the trace before counting, each of passes that write a quarter of the drive",
            ),
            count("wear_in_passes", "passes", "passes over the trace"),
            count("wear_in_requests", "requests", "requests of these passes"),
            count("wear_in_page_writes", "pages", "page writes of these passes"),
            number("wear_in_drive_writes", "capacities", "wear_in_page_writes / logical pages"),
            numbers("wear_in_waf", "pages/page", "write amplification of each lap"),
            flag("stationary", "whether the laps converged; null without laps").or_null(),
            number("error", "-", "relative distance to the limit of write amplification, from three laps on")
                .or_null(),
            text("ended", "why wear-in ended").or_null(),
            number("expected_s", "s", "upper estimate of its duration from the sizes alone"),
            count("expected_bytes", "bytes", "expected size of the drive's tables"),
        ],
    },
    DRIVE,
    Group {
        key: "workload",
        about: "The workload of the drive.",
        when: "",
        rows: &[
            text("kind", "`synthetic`, `trace` or `twin`"),
            text("format", "the format of the trace, or the generator"),
            count("requests", "requests", "requests of the counted phase"),
            count("passes", "passes", "passes over the trace"),
            count("footprint_bytes", "bytes", "distinct pages that a trace reads or writes").or_null(),
            text("devices[].name", "devices of the trace"),
            count("devices[].{direction}_requests", "requests", "of the kind, by device"),
            count("devices[].{direction}_bytes", "bytes", "of the kind, by device"),
            count("devices[].page_reads", "pages", "pages of the map that reads touch, by device"),
            count("devices[].page_writes", "pages", "pages of the map that writes touch, by device"),
            count("bad_lines_skipped", "lines", "unreadable lines or records, left out"),
            text("first_bad_line", "the first of them and its fault").or_null(),
            count("other_records", "records", "records that are no read, write or TRIM, left out"),
            count("stamps_backwards", "stamps", "time stamps earlier than the one before"),
            text("stamps_backwards_first", "where the first of them is").or_null(),
            number("stamps_backwards_s_max", "s", "largest step back from one time stamp to the next")
                .or_null(),
            count("stamp_jumps", "stamps", "time stamps more than 30 years from the one before"),
            texts("suspicions", "what is odd about the trace"),
            text("content_hash", "blake3 of the decompressed trace").or_null(),
            texts("assumed", "assumptions where the trace gives no information"),
            text("beyond.policy", "what happens to addresses beyond the drive (`workload.beyond`)").or_null(),
            count("beyond.requests_moved", "requests", "requests whose address was wrapped or scaled"),
        ],
    },
    Group {
        key: "",
        about: "Identity of the run.",
        when: "",
        rows: &[
            text("schema", "name and version of the layout"),
            text("version", "version of floatgate"),
            text(
                "config_hash",
                "hash of the resolved experiment: runs with the same hash have the same results",
            ),
            count("seed", "", "seed of every random stream"),
            text("mode", "`functional` or `timed`"),
            texts("not_modelled", "features of this run that the model omits"),
        ],
    },
    Group {
        key: "run",
        about: "Wall-clock measurements, which differ from run to run of the same experiment.",
        when: "in a run folder",
        rows: &[
            number("wall_s", "s", "elapsed time"),
            number("cpu_s", "s", "CPU time of the run's thread"),
            count("peak_rss_bytes", "bytes", "largest resident size of the process so far").or_null(),
            number(
                "programs_per_cpu_s",
                "programs/s",
                "pages of the map programmed in the counted phase / its CPU time",
            ),
            text("build.*", "the build of floatgate"),
        ],
    },
];

/// The map on flash.
const METADATA: Group = Group {
    key: "metadata",
    about: "The map on flash.",
    when: "where `ftl.metadata.policy` is not `none`",
    rows: &[
        count("updates", "changes", "changes of the map by host writes and trims"),
        count("moves", "changes", "changes of the map by moves of the host's pages"),
        count("journal_pages", "pages", "pages of the journal programmed"),
        count("flushed_pages", "pages", "of these, before they were full, because the host flushed"),
        count("map_pages", "pages", "pages of the map programmed"),
    ],
};

/// Metrics of reduction, in a result, and in a forecast that simulates a drive.
pub(super) const REDUCE: Group = Group {
    key: "reduce",
    about: "Deduplication and compression.",
    when: "where data is reduced, or was when the drive was saved",
    rows: &[
        text("policy", "what reduces"),
        count("host_pages", "pages", "page writes that reached the FTL"),
        number("unknown_share", "-", "of them pages whose content the trace does not specify").or_null(),
        count("hashed_pages", "pages", "host pages whose fingerprint was computed, samples included"),
        count("duplicate_pages", "pages", "host pages not programmed because their content was on the drive"),
        number("duplicate_share", "-", "duplicate_pages / hashed_pages").or_null(),
        count("shared_now", "contents", "contents shared by several logical pages at the end"),
        count("referrers_now", "pages", "logical pages with such a content"),
        count("references_max", "pages", "largest number of logical pages that ever shared one content"),
        count("compressed_pages", "pages", "host pages that were compressed, samples included"),
        count("rewritten_pages", "pages", "host pages that replaced an older write in an unfinished chunk"),
        count("chunks", "chunks", "chunks, or parts of them, that were written compressed"),
        count(
            "plain_chunks",
            "chunks",
            "chunks, or parts of them, written uncompressed because compression saved nothing; not in `chunks`",
        ),
        count("part_chunks", "chunks", "chunks written before they were full, compressed or not"),
        number("chunk_ratio", "-", "pages programmed for chunks, uncompressed ones included / pages in them")
            .or_null(),
        count("chunks_now", "chunks", "chunks on flash or unfinished at the end"),
        count("holes", "pages", "dead pages in chunks on flash at the end"),
        count("repacked_pages", "pages", "live pages of chunks that were moved and repacked"),
        count("repacked_into", "pages", "pages programmed for them"),
        count(
            "decompressed_pages",
            "pages",
            "pages of chunks that host reads decompressed, dead ones included",
        ),
        count("programmed_pages", "pages", "pages programmed for causes `host` and `partial`"),
        number("written_ratio", "-", "programmed_pages / host_pages").or_null(),
        number(
            "energy_ratio",
            "-",
            "energy of programs, hashing, compression / that of host_pages programs (E of paper 2)",
        )
        .or_null(),
        count("index.{entry}", "", "the index of fingerprints: its size, searches, hits, evictions"),
        count("memory_bytes", "bytes", "tables of both schemes, the index included"),
        count("epochs_by_choice.{choice}", "epochs", "epochs of the integrated manager by active schemes"),
        number("manager.epoch_s", "s", "length of an epoch"),
        count("manager.epochs", "epochs", "decided epochs"),
        count("manager.throttled_epochs", "epochs", "of them with throttling"),
        number("manager.over_time[].from_s", "s", "beginning of an interval of the run"),
        number("manager.over_time[].to_s", "s", "its end"),
        count("manager.over_time[].epochs", "epochs", "its epochs"),
        number("manager.over_time[].{decision}_share", "-", "share of them with the scheme on, or throttled"),
        number("manager.over_time[].{budget}_bytes", "bytes", "demand and capacity of an epoch, mean"),
        number("manager.over_time[].{scheme}_ratio", "-", "expected ratio of the scheme, mean"),
    ],
};

/// The drive, of results and forecasts.
pub(super) const DRIVE: Group = Group {
    key: "drive",
    about: "The drive.",
    when: "",
    rows: &[
        text("name", "its name"),
        count("physical_bytes", "bytes", "all pages"),
        count("logical_bytes", "bytes", "capacity that the host sees"),
        number("spare_factor", "-", "(physical - logical) / physical"),
        number("over_provisioning", "-", "(physical - logical) / logical"),
        number(
            "effective_spare_factor",
            "-",
            "(physical - mean free - logical) / physical pages; null while the drive was never full",
        )
        .or_null(),
        count("planes", "planes", "in all"),
        count("blocks", "blocks", "in all"),
        count("pages_per_block", "pages", "flash pages"),
        count("page_bytes", "bytes", "of a flash page"),
        count("mapping_bytes", "bytes", "of a mapping unit"),
        number("rated.*", "", "ratings of its maker (`drive.rated`)").or_null(),
    ],
};
