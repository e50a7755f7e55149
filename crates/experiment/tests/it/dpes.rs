//! Dynamic program and erase scaling: lives and times by arithmetic against the table of modes.

use crate::common::{Folder, number, run_ok, try_lifetime, try_run, without_run};
use floatgate_base::{Result as Loaded, Rng};
use floatgate_config::Resolved;
use floatgate_experiment::{Options, run, run_with};
use floatgate_nand::Endurance;
use floatgate_nand::endurance::{READY_TABLE2, mean_idle_s};
use serde_json::Value;

const DRIVE: &str = "[drive.geometry]\nchannels = 2\nblocks_per_plane = 40\npages_per_block = 16\n";
const FTL: &str = "[ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n";
const WEAR: [f64; 5] = [1.0, 0.86, 0.71, 0.55, 0.40];
const ERASE: [f64; 5] = [1.0, 1.25, 1.5, 1.75, 2.0];
const PROGRAM: [f64; 5] = [1.0, 1.15, 1.26, 1.42, 1.74];

fn load_experiment(toml: &str) -> Loaded<Resolved> {
    floatgate_experiment::load(Some(toml), "t.toml", &[])
}

fn fixed(mode: usize) -> String {
    format!("[ftl.dpes]\npolicy = \"fixed\"\nmode = {mode}\n")
}

fn idle(more: &str) -> String {
    format!("[ftl.dpes]\npolicy = \"idle\"\n{more}")
}

/// Hot and cold data, by time stamps.
fn load(more: &str) -> String {
    format!(
        "[workload]\nrequests = 20000\npattern = \"hot-cold\"\nhot_share_of_pages = 0.2\nhot_share_of_writes = 0.8\n{more}"
    )
}

fn near(computed: f64, expected: f64, what: &str) {
    assert!((computed / expected - 1.0).abs() < 1e-9, "{what}: {computed}, by hand {expected}");
}

fn list(result: &Value, pointer: &str) -> Vec<f64> {
    let list = result.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("no {pointer}"));
    list.iter().map(|value| value.as_f64().unwrap()).collect()
}

/// A mode whose erases wear a block by a share w of a cycle: 1 / w of the life at the same write amplification, of every
/// block, with recovery and without. Rest is that between erases, whatever they wear.
#[test]
fn one_mode_makes_lives_longer_by_its_wear() {
    for model in ["fixed", "ready-printed", "ready-table2"] {
        let drive = format!("{DRIVE}[drive.endurance]\nmodel = \"{model}\"\n{FTL}");
        let load = load("rate_per_s = 0.05\n");
        let plain = run_ok(&format!("{drive}{load}"), &[]).result;
        for (mode, wear) in WEAR.into_iter().enumerate() {
            let scaled = run_ok(&format!("{drive}{}{load}", fixed(mode)), &[]).result;
            for table in ["flash", "gc", "waf", "valid_pages"] {
                // Only the nominal time of operations differs.
                let without_time = |result: &Value| {
                    let mut table = result[table].clone();
                    if let Some(table) = table.as_object_mut() {
                        table.retain(|key, _| !key.starts_with("time_s"));
                    }
                    table
                };
                assert_eq!(without_time(&scaled), without_time(&plain), "{model}, mode {mode}: {table}");
            }
            for key in ["years", "tbw_bytes", "pe_cycles_achievable", "c_ssd_recovered_bytes"] {
                let pointer = format!("/lifetime/{key}");
                let ratio = number(&scaled, &pointer) / number(&plain, &pointer);
                assert!((ratio * wear - 1.0).abs() < 1e-6, "{model}, mode {mode}: {key} {ratio}");
            }
            assert_eq!(scaled["lifetime"]["mean_idle_h"], plain["lifetime"]["mean_idle_h"]);
            assert_eq!(scaled["lifetime"]["c_ssd_bytes"], plain["lifetime"]["c_ssd_bytes"]);
            if model == "fixed" {
                let ratio =
                    number(&scaled, "/wear/first_failure_s") / number(&plain, "/wear/first_failure_s");
                near(ratio * wear, 1.0, "the first block");
            }
            // A lead that grows more slowly than the mean shortens a long life less.
            let first = |result: &Value| number(result, "/lifetime/years_first_block");
            let ratio = first(&scaled) / first(&plain);
            assert!(ratio * wear > 1.0 - 1e-6, "{model}, mode {mode}: {ratio}");
            let erases = number(&plain, "/flash/erases/total");
            near(number(&scaled, "/dpes/effective_cycles"), erases * wear, "effective cycles");
            near(number(&scaled, "/dpes/mean_wear"), wear, "mean wear");
            assert!((number(&scaled, "/dpes/cycles_saved") - erases * (1.0 - wear)).abs() < 1e-6);
        }
    }
}

