//! Forecasts of small drives compared with the same drives run until they are worn out, with other random draws. The
//! first block, the spare blocks and the average block each wear out within the stated interval in at least 183 of 200
//! cases.

use crate::common::{Folder, number, run_ok, try_lifetime};
use floatgate_base::Rng;
use floatgate_ftl::level;
use serde_json::Value;
use std::fmt::Write as _;

/// A life that a forecast states: its key, and that of its interval.
const LIVES: [(&str, &str); 3] = [
    ("years_first_block", "years_first_block_range"),
    ("years_spare_blocks", "years_spare_blocks_range"),
    ("years", "years_range"),
];

/// A drive of a few hundred blocks under a workload that wears it out in hours.
struct Drive {
    toml: String,
    kind: &'static str,
}

const KINDS: [&str; 6] = ["uniform", "zipf", "hot-cold", "cyclic", "growing", "at-rest"];

fn random_drive(seed: u64, folder: &Folder) -> Drive {
    let mut rng = Rng::new(seed, "truth of lives");
    let (blocks, pages_per_block) = (96 + rng.below(160), 16 << rng.below(2));
    let (cycles, spare) = (300 + rng.below(1200), 0.1 + 0.2 * rng.unit());
    let victim = ["greedy", "cost-benefit", "fifo", "d-choices"][rng.below(4) as usize];
    // read-balance requires a second chip.
    let levels: Vec<_> = level::POLICIES.iter().filter(|info| info.name != "read-balance").collect();
    let level = levels[rng.below(levels.len() as u64) as usize].name;
    let (pages, rate) = (blocks * pages_per_block, 50);
    let logical = (pages as f64 * (1.0 - spare)) as u64;
    // Most forecasts see the whole life in their laps, a third of them a small part of it.
    let lap = if rng.below(3) == 0 { 32 * pages } else { 1 << 21 };
    // Each page write programs at least one page.
    let target_years = 1.2 * (pages * cycles) as f64 / rate as f64 / (8760.0 * 3600.0);
    let kind = KINDS[rng.below(KINDS.len() as u64) as usize];
    let trim_share = if rng.below(2) == 0 { 0.0 } else { 0.1 };
    let mut toml = format!(
        "[drive.geometry]\nblocks_per_plane = {blocks}\npages_per_block = {pages_per_block}\n\
         [drive.endurance]\npe_cycles = {cycles}\n[ftl]\nspare_factor = {spare}\n\
         [ftl.collect]\npolicy = \"{victim}\"\n[ftl.level]\npolicy = \"{level}\"\n\
         [lifetime.throttle]\ntarget_years = {target_years}\n\
         [lifetime.forecast]\nlap_programs_min = {lap}\nclose_up_requests = 0\n[workload]\n"
    );
    match kind {
        "uniform" | "zipf" | "hot-cold" => writeln!(
            toml,
            "pattern = \"{kind}\"\nrate_per_s = {rate}\nrequests = 20000\ntrim_share = {trim_share}"
        ),
        _ => {
            let trace = trace(&mut rng, kind, logical, (rate, trim_share));
            writeln!(toml, "file = \"{}\"", folder.file(&format!("{seed}.iolog"), trace))
        }
    }
    .unwrap();
    Drive { toml, kind }
}

/// A trace of three drive writes: one range after the other, ever more of the drive, or a fifth of it.
fn trace(rng: &mut Rng, kind: &str, logical: u64, (rate, trim_share): (u64, f64)) -> String {
    let mut text = String::from("fio version 3 iolog\n0 /dev/d add\n0 /dev/d open\n");
    let requests = 3 * logical;
    for i in 0..requests {
        let page = match kind {
            "cyclic" => i % (2 * logical / 3),
            "growing" => rng.below(logical / 4 + (logical * 3 / 4) * i / requests),
            _ => rng.below(logical / 5),
        };
        let op = if rng.unit() < trim_share { "trim" } else { "write" };
        writeln!(text, "{} /dev/d {op} {} 4096", i * 1_000_000 / rate, page * 4096).unwrap();
    }
    text
}

