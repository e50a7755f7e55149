//! The cost of separators and other policies that inspect every written or moved page.

use crate::measure::{PAGES_PER_BLOCK, SPARE, rounds};
use crate::report::{Metric, Report, Yardstick};
use crate::{contexts, engine};

/// Separators that inspect pages and need no hints, each with the required share of the programs of `none`; their
/// rounds alternate with those of `none`.
const SEPARATORS: &[(&str, f64)] = &[
    ("none", 0.0),
    ("hash", 0.5),
    ("sepbit", 0.5),
    ("host-gc", 0.0),
    ("two-level-lru", 0.0),
    ("bloom", 0.0),
    ("dac", 0.0),
    ("multilog", 0.0),
    ("eti", 0.0),
    ("sfr", 0.0),
    ("fadac", 0.0),
    ("warcip", 0.0),
    ("fk", 0.0),
    ("ora", 0.0),
];

/// Measures programs per CPU second and write amplification under each policy, relative to the first.
pub fn beside_the_first(report: &mut Report, policies: &[(&str, f64)], run: impl Fn(&str) -> (f64, f64)) {
    let rounds = rounds(|| policies.iter().map(|&(name, _)| run(name)).collect::<Vec<_>>());
    let first: Vec<f64> = rounds.iter().map(|round| round[0].0).collect();
    let first_name = policies[0].0;
    let yardstick = Yardstick { name: first_name, unit: "M programs/s", rounds: &first };
    for (i, &(name, required)) in policies.iter().enumerate() {
        let (rates, wafs): (Vec<f64>, Vec<f64>) = rounds.iter().map(|round| round[i]).unzip();
        let rate = report.keep(&Metric::rate(format!("{name}/programs"), "M/s", &rates));
        let waf = report.keep(&Metric::fact(format!("{name}/waf"), "", &wafs));
        report.print(
            &format!("{name}, {rate:.1} M programs/s at WAF {waf:.3}, / {first_name}"),
            &Metric::ratio(format!("{name}/{first_name}-ratio"), &rates, &yardstick).at_least(required),
        );
    }
}

/// Measures separators that use pages, then those that use contexts.
pub fn all(report: &mut Report) {
    let (gib, host_pages) = (8, 8_000_000);
    report.group(
        "separators",
        format!(
            "{gib} GiB drive, uniform random 4 KiB writes at steady state, greedy, 7 % spare, by separator"
        ),
    );
    beside_the_first(report, SEPARATORS, |name| {
        engine::uniform(gib * 1024, PAGES_PER_BLOCK, SPARE, host_pages, name)
    });
    contexts::all(report);
}