/// With recovery the law gives N(t) effective cycles at a rest of t, which allow N(t) / w erases.
#[test]
fn the_life_with_recovery_is_that_of_the_law() {
    let toml = format!(
        "{DRIVE}[drive.endurance]\nmodel = \"ready-table2\"\n{FTL}{}{}",
        fixed(4),
        load("rate_per_s = 0.05\n")
    );
    let result = run_ok(&toml, &[]).result;
    let law = Endurance::Recovery { pe_cycles: 3000, law: READY_TABLE2 };
    let idle_s = number(&result, "/lifetime/mean_idle_h") * 3600.0;
    let cycles = law.cycles(Some(idle_s)) / 0.4;
    near(number(&result, "/lifetime/pe_cycles_achievable"), cycles, "cycles");
    let pages = number(&result, "/drive/physical_bytes") / number(&result, "/drive/page_bytes");
    let programs = number(&result, "/flash/programs/total");
    let years = cycles * pages / programs * number(&result, "/period_s") / (8760.0 * 3600.0);
    near(number(&result, "/lifetime/years"), years, "years");
}

/// Cycles and seconds after which a drive of 30 nominal cycles stops that is written from end to end in mode 4.
fn worn_out(model: &str, rate_per_s: f64, more: &str) -> (f64, f64) {
    let toml = format!(
        "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n[drive.endurance]\nmodel = \"{model}\"\n\
         pe_cycles = 30\n[ftl]\nspare_factor = 0.25\n{}{more}[workload]\npattern = \"sequential\"\nrequests = 200000\n\
         rate_per_s = {rate_per_s}\n",
        fixed(if more.is_empty() { 4 } else { 1 })
    );
    let error = try_run(&toml, &[]).unwrap_err();
    let number = |from: &str, to: &str| -> f64 {
        let rest = error.split_once(from).unwrap_or_else(|| panic!("{error}")).1;
        rest.split_once(to).unwrap().0.parse().unwrap()
    };
    (number("its capacity ", " times"), number("host page writes and ", " s into"))
}

#[test]
fn a_drive_is_worn_out_by_its_effective_wear() {
    // The message gives whole cycles, and the host opens its next block a little later.
    let (cycles, _) = worn_out("fixed", 2.0, "");
    assert!((75.0..=76.0).contains(&cycles), "{cycles}");
    let law = Endurance::Recovery { pe_cycles: 30, law: READY_TABLE2 };
    let (cycles, seconds) = worn_out("ready-table2", 0.0356, "");
    let stands = law.cycles(mean_idle_s(seconds, cycles)) / 0.4;
    assert!((cycles - stands).abs() <= 1.5 && cycles > 90.0, "{cycles} cycles, not {stands}");
    // Half of the cycles at a fifth of the wear, the other half at the full wear: 75 + 15 erases.
    let margin = "modes = [{wear = 1, erase = 1, program = 1, margin = 1}, {wear = 0.2, erase = 1, program = 1, margin = 0.5}]\n";
    let (cycles, _) = worn_out("fixed", 2.0, margin);
    assert!((90.0..=91.0).contains(&cycles), "{cycles}");
}

/// Forecasts count effective wear, too: without recovery the life is 1 / w as long.
#[test]
fn forecasts_know_one_mode() {
    let toml = |dpes: &str| {
        format!("{DRIVE}{FTL}{dpes}[lifetime.forecast]\nwaf = 2.5\n{}", load("rate_per_s = 50\n"))
    };
    let life = |dpes: &str| try_lifetime(&toml(dpes), &[vec![]]).unwrap().remove(0);
    let years = |life: &Value| number(life, "/lifetime/years");
    let (plain, scaled) = (life(""), life(&fixed(4)));
    assert!(
        (years(&scaled) / years(&plain) * 0.4 - 1.0).abs() < 1e-3,
        "{} {}",
        years(&scaled),
        years(&plain)
    );
    near(number(&scaled, "/lifetime/pe_cycles_achievable"), 7500.0, "cycles");
    let error = try_lifetime(&toml(&idle("")), &[vec![]]).unwrap_err().to_string();
    assert!(error.contains("functional mode has none"), "{error}");
}

