//! Timed mode: the same state and counts as functional mode, no request lost, and laws of queues in whole runs.

use crate::common::cases::draw;
use crate::common::request_log::try_logged;
use crate::common::{Folder, number, run_ok, try_run, without_clock, without_run};
use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_experiment::{Options, run_with};
use floatgate_experiment::{load, run};
use floatgate_flash::Cause;
use floatgate_ftl::Level;
use floatgate_sim::{Phase, Simulation};
use serde_json::Value;

const CASES: u64 = 60;

/// The results that must not depend on time.
fn state(result: &Value) -> String {
    let keys = ["host", "flash", "waf", "waf_95", "stationary", "gc", "wear", "valid_pages"];
    keys.map(|key| format!("{key}: {}", without_clock(result, key))).join("\n")
}

fn count(result: &Value, pointer: &str) -> u64 {
    result.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// A random timing configuration, as overrides.
fn timing(rng: &mut Rng) -> Vec<(&'static str, String)> {
    let us = |rng: &mut Rng, most: u64| format!("{}.{}", rng.below(most), 1 + rng.below(9));
    let mut out = vec![
        ("mode", "timed".to_owned()),
        ("drive.timing.read_us", us(rng, 100)),
        ("drive.timing.program_us", us(rng, 1000)),
        ("drive.timing.erase_us", us(rng, 5000)),
        ("drive.timing.channel_mb_per_s", us(rng, 400)),
    ];
    let yes = |rng: &mut Rng| if rng.below(2) == 0 { "true" } else { "false" }.to_owned();
    out.push(("drive.commands.cache_read", yes(rng)));
    out.push(("drive.commands.cache_program", yes(rng)));
    out.push(("drive.commands.copyback", yes(rng)));
    out.push(("drive.commands.program_suspend", yes(rng)));
    out.push(("drive.commands.erase_suspend", yes(rng)));
    let orders = ["[\"read\", \"write\", \"background\"]", "[\"background\", \"read\", \"write\"]"];
    out.push(("drive.scheduling.priority", orders[rng.below(2) as usize].into()));
    let orders =
        ["[\"plane\", \"die\", \"way\", \"channel\"]", "[\"channel\", \"chip\", \"die\", \"plane\"]"];
    out.push(("ftl.allocation.order", orders[rng.below(2) as usize].into()));
    out.push(("drive.timing.program_spread", "0.25".into()));
    out.push(("drive.scheduling.moved_reads", ["new", "old"][rng.below(2) as usize].into()));
    match rng.below(3) {
        0 => out.push(("workload.arrival", "open".into())),
        1 => out.push(("workload.arrival", "think".into())),
        _ => {
            out.push(("workload.arrival", "closed".into()));
            out.push(("workload.queue_depth", (1 + rng.below(40)).to_string()));
        }
    }
    out
}

#[test]
fn both_modes_end_with_the_same_state_and_no_request_is_lost() {
    let folder = Folder::new("timed");
    let mut ran = 0;
    for seed in crate::common::seeds(CASES) {
        for trace in [false, true] {
            let mut rng = Rng::new(seed, "timed");
            let mut case = draw(&mut rng, trace);
            if let Some((text, extension)) = &case.trace {
                let path = folder.file(&format!("{seed}.{extension}"), text);
                case.toml += &format!("file = \"{path}\"\n");
            }
            let overrides = timing(&mut rng);
            let mut resolved = match try_load(&case.toml, &overrides) {
                Ok(resolved) => resolved,
                Err(e) => {
                    assert!(e.contains("needs times"), "seed {seed}: {e}");
                    continue;
                }
            };
            resolved.plan.shadow = true;
            // What is reclaimed in idle time stays where it is until then. `read-balance` looks at chips, and in functional
            // mode planes go round the channels first.
            let setup = &resolved.plan.ftl.setup;
            let by_chips = matches!(setup.level, Level::ReadBalance(_));
            let order = overrides
                .iter()
                .any(|(key, order)| *key == "ftl.allocation.order" && order.starts_with("[\"plane"));
            let alike = !(setup.idle_jobs || by_chips && order);
            // The controller serves some reads of pages that move; they count as reads of the flash.
            let by_controller = overrides.contains(&("drive.scheduling.moved_reads", "old".to_owned()));
            let timed = match run(resolved, &mut |_| Ok(())) {
                Ok(timed) => timed,
                Err(e) if e.to_string().contains("has no times") => continue,
                Err(e) => panic!("seed {seed}: {e}\n{}", case.toml),
            };
            let functional = run_ok(&case.toml, &overrides[1..5]);
            if alike {
                assert_eq!(state(&timed.result), state(&functional.result), "seed {seed}\n{}", case.toml);
            }
            let r = &timed.result;
            for (kind, class) in [("read", "read"), ("write", "write")] {
                assert_eq!(
                    count(r, &format!("/latency_us/{kind}/count")),
                    count(r, &format!("/host/{kind}_requests"))
                );
                let operations = if kind == "read" { "reads" } else { "programs" };
                let host = count(r, &format!("/flash/{operations}/host"));
                let partial = count(r, &format!("/flash/{operations}/partial"));
                let operations = count(r, &format!("/latency_us/waiting/{class}/operations"));
                // What FLUSH and FUA pad waits as host writes do, and so do pages of the map and its journal.
                let more = ["padding", "metadata"].map(|cause| count(r, &format!("/flash/programs/{cause}")));
                let more = if kind == "write" { more.iter().sum() } else { 0 };
                let all = host + partial + more;
                if kind == "read" && by_controller {
                    assert!(
                        operations <= all && operations * 10 >= all * 9,
                        "seed {seed}: {operations} of {all}"
                    );
                } else {
                    assert_eq!(operations, all, "seed {seed}: {class}");
                }
            }
            ran += 1;
        }
    }
    assert!(ran > CASES, "{ran} ran");
}

/// A log sends requests on the long path to the drive; without one, most take the short path.
#[test]
fn a_log_of_requests_changes_no_figure() {
    let mut ran = 0;
    for seed in crate::common::seeds(CASES) {
        let mut rng = Rng::new(seed, "logged");
        let (case, overrides) = (draw(&mut rng, false), timing(&mut rng));
        let Ok((logged, rows)) = try_logged(&case.toml, &overrides) else { continue };
        let plain = run_ok(&case.toml, &overrides).result;
        let served = count(&plain, "/host/read_requests") + count(&plain, "/host/write_requests");
        assert!(rows.len() as u64 >= served, "seed {seed}: {} of {served} logged", rows.len());
        assert_eq!(without_run(logged.result), without_run(plain), "seed {seed}\n{}", case.toml);
        ran += 1;
    }
    assert!(ran > CASES / 3, "{ran} ran");
}

fn try_load(toml: &str, overrides: &[(&str, String)]) -> Result<floatgate_config::Resolved, String> {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    load(Some(toml), "test.toml", &overrides).map_err(|e| e.to_string())
}

const FULL: &str = "mode = \"timed\"\n[drive.geometry]\nchannels = 2\nchips_per_channel = 2\nblocks_per_plane = 40\n\
                    pages_per_block = 16\n[ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n";

/// A read takes the old copy of a page that a job moves, unless jobs keep the reads of their channel waiting.
#[test]
fn reads_take_old_copies_unless_jobs_hold_their_channel() {
    let moved_reads = |jobs_hold: &str| {
        let overrides =
            [("workload.requests", "10".into()), ("drive.scheduling.jobs_hold", jobs_hold.into())];
        run_ok(FULL, &overrides).result["config"]["drive"]["scheduling"]["moved_reads"].clone()
    };
    assert_eq!((moved_reads("nothing"), moved_reads("channel")), ("old".into(), "new".into()));
}

#[test]
fn twice_and_in_steps_is_the_same() {
    let toml = format!("{FULL}[workload]\nrequests = 5000\nread_share = 0.3\nwarmup_requests = 500\n");
    let whole = run_ok(&toml, &[]);
    assert_eq!(without_run(run_ok(&toml, &[]).result), without_run(whole.result.clone()));
    for step in [1, 7, 1000] {
        let mut simulation = Simulation::new(load(Some(&toml), "t", &[]).unwrap().plan).unwrap();
        let mut bound = Bound::new(100_000);
        while simulation.step(step).unwrap() != Phase::Done {
            bound.step();
        }
        let latencies = simulation.finish().latencies.unwrap();
        for (latency, kind) in latencies.iter().zip(["read", "write"]) {
            let mean = number(&whole.result, &format!("/latency_us/{kind}/mean"));
            assert_eq!(latency.mean_ns().unwrap() / 1e3, mean, "{step}");
        }
    }
}

/// Reads of one page on one die: service 50 us and the transfer, so much a second at any queue depth, and by Little's
/// law a latency of queue depth / rate.
#[test]
fn saturated_reads_follow_littles_law() {
    for queue_depth in [1.0f64, 4.0, 64.0] {
        let toml = "mode = \"timed\"\n[drive.geometry]\nblocks_per_plane = 60\n[ftl]\nprecondition = \"sequential\"\n\
                    [workload]\nrequests = 100000\nread_share = 1.0\n";
        let r = run_ok(toml, &[("workload.queue_depth", queue_depth.to_string())]).result;
        let service_us = 50.0 + 4096.0 / 333.0;
        let rate = 100_000.0 / number(&r, "/span_s");
        assert!((rate * service_us / 1e6 - 1.0).abs() < 1e-3, "{rate}");
        let mean = number(&r, "/latency_us/read/mean");
        assert!((mean / (queue_depth * service_us) - 1.0).abs() < 2e-3, "{queue_depth}: {mean}");
    }
}

#[test]
fn arrivals_differ_as_they_should() {
    let folder = Folder::new("arrivals");
    // A write of one page every 2 ms, of 612.3 us each.
    let lines: String = (0..1000u64)
        .map(|i| format!("{},h,0,Write,{},4096,0\n", 10_000 + i * 20_000, i % 100 * 4096))
        .collect();
    let path = folder.file("t.csv", lines);
    let toml = format!("{FULL}[workload]\nfile = \"{path}\"\n");
    let span =
        |arrival: &str| number(&run_ok(&toml, &[("workload.arrival", arrival.into())]).result, "/span_s");
    let (service, gaps) = (0.0006123, 0.002 * 999.0);
    assert!((span("open") - gaps - service).abs() < 0.02, "{}", span("open"));
    assert!((span("think") - gaps - 1000.0 * service).abs() < 0.1, "{}", span("think"));
    assert!(span("closed") < 1000.0 * service / 3.0, "four dies work at once");
}

#[test]
fn distributions_and_series_add_up_to_the_figures() {
    let toml = "mode = \"timed\"\n[drive.geometry]\nchannels = 2\nblocks_per_plane = 40\npages_per_block = 16\n\
                [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n\
                [workload]\nrequests = 80000\nread_share = 0.3\nqueue_depth = 7\n";
    let output = run_ok(toml, &[]);
    for (i, kind) in ["read", "write"].into_iter().enumerate() {
        let facts = &output.result["latency_us"][kind];
        let list = |name: &str| -> Vec<f64> {
            facts["cdf"][name].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
        };
        let (us, share) = (list("us"), list("share"));
        assert!(us.len() == share.len() && (40..=150).contains(&us.len()), "{}", us.len());
        assert_eq!((share[0], *share.last().unwrap()), (0.0, 1.0));
        assert_eq!(us.last(), facts["max"].as_f64().as_ref());
        for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999)] {
            let at = share.partition_point(|&s| s < quantile);
            let quantile = facts[name].as_f64().unwrap();
            assert!(us[at - 1] <= quantile && quantile <= us[at], "{kind} {name}: {quantile}");
        }
        let last = output.rows.last().unwrap();
        assert_eq!(last.done[i], facts["count"].as_u64().unwrap());
        let mean_us = last.latency_ns[i] as f64 / 1e3 / last.done[i] as f64;
        assert!((mean_us / facts["mean"].as_f64().unwrap() - 1.0).abs() < 1e-12);
        let longest = output.rows.iter().map(|row| row.longest_ns[i]).max().unwrap();
        assert_eq!(longest as f64 / 1e3, facts["max"].as_f64().unwrap());
    }
}

