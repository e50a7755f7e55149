//! Read disturb: laws of the managers, and the findings of the shadow model.

use crate::common::try_run;
use floatgate_base::Rng;
use serde_json::Value;

const DRIVE: &str = "[drive.geometry]\nblocks_per_plane = 64\npages_per_block = 24\n[ftl]\nspare_factor = 0.25\n\
                     precondition = \"sequential\"\n";

fn run(toml: &str, settings: &[(&str, &str)]) -> Value {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (*key, (*value).to_string())).collect();
    let toml = format!("{DRIVE}{toml}");
    try_run(&toml, &settings).unwrap_or_else(|e| panic!("{settings:?}: {e}")).result
}

fn number(result: &Value, place: &str) -> f64 {
    result
        .pointer(place)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no number at {place}: {}", result["reclaim"]))
}

/// Blocks endure the same number of reads between two reclaims, whatever is read.
#[test]
fn uniform_reads_are_reclaimed_at_the_maximum() {
    let workload = "[workload]\nrequests = 400000\nread_share = 1.0\n";
    let baseline = run(workload, &[("drive.disturb.model", "uniform"), ("drive.disturb.max_reads", "500")]);
    let reclaims = number(&baseline, "/reclaim/on_demand");
    // 400,000 reads of 48 blocks, each reclaimed every 500: 768 to 800, for each block has some part of its cycle left.
    assert!((750.0..=800.0).contains(&reclaims), "{reclaims}");
    assert_eq!(number(&baseline, "/reclaim/largest_disturbance_share"), 1.0);
    assert_eq!(number(&baseline, "/flash/erases/reclaim"), reclaims);
    assert_eq!(number(&baseline, "/flash/pages_written/reclaim"), 24.0 * reclaims);
    let settings = [
        ("drive.disturb.model", "uniform"),
        ("drive.disturb.max_reads", "500"),
        ("ftl.reclaim.policy", "rrb"),
        ("ftl.reclaim.proactive_at", "1.0"),
    ];
    // 8333 reads of each block: 500 in mode 0, 1000 in mode 1, then 2500 at a time.
    let rrb = run(workload, &settings);
    assert_eq!(number(&rrb, "/reclaim/on_demand") + number(&rrb, "/reclaim/background"), 4.0 * 48.0);
    // Where all pages are read alike, replicas only move reads around.
    let redftl =
        [settings[0], settings[1], ("ftl.reclaim.policy", "redftl"), ("ftl.reclaim.replica_pages", "4")];
    let redftl = run(workload, &redftl);
    // Blocks that collection erases stand all their reads again, too.
    let few = number(&redftl, "/reclaim/on_demand") + number(&redftl, "/gc/victims");
    assert!(few > 0.95 * reclaims, "{few} blocks erased beside {reclaims}: {redftl}");
}

#[test]
fn every_manager_holds_on_any_workload() {
    for seed in 0..40u64 {
        let mut rng = Rng::new(seed, "read disturb");
        for policy in ["none", "baseline", "redftl", "rrb", "redftl-plus", "redftl-plus-plus"] {
            let reads = 24 + rng.below(200);
            let share = 0.5 + 0.5 * rng.unit();
            let mut toml = format!(
                "seed = {seed}\n{DRIVE}[drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = {reads}\n[ftl.reclaim]\npolicy = \"{policy}\"\n"
            );
            if policy == "redftl" {
                let holders = ["closed", "closed-then-free"][rng.below(2) as usize];
                let (pages, at_once) = (1 + rng.below(4), rng.below(3));
                toml += &format!(
                    "replica_pages = {pages}\nreplicas_in = \"{holders}\"\nreplicas_at_once = {at_once}\n"
                );
            }
            if policy.starts_with("redftl-plus") {
                let mix = ["coldest", "nothing", "coldest-or-empty"][rng.below(3) as usize];
                toml += &format!("mix = \"{mix}\"\n");
            }
            toml += &format!(
                "[workload]\nrequests = 20000\nread_share = {share}\ntrim_share = {}\npattern = \"zipf\"\nzipf_theta = {}\n",
                0.5 * (1.0 - share),
                rng.unit()
            );
            let mut resolved = floatgate_experiment::load(Some(&toml), "t.toml", &[]).unwrap();
            resolved.plan.shadow = true;
            let output = floatgate_experiment::run(resolved, &mut |_| Ok(()))
                .unwrap_or_else(|e| panic!("{policy} seed {seed}: {e}\n{toml}"));
            let share = number(&output.result, "/reclaim/largest_disturbance_share");
            assert!(policy == "none" || share <= 1.0, "{policy} seed {seed}: {share}");
        }
    }
}

