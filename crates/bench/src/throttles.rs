//! Requests through the gate of a throttle per CPU second: one by one, and in whole lives, where stretches without
//! throttling pass at once.

use crate::measure::{rate, rounds};
use crate::report::{Metric, Report};
use floatgate_base::{Error, Rng};
use floatgate_lifetime::life::{DemandBuilder, Life};
use floatgate_lifetime::throttle::{Gate, Setup, Throttle};

const SECOND_NS: u64 = 1_000_000_000;
const DAY_NS: u64 = 86_400 * SECOND_NS;
/// Share of the host's page writes that the drive admits; throttling is active.
const ADMITTED: f64 = 0.6;
/// Requests per measurement that pass one by one.
const REQUESTS: u64 = 40_000_000;

/// Generates a day of requests of one to eight pages at random times: time and pages.
fn day(per_second: u64) -> Vec<(u64, u64)> {
    let mut rng = Rng::new(1, "bench");
    let requests = per_second * DAY_NS / SECOND_NS;
    let mut at_ns = 0;
    let mut request = |_| {
        at_ns += rng.below(2 * DAY_NS / requests);
        (at_ns, 1 + rng.below(8))
    };
    (0..requests).map(&mut request).collect()
}

fn setup(policy: Throttle, pages: u64, days: u64) -> Setup {
    let budget = ADMITTED * days as f64 * pages as f64;
    // Under recovery a block endures about twice its nominal cycles.
    Setup::ready(policy, (budget / 6000.0) as u64 * 4096, days * DAY_NS)
}

/// Measures millions of requests per CPU second, one by one.
fn one_by_one(policy: Throttle, day: &[(u64, u64)]) -> f64 {
    let pages = day.iter().map(|(_, pages)| pages).sum();
    let mut gate = Gate::new(setup(policy, pages, 365), 1.0);
    rate(REQUESTS, || {
        let (mut left, mut base_ns) = (REQUESTS, 0);
        while left > 0 {
            for &(at_ns, pages) in day.iter().take(left as usize) {
                gate.admit(base_ns + at_ns + gate.held_back_ns(), 0, pages, &mut ());
            }
            left -= left.min(day.len() as u64);
            base_ns += DAY_NS;
        }
    })
}

/// Measures millions of requests per CPU second of a year in windows of a second.
fn whole_life(policy: Throttle, day: &[(u64, u64)]) -> f64 {
    let mut builder = DemandBuilder::new(Some(SECOND_NS));
    day.iter().for_each(|&(at_ns, pages)| builder.add(at_ns, pages));
    let demand = builder.finish(DAY_NS);
    let setup = setup(policy, demand.pages(), 365);
    let life = Life { setup, demand: &demand, waf: 1.0, detail_ns: None, lumps: None, reduction: None };
    let mut pages = 0;
    let lives_per_s = rate(1_000_000, || {
        let outcome = life.run::<Box<Error>>(&mut |_| Ok(())).expect("nothing breaks off");
        pages = outcome.delay.count();
    });
    lives_per_s * pages as f64 / demand.pages() as f64 * day.len() as f64 / 1e6
}

/// Measures each throttle on a busy day and on a calm one.
pub fn all(report: &mut Report) {
    for (per_second, required) in [(100, 50.0), (5, 0.0)] {
        report.group(
            "throttles",
            format!("requests of 1 to 8 pages at random times, {per_second} a second, of which a throttle admits 60 %"),
        );
        let day = day(per_second);
        for &policy in &Throttle::ALL[1..] {
            let name = policy.info().name;
            let single = rounds(|| one_by_one(policy, &day));
            let single =
                Metric::rate(format!("{name}/{per_second}-a-second/one-by-one"), "M requests/s", &single);
            report.print(&format!("{name}, M requests/s one by one"), &single.at_least(required));
            let whole = rounds(|| whole_life(policy, &day));
            let whole = Metric::rate(format!("{name}/{per_second}-a-second/lives"), "M requests/s", &whole);
            report.print(&format!("{name}, lives by windows"), &whole);
        }
    }
}
