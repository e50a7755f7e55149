//! Throttles in runs: passage of requests, by hand; equal in both modes; none lost, none overtaken.

use crate::common::policies::{has, throttles};
use crate::common::{Folder, number, run_ok, try_run, without_clock};
use floatgate_base::Rng;
use serde_json::Value;
use std::fmt::Write as _;

/// A drive of 512 pages that endure 16 cycles in 8192 s: exactly a page per second.
const PAGE_A_SECOND: &str = "[drive.geometry]\nblocks_per_plane = 32\npages_per_block = 16\n\
     [drive.endurance]\npe_cycles = 16\n[ftl]\nspare_factor = 0.25\n\
     [lifetime.throttle]\npolicy = \"static\"\n";

fn target(seconds: f64) -> String {
    format!("target_years = {}\n", seconds / 31_536_000.0)
}

fn set(pairs: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    pairs.iter().map(|&(key, value)| (key, value.to_owned())).collect()
}

/// Five page writes, ten per second, and capacity for one per second.
/// At their stamps (0, 0.1 ... 0.4 s) they leave at 0, 1, 2, 3 and 4 s: they wait 0, 0.9, 1.8, 2.7 and 3.6 s after they
/// arrived. The throttle claims 0.9 for the second and 1 for each other one, because it lets nothing pass before
/// earlier writes. With moved stamps each arrives 0.1 s after the previous one has left, and waits 0.9 s.
#[test]
fn a_static_cap_of_a_page_a_second() {
    let toml = PAGE_A_SECOND.to_owned() + &target(8192.0) + "[workload]\nrequests = 5\nrate_per_s = 10\n";
    for (arrival, waited_s, held_back_s) in [("open", 9.0, 3.9), ("shifted", 3.6, 3.6)] {
        let mut by_mode = Vec::new();
        for mode in ["functional", "timed"] {
            let result = run_ok(
                &toml,
                &set(&[("mode", mode), ("ftl.collect.mode", "whole-block"), ("workload.arrival", arrival)]),
            )
            .result;
            let throttle = &result["throttle"];
            assert_eq!((throttle["waits"].as_u64(), throttle["held_share"].as_f64()), (Some(4), Some(0.8)));
            assert!((number(throttle, "/held_back_s") - held_back_s).abs() < 1e-9, "{arrival}: {throttle}");
            assert_eq!(throttle["epochs"], Value::Null);
            if mode == "functional" {
                assert_eq!(number(&result, "/span_s"), 4.0);
            } else {
                assert!((number(&result, "/span_s") - 4.0).abs() < 0.001);
                let wait = number(&result, "/latency_us/throttle_wait/write") / 1e6;
                assert!((wait - waited_s / 5.0).abs() < 1e-9, "{arrival}: {wait}");
                // A page write by itself takes 600 us and its transfer.
                let service = number(&result, "/latency_us/waiting/write/service") / 1e6;
                let mean = number(&result, "/latency_us/write/mean") / 1e6;
                assert!((mean - wait - service).abs() < 1e-6, "{arrival}: {mean}");
            }
            by_mode.push(throttle.clone());
        }
        assert_eq!(by_mode[0], by_mode[1], "{arrival}");
    }
}

/// In a closed loop with two in flight, one page per second: the third arrives when the first is done, at 600 us and a
/// transfer, and each later one accordingly. Each waits at the gate while another one is on flash or waits before it.
#[test]
fn in_closed_loop_a_request_arrives_when_one_is_done() {
    let toml = "mode = \"timed\"\n".to_owned()
        + PAGE_A_SECOND
        + &target(8192.0)
        + "[workload]\nrequests = 6\narrival = \"closed\"\nqueue_depth = 2\n";
    let result = run_ok(&toml, &[]).result;
    let service = number(&result, "/latency_us/waiting/write/service") / 1e6;
    // Leaving at 0, 1 ... 5 s; arriving at 0, 0, s, 1 + s, 2 + s, 3 + s.
    let waits = [0.0, 1.0, 2.0 - service, 2.0 - service, 2.0 - service, 2.0 - service];
    let wait = number(&result, "/latency_us/throttle_wait/write") / 1e6;
    assert!((wait - waits.iter().sum::<f64>() / 6.0).abs() < 1e-6, "{wait}");
}

