//! Deduplication and compression under the shadow model, compared with models of their own, and across snapshots.

use super::{ChunkSetup, Reduce, Schemes};
use crate::ftl::Ftl;
use crate::{Allocation, Level, Separate, Setup, Victim};
use floatgate_base::extents::{Extents, Kind};
use floatgate_base::{Content, Lpn, Rng};
use floatgate_flash::{Cause, Flash, Functional, Layout, Scope, Shadow};
use floatgate_nand::Geometry;
use floatgate_snapshot::{Kind as FileKind, Reader, Writer};

const PAGE: u32 = 4096;

fn geometry(blocks_per_plane: u32, pages_per_block: u32) -> Geometry {
    Geometry {
        channels: 1,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane,
        pages_per_block,
        page_bytes: PAGE,
    }
}

fn reduce(dedup: bool, compress: bool) -> Reduce {
    let chunks = ChunkSetup { pages: 4, page_bytes: PAGE, timeout_ns: None, plain: true, repack: true };
    Reduce {
        index_entries: if dedup { 1000 } else { 0 },
        chunks: compress.then_some(chunks),
        schemes: Schemes { dedup, compress },
        samples_below: 0,
    }
}

struct Drive {
    ftl: Ftl,
    flash: Shadow<Functional>,
    make: (Layout, Setup),
}

impl Drive {
    fn new(layout: Layout, setup: Setup) -> Self {
        let ftl = Ftl::new(layout.clone(), setup);
        let mut flash = Shadow::new(Functional::new(layout.clone()), setup.logical_pages);
        if !setup.plp {
            flash = flash.with_power_cuts();
        }
        Self { ftl, flash, make: (layout, setup) }
    }

    fn serve(&mut self, kind: Kind, lpn: u32, contents: &[Content]) {
        let pages = if kind == Kind::Write { contents.len() as u32 } else { 1 };
        let mut extents = Extents::default();
        extents.push(Lpn(lpn), pages, kind);
        extents.columns.content.push(contents.iter().copied());
        let served = self.ftl.serve(&mut self.flash, &extents);
        assert!(served.is_ok(), "{served:?} with {:?} of {} units", self.make.1, self.make.0.units());
    }

    fn write(&mut self, lpn: u32, fingerprint: u64, compressed_bytes: u32) {
        self.serve(Kind::Write, lpn, &[Content { fingerprint, compressed_bytes }]);
    }

    fn flush(&mut self) {
        let mut extents = Extents::default();
        extents.push(Lpn(0), 0, Kind::Flush);
        let served = self.ftl.serve(&mut self.flash, &extents);
        assert!(served.is_ok(), "{served:?} with {:?}", self.make.1);
    }

    fn audit(&self, what: &str) {
        self.ftl.audit(&self.flash).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    }

    fn programs(&self) -> u64 {
        self.flash.counters().programs_total()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes, FileKind::Drive, 1).unwrap();
        self.ftl.save(&mut out).unwrap();
        out.state("array", &self.flash.inner().saved()).unwrap();
        out.finish().unwrap();
        bytes
    }

    /// Restores a drive from a file, with a shadow model that learns from it what lies where.
    fn of_bytes(layout: Layout, setup: Setup, bytes: &[u8]) -> Self {
        let mut drive = Self::new(layout, setup);
        let mut reader = Reader::new("t", bytes, FileKind::Drive, 1).unwrap();
        drive.ftl.restore(&mut reader).unwrap();
        assert!(drive.flash.inner_mut().restore(reader.state("array").unwrap()));
        drive.ftl.show_content(&mut drive.flash);
        drive
    }

    fn again(&self) -> Self {
        Self::of_bytes(self.make.0.clone(), self.make.1, &self.bytes())
    }
}

fn plain_drive(dedup: bool, compress: bool) -> Drive {
    let setup = Setup { reduce: Some(reduce(dedup, compress)), ..Setup::plain(40) };
    Drive::new(Layout::new(geometry(8, 8), Scope::Plane), setup)
}

#[test]
fn pages_are_unknown_where_a_scheme_has_nothing_to_go_by() {
    for (dedup, compress, expected) in [(true, false, 2), (false, true, 2), (true, true, 3)] {
        let mut drive = plain_drive(dedup, compress);
        for (lpn, (fingerprint, bytes)) in (0..).zip([(7, PAGE), (0, 900), (8, 0), (0, 0)]) {
            drive.write(lpn, fingerprint, bytes);
        }
        let counters = drive.ftl.reduced().unwrap().counters;
        assert_eq!((counters.host_pages, counters.unknown_pages), (4, expected), "{dedup} {compress}");
    }
}

