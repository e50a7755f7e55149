//! A run that is interrupted anywhere and resumed ends as if it had never stopped.

use crate::common::cases::{Case, draw};
use crate::common::interrupted::{figures, interrupted, settings};
use crate::common::{Folder, try_run, without_run};
use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_experiment::{Options, Output, load, resume, run_with};
use floatgate_sim::{Phase, Simulation, drive_file, saved as run_file};
use floatgate_snapshot::{Kind, Writer};
use serde_json::Value;
use std::time::Duration;

const CASES: u64 = 72;

/// Gives one case in three a separator that knows the future, where nothing changes the order of writes.
fn foresee(seed: u64, case: &Case, overrides: &mut Vec<(&'static str, String)>) {
    let in_order = !overrides.iter().any(|(k, _)| *k == "drive.buffer.capacity" || *k == "host.queues");
    if in_order && seed.is_multiple_of(3) {
        // The future is not saved but read again.
        let (policy, key) = [("ora", "ftl.separate.streams"), ("fk", "ftl.separate.classes")]
            [usize::from(case.trace.is_some())];
        overrides.push(("ftl.dispatch.policy", "fcfs".into()));
        overrides.push(("ftl.separate.policy", policy.into()));
        overrides.push(("ftl.unwritten_reads", "nothing".into()));
        overrides.push(("ftl.metadata.policy", "none".into()));
        overrides.push((key, case.streams.to_string()));
    }
}

#[test]
fn any_run_interrupted_anywhere_ends_as_if_it_had_never_stopped() {
    let folder = Folder::new("interrupted");
    let (mut runs, mut stops) = ([0; 7], [0; 6]);
    for seed in crate::common::seeds(CASES) {
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
                // Those under a throttle endure only a few cycles.
                Err(e) if e.contains("the drive was worn out") => continue,
                Err(e) => panic!("seed {seed} {overrides:?}: {e}"),
            };
            let modes = whole.result.pointer("/dpes/erases_by_mode").and_then(Value::as_array);
            let in_modes = modes.is_some_and(|n| n[0] != 0 && n[1..].iter().any(|n| *n != 0));
            let held = whole.result["throttle"]["held_share"].as_f64() > Some(0.0);
            let simulation = interrupted(simulation, &resolved, &mut rng, &mut stops, (seed, &case.toml));
            let resumed = without_run(figures(&resolved, simulation));
            assert_eq!(resumed, without_run(whole.result), "seed {seed} {overrides:?}\n{}", case.toml);
            let has = |key: &str| overrides.iter().any(|(k, _)| *k == key);
            let (timed, buffer) = (has("mode"), has("drive.buffer.capacity"));
            let kinds = [
                timed,
                buffer && !timed,
                buffer && timed,
                buffer && has("host.queues"),
                has("ftl.background.policy"),
                held,
                in_modes,
            ];
            runs.iter_mut().zip(kinds).for_each(|(n, is)| *n += u64::from(is));
        }
    }
    assert!(
        runs.iter().all(|&n| n >= CASES / 10),
        "timed, buffer, both, with queues, with idle jobs, held back, in several modes of erases: {runs:?}"
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
        let resumed = without_run(figures(&resolved, simulation));
        assert_eq!(resumed, without_run(try_run(&toml, &[]).unwrap().result));
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
    assert!(go_on(&path).unwrap_err().contains("the workload has changed"));
    // The same length, another request among those that were served.
    let text = trace_of(100_000, 1);
    folder.file("t.csv", text.replacen(",4096,0", ",2048,0", 1));
    assert!(go_on(&path).unwrap_err().contains("the workload has changed"));
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
    assert!(
        go_on(&folder.file("text", "seed = 1\n")).unwrap_err().contains("is not a snapshot of floatgate")
    );
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
    refused(&toml, true, true, "the shadow model is not part of snapshots");
    refused(&toml, false, false, "no folder to write snapshots to; expected --out DIR");
    refused(
        &format!("{TOML}[workload]\nfile = \"-\"\n"),
        false,
        true,
        "a trace from a pipe cannot be read again",
    );
}

/// A run with every kind of state: read disturb with replicas, a buffer, queues, jobs in idle time, a timeline, a
/// throttle, requests in flight.
const FULL: &str = "mode = \"timed\"\n[drive.geometry]\nchannels = 2\nblocks_per_plane = 12\npages_per_block = 8\n\
                    [drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = 20\n[ftl.reclaim]\npolicy = \"redftl\"\nreplica_pages = 2\n\
                    [drive.scheduling]\nmoved_reads = \"old\"\n[drive.buffer]\ncapacity = \"32 KiB\"\npolicy = \"disturb-aware\"\naccess_us = 1\n[host]\nqueues = 2\noutstanding_max = 3\n\
                    [ftl]\nspare_factor = 0.5\nprecondition = \"random\"\n[ftl.background]\npolicy = \"idle\"\n\
                    [ftl.level]\npolicy = \"hot-cold-swap\"\npe_cycles = 20\n\
                    [lifetime.throttle]\npolicy = \"ready-optimistic\"\nunit_window_s = 0.02\nhistory_s = 1\n\
                    period_s = 0.01\ntarget_years = 1e-6\n\
                    [workload]\nrequests = 200\nread_share = 0.3\nrequest_bytes = 6144\narrival = \"open\"\nrate_per_s = 1500\n";

/// Files of another layout must be refused by their version, rather than misread.
#[test]
fn what_is_written_has_the_layout_of_its_version() {
    const DRIVE_IS: (u32, &str) = (28, "9180637f1488a058");
    const RUN_IS: (u32, &str) = (43, "d3d49526deec8da8204d10b89558316592b05113f3cb9b41");
    let folder = Folder::new("layout");
    let mut resolved = load(Some(FULL), "t", &[]).unwrap();
    resolved.plan.timeline = Some((0, 1_000_000_000, 50));
    let mut simulation = Simulation::new(resolved.plan).unwrap();
    let mut hashes = String::new();
    for steps in [1, 60, 90] {
        (0..steps).for_each(|_| assert!(simulation.step(1).is_ok()));
        let mut out = Writer::new(std::io::sink(), Kind::Run, 1).unwrap();
        simulation.save(&mut out).unwrap();
        hashes += &out.finish().unwrap().to_hex()[..16];
    }
    let mut bound = Bound::new(100_000);
    while simulation.step(1000).unwrap() != Phase::Done {
        bound.step();
    }
    let drive = simulation.save_drive(format!("{}/d", folder.path()).as_ref()).unwrap();
    let say = "what a snapshot holds has changed. If a type that is written did (a field more, less, elsewhere, of \
               another type), raise STATE_VERSION; then renew the hash here";
    let layouts = [(drive_file::STATE_VERSION, &drive[..16]), (run_file::STATE_VERSION, &*hashes)];
    assert_eq!(
        layouts,
        [DRIVE_IS, RUN_IS],
        "{say} (the drive: crates/sim/src/drive_file.rs; the run: crates/sim/src/saved.rs)"
    );
}