#[test]
fn energy_is_the_same_in_both_modes() {
    let toml = "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n\
                [drive.energy]\nread_uj = 2\nprogram_uj = 30\nerase_uj = 100\ntransfer_uj = 0.5\n\
                [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n\
                [workload]\nrequests = 4000\nread_share = 0.3\n";
    let functional = run_ok(toml, &[]).result;
    let timed = run_ok(toml, &[("mode", "timed".into()), ("ftl.collect.mode", "whole-block".into())]).result;
    assert_eq!(functional["energy"], timed["energy"]);
    let figure = |pointer: &str| functional.pointer(pointer).and_then(Value::as_f64).unwrap();
    let pages = figure("/flash/reads/total") + figure("/flash/programs/total");
    let by_hand = 2.0 * figure("/flash/reads/total")
        + 30.0 * figure("/flash/programs/total")
        + 100.0 * figure("/flash/erases/total")
        + 0.5 * pages;
    assert!((figure("/energy/total_j") * 1e6 / by_hand - 1.0).abs() < 1e-12);
    let left_out = |result: &Value| result["not_modelled"].as_array().unwrap().contains(&"energy".into());
    assert!(!left_out(&functional) && !left_out(&timed));
    assert!(left_out(
        &run_ok(
            &toml.replace(
                "[drive.energy]\nread_uj = 2\nprogram_uj = 30\nerase_uj = 100\ntransfer_uj = 0.5\n",
                ""
            ),
            &[]
        )
        .result
    ));
}

