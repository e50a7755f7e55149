//! Runs that deduplicate or compress are interrupted and resumed; drives with shared content and chunks continue under
//! any reducer.

use crate::common::cases::{Case, draw_any};
use crate::common::interrupted::{figures, interrupted, settings};
use crate::common::policies;
use crate::common::reduced::reduced;
use crate::common::{Folder, seeds, try_run, without_run};
use floatgate_base::Rng;
use floatgate_config::Resolved;
use floatgate_experiment::{Options, load, run_with};
use floatgate_lifetime::reduce;
use floatgate_sim::Simulation;
use serde_json::Value;
use std::collections::BTreeMap;

const CASES: u64 = 20;

/// Any drive with a reducer; its trace lies in the folder.
fn any_reduced(rng: &mut Rng, trace: bool, folder: &Folder, name: u64) -> Option<Case> {
    let mut case = draw_any(rng, trace);
    if let Some((text, extension)) = &case.trace {
        let path = folder.file(&format!("{name}.{extension}"), text);
        case.toml += &format!("file = \"{path}\"\n");
    }
    reduced(rng, &mut case)?;
    Some(case)
}

fn resolved(toml: &str, overrides: &[(&str, String)]) -> Result<Resolved, String> {
    let pairs: Vec<_> = overrides.iter().map(|(k, v)| ((*k).to_string(), v.clone())).collect();
    load(Some(toml), "t.toml", &pairs).map_err(|e| e.to_string())
}

/// Settings that some cases do not admit, and ends that some come to by themselves.
const NOT_HERE: [&str; 8] = [
    "throttles by itself",
    "goes by the time",
    "trigger_free_blocks is",
    "drive.commands.multi_plane",
    "has no times",
    "the drive was worn out",
    "it is undefined which request is throttled",
    "no block is ever disturbed by",
];

#[test]
fn any_reduced_run_interrupted_anywhere_ends_as_if_it_had_never_stopped() {
    let folder = Folder::new("reduced-interrupted");
    let (mut stops, mut seen, mut timed) = ([0; 6], BTreeMap::<String, u64>::new(), 0);
    for seed in seeds(CASES) {
        for trace in [false, true] {
            let mut rng = Rng::new(seed, "reduced and interrupted");
            let Some(case) = any_reduced(&mut rng, trace, &folder, seed) else { continue };
            let overrides = settings(&mut rng, &case);
            let whole = match try_run(&case.toml, &overrides) {
                Ok(whole) => whole,
                Err(e) if NOT_HERE.iter().any(|part| e.contains(part)) => continue,
                Err(e) => panic!("seed {seed} {overrides:?}: {e}\n{}", case.toml),
            };
            let resolved = resolved(&case.toml, &overrides).unwrap();
            let simulation = Simulation::new(resolved.plan.clone()).unwrap();
            let simulation = interrupted(simulation, &resolved, &mut rng, &mut stops, (seed, &case.toml));
            let resumed = without_run(figures(&resolved, simulation));
            let policy = whole.result["reduce"]["policy"].as_str().unwrap().to_string();
            assert_eq!(resumed, without_run(whole.result), "seed {seed} {overrides:?}\n{}", case.toml);
            *seen.entry(policy).or_default() += 1;
            timed += u64::from(overrides.iter().any(|(key, _)| *key == "mode"));
        }
    }
    println!("{seen:?} runs, {timed} of them timed; stops by phase {stops:?}");
    assert!(seen.len() == 4 && timed > CASES / 4 && stops[4] > CASES, "{seen:?} {timed} {stops:?}");
}

/// Reducers that a drive does not admit: an index of less than a block, few reads that a block endures, no protection;
/// and FLUSH where nothing gathers.
const REFUSED: [&str; 6] = [
    "has no times",
    "goes by the time",
    "is smaller than a block",
    "is read as a whole",
    "would lose them in a power cut",
    "has no effect without a buffer",
];

/// Runs and saves the drive, under the shadow model.
fn saving(toml: &str, overrides: &[(&str, String)], path: &str) -> Result<Value, String> {
    let options = Options { save_drive: Some(path.into()), ..Options::default() };
    let mut resolved = resolved(toml, overrides)?;
    resolved.plan.shadow = true;
    run_with(resolved, &options, &mut |_| Ok(())).map(|output| output.result).map_err(|e| e.to_string())
}

/// The text of a case without its reducer, and the text of the reducer.
fn split(toml: &str) -> (String, String) {
    let at = toml.find("[lifetime.reduce]").unwrap();
    (toml[..at].to_string(), toml[at..].to_string())
}

