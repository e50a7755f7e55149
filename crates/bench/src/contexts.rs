//! Programs per CPU second under the separators that use program contexts, relative to `none`, and the time that IDS
//! takes to cluster a window of a thousand contexts.

use crate::measure::{PAGES_PER_BLOCK, plane, rounds};
use crate::report::{Metric, Report, Yardstick};
use floatgate_base::{ExtentKind, Extents, Hints, Lpn, Rng};
use floatgate_experiment::meter::thread_cpu_s;
use floatgate_flash::{Flash, Functional};
use floatgate_ftl::separate::SLOT;
use floatgate_ftl::{Ftl, Separate, Setup};

/// Programs that write, each to its own pages.
const CONTEXTS: u64 = 64;
/// Extents per call.
const BATCH: usize = 4096;

fn drive(blocks: u32, separate: Separate) -> (Ftl, Functional, u32) {
    let (layout, logical_pages) = plane(blocks);
    let setup = Setup { separate, ..Setup::plain(logical_pages) };
    (Ftl::new(layout.clone(), setup), Functional::new(layout), logical_pages)
}

/// CPU time of a series of batches.
struct Served {
    /// Millions of programs per second.
    rate: f64,
    /// Seconds per batch: the longest, and the mean.
    longest_s: f64,
    mean_s: f64,
}

/// Serves single-page writes, each context's within its own pages.
fn serve(ftl: &mut Ftl, flash: &mut Functional, pages: u32, contexts: u64, batches: usize) -> Served {
    let (mut rng, mut extents) = (Rng::new(7, "bench of separators"), Extents::default());
    let (own, mut cpu_s, mut longest_s) = (u64::from(pages) / contexts, 0.0, 0.0f64);
    let before = flash.counters().programs_total();
    for _ in 0..batches {
        extents.clear();
        for _ in 0..BATCH {
            let context = rng.below(contexts);
            extents.push(Lpn((context * own + rng.below(own)) as u32), 1, ExtentKind::Write);
            extents.columns.hints.push(Hints {
                context: context as u32 + 1,
                handle: 0,
                request_pages: 1,
                ..Hints::default()
            });
        }
        let start = thread_cpu_s();
        ftl.serve(flash, &extents).expect("the bench's drive has room");
        let batch_s = thread_cpu_s() - start;
        (cpu_s, longest_s) = (cpu_s + batch_s, longest_s.max(batch_s));
    }
    let programs = flash.counters().programs_total() - before;
    Served { rate: programs as f64 / cpu_s / 1e6, longest_s, mean_s: cpu_s / batches as f64 }
}

/// Measures millions of programs per CPU second on a drive at steady state, under a separator.
pub fn programs(blocks: u32, separator: &str) -> f64 {
    let separate = Separate::of(&SLOT.with(separator, &[]));
    let (mut ftl, mut flash, pages) = drive(blocks, separate);
    let batches = (blocks * PAGES_PER_BLOCK) as usize / BATCH;
    serve(&mut ftl, &mut flash, pages, CONTEXTS, 3 * batches);
    serve(&mut ftl, &mut flash, pages, CONTEXTS, batches).rate
}

/// Measures the milliseconds of clustering `contexts` contexts: the longest of many batches with one clustering each,
/// less the mean batch without any.
fn clustering_ms(contexts: u64, window: f64) -> f64 {
    let batch = |period: f64| {
        let set = [("window_updates", window), ("period_updates", period)];
        let (mut ftl, mut flash, pages) = drive(1024, Separate::of(&SLOT.with("ids", &set)));
        serve(&mut ftl, &mut flash, pages, contexts, 200);
        serve(&mut ftl, &mut flash, pages, contexts, 20)
    };
    let (with, without) = (batch(BATCH as f64), batch(f64::from(u32::MAX)));
    (with.longest_s - without.mean_s) * 1e3
}

/// Measures programs relative to `none`, then clustering.
pub fn all(report: &mut Report) {
    let gib = 8;
    report.group(
        "contexts",
        format!(
            "{gib} GiB drive, 64 contexts that write their own pages at random, greedy, 7 % spare, one core"
        ),
    );
    let names = ["none", "hash", "pds", "ids"];
    let rounds_of_all = rounds(|| names.map(|name| programs(gib * 1024, name)));
    let column = |i: usize| rounds_of_all.iter().map(|round| round[i]).collect::<Vec<_>>();
    let none = column(0);
    let yardstick = Yardstick { name: "none", unit: "M programs/s", rounds: &none };
    for (i, name) in names.iter().enumerate() {
        let rates = column(i);
        let rate = report.keep(&Metric::rate(format!("{name}/programs"), "M/s", &rates));
        let ratio = Metric::ratio(format!("{name}/none-ratio"), &rates, &yardstick);
        report.print(
            &format!("{name}, {rate:.1} M programs/s, / none"),
            &ratio.at_least(if i == 0 { 0.0 } else { 0.5 }),
        );
    }
    for window in [1024.0, 8192.0] {
        let ms = rounds(|| clustering_ms(1000, window));
        report.print(
            &format!("ids, 1000 contexts clustered, window {window}, ms"),
            &Metric::cost(format!("ids/clustering-{window}"), "ms", &ms).at_most(10.0),
        );
    }
}
