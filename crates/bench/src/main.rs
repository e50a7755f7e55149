//! `make bench`: the engine beside a flat kernel and plain memory, in one run, in CPU time.
//!
//! Rounds alternate between what is compared, so that a machine whose speed drifts drifts for all; medians and the
//! ratios of medians are printed. Nothing here judges a test.

mod captures;
mod content;
mod contexts;
mod engine;
mod flat;
mod leveling;
mod measure;
mod mining;
mod readers;
mod snapshots;
mod throttles;
mod timed;
mod yardsticks;

use measure::{PAGES_PER_BLOCK, ROUNDS, SPARE, median, verdict};

fn drive(gib: u32) {
    let blocks = gib * 1024;
    let pages = u64::from(blocks) * u64::from(PAGES_PER_BLOCK);
    let logical = (pages as f64 * (1.0 - SPARE)) as u64;
    let host_pages = if gib < 64 { 4 * pages } else { pages / 2 };
    let (mut plain, mut grouped, mut flats, mut engines) = (vec![], vec![], vec![], vec![]);
    let (mut flat_waf, mut engine_waf) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        let (p, g) = yardsticks::memory(logical, 100_000_000);
        plain.push(p);
        grouped.push(g);
        let (rate, waf) = yardsticks::flat(blocks, PAGES_PER_BLOCK, SPARE, host_pages);
        flats.push(rate);
        flat_waf = waf;
        let (rate, waf) = engine::uniform(blocks, PAGES_PER_BLOCK, SPARE, host_pages, "none");
        engines.push(rate);
        engine_waf = waf;
    }
    let (plain, grouped, flat, engine) = (median(plain), median(grouped), median(flats), median(engines));
    println!("{gib} GiB drive, uniform random 4 KiB writes at steady state, greedy, 7 % spare, one core");
    println!(
        "    random read-modify-writes, map-sized table   {plain:>6.1} M/s plain loop, {grouped:.1} M/s prefetched"
    );
    println!(
        "    flat kernel                                  {flat:>6.1} M programs/s at WAF {flat_waf:.3}"
    );
    println!(
        "    engine                                       {engine:>6.1} M programs/s at WAF {engine_waf:.3}"
    );
    verdict("engine / flat kernel", engine / flat, 0.75);
    if gib == 128 {
        verdict("engine / plain read-modify-writes", engine / plain, 0.80);
        println!("    engine / prefetched read-modify-writes       {:>6.2}   not asked", engine / grouped);
    }
}

/// What it costs that four pages of the map share a flash page.
fn packed() {
    let (gib, host_pages) = (8, 8_000_000);
    println!(
        "{gib} GiB drive, 16 KiB flash pages under a map of 4 KiB, beside 4 KiB pages; pages written per CPU second"
    );
    let blocks = gib * 1024;
    let ratio = |ours: fn(u32, u64) -> f64, plain: fn(u32, u64) -> f64| {
        median((0..ROUNDS).map(|_| ours(blocks, host_pages) / plain(blocks, host_pages)).collect())
    };
    let functional = ratio(
        |blocks, pages| engine::packed(blocks, PAGES_PER_BLOCK, SPARE, pages).0,
        |blocks, pages| engine::uniform(blocks, PAGES_PER_BLOCK, SPARE, pages, "none").0,
    );
    verdict("functional", functional, 0.8);
    let [plain, shared] = ["timed", "timed-packed"].map(|name| timed::named(name).expect("there is one"));
    let one = |case| timed::measure(case, blocks, host_pages).0;
    let timed = median((0..ROUNDS).map(|_| one(shared) / one(plain)).collect());
    // Moves of plain flash pages go in rows, those of shared ones do not.
    println!("    timed, beside a drive whose moves go in rows {timed:>6.2}   not asked");
}

/// `floatgate-bench count engine|packed|flat|CASE|reads|disturbed-reads|dedup|compress|SEPARATOR`, with a case
/// of `timed`: a fixed amount of work on a 1 GiB drive and nothing else, to be run under
/// `valgrind --tool=callgrind`, whose instruction counts do not depend on what else the machine does.
fn count(what: Option<&str>) {
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
            engine::reads(blocks, PAGES_PER_BLOCK, SPARE, host_pages, &disturb("redftl-plus", 4_000));
            (0.0, 0.0)
        }
        (_, Some(scheme @ ("dedup" | "compress"))) => {
            let of = content::Schemed { dedup: scheme == "dedup", compress: scheme == "compress" };
            let (_, waf, _) = content::host_pages(blocks, of, 1);
            (0.0, waf)
        }
        (_, Some(separator)) if separator != "engine" => {
            engine::uniform(blocks, PAGES_PER_BLOCK, SPARE, host_pages, separator)
        }
        _ => engine::uniform(blocks, PAGES_PER_BLOCK, SPARE, host_pages, "none"),
    };
    println!("{host_pages} host pages at WAF {waf:.3}");
}

