//! Every metric of a result has a row in the table of metrics, and every row is a metric of some run.
//! (`common::try_run` checks the first part in all other tests, too.)

use crate::common::knob_toml::{aware, suspending};
use crate::common::metrics::{known, known_of};
use crate::common::{Folder, hinted, run_ok};
use floatgate_experiment::{LifetimeOptions, lifetime};
use floatgate_stats::metrics::{Document, metrics};
use std::collections::BTreeSet;

const SMALL: &str = "[drive.geometry]\nblocks_per_plane = 48\npages_per_block = 16\n";

/// The page type of four-bit cells, for which no model of read disturb ships.
const NEVER: &[&str] = &["reclaim.reads_by_page_type.TSB"];

/// Returns experiments whose results together have every metric.
fn runs(folder: &Folder) -> [String; 12] {
    let hinted = hinted::file(folder, "hinted.parquet", &hinted::programs(1, 3, 480, 4000));
    let bursts = hinted::file_at(folder, "bursts.parquet", &hinted::bursts(1, 480, 40));
    let trace = folder.file("trace.csv", msr(1));
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
        format!(
            "mode = \"timed\"\n{SMALL}{spare}collect.timing = \"by-context\"\n[ftl.background]\npolicy = \"by-context\"\n[workload]\narrival = \"open\"\nfile = \"{bursts}\"\n"
        ),
        format!(
            "{SMALL}[drive]\nplp = false\n{spare}[ftl.metadata]\npolicy = \"journal\"\n[workload]\nrequests = 2000\nfua_share = 0.1\n"
        ),
        format!("{SMALL}{spare}[ftl.dpes]\npolicy = \"fixed\"\n[workload]\nrequests = 20000\n"),
        suspending() + queues,
        aware("").replace("[drive.geometry]", "mode = \"timed\"\n[drive.geometry]"),
    ]
}

/// Generates writes to one device, so many seconds apart, with one damaged line and one out-of-order time stamp.
fn msr(gap_s: u64) -> String {
    let line = |i: u64| {
        format!(
            "{},usr,0,Write,{},4096,0\n",
            128_166_372_003_061_629 + i * gap_s * 10_000_000,
            i * 7 % 480 * 4096
        )
    };
    let lines: String = (0..500).map(line).collect();
    lines + "a line\n" + &line(5)
}

/// A metric of the drive that no forecast has.
const NEVER_FORECAST: &[&str] = &["drive.effective_spare_factor"];

/// Returns experiments whose forecasts together have every metric of their own.
fn forecasts(folder: &Folder) -> [String; 4] {
    let trace = folder.file("days.csv", msr(900));
    let drive = |throttle: &str, method: &str| {
        format!(
            "{SMALL}[drive.rated]\ntbw_tb = 1\n[drive.endurance]\nmodel = \"ready-table2\"\n\
             [ftl]\nspare_factor = 0.25\n[lifetime.forecast]\nmethod = \"{method}\n\
             [lifetime.throttle]\npolicy = \"{throttle}\"\ntarget_years = 0.02\n"
        )
    };
    let load = "[workload]\nrequests = 6000\nread_share = 0.2\nrate_per_s = 2\nduplicate_share = 0.3\ncompressed_share = 0.6\n";
    [
        drive("ready-optimistic", "windows\"\nlap_programs_min = 2000\nclose_up_requests = 1000")
            + "max_delay_s = 10\n[ftl.level]\npolicy = \"gap\"\n"
            + &load.replace("rate_per_s = 2", "rate_per_s = 4000"),
        drive("none", "full\"\nclose_up_requests = 1000") + "[lifetime.reduce]\npolicy = \"both\"\n" + load,
        drive("none", "windows\"\nlaps_max = 3")
            + "[lifetime.reduce]\npolicy = \"integrated\"\nepoch_s = 3600\n"
            + load,
        drive("ready-pessimistic", "windows\"\nwaf = 2.5")
            + "[workload]\non_bad_line = \"skip\"\nfile = \""
            + &trace
            + "\"\n",
    ]
}

#[test]
fn every_row_is_a_metric_of_some_forecast() {
    let folder = Folder::new("forecast-metrics");
    let options = LifetimeOptions { details_s: vec![Some((0.0, 7200.0))], ..LifetimeOptions::default() };
    let keys = forecasts(&folder).map(|toml| {
        let lives = lifetime(Some(&toml), "t.toml", &[vec![]], &options, &mut |_| Ok(()));
        known_of(Document::Forecast, &lives.unwrap_or_else(|error| panic!("{error}\n{toml}"))[0])
    });
    let known_keys: BTreeSet<String> = keys.into_iter().flatten().collect();
    let own = metrics(Document::Forecast).into_iter().filter(|metric| !metric.optional);
    let silent: Vec<_> = own.map(|metric| metric.key).filter(|key| !known_keys.contains(key)).collect();
    assert_eq!(silent, NEVER_FORECAST, "rows that no forecast has");
}

#[test]
fn every_row_is_a_metric_of_some_run() {
    let folder = Folder::new("metrics");
    let known_keys: BTreeSet<String> =
        runs(&folder).iter().flat_map(|toml| known(&run_ok(toml, &[]).result)).collect();
    let keys = metrics(Document::Result).into_iter().map(|metric| metric.key);
    let silent: Vec<_> = keys.filter(|key| !known_keys.contains(key)).collect();
    assert_eq!(silent, NEVER, "rows that no run has");
}