/// A reclaim of 192 pages on the drive of the dissertation: 192 x (100 + 1600 us) + 5 ms (printed 332 ms; 326 without
/// the erase).
#[test]
fn a_reclaim_takes_as_long_as_the_paper_says() {
    let toml = "[drive.geometry]\nblocks_per_plane = 12\npages_per_block = 192\npage_bytes = 8192\n\
                [drive.timing]\nread_us = 100\nprogram_us = 1600\nerase_us = 5000\nchannel_mb_per_s = 8e6\n\
                [drive.disturb]\nmodel = \"uniform\"\nmax_reads = 2000\n\
                [ftl]\nmapping_bytes = 8192\nspare_factor = 0.5\nprecondition = \"sequential\"\n\
                [workload]\nrequests = 9000\nrequest_bytes = 8192\nread_share = 1\npattern = \"hot-cold\"\n\
                hot_share_of_pages = 0.15\nhot_share_of_writes = 1\n";
    let baseline = try_run(toml, &[]).unwrap().result;
    assert!(number(&baseline, "/reclaim/on_demand") > 0.0);
    for place in ["/reclaim/service_ms/p50", "/reclaim/service_ms/max"] {
        let ms = number(&baseline, place);
        assert!((ms - 331.4).abs() < 1.0, "{place}: {ms}");
    }
    // In time, a read of the page that is copied last waits as long; `fcfs` lets no read pass.
    let timed = [
        ("mode", "timed"),
        ("drive.scheduling.policy", "fcfs"),
        ("drive.scheduling.moved_reads", "new"),
        ("workload.rate_per_s", "500"),
    ];
    let settings: Vec<_> = timed.iter().map(|(key, value)| (*key, (*value).to_string())).collect();
    let settings = [settings, vec![("workload.arrival", "open".to_string())]].concat();
    let timed = try_run(toml, &settings).unwrap().result;
    let longest_ms = number(&timed, "/latency_us/read/max") / 1e3;
    assert!((325.0..=340.0).contains(&longest_ms), "{longest_ms}");
    let proactive = [settings, vec![("ftl.reclaim.policy", "rrb".to_string())]].concat();
    let proactive = try_run(toml, &proactive).unwrap().result;
    assert_eq!(number(&proactive, "/reclaim/on_demand"), 0.0);
    assert!(number(&proactive, "/reclaim/background") > 0.0);
    let longest_ms = number(&proactive, "/latency_us/read/max") / 1e3;
    assert!(longest_ms < 10.0, "{longest_ms}");
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let refused = |lines: &str, settings: &[(&str, &str)]| {
        let settings: Vec<_> = settings.iter().map(|(key, value)| (*key, (*value).to_string())).collect();
        let toml = format!(
            "[drive.disturb]\nmodel = \"tlc-base\"\n{lines}[drive.geometry]\nblocks_per_plane = 64\npages_per_block = 24\n"
        );
        try_run(&toml, &settings).unwrap_err()
    };
    let refusals = [
        (refused("max_reads = 20\n", &[]), "a block of 24 pages stands 20 reads; expected at least 24"),
        (refused("weights = [1.5]\n", &[]), "weights is [1.5]; expected a list of up to 4"),
        (
            refused("modes = [{reads = 2, program = 1}]\n", &[]),
            "the first mode has reads = 2 and program = 1; expected 1 and 1",
        ),
        (
            refused(
                "modes = [{reads = 1, program = 1}, {reads = 5, program = 1}, {reads = 2, program = 1}]\n",
                &[],
            ),
            "expected reads that rise",
        ),
        (
            refused("", &[("drive.disturb.model", "none"), ("ftl.reclaim.policy", "rrb")]),
            "rrb has nothing to do",
        ),
        (
            refused("", &[("drive.disturb.model", "uniform"), ("ftl.reclaim.policy", "redftl-plus")]),
            "redftl-plus sorts pages by their type",
        ),
        (
            refused("", &[("ftl.reclaim.policy", "redftl")]),
            "replica_pages is 15, in blocks of 24 pages; expected at most 12",
        ),
        (
            refused("", &[("ftl.reclaim.policy", "redftl"), ("ftl.collect.scope", "superblock")]),
            "a superblock is programmed as one",
        ),
        (
            refused("", &[("ftl.reclaim.policy", "redftl"), ("drive.geometry.page_bytes", "16384")]),
            "expected another policy, or ftl.mapping_bytes = 16384",
        ),
        (
            refused(
                "",
                &[
                    ("ftl.reclaim.policy", "redftl"),
                    ("ftl.reclaim.replica_pages", "4"),
                    ("ftl.reclaim.create_at", "0.95"),
                ],
            ),
            "create_at is 0.95 and migrate_at 0.9",
        ),
        (
            refused("", &[("workload.read_share", "1")]),
            "no read reaches the flash; expected \"sequential\" or \"random\"",
        ),
    ];
    for (error, expected) in refusals {
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    }
}

