//! Workload generators: bounds, shares, the laws of the addresses, repetition.

use crate::common::rows_of;
use floatgate_base::{Op, RequestBatch};
use floatgate_trace::{Generator, GeneratorConfig, Pattern, Source, info};
use proptest::prelude::*;

fn config(pattern: Pattern, slots: u64, requests: u64) -> GeneratorConfig {
    GeneratorConfig { pattern, logical_bytes: slots * 4096, requests, ..GeneratorConfig::default() }
}

/// Counts the hits of each slot.
fn hits(config: &GeneratorConfig) -> Vec<u64> {
    let mut counts = vec![0; config.slots() as usize];
    let mut source = Generator::new(config.clone()).unwrap();
    let mut batch = RequestBatch::default();
    source.fill(&mut batch, usize::MAX).unwrap();
    for offset in batch.offset {
        counts[(offset / config.request_bytes) as usize] += 1;
    }
    counts
}

/// Returns the sum of (observed - expected)^2 / expected, as standard deviations from its mean.
fn chi_square(observed: &[u64], expected: &[f64]) -> f64 {
    let sum: f64 = observed.iter().zip(expected).map(|(o, e)| (*o as f64 - e).powi(2) / e).sum();
    let freedom = observed.len() as f64 - 1.0;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn sequential_goes_round() {
    let mut source = Generator::new(config(Pattern::Sequential, 5, 12)).unwrap();
    let rows = rows_of(&mut source, 4).unwrap();
    let slots: Vec<u64> = rows.iter().map(|r| r.3 / 4096).collect();
    assert_eq!(slots, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]);
    assert!(rows.iter().all(|r| (r.0, r.1.as_str(), r.2, r.4) == (0, "synthetic", Op::Write, 4096)));
    assert!(!source.has_times());
}

#[test]
fn uniform_is_uniform() {
    let config = config(Pattern::Uniform, 1000, 1_000_000);
    let z = chi_square(&hits(&config), &[1000.0; 1000]);
    assert!(z.abs() < 4.0, "{z}");
}

#[test]
fn zipf_scatters_its_hot_pages() {
    let config = GeneratorConfig { zipf_theta: 1.0, ..config(Pattern::Zipf, 10_000, 1_000_000) };
    let counts = hits(&config);
    let mut by_count: Vec<usize> = (0..counts.len()).collect();
    by_count.sort_unstable_by_key(|i| std::cmp::Reverse(counts[*i]));
    let near = by_count[..100].windows(2).filter(|w| w[0].abs_diff(w[1]) < 50).count();
    assert!(near < 8, "{near} of 99 popular neighbours are near in the space");
}

#[test]
fn hot_and_cold_get_their_shares() {
    let config = GeneratorConfig {
        hot_share_of_pages: 0.1,
        hot_share_of_writes: 0.9,
        ..config(Pattern::HotCold, 1000, 1_000_000)
    };
    let counts = hits(&config);
    let hot: u64 = counts[..100].iter().sum();
    // Standard deviation 300.
    assert!(hot.abs_diff(900_000) < 1500, "{hot}");
    assert!(chi_square(&counts[..100], &[hot as f64 / 100.0; 100]).abs() < 4.0);
    let cold = (1_000_000 - hot) as f64 / 900.0;
    assert!(chi_square(&counts[100..], &[cold; 900]).abs() < 4.0);
    for (pages, writes) in [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (1e-9, 0.5)] {
        for slots in [1, 2, 7] {
            let (hot_share_of_pages, hot_share_of_writes) = (pages, writes);
            let base = self::config(Pattern::HotCold, slots, 1000);
            let config = GeneratorConfig { hot_share_of_pages, hot_share_of_writes, ..base };
            assert_eq!(hits(&config).iter().sum::<u64>(), 1000);
        }
    }
}

#[test]
fn operations_and_stamps_follow_the_settings() {
    let base = config(Pattern::Uniform, 1000, 100_000);
    let config =
        GeneratorConfig { read_share: 0.3, trim_share: 0.1, rate_per_s: Some(8000.0), ..base.clone() };
    let mut source = Generator::new(config).unwrap();
    let figures = info(&mut source).unwrap();
    assert!(figures.reads.abs_diff(30_000) < 900 && figures.trims.abs_diff(10_000) < 600, "{figures:?}");
    assert_eq!(figures.duration_s, Some(99_999.0 / 8000.0));
    assert!(source.has_times());
    // Addresses do not depend on the mix of operations.
    let offsets = |config: &GeneratorConfig| -> Vec<u64> {
        let mut source = Generator::new(config.clone()).unwrap();
        rows_of(&mut source, 1000).unwrap().into_iter().map(|r| r.3).collect()
    };
    let mixed = GeneratorConfig { read_share: 0.5, ..base.clone() };
    assert_eq!(offsets(&base), offsets(&mixed));
    assert_ne!(offsets(&base), offsets(&GeneratorConfig { seed: 2, ..base }));
}