/// Jobs in idle time, at random gaps, under the shadow model: the books stay right under any policy, scope and order.
/// Idle time does some of the work for which writes would have to wait.
#[test]
fn jobs_in_idle_time_keep_every_book() {
    let (mut ran, mut background, mut foreground) = (0, 0.0, 0.0);
    for seed in crate::common::seeds(CASES) {
        let mut rng = Rng::new(seed, "idle");
        let case = draw(&mut rng, false);
        let mut overrides = timing(&mut rng);
        overrides.retain(|(key, _)| *key != "workload.arrival" && *key != "workload.queue_depth");
        overrides.push(("workload.arrival", "open".into()));
        overrides.push(("workload.rate_per_s", (50 + rng.below(3000)).to_string()));
        overrides.push(("ftl.background.policy", "idle".into()));
        overrides.push(("ftl.background.idle_us", rng.below(800).to_string()));
        let mut resolved = match try_load(&case.toml, &overrides) {
            Ok(resolved) => resolved,
            Err(e) => {
                assert!(e.contains("trigger_free_blocks is"), "seed {seed}: {e}");
                continue;
            }
        };
        resolved.plan.shadow = true;
        let result = match run(resolved, &mut |_| Ok(())) {
            Ok(output) => output.result,
            Err(e) => panic!("seed {seed}: {e}\n{}", case.toml),
        };
        for kind in ["read", "write"] {
            let (latencies, requests) =
                (format!("/latency_us/{kind}/count"), format!("/host/{kind}_requests"));
            assert_eq!(count(&result, &latencies), count(&result, &requests), "seed {seed}");
        }
        background += number(&result, "/jobs/background_s");
        foreground += number(&result, "/jobs/foreground_s");
        ran += 1;
    }
    assert!(ran > CASES / 2 && background > 0.0 && foreground > 0.0, "{ran} {background} {foreground}");
}

