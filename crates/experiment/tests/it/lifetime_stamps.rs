//! The time stamps of a trace whose life is forecast: the period with which it repeats, and out-of-order stamps.

use crate::common::Folder;
use floatgate_base::Result;
use floatgate_experiment::{LifetimeOptions, lifetime};
use serde_json::Value;
use std::fmt::Write as _;

/// A life of a year of writes at these seconds, with write amplification given.
fn life(folder: &Folder, name: &str, stamps_s: &[f64], method: &str) -> Result<Value> {
    let mut text = String::new();
    for (i, stamp_s) in stamps_s.iter().enumerate() {
        writeln!(text, "{stamp_s:.3} 0 {} 8 0", i * 8).unwrap();
    }
    let file = folder.file(name, text);
    let waf = if method == "full" { "" } else { "waf = 1.0\n" };
    let toml = format!(
        "[drive.geometry]\nblocks_per_plane = 64\npages_per_block = 32\n[drive.endurance]\npe_cycles = 100\n\
         [lifetime.throttle]\ntarget_years = 0.01\n[lifetime.forecast]\nmethod = \"{method}\"\n{waf}[workload]\nfile = \"{file}\"\n\
         format = \"disksim\"\ntime_unit = \"s\"\n"
    );
    let options = LifetimeOptions::default();
    lifetime(Some(&toml), "t.toml", &[vec![]], &options, &mut |_| Ok(())).map(|mut lives| lives.remove(0))
}

/// A hundred requests, one per 10 s, repeat after 1000 s: as often as an endless stream of them, by any method.
#[test]
fn passes_follow_at_the_mean_rate() {
    let folder = Folder::new("period");
    let stamps: Vec<f64> = (0..100).map(|i| 10.0 * f64::from(i)).collect();
    for method in ["full", "requests", "windows"] {
        let life = life(&folder, "even.disksim", &stamps, method).unwrap();
        assert_eq!(life["pass"]["span_s"], 1000.0, "{method}");
        // 0.01 years hold 315,360 s: a request each 10 s.
        assert_eq!(life["throttle"]["page_writes"], 31_536, "{method}");
        assert_eq!(life["throttle"]["demand_share"], 1.0, "{method}");
        assert_eq!(life["workload"]["stamps_backwards_first"], Value::Null);
    }
}

/// The last pass ends before its busy half: what the host did not request by then is not withheld from it.
#[test]
fn all_is_served_without_a_throttle_wherever_the_last_pass_ends() {
    let folder = Folder::new("part");
    let stamps: Vec<f64> =
        [0.0].into_iter().chain((0..99).map(|i| 60_000.0 + 500.0 * f64::from(i))).collect();
    for method in ["requests", "windows"] {
        let life = life(&folder, "late.disksim", &stamps, method).unwrap();
        assert_eq!(life["throttle"]["demand_share"], 1.0, "{method}");
        // Pages of 4 KiB, each written once per pass.
        assert_eq!(life["pass"]["written_distinct_bytes"], 100 * 4096, "{method}");
    }
}

#[test]
fn stamps_that_run_backwards_are_named() {
    let folder = Folder::new("backwards");
    let one = life(&folder, "one.disksim", &[0.0, 8.0, 5.5, 6.0, 9.0], "windows").unwrap();
    let workload = &one["workload"];
    assert_eq!(workload["stamps_backwards"], 1);
    assert_eq!(workload["stamps_backwards_first"], "line 3");
    assert_eq!(workload["stamps_backwards_s_max"], 2.5);
    let error = life(&folder, "all.disksim", &[9.0, 8.0, 5.5, 5.0], "windows").unwrap_err().to_string();
    let message = "3 of 4 time stamps run backwards, the first in line 2, by at most 2.5 s, and none lies after the first request's; \
                expected requests in the order of their stamps";
    assert!(error.ends_with(message), "{error}");
}
