//! Metrics of a forecast (`floatgate lifetime`): a whole life under a throttle, simulated with or without a drive.

use super::metric::{Group, Metric, count, flag, gaps, interval, number, numbers, text, texts};

/// Rows of request latencies, shared with the close-up.
const LATENCIES: &[Metric] = &[
    count("{kind}.count", "requests", "requests of the kind"),
    number("{kind}.{quantile}", "us", "from arrival to completion: mean, quantiles and the longest"),
    numbers("{kind}.cdf.us", "us", "the distribution: times, from the shortest to the longest"),
    numbers("{kind}.cdf.share", "-", "the distribution: shares of requests that took no longer"),
];

/// Rows of the close-up.
const CLOSE_UP: &[Metric] = &[
    text("unknown", "why there is no close-up; null if there is one").or_null(),
    number("{part}.from_s", "s", "start of the part, from the start of its pass"),
    number("{part}.span_s", "s", "from its first arrival to its last"),
    count("{part}.requests", "requests", "counted requests"),
    number("{part}.offered_bytes_per_s", "bytes/s", "bytes that the host requests / span_s").or_null(),
    number(
        "{part}.possible_bytes_per_s",
        "bytes/s",
        "bytes / time with 256 requests in flight; null where requests complete within 5 % of the span after the last arrival",
    )
    .or_null(),
    flag("{part}.overloaded", "whether the offered load exceeds the possible"),
    count("{part}.looks", "times", "how often the part was served; latencies are those of all times together"),
    interval("{part}.latency_95_us.{kind}.mean", "us", "95 % interval of the mean, from how these times differ").or_null(),
    interval("{part}.latency_95_us.{kind}.p50", "us", "the same of the median").or_null(),
    interval("{part}.latency_95_us.{kind}.p99", "us", "the same of p99").or_null(),
    interval("{part}.latency_95_us.{kind}.p999", "us", "the same of p99.9").or_null(),
    count("typical.latency_us.{kind}.count", "requests", "requests of the kind in the typical part"),
    number("typical.latency_us.{kind}.{quantile}", "us", "their latencies: mean, quantiles and the longest"),
    numbers("typical.latency_us.{kind}.cdf.us", "us", "the distribution: times, from the shortest to the longest"),
    numbers("typical.latency_us.{kind}.cdf.share", "-", "the distribution: shares of requests that took no longer"),
];

