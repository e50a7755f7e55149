//! What a forecast tells (`floatgate lifetime`): a whole life under a throttle, gone through without a drive or with one.

use super::metric::{Group, Metric, count, flag, gaps, interval, number, numbers, text, texts};

/// Rows of latencies of requests, as they stand in a part of the close-up too.
const LATENCIES: &[Metric] = &[
    count("{kind}.count", "requests", "requests of the kind"),
    number("{kind}.{quantile}", "us", "from arrival to the end: mean, quantiles and the longest"),
    numbers("{kind}.cdf.us", "us", "the distribution: times, from the shortest to the longest"),
    numbers("{kind}.cdf.share", "-", "the distribution: shares of requests that took no longer"),
];

/// Rows of the close-up.
const CLOSE_UP: &[Metric] = &[
    text("unknown", "why nothing was looked at; null where it was").or_null(),
    number("{part}.from_s", "s", "when the part begins, since its pass did"),
    number("{part}.span_s", "s", "from its first arrival to its last"),
    count("{part}.requests", "requests", "requests that count"),
    number("{part}.offered_bytes_per_s", "bytes/s", "bytes that the host asks for / span_s").or_null(),
    number(
        "{part}.possible_bytes_per_s",
        "bytes/s",
        "bytes / time with 256 requests under way; null where requests end within 5 % of the span after the last arrival",
    )
    .or_null(),
    flag("{part}.overloaded", "whether more is offered than possible"),
    count("typical.latency_us.{kind}.count", "requests", "requests of the kind in the typical part"),
    number("typical.latency_us.{kind}.{quantile}", "us", "their latencies: mean, quantiles and the longest"),
    numbers("typical.latency_us.{kind}.cdf.us", "us", "the distribution: times, from the shortest to the longest"),
    numbers("typical.latency_us.{kind}.cdf.share", "-", "the distribution: shares of requests that took no longer"),
];