/// Writes with gaps in which a block can be collected: idle time removes the waits, and costs some copies.
#[test]
fn idle_time_takes_waits_away() {
    let toml = format!(
        "{FULL}[workload]\nrequests = 20000\nwarmup_requests = 2000\nrate_per_s = 100\narrival = \"open\"\n"
    );
    let whole = ("ftl.collect.mode", "whole-block".to_string());
    let inline = run_ok(&toml, std::slice::from_ref(&whole)).result;
    let idle = run_ok(&toml, &[whole, ("ftl.background.policy", "idle".into())]).result;
    assert_eq!(number(&inline, "/jobs/background_s"), 0.0);
    // The warm-up, which takes no time, leaves the least number of free blocks: only the first writes have to wait.
    let share = number(&idle, "/jobs/foreground_s") / number(&idle, "/jobs/background_s");
    assert!(share < 0.01, "{share}");
    let waits = |r: &Value| number(r, "/latency_us/waiting/write/foreground_job");
    assert!(
        waits(&inline) > 100.0 && waits(&idle) < waits(&inline) / 50.0,
        "{} {}",
        waits(&inline),
        waits(&idle)
    );
    let (p99_inline, p99_idle) =
        (number(&inline, "/latency_us/write/p99"), number(&idle, "/latency_us/write/p99"));
    assert!(p99_idle < p99_inline / 2.0, "{p99_idle} {p99_inline}");
    assert!(
        number(&idle, "/waf") >= number(&inline, "/waf"),
        "collecting early never copies less under uniform writes"
    );
}

