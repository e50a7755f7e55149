//! No silent knob: every key of the experiment file changes a metric, or is refused.
//!
//! The keys come from the schema: a new key without a case here fails the test. Keys that choose policies, and the
//! parameters of their rows, are in `policy_knobs.rs`, which reads them from the tables.

use crate::common::knob_toml::{
    DRIVE, FTL, UNIFORM, base, buffered, by_context, geometry, life, planes, reduced, suspending, timed,
    trace, traces, with,
};
use crate::common::{Folder, try_run};
use floatgate_config::slot_types::SLOTS;
use floatgate_experiment::LifetimeOptions;
use serde_json::Value;
use std::collections::BTreeSet;

/// Evidence that a key matters.
#[derive(Clone)]
enum Shown {
    /// The metric differs between two values of the key.
    By(&'static str, &'static str, &'static str),
    /// The first value runs, the second stops with this message.
    Refused(&'static str, &'static str, &'static str),
    /// As [`Shown::By`], in what `floatgate lifetime` gives.
    Life(&'static str, &'static str, &'static str),
}
use Shown::{By, Life, Refused};

/// A key, an experiment in which it matters, and how.
type Case = (&'static str, String, Shown);

const PROGRAMS: &str = "/flash/programs/total";
const READ: &str = "/latency_us/read/mean";
const WRITE: &str = "/latency_us/write/mean";

/// Keys at the top, and what the drive is made of.
fn drive() -> Vec<Case> {
    vec![
        ("seed", base(), By("1", "2", PROGRAMS)),
        ("mode", base(), By("functional", "timed", "/span_s")),
        (
            "policies",
            format!(
                "{DRIVE}{FTL}[workload]\nrequests = 4000\nduplicate_share = 0.5\ncompressed_share = 0.5\n"
            ),
            By("none", "reduce", PROGRAMS),
        ),
        (
            "policy_code",
            base(),
            Refused("[]", "[\"mine 12ab\"]", "or no policy_code to run the present ones"),
        ),
        (
            "drive.preset",
            format!(
                "{FTL}[workload]\nrequests = 4000\nwarmup_requests = 0\n[drive]\ncapacity = \"256 MiB\"\n"
            ),
            By("mlc-20nm", "tlc-redftl", "/flash/time_s/host"),
        ),
        (
            "drive.capacity",
            format!("[drive.geometry]\npages_per_block = 16\n{FTL}{UNIFORM}"),
            By("4 MiB", "8 MiB", PROGRAMS),
        ),
        ("drive.visible", base(), By("2 MiB", "2200 KiB", PROGRAMS)),
        ("drive.geometry.channels", base(), By("1", "2", PROGRAMS)),
        ("drive.geometry.chips_per_channel", base(), By("1", "2", PROGRAMS)),
        ("drive.geometry.dies_per_chip", base(), By("1", "2", PROGRAMS)),
        ("drive.geometry.planes_per_die", base(), By("1", "2", PROGRAMS)),
        ("drive.geometry.blocks_per_plane", base(), By("40", "41", PROGRAMS)),
        ("drive.geometry.pages_per_block", base(), By("16", "17", PROGRAMS)),
        ("drive.geometry.page_bytes", base(), By("4096", "8192", "/flash/programs/total")),
    ]
}

/// Keys of `drive.timing`.
fn timing() -> Vec<Case> {
    vec![
        ("drive.timing.read_us", geometry("[drive.timing]\n"), By("50", "51", "/flash/time_s/gc")),
        ("drive.timing.program_us", geometry("[drive.timing]\n"), By("600", "601", "/flash/time_s/host")),
        ("drive.timing.erase_us", geometry("[drive.timing]\n"), By("3000", "3001", "/flash/time_s/gc")),
        (
            "drive.timing.channel_mb_per_s",
            geometry("[drive.timing]\n"),
            By("333", "334", "/flash/time_s/host"),
        ),
        (
            "drive.timing.read_us_by_page_type",
            geometry("[drive.timing]\n"),
            By("[50, 60]", "[50, 70, 80]", "/flash/time_s/gc"),
        ),
        (
            "drive.timing.program_us_by_page_type",
            geometry("[drive.timing]\n"),
            By("[500, 900]", "[500, 901]", "/flash/time_s/host"),
        ),
        ("drive.timing.program_spread", timed(""), By("0", "0.1", WRITE)),
        ("drive.timing.erase_spread", timed(""), By("0", "0.5", WRITE)),
        ("drive.timing.command_us", geometry("[drive.timing]\n"), By("0", "0.2", "/flash/time_s/host")),
    ]
}

/// Keys of `drive.commands` and `drive.scheduling`.
fn commands() -> Vec<Case> {
    vec![
        (
            "drive.commands.multi_plane",
            planes("", ""),
            By("none", "same-page", "/commands/multi_plane_pages"),
        ),
        (
            "drive.commands.cache_read",
            timed("read_share = 0.9\n"),
            By("false", "true", "/commands/cache_reads"),
        ),
        ("drive.commands.cache_program", timed(""), By("false", "true", "/commands/cache_programs")),
        ("drive.commands.copyback", timed(""), By("false", "true", "/commands/copybacks")),
        (
            "drive.commands.program_suspend",
            timed("read_share = 0.5\n"),
            By("false", "true", "/commands/program_suspends"),
        ),
        (
            "drive.commands.erase_suspend",
            timed("read_share = 0.5\n"),
            By("false", "true", "/commands/erase_suspends"),
        ),
        ("drive.commands.suspend_us", suspending(), By("20", "21", READ)),
        ("drive.commands.resume_us", suspending(), By("20", "21", WRITE)),
        ("drive.commands.suspend_reads_max", suspending(), By("1", "16", READ)),
        (
            "drive.scheduling.jobs_hold",
            timed("read_share = 0.5\n") + "[ftl.collect]\nmode = \"whole-block\"\n",
            By("nothing", "channel", READ),
        ),
        ("drive.scheduling.moved_reads", timed("read_share = 0.5\n"), By("new", "old", READ)),
    ]
}

/// Keys of `drive.endurance` and `drive.energy`.
fn energy() -> Vec<Case> {
    vec![
        ("drive.endurance.pe_cycles", base(), By("3000", "3001", "/lifetime/tbw_bytes")),
        ("drive.bad_block_reserve", base(), By("0.0", "0.5", "/lifetime/tbw_spare_blocks_bytes")),
        ("drive.energy.read_uj", base(), By("1", "2", "/energy/read_j/gc")),
        ("drive.energy.program_uj", base(), By("1", "2", "/energy/program_j/host")),
        ("drive.energy.erase_uj", base(), By("1", "2", "/energy/erase_j/gc")),
        ("drive.energy.transfer_uj", base(), By("1", "2", "/energy/transfer_j/host")),
    ]
}

/// Keys of `drive.rated`.
fn rated() -> Vec<Case> {
    let with = |more: &str| geometry(&format!("[drive.rated]\n{more}"));
    vec![
        ("drive.rated.user_bytes", with("tbw_tb = 1\n"), By("1000", "2000", "/drive/rated/drive_writes")),
        (
            "drive.rated.user_capacity",
            with("tbw_tb = 1\n"),
            By("1.92 TB", "2 TB", "/drive/rated/drive_writes"),
        ),
        ("drive.rated.tbw_tb", with("user_bytes = 1000\n"), By("1", "1.5", "/drive/rated/drive_writes")),
        ("drive.rated.years", with("user_bytes = 1000\ntbw_tb = 1\n"), By("3", "5", "/drive/rated/dwpd")),
    ]
}

/// Keys of `drive.buffer`, and of what empties it.
fn buffer() -> Vec<Case> {
    vec![
        ("ftl.mapping_bytes", geometry("page_bytes = 16384\n"), By("4096", "16384", "/flash/programs/total")),
        ("drive.plp", geometry("page_bytes = 16384\n"), By("true", "false", "/flash/pages_written/padding")),
        ("drive.buffer.capacity", base(), By("0 B", "32 KiB", "/flash/programs/host")),
        (
            "drive.buffer.read_cache",
            buffered("", "read_share = 0.5\n"),
            By("false", "true", "/flash/reads/host"),
        ),
        (
            "drive.buffer.high_watermark",
            buffered("low_watermark = 0.1\n", ""),
            By("0.5", "0.9", "/flash/programs/host"),
        ),
        (
            "drive.buffer.low_watermark",
            buffered("high_watermark = 0.9\n", ""),
            By("0.1", "0.8", "/flash/programs/host"),
        ),
        ("drive.buffer.access_us", format!("mode = \"timed\"\n{}", buffered("", "")), By("0", "1", WRITE)),
        ("workload.fua_share", buffered("", ""), By("0", "0.1", "/flash/programs/host")),
        ("workload.flush_every", buffered("", ""), By("0", "10", "/flash/programs/host")),
    ]
}

/// Keys of `ftl` but those of collection.
fn ftl() -> Vec<Case> {
    vec![
        ("ftl.allocation.mode", geometry("channels = 2\n"), By("dynamic", "static", PROGRAMS)),
        (
            "ftl.allocation.order",
            planes("channels = 2\n", "queue_depth = 2\n"),
            By(r#"["channel", "chip", "die", "plane"]"#, r#"["plane", "die", "way", "channel"]"#, WRITE),
        ),
        ("ftl.spare_factor", base(), By("0.25", "0.3", PROGRAMS)),
        ("ftl.precondition", base(), By("none", "random", PROGRAMS)),
        ("ftl.auto_fill", base().replace("\"random\"", "\"auto\""), By("steady", "random", PROGRAMS)),
        (
            // The choice needs more than one free block; by default collection leaves one a stream.
            "ftl.free_block",
            with("[ftl.collect]\nstop_free_blocks = 6\n", "pattern = \"hot-cold\"\n"),
            By("least-erased", "fifo", "/wear/erases_std"),
        ),
        (
            "ftl.unwritten_reads",
            with("", "read_share = 0.5\n").replace("\"random\"", "\"none\""),
            By("nothing", "program", "/flash/programs/padding"),
        ),
        ("ftl.fill_share", base().replace("\"random\"", "\"fill\""), By("0.6", "0.7", PROGRAMS)),
        (
            "ftl.snapshot",
            format!("{DRIVE}[ftl]\nspare_factor = 0.25\n{UNIFORM}"),
            By("a.drive", "b.drive", PROGRAMS),
        ),
    ]
}

/// Keys of `ftl.collect`.
fn collect() -> Vec<Case> {
    vec![
        ("ftl.collect.scope", geometry("channels = 2\n"), By("plane", "superblock", PROGRAMS)),
        ("ftl.collect.mode", base(), By("whole-block", "incremental", "/gc/forced")),
        (
            "ftl.collect.trigger_free_blocks",
            with("[ftl.collect]\nstop_free_blocks = 5\n", ""),
            By("1", "4", PROGRAMS),
        ),
        ("ftl.collect.stop_free_blocks", base(), By("1", "4", PROGRAMS)),
        (
            "ftl.collect.trigger_free_share",
            with("[ftl.collect]\nstop_free_share = 0.15\n", ""),
            By("0.01", "0.12", PROGRAMS),
        ),
        ("ftl.collect.stop_free_share", base(), By("0.01", "0.12", PROGRAMS)),
        ("ftl.collect.paced_from_writes", with("[ftl.collect]\n", ""), By("1000", "3000", PROGRAMS)),
        ("ftl.collect.garbage_share", with("[ftl.collect]\n", ""), By("0.02", "0.08", PROGRAMS)),
        (
            "ftl.collect.pace_writes",
            with("[ftl.collect]\npaced_from_writes = 1000\n", ""),
            By("8", "64", PROGRAMS),
        ),
    ]
}

/// Keys of `ftl.collect` about timing by program contexts.
fn collect_by_context(folder: &Folder) -> Vec<Case> {
    let (plain, idle) = (by_context(folder, false), by_context(folder, true));
    let untimed = plain.replace("timing = \"by-context\"\nconfident_from = 2\n", "");
    let goal = "/gc/timing/bursts/prepared_blocks";
    vec![
        ("ftl.collect.timing", untimed, By("free-blocks", "by-context", PROGRAMS)),
        ("ftl.collect.horizon_share", plain.clone(), By("0.05", "0.5", PROGRAMS)),
        ("ftl.collect.dying_share", plain.clone(), By("0.0", "1.0", PROGRAMS)),
        ("ftl.collect.contexts", plain.clone(), By("1", "64", PROGRAMS)),
        ("ftl.collect.confident_from", plain, By("1", "7", PROGRAMS)),
        ("ftl.collect.burst_gap_us", idle.clone(), By("5000", "500000", goal)),
        ("ftl.collect.prepared_share", idle, By("0.01", "0.9", goal)),
    ]
}

/// Keys of `lifetime`.
fn lifetime() -> Vec<Case> {
    let optimistic = "ready-optimistic";
    // Of laps of the least length, which say less about write amplification, and as much about keys.
    let short = "[lifetime.forecast]\nlap_programs_min = 1\n";
    let windows = &format!("{short}method = \"windows\"\n");
    let no_laps = "[lifetime.forecast]\nmethod = \"windows\"\n";
    let strict = &format!("{windows}waf_error_max = 1e-12\n");
    vec![
        ("lifetime.forecast.method", life(optimistic, short), Life("windows", "requests", "/method/runs")),
        ("lifetime.forecast.window_s", life(optimistic, windows), Life("1", "100", "/method/runs")),
        ("lifetime.forecast.waf", life("none", no_laps), Life("1.0", "2.0", "/lifetime/years")),
        ("lifetime.forecast.waf_of_bytes", life("none", no_laps), Life("1.0", "2.0", "/lifetime/years")),
        ("lifetime.forecast.laps_max", life("none", strict), Life("3", "4", "/method/laps")),
        (
            "lifetime.forecast.lap_programs_min",
            life("none", windows),
            Life("1", "2000000", "/method/programs"),
        ),
        ("lifetime.forecast.waf_error_max", life("none", windows), Life("1e-12", "0.5", "/method/laps")),
        ("lifetime.forecast.demand", life("none", windows), Life("1", "2", "/lifetime/years")),
        ("lifetime.forecast.growth_per_year", life("none", windows), Life("0", "0.5", "/lifetime/years")),
        (
            "lifetime.forecast.close_up_requests",
            life("none", windows),
            Life("50", "100", "/close_up/busiest/requests"),
        ),
        ("lifetime.forecast.cycles_used", life("none", short), Life("0", "2000", "/lifetime/years")),
        (
            "lifetime.forecast.age_years",
            life("none", &format!("{short}cycles_used = 2000\n")),
            Life("0", "1", "/lifetime/years"),
        ),
        ("lifetime.forecast.cycles_spread", life("none", short), Life("0", "0.1", "/lifetime/years_range")),
        ("lifetime.throttle.target_years", base(), By("5", "6", "/lifetime/dwpd_for_target")),
    ]
}

/// Keys of `host`.
fn host(folder: &Folder) -> Vec<Case> {
    vec![
        ("host.queues", timed(""), By("1", "2", WRITE)),
        (
            "host.queue_of",
            trace(
                folder,
                "devices-in-turns.csv",
                "beyond = \"scale\"\n[host]\nqueues = 2\noutstanding_max = 1\n",
            )
            .replacen("[drive", "mode = \"timed\"\n[drive", 1),
            By("round-robin", "device", "/latency_us/queues/0/mean"),
        ),
        (
            "host.priorities",
            timed("[host]\nqueues = 2\noutstanding_max = 1\n"),
            By("[0, 0]", "[0, 1]", "/latency_us/write/p99"),
        ),
        ("host.outstanding_max", timed(""), By("1", "8", WRITE)),
    ]
}

/// Keys of `workload` that any synthetic one has.
fn workload() -> Vec<Case> {
    vec![
        (
            "workload.kind",
            base(),
            Refused(
                "synthetic",
                "trace",
                "kind = \"trace\" has no file; expected file = \"TRACE\" or --trace TRACE",
            ),
        ),
        ("workload.warmup_requests", base(), By("0", "2000", PROGRAMS)),
        ("workload.arrival", timed("rate_per_s = 1000\n"), By("open", "closed", WRITE)),
        ("workload.queue_depth", timed(""), By("32", "16", WRITE)),
        ("workload.requests", base(), By("4000", "4001", PROGRAMS)),
        ("workload.request_bytes", base(), By("4096", "8192", "/host/page_writes")),
        ("workload.read_share", base(), By("0.0", "0.1", "/host/read_requests")),
        ("workload.trim_share", base(), By("0.0", "0.1", "/host/trim_requests")),
        ("workload.rate_per_s", base(), By("1000", "2000", "/span_s")),
        ("workload.shuffle_window", with("", "pattern = \"zipf\"\n"), By("0", "500", PROGRAMS)),
        ("workload.read_amplification", base(), By("1", "3", "/host/write_requests")),
        (
            "workload.gap_spread",
            with("", "rate_per_s = 1000\nread_amplification = 3\n"),
            By("0.2", "0.9", "/span_s"),
        ),
    ]
}

/// Keys of `workload` that some patterns have, and twins.
fn pattern(folder: &Folder) -> Vec<Case> {
    let jobs = "pattern = \"jobs\"\n";
    vec![
        ("workload.pattern", base(), By("uniform", "sequential", PROGRAMS)),
        ("workload.duplicate_share", reduced(&base()), By("0.1", "0.5", PROGRAMS)),
        ("workload.compressed_share", reduced(&base()), By("0.3", "0.9", PROGRAMS)),
        (
            "workload.incompressible_share",
            reduced(&with("", "compressed_share = 0.6\n")),
            By("0.1", "0.5", PROGRAMS),
        ),
        ("workload.content_seed", reduced(&with("", "duplicate_share = 0.3\n")), By("1", "2", PROGRAMS)),
        ("workload.zipf_theta", with("", "pattern = \"zipf\"\n"), By("0.9", "1.0", PROGRAMS)),
        ("workload.hot_share_of_pages", with("", "pattern = \"hot-cold\"\n"), By("0.2", "0.3", PROGRAMS)),
        ("workload.hot_share_of_writes", with("", "pattern = \"hot-cold\"\n"), By("0.8", "0.9", PROGRAMS)),
        ("workload.random_share", with("", jobs), By("1.0", "0.5", PROGRAMS)),
        ("workload.sizes", with("", jobs), By("[[4096, 1]]", "[[4096, 1], [8192, 1]]", "/host/page_writes")),
        ("workload.align_bytes", with("", jobs), By("4096", "512", "/flash/programs/partial")),
        ("workload.offset_bytes", with("", jobs), By("0", "512", "/flash/programs/partial")),
        ("workload.working_set_bytes", with("", jobs), By("65536", "1048576", PROGRAMS)),
        (
            "workload.burst_on_s",
            with("", &format!("{jobs}rate_per_s = 1000\nburst_off_s = 0.1\n")),
            By("0.1", "0.2", "/span_s"),
        ),
        (
            "workload.burst_off_s",
            with("", &format!("{jobs}rate_per_s = 1000\nburst_on_s = 0.1\n")),
            By("0.1", "0.2", "/span_s"),
        ),
        ("workload.micro", base(), By("4k-rd-100w-align", "4k-sq-100w-align", PROGRAMS)),
        ("workload.twin", format!("{DRIVE}{FTL}[workload]\n"), By("a.toml", "b.toml", PROGRAMS)),
        (
            "workload.thin",
            format!("{DRIVE}{FTL}[workload]\ntwin = \"{}/a.toml\"\n", folder.path()),
            By("1", "2", PROGRAMS),
        ),
    ]
}

/// Keys of `workload` that traces have.
fn traced(folder: &Folder) -> Vec<Case> {
    vec![
        ("workload.file", trace(folder, "a.csv", ""), By("a.csv", "b.csv", PROGRAMS)),
        (
            "workload.format",
            trace(folder, "five-columns", "lba_unit = \"sector\"\n"),
            By("ssdsim", "disksim", "/span_s"),
        ),
        (
            "workload.columns",
            trace(folder, "five-columns", ""),
            By(
                "time:ns skip offset:sectors size:sectors op:1=read,0=write",
                "time:us skip offset:sectors size:sectors op:1=read,0=write",
                "/span_s",
            ),
        ),
        ("workload.time_unit", trace(folder, "five.ssdsim", ""), By("ns", "us", "/span_s")),
        (
            "workload.lba_unit",
            trace(folder, "five.ssdsim", ""),
            By("byte", "sector", "/flash/programs/partial"),
        ),
        ("workload.action", trace(folder, "q-and-d.blkparse", ""), By("Q", "D", "/host/write_requests")),
        (
            "workload.on_bad_line",
            trace(folder, "bad.csv", ""),
            Refused("skip", "stop", ": 'x' is not an offset; expected bytes"),
        ),
        ("workload.stop_after", with("", "pattern = \"zipf\"\n"), By("1 MB", "2 MB", PROGRAMS)),
        (
            "workload.start_after",
            with("", "pattern = \"zipf\"\nstop_after = \"1 MB\"\n"),
            By("0 B", "1 MB", PROGRAMS),
        ),
        ("workload.repeat", trace(folder, "a.csv", ""), By("1", "2", PROGRAMS)),
        (
            "workload.repeat_content",
            reduced(&trace(folder, "a.csv", "repeat = 2\nduplicate_share = 0.1\n")),
            By("new", "same", PROGRAMS),
        ),
        ("workload.warmup_passes", trace(folder, "a.csv", ""), By("0", "1", PROGRAMS)),
        (
            "workload.devices",
            trace(folder, "two-devices.csv", "beyond = \"scale\"\n"),
            By("apart", "fold", PROGRAMS),
        ),
        ("workload.beyond", trace(folder, "large.csv", ""), By("wrap", "scale", PROGRAMS)),
        (
            "ftl.wear_in_max",
            trace(folder, "short.csv", "").replace("\"random\"", "\"auto\""),
            By("0", "0.05", PROGRAMS),
        ),
    ]
}

/// All cases.
fn cases(folder: &Folder) -> Vec<Case> {
    [
        drive(),
        timing(),
        commands(),
        energy(),
        rated(),
        buffer(),
        ftl(),
        collect(),
        collect_by_context(folder),
        lifetime(),
        host(folder),
        workload(),
        pattern(folder),
        traced(folder),
    ]
    .concat()
}

/// Dotted paths of all keys, from the schema.
fn keys() -> BTreeSet<String> {
    fn walk(root: &Value, node: &Value, path: &str, keys: &mut BTreeSet<String>) {
        if let Some(target) = reference(node) {
            return walk(root, root.pointer(&target[1..]).unwrap(), path, keys);
        }
        match node["properties"].as_object() {
            Some(properties) => properties.iter().for_each(|(key, inner)| {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(root, inner, &path, keys);
            }),
            None => {
                keys.insert(path.into());
            }
        }
    }
    /// `$ref`, also where the schema says "this or null".
    fn reference(node: &Value) -> Option<&str> {
        let of = |node: &'_ Value| node["$ref"].is_string();
        if of(node) {
            return node["$ref"].as_str();
        }
        node["anyOf"].as_array()?.iter().find(|n| of(n))?["$ref"].as_str()
    }
    let schema = floatgate_config::schema::schema();
    let mut keys = BTreeSet::new();
    walk(&schema, &schema, "", &mut keys);
    keys
}

#[test]
fn every_key_of_the_schema_has_a_case() {
    let tested: Vec<String> = cases(&traces()).iter().map(|(key, ..)| (*key).to_string()).collect();
    let unique: BTreeSet<String> = tested.iter().cloned().collect();
    assert_eq!(unique.len(), tested.len(), "a key has two cases");
    assert!(unique.len() > 50);
    let of_policies = |key: &String| {
        let slot =
            SLOTS.iter().find(|slot| key.strip_prefix(slot.key).is_some_and(|rest| rest.starts_with('.')));
        slot.is_some_and(|slot| slot.common.iter().all(|param| !key.ends_with(&format!(".{}", param.name))))
    };
    let keys: BTreeSet<String> = keys().into_iter().filter(|key| !of_policies(key)).collect();
    let missing: Vec<_> = keys.difference(&unique).collect();
    let superfluous: Vec<_> = unique.difference(&keys).collect();
    assert!(
        missing.is_empty() && superfluous.is_empty(),
        "without a case: {missing:?}; not in the schema: {superfluous:?}"
    );
}

#[test]
fn every_key_matters_or_is_refused() {
    let folder = traces();
    for (key, toml, shown) in cases(&folder) {
        let value = |value: &str| {
            if matches!(key, "workload.file" | "workload.twin" | "ftl.snapshot") {
                format!("{}/{value}", folder.path())
            } else {
                value.into()
            }
        };
        // In time, whole blocks make the longest waits to see a difference by.
        let whole = ("ftl.collect.mode", "whole-block".to_string());
        let outcome = |text: &str| {
            let overrides = [whole.clone(), (key, value(text))];
            try_run(&toml, &overrides).map(|output| output.result)
        };
        let runs = |text: &str| outcome(text).unwrap_or_else(|e| panic!("{key} = {text}: {e}"));
        let stops = |text: &str, message: &str| {
            let error = outcome(text).expect_err(key);
            assert!(error.ends_with(message), "{key} = {text}: {error}");
        };
        let lives = |text: &str| {
            let variant = vec![(key.to_string(), value(text))];
            floatgate_experiment::lifetime(
                Some(&toml),
                "e.toml",
                &[variant],
                &LifetimeOptions::default(),
                &mut |_| Ok(()),
            )
            .map(|mut all| all.remove(0))
            .unwrap_or_else(|e| panic!("{key} = {text}: {e}"))
        };
        match shown {
            By(one, other, figure) | Life(one, other, figure) => {
                let (one, other) = match shown {
                    Life(..) => (lives(one), lives(other)),
                    _ => (runs(one), runs(other)),
                };
                let of = |result: &Value| {
                    result.pointer(figure).cloned().unwrap_or_else(|| panic!("{key}: no {figure}"))
                };
                assert_ne!(of(&one), of(&other), "{key} does not change {figure}");
                assert_ne!(
                    one["config_hash"], other["config_hash"],
                    "{key} is not in the resolved experiment"
                );
            }
            Refused(one, other, message) => {
                runs(one);
                stops(other, message);
            }
        }
    }
}
