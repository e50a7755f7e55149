//! The stated certainty of a result, checked by many runs: the 95 % interval and `stationary`.

use crate::common::{number, run_ok};
use floatgate_theory::{Policy, wa};
use serde_json::Value;

const SEEDS: u64 = 40;

/// A plane of 4096 blocks of 64 pages under `ftl` and `workload` settings.
fn result(ftl: &str, workload: &str, seed: u64) -> Value {
    let toml = format!(
        "seed = {seed}\n[drive.geometry]\nblocks_per_plane = 4096\npages_per_block = 64\n\
         [drive.endurance]\npe_cycles = 1000000\n[ftl]\nspare_factor = 0.15\n{ftl}\n[workload]\n{workload}\n"
    );
    run_ok(&toml, &[]).result
}

/// Short runs, where neighbouring batches share their blocks: without regard to that 31 to 35 of 40 were held. With
/// bursts of collection counted as noise, intervals were 2.1 and 3.7 times as wide as they had to be.
#[test]
fn the_interval_is_as_wide_as_runs_differ() {
    for workload in ["requests = 400000", "requests = 400000\nread_share = 0.5"] {
        let results: Vec<Value> =
            (1..=SEEDS).map(|seed| result("precondition = \"steady\"", workload, seed)).collect();
        let intervals: Vec<[f64; 3]> = (results.iter())
            .map(|result| ["/waf_95/0", "/waf", "/waf_95/1"].map(|of| number(result, of)))
            .collect();
        let covered = |share: f64| {
            let holds = |(result, [low, waf, high]): &(&Value, [f64; 3])| {
                let expected =
                    wa(Policy::Greedy, number(result, "/drive/effective_spare_factor"), 64).unwrap();
                (expected - waf).abs() <= share * (high - low) / 2.0
            };
            results.iter().zip(intervals.iter().copied()).filter(holds).count()
        };
        // At 95 % fewer than 34 have a chance of 0.3 %; the seeds are fixed, so this does not come and go. Of intervals
        // half as wide about 27 hold it: more than 36, and the whole ones are too wide.
        let (whole, half) = (covered(1.0), covered(0.5));
        println!(
            "{workload:?}: {whole} of {SEEDS} intervals hold the closed form, {half} do at half the width"
        );
        assert!(whole >= 34, "{workload}: {whole} of {SEEDS}");
        assert!(half <= 36, "{workload}: {half} of {SEEDS} at half the width");

        let n = intervals.len() as f64;
        let mean = intervals.iter().map(|[_, waf, _]| waf).sum::<f64>() / n;
        let squares: f64 = intervals.iter().map(|[_, waf, _]| (waf - mean) * (waf - mean)).sum();
        let half_width = intervals.iter().map(|[low, _, high]| (high - low) / 2.0).sum::<f64>() / n;
        let ratio = half_width / (1.96 * (squares / (n - 1.0)).sqrt());
        println!("{workload:?}: half-width {ratio:.2} times 1.96 standard deviations of {SEEDS} seeds");
        assert!((0.7..=1.5).contains(&ratio), "{workload}: {ratio}");
    }
}

#[test]
fn a_run_that_begins_below_its_steady_state_is_not_stationary() {
    let drifting = [
        ("precondition = \"random\"", "requests = 400000"),
        ("precondition = \"random\"", "requests = 2000000"),
        ("precondition = \"sequential\"\n[ftl.collect]\npolicy = \"fifo\"", "requests = 2000000"),
        (
            "precondition = \"random\"\n[ftl.collect]\npolicy = \"cost-benefit\"",
            "requests = 1000000\npattern = \"hot-cold\"",
        ),
    ];
    for (ftl, workload) in drifting {
        for seed in 1..=3 {
            let result = result(ftl, workload, seed);
            assert_eq!(result["stationary"], Value::Bool(false), "{ftl} {workload} seed {seed}");
        }
    }
}

#[test]
fn a_steady_run_is_stationary() {
    let stationary = |seed: &u64| {
        let result = result("precondition = \"steady\"", "requests = 1000000", *seed);
        result["stationary"] == Value::Bool(true)
    };
    let n = (1..=SEEDS).filter(stationary).count();
    println!("{n} of {SEEDS} steady runs are called stationary");
    assert!(n >= 36, "{n} of {SEEDS}");
}