/// A write larger than what its period may write waits until the periods that pay for it have come.
#[test]
fn a_large_write_is_issued_whole_when_its_last_page_is_admitted() {
    let toml = "mode = \"timed\"\n".to_owned()
        + PAGE_A_SECOND
        + &target(8192.0)
        + "[workload]\nrequests = 3\nrequest_bytes = 16384\nrate_per_s = 1e-3\narrival = \"open\"\n";
    let result = run_ok(&toml, &[]).result;
    // Four pages each: the last one leaves 3 s after the first.
    assert!((number(&result, "/latency_us/throttle_wait/write") / 1e6 - 3.0).abs() < 1e-9);
    assert_eq!((number(&result, "/throttle/waits"), number(&result, "/host/page_writes")), (9.0, 12.0));
}

/// A read that arrives behind a write does not overtake it.
#[test]
fn reads_wait_behind_writes_that_wait() {
    let folder = Folder::new("reads-wait");
    let line = |at_ms: u64, kind: &str| format!("{},h,0,{kind},0,4096,0\n", 10_000 + at_ms * 10_000);
    let text = [(0, "Write"), (100, "Write"), (200, "Read"), (1500, "Read")].map(|(at, kind)| line(at, kind));
    let file = folder.file("t.csv", text.concat());
    let toml = "mode = \"timed\"\n".to_owned()
        + PAGE_A_SECOND
        + &target(8192.0)
        + &format!("[workload]\nfile = \"{file}\"\n");
    // The second write leaves at 1 s, and the first read with it.
    let reads = |arrival: &str| {
        let result = run_ok(&toml, &set(&[("workload.arrival", arrival)])).result;
        number(&result, "/latency_us/throttle_wait/read") / 1e6 * 2.0
    };
    assert!((reads("open") - 0.8).abs() < 1e-9);
    // Moved by 0.9 s, it arrives at 1.1 s.
    assert_eq!(reads("shifted"), 0.0);
}

/// A trace of bursts with reads, TRIMs by fio, and parts of pages.
fn bursts(seed: u64) -> String {
    let mut rng = Rng::new(seed, "bursts");
    let mut at = 10_000u64;
    let mut text = String::new();
    for _ in 0..1500 {
        at += if rng.below(40) == 0 { rng.below(200_000_000) } else { rng.below(200_000) };
        let kind = if rng.below(4) == 0 { "Read" } else { "Write" };
        let bytes = [512, 4096, 4096, 8192, 20_000][rng.below(5) as usize];
        writeln!(text, "{at},h,0,{kind},{},{bytes},0", rng.below(2800) * 512).unwrap();
    }
    text
}

