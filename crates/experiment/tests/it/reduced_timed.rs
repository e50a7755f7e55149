//! Deduplication and compression in timed mode: nothing is lost, and both modes decide alike.

use crate::common::cases::draw_any;
use crate::common::interrupted::settings;
use crate::common::reduced::reduced;
use crate::common::{Folder, seeds, without_clock};
use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_config::Resolved;
use floatgate_experiment::{Options, Output, load, run_with};
use serde_json::Value;
use std::collections::BTreeMap;

const CASES: u64 = 120;

type Overrides = Vec<(&'static str, String)>;

/// Any drive with a reducer, and its text.
fn any_reduced(
    rng: &mut Rng,
    trace: bool,
    file: impl Fn(&str, &str) -> String,
) -> Option<(String, crate::common::cases::Case)> {
    let mut case = draw_any(rng, trace);
    if let Some((text, extension)) = &case.trace {
        let path = file(text, extension);
        case.toml += &format!("file = \"{path}\"\n");
    }
    reduced(rng, &mut case)?;
    Some((case.toml.clone(), case))
}

/// Returns the result of these settings; None if a case does not admit them.
fn loaded(toml: &str, overrides: &Overrides) -> Option<Resolved> {
    let pairs: Vec<_> = overrides.iter().map(|(k, v)| ((*k).to_string(), v.clone())).collect();
    match load(Some(toml), "t.toml", &pairs) {
        Ok(resolved) => Some(resolved),
        Err(e) => {
            let what = e.to_string();
            // Jobs in idle time ask for more free blocks than some cases have; commands for several planes; fio's lack of times.
            let refused = [
                "trigger_free_blocks is",
                "drive.commands.multi_plane",
                "has no times",
                "needs times",
                "throttles by itself",
                "it is undefined which request is throttled",
            ];
            assert!(refused.iter().any(|part| what.contains(part)), "{what}\n{toml}");
            None
        }
    }
}

/// What is running, printed where it panics: an overflow in the engine does not say of which case.
struct Case<'a>(&'a str);

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("while running {}", self.0);
        }
    }
}

/// Runs under the shadow model; none where the trace has no times, or the throttle's few cycles are used up.
fn shadowed(mut resolved: Resolved, options: &Options, what: &str) -> Option<Output> {
    resolved.plan.shadow = true;
    let _case = Case(what);
    match run_with(resolved, options, &mut |_| Ok(())) {
        Ok(output) => Some(output),
        Err(e) if e.to_string().contains("has no times") => None,
        Err(e) if e.to_string().contains("the drive was worn out") => None,
        Err(e) => panic!("{what}: {e}"),
    }
}

/// Any timed drive, arrivals closed and open, with and without a buffer, queues, idle jobs, FLUSH and FUA.
#[test]
fn any_timed_drive_holds_what_was_written() {
    let folder = Folder::new("reduced-timed");
    let (mut seen, mut kinds, mut parts) = (BTreeMap::<String, u64>::new(), [0; 5], 0);
    // 1361: chunks timed out before the end of a request that DRAM delayed, while a die had begun later work.
    for seed in seeds(CASES).chain([1361]) {
        for trace in [false, true] {
            let mut rng = Rng::new(seed, "reduced in time");
            let file = |text: &str, extension: &str| folder.file(&format!("{seed}.{extension}"), text);
            let Some((toml, case)) = any_reduced(&mut rng, trace, file) else { continue };
            let mut bound = Bound::new(100_000_000);
            let mut overrides = loop {
                bound.step();
                let overrides = settings(&mut rng, &case);
                if overrides.iter().any(|(key, _)| *key == "mode") {
                    break overrides;
                }
            };
            let has = |overrides: &Overrides, key: &str| overrides.iter().any(|(k, _)| *k == key);
            let gathers = !toml.contains("[lifetime.reduce]\npolicy = \"dedup\"");
            if gathers && !trace && !has(&overrides, "workload.fua_share") && rng.below(2) == 0 {
                overrides.push(("workload.fua_share", "0.05".into()));
                overrides.push(("workload.flush_every", (5 + rng.below(50)).to_string()));
            }
            if gathers && rng.below(2) == 0 {
                // Shorter than the default: many chunks are programmed before they are full.
                overrides.push(("lifetime.reduce.chunk_timeout_ms", (0.5 + 20.0 * rng.unit()).to_string()));
            }
            let what = format!("seed {seed} trace {trace} {overrides:?}\n{toml}");
            let Some(resolved) = loaded(&toml, &overrides) else { continue };
            let Some(output) = shadowed(resolved, &Options::default(), &what) else { continue };
            let reduce = &output.result["reduce"];
            *seen.entry(reduce["policy"].as_str().unwrap().into()).or_default() += 1;
            parts += reduce["part_chunks"].as_u64().unwrap();
            let closed = overrides.iter().any(|(_, value)| value == "closed");
            let keys = ["drive.buffer.capacity", "workload.fua_share", "ftl.background.policy"];
            let are = [
                closed,
                !closed,
                has(&overrides, keys[0]),
                has(&overrides, keys[1]),
                has(&overrides, keys[2]),
            ];
            kinds.iter_mut().zip(are).for_each(|(n, is)| *n += u64::from(is));
        }
    }
    println!(
        "{seen:?} drives; closed, open, buffer, FUA, idle jobs: {kinds:?}; {parts} chunks before they were full"
    );
    assert!(
        seen.len() == 4 && kinds.iter().all(|&n| n >= CASES / 12) && parts > 0,
        "{seen:?} {kinds:?} {parts}"
    );
}