/// The recorded spans of a die or a channel do not overlap, lie in the requested interval, and account for all the time
/// of a saturated die; recording changes no result.
#[test]
fn a_timeline_shows_who_was_busy() {
    let toml = format!("{FULL}[workload]\nrequests = 5000\nread_share = 0.3\n");
    let resolved = try_load(&toml, &[]).unwrap();
    let (from, to) = (20_000_000, 120_000_000);
    let options = Options { timeline: Some((from, to, 100_000)), ..Options::default() };
    let output = run_with(resolved, &options, &mut |_| Ok(())).unwrap();
    assert_eq!(without_run(output.result), without_run(run_ok(&toml, &[]).result));
    let spans = output.timeline.unwrap().spans;
    for resource in [0, 1] {
        let indices = if resource == 0 { 4 } else { 2 };
        for index in 0..indices {
            let mut own: Vec<_> =
                spans.iter().filter(|s| s.resource == resource && s.index == index).collect();
            own.sort_by_key(|s| s.from_ns);
            assert!(!own.is_empty(), "{resource} {index}");
            assert!(own.windows(2).all(|pair| pair[0].to_ns <= pair[1].from_ns), "{resource} {index}");
            assert!(own.iter().all(|s| s.from_ns < to && s.to_ns > from));
            let busy: u64 = own.iter().map(|s| s.to_ns.min(to) - s.from_ns.max(from)).sum();
            assert!(
                resource == 1 || busy as f64 > 0.9 * (to - from) as f64,
                "die {index} is busy for {busy}"
            );
        }
    }
    let cut = Options { timeline: Some((0, u64::MAX, 100)), ..Options::default() };
    let output = run_with(try_load(&toml, &[]).unwrap(), &cut, &mut |_| Ok(())).unwrap();
    assert_eq!(output.timeline.unwrap().spans.len(), 100);
}

/// A timeline of a small run, with what the run gave.
fn recorded(toml: &str, window: std::ops::Range<u64>) -> floatgate_experiment::Output {
    let resolved = try_load(toml, &[]).unwrap();
    let options = Options { timeline: Some((window.start, window.end, usize::MAX)), ..Options::default() };
    run_with(resolved, &options, &mut |_| Ok(())).unwrap()
}