/// A throttle does not change the order: the same requests reach the same flash. Counts and the wear of every block are
/// those without one, in both modes, with a buffer and without, and with several queues.
#[test]
fn no_request_is_lost_or_overtakes_another() {
    let folder = Folder::new("in-order");
    let (mut held, mut runs) = (0, 0);
    for seed in crate::common::seeds(6) {
        let file = folder.file(&format!("{seed}.csv"), bursts(seed));
        let drive = "[drive.geometry]\nblocks_per_plane = 32\npages_per_block = 16\n\
             [drive.endurance]\nmodel = \"ready-table2\"\npe_cycles = 35\n";
        let buffer = if seed % 2 == 0 { "" } else { "[drive.buffer]\ncapacity = \"64 KiB\"\n" };
        let rest = format!(
            "[ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n[workload]\nfile = \"{file}\"\n\
             [lifetime.throttle]\n"
        );
        let toml = format!("{drive}{buffer}{rest}");
        let plain = run_ok(&toml, &[]).result;
        for policy in throttles() {
            for mode in ["functional", "timed"] {
                for arrival in ["open", "shifted", "think", "closed"] {
                    if mode == "functional" && (arrival == "think" || arrival == "closed") {
                        continue;
                    }
                    let mut keys = set(&[
                        ("lifetime.throttle.policy", policy),
                        ("lifetime.throttle.target_years", "3e-5"),
                        ("mode", mode),
                        ("ftl.collect.mode", "whole-block"),
                        ("workload.arrival", arrival),
                    ]);
                    let times = [
                        ("lifetime.throttle.unit_window_s", "10"),
                        ("lifetime.throttle.history_s", "1000"),
                        ("lifetime.throttle.burst_s", "1"),
                    ];
                    let times: Vec<_> = times.into_iter().filter(|(key, _)| has(policy, key)).collect();
                    keys.extend(set(&times));
                    let at = format!("seed {seed}, {policy}, {mode}, {arrival}");
                    let result = run_ok(&toml, &keys).result;
                    for key in ["host", "flash", "gc", "valid_pages", "buffer"] {
                        if !(key == "flash" || key == "buffer") || mode == "functional" {
                            assert_eq!(result[key], plain[key], "{at}: {key}");
                        }
                    }
                    assert_eq!(result["flash"]["programs"], plain["flash"]["programs"], "{at}");
                    assert_eq!(without_clock(&result, "wear"), without_clock(&plain, "wear"), "{at}");
                    held += u32::from(number(&result, "/throttle/held_share") > 0.0);
                    runs += 1;
                    if mode == "timed" && arrival != "closed" {
                        let queues =
                            [keys, set(&[("host.queues", "3"), ("host.outstanding_max", "4")])].concat();
                        if arrival != "think" {
                            let queued = run_ok(&toml, &queues).result;
                            assert_eq!(queued["host"], plain["host"], "{at}, queues");
                        }
                    }
                }
            }
        }
    }
    assert!(held > runs * 3 / 4, "writes were held back in {held} of {runs} runs");
}

/// Moved stamps do not depend on the flash: both modes delay the same writes by the same time.
#[test]
fn both_modes_throttle_alike() {
    let folder = Folder::new("alike");
    let file = folder.file("t.csv", bursts(77));
    let toml = format!(
        "[drive.geometry]\nblocks_per_plane = 32\npages_per_block = 16\n\
         [drive.endurance]\nmodel = \"ready-table2\"\npe_cycles = 60\n\
         [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n[workload]\nfile = \"{file}\"\nrepeat = 3\n\
         [lifetime.throttle]\ntarget_years = 1e-4\n"
    );
    for policy in throttles() {
        for arrival in ["open", "shifted"] {
            let of = |mode: &str| {
                let keys = set(&[
                    ("lifetime.throttle.policy", policy),
                    ("mode", mode),
                    ("ftl.collect.mode", "whole-block"),
                    ("workload.arrival", arrival),
                ]);
                run_ok(&toml, &keys).result["throttle"].clone()
            };
            let functional = of("functional");
            assert_eq!(functional, of("timed"), "{policy}, {arrival}");
            assert!(number(&functional, "/held_back_s") > 0.0, "{policy}, {arrival}: {functional}");
        }
    }
}

