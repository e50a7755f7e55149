//! Shuffled writes: the same requests in every window, in another order.

use crate::common::memory::{Memory, all, any_source};
use floatgate_base::{Op, RequestBatch};
use floatgate_trace::{Generator, GeneratorConfig, Pattern, Shuffle, Shuffled, Source};
use proptest::prelude::*;

fn shuffled(source: &Memory, window: u64, seed: u64) -> Shuffled {
    Shuffled::new(Box::new(source.clone()), Shuffle { window, seed }).unwrap()
}

/// Returns everything of a request except its time.
fn request(batch: &RequestBatch, i: usize) -> String {
    let content = (!batch.content.end.is_empty()).then(|| {
        let entries = batch.content.range(i);
        let sizes = batch.content.compressed_bytes[entries.clone()].to_vec();
        (batch.content.fingerprint[entries].to_vec(), sizes)
    });
    let optional = (batch.context.get(i), batch.stream.get(i));
    format!("{:?}", (batch.device[i], batch.op[i], batch.offset[i], batch.bytes[i], optional, content))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn windows_keep_their_requests(
        source in any_source(1..60),
        window in 1u64..20,
        seed in any::<u64>(),
        step in 1usize..50,
    ) {
        let mut mixed = shuffled(&source, window, seed);
        let (batch, places) = all(&mut mixed, step);
        let n = source.rows.len();
        prop_assert_eq!(batch.len(), n);
        prop_assert_eq!(&batch.time_ns, &source.rows.time_ns);
        prop_assert_eq!(&batch.op, &source.rows.op);
        let mut plain = RequestBatch::default();
        (0..n).for_each(|i| source.copy(i, &mut plain));
        for (i, place) in places.iter().enumerate() {
            let from: usize = place.strip_prefix("memory:").unwrap().parse().unwrap();
            prop_assert_eq!(request(&batch, i), request(&plain, from));
            prop_assert_eq!(i as u64 / window, from as u64 / window);
            prop_assert!(batch.op[i] == Op::Write || i == from);
        }
        let mut once = places.clone();
        once.sort();
        once.dedup();
        prop_assert_eq!(once.len(), n);
        // Neither the size of a batch nor a second pass makes a difference.
        mixed.rewind().unwrap();
        prop_assert_eq!(&all(&mut mixed, 7).1, &places);
    }
}

#[test]
fn every_order_is_as_likely() {
    let config =
        GeneratorConfig { pattern: Pattern::Sequential, requests: 60_000, ..GeneratorConfig::default() };
    let source = Generator::new(config).unwrap();
    let mut mixed = Shuffled::new(Box::new(source), Shuffle { window: 3, seed: 5 }).unwrap();
    let (batch, _) = all(&mut mixed, 1000);
    let mut orders = std::collections::BTreeMap::<[u64; 3], u32>::new();
    for window in batch.offset.chunks(3) {
        let first = window.iter().min().unwrap();
        *orders.entry([0, 1, 2].map(|i| (window[i] - first) / 4096)).or_default() += 1;
    }
    // 20,000 windows, 6 orders: 3333 each, with a standard deviation of 53.
    assert_eq!(orders.len(), 6);
    assert!(orders.values().all(|n| n.abs_diff(3333) < 265), "{orders:?}");
}

#[test]
fn what_cannot_be_shuffled_is_refused() {
    for (options, expected) in [
        (
            &[("shuffle_window", "many")][..],
            "--shuffle-window: 'many' is not a number; expected a whole number",
        ),
        (
            &[("shuffle_window", "0")],
            "--shuffle-window: a window of 0 requests; expected a whole number from 1 to 1048576",
        ),
        (&[("shuffle_seed", "3")], "--shuffle-seed: nothing is shuffled; add --shuffle-window"),
        (
            &[("shuffle_window", "8"), ("shuffle_seed", "-1")],
            "--shuffle-seed: '-1' is not a number; expected a whole number",
        ),
    ] {
        let get = |key: &str| options.iter().find(|(k, _)| *k == key).map(|(_, text)| *text);
        assert_eq!(Shuffle::parse(get).unwrap_err().to_string(), expected);
    }
    let get = |key: &str| (key == "shuffle_window").then_some("1024");
    assert_eq!(Shuffle::parse(get).unwrap(), Some(Shuffle { window: 1024, seed: 1 }));
    assert_eq!(Shuffle::parse(|_| None).unwrap(), None);
}