const RESPONSES: &[(&str, &str)] = &[
    ("mode", "timed"),
    ("drive.scheduling.policy", "fcfs"),
    ("drive.timing.read_us", "100"),
    ("drive.timing.program_us", "1600"),
    ("drive.timing.erase_us", "5000"),
    ("drive.timing.command_us", "0"),
    ("drive.timing.channel_mb_per_s", "1000000"),
    ("drive.disturb.model", "uniform"),
    ("drive.disturb.max_reads", "500"),
    ("workload.read_share", "1.0"),
    ("workload.arrival", "open"),
];

fn timed(settings: &[(&str, &str)]) -> Value {
    run("[workload]\nrequests = 40000\n", &[RESPONSES, settings].concat())
}

/// A block is reclaimed after the read that makes it due, which takes as long as ever. Requests that arrive during the
/// reclaim (24 * 1.7 + 5 = 45.8 ms) and read from the same die wait for the rest of it.
#[test]
fn reads_within_a_reclaim_wait_for_the_rest_of_it() {
    let slow = timed(&[("workload.rate_per_s", "20")]);
    let reclaims = number(&slow, "/reclaim/on_demand");
    assert!(reclaims > 20.0, "{reclaims}");
    assert_eq!(number(&slow, "/reclaim/response_us/during/count"), reclaims);
    assert_eq!(number(&slow, "/reclaim/response_us/otherwise/count"), 40_000.0 - reclaims);
    assert!(number(&slow, "/latency_us/read/max") <= 101.0);
    let fast = timed(&[("workload.rate_per_s", "100")]);
    assert_eq!(number(&fast, "/reclaim/on_demand"), reclaims);
    // Four more come, after 10, 20, 30 and 40 ms, unless the next reclaim has begun by then.
    let during = number(&fast, "/reclaim/response_us/during/count");
    assert!(during > 4.0 * reclaims && during <= 5.0 * reclaims, "{during} reads of {reclaims} reclaims");
    let longest = number(&fast, "/reclaim/response_us/during/max");
    assert!(longest >= 45_800.0 - 10_000.0, "{longest}");
    assert!(number(&fast, "/reclaim/response_us/otherwise/max") < 10_000.0);
}

/// Reads that come all the time: those of the other dies are during a reclaim, too, and all of them are on one side.
#[test]
fn reads_are_either_during_a_reclaim_or_not() {
    for (policy, arrival, queues) in [
        ("baseline", "open", "1"),
        ("baseline", "closed", "1"),
        ("rrb", "open", "1"),
        ("rrb", "closed", "2"),
        ("baseline", "open", "2"),
    ] {
        let mut settings = vec![
            ("workload.rate_per_s", "1000"),
            ("ftl.reclaim.policy", policy),
            ("workload.arrival", arrival),
            ("host.queues", queues),
        ];
        if arrival == "open" && queues == "2" {
            settings.push(("host.outstanding_max", "3"));
        }
        let result = timed(&settings);
        let [during, otherwise] = ["during", "otherwise"].map(|when| {
            let place = format!("/reclaim/response_us/{when}");
            [number(&result, &format!("{place}/count")), number(&result, &format!("{place}/max"))]
        });
        assert_eq!(during[0] + otherwise[0], 40_000.0, "{settings:?}");
        let longest = number(&result, "/latency_us/read/max");
        assert_eq!(during[1].max(otherwise[1]), longest, "{settings:?}");
        let reclaims = number(&result, "/reclaim/on_demand") + number(&result, "/reclaim/background");
        assert!(reclaims > 10.0 && during[0] >= reclaims, "{settings:?}: {reclaims} reclaims, {during:?}");
        // Nothing but a reclaim programs or erases here.
        assert!(during[1] > 1600.0, "{settings:?}: {during:?} {otherwise:?}");
    }
}

