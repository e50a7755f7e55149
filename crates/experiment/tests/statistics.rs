//! What a result says of its own certainty, held to many runs: the 95 % interval and `stationary`.

mod common;

use common::{number, run_ok};
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

#[test]
fn the_interval_holds_the_closed_form_about_as_often_as_it_says() {
    let covered = |workload: &str| {
        let holds = |seed: &u64| {
            let result = result("precondition = \"steady\"", workload, *seed);
            let expected = wa(Policy::Greedy, number(&result, "/drive/effective_spare_factor"), 64).unwrap();
            number(&result, "/waf_95/0") <= expected && expected <= number(&result, "/waf_95/1")
        };
        (1..=SEEDS).filter(holds).count()
    };
    // Short runs, where neighbouring batches share their blocks: without regard to that 31 to 35 of 40 were held.
    // At 95 % fewer than 34 have a chance of 0.3 %; the seeds are fixed, so this does not come and go.
    for workload in ["requests = 400000", "requests = 400000\nread_share = 0.5"] {
        let n = covered(workload);
        println!("{workload:?}: {n} of {SEEDS} intervals hold the closed form");
        assert!(n >= 34, "{workload}: {n} of {SEEDS}");
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
