//! The DRAM buffer in whole runs: laws, worked timelines, both modes, the shadow model.

use crate::common::cases::draw;
use crate::common::{Folder, number, run_ok, try_run, without_clock, without_run};
use floatgate_base::Rng;
use floatgate_experiment::{load, run};
use serde_json::Value;

/// One die whose page takes 100 us to program, 20 us to read and next to nothing over the channel.
const DIE: &str = "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n[drive.timing]\nread_us = 20\n\
                   program_us = 100\nerase_us = 1000\nchannel_mb_per_s = 4096000\n[ftl]\nspare_factor = 0.25\nprecondition = \"none\"\n";

fn count(result: &Value, pointer: &str) -> u64 {
    result.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no count at {pointer}"))
}

/// The results that must not depend on time.
fn state(result: &Value) -> String {
    let keys = ["host", "flash", "waf", "waf_95", "stationary", "gc", "wear", "valid_pages", "buffer"];
    keys.map(|key| format!("{key}: {}", without_clock(result, key))).join("\n")
}

/// A random buffer for pages of so many bytes, on a drive with so many logical pages.
fn draw_buffer(rng: &mut Rng, page_bytes: u64, logical_pages: u64, disturbs: bool) -> String {
    let pages = match rng.below(4) {
        0 => 1 + rng.below(4),
        _ => 1 + rng.below(logical_pages),
    };
    let mut toml = format!("[drive.buffer]\ncapacity = \"{} B\"\n", pages * page_bytes);
    if disturbs && rng.below(2) == 0 {
        let (disturbed, kept, preload) = (0.5 * rng.unit(), rng.unit(), rng.below(2) == 0);
        toml += &format!("policy = \"disturb-aware\"\ndisturbed_share = {disturbed}\nkept_share = {kept}\n");
        toml += &format!("preload = {preload}\n");
    } else if rng.below(2) == 0 {
        toml += "read_cache = true\n";
    }
    if rng.below(2) == 0 {
        let low = rng.unit();
        toml += &format!("high_watermark = {}\nlow_watermark = {low}\n", low + (1.0 - low) * rng.unit());
    }
    toml
}

#[test]
fn any_drive_with_any_buffer_keeps_its_books_in_both_modes() {
    let folder = Folder::new("buffers");
    let (mut aware, mut preloads) = (0, 0);
    for seed in crate::common::seeds(150) {
        let trace = seed % 2 == 0;
        let mut rng = Rng::new(seed, "buffered");
        let mut case = draw(&mut rng, trace);
        if let Some((text, extension)) = &case.trace {
            let path = folder.file(&format!("{seed}.{extension}"), text);
            case.toml += &format!("file = \"{path}\"\n");
        } else if !case.loses_power {
            case.toml +=
                &format!("fua_share = {}\nflush_every = {}\n", rng.below(3) as f64 / 10.0, rng.below(40));
        }
        case.toml += &draw_buffer(&mut rng, case.rules.page_bytes, case.rules.logical_pages, case.disturbs);
        let at = |e: &dyn std::fmt::Display| format!("seed {seed}: {e}\n{}", case.toml);
        let shadowed = |mode: &str, more: &[(&str, String)]| {
            let overrides: Vec<_> = std::iter::once(("mode".to_owned(), mode.to_owned()))
                .chain(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())))
                .collect();
            let mut resolved = load(Some(&case.toml), "case.toml", &overrides).map_err(|e| at(&e)).unwrap();
            resolved.plan.shadow = true;
            run(resolved, &mut |_| Ok(())).map_err(|e| at(&e)).unwrap().result
        };
        let functional = shadowed("functional", &[]);
        let depth = (1 + rng.below(40)).to_string();
        let access = rng.below(3).to_string();
        let timed = shadowed(
            "timed",
            &[
                ("workload.arrival", "closed".into()),
                ("workload.queue_depth", depth),
                ("drive.buffer.access_us", access),
            ],
        );
        assert_eq!(state(&timed), state(&functional), "seed {seed}\n{}", case.toml);
        let r = &functional;
        let written = count(r, "/buffer/write_hits") + count(r, "/buffer/write_misses");
        assert_eq!(written, count(r, "/host/page_writes"), "seed {seed}");
        let read = count(r, "/buffer/read_hits") + count(r, "/buffer/read_misses");
        assert_eq!(read, count(r, "/host/page_reads"), "seed {seed}");
        let flushed = count(r, "/buffer/flushed_pages/total");
        let programs = count(r, "/flash/pages_written/host") + count(r, "/flash/pages_written/partial");
        assert_eq!(flushed, programs, "seed {seed}");
        assert_eq!(
            written,
            flushed + count(r, "/buffer/pages_merged") + count(r, "/buffer/pages_dropped"),
            "seed {seed}: a page was lost"
        );
        let reads = count(r, "/flash/reads/host") + count(r, "/flash/unmapped_reads");
        let preloaded = r["buffer"]["preloaded_pages"].as_u64().unwrap_or(0);
        (aware, preloads) = (aware + u64::from(r["buffer"]["kept_pages"].is_u64()), preloads + preloaded);
        let misses = count(r, "/buffer/read_misses") + preloaded;
        // One read of a flash page may do for several pages.
        assert!(reads == misses || case.subpages > 1 && reads < misses, "seed {seed}: {reads} of {misses}");
        for kind in ["read", "write"] {
            let done =
                timed.pointer(&format!("/latency_us/{kind}/count")).and_then(Value::as_u64).unwrap_or(0);
            assert_eq!(done, count(r, &format!("/host/{kind}_requests")), "seed {seed}: requests lost");
        }
    }
    assert!(aware > 20 && preloads > 0, "{aware} buffers were disturb-aware and read {preloads} pages ahead");
}

