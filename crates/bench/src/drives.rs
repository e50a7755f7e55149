//! The engine relative to the flat kernel and to the machine's memory, and on larger flash pages.

use crate::measure::{PAGES_PER_BLOCK, ROUNDS, SPARE, rounds};
use crate::report::{Metric, Report, Yardstick};
use crate::{engine, timed, yardsticks};

/// Measures the engine on a drive of so many GiB.
pub fn plain(report: &mut Report, gib: u32) {
    let blocks = gib * 1024;
    let pages = u64::from(blocks) * u64::from(PAGES_PER_BLOCK);
    let logical = (pages as f64 * (1.0 - SPARE)) as u64;
    let host_pages = if gib < 64 { 4 * pages } else { pages / 2 };
    report.group(
        "engine",
        format!("{gib} GiB drive, uniform random 4 KiB writes at steady state, greedy, 7 % spare, one core"),
    );
    let (mut plain, mut grouped, mut flat, mut ours) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        plain.push(yardsticks::memory(logical, 100_000_000));
        grouped.push(plain[plain.len() - 1].1);
        flat.push(yardsticks::flat(blocks, PAGES_PER_BLOCK, SPARE, host_pages));
        ours.push(engine::uniform(blocks, PAGES_PER_BLOCK, SPARE, host_pages, "none"));
    }
    let plain: Vec<f64> = plain.iter().map(|&(plain, _)| plain).collect();
    let size = format!("{gib}gib");
    let touch = "random read-modify-writes, map-sized table";
    report.print(&format!("{touch}, M/s"), &Metric::rate(format!("{size}/memory"), "M/s", &plain));
    report.print(
        "the same, prefetched, M/s",
        &Metric::rate(format!("{size}/memory-prefetched"), "M/s", &grouped),
    );
    let mut programs = |name: &str, key: &str, rounds: &[(f64, f64)]| {
        let (rates, wafs): (Vec<f64>, Vec<f64>) = rounds.iter().copied().unzip();
        let waf = report.keep(&Metric::fact(format!("{size}/{key}waf"), "", &wafs));
        let rate = Metric::rate(format!("{size}/{key}programs"), "M/s", &rates);
        report.print(&format!("{name} at WAF {waf:.3}, M programs/s"), &rate);
        rates
    };
    let flat = programs("flat kernel", "flat-kernel-", &flat);
    let ours = programs("engine", "", &ours);
    let flat = Yardstick { name: "flat kernel", unit: "M programs/s", rounds: &flat };
    let required = if gib < 64 { 0.95 } else { 0.75 };
    let ratio = Metric::ratio(format!("{size}/flat-kernel-ratio"), &ours, &flat).at_least(required);
    report.print("engine / flat kernel", &ratio);
    if gib == 128 {
        let plain = Yardstick { name: "read-modify-writes", unit: "M/s", rounds: &plain };
        let ratio = Metric::ratio(format!("{size}/memory-ratio"), &ours, &plain).at_least(0.80);
        report.print("engine / plain read-modify-writes", &ratio);
        let grouped = Yardstick { name: "prefetched read-modify-writes", unit: "M/s", rounds: &grouped };
        let ratio = Metric::ratio(format!("{size}/memory-prefetched-ratio"), &ours, &grouped);
        report.print("engine / prefetched read-modify-writes", &ratio);
    }
}

/// Measures the cost of sharing a flash page among four pages of the map.
pub fn packed(report: &mut Report) {
    let (gib, host_pages) = (8, 8_000_000);
    report.group(
        "packed",
        format!(
            "{gib} GiB drive, 16 KiB flash pages under a map of 4 KiB, beside 4 KiB pages; pages written per CPU second"
        ),
    );
    let blocks = gib * 1024;
    let mut beside =
        |key: &str, label: &str, required: f64, ours: &dyn Fn() -> f64, plain: &dyn Fn() -> f64| {
            let (ours, plain): (Vec<f64>, Vec<f64>) = rounds(|| (ours(), plain())).into_iter().unzip();
            let yardstick = Yardstick { name: "4 KiB flash pages", unit: "M/s", rounds: &plain };
            report.print(
                label,
                &Metric::ratio(format!("{key}/small-pages-ratio"), &ours, &yardstick).at_least(required),
            );
        };
    beside(
        "functional",
        "functional",
        0.8,
        &|| engine::packed(blocks, PAGES_PER_BLOCK, SPARE, host_pages).0,
        &|| engine::uniform(blocks, PAGES_PER_BLOCK, SPARE, host_pages, "none").0,
    );
    let [plain, shared] = ["timed", "timed-packed"].map(|name| timed::named(name).expect("there is one"));
    let one = |case| timed::measure(case, blocks, host_pages).0;
    // Plain flash pages are moved in rows, shared ones are not.
    let label = "timed, beside a drive whose moves go in rows";
    beside("timed", label, 0.0, &|| one(shared), &|| one(plain));
}

/// Measures reading a trace in MSR's format from a warm file.
pub fn msr(report: &mut Report) {
    report.group("msr", "MSR CSV from a warm file, single-page requests");
    let (parse, both): (Vec<f64>, Vec<f64>) = rounds(engine::msr).into_iter().unzip();
    report.print("parse alone, M requests/s", &Metric::rate("parse", "M requests/s", &parse));
    let both = Metric::rate("simulate", "M requests/s", &both).at_least(5.0);
    report.print("parse and simulation, M requests/s", &both);
}
