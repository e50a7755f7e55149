//! A run that is interrupted anywhere and taken up again ends as if it had never stopped.

mod common;

use common::cases::{Case, draw};
use common::policies::{plans, throttles};
use common::{Folder, try_run, without_run};
use floatgate_base::Rng;
use floatgate_config::Resolved;
use floatgate_experiment::result::{RunFigures, result};
use floatgate_experiment::{Options, Output, load, resume, run_with};
use floatgate_sim::{Phase, Simulation, drive_file, saved as run_file};
use floatgate_snapshot::{Kind, Reader, Writer};
use serde_json::Value;
use std::time::Duration;

const CASES: u64 = 80;

/// The run in a file's bytes.
fn saved(simulation: &Simulation) -> Vec<u8> {
    let mut out = Writer::new(Vec::new(), Kind::Run, 1).unwrap();
    simulation.save(&mut out).unwrap();
    out.finish().unwrap().0
}

fn resumed(resolved: &Resolved, bytes: &[u8]) -> Simulation {
    let mut from = Reader::new("t", bytes, Kind::Run, 1).unwrap();
    let simulation = Simulation::resume(resolved.plan.clone(), &mut from).unwrap();
    from.finish().unwrap();
    simulation
}

fn figures(resolved: &Resolved, simulation: Simulation) -> Value {
    let none = RunFigures { wall_s: 0.0, cpu_s: 0.0, counted_cpu_s: 0.0, peak_rss_bytes: None };
    result(resolved, &simulation.finish(), &none)
}

const COMMANDS: [&str; 5] = [
    "drive.commands.cache_read",
    "drive.commands.cache_program",
    "drive.commands.copyback",
    "drive.commands.program_suspend",
    "drive.commands.erase_suspend",
];