/// A reclaim in idle time is active between its steps, too: a request that arrives then is during it, and waits for a
/// page.
#[test]
fn a_reclaim_in_idle_time_is_one_until_it_is_done() {
    let result = timed(&[("workload.rate_per_s", "400"), ("ftl.reclaim.policy", "rrb")]);
    let reclaims = number(&result, "/reclaim/background");
    assert_eq!(number(&result, "/reclaim/on_demand"), 0.0);
    // Each moves 24 pages, one between two reads that are 2.5 ms apart at most times.
    let during = number(&result, "/reclaim/response_us/during/count");
    assert!(during > 12.0 * reclaims && during < 60.0 * reclaims, "{during} reads of {reclaims} reclaims");
    assert!(number(&result, "/reclaim/response_us/during/p99") < 6_000.0);
}

#[test]
fn reclaims_over_time_are_all_reclaims() {
    for mode in ["functional", "timed"] {
        let timing = |key: &str| ["mode", "drive.scheduling.policy", "workload.arrival"].contains(&key);
        let kept = RESPONSES.iter().filter(|(key, _)| mode == "timed" || !timing(key));
        let more = [("workload.rate_per_s", "1000"), ("ftl.reclaim.policy", "rrb")];
        let settings: Vec<_> = kept.chain(&more).copied().collect();
        let result = run("[workload]\nrequests = 40000\n", &settings);
        let counts = |kind: &str| -> Vec<f64> {
            let reclaims = &result["reclaim"]["over_time"][kind];
            reclaims.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let [requests, time_s] = ["requests", "time_s"].map(counts);
        for kind in ["on_demand", "background"] {
            let by_interval = counts(kind);
            assert_eq!(
                by_interval.iter().sum::<f64>(),
                number(&result, &format!("/reclaim/{kind}")),
                "{mode}"
            );
            assert_eq!((requests.len(), time_s.len()), (by_interval.len() + 1, by_interval.len() + 1));
            assert!((10..=50).contains(&by_interval.len()));
        }
        assert!(counts("background").iter().filter(|&&count| count > 0.0).count() > 2, "{mode}");
        assert_eq!((requests[0], requests.last()), (0.0, Some(&40_000.0)));
        assert!(requests.is_sorted() && time_s.is_sorted());
        let steps: Vec<f64> = requests.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps[1..steps.len() - 1].iter().all(|step| *step == steps[1]), "{steps:?}");
    }
}

/// A reclaim that mixes two blocks erases the first only when the pages of both have moved. Without two free blocks for
/// them it must not begin: this drive ran out of free blocks.
#[test]
fn mixing_waits_for_two_free_blocks() {
    let drive = "seed = 756578533595139817\n[drive]\nplp = true\n[drive.geometry]\nchips_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 52\n\
                 pages_per_block = 24\npage_bytes = 8192\n[ftl]\nspare_factor = 0.19360977564102566\nfree_block = \"fifo\"\nprecondition = \"steady\"\n\
                 mapping_bytes = 8192\nseparate.policy = \"none\"\n\
                 collect = { mode = \"incremental\", trigger_free_blocks = 1, stop_free_blocks = 2 }\n\
                 reclaim = { policy = \"redftl-plus\", proactive_at = 0.95 }\n[drive.disturb]\nmodel = \"mlc\"\nmax_reads = 32\n\
                 [drive.buffer]\ncapacity = \"16384 B\"\npolicy = \"disturb-aware\"\ndisturbed_share = 0.46567735231402346\n\
                 kept_share = 0.9754441190429761\npreload = true\n[workload]\nrequests = 16300\nrequest_bytes = 8192\n\
                 read_share = 0.9\ntrim_share = 0.04999999999999999\nwarmup_requests = 0\nfua_share = 0.2\nflush_every = 24\n";
    let result = try_run(drive, &[]).unwrap_or_else(|e| panic!("{e}")).result;
    assert!(number(&result, "/reclaim/on_demand") > 100.0, "{}", result["reclaim"]);
    assert_eq!(number(&result, "/reclaim/reads_beyond_max"), 0.0);
}