/// Times added by a mode follow from its factors and the counts, beside a mode of programs, too.
#[test]
fn added_time_is_that_of_the_factors() {
    let disturb = "[drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = 200\n";
    let reads = "[workload]\nrequests = 100000\nread_share = 0.95\npattern = \"zipf\"\nzipf_theta = 1.2\n";
    let drive = DRIVE.replace("pages_per_block = 16", "pages_per_block = 32");
    for (more, reclaim) in [("", ""), (disturb, "[ftl.reclaim]\npolicy = \"redftl-plus\"\n")] {
        let run = |dpes: &str| run_ok(&format!("{drive}{more}{FTL}{reclaim}{dpes}{reads}"), &[]).result;
        let plain = run("");
        let mode = 3;
        let scaled = run(&fixed(mode));
        assert_eq!(scaled["flash"]["programs"], plain["flash"]["programs"]);
        let (programs, erases) =
            (number(&plain, "/flash/programs/total"), number(&plain, "/flash/erases/total"));
        assert_eq!(list(&scaled, "/dpes/programs_by_mode"), [0.0, 0.0, 0.0, programs, 0.0]);
        assert_eq!(list(&scaled, "/dpes/erases_by_mode"), [0.0, 0.0, 0.0, erases, 0.0]);
        let timing = |key: &str| number(&scaled, &format!("/config/drive/timing/{key}"));
        near(
            number(&scaled, "/dpes/time_added_s/erases"),
            erases * timing("erase_us") * (ERASE[mode] - 1.0) / 1e6,
            "erases",
        );
        let added = number(&scaled, "/dpes/time_added_s/programs");
        let alone = programs * timing("program_us") * (PROGRAM[mode] - 1.0) / 1e6;
        if more.is_empty() {
            near(added, alone, "programs");
        } else {
            // Programs in the modes of redFTL+ take 8 and 19 % longer, and these are longer, too.
            assert!(number(&plain, "/flash/erases/reclaim") > 0.0);
            assert!(added > alone && added < 1.19 * alone, "{added} {alone}");
        }
    }
}

/// In timed mode a single write takes what its program takes, in the mode of its block.
#[test]
fn a_write_takes_the_program_time_of_its_mode() {
    let run = |dpes: &str| {
        let load =
            "[workload]\nrequests = 3000\npattern = \"sequential\"\nrate_per_s = 20\narrival = \"open\"\n";
        let toml = format!("mode = \"timed\"\n{DRIVE}[ftl]\nspare_factor = 0.25\n{dpes}{load}");
        number(&run_ok(&toml, &[]).result, "/latency_us/write/p50")
    };
    let plain = run("");
    for (mode, factor) in PROGRAM.into_iter().enumerate() {
        let more = 600.0 * (factor - 1.0);
        // Quantiles of latency are accurate within a few percent.
        assert!((run(&fixed(mode)) - plain - more).abs() < 0.04 * (plain + more), "mode {mode}");
    }
}

fn timed(dpes: &str, workload: &str) -> String {
    format!("mode = \"timed\"\n{DRIVE}{FTL}{dpes}{}arrival = \"open\"\n", load(workload))
}

/// A drive that is hardly used erases all blocks in the last mode, a busy one in the ordinary mode.
#[test]
fn idle_time_chooses_the_mode() {
    let quiet = run_ok(&timed(&idle(""), "rate_per_s = 20\n"), &[]).result;
    let by_mode = list(&quiet, "/dpes/erases_by_mode");
    assert!(by_mode[4] > 0.99 * by_mode.iter().sum::<f64>(), "{by_mode:?}");
    // Nothing else is said of lives than that their blocks wear by so much.
    let wear = number(&quiet, "/dpes/mean_wear");
    assert!((0.4..0.41).contains(&wear), "{wear}");
    near(number(&quiet, "/lifetime/pe_cycles_achievable"), 3000.0 / wear, "cycles");
    let busy = run_ok(&timed(&idle(""), "rate_per_s = 1500\n"), &[]).result;
    let by_mode = list(&busy, "/dpes/erases_by_mode");
    assert!(by_mode[0] > 0.9 * by_mode.iter().sum::<f64>(), "{by_mode:?}");
    // In between the wear falls with the load.
    let wears = [50, 200, 300, 400].map(|rate| {
        number(&run_ok(&timed(&idle(""), &format!("rate_per_s = {rate}\n")), &[]).result, "/dpes/mean_wear")
    });
    assert!(wears.is_sorted() && wears[0] < 0.45 && wears[3] > 0.8, "{wears:?}");
}

