//! Compares all analyses together with brute force.

use super::*;
use crate::source::Summary;
use floatgate_base::testing::Bound;
use floatgate_base::{Op, OptionalColumns};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Requests in memory: time in microseconds, device, operation, first byte, bytes, context.
type Row = (i64, u16, Op, u64, u64, u32);

struct Rows {
    rows: Vec<Row>,
    at: usize,
    devices: Vec<String>,
}

impl Rows {
    fn new(rows: Vec<Row>) -> Self {
        Self { rows, at: 0, devices: vec!["a".into(), "b".into()] }
    }
}

impl Source for Rows {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        for &(us, device, op, offset, bytes, context) in self.rows.iter().skip(self.at).take(max) {
            batch.push(us * 1000, device, op, offset, bytes);
            batch.context.push(context);
            self.at += 1;
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn format(&self) -> &'static str {
        "rows"
    }

    fn devices(&self) -> &[String] {
        &self.devices
    }

    fn summary(&self) -> Summary {
        Summary::default()
    }

    fn place_of(&self, index: u64) -> String {
        index.to_string()
    }

    fn columns(&self) -> OptionalColumns {
        OptionalColumns { context: true, ..OptionalColumns::default() }
    }
}

fn described(rows: &[Row], tiles: u32) -> Info {
    let mut source = Rows::new(rows.to_vec());
    let (mut counts, mut rest) = (Counts::default(), Distributions::new(&InfoOptions::default(), tiles));
    let mut batch = RequestBatch::default();
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        batch.clear();
        source.fill(&mut batch, 50).unwrap();
        if batch.is_empty() {
            let mut info = counts.describe(&source);
            rest.describe(&source, &mut info);
            return info;
        }
        counts.add(&batch);
        rest.add(&batch);
    }
}

fn write(us: i64, page: u64, pages: u64) -> Row {
    (us, 0, Op::Write, page * 4096, pages * 4096, 0)
}

#[test]
fn a_worked_example() {
    // Pages 0-3, then 2, then 0-3 again.
    let info = described(&[write(0, 0, 4), write(10, 2, 1), write(30, 0, 4)], 1 << 10);
    let update = info.update_interval.unwrap();
    assert_eq!((update.page_writes, update.updates, update.first_write_share), (9, 5, Some(4.0 / 9.0)));
    // Page 2 after 2 writes; then pages 0, 1, 3 after 5 and page 2 after 3.
    assert_eq!(update.bytes.histogram.from, [8192, 12_288, 20_480]);
    assert_eq!(update.bytes.histogram.count, [1, 1, 3]);
    let time = update.time_s.unwrap();
    assert_eq!(time.histogram.from, [1e-5, 2e-5, 3e-5]);
    assert_eq!(time.histogram.count, [1, 1, 3]);
    // Page 2 has page 3 above it. Then 0: 1, 3, 2; 1: 3, 2, 0; 2: 0, 1; 3: 2, 0, 1.
    let reuse = info.reuse_distance.unwrap();
    assert_eq!(reuse.all.bytes.histogram.from, [4096, 8192, 12_288]);
    assert_eq!(reuse.all.bytes.histogram.count, [1, 1, 3]);
    assert_eq!(reuse.all.first_share, Some(4.0 / 9.0));
    assert_eq!((reuse.reads.page_accesses, reuse.reads.first_share), (0, None));
    assert_eq!((reuse.lru.cache_bytes, reuse.lru.hit_ratio), (vec![1 << 20], vec![Some(5.0 / 9.0)]));
    let written = info.frequency.unwrap().written.unwrap();
    assert_eq!((written.pages, written.max), (4, 3));
    assert_eq!((written.histogram.from, written.histogram.pages), (vec![2, 3], vec![3, 1]));
}

#[test]
fn a_trim_ends_the_data_of_whole_pages() {
    let trim = |offset: u64, bytes: u64| (0, 0, Op::Trim, offset, bytes, 0);
    for (rows, firsts) in [
        (vec![write(0, 0, 4), trim(0, 4 * 4096), write(0, 0, 4)], 8),
        (vec![write(0, 0, 4), trim(1, 4 * 4096 - 2), write(0, 0, 4)], 6),
        (vec![write(0, 0, 4), trim(5, 4000), write(0, 0, 4)], 4),
        (vec![write(0, 0, 4), trim(8192, 1 << 60), write(0, 0, 4)], 6),
        (vec![write(0, 0, 4), trim(0, u64::MAX), write(0, 0, 4), write(0, 0, 4)], 8),
        (vec![trim(0, u64::MAX), write(0, 0, 4), write(0, 0, 4), write(0, 0, 4)], 4),
    ] {
        let update = described(&rows, 1 << 10).update_interval.unwrap();
        let n = update.page_writes;
        assert_eq!(
            (n - update.updates, update.first_write_share),
            (firsts, Some(firsts as f64 / n as f64)),
            "{rows:?}"
        );
    }
}

