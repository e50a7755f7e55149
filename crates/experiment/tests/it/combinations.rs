//! Any policies of all slots at once, on a workload with program contexts, streams, predicted lives and content. Either the
//! combination is refused, or it runs under the shadow model without a fault. From a snapshot it goes on as if it had never
//! stopped.
//!
//! `FLOATGATE_SEED=n` repeats one case, `FLOATGATE_CASES=n` runs so many.

use crate::common::hinted::{self, Row};
use crate::common::interrupted::{figures, interrupted};
use crate::common::policies::{has, row};
use crate::common::{Folder, without_run};
use floatgate_base::{Acts, Op, Rng, Slot};
use floatgate_config::Resolved;
use floatgate_config::slot_types::SLOTS;
use floatgate_experiment::{load, run};
use floatgate_sim::Simulation;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Default seeds.
const CASES: u64 = 240;
/// Pages that the workload uses; all drives have more.
const PAGES: u64 = 1600;
/// Ends of runs that are no fault of the combination.
const ENDS: [&str; 2] = ["the drive was worn out", "no free block is left"];

/// Programs that write as `hinted::programs` do, and read pages that were written before, some of them often. Between two
/// bursts the drive is idle for up to a fifth of a second.
fn requests(seed: u64) -> Vec<(i64, Row)> {
    let mut rng = Rng::new(seed, "combined workload");
    let (mut now_ns, mut rows) = (0, Vec::new());
    for (i, one) in hinted::programs(seed, 6, PAGES, 2500).into_iter().enumerate() {
        rows.push((now_ns, one));
        now_ns += 200_000;
        for _ in 0..rng.below(3) {
            let page = rng.below(PAGES).min(rng.below(PAGES)) / 8 * (1 + rng.below(8));
            rows.push((now_ns, Row { op: Op::Read, page, ..one }));
            now_ns += 100_000;
        }
        if i % 12 == 11 {
            now_ns += rng.below(200_000_000) as i64;
        }
    }
    rows
}

/// Draws what is no policy.
fn shape(rng: &mut Rng) -> Vec<(String, String)> {
    let superblocks = rng.below(3) == 0;
    let draws = [
        ("drive.buffer.capacity", ["0 B", "64 KiB"][rng.below(2) as usize]),
        ("ftl.collect.scope", ["plane", "superblock"][usize::from(superblocks)]),
        ("ftl.allocation.mode", if !superblocks && rng.below(4) == 0 { "static" } else { "dynamic" }),
        ("drive.plp", ["true", "false"][usize::from(rng.below(4) == 0)]),
        ("ftl.mapping_bytes", ["4096", "1024"][usize::from(rng.below(4) == 0)]),
    ];
    draws.map(|(key, value)| (key.into(), value.into())).to_vec()
}

/// Slots whose policies need what another slot or key gives. All cases but one in eight leave them at their defaults where
/// it is missing, since such refusals would leave few that run.
fn has_what_it_needs(slot: &Slot, timed: bool, chosen: &[(String, String)]) -> bool {
    let is = |key: &str, value: &str| chosen.iter().any(|(k, v)| k == key && v == value);
    match slot.key {
        "ftl.reclaim" => !is("drive.disturb.model", "none"),
        "drive.buffer" => !is("drive.buffer.capacity", "0 B") && !is("drive.disturb.model", "none"),
        "ftl.dispatch" => is("ftl.separate.policy", "none") && is("ftl.allocation.mode", "dynamic"),
        _ => timed || slot.acts != Acts::Timed,
    }
}

/// Draws a policy for every slot; each slot has its default in one case of three.
fn draw(rng: &mut Rng) -> Vec<(String, String)> {
    let mut out = shape(rng);
    let (timed, orderly) = (rng.below(2) == 0, rng.below(8) > 0);
    out.push(("mode".into(), if timed { "timed" } else { "functional" }.into()));
    // What others need comes first.
    let mut slots: Vec<&Slot> = SLOTS.to_vec();
    slots.sort_by_key(|slot| !["drive.disturb", "ftl.separate"].contains(&slot.key));
    for slot in slots {
        let first = rng.below(3) == 0 || orderly && !has_what_it_needs(slot, timed, &out);
        let drawn = row(rng, slot);
        let info = if first { &slot.policies[0] } else { drawn };
        let mut set = |key: &str, value: String| out.push((key.to_string(), value));
        set(&format!("{}.{}", slot.key, slot.selector), info.name.into());
        if slot.key == "lifetime.throttle" && info.name != "none" {
            set("lifetime.throttle.target_years", (0.001 * (1.0 + 50.0 * rng.unit())).to_string());
            let times =
                [("period_s", "0.05"), ("unit_window_s", "0.2"), ("history_s", "100"), ("burst_s", "0.2")];
            for (name, value) in times.map(|(name, value)| (format!("lifetime.throttle.{name}"), value)) {
                if has(info.name, &name) {
                    set(&name, value.into());
                }
            }
        }
        // Blocks are small: as many replicas as by default would not fit.
        if info.params.iter().any(|param| param.name == "replica_pages") {
            set(&format!("{}.replica_pages", slot.key), "4".into());
        }
        if slot.key == "drive.disturb" && info.name != "none" {
            set("drive.disturb.max_reads", (60 + rng.below(200)).to_string());
        }
    }
    out
}

