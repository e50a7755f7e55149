//! The content model: shares are met, duplicates are stored at that time, everything repeats.

use floatgate_base::testing::Bound;
use floatgate_base::{Op, RequestBatch};
use floatgate_trace::{ContentModel, Generator, GeneratorConfig, Pattern, Source, WithContent};
use std::collections::BTreeMap;

fn source(config: &GeneratorConfig, model: ContentModel) -> WithContent {
    WithContent::new(Box::new(Generator::new(config.clone()).unwrap()), model).unwrap()
}

fn all(source: &mut dyn Source, step: usize) -> RequestBatch {
    let mut batch = RequestBatch::default();
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        let before = batch.len();
        source.fill(&mut batch, step).unwrap();
        if batch.len() == before {
            return batch;
        }
    }
}

const MODEL: ContentModel =
    ContentModel { duplicate_share: 0.3, compressed_share: 0.6, incompressible_share: 0.2, seed: 9 };

fn config() -> GeneratorConfig {
    GeneratorConfig {
        pattern: Pattern::Zipf,
        logical_bytes: 64 << 20,
        request_bytes: 8192,
        read_share: 0.1,
        trim_share: 0.1,
        requests: 100_000,
        ..GeneratorConfig::default()
    }
}

#[test]
fn shares_are_met_and_duplicates_are_stored_at_that_moment() {
    let batch = all(&mut source(&config(), MODEL), 1000);
    let mut stored: BTreeMap<u64, u64> = BTreeMap::new();
    let mut copies: BTreeMap<u64, u64> = BTreeMap::new();
    let mut seen: BTreeMap<u64, u16> = BTreeMap::new();
    let (mut writes, mut repeats) = (0u32, 0u32);
    for i in 0..batch.len() {
        let entries = batch.content.range(i);
        let first = batch.offset[i] / 4096;
        let expected = if batch.op[i] == Op::Write { 2 } else { 0 };
        assert_eq!(entries.len(), expected);
        if batch.op[i] == Op::Trim {
            for page in first..first + 2 {
                if let Some(old) = stored.remove(&page) {
                    *copies.get_mut(&old).unwrap() -= 1;
                }
            }
        }
        for (k, entry) in entries.enumerate() {
            let (fingerprint, size) =
                (batch.content.fingerprint[entry], batch.content.compressed_bytes[entry]);
            let again = seen.insert(fingerprint, size);
            assert!(fingerprint != 0 && (1..=4096).contains(&size));
            assert!(again.is_none_or(|s| s == size), "equal content has equal size");
            assert_eq!(
                again.is_some(),
                copies.get(&fingerprint).is_some_and(|&n| n > 0),
                "a repeat is stored"
            );
            writes += 1;
            repeats += u32::from(again.is_some());
            *copies.entry(fingerprint).or_default() += 1;
            if let Some(old) = stored.insert(first + k as u64, fingerprint) {
                *copies.get_mut(&old).unwrap() -= 1;
            }
        }
    }
    // Six standard deviations of 160,000 draws are 0.007.
    let share = f64::from(repeats) / f64::from(writes);
    assert!((share - 0.3).abs() < 0.007, "{share}");
    let mean = seen.values().map(|&s| f64::from(s)).sum::<f64>() / 4096.0 / seen.len() as f64;
    assert!((mean - 0.6).abs() < 0.006, "{mean}");
    let hard = seen.values().filter(|&&s| s == 4096).count() as f64 / seen.len() as f64;
    assert!((hard - 0.2).abs() < 0.008, "{hard}");
}

#[test]
fn batches_and_passes_make_no_difference() {
    let mut model = source(&config(), MODEL);
    let first = all(&mut model, 1000);
    for step in [7, 4096] {
        model.rewind().unwrap();
        assert_eq!(all(&mut model, step).content, first.content);
    }
    let other = all(&mut source(&config(), ContentModel { seed: 10, ..MODEL }), 1000);
    assert_ne!(other.content.fingerprint[..100], first.content.fingerprint[..100]);
}

#[test]
fn the_ends_of_the_scale() {
    let plain =
        ContentModel { duplicate_share: 0.0, compressed_share: 1.0, incompressible_share: 0.0, seed: 1 };
    let batch = all(&mut source(&config(), plain), 1000);
    assert!(batch.content.compressed_bytes.iter().all(|&s| s == 4096));
    let mut values = batch.content.fingerprint.clone();
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len(), batch.content.fingerprint.len());
    for (key, model) in [
        (
            "--duplicate-share: 1 is out of range; expected a share",
            ContentModel { duplicate_share: 1.0, ..plain },
        ),
        ("--compressed-share: 0 is out of range;", ContentModel { compressed_share: 0.0, ..plain }),
        ("--compressed-share: NaN is out of range;", ContentModel { compressed_share: f64::NAN, ..plain }),
        (
            "--incompressible-share: 0.7 is out of range;",
            ContentModel { compressed_share: 0.5, incompressible_share: 0.7, ..plain },
        ),
    ] {
        let error = model.validate().unwrap_err();
        assert!(error.to_string().starts_with(key), "{error}");
    }
    let inner = Box::new(source(&config(), plain));
    let error = WithContent::new(inner, plain).err().unwrap().to_string();
    assert_eq!(error, "--duplicate-share: this synthetic trace has content of its own; leave it out");
}

#[test]
fn options_describe_a_model() {
    let parse = |options: &[(&str, &'static str)]| {
        let options = options.to_vec();
        ContentModel::parse(move |key| options.iter().find(|(k, _)| *k == key).map(|(_, v)| *v))
    };
    assert_eq!(parse(&[]).unwrap(), None);
    let expected =
        ContentModel { duplicate_share: 0.25, compressed_share: 1.0, incompressible_share: 0.0, seed: 1 };
    assert_eq!(parse(&[("duplicate_share", "0.25")]).unwrap(), Some(expected));
    let all = [
        ("duplicate_share", "0.3"),
        ("compressed_share", "0.6"),
        ("incompressible_share", "0.2"),
        ("content_seed", "9"),
    ];
    assert_eq!(parse(&all).unwrap(), Some(MODEL));
    for (option, message) in [
        (
            ("duplicate_share", "half"),
            "--duplicate-share: 'half' is not a number; expected a share such as 0.3",
        ),
        (("content_seed", "-1"), "--content-seed: '-1' is not a number; expected a whole number"),
        (
            ("content_seed", "1"),
            "--content-seed: a seed without synthetic content has no effect; add --duplicate-share or",
        ),
        (("compressed_share", "1.5"), "--compressed-share: 1.5 is out of range; expected"),
    ] {
        let error = parse(&[option]).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}