#[test]
fn what_is_there_already_is_not_programmed() {
    let mut drive = plain_drive(true, false);
    for lpn in 0..10 {
        drive.write(lpn, 7, PAGE);
    }
    drive.write(3, 8, PAGE);
    drive.write(3, 8, PAGE);
    assert_eq!(drive.programs(), 2);
    drive.audit("shared");
    let figures = drive.ftl.reduced().unwrap();
    assert_eq!((figures.counters.host_pages, figures.counters.duplicate_pages), (12, 10));
    assert_eq!((figures.shared_now, figures.referrers_now, figures.references_max), (1, 9, 10));
    // The content dies with its last page, and is programmed again after that.
    for lpn in (0..10).filter(|&lpn| lpn != 3) {
        drive.serve(Kind::Read, lpn, &[]);
        drive.serve(Kind::Trim, lpn, &[]);
    }
    drive.write(20, 7, PAGE);
    assert_eq!(drive.programs(), 3);
    drive.audit("written again");
    // Unknown content equals no other.
    drive.write(21, 0, 0);
    drive.write(22, 0, 0);
    drive.serve(Kind::WritePartial, 20, &[]);
    assert_eq!(drive.programs(), 6);
    drive.audit("unknown");
}

#[test]
fn chunks_take_the_pages_that_their_sizes_fill() {
    // By hand: sizes of four pages, and the flash pages that they take.
    let chunks = [
        ([1024, 1024, 1024, 1024], 1),
        ([1024, 1024, 1024, 1025], 2),
        ([4096, 4096, 1, 1], 3),
        ([4096, 4096, 4096, 1], 4),
        ([1, 1, 1, 1], 1),
    ];
    for (sizes, pages) in chunks {
        let mut drive = plain_drive(false, true);
        for (lpn, size) in (0..).zip(sizes) {
            assert_eq!(drive.programs(), 0, "nothing is programmed before the chunk is full");
            drive.write(lpn, 1 + u64::from(lpn), size);
            drive.serve(Kind::Read, lpn, &[]);
        }
        assert_eq!(drive.programs(), pages, "{sizes:?}");
        drive.audit("a chunk");
        let counters = drive.ftl.reduced().unwrap().counters;
        assert_eq!((counters.chunks, counters.plain_chunks), if pages < 4 { (1, 0) } else { (0, 1) });
        let reads = drive.flash.counters().reads[Cause::Host as usize];
        drive.serve(Kind::Read, 2, &[]);
        let read = drive.flash.counters().reads[Cause::Host as usize] - reads;
        assert_eq!(read, if pages < 4 { pages } else { 1 }, "a read of a chunk reads all of it");
    }
}

#[test]
fn engines_work_on_what_reaches_them() {
    let mut drive = plain_drive(true, true);
    assert_eq!(drive.ftl.engine_pages(), [0; 3]);
    (0..4).for_each(|lpn| drive.write(lpn, 1 + u64::from(lpn), 1000));
    // Known content is only hashed. The chunk of the four is full, and a read decompresses all of it.
    drive.write(4, 1, 1000);
    assert_eq!(drive.ftl.engine_pages(), [5, 4, 0]);
    drive.serve(Kind::Read, 2, &[]);
    assert_eq!(drive.ftl.engine_pages(), [5, 4, 4]);
}

#[test]
fn a_flush_programs_what_gathers() {
    let mut drive = plain_drive(true, true);
    drive.write(0, 1, 1000);
    drive.write(1, 1, 1000);
    drive.write(2, 2, 1000);
    // Rewritten in the chunk itself.
    drive.write(2, 3, 500);
    assert_eq!(drive.programs(), 0);
    drive.audit("gathers");
    drive.flush();
    assert_eq!(drive.programs(), 1);
    drive.audit("flushed");
    let counters = drive.ftl.reduced().unwrap().counters;
    assert_eq!((counters.duplicate_pages, counters.rewritten_pages, counters.part_chunks), (1, 1, 1));
    (0..3).for_each(|lpn| drive.serve(Kind::Read, lpn, &[]));
    // Trimmed while it gathers: nothing is left to program.
    drive.write(5, 9, 1000);
    drive.serve(Kind::Trim, 5, &[]);
    drive.flush();
    assert_eq!(drive.programs(), 1);
    drive.audit("given up");
}