/// A throttle for a drive that should last some seconds or minutes, of 1000 million cycles.
fn throttle(rng: &mut Rng, out: &mut Vec<(&'static str, String)>) {
    let all: Vec<_> = throttles().collect();
    let policy = all[rng.below(all.len() as u64) as usize];
    out.extend([
        ("lifetime.throttle.policy", policy.into()),
        ("lifetime.throttle.target_years", (1e-7 * 2f64.powi(rng.below(12) as i32)).to_string()),
        ("lifetime.throttle.period_s", "0.05".into()),
        // More would be no throttle at all.
        ("drive.endurance.pe_cycles", (1 + rng.below(30)).to_string()),
    ]);
    if plans(policy) {
        out.extend([
            ("lifetime.throttle.unit_window_s", "0.2".into()),
            ("lifetime.throttle.history_s", "100".into()),
        ]);
    }
}

/// A buffer of some pages, or none.
fn buffer(rng: &mut Rng, case: &Case, out: &mut Vec<(&'static str, String)>) {
    if rng.below(2) == 0 {
        let pages = (1 + rng.below(40)).min(case.rules.logical_pages);
        out.push(("drive.buffer.capacity", format!("{} B", pages * case.rules.page_bytes)));
        let aware = case.disturbs && rng.below(2) == 0;
        if aware {
            out.push(("drive.buffer.policy", "disturb-aware".into()));
            out.push(("drive.buffer.disturbed_share", rng.unit().to_string()));
        }
        out.push(("drive.buffer.read_cache", (aware || rng.below(2) == 0).to_string()));
        if rng.below(2) == 0 {
            out.extend([
                ("drive.buffer.high_watermark", "0.7".into()),
                ("drive.buffer.low_watermark", "0.3".into()),
            ]);
        }
        if case.trace.is_none() && rng.below(2) == 0 {
            out.extend([("workload.fua_share", "0.1".into()), ("workload.flush_every", "50".into())]);
        }
    }
}

/// Settings of a random case in either mode, with or without a buffer.
fn settings(rng: &mut Rng, case: &Case) -> Vec<(&'static str, String)> {
    let trace = case.trace.is_some();
    let mut out = Vec::new();
    buffer(rng, case, &mut out);
    let (buffer, planes) = (!out.is_empty(), case.planes);
    let timed = rng.below(2) == 0;
    let throttled = rng.below(2) == 0 && (timed || trace || case.toml.contains("rate_per_s"));
    if throttled {
        throttle(rng, &mut out);
    }
    if !timed {
        if throttled && rng.below(2) == 0 {
            out.push(("workload.arrival", "shifted".into()));
        }
        return out;
    }
    out.push(("mode", "timed".to_owned()));
    if buffer && rng.below(2) == 0 {
        out.push(("drive.buffer.access_us", "30".into()));
    }
    if planes > 1 && rng.below(2) == 0 {
        out.push(("drive.commands.multi_plane", "same-page".into()));
    }
    match rng.below(5) {
        0 | 1 if trace => out.push(("workload.arrival", "think".into())),
        2 | 3 if trace => {
            let arrival = if throttled && rng.below(2) == 0 { "shifted" } else { "open" };
            out.push(("workload.arrival", arrival.into()));
        }
        _ => {
            out.push(("workload.arrival", "closed".into()));
            out.push(("workload.queue_depth", (1 + rng.below(40)).to_string()));
        }
    }
    let first_come = rng.below(4) == 0;
    if first_come {
        out.push(("drive.scheduling.policy", "fcfs".into()));
    }
    // Nothing is suspended where no class is preferred.
    out.extend(COMMANDS.map(|key| {
        let on = rng.below(2) == 0 && !(first_come && key.ends_with("suspend"));
        (key, on.to_string())
    }));
    if rng.below(2) == 0 {
        out.push(("drive.timing.program_spread", "0.25".into()));
    }
    // In closed loop there is no idle time.
    if !out.iter().any(|(_, value)| value == "closed") {
        out.push(("ftl.background.policy", "idle".into()));
        out.push(("ftl.background.idle_us", rng.below(800).to_string()));
    }
    let no_queues = |value: &str| value == "think" || throttled && value == "closed";
    if rng.below(4) > 0 && !out.iter().any(|(_, value)| no_queues(value)) {
        out.push(("host.queues", (2 + rng.below(3)).to_string()));
        out.push(("host.outstanding_max", (1 + rng.below(20)).to_string()));
    }
    out
}

/// Gives one case in three a separator that knows the future, where nothing changes the order of writes.
fn foresee(seed: u64, case: &Case, overrides: &mut Vec<(&'static str, String)>) {
    let in_order = !overrides.iter().any(|(k, _)| *k == "drive.buffer.capacity" || *k == "host.queues");
    if in_order && seed.is_multiple_of(3) {
        // The future is not saved but read again.
        let (policy, key) = [("ora", "ftl.separate.streams"), ("fk", "ftl.separate.classes")]
            [usize::from(case.trace.is_some())];
        overrides.push(("ftl.separate.policy", policy.into()));
        overrides.push((key, case.streams.to_string()));
    }
}

/// The end of a run that is saved and taken up again now and then; `stops` counts how often in which phase.
fn interrupted(
    mut simulation: Simulation,
    resolved: &Resolved,
    rng: &mut Rng,
    stops: &mut [u64; 6],
    (seed, toml): (u64, &str),
) -> Simulation {
    // Some stop every few requests, some once in a while.
    let (most, one_in) = (1 + rng.below(2000), 1 + rng.below(12));
    let mut steps = 0;
    while simulation.step(1 + rng.below(most)).unwrap() != Phase::Done {
        steps += 1;
        if rng.below(one_in) == 0 && steps < 400 {
            stops[simulation.phase() as usize] += 1;
            let bytes = saved(&simulation);
            let other = resumed(resolved, &bytes);
            assert!(
                simulation.phase() == Phase::Scan || saved(&other) == bytes,
                "seed {seed}: saved again it is another run\n{toml}"
            );
            other.audit().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            simulation = other;
        }
    }
    simulation
}

#[test]
fn any_run_interrupted_anywhere_ends_as_if_it_had_never_stopped() {
    let folder = Folder::new("interrupted");
    let (mut runs, mut stops) = ([0; 6], [0; 6]);
    for seed in common::seeds(CASES) {
        for trace in [false, true] {
            let mut rng = Rng::new(seed, "interrupted");
            let mut case = draw(&mut rng, trace);
            if let Some((text, extension)) = &case.trace {
                let path = folder.file(&format!("{seed}.{extension}"), text);
                case.toml += &format!("file = \"{path}\"\n");
            }
            let mut overrides = settings(&mut rng, &case);
            foresee(seed, &case, &mut overrides);
            let pairs: Vec<_> = overrides.iter().map(|(k, v)| ((*k).to_string(), v.clone())).collect();
            let resolved = match load(Some(&case.toml), "t.toml", &pairs) {
                Ok(resolved) => resolved,
                // Jobs in idle time ask for more free blocks than some cases have, commands for several planes of a die.
                Err(e) if e.to_string().contains("trigger_free_blocks is") => continue,
                Err(e) if e.to_string().starts_with("drive.commands.multi_plane") => continue,
                Err(e) => panic!("seed {seed}: {e}"),
            };
            let simulation = match Simulation::new(resolved.plan.clone()) {
                Ok(simulation) => simulation,
                // fio's format has no times.
                Err(e) if e.to_string().contains("has no times") => continue,
                Err(e) => panic!("seed {seed}: {e}"),
            };
            let whole = match try_run(&case.toml, &overrides) {
                Ok(whole) => whole,
                // Those under a throttle stand a few cycles only.
                Err(e) if e.contains("the drive was worn out") => continue,
                Err(e) => panic!("seed {seed} {overrides:?}: {e}"),
            };
            let held = whole.result["throttle"]["held_share"].as_f64() > Some(0.0);
            let simulation = interrupted(simulation, &resolved, &mut rng, &mut stops, (seed, &case.toml));
            let found = without_run(figures(&resolved, simulation));
            assert_eq!(found, without_run(whole.result), "seed {seed} {overrides:?}\n{}", case.toml);
            let has = |key: &str| overrides.iter().any(|(k, _)| *k == key);
            let (timed, buffer) = (has("mode"), has("drive.buffer.capacity"));
            let kinds = [
                timed,
                buffer && !timed,
                buffer && timed,
                buffer && has("host.queues"),
                has("ftl.background.policy"),
                held,
            ];
            runs.iter_mut().zip(kinds).for_each(|(n, is)| *n += u64::from(is));
        }
    }
    assert!(
        runs.iter().all(|&n| n >= CASES / 10),
        "timed, buffer, both, with queues, with idle jobs, held back: {runs:?}"
    );
    // Scan, precondition, warm-up, run; the next test stops while a drive is worn in.
    assert!([0, 1, 3, 4].iter().all(|&i| stops[i] > 20) && stops[2] > 0, "stops by phase: {stops:?}");
}

/// Laps go on as if they had never stopped, whichever way the drive is filled, in both modes.
#[test]
fn a_run_interrupted_while_its_drive_is_worn_in_ends_as_if_it_had_never_stopped() {
    let folder = Folder::new("laps");
    let mut rng = Rng::new(1, "laps");
    let line = |i: u64| format!("{},h,0,Write,{},4096,0\n", 1_000_000 + i * 10_000, rng.below(1000) * 4096);
    let path = folder.file("t.csv", (0..400).map(line).collect::<String>());
    for (policy, mode) in [("greedy", "functional"), ("cost-benefit", "functional"), ("greedy", "timed")] {
        let toml = format!(
            "mode = \"{mode}\"\n[drive.geometry]\nblocks_per_plane = 80\npages_per_block = 16\n[ftl]\n\
             spare_factor = 0.2\nwear_in_max = 0.5\n[ftl.collect]\npolicy = \"{policy}\"\n[workload]\n\
             file = \"{path}\"\nrepeat = 2\n"
        );
        let resolved = load(Some(&toml), "t.toml", &[]).unwrap();
        let simulation = Simulation::new(resolved.plan.clone()).unwrap();
        let mut stops = [0; 6];
        let simulation = interrupted(simulation, &resolved, &mut rng, &mut stops, (0, &toml));
        let found = without_run(figures(&resolved, simulation));
        assert_eq!(found, without_run(try_run(&toml, &[]).unwrap().result));
        assert!(stops[Phase::WearIn as usize] > 10, "{stops:?}");
    }
}

const TOML: &str = "[drive.geometry]\nchannels = 2\nblocks_per_plane = 60\npages_per_block = 16\n\
                    [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n";

/// Runs with a snapshot after every step, the last of which stays.
fn with_snapshots(toml: &str, folder: &Folder) -> (Output, String) {
    let path = format!("{}/out/run.snapshot", folder.path());
    let options = Options {
        snapshot: Some((&path).into()),
        snapshot_every: Some(Duration::ZERO),
        command: Some("a command".into()),
        timeline: toml.starts_with("mode").then_some((0, 30_000_000, 2000)),
        ..Options::default()
    };
    let output = run_with(load(Some(toml), "test.toml", &[]).unwrap(), &options, &mut |_| Ok(())).unwrap();
    (output, path)
}

fn go_on(path: &str) -> Result<Output, String> {
    resume(path, &Options::default(), &mut |_| Ok(())).map_err(|e| {
        assert_eq!(e.status(), 2, "{e}");
        e.to_string()
    })
}

fn trace_of(lines: u64, last: u64) -> String {
    let offset = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let line =
        |i: u64, page: u64| format!("{},h,0,Write,{},4096,0\n", 10_000 + i * 20_000, page % 1000 * 4096);
    (0..lines).map(|i| line(i, if i + 1 == lines { last } else { offset(i) })).collect()
}

#[test]
fn a_file_goes_on_to_the_same_output() {
    let folder = Folder::new("files");
    let trace = folder.file("t.csv", format!("{}bad\n", trace_of(90_000, 1)));
    let cases = [
        format!("{TOML}[workload]\nrequests = 200000\nread_share = 0.3\n"),
        format!("mode = \"timed\"\n{TOML}[workload]\nrequests = 100000\nread_share = 0.3\n"),
        format!("{TOML}[workload]\nfile = \"{trace}\"\nrepeat = 2\non_bad_line = \"skip\"\n"),
    ];
    for toml in cases {
        let (whole, path) = with_snapshots(&toml, &folder);
        let output = go_on(&path).unwrap();
        assert_eq!(without_run(output.result), without_run(whole.result));
        assert_eq!(output.timeline.map(|t| t.spans), whole.timeline.map(|t| t.spans));
        assert_eq!(output.experiment_toml, whole.experiment_toml);
        assert_eq!((output.rows, output.command.as_deref()), (whole.rows, Some("a command")));
    }
}

#[test]
fn stopping_leaves_the_run_and_the_drive_is_saved_at_the_end_of_the_last_part() {
    let folder = Folder::new("stopped");
    let toml = format!("{TOML}[drive.endurance]\npe_cycles = 1000000\n[workload]\nrequests = 6000000\n");
    let path = format!("{}/run.snapshot", folder.path());
    let options = Options {
        snapshot: Some((&path).into()),
        save_drive: Some(format!("{}/a.drive", folder.path()).into()),
        ..Options::default()
    };
    let stop = |_| Err(floatgate_base::Error::run("stopped from outside", ""));
    let error = run_with(load(Some(&toml), "t", &[]).unwrap(), &options, &mut stop.clone()).unwrap_err();
    assert_eq!(error.what, "stopped from outside");
    assert!(!std::path::Path::new(&format!("{}/a.drive", folder.path())).exists());
    go_on(&path).unwrap();
    assert!(std::path::Path::new(&format!("{}/a.drive", folder.path())).exists());
}

#[test]
fn another_trace_or_none_is_refused() {
    let folder = Folder::new("changed");
    let trace = folder.file("t.csv", trace_of(100_000, 1));
    let (_, path) = with_snapshots(&format!("{TOML}[workload]\nfile = \"{trace}\"\nrepeat = 2\n"), &folder);
    folder.file("t.csv", trace_of(100_001, 1));
    assert!(go_on(&path).unwrap_err().contains("bytes and had"));
    // The last request is read only after the run has been taken up again.
    folder.file("t.csv", trace_of(100_000, 2));
    assert!(go_on(&path).unwrap_err().contains("the workload is another one"));
    // The same length, another request among those that were served.
    let text = trace_of(100_000, 1);
    folder.file("t.csv", text.replacen(",4096,0", ",2048,0", 1));
    assert!(go_on(&path).unwrap_err().contains("the workload is another one"));
    std::fs::remove_file(&trace).unwrap();
    assert!(go_on(&path).unwrap_err().contains("t.csv"));
}

#[test]
fn damage_and_other_files_are_refused() {
    let folder = Folder::new("damage");
    let (_, path) = with_snapshots(&format!("{TOML}[workload]\nrequests = 100000\n"), &folder);
    let whole = std::fs::read(&path).unwrap();
    let mut rng = Rng::new(1, "damage");
    for _ in 0..60 {
        let at = rng.below(whole.len() as u64) as usize;
        let mut bad = whole.clone();
        bad[at] ^= 1 << rng.below(8);
        go_on(&folder.file("bad", &bad)).unwrap_err();
        go_on(&folder.file("bad", &whole[..at])).unwrap_err();
    }
    assert!(go_on(&folder.file("text", "seed = 1\n")).unwrap_err().contains("is no snapshot of floatgate"));
    assert!(go_on(&folder.path()).unwrap_err().contains("is a directory"));
    assert!(go_on("none").unwrap_err().contains("no such file; expected a snapshot of an interrupted run"));
    let drive = format!("{}/a.drive", folder.path());
    let options = Options { save_drive: Some((&drive).into()), ..Options::default() };
    let toml = format!("{TOML}[workload]\nrequests = 1000\n");
    run_with(load(Some(&toml), "t", &[]).unwrap(), &options, &mut |_| Ok(())).unwrap();
    assert!(go_on(&drive).unwrap_err().contains("holds a drive (--save-drive); expected an interrupted run"));
}

#[test]
fn snapshots_that_could_not_be_used_are_refused() {
    let folder = Folder::new("useless");
    let toml = format!("{TOML}[workload]\nrequests = 1000\n");
    let refused = |toml: &str, shadow: bool, place: bool, message: &str| {
        let mut resolved = load(Some(toml), "t", &[]).unwrap();
        resolved.plan.shadow = shadow;
        let options = Options {
            snapshot: place.then(|| format!("{}/s", folder.path()).into()),
            snapshot_every: Some(Duration::from_secs(1)),
            ..Options::default()
        };
        let error = run_with(resolved, &options, &mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("--snapshot-every: ") && error.contains(message), "{error}");
    };
    refused(&toml, true, true, "the shadow model has no place in snapshots");
    refused(&toml, false, false, "there is no place for snapshots; expected --out DIR");
    refused(
        &format!("{TOML}[workload]\nfile = \"-\"\n"),
        false,
        true,
        "a trace from a pipe cannot be read again",
    );
}

/// The run in which every kind of state is there: read disturb with replicas, a buffer, queues, jobs in idle time, a timeline, a throttle, requests
/// under way.
const FULL: &str = "mode = \"timed\"\n[drive.geometry]\nchannels = 2\nblocks_per_plane = 12\npages_per_block = 8\n\
                    [drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = 20\n[ftl.reclaim]\npolicy = \"redftl\"\nreplica_pages = 2\n\
                    [drive.buffer]\ncapacity = \"32 KiB\"\npolicy = \"disturb-aware\"\naccess_us = 1\n[host]\nqueues = 2\noutstanding_max = 3\n\
                    [ftl]\nspare_factor = 0.5\nprecondition = \"random\"\n[ftl.background]\npolicy = \"idle\"\n\
                    [ftl.level]\npolicy = \"hot-cold-swap\"\npe_cycles = 20\n\
                    [lifetime.throttle]\npolicy = \"ready-optimistic\"\nunit_window_s = 0.02\nhistory_s = 1\n\
                    period_s = 0.01\ntarget_years = 1e-6\n\
                    [workload]\nrequests = 200\nread_share = 0.3\nrequest_bytes = 6144\narrival = \"open\"\nrate_per_s = 1500\n";

/// Files of another layout must be refused by their version, rather than read as something else.
#[test]
fn what_is_written_has_the_layout_of_its_version() {
    const DRIVE_IS: (u32, &str) = (15, "4353efb14e6ebb52");
    const RUN_IS: (u32, &str) = (21, "d12e14edcecd2b6351dab62baed46e227d405913271e5148");
    let folder = Folder::new("layout");
    let mut resolved = load(Some(FULL), "t", &[]).unwrap();
    resolved.plan.timeline = Some((0, 1_000_000_000, 50));
    let mut simulation = Simulation::new(resolved.plan).unwrap();
    let mut hashes = String::new();
    for steps in [1, 60, 90] {
        (0..steps).for_each(|_| assert!(simulation.step(1).is_ok()));
        let mut out = Writer::new(Vec::new(), Kind::Run, 1).unwrap();
        simulation.save(&mut out).unwrap();
        hashes += &out.finish().unwrap().1.to_hex()[..16];
    }
    while simulation.step(1000).unwrap() != Phase::Done {}
    let drive = simulation.save_drive(format!("{}/d", folder.path()).as_ref()).unwrap();
    let say = "what a snapshot holds has changed. If a type that is written did (a field more, less, elsewhere, of \
               another type), raise STATE_VERSION; then renew the hash here";
    assert_eq!(
        (drive_file::STATE_VERSION, &drive[..16]),
        DRIVE_IS,
        "drive: {say} (crates/sim/src/drive_file.rs)"
    );
    assert_eq!((run_file::STATE_VERSION, &*hashes), RUN_IS, "run: {say} (crates/sim/src/saved.rs)");
}
