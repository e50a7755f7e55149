//! Cursors issue the same requests as a plain merge of copies of the trace, in batches of any size.

use crate::common::memory::{Memory, all, any_source};
use floatgate_base::RequestBatch;
use floatgate_trace::{Amplification, Amplified, Generator, GeneratorConfig, Pattern, Source};
use proptest::prelude::*;

fn amplified(source: &Memory, cursors: u64, gap_spread: f64, seed: u64) -> Amplified {
    Amplified::new(Box::new(source.clone()), Amplification { cursors, gap_spread, seed }).unwrap()
}

/// Returns everything of a request except its time.
fn request(batch: &RequestBatch, i: usize) -> impl PartialEq + std::fmt::Debug {
    let content = (!batch.content.end.is_empty()).then(|| {
        let entries = batch.content.range(i);
        let sizes = batch.content.compressed_bytes[entries.clone()].to_vec();
        (batch.content.fingerprint[entries].to_vec(), sizes)
    });
    let optional = (batch.context.get(i).copied(), batch.stream.get(i).copied());
    (batch.device[i], batch.op[i], batch.offset[i], batch.bytes[i], optional, content)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_cursor_issues_the_trace_in_its_order(
        source in any_source(1..40),
        cursors in 1u64..9,
        spread in prop::sample::select(vec![0.0, 0.3, 1.0]),
        seed in any::<u64>(),
        step in 1usize..50,
    ) {
        let mut many = amplified(&source, cursors, spread, seed);
        let (batch, places) = all(&mut many, step);
        let n = source.rows.len();
        prop_assert_eq!(batch.len(), n * cursors as usize);
        prop_assert!(batch.time_ns.is_sorted());
        // Each request lies at its reported place, with all of its columns, and is issued once per cursor. Its k-th
        // occurrence follows the k-th occurrence of the previous request.
        let mut plain = RequestBatch::default();
        (0..n).for_each(|i| source.copy(i, &mut plain));
        let mut came = vec![0u64; n];
        for (i, place) in places.iter().enumerate() {
            let at: usize = place.strip_prefix("memory:").unwrap().parse().unwrap();
            prop_assert_eq!(request(&batch, i), request(&plain, at));
            came[at] += 1;
            prop_assert!(at == 0 || came[at] <= came[at - 1]);
        }
        prop_assert!(came.iter().all(|&c| c == cursors));
        if !source.times {
            prop_assert!(batch.time_ns.iter().all(|&t| t == 0));
        }
        // The same again, after a rewind and in other batches.
        many.rewind().unwrap();
        let (again, _) = all(&mut many, usize::MAX);
        prop_assert_eq!((&again.time_ns, &again.offset), (&batch.time_ns, &batch.offset));
        prop_assert_eq!(many.summary().content_hash, source.summary().content_hash);
    }

    #[test]
    fn a_single_cursor_is_the_trace(source in any_source(1..40)) {
        let one = Amplification { cursors: 1, ..Amplification::default() };
        let (batch, _) = all(one.of(Box::new(source.clone())).unwrap().as_mut(), 7);
        prop_assert_eq!(&batch.time_ns, &source.rows.time_ns);
        // Without a spread a single cursor keeps the stamps, as far as they ascend.
        let (kept, _) = all(&mut amplified(&source, 1, 0.0, 1), 7);
        let mut largest = i64::MIN;
        for (i, &stamp) in source.rows.time_ns.iter().enumerate() {
            largest = largest.max(stamp);
            prop_assert_eq!(kept.time_ns[i], largest);
            prop_assert_eq!(request(&kept, i), request(&batch, i));
        }
    }
}

fn evenly(requests: u64) -> GeneratorConfig {
    GeneratorConfig {
        pattern: Pattern::Sequential,
        logical_bytes: requests * 4096,
        read_share: 0.9,
        requests,
        rate_per_s: Some(1000.0),
        ..GeneratorConfig::default()
    }
}

fn of_generator(cursors: u64, gap_spread: f64, seed: u64) -> RequestBatch {
    let inner = Box::new(Generator::new(evenly(20_000)).unwrap());
    let mut source = Amplification { cursors, gap_spread, seed }.of(inner).unwrap();
    all(source.as_mut(), RequestBatch::DEFAULT_LEN).0
}

#[test]
fn cursors_drift_apart_by_chance_and_the_span_stays() {
    let (n, cursors) = (20_000.0, 64.0);
    let batch = of_generator(64, 1.0, 1);
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for (i, &offset) in batch.offset.iter().enumerate() {
        match offset / 4096 {
            10_000 => first.push(batch.time_ns[i] as f64 / 1e6),
            19_999 => last.push(batch.time_ns[i] as f64 / 1e6),
            _ => {}
        }
    }
    let moments = |times: &[f64]| {
        let mean = times.iter().sum::<f64>() / cursors;
        let variance = times.iter().map(|t| (t - mean) * (t - mean)).sum::<f64>() / (cursors - 1.0);
        (mean, variance.sqrt())
    };
    for (times, gaps) in [(&first, n / 2.0), (&last, n)] {
        let (mean, deviation) = moments(times);
        // Gaps of a millisecond, times 0 to 2: a variance of a third each. The deviation of 64 draws is known to 9 %.
        let expected = f64::sqrt(gaps / 3.0);
        assert!((mean - gaps).abs() < 4.0 * expected / 8.0, "{mean} ms, not {gaps}");
        assert!((deviation / expected - 1.0).abs() < 0.36, "{deviation} ms, not {expected}");
    }
}

#[test]
fn the_seed_decides_and_no_spread_keeps_step() {
    let batch = of_generator(5, 0.5, 1);
    assert_eq!(of_generator(5, 0.5, 1).time_ns, batch.time_ns);
    assert_ne!(of_generator(5, 0.5, 2).time_ns, batch.time_ns);
    let together = of_generator(5, 0.0, 1);
    assert!(together.offset.chunks(5).all(|five| five.iter().all(|o| *o == five[0])));
}

#[test]
fn an_empty_trace_stays_empty() {
    let mut none = amplified(&Memory { times: true, ..Memory::default() }, 3, 1.0, 1);
    assert!(all(&mut none, 10).0.is_empty());
}
