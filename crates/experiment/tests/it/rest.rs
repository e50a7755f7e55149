//! The rest of blocks between two erases, and how it extends their life.

use crate::common::{run_ok, try_run};
use floatgate_nand::Endurance;
use floatgate_nand::endurance::{READY_TABLE2, mean_idle_s};
use serde_json::Value;

const DRIVE: &str = "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n";
const FTL: &str = "[ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n";

/// In functional mode, or in timed mode with requests that arrive at their stamps.
fn idle_h(toml: &str, mode: &str) -> Value {
    run_ok(toml, &in_mode(mode)).result["wear"]["idle_h"].clone()
}

fn in_mode(mode: &str) -> Vec<(&'static str, String)> {
    let arrival = (mode == "timed").then(|| ("workload.arrival", "open".into()));
    [("mode", mode.into()), ("ftl.collect.mode", "whole-block".into())].into_iter().chain(arrival).collect()
}

#[test]
fn both_modes_see_the_same_rest() {
    for policy in ["greedy", "fifo", "cost-benefit"] {
        for scope in ["plane", "superblock"] {
            // A write every ten seconds is alone in its second.
            let toml = format!(
                "{DRIVE}channels = 2\n{FTL}[ftl.collect]\npolicy = \"{policy}\"\nscope = \"{scope}\"\n[workload]\n\
                 requests = 6000\nrate_per_s = 0.1\nwarmup_requests = 500\n"
            );
            let functional = idle_h(&toml, "functional");
            let timed = idle_h(&toml, "timed");
            assert!(functional["mean"].is_f64(), "{policy}, {scope}");
            assert_eq!(functional, timed, "{policy}, {scope}");
        }
    }
}

#[test]
fn functional_mode_knows_the_time_to_a_second() {
    let toml = format!("{DRIVE}{FTL}[workload]\nrequests = 20000\nrate_per_s = 100\n");
    let functional = idle_h(&toml, "functional");
    let timed = idle_h(&toml, "timed");
    for key in ["mean", "p50", "p90"] {
        let seconds = |idle: &Value| idle[key].as_f64().unwrap() * 3600.0;
        assert!((seconds(&functional) - seconds(&timed)).abs() < 1.0, "{key}: {functional} {timed}");
    }
    assert_eq!(functional["intervals"], timed["intervals"]);
}

#[test]
fn every_erase_ends_an_interval_that_a_bin_holds() {
    for more in ["", "[drive.buffer]\ncapacity = \"64 KiB\"\n"] {
        let toml = format!("{DRIVE}{more}{FTL}[workload]\nrequests = 9000\nrate_per_s = 0.3\n");
        let result = run_ok(&toml, &[]).result;
        let idle = &result["wear"]["idle_h"];
        let list = |value: &Value| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
        };
        let (edges, counts) = (list(&idle["histogram"]["edges"]), list(&idle["histogram"]["intervals"]));
        assert_eq!(edges.len(), counts.len() + 1);
        assert_eq!(idle["intervals"].as_f64(), Some(counts.iter().sum()));
        assert_eq!(idle["intervals"], result["flash"]["erases"]["total"]);
        // What the rate implies, up to the blocks that are on their way: 9000 s / 0.3 over the mean erases.
        let implied =
            result["span_s"].as_f64().unwrap() / result["wear"]["erases_mean"].as_f64().unwrap() / 3600.0;
        let mean = idle["mean"].as_f64().unwrap();
        assert!((mean / implied - 1.0).abs() < 0.2, "{mean} {implied}");
        let quantiles = ["p10", "p50", "p90"].map(|key| idle[key].as_f64().unwrap());
        assert!(quantiles.is_sorted() && quantiles[0] >= edges[0] && quantiles[2] <= edges[edges.len() - 1]);
    }
}

#[test]
fn without_time_or_erases_there_is_no_rest() {
    assert_eq!(idle_h(&format!("{DRIVE}{FTL}[workload]\nrequests = 9000\n"), "functional"), Value::Null);
    let few = format!("{DRIVE}[ftl]\nspare_factor = 0.25\n[workload]\nrequests = 20\nrate_per_s = 1\n");
    assert_eq!(idle_h(&few, "functional"), Value::Null);
}

/// Cycles and seconds after which a drive of 30 nominal cycles stops that is written from end to end.
fn worn_out(model: &str, rate_per_s: f64, mode: &str) -> (f64, f64) {
    let toml = format!(
        "{DRIVE}[drive.endurance]\nmodel = \"{model}\"\npe_cycles = 30\n[ftl]\nspare_factor = 0.25\n[workload]\n\
         pattern = \"sequential\"\nrequests = 200000\nrate_per_s = {rate_per_s}\n"
    );
    let error = try_run(&toml, &in_mode(mode)).unwrap_err();
    let number = |from: &str, to: &str| -> f64 {
        let rest = error.split_once(from).unwrap_or_else(|| panic!("{error}")).1;
        rest.split_once(to).unwrap().0.parse().unwrap()
    };
    assert_eq!(error.contains("more time between them"), model != "fixed", "{error}");
    (number("its capacity ", " times"), number("host page writes and ", " s into"))
}

#[test]
fn a_drive_that_rests_is_worn_out_later() {
    let law = Endurance::Recovery { pe_cycles: 30, law: READY_TABLE2 };
    assert_eq!(worn_out("fixed", 0.0356, "functional").0, 30.0);
    for mode in ["functional", "timed"] {
        // Some five hours, and some five minutes.
        for rate_per_s in [0.0356, 2.0] {
            let (cycles, seconds) = worn_out("ready-table2", rate_per_s, mode);
            let stands = law.cycles(mean_idle_s(seconds, cycles));
            // The message gives whole cycles.
            assert!(
                (cycles - stands).abs() <= 1.0,
                "{mode}: {cycles} cycles at {rate_per_s}/s, not {stands}"
            );
            assert!(cycles > 35.0);
        }
    }
}
