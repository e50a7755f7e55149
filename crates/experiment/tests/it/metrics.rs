//! Every figure of a result has a row in the table of metrics, and every row stands for a figure that a run knows.
//! (Every run of the other tests is held to the first: `common::try_run`.)

use crate::common::knob_toml::{aware, suspending};
use crate::common::metrics::known;
use crate::common::{Folder, hinted, run_ok};
use floatgate_stats::metrics::figures;
use std::collections::BTreeSet;

const SMALL: &str = "[drive.geometry]\nblocks_per_plane = 48\npages_per_block = 16\n";

/// The type of page that only cells of four bits have, for which no model of read disturb ships.
const NEVER: &[&str] = &["reclaim.reads_by_page_type.TSB"];

/// Runs that together know every figure.
fn runs(folder: &Folder) -> [String; 9] {
    let hinted = hinted::file(folder, "hinted.parquet", &hinted::programs(1, 3, 480, 4000));
    let trace = folder.file("trace.csv", msr());
    let disturbed = "[drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = 200\n[ftl]\nspare_factor = 0.25\n\
                     [ftl.reclaim]\npolicy = \"redftl-plus\"\n[workload]\nrequests = 60000\nread_share = 0.95\n\
                     pattern = \"zipf\"\nzipf_theta = 1.2\n";
    let energy = "[drive.energy]\nread_uj = 1\nprogram_uj = 2\nerase_uj = 3\ntransfer_uj = 0.1\n";
    let spare = "[ftl]\nspare_factor = 0.25\n";
    let reduced = "[lifetime.reduce]\npolicy = \"integrated\"\nepoch_s = 30\n[workload]\nrequests = 6000\n\
                   duplicate_share = 0.3\ncompressed_share = 0.6\narrival = \"open\"\nrate_per_s = 5\n";
    let throttled = "[lifetime.throttle]\npolicy = \"ready-optimistic\"\ntarget_years = 0.001\nmax_delay_s = 10\n\
                     [workload]\nrequests = 20000\nread_share = 0.1\narrival = \"open\"\nrate_per_s = 5\n";
    let mined = "[ftl.dispatch]\npolicy = \"patterns\"\n[workload]\nrequests = 20000\npattern = \"hot-cold\"\n\
                 hot_share_of_pages = 0.04\nhot_share_of_writes = 0.9\n";
    let queues = "[host]\nqueues = 2\n";
    [
        format!("mode = \"timed\"\n{SMALL}{disturbed}"),
        format!("mode = \"timed\"\n{SMALL}{energy}{spare}{reduced}"),
        format!(
            "{SMALL}{spare}{}",
            reduced.replace("integrated\"\nepoch_s = 30", "both\"").replace("arrival = \"open\"\n", "")
        ),
        format!("mode = \"timed\"\n{SMALL}{spare}{throttled}"),
        format!("{SMALL}{spare}{mined}"),
        format!(
            "{SMALL}[ftl]\nspare_factor = 0.375\n[ftl.separate]\npolicy = \"ids\"\n[workload]\nfile = \"{hinted}\"\n"
        ),
        format!(
            "{SMALL}[drive.rated]\ntbw_tb = 1\n{spare}collect.policy = \"cost-benefit\"\n[workload]\non_bad_line = \"skip\"\nfile = \"{trace}\"\n"
        ),
        suspending() + queues,
        aware("").replace("[drive.geometry]", "mode = \"timed\"\n[drive.geometry]"),
    ]
}

/// Eight minutes of writes to one device, with one damaged line and one time stamp that runs backwards.
fn msr() -> String {
    let line = |i: u64| {
        format!("{},usr,0,Write,{},4096,0\n", 128_166_372_003_061_629 + i * 10_000_000, i * 7 % 480 * 4096)
    };
    let lines: String = (0..500).map(line).collect();
    lines + "a line\n" + &line(5)
}

#[test]
fn every_row_is_a_figure_of_some_run() {
    let folder = Folder::new("metrics");
    let found: BTreeSet<String> =
        runs(&folder).iter().flat_map(|toml| known(&run_ok(toml, &[]).result)).collect();
    let keys = figures().into_iter().map(|figure| figure.key);
    let silent: Vec<_> = keys.filter(|key| !found.contains(key)).collect();
    assert_eq!(silent, NEVER, "rows that no run has");
}