#[test]
fn a_timeline_changes_no_figure_and_holds_every_operation_of_its_interval() {
    let toml = "mode = \"timed\"\n[drive.geometry]\nchannels = 2\nblocks_per_plane = 40\npages_per_block = 16\n\
                [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n\
                [workload]\nrequests = 600\nread_share = 0.3\nqueue_depth = 7\n";
    let output = recorded(toml, 0..u64::MAX);
    assert_eq!(without_run(output.result.clone()), without_run(run_ok(toml, &[]).result));
    let spans = output.timeline.unwrap().spans;
    let figure = |pointer: &str| output.result.pointer(pointer).and_then(Value::as_u64).unwrap() as usize;
    let dies = |kind: u8, cause: Cause| {
        spans.iter().filter(|s| s.resource == 0 && s.kind == kind && s.cause == cause as u8).count()
    };
    assert_eq!(dies(0, Cause::Host), figure("/flash/reads/host"));
    assert_eq!(dies(1, Cause::Host), figure("/flash/programs/host"));
    assert_eq!(dies(2, Cause::Gc), figure("/flash/erases/gc"));
    // A move on one die is one span, to another die a read and a program.
    assert_eq!(dies(3, Cause::Gc) + dies(1, Cause::Gc), figure("/flash/programs/gc"));
    assert_eq!(dies(3, Cause::Gc) + dies(0, Cause::Gc), figure("/flash/reads/gc"));
    let last = spans.iter().map(|s| s.to_ns).max().unwrap();
    assert_eq!(last as f64 / 1e9, output.result["span_s"].as_f64().unwrap());
    // A die does one thing at a time.
    for die in 0..2 {
        let mut of: Vec<_> = spans.iter().filter(|s| s.resource == 0 && s.index == die).collect();
        of.sort_by_key(|s| s.from_ns);
        assert!(of.windows(2).all(|pair| pair[0].to_ns <= pair[1].from_ns));
    }
    // A part of it holds just what overlaps it.
    let (from, to) = (last / 4, last / 2);
    let part = recorded(toml, from..to).timeline.unwrap().spans;
    let expected: Vec<_> = spans.iter().filter(|s| s.from_ns < to && s.to_ns > from).copied().collect();
    assert_eq!(part, expected);
}

#[test]
fn functional_mode_has_no_timeline() {
    let resolved = try_load("[workload]\nrequests = 10\n", &[]).unwrap();
    let options = Options { timeline: Some((0, 1, 9)), ..Options::default() };
    let error = run_with(resolved, &options, &mut |_| Ok(())).unwrap_err();
    assert_eq!(
        (error.status(), error.to_string().as_str()),
        (
            2,
            "--timeline: functional mode models no time; there is no timeline to draw; expected mode = \"timed\""
        )
    );
}

/// The whole drive, map and all, is the same in both modes, to the byte of the file that it leaves.
#[test]
fn both_modes_leave_the_same_drive() {
    let folder = Folder::new("same-drive");
    for (scope, separate) in [("plane", "none"), ("plane", "host-gc"), ("superblock", "host-gc")] {
        let toml = format!(
            "{FULL}[ftl.collect]\nscope = \"{scope}\"\n[ftl.separate]\npolicy = \"{separate}\"\n[workload]\n\
             requests = 20000\nread_share = 0.2\ntrim_share = 0.05\n"
        );
        let drive = |mode: &str, collect: &str| {
            let path = std::path::PathBuf::from(folder.path()).join(mode);
            let resolved =
                try_load(&toml, &[("mode", mode.into()), ("ftl.collect.mode", collect.into())]).unwrap();
            let options = Options { save_drive: Some(path.clone()), ..Options::default() };
            run_with(resolved, &options, &mut |_| Ok(())).unwrap();
            std::fs::read(path).unwrap()
        };
        for collect in ["whole-block", "incremental"] {
            let (functional, timed) = (drive("functional", collect), drive("timed", collect));
            assert!(functional.len() > 1000 && functional == timed, "{scope} {separate} {collect}");
        }
    }
}