/// In bursts after quiet times, in which jobs collected, blocks are erased once more, and all counts agree.
#[test]
fn bursts_find_blocks_that_are_erased_deeper_first() {
    let load = "pattern = \"jobs\"\nrequests = 40000\nrate_per_s = 40\nburst_on_s = 0.1\nburst_off_s = 9.9\n";
    let toml = format!(
        "mode = \"timed\"\n{}{FTL}{}[workload]\n{load}arrival = \"open\"\n",
        DRIVE.replace("pages_per_block = 16", "pages_per_block = 64"),
        idle("") + "[ftl.background]\npolicy = \"idle\"\n"
    );
    let result = run_ok(&toml, &[]).result;
    let deepened = number(&result, "/dpes/deepened");
    assert!(deepened > 0.0, "{}", result["dpes"]);
    let by_mode = list(&result, "/dpes/erases_by_mode");
    let without: f64 = by_mode.iter().zip(WEAR).map(|(n, wear)| n * wear).sum();
    // The second erase adds the rest of a cycle at most.
    let effective = number(&result, "/dpes/effective_cycles");
    assert!(effective > without && effective <= without + 0.6 * deepened + 1e-9, "{effective} {without}");
    assert_eq!(by_mode.iter().sum::<f64>(), number(&result, "/flash/erases/total"));
    let programs: f64 = list(&result, "/dpes/programs_by_mode").iter().sum();
    assert_eq!(programs, number(&result, "/flash/programs/total"));
    assert!(number(&result, "/dpes/time_added_s/deepened") > 0.0);
}

#[test]
fn what_knows_no_time_and_is_never_idle_is_refused() {
    let refused = |toml: &str| try_run(toml, &[]).unwrap_err();
    let functional = refused(&format!("{DRIVE}{FTL}{}{}", idle(""), load("")));
    assert!(functional.contains("idle measures idle time, and functional mode has none"), "{functional}");
    let closed = refused(&format!("mode = \"timed\"\n{DRIVE}{FTL}{}{}", idle(""), load("")));
    assert!(closed.contains("in closed loop the drive is never idle"), "{closed}");
    let row = refused(&format!("{DRIVE}{FTL}{}{}", fixed(5), load("")));
    assert!(row.contains("mode is 5, and modes has 5 rows; expected a row from 0 to 4"), "{row}");
    let first = "modes = [{wear = 0.9, erase = 1, program = 1, margin = 1}]\n";
    let first = refused(&format!("{DRIVE}{FTL}{}{first}{}", fixed(0), load("")));
    assert!(first.contains("the first mode has wear = 0.9"), "{first}");
}

/// An erase costs the same energy in every mode, and a second one as much again.
#[test]
fn second_erases_take_energy() {
    let energy = "[drive.energy]\nerase_uj = 1e6\n";
    let toml = timed(&idle(""), "rate_per_s = 400\nread_share = 0.1\n");
    let result = run_ok(&toml.replace(FTL, &format!("{energy}{FTL}")), &[]).result;
    let erases = number(&result, "/flash/erases/total") + number(&result, "/dpes/deepened");
    near(number(&result, "/energy/erase_j/total"), erases, "joules");
}

/// A drive that one policy left goes on under any other: blocks keep their modes where there are some, and begin in the
/// first one where the drive had none. Wear counts anew.
#[test]
fn a_saved_drive_goes_on_under_another_policy() {
    let folder = Folder::new("dpes-drives");
    let drive = format!("{DRIVE}[ftl]\nspare_factor = 0.25\n");
    let policies = ["", &fixed(4), &fixed(2), &idle("")].map(String::from);
    let run = |precondition: &str, policy: &str, save: Option<&str>| {
        let load = load("rate_per_s = 100\narrival = \"open\"\n");
        let toml = format!("mode = \"timed\"\n{drive}{precondition}{policy}{load}");
        let options = Options { save_drive: save.map(Into::into), ..Options::default() };
        let resolved = load_experiment(&toml).unwrap_or_else(|e| panic!("{e}\n{toml}"));
        run_with(resolved, &options, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}\n{toml}")).result
    };
    for (i, before) in policies.iter().enumerate() {
        let path = format!("{}/{i}.drive", folder.path());
        run("precondition = \"random\"\n", before, Some(&path));
        for after in &policies {
            let start = format!("precondition = \"snapshot\"\nsnapshot = \"{path}\"\n");
            let result = run(&start, after, None);
            if after.is_empty() {
                assert!(result.get("dpes").is_none());
                continue;
            }
            let erases = number(&result, "/flash/erases/total");
            assert_eq!(list(&result, "/dpes/erases_by_mode").iter().sum::<f64>(), erases);
            assert!(number(&result, "/dpes/effective_cycles") <= erases);
        }
    }
}