/// The results that must not depend on time.
fn state(result: &Value) -> String {
    let keys = ["host", "flash", "waf", "gc", "level", "wear", "valid_pages", "reduce"];
    keys.map(|key| format!("{key}: {}", without_clock(result, key))).join("\n")
}

/// In a closed loop without timeouts of chunks: the same programs by cause, the same wear, and the same map. The drives
/// of both modes only differ in the times at which chunks began to gather; the same run from both must therefore give
/// equal results, read by read and victim by victim.
#[test]
fn both_modes_decide_alike() {
    let folder = Folder::new("reduced-modes");
    let mut ran = 0;
    for seed in seeds(CASES / 2) {
        for trace in [false, true] {
            let mut rng = Rng::new(seed, "reduced in both modes");
            let file = |text: &str, extension: &str| folder.file(&format!("{seed}.{extension}"), text);
            let Some((toml, _)) = any_reduced(&mut rng, trace, file) else { continue };
            // The manager decides by time, which differs.
            if toml.contains("policy = \"integrated\"") {
                continue;
            }
            let mut overrides: Overrides = vec![("ftl.collect.mode", "whole-block".to_string())];
            if !toml.contains("[lifetime.reduce]\npolicy = \"dedup\"") {
                overrides.push(("lifetime.reduce.chunk_timeout_ms", "1e12".into()));
            }
            let paths = ["functional", "timed"].map(|mode| format!("{}/{mode}{seed}", folder.path()));
            let functional = saved(&toml, &overrides, &paths[0]);
            let mut in_time = overrides.clone();
            in_time.extend([("mode", "timed".into()), ("workload.arrival", "closed".into())]);
            in_time.push(("workload.queue_depth", (1 + rng.below(40)).to_string()));
            let timed = saved(&toml, &in_time, &paths[1]);
            assert_eq!(state(&functional), state(&timed), "seed {seed} trace {trace}\n{toml}");
            let toml = toml.replace("precondition = \"", "# \"");
            let again = paths.map(|path| {
                overrides.push(("ftl.snapshot", path));
                let resolved = loaded(&toml, &overrides).expect("it is the same drive");
                overrides.pop();
                shadowed(resolved, &Options::default(), &toml).expect("it needs no times").result
            });
            assert_eq!(
                state(&again[0]),
                state(&again[1]),
                "seed {seed} trace {trace}, from what is left\n{toml}"
            );
            ran += 1;
        }
    }
    assert!(ran > CASES / 4, "{ran} ran");
}

/// The result of a run whose drive is saved.
fn saved(toml: &str, overrides: &Overrides, path: &str) -> Value {
    let options = Options { save_drive: Some(path.into()), ..Options::default() };
    let resolved = loaded(toml, overrides).expect("both modes admit it");
    shadowed(resolved, &options, toml).expect("it needs no times").result
}
