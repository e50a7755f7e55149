//! `ftl.precondition = "auto"`: full, at steady state where that is known, and worn in by laps of the trace.

use crate::common::{Folder, number, run_ok, try_run};
use floatgate_base::Rng;
use floatgate_experiment::{experiment_toml, load};
use floatgate_theory::{Policy, wa};
use serde_json::Value;
use std::fmt::Write as _;

/// 6400 pages of flash.
const DRIVE: &str = "[drive.geometry]\nblocks_per_plane = 200\npages_per_block = 32\n\
                     [drive.endurance]\npe_cycles = 1000000\n";

/// Requests of one page: for each its page, and whether it reads.
fn trace(folder: &Folder, name: &str, requests: impl Iterator<Item = (u64, bool)>) -> String {
    let mut text = String::new();
    for (i, (page, reads)) in (0u64..).zip(requests) {
        let op = if reads { "Read" } else { "Write" };
        writeln!(text, "{},host,0,{op},{},4096,0", 1_000_000 + i * 10_000, page * 4096).unwrap();
    }
    folder.file(name, text)
}

/// Uniform writes all over a drive with a fifth of spare space.
fn uniform(folder: &Folder, writes: u64) -> String {
    let mut rng = Rng::new(3, "trace");
    trace(folder, &format!("{writes}.csv"), (0..writes).map(|_| (rng.below(5120), false)))
}

fn on(trace: &str, ftl: &str) -> String {
    format!("{DRIVE}[ftl]\nspare_factor = 0.2\n{ftl}[workload]\nfile = \"{trace}\"\n")
}

fn facts(result: &Value) -> (&str, &str, u64) {
    let auto = &result["precondition"];
    let passes = auto["wear_in_passes"].as_u64().unwrap();
    (auto["became"].as_str().unwrap(), auto["ended"].as_str().unwrap(), passes)
}

/// The law if only the blocks of so many pages are written: all others are left alone and take no part.
fn law_of(result: &Value, pages: f64) -> f64 {
    let spare = number(result, "/drive/effective_spare_factor") * 6400.0;
    wa(Policy::Greedy, spare / (spare + pages), 32).unwrap()
}

/// The initial state is the steady state of the law for the written blocks, here all of them. Laps then repeat the same
/// pages. These die in the order of writing, which lowers write amplification.
#[test]
fn a_trace_begins_on_a_drive_at_steady_state() {
    let folder = Folder::new("auto");
    let path = uniform(&folder, 5000);
    let result = run_ok(&on(&path, "wear_in_max = 0\n"), &[]).result;
    assert_eq!(facts(&result), ("steady", "not requested", 0));
    let law = law_of(&result, 5120.0);
    // The effective spare factor is accurate to a block or two of the 40 spare ones.
    assert!((number(&result, "/waf") / law - 1.0).abs() < 0.05, "{}, law {law}", result["waf"]);
    let result = run_ok(&on(&path, ""), &[]).result;
    let (became, ended, passes) = facts(&result);
    assert_eq!((became, ended), ("steady", "write amplification no longer changes from lap to lap"));
    assert!((9..=39).contains(&passes), "{passes}");
    assert_eq!(result["precondition"]["stationary"], true);
    // The counted value is that of the last laps, within the criterion and the scatter of a pass of 5000 writes.
    let laps = result["precondition"]["wear_in_waf"].as_array().unwrap();
    let (last, waf) = (laps.last().unwrap().as_f64().unwrap(), number(&result, "/waf"));
    assert!((waf / last - 1.0).abs() < 0.05 && waf < law, "{waf}, laps {laps:?}, law {law}");
    // On an empty drive the same trace costs nothing.
    let empty = run_ok(&on(&path, "precondition = \"none\"\n"), &[]).result;
    assert!(number(&empty, "/waf") < 1.05 && empty.get("precondition").is_none());
    // The laps do not count.
    assert_eq!(result["host"], empty["host"]);
    assert_eq!(result["workload"]["passes"], 1);
}