/// A throttle with enough capacity only changes its own table.
#[test]
fn a_throttle_with_room_enough_holds_nothing_back() {
    let folder = Folder::new("room");
    let file = folder.file("t.csv", bursts(5));
    let toml = format!(
        "[drive.geometry]\nblocks_per_plane = 32\npages_per_block = 16\n[drive.endurance]\npe_cycles = 1000000000\n\
         [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n[workload]\nfile = \"{file}\"\n\
         [lifetime.throttle]\ntarget_years = 0.01\n"
    );
    for mode in ["functional", "timed"] {
        let plain = run_ok(&toml, &set(&[("mode", mode), ("ftl.collect.mode", "whole-block")])).result;
        for policy in throttles() {
            let keys = set(&[
                ("mode", mode),
                ("ftl.collect.mode", "whole-block"),
                ("lifetime.throttle.policy", policy),
            ]);
            let result = run_ok(&toml, &keys).result;
            assert_eq!(number(&result, "/throttle/held_back_s"), 0.0, "{policy}, {mode}");
            for key in ["host", "flash", "gc", "span_s", "waf"] {
                assert_eq!(result[key], plain[key], "{policy}, {mode}: {key}");
            }
            assert_eq!(without_clock(&result, "wear"), without_clock(&plain, "wear"), "{policy}, {mode}");
            let latency = |result: &Value| result.pointer("/latency_us/write").cloned();
            assert_eq!(latency(&result), latency(&plain), "{policy}, {mode}");
        }
    }
}

#[test]
fn what_a_throttle_cannot_go_by_is_refused() {
    let stop = |more: &str, keys: &[(&'static str, &str)], message: &str| {
        let toml = PAGE_A_SECOND.to_owned() + &target(8192.0) + "[workload]\nrequests = 5\n" + more;
        let error = try_run(&toml, &set(keys)).expect_err(message);
        assert!(error.contains(message), "{error}");
    };
    stop("", &[], "a throttle goes by the time at which requests arrive, and this workload has none");
    stop("", &[], "give workload.rate_per_s, or mode = \"timed\"");
    let rate = "rate_per_s = 10\n";
    for arrival in ["closed", "think"] {
        let message =
            format!("arrival \"{arrival}\" goes by completions, which functional mode does not know");
        stop(rate, &[("workload.arrival", arrival)], &message);
    }
    stop(rate, &[("workload.queue_depth", "3")], "queue_depth = 3 has no effect in functional mode");
    let closed = [("mode", "timed"), ("workload.arrival", "closed"), ("host.queues", "2")];
    stop("", &closed, "with host queues in a closed loop");
    let none = ("lifetime.throttle.policy", "none");
    stop(
        rate,
        &[none, ("workload.arrival", "shifted")],
        "arrival = \"shifted\" has no effect in functional mode",
    );
    let timed = [none, ("mode", "timed"), ("workload.arrival", "shifted")];
    stop(rate, &timed, "arrival \"shifted\" moves the stamps by what a throttle delays");
    let folder = Folder::new("no-times");
    let file = folder.file("t.log", "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 0 4096\n");
    let toml = PAGE_A_SECOND.to_owned()
        + &target(8192.0)
        + &format!("[workload]\nfile = \"{file}\"\nformat = \"fio-iolog\"\n");
    let error = try_run(&toml, &[]).expect_err("no times");
    assert!(error.contains("has no times, which a throttle needs"), "{error}");
}

/// One experiment runs with each throttle and without any, in either mode: settings of another policy in a file are
/// ignored if a later layer chooses.
#[test]
fn a_file_can_be_run_with_every_throttle() {
    let toml = "mode = \"timed\"\n".to_owned()
        + &PAGE_A_SECOND
            .replace("\"static\"", "\"ready-optimistic\"\nspare_share = 0.2\nunit_window_s = 60\n")
        + &target(8192.0)
        + "[workload]\nrequests = 50\nrate_per_s = 10\narrival = \"shifted\"\n";
    for mode in ["functional", "timed"] {
        for policy in throttles().chain(["none"]) {
            let keys = set(&[
                ("mode", mode),
                ("ftl.collect.mode", "whole-block"),
                ("lifetime.throttle.policy", policy),
            ]);
            let result = run_ok(&toml, &keys).result;
            let arrival = &result["config"]["workload"]["arrival"];
            match (policy, mode) {
                ("none", "functional") => assert_eq!(*arrival, Value::Null),
                ("none", _) => assert_eq!(*arrival, "open"),
                _ => assert_eq!(*arrival, "shifted"),
            }
            assert_eq!(result["throttle"].is_null(), policy == "none");
        }
    }
}