/// The groups, in the order of `docs/results.md`; the drive is that of a result, and so is what the drive reduced.
pub(super) const GROUPS: &[Group] = &[
    Group {
        key: "",
        about: "Write amplification of the life.",
        when: "",
        rows: &[
            number("waf", "pages/page", "pages of the map programmed / pages of the map that the host wrote").or_null(),
            number("waf_bytes", "bytes/byte", "flash bytes programmed / bytes that the host wrote").or_null(),
        ],
    },
    Group {
        key: "lifetime",
        about: "How long the drive lives under the throttle, and whether that is the target.",
        when: "",
        rows: &[
            number(
                "years",
                "years",
                "until the drive is worn out; beyond the target: target_years * budget / w_work_bytes (READY's effective life)",
            )
            .or_null(),
            interval("years_range", "years", "95 % interval of `years`, by what `years_range_from` names").or_null(),
            texts(
                "years_range_from",
                "what the interval holds: `waf`, `days` or `hours` (of the pass), `blocks` (their cycles); empty without one",
            ),
            number(
                "years_first_block",
                "years",
                "until the most erased block has its cycles, its lead growing as the spread of wear did (unknown: as the mean), up to \
                 what the leveler allows; seen by the full method",
            )
            .or_null(),
            interval(
                "years_first_block_range",
                "years",
                "by how the lead may grow, the error of write amplification, and what chance does to the most of many blocks",
            )
            .or_null(),
            number(
                "years_spare_blocks",
                "years",
                "until more blocks have their cycles than `drive.bad_block_reserve` holds, in the same way",
            )
            .or_null(),
            interval("years_spare_blocks_range", "years", "the same range of `years_spare_blocks`").or_null(),
            number("target_years", "years", "the life that is asked for (`lifetime.throttle.target_years`)"),
            number("growth_per_year", "-", "share by which demand grows each year in all these figures"),
            flag("holds", "whether the drive lives so long"),
            count("c_ssd_bytes", "bytes", "physical capacity * rated cycles"),
            count("c_ssd_recovered_bytes", "bytes", "physical capacity * pe_cycles_achievable"),
            count("w_work_bytes", "bytes", "flash bytes programmed by the end of the target"),
            number(
                "pe_cycles_achievable",
                "cycles",
                "cycles that a block stands at rests of `mean_idle_h`; the rated ones without recovery",
            ),
            number("mean_idle_h", "h", "mean time between two erases of a block, over the life").or_null(),
        ],
    },
    Group {
        key: "latency_us",
        about: "Latencies of the host's requests in the busiest part of the workload (`close_up.busiest`) on the worn-in drive in timed \
                mode, without a throttle.",
        when: "",
        rows: LATENCIES,
    },
    Group {
        key: "close_up",
        about: "What was looked at in timed mode: the busiest part of a pass and a typical one, or all of a short one.",
        when: "",
        rows: CLOSE_UP,
    },
    Group {
        key: "throttle",
        about: "What the throttle did over the life.",
        when: "",
        rows: &[
            text("policy", "the throttle"),
            number("service_us", "us", "nominal time of a page write, mean: command, transfer and program of what it leaves to be programmed; hash and compressor"),
            count("delay_us.count", "pages", "page writes that were served"),
            number("delay_us.{quantile}", "us", "delays and waits of page writes: mean, quantiles and the longest"),
            numbers("delay_us.cdf.us", "us", "the distribution: delays, from the shortest to the longest"),
            numbers("delay_us.cdf.share", "-", "the distribution: shares of page writes that were delayed no longer"),
            number("delay_us_mean", "us", "delay by page write, mean over all, waits for capacity left out"),
            number("wait_us_mean", "us", "wait for capacity by page write, mean over all"),
            number("held_share", "-", "page writes that were delayed or waited / all"),
            count("waits", "pages", "page writes that waited for capacity of a later period"),
            number("wait_s", "s", "time of these waits, summed"),
            count("page_writes", "pages", "page writes that were served"),
            number("demand_share", "-", "page_writes / page writes that the host requests in the same time"),
            interval("demand_share_range", "-", "the same at the ends of `lifetime.years_range`").or_null(),
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
            count("prediction.first_pass.compared", "epochs", "those of the first pass over the workload"),
            number("prediction.first_pass.within", "-", "the same share of the first pass").or_null(),
            number("max_delay_s", "s", "the bound on delays").or_null(),
            count("epochs_at_max_delay", "epochs", "epochs that wanted a longer delay than the bound").or_null(),
        ],
    },
    Group {
        key: "method",
        about: "How the life was gone through, and what its write amplification rests on.",
        when: "",
        rows: &[
            text("name", "`full` (a drive, request by request), `windows` or `requests` (without a drive)"),
            text(
                "tails",
                "what waits go by: `drive`, `lumps` (collection as laps of a drive had it), `mean-cost`; null without \
                 a throttle",
            )
            .or_null(),
            number("window_s", "s", "length of the windows").or_null(),
            count("runs", "runs", "runs of page writes that a pass was made of").or_null(),
            flag("waf_given", "whether write amplification was given (`lifetime.forecast.waf`)"),
            count("laps", "laps", "laps of a drive that write amplification was measured on").or_null(),
            count("passes", "passes", "passes over the workload in all laps").or_null(),
            numbers("waf_by_lap", "pages/page", "write amplification of each lap").or_null(),
            numbers("never_erased_by_lap", "-", "share of the blocks that were not erased by the end of each lap").or_null(),
            count("laps_taken", "laps", "the last laps, whose mean was taken").or_null(),
            number("waf_error", "-", "how far off that mean may be, relative; null where too few laps tell").or_null(),
            flag("stationary", "whether the laps became alike").or_null(),
            flag("cut_short", "whether laps ended at their limit of requests, most of which read").or_null(),
            count("programs", "pages", "pages of the map programmed on the way").or_null(),
            number(
                "leveling.mean_erases_from",
                "erases",
                "erases of the mean block where the look at the end of life began; the table is null where no leveler acts by leads, or \
                 the laps went as far",
            ),
            number("leveling.mean_erases", "erases", "erases of the mean block where that look ended"),
            number(
                "leveling.moved",
                "pages/page",
                "pages programmed for the sake of wear / other pages programmed, at the end of life",
            ),
            number(
                "leveling.moved_over_life",
                "pages/page",
                "the same on average over life, in inverse proportion to the lead that is allowed; in `waf`",
            ),
            number(
                "leveling.lead_first_block",
                "erases",
                "lead of the most worn block over the mean when it has its cycles, or where the look ended",
            ),
            number("leveling.lead_spare_blocks", "erases", "the same of the first block beyond `drive.bad_block_reserve`"),
        ],
    },
    Group {
        key: "pass",
        about: "One pass over the workload.",
        when: "",
        rows: &[
            number("span_s", "s", "its length"),
            count("page_writes", "pages", "pages of the map that its writes touch"),
            count("passes", "passes", "passes in the life, the last one in part"),
            text("parts.are", "what its parts are: `days` or `hours`"),
            number("parts.part_s", "s", "length of a part"),
            number("parts.trend", "-", "by which share of their mean the parts grow from one to the next, by least squares"),
            number("parts.trend_95", "-", "half of the 95 % interval of that"),
            numbers("parts.written_bytes", "bytes", "what the host writes in each"),
        ],
    },
    Group {
        key: "series",
        about: "The life over time, row by row.",
        when: "",
        rows: &[
            numbers("time_s", "s", "ends of the rows"),
            numbers("written_bytes", "bytes", "flash bytes programmed until then"),
            numbers("demand_bytes", "bytes", "flash bytes that the host asked for until then, had nothing been held back"),
            numbers("capacity_bytes", "bytes", "flash bytes that the throttle had given out by then"),
            numbers("delay_us", "us", "delay of a page write, mean of the row"),
            numbers("wait_us", "us", "wait for capacity by page write, mean of the row"),
            numbers("epoch_s", "s", "length of the epoch"),
            numbers("pe_cycles", "cycles", "cycles that a block stands at rests as until then"),
            gaps("idle_h", "h", "mean time between two erases of a block until then; null before any"),
        ],
    },
    Group {
        key: "detail",
        about: "A part of the life looked at closely.",
        when: "where `--detail` asks for one",
        rows: &[
            number("from_s", "s", "its beginning"),
            number("interval_s", "s", "length of its intervals"),
            numbers("written_bytes", "bytes", "what the host wrote in each interval"),
            numbers("demand_bytes", "bytes", "what it would have written without throttling"),
            number("waf", "pages/page", "write amplification of the life").or_null(),
        ],
    },
    Group {
        key: "workload",
        about: "What the drive is given, pass by pass.",
        when: "",
        rows: &[
            text("kind", "`synthetic`, `trace` or `twin`"),
            text("format", "the format of the trace, or the generator"),
            count("requests", "requests", "requests of a pass"),
            count("{direction}_requests", "requests", "of the kind"),
            count("{direction}_bytes", "bytes", "of the kind"),
            count("page_reads", "pages", "pages of the map that reads touch, in part or whole"),
            count("page_writes", "pages", "pages of the map that writes touch, in part or whole"),
            count("bad_lines_skipped", "lines", "lines or records that could not be read and were left out"),
            count("stamps_backwards", "stamps", "time stamps earlier than the one before"),
            text("stamps_backwards_first", "where the first of them is").or_null(),
            number("stamps_backwards_s_max", "s", "by how much one lies before the one before it, at most").or_null(),
            texts("suspicions", "what is odd about the trace"),
            text("content_hash", "blake3 of the decompressed trace").or_null(),
            texts("assumed", "what the trace does not say, and was assumed"),
        ],
    },
    Group {
        key: "reduce",
        about: "Deduplication and compression over the life, or in one pass on the laps' drive.",
        when: "where something is reduced",
        rows: &[
            text("policy", "what reduces"),
            count("host_pages", "pages", "page writes that reached the FTL"),
            number("unknown_share", "-", "of them pages of which the trace does not say the content").or_null(),
            count("hashed_pages", "pages", "host pages whose fingerprint was computed, samples included"),
            count("compressed_pages", "pages", "host pages that were compressed, samples included"),
            count("programmed_pages", "pages", "pages programmed for the host"),
            number("written_ratio", "-", "programmed_pages / host_pages").or_null(),
            number(
                "energy_ratio",
                "-",
                "energy of programs, hashing, compression / that of host_pages programs (E of paper 2)",
            )
            .or_null(),
        ],
    },
    Group {
        key: "",
        about: "What was forecast.",
        when: "",
        rows: &[
            text("schema", "name and version of the layout"),
            text("version", "version of floatgate"),
            text("config_hash", "hash of the resolved experiment: forecasts with the same hash give the same figures"),
            count("seed", "", "seed of every random stream"),
        ],
    },
    Group {
        key: "run",
        about: "The clock: what differs from one forecast to another of the same experiment.",
        when: "",
        rows: &[
            number("wall_s", "s", "time by the clock, of all lives that were asked for together"),
            number("cpu_s", "s", "CPU time of them"),
            count("peak_rss_bytes", "bytes", "largest resident size of the process so far").or_null(),
        ],
    },
];

/// What the laps of each choice of schemes came to, where a manager chooses.
pub(super) const BY_CHOICE: Group = Group {
    key: "reduce",
    about: "",
    when: "where something is reduced",
    rows: &[
        text("by_choice[].schemes", "the schemes that were on: `none`, `dedup`, `compress` or `both`"),
        number(
            "by_choice[].written_ratio",
            "-",
            "pages programmed for the host / page writes that reached the FTL",
        ),
        number("by_choice[].waf", "pages/page", "write amplification"),
        count("by_choice[].laps", "laps", "laps that it was measured on"),
        number("by_choice[].waf_error", "-", "how far off it may be, relative; null where too few laps tell")
            .or_null(),
        flag("by_choice[].stationary", "whether the laps became alike"),
    ],
};