/// The groups, in the order of `docs/results.md`; those of the drive and of reduction are shared with results.
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
        key: "waf_bytes_parts",
        about: "Write amplification by cause; the parts add up to `waf_bytes`. The drive's own programs are in the \
                proportions of the laps.",
        when: "where a drive was simulated, and schemes of reduction do not alternate",
        rows: &[number(
            "{cause}",
            "bytes/byte",
            "bytes programmed for the cause / bytes that the host wrote",
        )],
    },
    Group {
        key: "lifetime",
        about: "Life of the drive under the throttle, compared with the target.",
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
                "sources of the interval: `waf`, `days` or `hours` (of the pass), `blocks` (their cycles); empty without one",
            ),
            number(
                "years_first_block",
                "years",
                "until the most erased block uses up its cycles; its lead grows as the spread of wear did (unknown: as the mean), up to \
                 the leveler's limit; simulated by the full method",
            )
            .or_null(),
            interval(
                "years_first_block_range",
                "years",
                "by the possible growth of the lead, the error of write amplification, and the chance maximum over many blocks",
            )
            .or_null(),
            number(
                "years_spare_blocks",
                "years",
                "until more blocks have used up their cycles than `drive.bad_block_reserve` holds, computed likewise",
            )
            .or_null(),
            interval("years_spare_blocks_range", "years", "range of `years_spare_blocks`, computed likewise").or_null(),
            number("target_years", "years", "the required life (`lifetime.throttle.target_years`)"),
            number("growth_per_year", "-", "yearly growth of demand, included in all these metrics"),
            flag("holds", "whether the drive reaches the target"),
            count("c_ssd_bytes", "bytes", "physical capacity * rated cycles"),
            count("c_ssd_recovered_bytes", "bytes", "physical capacity * pe_cycles_achievable"),
            count("w_work_bytes", "bytes", "flash bytes programmed by the end of the target"),
            number(
                "pe_cycles_achievable",
                "cycles",
                "cycles that a block endures at rests of `mean_idle_h`; the rated ones without recovery",
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
        about: "Parts simulated in timed mode: the busiest part of a pass and a typical one, or all of a short pass.",
        when: "",
        rows: CLOSE_UP,
    },
    Group {
        key: "throttle",
        about: "Delays and waits caused by the throttle over the life.",
        when: "",
        rows: &[
            text("policy", "the throttle"),
            number("service_us", "us", "nominal time of a page write, mean: command, transfer and program of the data left after reduction; hash and compressor"),
            count("delay_us.count", "pages", "served page writes"),
            number("delay_us.{quantile}", "us", "delays and waits of page writes: mean, quantiles and the longest"),
            numbers("delay_us.cdf.us", "us", "the distribution: delays, from the shortest to the longest"),
            numbers("delay_us.cdf.share", "-", "the distribution: shares of page writes that were delayed no longer"),
            number("delay_us_mean", "us", "delay per page write, mean over all, without waits for capacity"),
            number("wait_us_mean", "us", "wait for capacity per page write, mean over all"),
            number("held_share", "-", "page writes that were delayed or waited / all"),
            count("waits", "pages", "page writes that waited for capacity of a later period"),
            number("wait_s", "s", "sum of these waits"),
            count("page_writes", "pages", "served page writes"),
            number("demand_share", "-", "page_writes / page writes that the host requests in the same time"),
            interval("demand_share_range", "-", "the same at the ends of `lifetime.years_range`").or_null(),
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
            count("prediction.first_pass.compared", "epochs", "compared epochs of the first pass over the workload"),
            number("prediction.first_pass.within", "-", "the same share of the first pass").or_null(),
            number("max_delay_s", "s", "the bound on delays").or_null(),
            count("epochs_at_max_delay", "epochs", "epochs limited by the bound").or_null(),
        ],
    },
    Group {
        key: "method",
        about: "Method of the forecast, and the basis of its write amplification.",
        when: "",
        rows: &[
            text("name", "`full` (a drive, request by request), `windows` or `requests` (without a drive)"),
            text(
                "tails",
                "basis of the waits: `drive`, `lumps` (collection as in laps of a drive), `mean-cost`; null without \
                 a throttle",
            )
            .or_null(),
            number("window_s", "s", "length of the windows").or_null(),
            count("runs", "runs", "runs of page writes per pass").or_null(),
            flag("waf_given", "whether write amplification was configured (`lifetime.forecast.waf`)"),
            count("laps", "laps", "laps of a drive in which write amplification was measured").or_null(),
            count("passes", "passes", "passes over the workload in all laps").or_null(),
            numbers("waf_by_lap", "pages/page", "write amplification of each lap").or_null(),
            numbers("never_erased_by_lap", "-", "share of the blocks that were not erased by the end of each lap").or_null(),
            count("laps_taken", "laps", "number of last laps in the mean").or_null(),
            number("waf_error", "-", "relative error of that mean; null with too few laps").or_null(),
            flag("stationary", "whether the laps converged").or_null(),
            flag("cut_short", "whether laps ended at their limit of requests, most of them reads").or_null(),
            count("programs", "pages", "pages of the map programmed in the laps").or_null(),
            number(
                "leveling.mean_erases_from",
                "erases",
                "erases of the mean block at the start of the simulated end of life; the table is null where no leveler acts on leads, or \
                 the laps reached the end",
            ),
            number("leveling.mean_erases", "erases", "erases of the mean block at its end"),
            number(
                "leveling.moved",
                "pages/page",
                "pages programmed for wear-leveling / other pages programmed, at the end of life",
            ),
            number(
                "leveling.moved_over_life",
                "pages/page",
                "the same on average over life, in inverse proportion to the allowed lead; included in `waf`",
            ),
            number(
                "leveling.lead_first_block",
                "erases",
                "lead of the most worn block over the mean when it uses up its cycles, or at the end of the simulation",
            ),
            number("leveling.lead_spare_blocks", "erases", "same, for the first block beyond `drive.bad_block_reserve`"),
        ],
    },
    Group {
        key: "pass",
        about: "One pass over the workload.",
        when: "",
        rows: &[
            number("span_s", "s", "its length"),
            count("page_writes", "pages", "pages of the map that its writes touch"),
            count(
                "written_distinct_bytes",
                "bytes",
                "bytes of the pages of the map that its writes touch, each page once; null for generated workloads",
            )
            .or_null(),
            count("passes", "passes", "passes in the life, the last one in part"),
            text("parts.are", "kind of its parts: `days` or `hours`"),
            number("parts.part_s", "s", "length of a part"),
            number("parts.trend", "-", "growth from part to part as a share of their mean, by least squares"),
            number("parts.trend_95", "-", "half of its 95 % interval"),
            numbers("parts.written_bytes", "bytes", "bytes that the host writes in each part"),
        ],
    },
    Group {
        key: "series",
        about: "The life over time, row by row.",
        when: "",
        rows: &[
            numbers("time_s", "s", "ends of the rows"),
            numbers("written_bytes", "bytes", "flash bytes programmed until then"),
            numbers("demand_bytes", "bytes", "flash bytes that the host would have required until then without throttling"),
            numbers("capacity_bytes", "bytes", "flash bytes that the throttle had released until then"),
            numbers("delay_us", "us", "delay of a page write, mean of the row"),
            numbers("wait_us", "us", "wait for capacity by page write, mean of the row"),
            numbers("epoch_s", "s", "length of the epoch"),
            numbers("pe_cycles", "cycles", "cycles that a block endures at the rests until then"),
            gaps("idle_h", "h", "mean time between two erases of a block until then; null before any"),
        ],
    },
    Group {
        key: "detail",
        about: "A part of the life in detail.",
        when: "where `--detail` selects one",
        rows: &[
            number("from_s", "s", "its beginning"),
            number("interval_s", "s", "length of its intervals"),
            numbers("written_bytes", "bytes", "bytes that the host wrote in each interval"),
            numbers("demand_bytes", "bytes", "bytes that it would have written without throttling"),
            number("waf", "pages/page", "write amplification of the life").or_null(),
        ],
    },
    Group {
        key: "workload",
        about: "The workload of the drive, per pass.",
        when: "",
        rows: &[
            text("kind", "`synthetic`, `trace` or `twin`"),
            text("format", "the format of the trace, or the generator"),
            count("requests", "requests", "requests of a pass"),
            count("{direction}_requests", "requests", "of the kind"),
            count("{direction}_bytes", "bytes", "of the kind"),
            count("page_reads", "pages", "pages of the map that reads touch, in part or whole"),
            count("page_writes", "pages", "pages of the map that writes touch, in part or whole"),
            count("bad_lines_skipped", "lines", "unreadable lines or records, left out"),
            count("stamps_backwards", "stamps", "time stamps earlier than the one before"),
            text("stamps_backwards_first", "where the first of them is").or_null(),
            number("stamps_backwards_s_max", "s", "largest step back from one time stamp to the next").or_null(),
            texts("suspicions", "oddities of the trace"),
            text("content_hash", "blake3 of the decompressed trace").or_null(),
            texts("assumed", "assumptions where the trace gives no information"),
        ],
    },
    Group {
        key: "reduce",
        about: "Deduplication and compression over the life, or in one pass over the drive of the laps.",
        when: "where data is reduced",
        rows: &[
            text("policy", "what reduces"),
            count("host_pages", "pages", "page writes that reached the FTL"),
            number("unknown_share", "-", "of them pages whose content the trace does not specify").or_null(),
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
        about: "Identity of the forecast.",
        when: "",
        rows: &[
            text("schema", "name and version of the layout"),
            text("version", "version of floatgate"),
            text("config_hash", "hash of the resolved experiment: forecasts with the same hash have the same results"),
            count("seed", "", "seed of every random stream"),
        ],
    },
    Group {
        key: "run",
        about: "Wall-clock measurements, which differ between forecasts of the same experiment.",
        when: "",
        rows: &[
            number("wall_s", "s", "elapsed time of all lives of the call"),
            number("cpu_s", "s", "CPU time of all lives of the call"),
            count("peak_rss_bytes", "bytes", "largest resident size of the process so far").or_null(),
        ],
    },
];

/// Results of the laps under each choice of schemes, where a manager chooses.
pub(super) const BY_CHOICE: Group = Group {
    key: "reduce",
    about: "",
    when: "where data is reduced",
    rows: &[
        text("by_choice[].schemes", "active schemes: `none`, `dedup`, `compress` or `both`"),
        number(
            "by_choice[].written_ratio",
            "-",
            "pages programmed for the host / page writes that reached the FTL",
        ),
        number("by_choice[].waf", "pages/page", "write amplification"),
        count("by_choice[].laps", "laps", "laps in which it was measured"),
        number("by_choice[].waf_error", "-", "its relative error; null with too few laps").or_null(),
        flag("by_choice[].stationary", "whether the laps converged"),
    ],
};
