//! The metrics that people look for first: write amplification, life, throughput, latency, wear.

use super::metric::{Better, Format, Group, count, flag, histogram, interval, number, numbers, text};

const LATENCY_MS: &str = "ms";

/// The groups, in the order of `docs/results.md`.
pub(super) const GROUPS: &[Group] = &[
    Group {
        key: "",
        about: "Write amplification, and the time span of the run.",
        when: "",
        rows: &[
            number(
                "waf_bytes",
                "bytes/byte",
                "flash bytes programmed / bytes that the host wrote (JESD218, section 3)",
            )
            .or_null()
            .compared()
            .better(Better::Lower)
            .drawn("Write amplification", "flash bytes per host byte", 1.0)
            .column("WAF", 1.0)
            .best("lowest WAF", Format::Ratio),
            interval("waf_bytes_95", "bytes/byte", "95 % interval of `waf_bytes`, from that of `waf`")
                .or_null()
                .leads(),
            number(
                "waf",
                "pages/page",
                "map pages programmed / map pages that the host wrote, those written in part as whole ones",
            )
            .or_null()
            .compared()
            .better(Better::Lower),
            interval("waf_95", "pages/page", "95 % interval of `waf`, by batch means").or_null().leads(),
            flag(
                "stationary",
                "whether the drive was in a steady state: no drift of `waf`, passes that agree, as many pages erased as \
                 programmed",
            )
            .or_null()
            .leads(),
            number(
                "span_s",
                "s",
                "until the last operation completed (timed), or the last request arrived or was released",
            )
            .or_null()
            .everywhere(),
            number(
                "period_s",
                "s",
                "period at which the run would repeat: span of arrivals and a mean gap, at least `span_s`",
            )
            .or_null(),
        ],
    },
    Group {
        key: "lifetime",
        about: "Life of the drive if the workload continues as in the run: null if the host wrote nothing; years are null if the \
                workload has no time.",
        when: "",
        rows: &[
            number(
                "years",
                "years",
                "c_ssd_recovered_bytes / bytes programmed * period_s: until even wear uses up all cycles",
            )
            .or_null()
            .compared()
            .better(Better::Higher)
            .drawn("Life", "years", 1.0)
            .column("life, years", 1.0)
            .best("longest life", Format::Years),
            number(
                "years_first_block",
                "years",
                "until the most erased block uses up its cycles, its lead ~ mean ^ wear_growth (unknown: 1)",
            )
            .or_null()
            .leads(),
            interval(
                "years_first_block_range",
                "years",
                "shortest and longest, by the error of `wear_growth`; by 0.5 and 1 if unknown",
            )
            .or_null(),
            number(
                "years_spare_blocks",
                "years",
                "until more blocks have used up their cycles than `drive.bad_block_reserve` holds",
            )
            .or_null()
            .everywhere(),
            interval("years_spare_blocks_range", "years", "range of `years_spare_blocks`, computed likewise").or_null(),
            number(
                "tbw_bytes",
                "bytes",
                "c_ssd_recovered_bytes / waf_bytes: total bytes that the host can write, at even wear",
            )
            .or_null()
            .compared()
            .better(Better::Higher)
            .drawn("Life in bytes written", "TBW", 1e12)
            .column("TBW", 1e12),
            number(
                "tbw_first_block_bytes",
                "bytes",
                "bytes that the host wrote * runs until the most erased block uses up its cycles",
            )
            .or_null()
            .everywhere(),
            number(
                "tbw_spare_blocks_bytes",
                "bytes",
                "bytes that the host wrote * runs until the reserve of spare blocks is used up",
            )
            .or_null(),
            number(
                "dwpd",
                "drive writes/day",
                "bytes that the host wrote / logical capacity / `period_s` in days",
            )
            .or_null()
            .leads(),
            number(
                "dwpd_for_target",
                "drive writes/day",
                "bytes that the host can write in `target_years` / logical capacity / days, at even wear",
            )
            .or_null(),
            number(
                "wear_growth",
                "-",
                "g in sd of erases ~ mean ^ g: 1 if blocks wear at different rates, 0.5 by chance, 0 if levelled",
            )
            .or_null(),
            number("target_years", "years", "the required life (`lifetime.throttle.target_years`)"),
            count("pe_cycles", "cycles", "rated program/erase cycles"),
            number(
                "pe_cycles_achievable",
                "cycles",
                "cycles that a block endures at rests of `mean_idle_h`; `pe_cycles` without recovery",
            )
            .or_null(),
            number(
                "mean_idle_h",
                "h",
                "period_s * physical capacity / bytes programmed: mean time between two erases of a block",
            )
            .or_null(),
            count("c_ssd_bytes", "bytes", "physical capacity * pe_cycles"),
            count("c_ssd_recovered_bytes", "bytes", "physical capacity * pe_cycles_achievable").or_null(),
        ],
    },
    Group {
        key: "throughput",
        about: "Rates over `span_s`, the service time of the counted requests.",
        when: "in timed mode",
        rows: &[
            number("iops", "requests/s", "reads and writes / `span_s`")
                .compared()
                .better(Better::Higher)
                .drawn("Throughput", "thousand IOPS", 1e3)
                .column("IOPS", 1.0)
                .best("most IOPS", Format::Prefixed),
            number("read_iops", "requests/s", "reads / `span_s`").everywhere(),
            number("write_iops", "requests/s", "writes / `span_s`").everywhere(),
            number("read_mb_per_s", "MB/s", "bytes that the host read / `span_s`").everywhere(),
            number("write_mb_per_s", "MB/s", "bytes that the host wrote / `span_s`").everywhere(),
            number("flash_read_mb_per_s", "MB/s", "bytes of flash pages read / `span_s`"),
            number("flash_program_mb_per_s", "MB/s", "bytes of flash pages programmed / `span_s`"),
        ],
    },
    Group {
        key: "latency_us.{kind}",
        about: "Time from arrival to completion of reads and of writes.",
        when: "in timed mode, where there was a request of the kind",
        rows: &[
            count("count", "requests", "completed requests of the kind").everywhere(),
            number("mean", "us", "the mean").everywhere(),
            number("p50", "us", "not exceeded by half of the requests").everywhere(),
            number("p90", "us", "not exceeded by nine of ten").everywhere(),
            number("p99", "us", "not exceeded by 99 of a hundred")
                .compared()
                .better(Better::Lower)
                .tail("{kind} latency, p99", LATENCY_MS, 1e3)
                .column("{kind} p99, us", 1.0)
                .best("lowest {kind} p99", Format::SpanUs),
            number("p999", "us", "not exceeded by 999 of a thousand").compared().better(Better::Lower).tail(
                "{kind} latency, p99.9",
                LATENCY_MS,
                1e3,
            ),
            number("p9999", "us", "not exceeded by 9999 of ten thousand"),
            number("max", "us", "the longest").everywhere(),
            numbers("cdf.us", "us", "the distribution: times, from the shortest to the longest"),
            numbers("cdf.share", "-", "the distribution: shares of the requests that took no longer"),
        ],
    },
    Group {
        key: "wear",
        about: "Erases by block since counting began.",
        when: "",
        rows: &[
            count("erases_min", "erases", "of the least erased block").everywhere(),
            number("erases_mean", "erases", "mean over all blocks").compared().better(Better::Lower),
            count("erases_max", "erases", "of the most erased block")
                .compared()
                .better(Better::Lower)
                .drawn("Most erased block", "erases", 1.0)
                .column("most erases", 1.0),
            number("erases_std", "erases", "standard deviation over all blocks")
                .compared()
                .better(Better::Lower)
                .drawn("Spread of wear", "standard deviation of erases", 1.0)
                .column("sd of erases", 1.0),
            number(
                "first_failure_s",
                "s",
                "period_s * pe_cycles / erases_max: until the most erased block reaches its rated cycles",
            )
            .or_null(),
            number("max_over_mean", "-", "erases_max / erases_mean").or_null(),
            histogram("histogram", "blocks", "blocks by their erases"),
            number(
                "idle_h.mean",
                "h",
                "mean over blocks of their mean rest before an erase, since counting began",
            ),
            number("idle_h.{decile}", "h", "rest not exceeded by 10, 50 or 90 % of the rests"),
            count("idle_h.intervals", "rests", "measured rests"),
            numbers("idle_h.histogram.edges", "h", "edges of the bins of rests"),
            numbers("idle_h.histogram.intervals", "rests", "rests in each bin"),
        ],
    },
    Group {
        key: "evidence",
        about: "Whether the run is long enough for a forecast of years.",
        when: "",
        rows: &[
            number("drive_writes", "capacities", "bytes that the host wrote / logical capacity"),
            number("flash_writes", "capacities", "pages of the map programmed / physical pages"),
            count("blocks_never_erased", "blocks", "blocks that the counted requests never erased"),
            flag(
                "enough",
                "whether it is long enough: a drive write, all blocks erased or 3 flash writes, and stationary",
            )
            .or_null(),
            text(
                "why",
                "reason if not: `too short`, `not all blocks were erased`, `not stationary`, `too few requests`",
            )
            .or_null(),
            number(
                "drive_writes_needed",
                "capacities",
                "estimated `drive_writes` of a run that is long enough",
            )
            .or_null(),
            count(
                "transient_requests",
                "requests",
                "requests at the beginning without which a run that is not stationary would be",
            )
            .or_null(),
        ],
    },
    Group {
        key: "energy",
        about: "Joules; an operation of unknown energy is null and in no sum.",
        when: "where `drive.energy` is set, or where data is fingerprinted or compressed",
        rows: &[
            number("total_j", "J", "all operations").everywhere(),
            number("j_per_host_byte_written", "J/byte", "the total / bytes that the host wrote"),
            number(
                "{paged}_j.{cause}",
                "J",
                "of one operation on pages (`transfer`: over a channel), for one cause",
            ),
            number("erase_j.{erasing}", "J", "of erases, for one cause"),
            number("by_cause_j.{cause}", "J", "all operations, for one cause"),
            number("by_operation_j.{operation}", "J", "of one operation, for all causes").or_null(),
            number("by_operation_j.total", "J", "the same as `total_j`"),
        ],
    },
];
