//! What separators and other policies cost that look at every page which is written or moved.

use crate::measure::{PAGES_PER_BLOCK, SPARE, rounds};
use crate::report::{Figure, Report, Yardstick};
use crate::{contexts, engine};

/// Separators that look at pages and need no hints, beside `none`, whose rounds alternate with theirs; the share of its
/// programs that is asked.
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

/// Programs per CPU second and write amplification under each policy, beside those of the first.
pub fn beside_the_first(report: &mut Report, policies: &[(&str, f64)], run: impl Fn(&str) -> (f64, f64)) {
    let rounds = rounds(|| policies.iter().map(|&(name, _)| run(name)).collect::<Vec<_>>());
    let first: Vec<f64> = rounds.iter().map(|round| round[0].0).collect();
    let first_name = policies[0].0;
    let yardstick = Yardstick { name: first_name, unit: "M programs/s", rounds: &first };
    for (i, &(name, asked)) in policies.iter().enumerate() {
        let (rates, wafs): (Vec<f64>, Vec<f64>) = rounds.iter().map(|round| round[i]).unzip();
        let rate = report.keep(&Figure::rate(format!("{name}/programs"), "M/s", &rates));
        let waf = report.keep(&Figure::fact(format!("{name}/waf"), "", &wafs));
        report.print(
            &format!("{name}, {rate:.1} M programs/s at WAF {waf:.3}, / {first_name}"),
            &Figure::ratio(format!("{name}/{first_name}-ratio"), &rates, &yardstick).at_least(asked),
        );
    }
}

/// Separators that go by pages, then those that go by contexts.
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
