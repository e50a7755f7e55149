//! Hot reads of timed runs against a count of the trace itself.

use crate::common::{Folder, try_run};
use floatgate_base::Rng;
use serde_json::Value;
use std::collections::BTreeMap;

const DRIVE: &str = "mode = \"timed\"\n[drive.geometry]\nchannels = 2\nchips_per_channel = 2\nblocks_per_plane = 24\n\
                     pages_per_block = 16\n[ftl]\nspare_factor = 0.3\nprecondition = \"none\"\n\
                     allocation = { mode = \"static\" }\n";

/// Pages that are written first, each of a plane of its own in turn.
const PAGES: u64 = 400;

/// Generates reads of one or two pages, some of which are never written; returns the expected hot reads, in all and by
/// chip.
fn reads(rng: &mut Rng) -> (String, u64, [u64; 4]) {
    let (mut trace, mut times) = (String::new(), BTreeMap::<u64, u64>::new());
    let (mut hot, mut by_chip) = (0, [0; 4]);
    for page in 0..PAGES {
        trace += &format!("{},host,0,Write,{},4096,0\n", 100 * page, 4096 * page);
    }
    for turn in 0..4000 {
        let most = 1 + rng.below(PAGES + 100);
        let page = rng.below(most);
        let time = 100_000 + 1000 * turn;
        trace += &format!("{time},host,0,Read,{},{},0\n", 4096 * page, 4096 * (1 + rng.below(2)));
        let before = times.entry(page).or_default();
        *before += 1;
        if *before >= 5 {
            hot += 1;
            // Planes are numbered with the channel as the lowest part; chips of a channel follow one another.
            let plane = page % 4;
            by_chip[(plane % 2 * 2 + plane / 2) as usize] += u64::from(page < PAGES);
        }
    }
    (trace, hot, by_chip)
}

#[test]
fn hot_reads_are_those_that_the_trace_repeats() {
    let folder = Folder::new("hot-reads");
    for seed in 0..10 {
        let (trace, hot, by_chip) = reads(&mut Rng::new(seed, "hot reads"));
        let file = folder.file(&format!("{seed}.csv"), &trace);
        let toml = format!("{DRIVE}[workload]\nfile = \"{file}\"\nformat = \"msr\"\n");
        let ways: [&[(&str, &str)]; 3] = [
            &[("workload.arrival", "closed"), ("workload.queue_depth", "8")],
            &[("workload.arrival", "open")],
            &[("workload.arrival", "closed"), ("host.outstanding_max", "3")],
        ];
        for way in ways {
            let settings: Vec<_> = way.iter().map(|(key, value)| (*key, (*value).to_string())).collect();
            let result = try_run(&toml, &settings).unwrap_or_else(|e| panic!("{way:?}: {e}")).result;
            let hot_reads = &result["hot_reads"];
            assert_eq!(hot_reads["latency_us"]["count"].as_u64(), Some(hot), "seed {seed}, {way:?}");
            assert_eq!(hot_reads["by_chip"], serde_json::json!(by_chip), "seed {seed}, {way:?}");
            let mean = |place: &str| result.pointer(place).and_then(Value::as_f64).unwrap();
            let (least, most) = (mean("/latency_us/read/cdf/us/0"), mean("/latency_us/read/max"));
            assert!((least..=most).contains(&mean("/hot_reads/latency_us/mean")), "seed {seed}, {way:?}");
        }
    }
}

#[test]
fn functional_mode_has_none() {
    let toml = "[workload]\nrequests = 1000\nread_share = 0.5\n[drive.geometry]\nblocks_per_plane = 32\n";
    assert_eq!(try_run(toml, &[]).unwrap().result["hot_reads"], Value::Null);
}