#[test]
fn updates_belong_to_the_context_that_had_written() {
    let by = |context: u32, page: u64| (0, 0, Op::Write, page * 4096, 4096, context);
    let rows = [by(1, 0), by(2, 0), by(2, 1), by(1, 0), by(1, 1), by(0, 1), by(2, 1)];
    let contexts = described(&rows, 1 << 10).contexts.unwrap();
    assert_eq!((contexts.count, contexts.page_writes_without, contexts.updates), (2, 1, 4));
    assert_eq!(contexts.list.iter().map(|c| c.updates).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(contexts.list[0].update_interval_median_bytes, Some(4096));
    assert_eq!(contexts.list[1].update_interval_median_bytes, Some(2 * 4096));
}

#[test]
fn the_largest_requests_do_not_stall() {
    let rows = [
        (0, 0, Op::Write, 0, 1 << 30, 0),
        (0, 1, Op::Write, u64::MAX - (1 << 30), 1 << 30, 0),
        (0, 0, Op::Read, 0, 1 << 30, 0),
        (0, 0, Op::Trim, 0, u64::MAX, 0),
        (0, 0, Op::Write, 0, 1 << 30, 0),
    ];
    let info = described(&rows, 1 << 12);
    let update = info.update_interval.unwrap();
    assert_eq!(
        (update.updates, update.first_write_share, update.page_writes),
        (0, Some(1.0), 3 * (1 << 18) + 1)
    );
    assert!(update.sampled_share < 0.1);
}

/// A sample of the pages gives the results of all pages: uniform writes have decaying intervals, and a cache hits its
/// share of the footprint. Tolerances are some four standard deviations of a sample of 16,000 pages.
#[test]
fn a_sample_tells_what_all_pages_tell() {
    let mut rng = floatgate_base::Rng::new(1, "info");
    let pages = 1 << 18;
    let rows: Vec<Row> = (0..4 << 18).map(|i| write(i, rng.below(pages), 1)).collect();
    let (exact, sample) = (described(&rows, 1 << 20), described(&rows, 5000));
    let (exact_update, update) = (exact.update_interval.unwrap(), sample.update_interval.unwrap());
    assert_eq!((exact_update.sampled_share, update.sampled_share), (1.0, 1.0 / 16.0));
    let near = |a: f64, b: f64, tolerance: f64| assert!((a / b - 1.0).abs() < tolerance, "{a} {b}");
    near(update.first_write_share.unwrap(), exact_update.first_write_share.unwrap(), 0.03);
    near(update.updates as f64, exact_update.updates as f64, 0.03);
    let median = |u: &UpdateInfo| u.bytes.p50.unwrap() as f64;
    near(median(&update), median(&exact_update), 0.03);
    let (exact_reuse, reuse) = (exact.reuse_distance.unwrap(), sample.reuse_distance.unwrap());
    assert_eq!(reuse.lru.cache_bytes, exact_reuse.lru.cache_bytes);
    for (a, b) in reuse.lru.hit_ratio.iter().zip(&exact_reuse.lru.hit_ratio) {
        assert!((a.unwrap() - b.unwrap()).abs() < 0.01, "{a:?} {b:?}");
    }
    let written = |f: Option<FrequencyInfo>| f.unwrap().written.unwrap();
    let (a, b) = (written(sample.frequency), written(exact.frequency));
    near(a.pages as f64, b.pages as f64, 0.03);
    assert!((a.busiest.access_share[2] - b.busiest.access_share[2]).abs() < 0.01);
}

/// A naive model: the result of each page write.
#[derive(Default)]
struct Plain {
    intervals: BTreeMap<u64, u64>,
    firsts: u64,
    of_context: [u64; 4],
    writes: BTreeMap<(u16, u64), u32>,
}

fn plain(rows: &[Row]) -> Plain {
    let mut out = Plain::default();
    let mut held: BTreeMap<(u16, u64), (u64, u32)> = BTreeMap::new();
    let mut number = 0;
    for &(_, device, op, offset, bytes, context) in rows {
        match op {
            Op::Read => {}
            Op::Trim => {
                let gone = offset.div_ceil(4096)..(offset + bytes) / 4096;
                held.retain(|&(d, page), _| d != device || !gone.contains(&page));
            }
            Op::Write => {
                for page in offset / 4096..=(offset + bytes - 1) / 4096 {
                    number += 1;
                    *out.writes.entry((device, page)).or_default() += 1;
                    match held.insert((device, page), (number, context)) {
                        None => out.firsts += 1,
                        Some((before, context)) => {
                            *out.intervals.entry(number - before).or_default() += 1;
                            out.of_context[context as usize] += 1;
                        }
                    }
                }
            }
        }
    }
    out
}

proptest! {
    #[test]
    fn equals_brute_force(
        requests in prop::collection::vec((0u16..2, 0u8..6, 0u64..300, 1u64..80_000, 0u32..4), 1..200),
        large in prop::bool::ANY,
    ) {
        let rows: Vec<Row> = requests.iter().enumerate().map(|(i, &(device, op, at, bytes, context))| {
            let op = [Op::Write, Op::Write, Op::Write, Op::Read, Op::Read, Op::Trim][usize::from(op)];
            let bytes = if large && op == Op::Trim { bytes << 12 } else { bytes };
            (i as i64, device, op, at * 1024, bytes, context)
        }).collect();
        let (info, plain) = (described(&rows, 1 << 12), plain(&rows));
        let update = info.update_interval.unwrap();
        prop_assert_eq!(update.page_writes - update.updates, plain.firsts);
        let mut buckets = log_histogram::LogHistogram::default();
        plain.intervals.iter().for_each(|(&interval, &n)| buckets.add(interval, n));
        prop_assert_eq!(update.bytes.histogram.count, buckets.describe(|v| v).histogram.count);
        let contexts = info.contexts.unwrap();
        prop_assert_eq!(contexts.updates, plain.of_context[1..].iter().sum::<u64>());
        let frequency = info.frequency.unwrap();
        prop_assert_eq!(frequency.written.map(|f| f.pages).unwrap_or(0), plain.writes.len() as u64);
        prop_assert_eq!(info.pages_written_distinct, plain.writes.len() as u64);
    }
}