/// A partial chunk is programmed once its first page has waited for the timeout.
#[test]
fn chunks_do_not_wait_for_ever() {
    let mut setup = Setup { reduce: Some(reduce(false, true)), ..Setup::plain(40) };
    setup.reduce.as_mut().unwrap().chunks.as_mut().unwrap().timeout_ns = Some(1000);
    let mut drive = Drive::new(Layout::new(geometry(8, 8), Scope::Plane), setup);
    drive.ftl.tell_time(&mut drive.flash, 100).unwrap();
    drive.write(0, 1, 1000);
    assert_eq!(drive.ftl.chunk_due_ns(), Some(1100));
    drive.ftl.tell_time(&mut drive.flash, 1099).unwrap();
    assert_eq!(drive.programs(), 0);
    drive.ftl.tell_time(&mut drive.flash, 1100).unwrap();
    assert_eq!((drive.programs(), drive.ftl.chunk_due_ns()), (1, None));
    drive.audit("in time");
}

const SAMPLED_PAGES: u32 = 4000;
const OFF: Schemes = Schemes { dedup: false, compress: false };
const DEDUP: Schemes = Schemes { dedup: true, compress: false };
const COMPRESS: Schemes = Schemes { dedup: false, compress: true };

/// Builds a drive for both schemes, with room in the index for all contents. A tenth of the pages is sampled for an
/// inactive scheme.
fn sampling_drive(schemes: Schemes, timeout_ns: Option<u64>) -> Drive {
    let mut reduce = reduce(true, true);
    reduce.chunks.as_mut().unwrap().timeout_ns = timeout_ns;
    let tenth = u64::MAX / 10;
    let reduce = Reduce { index_entries: 2 * SAMPLED_PAGES, schemes, samples_below: tenth, ..reduce };
    let setup = Setup { reduce: Some(reduce), ..Setup::plain(SAMPLED_PAGES) };
    Drive::new(Layout::new(geometry(64, 64), Scope::Plane), setup)
}

/// Generates page writes: three in ten repeat a recent content, and contents compress to a quarter, a half or three
/// quarters of a page.
fn sampled_writes(seed: u64) -> Vec<(u32, u64, u32)> {
    let mut rng = Rng::new(seed, "sampling test");
    let mut contents: Vec<(u64, u32)> = Vec::new();
    let write = |_| {
        let back = 1 + rng.below(200) as usize;
        let repeated = contents.len().checked_sub(back).filter(|_| rng.below(10) < 3);
        let new = (rng.next_u64(), PAGE / 4 * (1 + rng.below(3) as u32));
        let (fingerprint, size) = repeated.map_or(new, |at| contents[at]);
        contents.push((fingerprint, size));
        (rng.below(u64::from(SAMPLED_PAGES)) as u32, fingerprint, size)
    };
    (0..40_000).map(write).collect()
}

fn ratio(part: u64, all: u64) -> f64 {
    part as f64 / all as f64
}

/// Samples taken while both schemes are off predict their effect. They find slightly fewer duplicates: pages share
/// nothing then, and a content is forgotten with the one page that the index names, even if others have it.
#[test]
fn samples_have_the_ratios_of_schemes_at_work() {
    // Of 81 sums of four sizes one is a page, 49 are two pages, and 31 three.
    let chunk_ratio = f64::from(1 + 2 * 49 + 3 * 31) / f64::from(4 * 81);
    for seed in 0..5 {
        let counters = |schemes| {
            let mut drive = sampling_drive(schemes, None);
            for (lpn, fingerprint, size) in sampled_writes(seed) {
                drive.write(lpn, fingerprint, size);
            }
            drive.audit(&format!("seed {seed}, {schemes:?}"));
            drive.ftl.reduced().unwrap().counters
        };
        let (sampled, dedup, compress) = (counters(OFF), counters(DEDUP), counters(COMPRESS));
        let at_work = ratio(dedup.duplicate_pages, dedup.hashed_pages);
        let of_samples = ratio(sampled.sampled_duplicates, sampled.sampled_hashed);
        assert!((0.28..0.31).contains(&at_work), "seed {seed}: {at_work} of the pages are duplicates");
        assert!(
            (of_samples - at_work).abs() < 0.03,
            "seed {seed}: {of_samples} of the samples are duplicates, {at_work} of all pages"
        );
        let looked_at = ratio(sampled.sampled_hashed, sampled.host_pages);
        assert!((looked_at - 0.1).abs() < 0.01, "seed {seed}: {looked_at} of the pages are looked at");
        let at_work = ratio(compress.chunk_pages, compress.chunked_pages);
        let of_samples = ratio(sampled.sampled_chunk_pages, sampled.sampled_chunked);
        assert!((at_work - chunk_ratio).abs() < 0.01, "seed {seed}: chunks take {at_work}");
        assert!(
            (of_samples - at_work).abs() < 0.02,
            "seed {seed}: sampled chunks take {of_samples}, real ones {at_work}"
        );
        let looked_at = ratio(sampled.sampled_chunked, sampled.host_pages);
        assert!((looked_at - 0.1).abs() < 0.001, "seed {seed}: {looked_at} of the pages join chunks");
        assert_eq!((sampled.duplicate_pages, sampled.chunked_pages), (0, 0), "seed {seed}: both are off");
    }
}

