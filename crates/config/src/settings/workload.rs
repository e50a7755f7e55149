//! `[workload]`: what the host does.

use super::table::table;
use floatgate_base::policy::Range;
use floatgate_host::placement::{BEYOND, DEVICES};
use floatgate_trace::generate::micro::MICROS;
use floatgate_trace::{Action, LbaUnit, OnBadLine, Pattern, TimeUnit};

/// Kinds of workload with what they are.
pub(crate) const KINDS: &[(&str, &str)] = &[
    ("synthetic", "a generator"),
    ("trace", "a trace file"),
    ("twin", "a workload known by its statistics"),
];

/// Ways of arriving with what they are.
pub(crate) const ARRIVALS: &[(&str, &str)] = &[
    ("open", "at the stamps"),
    ("shifted", "at the stamps, moved by all throttling delays so far"),
    ("closed", "as soon as fewer than queue_depth requests are under way"),
    ("think", "after the request before is done and the gap between both stamps has passed"),
];

/// What content later passes write, with what it means.
pub(crate) const REPEATS: &[(&str, &str)] =
    &[("new", "content that no other pass has"), ("same", "what the first pass wrote")];

const KIND: &str = "workload.kind";
const PATTERN: &str = "workload.pattern";
const SYNTHETIC: &[&str] = &["synthetic"];
const TRACE: &[&str] = &["trace"];
const TWIN: &[&str] = &["twin"];
const GENERATED: &[&str] = &["synthetic", "twin"];
const RECORDED: &[&str] = &["trace", "twin"];
const JOBS: &[&str] = &["jobs"];
/// The longest time with or without requests, seconds.
const BURST_S: Range = Range { above_least: true, ..Range::closed(0.0, 1e9) };
/// The largest window of requests whose writes are shuffled.
const WINDOW_MAX: u32 = 1 << 20;