/// Uniform writes over N pages with C of them in the buffer: a write finds its page with C / N, and only the others
/// send one to flash.
#[test]
fn uniform_writes_hit_by_the_share_of_pages_held() {
    let toml = format!("{DIE}[workload]\nrequests = 200000\nwarmup_requests = 20000\n");
    let pages = count(&run_ok(&toml, &[]).result, "/drive/logical_bytes") / 4096;
    let r = run_ok(&toml, &[("drive.buffer.capacity", format!("{} B", pages / 4 * 4096))]).result;
    let ratio = number(&r, "/buffer/write_hit_ratio");
    assert!((ratio - (pages / 4) as f64 / pages as f64).abs() < 0.005, "{ratio}");
    let merged = number(&r, "/buffer/pages_merged") / 200_000.0;
    assert!((merged - ratio).abs() < 0.002, "{merged} of the writes never reach flash");
    assert!(!r["not_modelled"].as_array().unwrap().contains(&"DRAM buffer".into()));
}

#[test]
fn none_is_nothing() {
    let toml = format!("{DIE}[workload]\nrequests = 3000\nread_share = 0.3\n");
    let (without, zero) = (run_ok(&toml, &[]), run_ok(&toml, &[("drive.buffer.capacity", "0 B".into())]));
    assert_eq!(without_run(without.result.clone()), without_run(zero.result));
    assert_eq!(without.result["buffer"], Value::Null);
}

/// Latencies of the only read and the only write, or the longest of them, in nanoseconds; and the span.
fn longest_ns(result: &Value) -> [f64; 3] {
    let of = |kind: &str| result.pointer(&format!("/latency_us/{kind}/max")).and_then(Value::as_f64);
    [of("read").unwrap_or(0.0) * 1e3, of("write").unwrap_or(0.0) * 1e3, number(result, "/span_s") * 1e9]
        .map(f64::round)
}

