//! Twins: their statistics, their repetition, fitting, and errors.

use floatgate_base::testing::Bound;
use floatgate_base::{Op, RequestBatch};
use floatgate_trace::generate::twin::{Content, Loops, Rate, Sets, Side, SizeLaw, Skew, Visits, fit};
use floatgate_trace::generate::{Jobs, Twin, jesd219};
use floatgate_trace::{Generator, GeneratorConfig, Info, Pattern, Source, info};
use std::sync::Arc;

const GIB: u64 = 1 << 30;

fn visits(again_share: f64, skew: Skew) -> Visits {
    Visits { again_share, growth: 0.7, skew, cluster_bytes: 65_536 }
}

fn lognormal(mean_bytes: f64) -> SizeLaw {
    SizeLaw::Lognormal { mean_bytes, sigma: 1.0, min_bytes: 512, max_bytes: 131_072, step_bytes: 512 }
}

fn twin() -> Twin {
    Twin {
        name: "test".into(),
        summary: "a test".into(),
        duration_s: 2.0 * 86_400.0,
        requests: 200_000,
        read_share: 0.4,
        reads: Side {
            sizes: lognormal(16_384.0),
            sequential_share: 0.3,
            aligned_share: 0.9,
            recurring_share: 0.0,
        },
        writes: Side {
            sizes: lognormal(8192.0),
            sequential_share: 0.5,
            aligned_share: 0.8,
            recurring_share: 0.0,
        },
        rewrites: visits(0.8, Skew::HotCold { pages: 0.2, accesses: 0.8 }),
        loops: Loops::default(),
        sets: Sets::default(),
        reads_of_written_share: 0.5,
        rereads_of_written: visits(0.9, Skew::Zipf(0.5)),
        rereads: visits(0.85, Skew::Zipf(0.9)),
        rate: Rate {
            daily_swing: 0.5,
            peak_hour: 12.0,
            profile: vec![],
            noise: 0.2,
            noise_window_s: 600.0,
            burst_requests: 4.0,
        },
        footprint_bytes: GIB,
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

fn all(config: &GeneratorConfig) -> RequestBatch {
    let mut batch = RequestBatch::default();
    Generator::new(config.clone()).unwrap().fill(&mut batch, usize::MAX).unwrap();
    batch
}

fn described(config: &GeneratorConfig) -> Info {
    info(&mut Generator::new(config.clone()).unwrap()).unwrap()
}

fn near(what: &str, actual: f64, wanted: f64, tolerance: f64) {
    assert!((actual - wanted).abs() <= tolerance * wanted.abs(), "{what}: {actual}, not {wanted}");
}

#[test]
fn a_twin_holds_its_figures() {
    let twin = twin();
    let figures = described(&config(&twin));
    assert_eq!(figures.requests, 200_000);
    near("span", figures.duration_s.unwrap(), twin.duration_s, 1e-6);
    // Reads come in runs of 1.4, writes of 2: the share has a standard deviation of 0.3 %.
    near("read share", figures.reads as f64 / 200_000.0, 0.4, 0.01);
    near("mean read", figures.mean_read_bytes.unwrap(), 16_384.0, 0.02);
    near("mean write", figures.mean_write_bytes.unwrap(), 8192.0, 0.02);
    near("rewrite share", figures.rewrite_share.unwrap(), 0.8, 0.005);
    near("bytes written", figures.write_bytes as f64, twin.write_bytes(), 0.02);
    assert!(figures.footprint_bytes <= twin.footprint_bytes);
}

#[test]
fn every_rewrite_share_is_met() {
    for again in [0.0, 0.1, 0.5, 0.9, 0.99] {
        for growth in [0.3, 1.0] {
            let rewrites = Visits {
                again_share: again,
                growth,
                ..visits(again, Skew::HotCold { pages: 0.2, accesses: 0.8 })
            };
            // Whole pages: a run of parts of pages rewrites the page in which one part ends and the next begins.
            let sizes = SizeLaw::List { sizes: vec![(4096, 3.0), (16_384, 1.0)], mean_bytes: None };
            let writes = Side { sizes, sequential_share: 0.5, aligned_share: 1.0, recurring_share: 0.0 };
            let twin = Twin { rewrites, writes, footprint_bytes: 4 * GIB, ..twin() };
            let share = described(&config(&twin)).rewrite_share.unwrap();
            // Distinct pages are controlled: within a two-hundredth of all page writes.
            assert!((share - again).abs() < 0.005, "{share}, not {again}, growth {growth}");
        }
    }
}

#[test]
fn requests_run_on_as_told() {
    let batch = all(&config(&twin()));
    let mut on = [0.0; 2];
    let mut of = [0.0; 2];
    for i in 1..batch.len() {
        let before = batch.op[i - 1] as usize;
        of[before] += 1.0;
        let end = batch.offset[i - 1] + batch.bytes[i - 1];
        on[before] += f64::from(u8::from(batch.op[i] == batch.op[i - 1] && batch.offset[i] == end));
    }
    // Some runs end with their extent of at least half a mebibyte: a run of 16 KiB requests loses one in 32.
    near("reads", on[0] / of[0], 0.3, 0.05);
    near("writes", on[1] / of[1], 0.5, 0.05);
}

#[test]
fn the_day_has_its_cycle() {
    let twin = Twin { rate: Rate { noise: 0.0, burst_requests: 1.0, ..twin().rate }, ..twin() };
    let batch = all(&config(&twin));
    assert!(batch.time_ns.is_sorted());
    let mut by_quarter = [0.0; 4];
    batch.time_ns.iter().for_each(|t| by_quarter[(t / 21_600_000_000_000 % 4) as usize] += 1.0);
    // The mean of 1 + cos / 2 around the peak at noon: 1 +- 2 / (2 pi).
    let around_noon = 0.25 * (1.0 + 1.0 / std::f64::consts::PI);
    near("noon", (by_quarter[1] + by_quarter[2]) / 200_000.0, 2.0 * around_noon, 0.01);
    let profile = Twin { rate: Rate { profile: vec![1.0, 0.0, 3.0], ..twin.rate.clone() }, ..twin };
    let third = profile.duration_s * 1e9 / 3.0;
    let mut parts = [0u64; 3];
    all(&config(&profile)).time_ns.iter().for_each(|&t| parts[((t as f64 / third) as usize).min(2)] += 1);
    assert_eq!(parts, [50_000, 0, 150_000]);
}

#[test]
fn hot_pages_get_their_share() {
    let sizes = SizeLaw::List { sizes: vec![(4096, 1.0)], mean_bytes: None };
    let twin = Twin {
        read_share: 0.0,
        writes: Side { sizes, sequential_share: 0.0, aligned_share: 1.0, recurring_share: 0.0 },
        rewrites: Visits { growth: 0.05, ..visits(0.95, Skew::HotCold { pages: 0.1, accesses: 0.7 }) },
        footprint_bytes: GIB,
        ..twin()
    };
    let mut clusters = vec![0u32; (GIB / 65_536) as usize];
    all(&config(&twin)).offset.iter().for_each(|offset| clusters[(offset / 65_536) as usize] += 1);
    clusters.retain(|n| *n > 0);
    clusters.sort_unstable_by(|a, b| b.cmp(a));
    let top: u32 = clusters[..clusters.len() / 10].iter().sum();
    // 70 % of the rewrites and a tenth of the first writes; hot clusters are hot from their birth.
    near("hot", f64::from(top) / 200_000.0, 0.7 * 0.95 + 0.05 * 0.1, 0.05);
}

#[test]
fn runs_repeat_and_do_not_depend_on_the_batch() {
    let config = config(&Twin { requests: 20_000, ..twin() });
    let whole = all(&config);
    let mut source = Generator::new(config.clone()).unwrap();
    let mut parts = RequestBatch::default();
    let mut bound = Bound::new(100_000_000);
    while parts.len() < whole.len() {
        bound.step();
        source.fill(&mut parts, 333).unwrap();
    }
    assert_eq!((&whole.time_ns, &whole.op), (&parts.time_ns, &parts.op));
    assert_eq!((&whole.offset, &whole.bytes), (&parts.offset, &parts.bytes));
    source.rewind().unwrap();
    let mut again = RequestBatch::default();
    source.fill(&mut again, usize::MAX).unwrap();
    assert_eq!((&whole.time_ns, &whole.offset), (&again.time_ns, &again.offset));
    assert_ne!(whole.offset, all(&GeneratorConfig { seed: 2, ..config }).offset);
    assert!(source.has_times());
}

#[test]
fn behind_its_last_request_a_twin_begins_again() {
    let twin = Twin { requests: 5000, ..twin() };
    let batch = all(&GeneratorConfig { requests: 12_000, ..config(&twin) });
    assert_eq!(batch.len(), 12_000);
    assert_eq!(batch.offset[..5000], batch.offset[5000..10_000]);
    assert_eq!(batch.bytes[..2000], batch.bytes[10_000..]);
    assert!(batch.time_ns.is_sorted());
    let pass_ns = (twin.duration_s * 1e9) as i64;
    assert!(batch.time_ns[4999] <= pass_ns && batch.time_ns[5000] >= pass_ns);
}

#[test]
fn a_scaled_twin_stays_inside() {
    let twin = Twin { requests: 20_000, ..twin() };
    for space in [GIB / 64, GIB / 3, 5 * GIB] {
        let batch = all(&GeneratorConfig { logical_bytes: space, scale: true, ..config(&twin) });
        let end = batch.offset.iter().zip(&batch.bytes).map(|(o, b)| o + b).max().unwrap();
        assert!(end <= space && end > space / 2, "{end} of {space}");
    }
}

#[test]
fn reads_without_writes_and_writes_without_reads() {
    for read_share in [0.0, 1.0] {
        for reads_of_written_share in [0.0, 1.0] {
            let twin = Twin { requests: 2000, read_share, reads_of_written_share, ..twin() };
            let figures = described(&config(&twin));
            assert_eq!(figures.reads as f64, 2000.0 * read_share);
        }
    }
    // Reads that require written pages before any exist.
    let early = Twin { requests: 50, read_share: 0.98, reads_of_written_share: 1.0, ..twin() };
    assert_eq!(all(&config(&early)).len(), 50);
}

/// Figures of a trace that its twin must reproduce.
fn same(name: &str, original: &GeneratorConfig) {
    let before = described(original);
    let fitted = fit(&mut Generator::new(original.clone()).unwrap(), "fitted", name).unwrap();
    let after = described(&config(&fitted.twin));
    assert_eq!((after.requests, after.trims), (before.reads + before.writes, 0), "{name}");
    assert_eq!(fitted.trims_left_out, before.trims);
    let figures = |i: &Info| {
        let share = |part: u64| part as f64 / (i.reads + i.writes) as f64;
        [
            ("read share", share(i.reads)),
            ("bytes read", i.read_bytes as f64),
            ("bytes written", i.write_bytes as f64),
            ("mean read", i.mean_read_bytes.unwrap_or(0.0)),
            ("mean write", i.mean_write_bytes.unwrap_or(0.0)),
            ("rewrite share", i.rewrite_share.unwrap_or(0.0)),
            ("pages written", i.pages_written_distinct as f64),
            ("pages read", i.pages_read_distinct as f64),
            ("footprint", i.footprint_bytes as f64),
            ("span", i.duration_s.unwrap_or(0.0)),
        ]
    };
    for ((what, after), (_, before)) in figures(&after).into_iter().zip(figures(&before)) {
        // A share of zero cannot be compared relatively: new requests at the end of an extent begin on known pages.
        if what == "rewrite share" && before < 0.01 {
            assert!(after < 0.01, "{name} {what}: {after}, not {before}");
            continue;
        }
        near(&format!("{name} {what}"), after, before, 0.05);
    }
}

#[test]
fn the_twin_of_a_trace_has_its_figures() {
    same("twin", &config(&twin()));
    let timed = |pattern| GeneratorConfig {
        pattern,
        logical_bytes: GIB,
        read_share: 0.3,
        trim_share: 0.05,
        requests: 100_000,
        rate_per_s: Some(500.0),
        jobs: Jobs {
            random_share: 0.4,
            sizes: vec![(4096, 0.6), (12_288, 0.3), (65_536, 0.1)],
            ..Jobs::default()
        },
        ..GeneratorConfig::default()
    };
    same("jobs", &timed(Pattern::Jobs));
    same("jesd219", &GeneratorConfig { read_share: jesd219::READ_SHARE, ..timed(Pattern::Jesd219) });
    same("zipf", &timed(Pattern::Zipf));
    same("hot-cold", &GeneratorConfig { read_share: 0.0, ..timed(Pattern::HotCold) });
    same("sequential", &timed(Pattern::Sequential));
}

#[test]
fn a_fitted_twin_says_what_it_does_not_keep() {
    let assumed = |trim_share| {
        let config = GeneratorConfig { trim_share, requests: 1000, ..GeneratorConfig::default() };
        fit(&mut Generator::new(config).unwrap(), "x", "-").unwrap()
    };
    let fitted = assumed(0.5);
    let why = |key: &str| fitted.assumed.iter().find(|(k, _)| *k == key).map(|(_, why)| why.as_str());
    assert!(why("writes.hot_share_of_pages").unwrap().contains("intervals of updates"));
    assert!(why("reads.sequential_share").unwrap().contains("first accesses"));
    assert!(why("writes.aligned_share").unwrap().contains("where they end"));
    let trims = format!("its {} TRIMs are left out", fitted.trims_left_out);
    assert!(why("requests").unwrap().ends_with(&trims));
    assert!(!assumed(0.0).assumed.iter().any(|(key, _)| *key == "requests"));
}

#[test]
fn a_twin_of_its_twin_is_nearly_the_same() {
    let first = fit(&mut Generator::new(config(&twin())).unwrap(), "first", "-").unwrap().twin;
    let original = twin();
    near("reads that run on", first.reads.sequential_share, original.reads.sequential_share, 0.06);
    near("writes that run on", first.writes.sequential_share, original.writes.sequential_share, 0.06);
    near("aligned writes", first.writes.aligned_share, original.writes.aligned_share, 0.05);
    near("reads of the written", first.reads_of_written_share, 0.5, 0.06);
    near("rereads", first.rereads.again_share, 0.85, 0.01);
    near("rereads of the written", first.rereads_of_written.again_share, 0.9, 0.01);
    near("burst", first.rate.burst_requests, 4.0, 0.1);
    near("growth", first.rewrites.growth, 0.7, 0.15);
}

#[test]
fn a_trace_without_requests_or_times() {
    let untimed = GeneratorConfig { requests: 1000, ..GeneratorConfig::default() };
    let fitted = fit(&mut Generator::new(untimed).unwrap(), "x", "-").unwrap();
    assert_eq!(fitted.twin.duration_s, 1.0);
    assert!(fitted.assumed.iter().any(|(key, _)| *key == "duration_s"));
    let trims = GeneratorConfig { trim_share: 1.0, requests: 10, ..GeneratorConfig::default() };
    let error = fit(&mut Generator::new(trims).unwrap(), "x", "t.csv").unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.csv: the trace has neither reads nor writes to fit a twin to; expected at least one read or write"
    );
    let one = GeneratorConfig { requests: 1, ..GeneratorConfig::default() };
    let fitted = fit(&mut Generator::new(one).unwrap(), "x", "-").unwrap();
    assert_eq!(described(&config(&fitted.twin)).writes, 1);
}

#[test]
fn what_cannot_be_made_is_refused() {
    let refusal = |twin: Twin| Generator::new(config(&twin)).err().expect("should be refused").to_string();
    let base = twin;
    let cases = [
        (Twin { read_share: 1.5, ..base() }, "read_share: 1.5 is not a share; expected a number from 0 to 1"),
        (Twin { duration_s: 0.0, ..base() }, "duration_s: 0 is not a span; expected seconds above 0"),
        (
            Twin { requests: 1 << 50, ..base() },
            "requests: 1125899906842624 requests; expected a whole number from 1 to 281474976710656",
        ),
        (
            Twin { writes: Side { sizes: lognormal(200_000.0), ..base().writes }, ..base() },
            "writes.mean_bytes: no sizes have this mean; \
             expected a mean between the smallest and the largest size",
        ),
        (
            Twin { reads: Side { sequential_share: 1.0, ..base().reads }, ..base() },
            "reads.sequential_share: 1 is out of range; expected a number from 0 to 0.999",
        ),
        (
            Twin { rewrites: visits(-0.1, Skew::Zipf(1.0)), ..base() },
            "writes.again_share: -0.1 is not a share; expected a number from 0 to 1",
        ),
        (
            Twin { rewrites: visits(0.5, Skew::Zipf(f64::NAN)), ..base() },
            "writes.zipf_theta: NaN is out of range; expected a number from 0 to 20",
        ),
        (
            Twin { rate: Rate { profile: vec![0.0], ..base().rate }, ..base() },
            "rate.profile: all rates are 0; expected one above 0",
        ),
        (
            Twin { content: Content { duplicate_share: 2.0, ..Content::default() }, ..base() },
            "content.duplicate_share: 2 is not a share; expected a number from 0 to 1",
        ),
    ];
    for (twin, expected) in cases {
        assert_eq!(refusal(twin), expected);
    }
    let small = refusal(Twin { footprint_bytes: 1 << 20, ..base() });
    assert!(
        small.starts_with("footprint_bytes: a footprint of 1048576 bytes; expected at least "),
        "{small}"
    );
    assert!(small.ends_with(", the size of the distinct pages"), "{small}");
    let ops: Vec<Op> = all(&config(&base().thinned(100))).op;
    assert_eq!(ops.len(), 2000);
}

#[test]
fn a_fitted_twin_has_the_shares_of_the_content() {
    use floatgate_trace::{ContentModel, WithContent};
    let config = GeneratorConfig { requests: 50_000, ..GeneratorConfig::default() };
    let model =
        ContentModel { duplicate_share: 0.4, compressed_share: 0.7, incompressible_share: 0.0, seed: 3 };
    let plain = || Box::new(Generator::new(config.clone()).unwrap());
    let fitted = fit(&mut WithContent::new(plain(), model).unwrap(), "t", "t").unwrap();
    assert!((fitted.twin.content.duplicate_share - 0.4).abs() < 0.01, "{:?}", fitted.twin.content);
    // Duplicates are drawn repeatedly; the mean over page writes scatters more than that over contents.
    assert!((fitted.twin.content.compressed_share - 0.7).abs() < 0.01, "{:?}", fitted.twin.content);
    assert!(!fitted.assumed.iter().any(|(key, _)| *key == "content"));
    let untold = fit(&mut *plain(), "t", "t").unwrap();
    assert_eq!((untold.twin.content.duplicate_share, untold.twin.content.compressed_share), (0.0, 1.0));
    assert!(untold.assumed.iter().any(|(key, why)| *key == "content" && why.contains("no content")));
}