/// Separators that look at pages and need no hints, beside `none`, whose rounds alternate with theirs; and whether the
/// goal of half its programs is theirs.
const SEPARATORS: &[(&str, bool)] = &[
    ("none", false),
    ("hash", true),
    ("sepbit", true),
    ("host-gc", false),
    ("two-level-lru", false),
    ("bloom", false),
    ("dac", false),
    ("multilog", false),
    ("eti", false),
    ("sfr", false),
    ("fadac", false),
    ("warcip", false),
    ("fk", false),
    ("ora", false),
];

/// What it costs to look at every page that is written or moved.
fn separators() {
    let (gib, host_pages) = (8, 8_000_000);
    println!("{gib} GiB drive, uniform random 4 KiB writes at steady state, greedy, 7 % spare, by separator");
    let round = |_| -> Vec<(f64, f64)> {
        let run =
            |&(name, _): &(&str, bool)| engine::uniform(gib * 1024, PAGES_PER_BLOCK, SPARE, host_pages, name);
        SEPARATORS.iter().map(run).collect()
    };
    let rounds: Vec<_> = (0..ROUNDS).map(round).collect();
    for (i, &(name, asked)) in SEPARATORS.iter().enumerate() {
        let rate = median(rounds.iter().map(|round| round[i].0).collect());
        let ratio = median(rounds.iter().map(|round| round[i].0 / round[0].0).collect());
        let label = format!("{name}, {rate:.1} M programs/s at WAF {:.3}, / none", rounds[0][i].1);
        if asked {
            verdict(&format!("{label:<56}"), ratio, 0.5);
        } else {
            println!("    {label:<56} {ratio:>6.2}");
        }
    }
    contexts::all();
}

/// Managers of read disturb with the page reads per CPU second that are asked of them, 10^6.
const MANAGERS: &[(&str, f64)] =
    &[("baseline", 40.0), ("rrb", 0.0), ("redftl", 0.0), ("redftl-plus", 20.0), ("redftl-plus-plus", 0.0)];

/// The tables of a drive whose reads disturb, under a manager.
fn disturb(manager: &str, max_reads: u32) -> String {
    format!(
        "[drive.disturb]\nmodel = \"tlc-base\"\nmax_reads = {max_reads}\n[ftl.reclaim]\npolicy = \"{manager}\"\n"
    )
}

/// What it costs that reads disturb; blocks are reclaimed again and again.
fn read_disturb() {
    let (gib, requests) = (8, 60_000_000);
    println!(
        "{gib} GiB drive filled in order, uniform random 4 KiB reads, blocks of 256 pages that stand 4,000 reads"
    );
    let of = |tables: &str| {
        let once = |_| engine::reads(gib * 1024, PAGES_PER_BLOCK, SPARE, requests, tables);
        median((0..ROUNDS).map(once).collect())
    };
    println!("    without a model, M page reads/s                {:>6.1}", of(""));
    for &(manager, asked) in MANAGERS {
        let (name, rate) = (format!("{manager}, M page reads/s"), of(&disturb(manager, 4_000)));
        if asked > 0.0 {
            verdict(&name, rate, asked);
        } else {
            println!("    {name:<44} {rate:>6.1}");
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|a| a == "count") {
        return count(arguments.get(1).map(String::as_str));
    }
    println!("medians of {ROUNDS} rounds, CPU time");
    match arguments.first().map(String::as_str) {
        Some("readers") => return readers::all(),
        Some("timed") => return timed::all(arguments.get(1).map(String::as_str)),
        Some("packed") => return packed(),
        Some("snapshots") => return snapshots::all(),
        Some("throttles") => return throttles::all(),
        Some("captures") => return captures::all(),
        Some("mining") => return mining::all(),
        Some("separators") => return separators(),
        Some("leveling") => return leveling::leveling(),
        Some("read-disturb") => return read_disturb(),
        Some("content") => {
            return match arguments.get(1).map(|gib| gib.parse()) {
                Some(Ok(gib)) => content::memory(gib),
                Some(Err(_)) => eprintln!("content: expected a size in GiB, or nothing"),
                None => content::content(),
            };
        }
        _ => {}
    }
    separators();
    for gib in [8, 128] {
        drive(gib);
    }
    timed::all(None);
    read_disturb();
    leveling::leveling();
    content::content();
    packed();
    snapshots::all();
    throttles::all();
    mining::all();
    captures::all();
    let (parse, both) = (0..ROUNDS).map(|_| engine::msr()).unzip::<f64, f64, Vec<_>, Vec<_>>();
    println!("MSR CSV from a warm file, single-page requests");
    println!("    parse alone                                  {:>6.1} M requests/s", median(parse));
    verdict("parse and simulation, M requests/s", median(both), 5.0);
    readers::all();
}
