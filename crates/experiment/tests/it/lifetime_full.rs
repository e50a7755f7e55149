//! Whole lives with every request through the FTL, compared with lives without a drive.

use crate::common::policies::row;
use crate::common::{Folder, try_lifetime};
use floatgate_base::testing::Bound;
use floatgate_base::{Result, Rng};
use floatgate_config::Resolved;
use floatgate_experiment::load;
use floatgate_flash::Cause;
use floatgate_lifetime::life::{Life, Outcome};
use floatgate_lifetime::throttle::{self, Setup};
use floatgate_nand::endurance;
use floatgate_sim::laps::{Criterion, REQUESTS_MAX, measure};
use floatgate_sim::reading::pass::read_pass;
use floatgate_sim::{LifeOptions, Plan, full_life};
use std::fmt::Write as _;

const SERVICE_NS: u64 = 600_000;

/// A day in MSR's format: bursts and a busy half, so many requests of up to eight pages.
fn day(seed: u64, requests: u64, pages: u64) -> String {
    let mut rng = Rng::new(seed, "day");
    let mut times: Vec<u64> = Vec::new();
    let mut bound = Bound::new(100_000_000);
    while (times.len() as u64) < requests {
        bound.step();
        // Seconds of the day: three of four bursts in its first half.
        let half = if rng.below(4) < 3 { 0 } else { 43_200 };
        let mut at = (half + rng.below(43_000)) * 10_000_000;
        for _ in 0..1 + rng.below(60) {
            times.push(at);
            at += rng.below(20_000_000);
        }
    }
    times.truncate(requests as usize - 1);
    times.extend([0, 86_400 * 10_000_000]);
    times.sort_unstable();
    let mut text = String::new();
    for time in times {
        // Half of the writes go to a tenth of the pages.
        let of = if rng.below(2) == 0 { pages / 10 } else { pages };
        let (count, kind) = (1 + rng.below(8), if rng.below(10) == 0 { "Read" } else { "Write" });
        let page = rng.below(of - count);
        writeln!(text, "{},h,0,{kind},{},{},0", time + 10_000_000, page * 4096, count * 4096).unwrap();
    }
    text
}

/// A drive of 8 MiB, at home with such days.
fn experiment(trace: &str, more: &str) -> String {
    format!(
        "[drive.geometry]\nblocks_per_plane = 64\npages_per_block = 32\n\
         [drive.endurance]\nmodel = \"ready-table2\"\n\
         [ftl]\nspare_factor = 0.2\nprecondition = \"random\"\n[lifetime.throttle]\n{more}\n\
         [workload]\nfile = \"{trace}\"\n"
    )
}

fn resolved(toml: &str, policy: &str) -> Resolved {
    load(Some(toml), "t.toml", &[("lifetime.throttle.policy".into(), policy.into())])
        .unwrap_or_else(|e| panic!("{e}\n{toml}"))
}

fn full(plan: &Plan) -> (Outcome, floatgate_sim::Outcome) {
    let options = LifeOptions { detail_ns: None, passes_max: u64::MAX, cycles_used: 0.0, age_s: 0.0 };
    let full = full_life(plan.clone(), &options, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}"));
    (full.life, full.drive)
}

/// The same without a drive, with the write amplification of laps.
fn forecast(plan: &Plan, window_ns: Option<u64>) -> Outcome {
    let mut tick = |_| -> Result<()> { Ok(()) };
    let pass = read_pass(plan, window_ns, &mut tick).unwrap();
    // As `floatgate lifetime` does by default.
    let criterion =
        Criterion { error_max: 0.005, laps_max: 12, programs_min: 1 << 21, requests_max: REQUESTS_MAX };
    let laps = measure(plan, &pass, &criterion, None, &mut |_| Ok(())).unwrap();
    let waf = laps.waf;
    let later = &laps.waf_by_lap[1..];
    assert!(later.iter().all(|lap| (lap / waf - 1.0).abs() < 0.1), "laps that skip requests: {later:?}");
    let setup = Setup {
        policy: plan.throttle.policy,
        target_ns: (plan.throttle.target_years * 8760.0 * 3600.0 * 1e9).round() as u64,
        physical_bytes: plan.drive.geometry.bytes(),
        page_bytes: plan.drive.geometry.page_bytes,
        endurance: plan.drive.endurance,
        cycles_used: 0.0,
        age_s: 0.0,
        arrivals_follow: true,
        params: plan.throttle.params,
        manager: plan.manager(),
    };
    let life = Life {
        setup,
        demand: &pass.demand,
        waf,
        detail_ns: None,
        lumps: laps.lumps.as_ref(),
        reduction: None,
    };
    life.run(&mut |_| -> Result<()> { Ok(()) }).unwrap()
}