fn base(file: &str, seed: u64) -> String {
    format!(
        "seed = {}\n[drive.geometry]\nchannels = 2\nchips_per_channel = 2\nblocks_per_plane = 72\npages_per_block = 16\n\
         page_bytes = 4096\n[drive.endurance]\npe_cycles = 100000\n[ftl]\nspare_factor = 0.5\nprecondition = \"none\"\n\
         [workload]\nfile = \"{file}\"\nduplicate_share = 0.2\ncompressed_share = 0.6\n",
        seed + 1
    )
}

/// The reason of a refusal without its place, and with `N` for each number.
fn reason(error: &str) -> String {
    let text = error.split_once(": ").map_or(error, |(_, text)| text);
    let mut out = String::new();
    for c in text.split("; expected").next().unwrap_or_default().chars() {
        match c {
            '0'..='9' if out.ends_with('N') => {}
            '0'..='9' => out.push('N'),
            c => out.push(c),
        }
    }
    out
}

/// Runs a case; none if it is refused or ends early for a reason that is no fault.
fn check(resolved: &Resolved, toml: &str, seed: u64, stops: &mut [u64; 6]) -> Result<Option<String>, String> {
    let mut shadowed = resolved.clone();
    shadowed.plan.shadow = true;
    let whole = match run(shadowed, &mut |_| Ok(())) {
        Ok(output) => without_run(output.result),
        Err(e) if ENDS.iter().any(|end| e.to_string().contains(end)) => return Ok(None),
        Err(e) => return Err(e.to_string()),
    };
    if seed.is_multiple_of(3) {
        let simulation = Simulation::new(resolved.plan.clone()).map_err(|e| e.to_string())?;
        let mut rng = Rng::new(seed, "stops");
        let simulation = interrupted(simulation, resolved, &mut rng, stops, (seed, toml));
        let resumed = without_run(figures(resolved, simulation));
        if resumed != whole {
            return Err("it does not go on from a snapshot as if it had never stopped".into());
        }
    }
    Ok(Some(whole))
}

#[test]
fn any_policies_together_lose_nothing_or_are_refused_with_a_reason() {
    let folder = Folder::new("combinations");
    let (mut refused, mut ran, mut stops) = (BTreeMap::<String, u64>::new(), 0, [0; 6]);
    let mut seen = BTreeSet::new();
    for seed in crate::common::seeds_or_one(CASES) {
        let mut rng = Rng::new(seed, "combinations");
        let file = hinted::file_at(&folder, &format!("{seed}.parquet"), &requests(seed));
        let (toml, settings) = (base(&file, seed), draw(&mut rng));
        let resolved = match load(Some(&toml), "e.toml", &settings) {
            Ok(resolved) => resolved,
            Err(e) => {
                *refused.entry(reason(&e.to_string())).or_default() += 1;
                continue;
            }
        };
        let checked = catch_unwind(AssertUnwindSafe(|| check(&resolved, &toml, seed, &mut stops)));
        match checked.unwrap_or_else(|_| Err("the engine panicked, as said above".into())) {
            Ok(result) => {
                ran += u64::from(result.is_some());
                seen.extend(settings);
            }
            Err(what) => panic!("FLOATGATE_SEED={seed}: {what}\n{settings:?}\n{toml}"),
        }
        std::fs::remove_file(&file).unwrap();
    }
    println!("{ran} ran, refused {refused:#?}");
    let cases = crate::common::seeds_or_one(CASES).count() as u64;
    if cases < CASES {
        return;
    }
    assert!(
        ran > cases / 2 && stops.iter().sum::<u64>() > cases,
        "{ran} of {cases} ran, stops by phase {stops:?}"
    );
    let missing = SLOTS.iter().flat_map(|slot| {
        let key = format!("{}.{}", slot.key, slot.selector);
        slot.policies.iter().map(move |info| (key.clone(), info.name.to_string()))
    });
    let missing: Vec<_> = missing.filter(|one| !seen.contains(one)).collect();
    // Rare ones are drawn in longer tests only.
    assert!(missing.len() < 5 && (missing.is_empty() || cases < 10 * CASES), "no case ran with {missing:?}");
}
