//! Timed mode at saturation: 8 channels, queue depth 32, collection timed too.

use crate::measure::{PAGES_PER_BLOCK, ROUNDS, SPARE};
use crate::report::{Metric, Report, Yardstick};
use crate::yardsticks;
use floatgate_experiment::load;
use floatgate_experiment::meter::thread_cpu_s;

/// A drive and its load; all cases have 8 channels, greedy collection and 7 % spare.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    /// Keys of `drive.geometry`, and tables after it.
    tables: &'static str,
    /// Collection by whole blocks or in steps.
    collect: &'static str,
    /// Share of requests that read.
    read_share: f64,
    dies_per_channel: u32,
    pages_per_block: u32,
    /// Required share of the flat kernel's programs per second; 0 for none.
    required: f64,
}

const fn case(name: &'static str, tables: &'static str) -> Case {
    Case {
        name,
        tables,
        collect: "whole-block",
        read_share: 0.0,
        dies_per_channel: 1,
        pages_per_block: PAGES_PER_BLOCK,
        required: 0.0,
    }
}

const TYPES: &str = "[drive.timing]\nprogram_us_by_page_type = [300, 600, 1200]\n";
const SPREAD: &str = "[drive.timing]\nprogram_spread = 0.1\n";
const COMMANDS: &str = "[drive.commands]\ncache_read = true\ncache_program = true\nprogram_suspend = true\n";
const QUEUES: &str = "[host]\nqueues = 4\noutstanding_max = 32\n";
const BUFFER: &str = "[drive.buffer]\ncapacity = \"1 MiB\"\n";

/// The measured cases, the plain drive first.
pub const CASES: &[Case] = &[
    Case { required: 0.26, ..case("timed", "") },
    Case { required: 0.18, collect: "incremental", ..case("timed-steps", "") },
    Case { required: 0.16, ..case("timed-types", TYPES) },
    Case { required: 0.12, dies_per_channel: 4, ..case("timed-dies", "") },
    case("timed-spread", SPREAD),
    case("timed-commands", COMMANDS),
    case("timed-queues", QUEUES),
    case("timed-buffer", BUFFER),
    Case { read_share: 1.0, ..case("timed-reads", "") },
    Case { read_share: 0.3, ..case("timed-mixed", "") },
    Case { read_share: 1.0, ..case("timed-queues-reads", QUEUES) },
    Case { read_share: 1.0, ..case("timed-buffer-reads", BUFFER) },
    Case { pages_per_block: PAGES_PER_BLOCK / 4, ..case("timed-packed", "page_bytes = 16384\n") },
];

/// Returns the case of a name.
pub fn named(name: &str) -> Option<Case> {
    CASES.iter().copied().find(|case| case.name == name)
}

/// Measures pages programmed and read for the host, together, per CPU second in the counted phase, 10^6, and the write
/// amplification.
pub fn measure(case: Case, blocks: u32, requests: u64) -> (f64, f64) {
    let Case { tables, collect, read_share, dies_per_channel, pages_per_block, .. } = case;
    let toml = format!(
        "mode = \"timed\"\n[drive.geometry]\nchannels = 8\nchips_per_channel = {dies_per_channel}\n\
         blocks_per_plane = {}\npages_per_block = {pages_per_block}\n{tables}[ftl]\nspare_factor = {SPARE}\n\
         precondition = \"steady\"\n[ftl.collect]\nmode = \"{collect}\"\n[workload]\nrequests = {requests}\n\
         read_share = {read_share}\nqueue_depth = 32\n",
        blocks / 8 / dies_per_channel
    );
    let resolved = load(Some(&toml), "bench.toml", &[]).expect("the bench's experiment is valid");
    let mut simulation = floatgate_sim::Simulation::new(resolved.plan).expect("the bench's experiment runs");
    while !matches!(simulation.phase(), floatgate_sim::Phase::Run) {
        simulation.step(1).expect("preconditioning succeeds");
    }
    let start = thread_cpu_s();
    while simulation.step(1 << 20).expect("the bench's experiment runs") != floatgate_sim::Phase::Done {}
    let cpu_s = thread_cpu_s() - start;
    let outcome = simulation.finish();
    let work = outcome.flash.programs_total() as f64 + requests as f64 * read_share;
    (work / cpu_s / 1e6, outcome.waf.waf.unwrap_or(f64::NAN))
}

/// Measures all cases relative to the flat kernel, or the one of a name.
pub fn all(report: &mut Report, only: Option<&str>) {
    let (gib, requests) = (8, 8_000_000);
    report.group(
        "timed",
        format!(
            "{gib} GiB drive in timed mode, 8 channels, queue depth 32, collection timed too, one core; pages programmed \
             and read for the host per CPU second, beside those of the flat kernel"
        ),
    );
    for &case in CASES.iter().filter(|case| only.is_none_or(|only| only == case.name)) {
        let (mut flat, mut rates, mut wafs) = (vec![], vec![], vec![]);
        for _ in 0..ROUNDS {
            flat.push(yardsticks::flat(gib * 1024, PAGES_PER_BLOCK, SPARE, requests).0);
            let (rate, waf) = measure(case, gib * 1024, requests);
            rates.push(rate);
            wafs.push(waf);
        }
        let key = case.name.strip_prefix("timed-").unwrap_or("plain");
        let rate = report.keep(&Metric::rate(format!("{key}/pages"), "M/s", &rates));
        // A load of reads only has no ratio.
        let waf = if case.read_share < 1.0 {
            format!(" at WAF {:.2}", report.keep(&Metric::fact(format!("{key}/waf"), "", &wafs)))
        } else {
            String::new()
        };
        let flat = Yardstick { name: "flat kernel", unit: "M programs/s", rounds: &flat };
        let ratio = Metric::ratio(format!("{key}/flat-kernel-ratio"), &rates, &flat).at_least(case.required);
        report.print(&format!("{}, {rate:.2} M/s{waf}, / flat", case.name), &ratio.digits(3));
    }
}