/// A value that the text of a reducer gives to one of its keys.
fn value_of<'a>(reducer: &'a str, key: &str) -> Option<&'a str> {
    reducer.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))
}

/// A drive with shared content and chunks continues in a run with any reducer, or with none. The shadow model, which
/// learns the content from the file, verifies every read, and the audits at the ends pass. The second run leaves the
/// drive to a third one.
#[test]
fn a_drive_with_chunks_and_shared_content_is_taken_over_by_any_reducer() {
    let folder = Folder::new("reduced-taken-over");
    let mut pairs = BTreeMap::<(String, String), u64>::new();
    for seed in seeds(2 * CASES) {
        let mut rng = Rng::new(seed, "reduced and taken over");
        let Some(case) = any_reduced(&mut rng, seed % 2 == 0, &folder, seed) else { continue };
        let (plain, first) = split(&case.toml);
        let path = format!("{}/{seed}-0.drive", folder.path());
        match saving(&case.toml, &[], &path) {
            Ok(_) => {}
            Err(e) if e.contains("has no times") => continue,
            Err(e) => panic!("seed {seed}: {e}\n{}", case.toml),
        }
        let plain =
            plain.replace("precondition = \"", "# \"").replace("read_share = 0\n", "read_share = 0.3\n");
        let (mut path, mut before) = (path, value_of(&first, "policy").unwrap().to_string());
        let mut kind = ["chunk_pages", "repack"].map(|key| value_of(&first, key).map(str::to_string));
        for step in 1..=2 {
            let info = policies::row(&mut rng, &reduce::SLOT);
            let settings = policies::drawn(&mut rng, &reduce::SLOT, info);
            let mut second = policies::toml(&reduce::SLOT, &settings);
            // Chunks on the drive are of one kind.
            for (key, kept) in ["chunk_pages", "repack"].into_iter().zip(&mut kind) {
                if let Some(value) = value_of(&second, key).map(str::to_string) {
                    let usual = if key == "repack" { "true".into() } else { value.clone() };
                    let kept = kept.get_or_insert(usual);
                    second = second.replace(&format!("{key} = {value}"), &format!("{key} = {kept}"));
                }
            }
            let next = format!("{}/{seed}-{step}.drive", folder.path());
            let toml = format!("{plain}{second}");
            match saving(&toml, &[("ftl.snapshot", path.clone())], &next) {
                Ok(_) => {}
                Err(e) if REFUSED.iter().any(|part| e.contains(part)) => break,
                Err(e) => panic!("seed {seed}, step {step} after {before}: {e}\n{toml}"),
            }
            *pairs.entry((before, info.name.to_string())).or_default() += 1;
            (path, before) = (next, format!("\"{}\"", info.name));
        }
    }
    println!("{pairs:?}");
    assert!(pairs.len() >= 13, "each after each but none after nothing: {pairs:?}");
}

const DRIVE: &str = "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n[ftl]\nspare_factor = 0.3\n[workload]\n\
                     requests = 2000\ncompressed_share = 0.2\n[lifetime.reduce]\n";

#[test]
fn chunks_of_another_kind_are_refused() {
    let folder = Folder::new("other-chunks");
    let path = format!("{}/a.drive", folder.path());
    saving(&format!("{DRIVE}policy = \"compress\"\nchunk_pages = 4\n"), &[], &path).unwrap();
    let from = |reducer: &str| {
        let toml = format!("{DRIVE}{reducer}");
        try_run(&toml, &[("ftl.snapshot", path.clone())]).map(|_| ()).map_err(|e| e.to_string())
    };
    for (reducer, message) in [
        (
            "policy = \"compress\"\nchunk_pages = 8\n",
            "the saved drive holds chunks made with 4; expected lifetime.reduce.chunk_pages = 4",
        ),
        (
            "policy = \"both\"\nchunk_pages = 3\n",
            "the saved drive holds chunks made with 4; expected lifetime.reduce.chunk_pages = 4",
        ),
        (
            "policy = \"compress\"\nrepack = false\n",
            "holds chunks made with true; expected lifetime.reduce.repack = true",
        ),
    ] {
        let error = from(reducer).unwrap_err();
        println!("{error}");
        assert!(error.starts_with(&format!("{path}: ")) && error.contains(message), "{error}");
    }
    for reducer in ["policy = \"both\"\n", "policy = \"dedup\"\n", "policy = \"none\"\n"] {
        from(reducer).unwrap_or_else(|e| panic!("{reducer}: {e}"));
    }
}
