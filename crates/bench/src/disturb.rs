//! The cost of modelling read disturb.

use crate::engine;
use crate::measure::{PAGES_PER_BLOCK, SPARE, rounds};
use crate::report::{Metric, Report};

/// Managers of read disturb with the required page reads per CPU second, 10^6.
const MANAGERS: &[(&str, f64)] =
    &[("baseline", 40.0), ("rrb", 0.0), ("redftl", 0.0), ("redftl-plus", 20.0), ("redftl-plus-plus", 0.0)];

/// Returns the tables of a drive with read disturb, under a manager.
pub fn tables(manager: &str, max_reads: u32) -> String {
    format!(
        "[drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = {max_reads}\n[ftl.reclaim]\npolicy = \"{manager}\"\n"
    )
}

/// Measures page reads with and without a manager; blocks are reclaimed again and again.
pub fn all(report: &mut Report) {
    let (gib, requests) = (8, 60_000_000);
    report.group(
        "read-disturb",
        format!(
            "{gib} GiB drive filled in order, uniform random 4 KiB reads, blocks of 256 pages that stand 4,000 reads"
        ),
    );
    let of = |tables: &str| rounds(|| engine::reads(gib * 1024, PAGES_PER_BLOCK, SPARE, requests, tables));
    report.print("without a model, M page reads/s", &Metric::rate("none/page-reads", "M/s", &of("")));
    for &(manager, required) in MANAGERS {
        let rates = of(&tables(manager, 4_000));
        let rate = Metric::rate(format!("{manager}/page-reads"), "M/s", &rates).at_least(required);
        report.print(&format!("{manager}, M page reads/s"), &rate);
    }
}
