//! What the default of a separator does to a user: a plain drive, full, with 7 % to spare, under a mix of programs. None
//! may cost three times what no separation costs.

use crate::common::{Folder, hinted};
use floatgate_base::{Op, Rng};
use floatgate_experiment::{load, run};
use floatgate_ftl::separate::SLOT;

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