/// Under static allocation a chunk gathers per plane, as does the sampled one.
#[test]
fn sampled_chunks_gather_where_real_ones_do() {
    let seed = 3;
    let taken = |allocation, schemes| {
        let mut drive = sampling_drive(schemes, Some(1000));
        let (layout, setup) = drive.make.clone();
        drive = Drive::new(layout, Setup { allocation, ..setup });
        for (n, (lpn, fingerprint, _)) in (1..).zip(sampled_writes(seed)) {
            drive.ftl.tell_time(&mut drive.flash, n * 400).unwrap();
            drive.write(lpn, fingerprint, PAGE / 4);
        }
        let counters = drive.ftl.reduced().unwrap().counters;
        match schemes == OFF {
            true => ratio(counters.sampled_chunk_pages, counters.sampled_chunked),
            false => ratio(counters.chunk_pages, counters.chunked_pages),
        }
    };
    let real = [Allocation::Dynamic, Allocation::Static].map(|allocation| taken(allocation, COMPRESS));
    let sampled = [Allocation::Dynamic, Allocation::Static].map(|allocation| taken(allocation, OFF));
    assert!(real[1] > 1.3 * real[0], "seed {seed}: chunks of two planes are emptier than of one: {real:?}");
    for (sampled, real) in sampled.iter().zip(real) {
        assert!(
            (sampled - real).abs() < 0.02,
            "seed {seed}: sampled chunks take {sampled}, real ones {real}"
        );
    }
}

/// Pages arrive late, one by one: a sampled chunk ends when a real one does.
#[test]
fn sampled_chunks_wait_no_longer_than_real_ones() {
    let seed = 1;
    for (wait_ns, pages_in_a_chunk) in [(1000, 1), (500, 2), (1, 4)] {
        let counters = |schemes| {
            let mut drive = sampling_drive(schemes, Some(1000));
            for (n, (lpn, fingerprint, _)) in (1..).zip(sampled_writes(seed)) {
                drive.ftl.tell_time(&mut drive.flash, n * wait_ns).unwrap();
                drive.write(lpn, fingerprint, PAGE / 4);
            }
            drive.audit(&format!("seed {seed}, {wait_ns} ns apart, {schemes:?}"));
            drive.ftl.reduced().unwrap().counters
        };
        let (sampled, compress) = (counters(OFF), counters(COMPRESS));
        let at_work = ratio(compress.chunk_pages, compress.chunked_pages);
        let of_samples = ratio(sampled.sampled_chunk_pages, sampled.sampled_chunked);
        let expected = 1.0 / f64::from(pages_in_a_chunk);
        let what =
            format!("seed {seed}, {wait_ns} ns apart: sampled chunks take {of_samples}, real ones {at_work}");
        assert!((at_work - expected).abs() < 0.001, "{what}");
        assert!((of_samples - expected).abs() < 0.001, "{what}");
        let looked_at = ratio(sampled.sampled_chunked, sampled.host_pages);
        assert!((looked_at - 0.1).abs() < 0.001, "{what}, of {looked_at} of the pages");
    }
}