/// Buffer, several queues, idle time, optional commands, all at once, under the shadow model: every request ends and
/// every count adds up.
#[test]
fn everything_together_loses_nothing() {
    let mut ran = 0;
    for seed in crate::common::seeds(150) {
        let mut rng = Rng::new(seed, "together");
        let case = draw(&mut rng, false);
        let mut overrides = timing(&mut rng);
        overrides.retain(|(key, _)| *key != "workload.arrival" && *key != "workload.queue_depth");
        let rule = ["none", "same-page", "same-block-and-page", "any"][rng.below(4) as usize];
        overrides.push(("drive.commands.multi_plane", rule.into()));
        let pages = 1 + rng.below(60);
        overrides.push(("drive.buffer.capacity", format!("{} B", pages * case.rules.page_bytes)));
        overrides.push(("drive.buffer.read_cache", ["true", "false"][rng.below(2) as usize].into()));
        overrides.push(("workload.fua_share", "0.05".into()));
        overrides.push(("workload.flush_every", (20 + rng.below(200)).to_string()));
        let queues = 1 + rng.below(4);
        let open = rng.below(2) == 0;
        if open {
            overrides.push(("workload.arrival", "open".into()));
            overrides.push(("workload.rate_per_s", (50 + rng.below(20_000)).to_string()));
            overrides.push(("ftl.background.policy", "idle".into()));
        } else {
            overrides.push(("workload.queue_depth", (1 + rng.below(40)).to_string()));
        }
        overrides.push(("host.outstanding_max", (1 + rng.below(20)).to_string()));
        if queues > 1 {
            overrides.push(("host.queues", queues.to_string()));
        }
        let mut resolved = match try_load(&case.toml, &overrides) {
            Ok(resolved) => resolved,
            Err(e) => {
                let known =
                    ["several planes", "trigger_free_blocks is", "less than", "larger than", "more than"];
                assert!(known.iter().any(|word| e.contains(word)), "seed {seed}: {e}");
                continue;
            }
        };
        resolved.plan.shadow = true;
        let r = match run(resolved, &mut |_| Ok(())) {
            Ok(output) => output.result,
            Err(e) => panic!("seed {seed}: {e}\n{}\n{overrides:?}", case.toml),
        };
        for kind in ["read", "write"] {
            let (latencies, requests) =
                (format!("/latency_us/{kind}/count"), format!("/host/{kind}_requests"));
            assert_eq!(count(&r, &latencies), count(&r, &requests), "seed {seed}");
        }
        for class in ["read", "write", "background"] {
            let mean = |part: &str| number(&r, &format!("/latency_us/waiting/{class}/{part}"));
            if r["latency_us"]["waiting"][class].is_object() {
                let parts = ["die", "foreground_job", "background_job", "channel", "suspended", "service"];
                assert!(parts.iter().all(|part| mean(part) >= 0.0), "seed {seed}");
            }
        }
        ran += 1;
    }
    assert!(ran > 75, "{ran} ran");
}

#[test]
fn the_clock_does_not_wrap_around() {
    let folder = Folder::new("clock");
    // In ticks of 100 ns: 0 and 158 years.
    let path = folder.file("t.csv", "10,h,0,Write,0,4096,0\n50000000000000000,h,0,Write,0,4096,0\n");
    let error =
        try_run(&format!("{FULL}[workload]\nfile = \"{path}\"\nformat = \"msr\"\n"), &[]).err().unwrap();
    assert!(error.contains("the clock has run for more than 146 years"), "{error}");
}

/// A rate determines arrivals; if requests follow completions, the result reports that it has no effect.
#[test]
fn a_rate_is_that_of_the_requests() {
    let toml = "mode = \"timed\"\n[drive.geometry]\nblocks_per_plane = 64\n[workload]\nrequests = 2000\nrate_per_s = 50\n";
    let run = |overrides: &[(&str, String)]| run_ok(toml, overrides).result;
    let result = run(&[]);
    assert_eq!(result["config"]["workload"]["arrival"], "open");
    assert!((number(&result, "/span_s") / 40.0 - 1.0).abs() < 0.1, "{}", result["span_s"]);
    let note =
        |result: &Value| result["workload"]["assumed"].to_string().contains("rate_per_s has no effect");
    let closed = run(&[("workload.arrival", "closed".into())]);
    assert!(note(&closed) && !note(&result) && number(&closed, "/span_s") < 20.0, "{}", closed["workload"]);
    // Functional mode has no time, and settings of it in an older experiment are not an error.
    let functional = [("mode", "functional".to_owned()), ("workload.arrival", "closed".to_owned())];
    assert!(!note(&run(&functional)));
}
