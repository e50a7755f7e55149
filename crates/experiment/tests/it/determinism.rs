//! Same experiment, seed and trace: byte-equal results, whatever the way to them.

use crate::common::cases::draw_any;
use crate::common::{Folder, run_ok, without_run};
use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_experiment::{Options, Output, load, run, run_with};
use floatgate_sim::{Phase, Plan, Simulation};
use std::io::Write as _;

/// Random experiments of each kind.
const CASES: u64 = 40;

/// What must be equal: all of the result but its `run` table, and the rows.
fn figures(output: &Output) -> (String, String) {
    (without_run(output.result.clone()), format!("{:?}", output.rows))
}

fn run_plan(toml: &str, change: impl Fn(&mut Plan)) -> (String, String) {
    let mut resolved = load(Some(toml), "test.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
    change(&mut resolved.plan);
    figures(&run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}\n{toml}")))
}

/// Calls `check` with random experiments.
fn with_cases(name: &str, check: impl Fn(&str)) {
    let folder = Folder::new(&format!("determinism-{name}"));
    for seed in crate::common::seeds(CASES) {
        for trace in [false, true] {
            let mut case = draw_any(&mut Rng::new(seed, "determinism"), trace);
            if let Some((text, extension)) = &case.trace {
                let path = folder.file(&format!("{seed}.{extension}"), text);
                case.toml += &format!("file = \"{path}\"\n");
            }
            check(&case.toml);
        }
    }
}

#[test]
fn twice_is_the_same() {
    with_cases("twice", |toml| assert_eq!(run_plan(toml, |_| {}), run_plan(toml, |_| {}), "{toml}"));
}

#[test]
fn prefetching_changes_nothing() {
    with_cases("prefetching", |toml| {
        assert_eq!(run_plan(toml, |_| {}), run_plan(toml, |plan| plan.prefetching = false), "{toml}");
    });
}

#[test]
fn the_shadow_model_changes_nothing() {
    with_cases("shadow", |toml| {
        assert_eq!(run_plan(toml, |_| {}), run_plan(toml, |plan| plan.shadow = true), "{toml}");
    });
}

#[test]
fn the_size_of_steps_changes_nothing() {
    with_cases("steps", |toml| {
        let outcome = |requests_max: u64| {
            let plan = load(Some(toml), "test.toml", &[]).unwrap().plan;
            let mut simulation = Simulation::new(plan).unwrap();
            let mut bound = Bound::new(100_000);
            while simulation.step(requests_max).unwrap() != Phase::Done {
                bound.step();
            }
            format!("{:?}", simulation.finish())
        };
        let whole = outcome(u64::MAX);
        assert!(whole == outcome(1) && whole == outcome(97), "{toml}");
    });
}

const SMALL: &str = "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n[ftl]\nspare_factor = 0.2\n\
                     precondition = \"random\"\n";

#[test]
fn another_seed_is_another_run() {
    for workload in
        ["requests = 5000", "requests = 5000\npattern = \"zipf\"", "requests = 5000\npattern = \"hot-cold\""]
    {
        let toml = format!("{SMALL}[workload]\n{workload}\n");
        let waf = |seed: u64| {
            let result = run_ok(&toml, &[("seed", seed.to_string())]).result;
            assert_eq!(result["seed"], seed);
            (result["waf"].to_string(), result["config_hash"].to_string())
        };
        let (one, two) = (waf(1), waf(2));
        assert!(one.0 != two.0 && one.1 != two.1, "{workload}: {one:?} {two:?}");
        assert_eq!(one, waf(1));
    }
}

/// Only a trace's content counts: not where it lies, what it is called, how it is packed or how it is named.
#[test]
fn the_place_of_a_trace_does_not_enter() {
    let folder = Folder::new("place");
    let mut rng = Rng::new(1, "place");
    let mut text = String::new();
    for i in 0..4000u64 {
        let offset = rng.below(2_000_000);
        text += &format!(
            "{},web,0,Write,{offset},{},0\n",
            128_166_372_003_061_629 + i * 5000,
            1 + rng.below(9000)
        );
    }
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let files = [
        folder.file("a.csv", &text),
        folder.file("elsewhere/deep/b.msr", &text),
        folder.file("c.csv.gz", gzip),
        folder.file("d.zst", zstd::encode_all(text.as_bytes(), 3).unwrap()),
    ];
    let of = |file: &str, repeat: u64| {
        let toml = format!("{SMALL}[workload]\nfile = \"{file}\"\nrepeat = {repeat}\n");
        figures(&run_ok(&toml, &[]))
    };
    let first = of(&files[0], 2);
    assert!(first.0.contains("content_hash") && !first.0.contains(&folder.path()), "{}", first.0);
    for file in &files[1..] {
        assert_eq!(first, of(file, 2), "{file}");
        // Nor does the thread that decompresses it.
        let toml = format!("{SMALL}[workload]\nfile = \"{file}\"\nrepeat = 2\n");
        let resolved = load(Some(&toml), "test.toml", &[]).unwrap();
        let alone = Options { alone: true, ..Options::default() };
        assert_eq!(first, figures(&run_with(resolved, &alone, &mut |_| Ok(())).unwrap()), "{file}");
    }
    // Beside the experiment, by a relative name.
    let toml = format!("{SMALL}[workload]\nfile = \"a.csv\"\nrepeat = 2\n");
    let resolved = load(Some(&toml), &format!("{}/e.toml", folder.path()), &[]).unwrap();
    assert_eq!(first, figures(&run(resolved, &mut |_| Ok(())).unwrap()));
    // Other content is another experiment.
    let other = folder.file("other.csv", text.replacen("Write,", "Read,", 1));
    let hash = |figures: &(String, String)| {
        let result: serde_json::Value = serde_json::from_str(&figures.0).unwrap();
        result["config_hash"].to_string()
    };
    assert_ne!(hash(&first), hash(&of(&other, 2)));
}
