//! Read disturb: laws of the managers, and what the shadow model finds.

mod common;

use common::{Folder, try_run};
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

/// Blocks are read so often between two reclaims as they stand, whatever is read.
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
    let rrb = run(
        workload,
        &[
            ("drive.disturb.model", "uniform"),
            ("drive.disturb.max_reads", "500"),
            ("ftl.reclaim.policy", "rrb"),
            ("ftl.reclaim.proactive_at", "1.0"),
        ],
    );
    println!("{}", rrb["reclaim"]);
}

#[test]
fn every_manager_holds_on_any_workload() {
    let folder = Folder::new("read-disturb");
    let _ = &folder;
    for seed in 0..40u64 {
        let mut rng = Rng::new(seed, "read disturb");
        for policy in ["none", "baseline", "redftl", "rrb", "redftl-plus", "redftl-plus-plus"] {
            let reads = 24 + rng.below(200);
            let share = 0.5 + 0.5 * rng.unit();
            let mut toml = format!(
                "{DRIVE}[drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = {reads}\n[ftl.reclaim]\npolicy = \"{policy}\"\n"
            );
            if policy == "redftl" {
                toml += "replica_pages = 4\n";
            }
            toml += &format!(
                "[workload]\nrequests = 20000\nread_share = {share}\ntrim_share = {}\npattern = \"zipf\"\nzipf_theta = {}\n",
                0.5 * (1.0 - share),
                rng.unit()
            );
            let mut resolved = floatgate_experiment::load(Some(&toml), "t.toml", &[]).unwrap();
            resolved.plan.seed = seed;
            resolved.plan.shadow = true;
            let output = floatgate_experiment::run(resolved, &mut |_| Ok(()))
                .unwrap_or_else(|e| panic!("{policy} seed {seed}: {e}\n{toml}"));
            if seed == 0 {
                println!("{policy}: {}", output.result["reclaim"]);
            }
        }
    }
}