fn life(toml: &str, seed: u64, method: &str) -> Value {
    let settings = [("seed", seed.to_string()), ("lifetime.forecast.method", method.to_owned())];
    let overrides = settings.map(|(key, value)| (key.to_owned(), value)).to_vec();
    try_lifetime(toml, &[overrides]).unwrap_or_else(|e| panic!("{e}\n{toml}")).remove(0)
}

/// Returns forecast and interval relative to the truth; None where the forecast is unknown.
fn offs(truth: &Value, forecast: &Value) -> [Option<[f64; 3]>; 3] {
    LIVES.map(|(key, range)| {
        let of = |life: &Value, key: &str| life["lifetime"][key].as_f64();
        let truth = of(truth, key).unwrap_or_else(|| panic!("{key} of the truth: {}", truth["lifetime"]));
        let stated = of(forecast, key)?;
        let ends = [0, 1].map(|i| forecast["lifetime"][range][i].as_f64().unwrap_or(stated));
        Some([stated, ends[0], ends[1]].map(|years| years / truth - 1.0))
    })
}

#[test]
#[ignore = "takes long: `make long` runs it"]
fn blocks_wear_out_within_the_stated_interval() {
    let folder = Folder::new("truth-of-lives");
    let (mut known, mut outside) = ([0usize; 3], [0usize; 3]);
    for seed in crate::common::seeds(6) {
        let drive = random_drive(seed, &folder);
        let truth = life(&drive.toml, seed + 1_000_000, "full");
        let forecast = life(&drive.toml, seed, "windows");
        let offs = offs(&truth, &forecast);
        let leveling = &forecast["method"]["leveling"];
        let laps = &forecast["method"]["laps"];
        println!(
            "seed {seed}, {}: {offs:.4?}; {leveling}; {laps} laps; {}",
            drive.kind,
            drive.toml.replace('\n', "; ")
        );
        for (i, off) in offs.iter().enumerate() {
            known[i] += usize::from(off.is_some());
            outside[i] += usize::from(off.is_some_and(|[_, low, high]| low > 1e-6 || high < -1e-6));
        }
    }
    println!("known {known:?}, outside {outside:?} (first block, spare blocks, average block)");
    for (known, outside) in known.iter().zip(outside) {
        assert!(200 * outside <= (17 * known).max(200), "{outside} of {known} outside the stated interval");
    }
}

/// After a run as long as the forecast life of the first block, one block has been erased as often as blocks endure;
/// likewise for the spare blocks.
#[test]
fn full_lives_say_when_blocks_wear_out() {
    for (level, pattern) in [("none", "hot-cold"), ("gap", "uniform"), ("hot-cold-swap", "zipf")] {
        let toml = format!(
            "[drive.geometry]\nblocks_per_plane = 128\npages_per_block = 16\n[drive.endurance]\npe_cycles = 300\n\
             [ftl]\nspare_factor = 0.2\nprecondition = \"sequential\"\n[ftl.level]\npolicy = \"{level}\"\n\
             [workload]\npattern = \"{pattern}\"\nrate_per_s = 50\nrequests = 1000\n\
             [lifetime.throttle]\ntarget_years = 4e-4\n[lifetime.forecast]\nclose_up_requests = 0\n"
        );
        let truth = life(&toml, 7, "full");
        let ran_for = |years: f64| {
            let requests = ("workload.requests", format!("{:.0}", years * 8760.0 * 3600.0 * 50.0));
            run_ok(&toml, &[requests, ("seed", "7".into())]).result
        };
        let first = ran_for(number(&truth, "/lifetime/years_first_block"));
        let most = number(&first, "/wear/erases_max");
        assert!((most - 300.0).abs() <= 1.0, "{level}: {most}");
        let spare_years = number(&truth, "/lifetime/years_spare_blocks");
        let spare = number(&ran_for(spare_years), "/lifetime/years_spare_blocks");
        assert!((spare / spare_years - 1.0).abs() < 0.005, "{level}: {spare} {spare_years}");
    }
}
