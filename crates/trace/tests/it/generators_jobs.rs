//! Jobs, the JESD219 workload and the micro-benchmarks of RB-Explorer: bounds, shares, sizes, zones, repetition.

use floatgate_base::testing::Bound;
use floatgate_base::{Op, RequestBatch};
use floatgate_trace::generate::micro::{self, MICROS};
use floatgate_trace::generate::{Burst, Jobs, Micro, jesd219, sizes};
use floatgate_trace::{Generator, GeneratorConfig, Pattern, Source, info};
use std::collections::BTreeSet;

const SPACE: u64 = 64 << 20;

fn config(jobs: Jobs, requests: u64) -> GeneratorConfig {
    GeneratorConfig {
        pattern: Pattern::Jobs,
        logical_bytes: SPACE,
        requests,
        jobs,
        ..GeneratorConfig::default()
    }
}

fn jesd(requests: u64) -> GeneratorConfig {
    GeneratorConfig { pattern: Pattern::Jesd219, ..config(Jobs::default(), requests) }
}

fn all(config: &GeneratorConfig) -> RequestBatch {
    let mut batch = RequestBatch::default();
    Generator::new(config.clone()).unwrap().fill(&mut batch, usize::MAX).unwrap();
    batch
}

/// Returns the sum of (observed - expected)^2 / expected, as standard deviations from its mean.
fn chi_square(observed: &[f64], expected: &[f64]) -> f64 {
    let sum: f64 = observed.iter().zip(expected).map(|(o, e)| (o - e).powi(2) / e).sum();
    let freedom = observed.len() as f64 - 1.0;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

/// Counts each size, beside the count expected from its weight.
fn sizes_misfit(batch: &RequestBatch, list: &[(u64, f64)]) -> f64 {
    let weight: f64 = list.iter().map(|(_, w)| w).sum();
    let expected: Vec<f64> = list.iter().map(|(_, w)| w / weight * batch.len() as f64).collect();
    let count = |bytes: u64| batch.bytes.iter().filter(|&&b| b == bytes).count() as f64;
    let observed: Vec<f64> = list.iter().map(|(b, _)| count(*b)).collect();
    assert_eq!(observed.iter().sum::<f64>(), batch.len() as f64);
    chi_square(&observed, &expected)
}

#[test]
fn jobs_stay_in_their_working_set_and_on_their_grid() {
    let list = vec![(512, 1.0), (4096, 5.0), (20_000, 2.0)];
    let jobs = Jobs {
        random_share: 0.3,
        sizes: list.clone(),
        align_bytes: 1024,
        offset_bytes: 512,
        working_set_bytes: Some(1 << 20),
        burst: None,
    };
    let batch = all(&GeneratorConfig { read_share: 0.25, ..config(jobs, 200_000) });
    assert!(sizes_misfit(&batch, &list).abs() < 4.0);
    let mut on = 0;
    for i in 0..batch.len() {
        let (offset, bytes) = (batch.offset[i], batch.bytes[i]);
        assert!(offset >= 512 && offset + bytes <= 512 + (1 << 20));
        assert_eq!((offset - 512) % 1024, 0);
        if i > 0 {
            let end = batch.offset[i - 1] + batch.bytes[i - 1] - 512;
            on += u64::from(offset - 512 == end.next_multiple_of(1024));
        }
    }
    // 70 % continue, but one in about 140 of them would leave the working set; standard deviation 205.
    assert!((138_000..140_300).contains(&on), "{on}");
    let reads = batch.op.iter().filter(|&&op| op == Op::Read).count();
    assert!(reads.abs_diff(50_000) < 900, "{reads}");
}

#[test]
fn random_jobs_are_uniform() {
    let batch = all(&GeneratorConfig { logical_bytes: 1000 * 4096, ..config(Jobs::default(), 1_000_000) });
    let mut counts = vec![0.0; 1000];
    batch.offset.iter().for_each(|offset| counts[(offset / 4096) as usize] += 1.0);
    assert!(chi_square(&counts, &[1000.0; 1000]).abs() < 4.0);
}

#[test]
fn bursts_keep_the_mean_rate() {
    let burst = Burst { on_s: 0.5, off_s: 1.5 };
    let timed = |burst| GeneratorConfig {
        rate_per_s: Some(1000.0),
        ..config(Jobs { burst, ..Jobs::default() }, 4_000_000)
    };
    let batch = all(&timed(Some(burst)));
    assert!(batch.time_ns.is_sorted());
    let span = *batch.time_ns.last().unwrap() as f64 / 1e9;
    // 2000 cycles of 2 s with a standard deviation of 1.6 s each: 72 s in total; the limit is four of them.
    assert!((span - 4000.0).abs() < 290.0, "{span}");
    let long = batch.time_ns.windows(2).filter(|w| w[1] - w[0] > 1_000_000).count();
    assert!(long.abs_diff(2000) < 180, "{long} silences");
    let even = all(&timed(None));
    assert_eq!(even.time_ns[3_999_999], 3_999_999_000_000);
}

#[test]
fn jesd219_has_its_sizes() {
    let mean = sizes::mean(&jesd219::SIZES);
    assert!((mean - 7818.24).abs() < 1e-9, "{mean}");
    let mut source = Generator::new(jesd(1_000_000)).unwrap();
    let figures = info(&mut source).unwrap();
    // A size has a standard deviation of 12.4 KB: 12.4 B for the mean of a million.
    assert!((figures.mean_write_bytes.unwrap() - 7818.24).abs() < 50.0, "{:?}", figures.mean_write_bytes);
    assert!(sizes_misfit(&all(&jesd(1_000_000)), &jesd219::SIZES).abs() < 4.0);
}

#[test]
fn jesd219_has_its_zones() {
    let batch = all(&jesd(1_000_000));
    let pages = SPACE / 4096;
    let ends = [0.05, 0.2, 1.0].map(|share| (pages as f64 * share).round() as u64 * 4096);
    let mut counts = [0.0; 3];
    for (&offset, &bytes) in batch.offset.iter().zip(&batch.bytes) {
        let zone = ends.iter().position(|end| offset < *end).unwrap();
        assert!(offset + bytes <= ends[zone], "a request leaves its zone");
        let align = if bytes < 4096 { 512 } else { 4096 };
        assert_eq!(offset % align, 0);
        counts[zone] += 1.0;
    }
    assert!(chi_square(&counts, &[500_000.0, 300_000.0, 200_000.0]) < 4.0, "{counts:?}");
    // Inside a zone all places are equally likely: the first one, by requests of 4 KiB, in 100 parts.
    let mut parts = [0.0; 100];
    let slots = ends[0] / 4096;
    for (&offset, &bytes) in batch.offset.iter().zip(&batch.bytes) {
        if offset < ends[0] && bytes == 4096 {
            parts[(offset / 4096 * 100 / slots) as usize] += 1.0;
        }
    }
    let sum: f64 = parts.iter().sum();
    let width = |i: u64| ((0..slots).filter(|slot| slot * 100 / slots == i).count() as f64) / slots as f64;
    let expected: Vec<f64> = (0..100).map(|i| width(i) * sum).collect();
    assert!(chi_square(&parts, &expected).abs() < 4.0);
}

#[test]
fn there_are_forty_micro_benchmarks() {
    let names: BTreeSet<&str> = MICROS.iter().map(|m| m.name).collect();
    let kinds: BTreeSet<_> =
        MICROS.iter().map(|m| (m.request_bytes, m.random, m.write_percent, m.aligned)).collect();
    assert_eq!((MICROS.len(), names.len(), kinds.len()), (40, 40, 40));
    for micro in MICROS {
        assert!([512, 4096, 8192, 16_384, 32_768].contains(&micro.request_bytes));
        assert!([50, 100].contains(&micro.write_percent));
        let size = match micro.request_bytes {
            512 => "512b".to_owned(),
            bytes => format!("{}k", bytes / 1024),
        };
        let order = if micro.random { "rd" } else { "sq" };
        let align = if micro.aligned { "align" } else { "no-align" };
        assert_eq!(micro.name, format!("{size}-{order}-{}w-{align}", micro.write_percent));
        assert_eq!(Micro::find(micro.name), Some(micro));
        let written = micro.requests() * micro.request_bytes * u64::from(micro.write_percent) / 100;
        assert_eq!(written, micro::BYTES);
    }
}

#[test]
fn micro_benchmarks_do_what_their_names_say() {
    for micro in MICROS {
        let mut config = micro.config(1 << 30, 7);
        config.requests = 20_000;
        let batch = all(&config);
        assert!(batch.bytes.iter().all(|&b| b == micro.request_bytes));
        let grid = if micro.aligned { 4096 } else { 512 };
        assert!(batch.offset.iter().all(|o| o % grid == 0), "{}", micro.name);
        if !micro.aligned && micro.request_bytes >= 4096 {
            let aligned = batch.offset.iter().filter(|o| *o % 4096 == 0).count();
            // In sequence never; at random one in eight, standard deviation 47.
            assert!(if micro.random { aligned.abs_diff(2500) < 200 } else { aligned == 0 }, "{}", micro.name);
        }
        let step = micro.request_bytes.next_multiple_of(grid);
        let on = batch.offset.windows(2).filter(|w| w[1] == w[0] + step).count();
        assert!(if micro.random { on < 5 } else { on == 19_999 }, "{}: {on} go on", micro.name);
        let writes = batch.op.iter().filter(|&&op| op == Op::Write).count();
        let wanted = 200 * usize::from(micro.write_percent);
        assert!(writes.abs_diff(wanted) < 300, "{}: {writes} writes", micro.name);
    }
}

#[test]
fn runs_repeat_and_do_not_depend_on_the_batch() {
    for config in [config(Jobs { random_share: 0.5, ..Jobs::default() }, 10_000), jesd(10_000)] {
        let whole = all(&config);
        let mut source = Generator::new(config.clone()).unwrap();
        let mut parts = RequestBatch::default();
        let mut bound = Bound::new(100_000_000);
        while parts.len() < 10_000 {
            bound.step();
            source.fill(&mut parts, 77).unwrap();
        }
        assert_eq!((&whole.offset, &whole.bytes), (&parts.offset, &parts.bytes));
        source.rewind().unwrap();
        let mut again = RequestBatch::default();
        source.fill(&mut again, usize::MAX).unwrap();
        assert_eq!(whole.offset, again.offset);
        let other = all(&GeneratorConfig { seed: 2, ..config });
        assert_ne!(whole.offset, other.offset);
    }
}

#[test]
fn what_cannot_be_made_is_refused() {
    let refusal =
        |config: GeneratorConfig| Generator::new(config).err().expect("should be refused").to_string();
    let job = |jobs: Jobs| refusal(config(jobs, 10));
    let base = Jobs::default;
    assert_eq!(
        job(Jobs { random_share: 1.5, ..base() }),
        "workload.random_share: 1.5 is not a share; expected a number from 0 to 1"
    );
    assert_eq!(
        job(Jobs { sizes: vec![], ..base() }),
        "workload.sizes: an empty list of sizes; expected pairs of bytes and weight"
    );
    assert_eq!(
        job(Jobs { sizes: vec![(0, 1.0)], ..base() }),
        "workload.sizes: a size of 0 bytes; expected at least 1"
    );
    assert_eq!(
        job(Jobs { sizes: vec![(4096, f64::NAN)], ..base() }),
        "workload.sizes: NaN is not a weight of the size 4096; expected a number above 0"
    );
    assert_eq!(job(Jobs { align_bytes: 0, ..base() }), "workload.align_bytes: 0 bytes; expected at least 1");
    assert_eq!(
        job(Jobs { working_set_bytes: Some(SPACE + 1), ..base() }),
        "workload.working_set_bytes: the working set ends at byte 67108865 of a space of 67108864; \
         expected one inside the drive"
    );
    assert_eq!(
        job(Jobs { working_set_bytes: Some(4095), ..base() }),
        "workload.sizes: 4096 bytes exceed the working set of 4095; expected requests that fit the working set"
    );
    assert_eq!(
        job(Jobs { offset_bytes: SPACE, ..base() }),
        "workload.sizes: 4096 bytes exceed the working set of 0; expected requests that fit the working set"
    );
    let burst = Some(Burst { on_s: 1.0, off_s: 1.0 });
    assert_eq!(
        job(Jobs { burst, ..base() }),
        "workload.burst_on_s: bursts require a rate; expected rate_per_s, the mean over bursts and silence"
    );
    assert_eq!(
        job(Jobs { burst: Some(Burst { on_s: 1.0, off_s: -1.0 }), ..base() }),
        "workload.burst_off_s: -1 is not a length of time; expected seconds above 0, at most 1000000000"
    );
    assert_eq!(
        refusal(GeneratorConfig { logical_bytes: 1 << 20, ..jesd(1) }),
        "workload.pattern: a space of 1048576 bytes is too small for jesd219; \
         expected at least 1310720 bytes: 64 KiB must fit into its first 5 %"
    );
    assert!(Generator::new(GeneratorConfig { logical_bytes: 1_310_720, ..jesd(1) }).is_ok());
}