/// Draws a drive that chooses modes by idle time, with bursts; some have read disturb, jobs in idle time or superblocks.
fn drawn(rng: &mut Rng) -> String {
    let pick = |rng: &mut Rng, of: &[&str]| of[rng.below(of.len() as u64) as usize].to_string();
    let geometry = format!(
        "channels = {}\nplanes_per_die = {}\nblocks_per_plane = {}\npages_per_block = {}\n",
        1 + rng.below(2),
        1 + rng.below(2),
        30 + rng.below(30),
        pick(rng, &["16", "32", "64"])
    );
    let (disturb, reclaim) = match pick(rng, &["", "baseline", "rrb", "redftl-plus"]).as_str() {
        "" => (String::new(), String::new()),
        manager => (
            "[drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = 300\n".into(),
            format!("[ftl.reclaim]\npolicy = \"{manager}\"\n"),
        ),
    };
    let background = pick(rng, &["none", "idle"]);
    let scope = pick(rng, &["plane", "superblock"]);
    let collect = pick(rng, &["incremental", "whole-block"]);
    let dpes = idle(&format!(
        "idle_share = {}\nburst_pages = {}\nwindow_us = {}\n",
        0.9 * rng.unit(),
        1 + rng.below(4),
        1 + rng.below(200_000)
    ));
    let load = format!(
        "[workload]\nrequests = 6000\npattern = \"jobs\"\nrate_per_s = {}\nburst_on_s = {}\nburst_off_s = {}\n\
         read_share = {}\narrival = \"open\"\n",
        20 + rng.below(400),
        0.05 + 0.2 * rng.unit(),
        2.0 * rng.unit(),
        pick(rng, &["0", "0.5"])
    );
    format!(
        "seed = {}\nmode = \"timed\"\n[drive.geometry]\n{geometry}{disturb}[ftl]\nspare_factor = 0.4\n\
         precondition = \"random\"\n[ftl.collect]\nscope = \"{scope}\"\nmode = \"{collect}\"\n[ftl.background]\n\
         policy = \"{background}\"\n{reclaim}{dpes}{load}",
        rng.below(1000)
    )
}

/// Under the shadow model nothing is lost, and no block is erased again after its first program; it changes nothing.
#[test]
fn random_drives_in_modes_by_idle_time_lose_nothing() {
    let cases = crate::common::seeds(60);
    let (mut deepened, mut several) = (0, 0);
    for seed in cases.clone() {
        let toml = drawn(&mut Rng::new(seed, "modes by idle time"));
        let mut resolved = load_experiment(&toml).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{toml}"));
        let plain =
            run(resolved.clone(), &mut |_| Ok(())).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{toml}"));
        resolved.plan.shadow = true;
        let shadowed = run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{toml}"));
        let result = plain.result;
        assert_eq!(without_run(result.clone()), without_run(shadowed.result), "seed {seed}\n{toml}");
        let by_mode = list(&result, "/dpes/erases_by_mode");
        assert_eq!(by_mode.iter().sum::<f64>(), number(&result, "/flash/erases/total"), "seed {seed}");
        let programs: f64 = list(&result, "/dpes/programs_by_mode").iter().sum();
        assert_eq!(programs, number(&result, "/flash/programs/total"), "seed {seed}");
        let worn: f64 = by_mode.iter().zip(WEAR).map(|(n, wear)| n * wear).sum();
        let (effective, again) =
            (number(&result, "/dpes/effective_cycles"), number(&result, "/dpes/deepened"));
        assert!(
            effective > worn - 1e-6 && effective < worn + 0.6 * again + 1e-6,
            "seed {seed}: {effective} {worn}"
        );
        (deepened, several) = (
            deepened + u64::from(again > 0.0),
            several + u64::from(by_mode.iter().filter(|&&n| n > 0.0).count() > 1),
        );
    }
    let n = cases.count() as u64;
    assert!(
        deepened > n / 10 && several > n / 2,
        "{deepened} drives erased again, {several} in several modes, of {n}"
    );
}