fn close(computed: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((computed / expected - 1.0).abs() <= tolerance, "{what}: {computed}, not {expected}");
}

/// Five years of an 8 MiB drive, request by request through the FTL, against the same five years without a drive:
/// lifetime within 1 %, mean response within 2 %.
#[test]
fn lives_without_a_drive_come_out_as_lives_with_one() {
    let folder = Folder::new("five-years");
    let trace = folder.file("day.csv", day(1, 2400, 1600));
    let toml = experiment(&trace, "target_years = 5");
    let of = |policy: &'static str| {
        let plan = resolved(&toml, policy).plan;
        let (life, outcome) = full(&plan);
        let expected = life.years.unwrap();
        let mean = |life: &Outcome| SERVICE_NS as f64 + life.delay.mean_ns().unwrap();
        for (method, window_ns) in [("requests", None), ("windows", Some(1_000_000_000))] {
            let forecast = forecast(&plan, window_ns);
            let years = forecast.years.unwrap();
            close(years, expected, 0.01, &format!("{policy}, {method}, years"));
            assert_eq!(forecast.holds, life.holds, "{policy}, {method}");
            close(mean(&forecast), mean(&life), 0.02, &format!("{policy}, {method}, response"));
        }
        let [host, partial] = [Cause::Host, Cause::Partial].map(|c| outcome.flash.programs[c as usize]);
        assert_eq!(life.delay.count(), host + partial, "{policy}: every page write is on record");
        assert_eq!(life.delay.count(), outcome.host.page_writes, "{policy}");
        (policy, expected, mean(&life), life.work_bytes)
    };
    let lives = std::thread::scope(|scope| {
        let (one, other) = throttle::POLICIES.split_at(2);
        let half = scope.spawn(move || one.iter().map(|info| of(info.name)).collect::<Vec<_>>());
        let other: Vec<_> = other.iter().map(|info| of(info.name)).collect();
        [half.join().unwrap(), other].concat()
    });
    // The demand is too high for five years without a throttle, and far too high for nominal cycles.
    let years = |name: &str| lives.iter().find(|(policy, ..)| *policy == name).unwrap().1;
    assert!(years("none") < 4.0 && years("static") > 5.0);
    assert!(years("ready-pessimistic") >= 5.0 * 0.999 && years("ready-optimistic") >= 5.0 * 0.999);
}

/// A random workload on a random drive that cannot endure it until the target.
fn random_life(seed: u64, folder: &Folder) -> String {
    let mut rng = Rng::new(seed, "random life");
    let (blocks, pages_per_block) = (24 + rng.below(40), 8 << rng.below(3));
    let logical = blocks * pages_per_block * 6 / 10;
    let model = row(&mut rng, &endurance::SLOT).name;
    let target_years = 0.01 + 0.1 * rng.unit();
    // A life of more than 2400 blocks: the copies of one victim come at once, and must not be a thousandth of it.
    let pe_cycles = 100 + rng.below(100);
    // More than that stands, by so much; write amplification at a guess.
    let pages = (blocks * pages_per_block * pe_cycles) as f64 * (1.0 + 9.0 * rng.unit()) / 1.5;
    let rate = pages / (target_years * 8760.0 * 3600.0);
    let head = format!(
        "seed = {seed}\n[drive.geometry]\nblocks_per_plane = {blocks}\npages_per_block = {pages_per_block}\n\
         [drive.endurance]\nmodel = \"{model}\"\npe_cycles = {pe_cycles}\n\
         [ftl]\nspare_factor = 0.35\nprecondition = \"random\"\n\
         [lifetime.throttle]\ntarget_years = {target_years}\n[workload]\n"
    );
    match rng.below(4) {
        // Evenly, and in bursts far apart.
        0 => head + &format!("requests = 10\nrate_per_s = {rate}\n"),
        1 => {
            head + &format!(
                "requests = 10\npattern = \"jobs\"\nrate_per_s = {}\nburst_on_s = 300\nburst_off_s = 9000\n",
                rate * 31.0
            )
        }
        // A day that grows, or all at the end of each ten minutes; and requests of many pages now and then.
        kind => {
            let count = ((rate * 86_400.0) as u64).max(20);
            let mut text = String::new();
            for i in 0..=count {
                let share = i as f64 / count as f64;
                let at_s =
                    if kind == 2 { 86_400.0 * share.sqrt() } else { (share * 144.0).floor() * 600.0 + 599.0 };
                let size = if rng.below(100) == 0 { 1 + rng.below(64.min(logical - 1)) } else { 1 };
                let page = rng.below(logical - size);
                writeln!(text, "{},h,0,Write,{},{},0", (at_s * 1e7) as u64 + 1, page * 4096, size * 4096)
                    .unwrap();
            }
            let path = folder.file(&format!("{seed}.csv"), text);
            head + &format!("file = \"{path}\"\n")
        }
    }
}

