//! Host page writes per CPU second under deduplication and compression, and the memory that both take.

use crate::measure::{PAGE_BYTES, PAGES_PER_BLOCK, SPARE, plane, rounds};
use crate::report::{Metric, Report};
use floatgate_base::{Content, ExtentKind, Extents, Lpn, Rng};
use floatgate_experiment::meter::{peak_rss_bytes, thread_cpu_s};
use floatgate_flash::{Flash, Functional};
use floatgate_ftl::reduce::{ChunkSetup, Reduce, Schemes};
use floatgate_ftl::{Ftl, Setup};

/// Extents per call.
const BATCH: usize = 4096;
/// Percentage of the writes that repeat stored content.
const DUPLICATES: u64 = 30;
/// Number of recent contents, one of which is repeated.
const POOL: usize = 1 << 16;

/// The reduction schemes of the drive.
#[derive(Clone, Copy)]
pub struct Schemed {
    pub dedup: bool,
    pub compress: bool,
}

fn drive(blocks: u32, of: Schemed) -> (Ftl, Functional, u32) {
    let (layout, logical_pages) = plane(blocks);
    let chunks = ChunkSetup { pages: 4, page_bytes: PAGE_BYTES, timeout_ns: None, plain: true, repack: true };
    let reduce = Reduce {
        index_entries: if of.dedup { logical_pages / 4 } else { 0 },
        chunks: of.compress.then_some(chunks),
        schemes: Schemes { dedup: of.dedup, compress: of.compress },
        samples_below: 0,
    };
    let setup = Setup { reduce: (of.dedup || of.compress).then_some(reduce), ..Setup::plain(logical_pages) };
    (Ftl::new(layout.clone(), setup), Functional::new(layout), logical_pages)
}

/// Uniform writes of a page with new content or one of the recent contents.
struct Writes {
    rng: Rng,
    pool: Vec<u64>,
    made: u64,
    extents: Extents,
}

impl Writes {
    fn new() -> Self {
        Self {
            rng: Rng::new(7, "bench of content"),
            pool: vec![1; POOL],
            made: 1,
            extents: Extents::default(),
        }
    }

    fn batch(&mut self, pages: u32) -> &Extents {
        self.extents.clear();
        for _ in 0..BATCH {
            let at = self.rng.below(POOL as u64) as usize;
            if self.rng.below(100) >= DUPLICATES {
                self.made += 1;
                self.pool[at] = self.made;
            }
            let fingerprint = self.pool[at].wrapping_mul(0x2545_f491_4f6c_dd1d);
            // Compressible to 60 % on average.
            let compressed_bytes = 820 + (fingerprint >> 40) as u32 % 3276;
            self.extents.push(Lpn(self.rng.below(u64::from(pages)) as u32), 1, ExtentKind::Write);
            self.extents.columns.content.push([Content { fingerprint, compressed_bytes }]);
        }
        &self.extents
    }
}

/// Measures millions of host page writes per CPU second at steady state; write amplification; bytes of all tables per
/// logical page.
pub fn host_pages(blocks: u32, of: Schemed, laps: u32) -> (f64, f64, f64) {
    let (mut ftl, mut flash, pages) = drive(blocks, of);
    let mut writes = Writes::new();
    let batches = (blocks * PAGES_PER_BLOCK) as usize / BATCH;
    let mut cpu_s = 0.0;
    let mut programs = 0;
    for lap in 0..=laps {
        let before = flash.counters().programs_total();
        cpu_s = 0.0;
        for _ in 0..if lap == laps { batches } else { 2 * batches } {
            let extents = writes.batch(pages);
            let start = thread_cpu_s();
            ftl.serve(&mut flash, extents).expect("the bench's drive has room");
            cpu_s += thread_cpu_s() - start;
        }
        programs = flash.counters().programs_total() - before;
    }
    let written = (batches * BATCH) as f64;
    let tables = ftl.reduced().map_or(0, |figures| figures.memory_bytes) as f64 / f64::from(pages);
    // Both directions of the map, and one bit.
    let map = 4.0 + 4.125 / (1.0 - SPARE);
    (written / cpu_s / 1e6, programs as f64 / written, map + tables)
}

/// Measures the memory of a drive of so many GiB with deduplication: of its tables and of the whole process.
pub fn memory(report: &mut Report, gib: u32) {
    report.group(
        "content-memory",
        format!(
            "{gib} GiB drive with deduplication, default index, uniform random 4 KiB writes at steady state, {DUPLICATES} % of them duplicates"
        ),
    );
    let of = Schemed { dedup: true, compress: false };
    let (rate, waf, bytes) = host_pages(gib * 1024, of, 1);
    let pages = f64::from(gib) * (1u64 << 18) as f64 * (1.0 - SPARE);
    let whole = peak_rss_bytes().map_or(f64::NAN, |rss| rss as f64 / pages);
    let unit = "bytes per logical page";
    report.print(
        &format!("dedup at WAF {waf:.3}, M host pages/s"),
        &Metric::rate(format!("{gib}gib/host-pages"), "M/s", &[rate]),
    );
    report.print(
        &format!("tables, {unit}"),
        &Metric::cost(format!("{gib}gib/tables"), unit, &[bytes]).digits(1),
    );
    report.print(
        &format!("whole process at its peak, {unit}"),
        &Metric::cost(format!("{gib}gib/process"), unit, &[whole]).digits(1),
    );
}

/// Measures the speed at 8 GiB, and the memory per logical page.
pub fn content(report: &mut Report) {
    let gib = 8;
    report.group(
        "content",
        format!(
            "{gib} GiB drive, uniform random 4 KiB writes at steady state, {DUPLICATES} % of them duplicates, compressible to 0.6; host pages per CPU second"
        ),
    );
    for (name, dedup, compress, goal) in [
        ("off", false, false, 0.0),
        ("dedup", true, false, 8.0),
        ("compress", false, true, 8.0),
        ("both", true, true, 0.0),
    ] {
        let of = Schemed { dedup, compress };
        let rounds = rounds(|| host_pages(gib * 1024, of, 1));
        let column = |of: fn(&(f64, f64, f64)) -> f64| rounds.iter().map(of).collect::<Vec<_>>();
        let waf = report.keep(&Metric::fact(format!("{name}/waf"), "", &column(|round| round.1)));
        let tables =
            Metric::cost(format!("{name}/tables"), "bytes per logical page", &column(|round| round.2));
        let bytes = report.keep(&tables);
        report.print(
            &format!("{name} at WAF {waf:.3}, {bytes:.1} bytes per logical page, M/s"),
            &Metric::rate(format!("{name}/host-pages"), "M/s", &column(|round| round.0)).at_least(goal),
        );
    }
}