/// Runs a timed trace of (ns, operation, page, pages) on one die with a buffer of so many pages. A page takes 1 ns over
/// the channel.
fn timeline(pages: u64, requests: &[(u64, &str, u64, u64)], more: &[(&str, String)]) -> Value {
    let folder = Folder::new("timeline");
    let line = |&(ns, op, page, n): &(u64, &str, u64, u64)| {
        format!("8,0 1 1 0.{ns:09} 1 Q {op} {} + {} [x]\n", page * 8, n * 8)
    };
    let path = folder.file("t.blkparse", requests.iter().map(line).collect::<String>());
    let toml = format!("mode = \"timed\"\n{DIE}[workload]\nfile = \"{path}\"\n");
    let mut overrides = vec![("drive.buffer.capacity", format!("{} B", pages * 4096))];
    overrides.extend_from_slice(more);
    run_ok(&toml, &overrides).result
}

#[test]
fn the_third_write_waits_for_the_first_page() {
    let writes = [(0, "W", 0, 1), (0, "W", 1, 1), (0, "W", 2, 1)];
    // Two places: two writes are done at once; the third one when page 0 is programmed, 1 + 100000 ns. At the end pages
    // 1 and 2 follow, one after the other.
    let r = timeline(2, &writes, &[]);
    assert_eq!(longest_ns(&r), [0.0, 100_001.0, 300_003.0]);
    assert_eq!(number(&r, "/latency_us/buffer_wait/write/place") * 3.0, 100.001);
    assert_eq!(count(&r, "/latency_us/buffer_wait/write/place_requests"), 1);
    // Through DRAM each page takes 2 us more.
    let r = timeline(2, &writes, &[("drive.buffer.access_us", "2".into())]);
    assert_eq!(longest_ns(&r), [0.0, 102_001.0, 300_003.0]);
    assert_eq!(number(&r, "/latency_us/write/p50"), 2.0);
    // The fifth page takes the place of the third, whose own data come only once the first has left it.
    let five: Vec<_> = (0..5).map(|page| (0, "W", page, 1)).collect();
    assert_eq!(longest_ns(&timeline(2, &five, &[]))[1], 300_003.0);
    // One request of five pages is the same.
    assert_eq!(longest_ns(&timeline(2, &[(0, "W", 0, 5)], &[]))[1], 300_003.0);
}

#[test]
fn a_small_buffer_bounds_what_is_under_way() {
    // Four dies would program four pages at once; with one place they do one after the other.
    let four: Vec<_> = (0..5).map(|page| (0, "W", page, 1)).collect();
    let dies = [("drive.geometry.channels", "4".into())];
    assert_eq!(longest_ns(&timeline(1, &four, &dies)), [0.0, 400_004.0, 500_005.0]);
    // With four places the fifth write waits for the first page alone.
    assert_eq!(longest_ns(&timeline(4, &four, &dies)), [0.0, 100_001.0, 200_002.0]);
}

#[test]
fn reads_are_served_from_the_buffer_even_while_it_flushes() {
    // Page 0 leaves at 0 for page 2 until 100001; page 1 is read at 50000 at once, page 0 from flash when it is there:
    // 20000 + 1 more.
    let requests = [(0, "W", 0, 1), (0, "W", 1, 1), (0, "W", 2, 1), (50_000, "R", 1, 1)];
    assert_eq!(longest_ns(&timeline(2, &requests, &[]))[0], 0.0);
    let requests = [(0, "W", 0, 1), (0, "W", 1, 1), (0, "W", 2, 1), (50_000, "R", 0, 1)];
    assert_eq!(longest_ns(&timeline(2, &requests, &[]))[0], 70_002.0);
    // A page that is flushed because of a watermark stays: it is read, and written again without waiting.
    let watermarks =
        [("drive.buffer.high_watermark", "0.5".into()), ("drive.buffer.low_watermark", "0".into())];
    let requests = [(0, "W", 0, 1), (0, "W", 1, 1), (10, "R", 0, 1), (20, "W", 0, 1)];
    let r = timeline(2, &requests, &watermarks);
    assert_eq!(longest_ns(&r), [0.0, 0.0, 300_003.0]);
    assert_eq!(count(&r, "/buffer/flushed_pages/watermark"), 2);
    // Page 2 at 30 takes the place of page 1, which is clean but under way until 200002.
    let requests = [(0, "W", 0, 1), (0, "W", 1, 1), (20, "W", 0, 1), (30, "W", 2, 1)];
    assert_eq!(longest_ns(&timeline(2, &requests, &watermarks))[1], 199_972.0);
    // A page read is there for the next read, once it is there.
    let requests = [(0, "W", 0, 3), (500_000, "R", 0, 1), (500_010, "R", 0, 1)];
    let r = timeline(2, &requests, &[("drive.buffer.read_cache", "true".into())]);
    assert_eq!((longest_ns(&r)[0], number(&r, "/latency_us/read/mean")), (20_001.0, 19.996));
}