table! {
    Workload = "workload", "What the host does."
    rows {
        kind: String = name("where requests come from", KINDS).or("trace where a file is named, twin where a twin is, else synthetic");
        warmup_requests: u64 = count("requests served first that do not count", 0);
        stop_after: String = text(
            "the workload ends with the request by which so much was written since counting began. A trace begins again where \
             it ends before; workload.requests or workload.repeat are then as many as it takes",
            "",
            "a size such as \"5 GiB\"",
        )
        .or("at its end");
        start_after: String = text(
            "stop_after: the workload begins behind the request by which it would have written so much; what comes before is \
             passed over",
            "",
            "a size such as \"5 GiB\"",
        )
        .or("at its beginning");
        read_amplification: u64 = count_from("cursors that issue the same requests at once, each with gaps of its own", 1, 1)
            .up_to(65_536);
        gap_spread: f64 = within(
            "read_amplification above 1: each gap of a cursor is multiplied by a number drawn evenly from 1 - this to 1 + this",
            1.0,
            Range::SHARE,
        );
        shuffle_window: u64 = count(
            "the writes of every so many requests change places at random, from the first request on: a control for patterns \
             (docs/patterns.md); 0: none do",
            0,
        )
        .up_to(WINDOW_MAX as u64);
        arrival: String = name("when requests arrive; in functional mode under a throttle only", ARRIVALS)
            .or("open where requests have times (a trace, a twin, rate_per_s), else closed");
        queue_depth: u32 = whole("requests under way at once, in each of the host's queues", 32, (1, u32::MAX))
            .with("workload.arrival", &["closed"])
            .timed();

        pattern: String = listed("where requests go", || Pattern::NAMES.iter().map(|(name, _)| *name).collect())
            .or("uniform")
            .with(KIND, SYNTHETIC);
        requests: u64 = count_from("requests that count", 10_000_000, 1)
            .or("10000000, of a twin its own number")
            .with(KIND, GENERATED);
        request_bytes: u64 = count_from("bytes of each request, but for jesd219, which has its own", 4096, 1).with(KIND, SYNTHETIC);
        read_share: f64 = within("share of requests that read", 0.0, Range::SHARE)
            .or("0, of jesd219 0.4")
            .with(KIND, SYNTHETIC);
        trim_share: f64 = within("share of requests that trim", 0.0, Range::SHARE).with(KIND, SYNTHETIC);
        fua_share: f64 = within(
            "with a buffer: share of the writes that must be on flash before they are done",
            0.0,
            Range::SHARE,
        )
        .with(KIND, SYNTHETIC);
        flush_every: u64 = count("with a buffer: one flush of everything written per so many requests; 0: no flushes", 0)
            .with(KIND, SYNTHETIC);
        rate_per_s: f64 = within("requests per second", 0.0, Range::ABOVE_0).or("the workload has no time").with(KIND, SYNTHETIC);
        zipf_theta: f64 = real("exponent of the law", 0.99, (0.0, 20.0)).with(PATTERN, &["zipf"]);
        hot_share_of_pages: f64 = within("share of the pages that is hot", 0.2, Range::SHARE).with(PATTERN, &["hot-cold"]);
        hot_share_of_writes: f64 = within("share of the requests that goes there", 0.8, Range::SHARE).with(PATTERN, &["hot-cold"]);
        random_share: f64 = within("share of the requests that go to a random place; the rest goes on", 1.0, Range::SHARE)
            .with(PATTERN, JOBS);
        sizes: Vec<(u64, f64)> = other("request sizes", "a list of pairs of bytes and weight")
            .or("request_bytes")
            .with(PATTERN, JOBS);
        align_bytes: u64 = count_from("requests begin at multiples of this", 4096, 1).with(PATTERN, JOBS);
        offset_bytes: u64 = count("first byte of the working set", 0).with(PATTERN, JOBS);
        working_set_bytes: u64 = count("length of the working set", 0).or("up to the end of the drive").with(PATTERN, JOBS);
        burst_on_s: f64 = within("mean length of a time with requests", 1.0, BURST_S).or("no bursts").with(PATTERN, JOBS);
        burst_off_s: f64 = within("mean length of a time without requests", 1.0, BURST_S).or("no bursts").with(PATTERN, JOBS);
        duplicate_share: f64 = within(
            "share of the page writes that repeat what is stored already, where the workload has no content of its own; with \
             it or compressed_share a seeded model makes content up (docs/generate.md)",
            0.0,
            Range::SHARE_BELOW_1,
        );
        compressed_share: f64 = within(
            "mean compressed / plain size of new content, incompressible pages included",
            1.0,
            Range { above_least: true, ..Range::SHARE },
        );
        incompressible_share: f64 = within("share of new content that cannot be compressed at all", 0.0, Range::SHARE_BELOW_1);
        content_seed: u64 = count_from("seed of the content", 1, 0);

        micro: String = listed("a micro-benchmark of RB-Explorer, which stands for a pattern and its parameters", || {
            MICROS.iter().map(|micro| micro.name).collect()
        })
        .with(KIND, SYNTHETIC);

        twin: String = text("a name of the catalogue, or the path of a TOML file", "", "a name, or a path")
            .or("none")
            .with(KIND, TWIN);
        thin: u64 = count_from(
            "one in so many of a twin's requests, in a space that is as much smaller, over the same time: for a drive that is \
             as much smaller",
            1,
            1,
        )
        .with(KIND, TWIN);

        file: String = text("the trace; \"-\" is standard input", "", "a file, or \"-\"").or("none").with(KIND, TRACE);
        format: String = listed("format of the file (`floatgate trace info`)", || {
            floatgate_trace::FORMATS.iter().map(|format| format.name).collect()
        })
        .or("detected")
        .with(KIND, TRACE);
        columns: String = text(
            "the columns of a line, such as \"time:s op:RW offset:sectors size:bytes\", or a TOML file with them \
             (`docs/formats.md`)",
            "",
            "a description, or a file",
        )
        .or("those of the format")
        .with(KIND, TRACE);
        time_unit: String = listed("unit of the stamps", || TimeUnit::NAMES.iter().map(|(name, _)| *name).collect())
            .or("that of the format")
            .with(KIND, TRACE);
        lba_unit: String = listed("unit of the addresses", || LbaUnit::NAMES.iter().map(|(name, _)| *name).collect())
            .or("that of the format")
            .with(KIND, TRACE);
        action: String = listed("blkparse event that is taken as the request", || Action::NAMES.to_vec())
            .or("the first that the file has")
            .with(KIND, TRACE);
        on_bad_line: String = listed("stop at a line that cannot be read, or skip and count it", || {
            OnBadLine::NAMES.iter().map(|(name, _)| *name).collect()
        })
        .or("stop")
        .with(KIND, TRACE);
        repeat: u64 = count_from("passes that count", 1, 1).with(KIND, TRACE);
        warmup_passes: u64 = count("passes served first that do not count", 0).with(KIND, TRACE);
        repeat_content: String = name("what later passes write where the first wrote known content", REPEATS).with(KIND, TRACE);
        devices: String = name("where several devices of a trace lie", DEVICES).with(KIND, TRACE);
        beyond: String = name("what happens to addresses beyond the drive", BEYOND).with(KIND, RECORDED);
    }
}
