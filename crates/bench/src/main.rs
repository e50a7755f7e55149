//! `make bench`: the engine relative to a flat kernel and to plain memory, in one run, in CPU time.
//!
//! Rounds of the compared subjects alternate: a drift of the machine's speed affects all of them. Medians of rates and
//! of ratios are printed, and appended to a history if the environment names one (`report.rs`). No test depends on
//! them.

mod captures;
mod content;
mod contexts;
mod disturb;
mod drives;
mod engine;
mod flat;
mod leveling;
mod measure;
mod mining;
mod readers;
mod report;
mod separators;
mod snapshots;
mod throttles;
mod timed;
mod yardsticks;

use measure::{PAGES_PER_BLOCK, ROUNDS, SPARE};
use report::Report;
use std::path::Path;
use std::process::ExitCode;

/// Runs a fixed amount of work on a 1 GiB drive and nothing else.
///
/// `floatgate-bench count engine|packed|flat|CASE|reads|disturbed-reads|dedup|compress|SEPARATOR|contexts SEPARATOR`,
/// with a case of `timed`, is meant for `valgrind --tool=callgrind`: its instruction counts do not depend on other load
/// of the machine. `count trace FILE` reads a trace and does no more.
fn count(what: Option<&str>) {
    if let (Some("trace"), Some(file)) = (what, std::env::args().nth(3)) {
        readers::read(Path::new(&file));
        return;
    }
    let (blocks, host_pages) = (1024, 2_000_000);
    let case = what.and_then(timed::named);
    let (_, waf) = match (case, what) {
        (Some(case), _) => timed::measure(case, blocks, host_pages),
        (_, Some("flat")) => yardsticks::flat(blocks, PAGES_PER_BLOCK, SPARE, host_pages),
        (_, Some("packed")) => engine::packed(blocks, PAGES_PER_BLOCK, SPARE, host_pages),
        (_, Some("reads")) => {
            engine::reads(blocks, PAGES_PER_BLOCK, SPARE, host_pages, "");
            (0.0, 0.0)
        }
        (_, Some("disturbed-reads")) => {
            engine::reads(blocks, PAGES_PER_BLOCK, SPARE, host_pages, &disturb::tables("redftl-plus", 4_000));
            (0.0, 0.0)
        }
        (_, Some(scheme @ ("dedup" | "compress"))) => {
            let of = content::Schemed { dedup: scheme == "dedup", compress: scheme == "compress" };
            let (_, waf, _) = content::host_pages(blocks, of, 1);
            (0.0, waf)
        }
        (_, Some("contexts")) => {
            contexts::programs(blocks, std::env::args().nth(3).as_deref().unwrap_or("ids"));
            (0.0, 0.0)
        }
        (_, Some(separator)) if separator != "engine" => {
            engine::uniform(blocks, PAGES_PER_BLOCK, SPARE, host_pages, separator)
        }
        _ => engine::uniform(blocks, PAGES_PER_BLOCK, SPARE, host_pages, "none"),
    };
    println!("{host_pages} host pages at WAF {waf:.3}");
}

/// A group of metrics: its name, and its function of the rest of the command line.
type Group = (&'static str, fn(&mut Report, Option<&str>));

/// All groups, in the order of a whole benchmark.
const GROUPS: &[Group] = &[
    ("separators", |report, _| separators::all(report)),
    ("engine", |report, _| [8, 128].into_iter().for_each(|gib| drives::plain(report, gib))),
    ("timed", timed::all),
    ("read-disturb", |report, _| disturb::all(report)),
    ("leveling", |report, _| leveling::leveling(report)),
    ("content", |report, gib| match gib.map(str::parse) {
        Some(Ok(gib)) => content::memory(report, gib),
        Some(Err(_)) => eprintln!("content: expected a size in GiB, or nothing"),
        None => content::content(report),
    }),
    ("packed", |report, _| drives::packed(report)),
    ("snapshots", |report, _| snapshots::all(report)),
    ("throttles", |report, _| throttles::all(report)),
    ("mining", |report, _| mining::all(report)),
    ("captures", |report, _| captures::all(report)),
    ("msr", |report, _| drives::msr(report)),
    ("readers", |report, _| readers::all(report)),
];

/// Runs `floatgate-bench`, or `floatgate-bench GROUP [CASE]`.
fn bench(only: Option<&str>, case: Option<&str>) -> Result<(), String> {
    let mut report = Report::of_environment()?;
    if let Some(only) = only
        && !GROUPS.iter().any(|&(name, _)| name == only)
    {
        let names: Vec<&str> = GROUPS.iter().map(|&(name, _)| name).collect();
        return Err(format!("no group {only:?}; expected one of {}, or count", names.join(", ")));
    }
    println!("medians of {ROUNDS} rounds, CPU time");
    for (_, group) in GROUPS.iter().filter(|&&(name, _)| only.is_none_or(|only| only == name)) {
        group(&mut report, case);
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize| arguments.get(at).map(String::as_str);
    if argument(0) == Some("count") {
        count(argument(1));
        return ExitCode::SUCCESS;
    }
    match bench(argument(0), argument(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