#[test]
fn fua_waits_for_its_page_and_flush_for_all() {
    // Alone: its own program. It goes before nothing: page 0 stays dirty until the end.
    let r = timeline(4, &[(0, "W", 0, 1), (0, "WF", 1, 1)], &[]);
    assert_eq!(longest_ns(&r), [0.0, 100_001.0, 200_002.0]);
    assert_eq!(number(&r, "/latency_us/buffer_wait/write/flushed") * 2.0, 100.001);
    assert_eq!(count(&r, "/buffer/flushed_pages/fua"), 1);
    // A flush before a write: pages 0 and 1 are programmed, then it is done; its own page is not.
    let r = timeline(4, &[(0, "W", 0, 2), (0, "FW", 2, 1)], &[]);
    assert_eq!(longest_ns(&r), [0.0, 200_002.0, 300_003.0]);
    assert_eq!((count(&r, "/buffer/flushed_pages/flush"), count(&r, "/buffer/flushed_pages/end")), (2, 1));
    // A flush that comes by itself belongs to the request after it.
    let r = timeline(4, &[(0, "W", 0, 1), (0, "FN", 0, 0), (0, "R", 9, 1)], &[]);
    assert_eq!((longest_ns(&r)[0], count(&r, "/buffer/flush_requests")), (100_001.0, 1));
    // It also waits for what is under way already.
    let r = timeline(2, &[(0, "W", 0, 3), (0, "FN", 0, 0), (10, "R", 9, 1)], &[]);
    assert_eq!(longest_ns(&r)[0], 300_003.0 - 10.0);
}

/// Messages about settings that cannot be used.
fn refused(overrides: &[(&str, &str)]) -> String {
    let toml = format!("{DIE}[workload]\nrequests = 100\n");
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
    try_run(&toml, &overrides).err().unwrap_or_else(|| panic!("{overrides:?} ran"))
}

#[test]
fn unusable_orders_are_refused() {
    for (overrides, message) in [
        (
            &[("drive.buffer.capacity", "32 KiB"), ("drive.buffer.policy", "disturb-aware")][..],
            "drive.buffer.policy: no block is ever disturbed: reads disturb nothing; expected \"lru\", or a \
             drive.disturb.model such as \"tlc-base\"",
        ),
        (
            &[("drive.buffer.capacity", "32 KiB"), ("drive.buffer.kept_share", "0.5")],
            "drive.buffer.kept_share: kept_share = 0.5 has no effect with policy = \"lru\"; expected policy = \"disturb-aware\", or no kept_share",
        ),
        (
            &[("drive.buffer.policy", "disturb-aware")],
            "drive.buffer.policy: policy has no effect without a buffer; expected it with drive.buffer.capacity \
             above 0 only",
        ),
        (
            &[("drive.buffer.capacity", "32 KiB"), ("drive.buffer.policy", "fifo")],
            "drive.buffer.policy: unknown eviction order of the buffer 'fifo'; expected one of 'lru', 'disturb-aware'",
        ),
        (
            &[
                ("drive.buffer.capacity", "32 KiB"),
                ("drive.disturb.model", "uniform"),
                ("drive.buffer.policy", "disturb-aware"),
                ("drive.buffer.disturbed_share", "1.5"),
            ],
            "drive.buffer.disturbed_share: disturbed_share is 1.5; expected a number from 0 to 1",
        ),
        (
            &[
                ("drive.buffer.capacity", "32 KiB"),
                ("drive.disturb.model", "uniform"),
                ("ftl.reclaim.policy", "rrb"),
                ("drive.buffer.policy", "disturb-aware"),
                ("drive.buffer.disturbed_share", "0.95"),
            ],
            "drive.buffer.disturbed_share: no block is ever disturbed by 0.95 of the maximum: rrb reclaims it at 0.95; \
             expected less than 0.95, or 0 for all blocks",
        ),
        (
            &[
                ("drive.buffer.capacity", "32 KiB"),
                ("drive.disturb.model", "uniform"),
                ("drive.buffer.policy", "disturb-aware"),
                ("drive.buffer.read_cache", "false"),
            ],
            "drive.buffer.read_cache: a buffer that is disturb-aware keeps pages that were read, and read_cache is \
             false; expected read_cache = true, or policy = \"lru\"",
        ),
    ] {
        assert_eq!(refused(overrides), message);
    }
}