/// Builds a drive of random shape with random schemes.
fn random_drive(rng: &mut Rng) -> (Layout, Setup) {
    let subpages = [1, 1, 2, 4][rng.below(4) as usize];
    let pages_per_block = subpages * (4 + rng.below(5) as u32 * 2);
    let blocks = 12 + rng.below(8) as u32;
    let scope = if rng.below(4) == 0 { Scope::Superblock } else { Scope::Plane };
    let geometry = geometry(blocks, pages_per_block);
    let layout = Layout::new(geometry, scope).with_subpages(subpages);
    let separate = match rng.below(4) {
        0 => Separate::None,
        1 => Separate::HostGc,
        2 => Separate::of(&crate::separate::SLOT.with("hash", &[])),
        _ => Separate::of(&crate::separate::SLOT.with("sepbit", &[])),
    };
    let streams = separate.streams();
    let schemes = [(true, false), (false, true), (true, true)][rng.below(3) as usize];
    let mut reduce = reduce(schemes.0, schemes.1);
    if schemes.0 {
        reduce.index_entries = [3, 40, 1000][rng.below(3) as usize];
    }
    if let Some(chunks) = &mut reduce.chunks {
        chunks.pages = [1, 2, 4, 8, 64][rng.below(5) as usize];
        // Without repacking, a chunk takes its pages until its last one dies: of 64 after 4.7 mean lives.
        chunks.repack = chunks.pages > 8 || rng.below(5) > 0;
        chunks.plain = rng.below(5) > 0;
    }
    let share = if reduce.chunks.is_none_or(|chunks| chunks.repack) { 0.6 } else { 0.2 };
    let data = f64::from(blocks) - f64::from(streams) - 3.0;
    let logical = (share * data * 2.0 * f64::from(pages_per_block)) as u32;
    let setup = Setup {
        allocation: if rng.below(4) == 0 { Allocation::Static } else { Allocation::Dynamic },
        victim: Victim::named(["greedy", "cost-benefit"][rng.below(2) as usize]),
        level: Level::None,
        separate,
        reduce: Some(reduce),
        trigger_free_units: 1 + rng.below(2) as u32,
        stop_free_units: 3,
        incremental: rng.below(3) == 0,
        plp: reduce.chunks.is_some() || rng.below(2) == 0,
        ..Setup::plain(logical)
    };
    (
        layout,
        Setup {
            trigger_free_units: setup.trigger_free_units.max(separate.reserve()),
            stop_free_units: 3.max(separate.reserve()),
            ..setup
        },
    )
}

/// Writes, partial writes, reads, trims and flushes; content that repeats and compresses, or not; schemes that are
/// switched on and off. A twin is saved and restored now and then and must stay equal.
#[test]
fn random_drives_hold_what_was_written() {
    let cases = std::env::var("FLOATGATE_REDUCE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let mut repacked = 0;
    for seed in 0..cases {
        let mut rng = Rng::new(seed, "reduction test");
        let (layout, setup) = random_drive(&mut rng);
        let logical = u64::from(setup.logical_pages);
        let (mut drive, mut twin) = (Drive::new(layout.clone(), setup), Drive::new(layout.clone(), setup));
        let contents = 1 + rng.below(3 * logical);
        let squeeze = rng.below(3);
        for step in 0..1500u64 {
            let span = if rng.below(2) == 0 { logical } else { 1 + logical / 4 };
            let lpn = rng.below(span) as u32;
            let what = rng.below(40);
            let run = 1 + rng.below(4).min(logical - 1 - u64::from(lpn)) as usize;
            let content = |rng: &mut Rng| {
                let fingerprint = if rng.below(20) == 0 { 0 } else { 1 + rng.below(contents) };
                let size = match squeeze {
                    0 => PAGE,
                    1 => 1 + (fingerprint * 997 % u64::from(PAGE)) as u32,
                    _ => 1 + (fingerprint % 700) as u32,
                };
                Content { fingerprint, compressed_bytes: if fingerprint == 0 { 0 } else { size } }
            };
            let written: Vec<Content> = (0..run).map(|_| content(&mut rng)).collect();
            let schemes = Schemes { dedup: rng.below(2) == 0, compress: rng.below(2) == 0 };
            for (number, drive) in [&mut drive, &mut twin].into_iter().enumerate() {
                match what {
                    0..=24 => drive.serve(Kind::Write, lpn, &written),
                    25 | 26 => drive.serve(Kind::WritePartial, lpn, &[]),
                    27 | 28 => drive.serve(Kind::Trim, lpn, &[]),
                    29 => drive.flush(),
                    30 if step % 7 == 0 => drive.ftl.set_schemes(schemes),
                    _ => drive.serve(Kind::Read, lpn, &[]),
                }
                let fault = drive.flash.violation();
                assert!(
                    fault.is_none(),
                    "seed {seed} step {step} drive {number}: {fault:?} {:?}",
                    drive.make.1
                );
            }
            if step % 40 == 0 {
                drive.audit(&format!("seed {seed} step {step}"));
            }
            if rng.below(200) == 0 {
                twin = twin.again();
                twin.audit(&format!("seed {seed} step {step}, from the file"));
            }
        }
        drive.audit(&format!("seed {seed}, in the end"));
        repacked += drive.flash.counters().programs[Cause::Repack as usize];
        assert!(drive.bytes() == twin.bytes(), "seed {seed}: another drive comes out of the file");
    }
    assert!(repacked > 0, "nothing was packed anew");
}
