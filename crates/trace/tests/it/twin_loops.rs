//! Loops of twins: repeated reads, their placement, and the space that they leave to other reads.

use floatgate_base::testing::Bound;
use floatgate_base::{Op, RequestBatch};
use floatgate_trace::generate::Twin;
use floatgate_trace::generate::twin::{Content, Loops, Rate, Sets, Side, SizeLaw, Skew, Visits};
use floatgate_trace::{Generator, GeneratorConfig, Pattern, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
const GRAIN: u64 = 8192;

fn twin(sets: &[(u64, f64)]) -> Twin {
    let visits = |again_share| Visits {
        again_share,
        growth: 0.5,
        skew: Skew::HotCold { pages: 0.2, accesses: 0.5 },
        cluster_bytes: 65_536,
    };
    let sizes = SizeLaw::Lognormal {
        mean_bytes: 24_576.0,
        sigma: 0.6,
        min_bytes: GRAIN,
        max_bytes: 131_072,
        step_bytes: GRAIN,
    };
    Twin {
        name: "loops".into(),
        summary: "a test".into(),
        duration_s: 3600.0,
        requests: 100_000,
        read_share: 0.9,
        reads: Side { sizes: sizes.clone(), sequential_share: 0.3, aligned_share: 1.0, recurring_share: 0.0 },
        writes: Side { sizes, sequential_share: 0.1, aligned_share: 1.0, recurring_share: 0.0 },
        rewrites: visits(0.8),
        loops: Loops { sets: sets.to_vec(), cluster_bytes: MIB },
        sets: Sets::default(),
        reads_of_written_share: 0.0,
        rereads_of_written: visits(0.5),
        rereads: visits(0.5),
        rate: Rate {
            daily_swing: 0.0,
            peak_hour: 0.0,
            profile: vec![],
            noise: 0.0,
            noise_window_s: 600.0,
            burst_requests: 1.0,
        },
        footprint_bytes: 4 * GIB,
        content: Content::default(),
    }
}

fn config(twin: &Twin) -> GeneratorConfig {
    GeneratorConfig {
        pattern: Pattern::Twin,
        logical_bytes: twin.footprint_bytes,
        requests: twin.requests,
        twin: Some(Arc::new(twin.clone())),
        ..GeneratorConfig::default()
    }
}

fn all(twin: &Twin) -> RequestBatch {
    let mut batch = RequestBatch::default();
    Generator::new(config(twin)).unwrap().fill(&mut batch, usize::MAX).unwrap();
    batch
}

fn near(what: &str, actual: f64, wanted: f64, tolerance: f64) {
    assert!((actual - wanted).abs() <= tolerance * wanted.abs(), "{what}: {actual}, not {wanted}");
}

#[test]
fn a_loop_is_the_same_reads_again_and_again() {
    let twin = Twin { read_share: 1.0, requests: 20_000, ..twin(&[(64 * MIB, 1.0)]) };
    let batch = all(&twin);
    assert!(batch.op.iter().all(|&op| op == Op::Read));
    let lap = (1..batch.len()).find(|&i| batch.offset[i] == batch.offset[0]).unwrap();
    for i in lap..batch.len() {
        assert_eq!((batch.offset[i], batch.bytes[i]), (batch.offset[i - lap], batch.bytes[i - lap]));
    }
    let bytes: u64 = batch.bytes[..lap].iter().sum();
    assert!((64 * MIB..64 * MIB + 131_072).contains(&bytes), "{bytes}");
    // No page is read twice in a lap.
    let mut pages = BTreeSet::new();
    for i in 0..lap {
        let (first, n) = (batch.offset[i] / GRAIN, batch.bytes[i] / GRAIN);
        assert!(batch.offset[i].is_multiple_of(GRAIN) && (first..first + n).all(|p| pages.insert(p)));
    }
}

#[test]
fn clusters_vary_in_length_and_lie_anywhere() {
    let batch = all(&Twin { read_share: 1.0, ..twin(&[(256 * MIB, 1.0)]) });
    let pages: BTreeSet<u64> = (0..batch.len())
        .flat_map(|i| batch.offset[i] / GRAIN..(batch.offset[i] + batch.bytes[i]) / GRAIN)
        .collect();
    near("pages", pages.len() as f64, (256 * MIB / GRAIN) as f64, 0.001);
    let (mut lengths, mut before) = (vec![], None);
    for &page in &pages {
        match before {
            Some(b) if b + 1 == page => *lengths.last_mut().unwrap() += 1u64,
            _ => lengths.push(1),
        }
        before = Some(page);
    }
    // Of the 1 MiB per cluster, 128 pages: 1 to 112 before the last request, evenly.
    let short = lengths.iter().filter(|&&n| n < 40).count() as f64 / lengths.len() as f64;
    assert!(short > 0.2 && short < 0.4, "{short}");
    assert!(lengths.iter().filter(|&&n| n > 90).count() > 20);
    // Scattered over all pages read: the other reads take half of these 400 MiB.
    let flash_blocks: BTreeMap<u64, u64> = pages.iter().fold(BTreeMap::new(), |mut blocks, page| {
        *blocks.entry(page / 192).or_default() += 1;
        blocks
    });
    let mixed = flash_blocks.values().filter(|&&n| n < 144).count() as f64 / flash_blocks.len() as f64;
    assert!(mixed > 0.9, "{mixed} of the blocks of 192 pages hold others as well");
}

#[test]
fn shares_are_met_whatever_runs_on() {
    for sequential_share in [0.0, 0.3, 0.8] {
        let sets = [(64 * MIB, 0.3), (200 * MIB, 0.4)];
        let base = twin(&sets);
        let reads = Side { sequential_share, ..base.reads.clone() };
        let twin = Twin { reads, ..base };
        let batch = all(&twin);
        let reads = batch.op.iter().filter(|&&op| op == Op::Read).count() as f64;
        near("reads", reads / batch.len() as f64, 0.9, 0.01);
        let page_reads: u64 =
            (0..batch.len()).filter(|&i| batch.op[i] == Op::Read).map(|i| batch.bytes[i]).sum();
        near("mean read", page_reads as f64 / reads, 24_576.0, 0.02);
        // A page of a loop is read once per lap; the loop's share of the reads determines the length of a lap. The
        // pages of other reads are read less than 3 times on average.
        let mut count: BTreeMap<u64, u32> = BTreeMap::new();
        for i in (0..batch.len()).filter(|&i| batch.op[i] == Op::Read) {
            for page in batch.offset[i] / GRAIN..(batch.offset[i] + batch.bytes[i]) / GRAIN {
                *count.entry(page).or_default() += 1;
            }
        }
        for (bytes, share) in sets {
            let laps = page_reads as f64 * share / bytes as f64;
            let (low, high) = ((0.9 * laps) as u32, (1.1 * laps).ceil() as u32 + 1);
            let often = count.values().filter(|n| (low..=high).contains(n)).count() as f64;
            assert!(
                often > 0.8 * (bytes / GRAIN) as f64,
                "{often} pages read {laps} times, of {bytes} bytes"
            );
        }
    }
}

#[test]
fn what_the_other_reads_and_the_writes_do_stays_as_told() {
    let twin = twin(&[(100 * MIB, 0.5)]);
    let batch = all(&twin);
    let (mut in_loop, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut accesses = 0u64;
    let mut writes = (BTreeSet::new(), 0u64);
    let mut count: BTreeMap<u64, u32> = BTreeMap::new();
    for i in 0..batch.len() {
        for page in batch.offset[i] / 4096..(batch.offset[i] + batch.bytes[i]) / 4096 {
            if batch.op[i] == Op::Write {
                writes.0.insert(page);
                writes.1 += 1;
            } else {
                *count.entry(page).or_default() += 1;
            }
        }
    }
    near("rewrites", 1.0 - writes.0.len() as f64 / writes.1 as f64, 0.8, 0.01);
    // A page of the loop is read 10 times, another one twice on average.
    for (&page, &n) in &count {
        if n >= 9 {
            in_loop.insert(page)
        } else {
            others.insert(page)
        };
        accesses += u64::from(n);
    }
    // In the end nearly all read-only pages are among those of the other reads, including the loop's.
    let distinct = (others.len() + in_loop.len()) as f64;
    near("distinct pages of the others", distinct, accesses as f64 * 0.5 * 0.5, 0.05);
    near("pages of the loop", in_loop.len() as f64, 100.0 * 256.0, 0.05);
    assert!(writes.0.is_disjoint(&in_loop));
}

#[test]
fn runs_repeat_and_a_pass_begins_the_loops_again() {
    let twin = Twin { requests: 7000, ..twin(&[(64 * MIB, 0.5), (16 * MIB, 0.2)]) };
    let once = all(&twin);
    let mut twice = RequestBatch::default();
    let mut source = Generator::new(GeneratorConfig { requests: 14_000, ..config(&twin) }).unwrap();
    let mut bound = Bound::new(100_000_000);
    while twice.len() < 14_000 {
        bound.step();
        source.fill(&mut twice, 331).unwrap();
    }
    assert_eq!(once.offset, twice.offset[..7000]);
    assert_eq!(once.offset, twice.offset[7000..]);
    source.rewind().unwrap();
    let mut again = RequestBatch::default();
    source.fill(&mut again, 7000).unwrap();
    assert_eq!((&once.offset, &once.bytes, &once.op), (&again.offset, &again.bytes, &again.op));
}

#[test]
fn a_thinned_twin_makes_as_many_laps() {
    let twin = Twin { requests: 400_000, ..twin(&[(512 * MIB, 0.6)]) };
    let distinct = |twin: &Twin| {
        let batch = all(twin);
        let reads = (0..batch.len()).filter(|&i| batch.op[i] == Op::Read);
        let pages = reads.flat_map(|i| batch.offset[i] / GRAIN..(batch.offset[i] + batch.bytes[i]) / GRAIN);
        pages.collect::<BTreeSet<_>>().len() as f64
    };
    near("distinct pages", distinct(&twin.thinned(4)) * 4.0, distinct(&twin), 0.03);
}

#[test]
fn loops_that_cannot_be_made_are_refused() {
    let refusal = |twin: Twin| Generator::new(config(&twin)).err().expect("should be refused").to_string();
    let clusters =
        |cluster_bytes| Twin { loops: Loops { sets: vec![(MIB, 0.5)], cluster_bytes }, ..twin(&[]) };
    let cases = [
        (
            twin(&[(4096, 0.5)]),
            "reads.loops: [4096, 0.5] is not a loop with its share of the reads; \
             expected at least loop_cluster_bytes, and a share above 0 and at most 1",
        ),
        (
            twin(&[(MIB, 0.0)]),
            "reads.loops: [1048576, 0] is not a loop with its share of the reads; \
             expected at least loop_cluster_bytes, and a share above 0 and at most 1",
        ),
        (
            twin(&[(MIB, 0.6), (MIB, 0.6)]),
            "reads.loops: 2 loops with 1.2 of the reads; expected at most 16 loops with a share of at most 1",
        ),
        (
            clusters(3 * MIB),
            "reads.loop_cluster_bytes: 3145728 bytes are not a valid cluster size; \
             expected a power of two from 4096 to 16777216",
        ),
        (
            clusters(131_072),
            "reads.loop_cluster_bytes: clusters of 131072 bytes cannot hold two reads of 131072; \
             expected at least 262144, or smaller reads",
        ),
        (
            Twin { read_share: 0.0, ..twin(&[(MIB, 0.5)]) },
            "reads.loops: loops without reads; expected a read_share above 0",
        ),
    ];
    for (twin, message) in cases {
        assert_eq!(refusal(twin), message);
    }
    let small = Twin { footprint_bytes: 64 * MIB, ..twin(&[(GIB, 0.5)]) };
    let message = refusal(small);
    assert!(
        message.starts_with("footprint_bytes: a footprint of 67108864 bytes; expected at least"),
        "{message}"
    );
}
