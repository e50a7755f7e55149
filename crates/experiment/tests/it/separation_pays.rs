//! Skewed writes: separators that learn temperatures from the writes alone write less than no separator.

use floatgate_experiment::{load, run};

/// WAF of a drive of 256 MiB at a spare factor of 0.15 after it has settled.
fn waf(separate: &str, collect: &str, workload: &str) -> f64 {
    // Its chunks of 2 MiB are for larger drives: all of them would have the highest count.
    let more = if separate == "sfr" { "chunk_bytes = 65536\n" } else { "" };
    let toml = format!(
        "[drive.geometry]\nblocks_per_plane = 1024\npages_per_block = 64\n[drive.endurance]\npe_cycles = 1000000\n\
         [ftl]\nspare_factor = 0.15\nprecondition = \"random\"\n[ftl.collect]\npolicy = \"{collect}\"\n\
         [ftl.separate]\npolicy = \"{separate}\"\n{more}[workload]\nwarmup_requests = 600000\nrequests = 400000\n{workload}"
    );
    let resolved = load(Some(&toml), "e.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let result = run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}\n{toml}")).result;
    result["waf"].as_f64().unwrap()
}

const HOT_COLD: &str = "pattern = \"hot-cold\"\nhot_share_of_pages = 0.2\nhot_share_of_writes = 0.8\n";
const ZIPF: &str = "pattern = \"zipf\"\nzipf_theta = 0.99\n";

/// Under Zipf's law all gain; two kinds of pages are too few for the finest, unless collection looks at ages too.
#[test]
fn temperature_separators_write_less_than_none() {
    let all = ["hash", "two-level-lru", "bloom", "dac", "sepbit", "fadac", "warcip", "multilog", "eti"];
    for (collect, workload, policies) in [
        ("greedy", ZIPF, [&all[..], &["sfr"]].concat()),
        ("greedy", HOT_COLD, vec!["two-level-lru", "sepbit", "fadac", "warcip", "eti"]),
        (
            "cost-benefit-sqrt",
            HOT_COLD,
            vec!["two-level-lru", "dac", "sepbit", "fadac", "warcip", "multilog", "eti"],
        ),
    ] {
        let none = waf("none", collect, workload);
        println!("{collect} {}: none {none:.3}", workload.lines().next().unwrap());
        for policy in policies {
            let waf = waf(policy, collect, workload);
            println!("  {policy} {waf:.3}");
            assert!(waf < none, "{policy}: {waf}, none: {none}");
        }
    }
}