/// Writes that favour low pages of a part of a drive; every so many pages one is never written, if any is. Before the
/// trace the host wrote the whole drive in order.
fn skewed(seed: u64, folder: &Folder) -> (String, String) {
    let mut rng = Rng::new(seed, "data at rest");
    let (blocks, pages_per_block) = (96 + rng.below(100), 16 << rng.below(2));
    let (spare, planes) = (0.08 + 0.15 * rng.unit(), 1 + rng.below(2));
    let pages = blocks * planes * pages_per_block;
    let (part, skew) = (0.3 + 0.6 * rng.unit(), 1 + rng.below(3) as i32);
    let reach = pages as f64 * (1.0 - spare) * part;
    let rests = 3 + rng.below(6);
    let writes = (reach * (0.5 + 3.0 * rng.unit())) as u64;
    let drawn: Vec<u64> = (0..writes)
        .map(|_| (rng.unit().powi(skew) * reach) as u64)
        .filter(|page| rests > 5 || (page.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % rests > 0)
        .collect();
    let path = trace(folder, &format!("{seed}.csv"), drawn.into_iter().map(|page| (page, false)));
    let toml = format!(
        "seed = {seed}\n[drive.geometry]\nblocks_per_plane = {blocks}\nplanes_per_die = {planes}\n\
         pages_per_block = {pages_per_block}\n[drive.endurance]\npe_cycles = 1000000\n\
         [ftl]\nspare_factor = {spare}\n[workload]\nfile = \"{path}\"\n"
    );
    (format!("seed {seed}: {writes} writes to {part:.2} of {pages} pages, {skew}, {rests}"), toml)
}

/// Returns the write amplification of passes after so many, from a state of the drive.
fn waf_later(toml: &str, precondition: &str, passes: u64) -> f64 {
    let warmup = ("workload.warmup_passes", passes.to_string());
    let overrides =
        [("ftl.precondition", precondition.to_owned()), warmup, ("workload.repeat", "10".to_owned())];
    number(&run_ok(toml, &overrides).result, "/waf")
}

/// The first result of a run equals a much later one, and that of a drive written once in order and then for long by
/// the trace. Where blocks of mostly data at rest are never collected, the placement of these data makes a permanent
/// difference. Of 80 drives 71 came within 5 % of the latter, the furthest off by 27 %; of the former all came within 2
/// %.
#[test]
fn auto_is_a_drive_written_in_order_and_then_by_the_trace() {
    let folder = Folder::new("truth");
    let (mut near, mut off, seeds) = (0, vec![], crate::common::seeds(8));
    for (what, toml) in seeds.clone().map(|seed| skewed(seed, &folder)) {
        let auto = waf_later(&toml, "auto", 0);
        let [later, in_order] = [("auto", 200), ("sequential", 200)]
            .map(|(precondition, passes)| auto / waf_later(&toml, precondition, passes) - 1.0);
        println!("{what}: {auto:.3}, {later:+.3} to later, {in_order:+.3} to that from a fill in order");
        near += u32::from(in_order.abs() <= 0.05);
        if later.abs() > 0.05 || in_order.abs() > 0.3 {
            off.push(format!("{what}: {auto}, {later}, {in_order}"));
        }
    }
    let all = seeds.count();
    assert!(off.is_empty(), "{} of {all}:\n{}", off.len(), off.join("\n"));
    assert!(near as usize * 4 >= all * 3, "{near} of {all} within 5 %");
}

#[test]
fn what_auto_became_stands_in_the_experiment_and_gives_the_same_again() {
    let folder = Folder::new("became");
    let path = uniform(&folder, 500);
    for (policy, fill) in [("greedy", "steady"), ("fifo", "steady"), ("cost-benefit", "random")] {
        let toml = on(&path, &format!("[ftl.collect]\npolicy = \"{policy}\"\n"));
        let resolved = load(Some(&toml), "t.toml", &[]).unwrap();
        let text = experiment_toml(&resolved);
        let expected = format!("precondition = \"auto\"\nauto_fill = \"{fill}\"\nwear_in_max = 3.0\n");
        assert!(text.contains(&expected), "{text}");
        let again = run_ok(&text, &[]).result;
        assert_eq!(again["precondition"], run_ok(&toml, &[]).result["precondition"]);
        // Another policy brings its own way to fill.
        let other = run_ok(&text, &[("ftl.collect.policy", "random".into())]).result;
        assert_eq!(other["config"]["ftl"]["auto_fill"], "steady");
    }
    // A generator starts as before, and a trace after it as a trace does.
    let toml = format!("{DRIVE}[workload]\nrequests = 100\n");
    assert_eq!(run_ok(&toml, &[]).result["config"]["ftl"]["precondition"], "none");
    assert_eq!(run_ok(&toml, &[("workload.file", path)]).result["config"]["ftl"]["precondition"], "auto");
}

#[test]
fn without_a_law_auto_fills_at_random_and_says_so() {
    let folder = Folder::new("lawless");
    let path = uniform(&folder, 3000);
    let toml = on(&path, "[ftl.collect]\npolicy = \"cost-benefit\"\n");
    let result = run_ok(&toml, &[]).result;
    let (became, _, passes) = facts(&result);
    assert_eq!(became, "random");
    assert_eq!(result["precondition"]["why"], "no steady-state law is known for this victim policy");
    assert!(passes > 3, "{passes}");
    // Uniform writes amplify about as they do under greedy, which starts at its law.
    let without_laps = |policy: &str| {
        let overrides = [("ftl.wear_in_max", "0".into()), ("ftl.collect.policy", policy.into())];
        number(&run_ok(&toml, &overrides).result, "/waf")
    };
    let (ours, greedy) = (without_laps("cost-benefit"), without_laps("greedy"));
    assert!((0.9..1.1).contains(&(ours / greedy)), "{ours}, greedy {greedy}");
    let steady = try_run(&toml, &[("ftl.precondition", "steady".into())]).err().unwrap();
    assert!(steady.contains("precondition = \"auto\", which fills at random instead"), "{steady}");
    let fill = try_run(&toml, &[("ftl.auto_fill", "steady".into())]).err().unwrap();
    assert!(fill.starts_with("ftl.auto_fill: no steady-state law is known"), "{fill}");
    // Static allocation has no steady state either.
    let fixed = run_ok(&on(&path, "[ftl.allocation]\nmode = \"static\"\n"), &[]).result;
    assert_eq!(facts(&fixed).0, "random");
}

/// Laps are limited by their writes and by their reads.
#[test]
fn laps_are_bounded() {
    let folder = Folder::new("bounded");
    let path = uniform(&folder, 1000);
    for (most, passes) in [("0", 0), ("0.1", 6), ("0.2", 13)] {
        let result = run_ok(&on(&path, ""), &[("ftl.wear_in_max", most.into())]).result;
        assert_eq!(facts(&result).2, passes);
        assert!(number(&result, "/precondition/wear_in_page_writes") <= passes as f64 * 1000.0);
    }
    // A write in a thousand requests: 3 times 65536 pages would be 196 million requests.
    let reads = trace(&folder, "reads.csv", (0..20_000).map(|i| (i % 5000, i % 1000 != 0)));
    let result = run_ok(&on(&reads, ""), &[]).result;
    let (_, _, passes) = facts(&result);
    assert_eq!(passes, 2 * 3 * 65536 / 20_020);
    let none = trace(&folder, "none.csv", (0..1000).map(|i| (i, true)));
    assert_eq!(facts(&run_ok(&on(&none, ""), &[]).result), ("steady", "the trace writes nothing", 0));
    let many = trace(&folder, "many.csv", (0..500_000).map(|i| (i % 5000, i > 0)));
    let result = run_ok(&on(&many, ""), &[]).result;
    assert_eq!(facts(&result).1, "a single pass reads and writes more than laps may (ftl.wear_in_max)");
}

#[test]
fn a_trace_that_writes_the_drive_needs_no_laps() {
    let folder = Folder::new("long");
    let result = run_ok(&on(&uniform(&folder, 5200), ""), &[]).result;
    assert_eq!(facts(&result), ("steady", "a pass over the trace writes the drive at least once", 0));
    // Nor are there laps if the separator must know the future, or requests come from a generator.
    let path = uniform(&folder, 500);
    let foreseen = run_ok(&on(&path, "[ftl.separate]\npolicy = \"ora\"\nstreams = 2\n"), &[]).result;
    assert_eq!(facts(&foreseen).1, "the separator knows the workload to its end");
    let toml =
        format!("{DRIVE}[ftl]\nspare_factor = 0.2\nprecondition = \"auto\"\n[workload]\nrequests = 20000\n");
    let result = run_ok(&toml, &[]).result;
    assert_eq!(facts(&result).2, 0);
    let law = wa(Policy::Greedy, number(&result, "/drive/effective_spare_factor"), 32).unwrap();
    assert!((number(&result, "/waf") / law - 1.0).abs() < 0.05);
    let refused = try_run(&toml, &[("ftl.wear_in_max", "1".into())]).err().unwrap();
    assert!(refused.starts_with("ftl.wear_in_max: wear_in_max has no effect on a generator"), "{refused}");
}

/// A trace that does not fit is refused before the drive is filled, with the line.
#[test]
fn a_trace_beyond_the_drive_is_refused() {
    let folder = Folder::new("beyond");
    let path = trace(&folder, "far.csv", [(1, false), (100_000, false)].into_iter());
    let error = try_run(&on(&path, ""), &[]).err().unwrap();
    assert!(error.starts_with(&format!("{path}:2: the trace addresses ")), "{error}");
    // Wrapped it is worn in as any other.
    let result = run_ok(&on(&path, ""), &[("workload.beyond", "wrap".into())]).result;
    assert!(facts(&result).2 > 100);
    let two = folder.file("two.csv", "1000000,host,0,Write,0,4096,0\n1010000,host,1,Write,0,4096,0\n");
    assert!(facts(&run_ok(&on(&two, ""), &[]).result).2 > 100);
}

#[test]
fn in_time_the_drive_is_worn_in_without_time() {
    let folder = Folder::new("timed");
    let path = uniform(&folder, 2000);
    let toml = on(&path, "[ftl.collect]\nmode = \"whole-block\"\n");
    let run = |overrides: &[(&str, String)]| run_ok(&toml, overrides).result;
    let (functional, timed) = (run(&[]), run(&[("mode", "timed".into())]));
    assert_eq!(functional["precondition"], timed["precondition"]);
    assert_eq!(functional["flash"]["programs"], timed["flash"]["programs"]);
    let span = number(&timed, "/span_s");
    assert!(span < 100.0, "{span}");
}

/// Preconditioning and laps cost no cycles.
#[test]
fn laps_do_not_wear_the_drive_out() {
    let folder = Folder::new("worn");
    let toml = on(&uniform(&folder, 600), "").replace("pe_cycles = 1000000", "pe_cycles = 1");
    let result = run_ok(&toml, &[]).result;
    assert!(number(&result, "/precondition/wear_in_drive_writes") > 3.0);
    assert!(number(&result, "/wear/erases_mean") < 1.0);
}

#[test]
fn keys_of_auto_are_refused_beside_others() {
    let folder = Folder::new("refused");
    let path = uniform(&folder, 10);
    for (key, value) in [("ftl.auto_fill", "random"), ("ftl.wear_in_max", "1")] {
        let toml = on(&path, "precondition = \"sequential\"\n");
        let error = try_run(&toml, &[(key, value.into())]).err().unwrap();
        assert!(error.contains("has no effect with precondition = \"sequential\""), "{error}");
        // Whichever comes first on the command line.
        let both = [(key, value.to_string()), ("ftl.precondition", "auto".to_string())];
        assert_eq!(run_ok(&on(&path, ""), &both).result["config"]["ftl"]["precondition"], "auto");
    }
    for max in ["-1", "nan", "1e9"] {
        let error = try_run(&on(&path, ""), &[("ftl.wear_in_max", max.into())]).err().unwrap();
        assert!(error.contains("expected a number of drive writes from 0 to 1000"), "{error}");
    }
}
