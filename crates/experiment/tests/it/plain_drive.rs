//! What the default of a policy does to a user: a plain drive, full, with 7 % to spare, under a mixed load. None may cost
//! three times what the default of its slot costs.

use crate::common::{Folder, hinted};
use floatgate_base::{Op, Rng};
use floatgate_config::slot_types::SLOTS;
use floatgate_experiment::{load, run};
use floatgate_ftl::separate::SLOT;
use serde_json::Value;

const BLOCKS: u64 = 512;
const PAGES_PER_BLOCK: u64 = 64;
/// Pages that the host sees; a little less than 93 % of the flash.
const PAGES: u64 = BLOCKS * PAGES_PER_BLOCK * 93 / 100;
const COSTS_MOST: f64 = 3.0;

/// Writes of four programs: a log that goes round, a hot twentieth, a warm quarter, and 5 % anywhere.
fn mixed() -> Vec<hinted::Row> {
    let mut rng = Rng::new(1, "mixed programs");
    let hot = PAGES / 20;
    let warm = PAGES / 4;
    let mut at = 0;
    let mut row = |_| {
        let (page, context) = match rng.below(100) {
            0..5 => (rng.below(hot), 1),
            5..10 => (hot + rng.below(warm), 2),
            10..95 => {
                at += 1;
                (hot + warm + at % hot, 3)
            }
            _ => (rng.below(PAGES), 4),
        };
        let life = 60 << context;
        hinted::Row { op: Op::Write, page, pages: 1, context, stream: context as u32, life }
    };
    (0..30_000).map(&mut row).collect()
}

/// WAF under a separator with further settings.
fn waf(file: &str, separate: &str, more: &str) -> f64 {
    let toml = format!(
        "[drive.geometry]\nblocks_per_plane = {BLOCKS}\npages_per_block = {PAGES_PER_BLOCK}\n\
         [drive.endurance]\npe_cycles = 1000000\n[ftl]\nspare_factor = 0.07\nprecondition = \"random\"\n\
         [ftl.separate]\npolicy = \"{separate}\"\n{more}[workload]\nfile = \"{file}\"\n"
    );
    let resolved = load(Some(&toml), "e.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let result = run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}\n{toml}")).result;
    result["waf"].as_f64().unwrap()
}

#[test]
fn no_default_of_a_separator_costs_three_times_none() {
    let folder = Folder::new("plain");
    let file = hinted::file(&folder, "mixed.parquet", &mixed());
    let none = waf(&file, "none", "");
    println!("none {none:.2}");
    for info in SLOT.policies {
        let waf = waf(&file, info.name, "");
        println!("{} {waf:.2}", info.name);
        assert!(waf < COSTS_MOST * none, "{}: {waf}, none: {none}", info.name);
    }
    // The rule of chapter 5 does, of which the row of its parameter and the summary of a run warn.
    let paper = waf(&file, "pds", "update_blocks_last = 1\n");
    println!("pds as in the paper {paper:.2}");
    assert!(paper > COSTS_MOST * none, "{paper}, none: {none}");
}

/// A drive in time of which four fifths are never written again, and whose blocks endure few reads.
const SURROUNDINGS: &str = "\
mode = \"timed\"\n\
[drive.geometry]\nchannels = 2\nchips_per_channel = 2\nblocks_per_plane = 80\npages_per_block = 32\n\
[drive.endurance]\npe_cycles = 3000\n[drive.buffer]\ncapacity = \"64KiB\"\n[drive.disturb]\nmodel = \"tlc-opt\"\nmax_reads = 200\n\
[ftl]\nspare_factor = 0.07\nprecondition = \"random\"\n\
[workload]\nrequests = 120000\npattern = \"hot-cold\"\nhot_share_of_pages = 0.2\n\
hot_share_of_writes = 1\nduplicate_share = 0.1\ncompressed_share = 0.9\narrival = \"open\"\nrate_per_s = 300\n";

/// Flash pages written for each host page, and seconds in which the flash is busy, under a policy.
fn costs(key: &str, name: &str) -> [f64; 2] {
    let reads = if key.starts_with("ftl.reclaim") { "0.98" } else { "0.5" };
    let overrides =
        [(key, name), ("workload.read_share", reads)].map(|(key, value)| (key.into(), value.into()));
    let resolved =
        load(Some(SURROUNDINGS), "e.toml", &overrides).unwrap_or_else(|e| panic!("{key} {name}: {e}"));
    let result = run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{key} {name}: {e}")).result;
    ["/waf_bytes", "/flash/time_s/total"].map(|place| result.pointer(place).and_then(Value::as_f64).unwrap())
}

/// Separators are above, and models of flash cost nothing. Throttles hold writes back on purpose, and say for how long.
#[test]
#[ignore = "takes long: `make long` runs it"]
fn no_default_of_any_other_policy_costs_three_times_that_of_its_slot() {
    let mut tried = 0;
    for slot in
        SLOTS.iter().filter(|slot| !["ftl.separate", "drive.endurance", "drive.disturb"].contains(&slot.key))
    {
        let key = format!("{}.{}", slot.key, slot.selector);
        let usual = costs(&key, slot.policies[0].name);
        // Jobs by context need contexts, and work less than those of `idle` (idle_prediction.rs).
        for info in slot.policies[1..].iter().filter(|info| info.name != "by-context") {
            let here = costs(&key, info.name);
            println!("{key} {}: {here:.2?}, by default {usual:.2?}", info.name);
            for (cost, usual) in here.iter().zip(usual) {
                assert!(*cost < COSTS_MOST * usual, "{key} {}: {here:?}, by default {usual:?}", info.name);
            }
            tried += 1;
        }
    }
    assert!(tried > 25, "{tried}");
}
