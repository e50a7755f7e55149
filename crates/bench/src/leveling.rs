//! The cost of wear-leveling for host writes.

use crate::engine;
use crate::measure::{PAGES_PER_BLOCK, SPARE};
use crate::report::Report;
use crate::separators::beside_the_first;

/// Levelers, each with the required share of the programs of `none`; their rounds alternate with those of `none`.
const LEVELERS: &[(&str, f64)] = &[("none", 0.0), ("swl", 0.8), ("read-balance", 0.8)];

/// Measures pages written per CPU second under each leveler.
pub fn leveling(report: &mut Report) {
    let (gib, host_pages) = (8, 8_000_000);
    report.group(
        "leveling",
        format!(
            "{gib} GiB drive, uniform random 4 KiB writes at steady state, greedy, 7 % spare, by wear-leveler"
        ),
    );
    beside_the_first(report, LEVELERS, |name| {
        engine::leveled(gib * 1024, PAGES_PER_BLOCK, SPARE, host_pages, name)
    });
}
