//! Cursors that are too far ahead wait, and the options are checked.

use super::*;
use crate::generate::{Generator, GeneratorConfig, Pattern};

fn source(requests: u64) -> Box<dyn Source> {
    let config = GeneratorConfig {
        pattern: Pattern::Sequential,
        read_share: 0.5,
        requests,
        rate_per_s: Some(1000.0),
        logical_bytes: requests * 4096,
        ..GeneratorConfig::default()
    };
    Box::new(Generator::new(config).unwrap())
}

/// Returns the numbers of the requests in the order of their issue, and their times.
fn issued(len: usize, chunks: usize, spread: f64) -> (Vec<u64>, Vec<i64>) {
    let model = Amplification { cursors: 20, gap_spread: spread, seed: 3 };
    let mut source = Amplified::with_window(source(1000), model, len, chunks).unwrap();
    let mut batch = RequestBatch::default();
    source.fill(&mut batch, usize::MAX).unwrap();
    assert!(source.window.spare.len() <= chunks && source.waiting.is_empty());
    (batch.offset.iter().map(|offset| offset / 4096).collect(), batch.time_ns)
}

#[test]
fn the_window_holds_the_cursors_together_and_loses_nothing() {
    let (free, free_ns) = issued(4096, 4, 1.0);
    assert_eq!((free.len(), free_ns.is_sorted()), (20_000, true));
    // Each request is issued 20 times; the first cursor is never more than the window ahead of the last.
    let (held, held_ns) = issued(4, 3, 1.0);
    let mut count = vec![0; 1000];
    for &request in &held {
        count[request as usize] += 1;
        let last = count.iter().position(|&n| n < 20).unwrap_or(1000) as u64;
        assert!(request < last + 12, "{request} is issued when {last} still is to come");
    }
    assert!(count.iter().all(|&n| n == 20) && held_ns.is_sorted());
    let ahead = |order: &[u64]| order.iter().enumerate().map(|(i, &r)| r.abs_diff(i as u64 / 20)).max();
    assert!(ahead(&free) > Some(30) && ahead(&held) < Some(12), "cursors drift apart unless they are held");
    // No cursor waits if all stay in step.
    assert_eq!(issued(4, 1, 0.0), issued(4096, 4, 0.0));
}

#[test]
fn options_are_read_or_refused() {
    let parse = |options: &[(&str, &'static str)]| {
        let options: Vec<(String, &'static str)> =
            options.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
        Amplification::parse(|key| options.iter().find(|(k, _)| k == key).map(|(_, value)| *value))
    };
    assert_eq!(parse(&[]).unwrap(), None);
    let all = [("read_amplification", "50"), ("gap_spread", "0.5"), ("amplification_seed", "7")];
    assert_eq!(parse(&all).unwrap(), Some(Amplification { cursors: 50, gap_spread: 0.5, seed: 7 }));
    let refusal = |options: &[(&str, &'static str)]| parse(options).unwrap_err().to_string();
    for (options, message) in [
        (&all[1..], "--gap-spread: a single cursor has no spread and no seed; add --read-amplification"),
        (
            &[("read_amplification", "many")],
            "--read-amplification: 'many' is not a number; expected a whole number",
        ),
        (
            &[("read_amplification", "0")],
            "--read-amplification: 0 copies of the trace; expected a whole number from 1 to 65536",
        ),
        (
            &[all[0], ("gap_spread", "1.5")],
            "--gap-spread: 1.5 is not a spread; expected a number from 0 to 1",
        ),
    ] {
        assert_eq!(refusal(options), message);
    }
}