/// No READY configuration wears a drive out before its target, with every request through the FTL and the shadow model
/// watching.
#[test]
fn ready_keeps_drives_alive() {
    let folder = Folder::new("alive");
    let mut used_up = 0;
    for seed in crate::common::seeds(40) {
        let toml = random_life(seed, &folder);
        for policy in ["ready-pessimistic", "ready-optimistic"] {
            let mut plan = resolved(&toml, policy).plan;
            plan.shadow = seed % 4 == 0;
            let (life, outcome) = full(&plan);
            let (years, target) = (life.years.unwrap(), plan.throttle.target_years);
            assert!(life.holds && years >= target * 0.999, "seed {seed}, {policy}: {years}\n{toml}");
            assert_eq!(life.delay.count(), outcome.host.page_writes, "seed {seed}, {policy}");
            used_up += u32::from(years < target * 1.01);
        }
    }
    assert!(used_up > 30, "{used_up} lives used up what there was");
}

/// The first block wears out earlier than the mean one in proportion to its erases, if its lead grows as the mean. Here
/// the spread of wear has an exponent slightly below 1.
#[test]
fn the_most_erased_block_wears_out_first() {
    let folder = Folder::new("first-block");
    let trace = folder.file("day.csv", day(2, 2400, 1600));
    let toml = experiment(&trace, "target_years = 0.25")
        .replace("model = \"ready-table2\"", "model = \"fixed\"\npe_cycles = 3000")
        .replace(
            "precondition = \"random\"",
            "precondition = \"sequential\"\ncollect = { policy = \"cost-benefit\" }",
        );
    let (life, outcome) = full(&resolved(&toml, "none").plan);
    let (_, mean, most, _) = outcome.erases;
    assert!(f64::from(most) > 1.02 * mean, "wear is too even to tell: {mean} {most}");
    let cycles = life.work_bytes / (8 << 20) as f64;
    let expected = 0.25 * 3000.0 / (cycles * f64::from(most) / mean);
    let settings = [("lifetime.forecast.method", "full"), ("lifetime.throttle.policy", "none")];
    let overrides = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let json = try_lifetime(&toml, &[overrides]).unwrap().remove(0);
    let of = |key: &str| json["lifetime"][key].as_f64().unwrap();
    close(of("years_first_block"), expected, 1e-3, "years of the first block");
    assert!(of("years_first_block") < of("years") / 1.02);
}

/// A drive that is worn out long before its target: the life ends there, with the same result for each target.
#[test]
fn a_life_in_full_ends_when_the_drive_is_worn_out() {
    let folder = Folder::new("worn-out");
    let trace = folder.file("day.csv", day(3, 2400, 1600));
    let toml = experiment(&trace, "target_years = 1")
        .replace("model = \"ready-table2\"", "model = \"fixed\"\npe_cycles = 300");
    let of = |target: &str, policy: &str| {
        let settings = [
            ("lifetime.forecast.method", "full"),
            ("lifetime.throttle.policy", policy),
            ("lifetime.throttle.target_years", target),
        ];
        let overrides = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        try_lifetime(&toml, &[overrides]).unwrap().remove(0)
    };
    let number = |json: &serde_json::Value, table: &str, key: &str| json[table][key].as_f64().unwrap();
    let (one, ten) = (of("1", "none"), of("10", "none"));
    let years = number(&one, "lifetime", "years");
    assert!(years < 0.5, "{years}");
    for key in ["years_first_block", "years_spare_blocks", "years"] {
        // Rows of the course are further apart where the target is far away.
        let tolerance = if key == "years" { 0.01 } else { 1e-9 };
        close(number(&ten, "lifetime", key), number(&one, "lifetime", key), tolerance, key);
    }
    // Until the target the writes continue unchanged, and all of them are served.
    close(
        number(&ten, "lifetime", "w_work_bytes"),
        10.0 * number(&one, "lifetime", "w_work_bytes"),
        0.01,
        "bytes",
    );
    close(number(&ten, "throttle", "demand_share"), 1.0, 0.01, "share");
    let writes = |json| number(json, "throttle", "page_writes");
    assert!(writes(&ten) < 1.1 * writes(&one), "{} and {}", writes(&ten), writes(&one));
    // A throttle works until the target.
    let held = of("1", "static");
    assert!(held["lifetime"]["holds"] == true && number(&held, "lifetime", "years") > 0.999);
}