#[test]
fn what_cannot_be_generated_is_refused() {
    let base = config(Pattern::Uniform, 1000, 10);
    let refusal = |config: GeneratorConfig| {
        let error = Generator::new(config).err().expect("should be refused");
        assert_eq!(error.status(), 2);
        error.to_string()
    };
    for (config, expected) in [
        (
            GeneratorConfig { request_bytes: 0, ..base.clone() },
            "workload.request_bytes: 0 bytes; expected at least 1",
        ),
        (
            GeneratorConfig { logical_bytes: 4095, ..base.clone() },
            "workload.request_bytes: 4096 bytes exceed the space of 4095; expected a request that fits the drive",
        ),
        (
            GeneratorConfig { requests: 0, ..base.clone() },
            "workload.requests: 0 requests; expected at least 1",
        ),
        (
            GeneratorConfig { read_share: 1.5, ..base.clone() },
            "workload.read_share: 1.5 is not a share; expected a number from 0 to 1",
        ),
        (
            GeneratorConfig { trim_share: f64::NAN, ..base.clone() },
            "workload.trim_share: NaN is not a share; expected a number from 0 to 1",
        ),
        (
            GeneratorConfig { read_share: 0.75, trim_share: 0.5, ..base.clone() },
            "workload.read_share: read_share + trim_share = 1.25; expected a sum of at most 1",
        ),
        (
            GeneratorConfig { rate_per_s: Some(0.0), ..base.clone() },
            "workload.rate_per_s: 0 is not a rate; expected a number above 0",
        ),
        (
            GeneratorConfig { rate_per_s: Some(f64::INFINITY), ..base.clone() },
            "workload.rate_per_s: inf is not a rate; expected a number above 0",
        ),
        (
            GeneratorConfig { rate_per_s: Some(1e-12), ..base.clone() },
            "workload.rate_per_s: 10 requests at 0.000000000001 per second last more than 285 years; expected a higher rate",
        ),
        (
            GeneratorConfig { pattern: Pattern::Zipf, zipf_theta: -1.0, ..base.clone() },
            "workload.zipf_theta: -1 is not an exponent; expected a number from 0 to 20",
        ),
        (
            GeneratorConfig { pattern: Pattern::HotCold, hot_share_of_pages: 2.0, ..base },
            "workload.hot_share_of_pages: 2 is not a share; expected a number from 0 to 1",
        ),
    ] {
        assert_eq!(refusal(config), expected);
    }
    assert_eq!(
        Pattern::parse("random").unwrap_err().to_string(),
        "workload.pattern: 'random' is not a pattern; expected one of 'sequential', 'uniform', 'permutation', 'zipf', 'hot-cold' or 2 others ('floatgate schema' lists all)"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Checks alignment, space and number of requests, and that batches of any size repeat them.
    #[test]
    fn requests_stay_inside_and_repeat(
        pattern in 0usize..4,
        logical_bytes in 1u64..u64::MAX,
        shift in 0u32..63,
        request_bytes in 1u64..1_000_000,
        shares in (0.0f64..0.5, 0.0f64..0.5, 0.0f64..1.0, 0.0f64..1.0, 0.0f64..3.0),
        requests in 1u64..2000,
        batches in (1usize..100, 1usize..3000),
        seed in any::<u64>(),
    ) {
        let config = GeneratorConfig {
            pattern: Pattern::NAMES[pattern].1,
            logical_bytes: (logical_bytes >> shift).max(request_bytes),
            request_bytes,
            read_share: shares.0,
            trim_share: shares.1,
            requests,
            rate_per_s: Some(1e6),
            hot_share_of_pages: shares.2,
            hot_share_of_writes: shares.3,
            zipf_theta: shares.4,
            seed,
            ..GeneratorConfig::default()
        };
        let mut source = Generator::new(config.clone()).unwrap();
        let rows = rows_of(&mut source, batches.0).unwrap();
        prop_assert_eq!(rows.len() as u64, requests);
        for (i, (time, _, _, offset, bytes)) in rows.iter().enumerate() {
            prop_assert_eq!((*time, *bytes, offset % request_bytes), (i as i64 * 1000, request_bytes, 0));
            prop_assert!(offset + bytes <= config.logical_bytes);
        }
        source.rewind().unwrap();
        prop_assert_eq!(rows_of(&mut source, batches.1).unwrap(), rows);
    }
}