#[test]
fn unusable_buffers_are_refused() {
    let with = |key: &'static str, value: &'static str| {
        [("drive.buffer.capacity", "32 KiB"), ("drive.buffer.low_watermark", "0.5"), (key, value)]
    };
    for (overrides, message) in [
        (
            &[("drive.buffer.capacity", "512 B")][..],
            "drive.buffer.capacity: '512 B' is less than one page; expected 0, or a multiple of 4096 bytes",
        ),
        (
            &[("drive.buffer.capacity", "5000 B")],
            "drive.buffer.capacity: '5000 B' is not a whole number of pages; expected 0, or a multiple of 4096 bytes",
        ),
        (
            &[("drive.buffer.capacity", "1 GiB")],
            "drive.buffer.capacity: '1 GiB' is more than the drive has flash; expected at most 2560 KiB",
        ),
        (
            &[("drive.buffer.capacity", "many")],
            "drive.buffer.capacity: 'many' is not a size; expected a size such as \"32 MiB\"",
        ),
        (
            &with("drive.buffer.high_watermark", "0.4"),
            "drive.buffer.low_watermark: low_watermark 0.5 lies above high_watermark 0.4; expected at most 0.4",
        ),
        (
            &with("drive.buffer.high_watermark", "1.5"),
            "drive.buffer.high_watermark: high_watermark is 1.5; expected a number from 0 to 1",
        ),
        (
            &with("drive.buffer.read_cache", "true"),
            "drive.buffer.low_watermark: low_watermark without high_watermark; expected both, or neither",
        ),
        (
            &[("drive.buffer.read_cache", "true")],
            "drive.buffer.read_cache: read_cache has no effect without a buffer; expected it with \
             drive.buffer.capacity above 0 only",
        ),
        (
            &[("drive.buffer.capacity", "32 KiB"), ("drive.buffer.access_us", "1")],
            "drive.buffer.access_us: access_us = 1 has no effect in functional mode; expected mode = \"timed\", or no access_us",
        ),
        (
            &[("drive.buffer.access_us", "-1")],
            "drive.buffer.access_us: access_us = -1 has no effect in functional mode; expected mode = \"timed\", or no access_us",
        ),
        (
            &[("workload.fua_share", "0.5")],
            "workload.fua_share: fua_share has no effect without a buffer or compression; expected it with \
             drive.buffer.capacity above 0, with lifetime.reduce.policy = \"compress\", or with drive.plp = false and \
             ftl.mapping_bytes below a page of the flash, or ftl.metadata",
        ),
        (
            &[("drive.buffer.capacity", "32 KiB"), ("workload.fua_share", "1.5")],
            "workload.fua_share: fua_share is 1.5; expected a number from 0 to 1",
        ),
    ] {
        assert_eq!(refused(overrides), message);
    }
}
