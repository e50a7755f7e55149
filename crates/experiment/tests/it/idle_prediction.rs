//! Idle time that program contexts predict (`ftl.background.policy = "by-context"`): counts by hand, and what the
//! prediction is good for.

use crate::common::interrupted::goes_on;
use crate::common::{Folder, hinted, number, run_ok, try_run};
use serde_json::Value;

const DRIVE: &str = "mode = \"timed\"\n[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n\
                     [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n";

fn count(result: &Value, pointer: &str) -> u64 {
    number(result, pointer) as u64
}

fn run(file: &str, policy: &str, more: &[(&str, String)]) -> Value {
    let toml = format!("{DRIVE}[workload]\nfile = \"{file}\"\narrival = \"open\"\n");
    let mut settings = vec![("ftl.background.policy", policy.to_string())];
    settings.extend(more.iter().cloned());
    run_ok(&toml, &settings).result
}

/// Five bursts of program 1, each followed by 300 ms, and five of program 3, each followed by 5 ms. A burst is three
/// writes 20 ms apart, longer than any takes.
#[test]
fn predictions_are_those_counted_by_hand() {
    let folder = Folder::new("by-hand");
    let (mut now_ns, mut rows) = (0, Vec::new());
    for _ in 0..5 {
        for (context, idle_ms) in [(1, 300), (3, 5)] {
            for page in 0..3 {
                rows.push((now_ns, hinted::write(page, context)));
                now_ns += 20_000_000;
            }
            now_ns += (idle_ms - 20) * 1_000_000;
        }
    }
    let file = hinted::file_at(&folder, "by-hand.parquet", &rows);
    // Two periods of 20 ms are short, too: after program 1 they come before each long one, and a counter that falls with
    // each never reaches 2. The last ones of program 3, less than 5 ms, are gaps of a burst.
    let settle = |us: u32| ("ftl.background.settle_us", us.to_string());
    let result = run(&file, "by-context", &[settle(0)]);
    assert_eq!(count(&result, "/jobs/idle/periods"), 29);
    assert_eq!(count(&result, "/jobs/idle/prediction/long_periods"), 5);
    assert_eq!(count(&result, "/jobs/idle/prediction/predicted_periods"), 0);
    assert_eq!(count(&result, "/jobs/idle/prediction/contexts"), 2);
    // Where all of 20 ms are gaps of a burst, program 1 has its five long ones alone: two teach.
    let result = run(&file, "by-context", &[settle(25_000)]);
    assert_eq!(count(&result, "/jobs/idle/prediction/predicted_periods"), 3);
    assert_eq!(count(&result, "/jobs/idle/prediction/predicted_long_periods"), 3);
    assert_eq!(count(&result, "/jobs/idle/prediction/contexts"), 1);
    // From 15 ms on all after program 1 are long: 15, of which the first 2 teach. Those of program 3 within a burst are
    // long, the third is not: its counter goes 1, 2, 1, 2, 1, 2, 3, 2, ... and predicts from 2 on, each third in vain.
    let result = run(&file, "by-context", &[settle(0), ("ftl.background.long_us", "15000".into())]);
    assert_eq!(count(&result, "/jobs/idle/prediction/long_periods"), 15 + 10);
    let (predicted, right) = (
        count(&result, "/jobs/idle/prediction/predicted_periods"),
        count(&result, "/jobs/idle/prediction/predicted_long_periods"),
    );
    // Program 1: 13 of 13. Each third period of program 3 is short. Of its 14 periods (the trace ends with its last) the
    // 1st, 2nd and 4th are not predicted, and of the other eleven the 3rd, 6th, 9th and 12th are short.
    assert_eq!((predicted, right), (13 + 11, 13 + 7));
}

/// Two programs after which the drive rests and two after which it does not: the second kind meets fewer jobs.
#[test]
fn fewer_requests_meet_a_job_where_contexts_predict() {
    let folder = Folder::new("bursts");
    let file = hinted::file_at(&folder, "bursts.parquet", &hinted::bursts(2, 480, 400));
    // Room for the writes of several bursts without a rest between them.
    let room = ("ftl.background.trigger_free_blocks", "8".into());
    let observed = run(&file, "idle", std::slice::from_ref(&room));
    let settle = ("ftl.background.settle_us", "3000".into());
    let predicted = run(&file, "by-context", &[settle, room]);
    let delayed = |result: &Value| count(result, "/jobs/idle/delayed_requests");
    println!("{} {}", observed["jobs"], predicted["jobs"]);
    assert!(delayed(&observed) > 20, "{}", observed["jobs"]);
    assert!(delayed(&predicted) < delayed(&observed) / 4, "{} {}", observed["jobs"], predicted["jobs"]);
    // Nearly all jobs are done all the same, in the long periods.
    let [foreground, background] =
        ["/jobs/foreground_s", "/jobs/background_s"].map(|place| number(&predicted, place));
    assert!(foreground < background / 10.0, "{}", predicted["jobs"]);
    assert!(number(&predicted, "/jobs/idle/prediction/predicted_idle_share") > 0.95);
}

/// What was learnt goes on with a run that is saved and resumed.
#[test]
fn predictions_survive_a_snapshot() {
    let folder = Folder::new("saved");
    let file = hinted::file_at(&folder, "bursts.parquet", &hinted::bursts(3, 480, 200));
    let background = "[ftl.background]\npolicy = \"by-context\"\nsettle_us = 3000\npath = 3\n";
    let toml = format!("{DRIVE}{background}[workload]\nfile = \"{file}\"\narrival = \"open\"\n");
    goes_on(&toml, 37, 3);
}

/// A policy without a prediction has none, and a workload without contexts is refused.
#[test]
fn contexts_are_needed() {
    let toml = format!("{DRIVE}[workload]\nrequests = 100\nrate_per_s = 100\narrival = \"open\"\n");
    let idle = run_ok(&toml, &[("ftl.background.policy", "idle".into())]).result;
    assert!(idle["jobs"]["idle"]["prediction"].is_null());
    let none = run_ok(&toml, &[]).result;
    assert!(none["jobs"]["idle"].is_null());
    let error = try_run(&toml, &[("ftl.background.policy", "by-context".into())]).err().unwrap();
    assert!(error.contains("by-context needs program contexts, and this workload has none"), "{error}");
}
