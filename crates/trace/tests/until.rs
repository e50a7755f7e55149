//! Workloads that end once so much was written.
#![allow(missing_docs)]

mod common;

use common::memory::{Memory, any_source};
use floatgate_base::{Op, RequestBatch};
use floatgate_trace::{Source, Until, UntilWritten};
use proptest::prelude::*;

/// All that a source hands out, in batches of `step` requests, and where each request stands in the trace.
fn all(source: &mut dyn Source, step: usize) -> (RequestBatch, Vec<String>) {
    let (mut batch, mut places) = (RequestBatch::default(), Vec::new());
    loop {
        let before = batch.len();
        source.fill(&mut batch, step).unwrap();
        places.extend((before..batch.len()).map(|i| source.place_of(i as u64)));
        if batch.len() < before + step {
            return (batch, places);
        }
    }
}

/// The requests that should come, one by one.
fn expected(source: &Memory, until: Until) -> (RequestBatch, Vec<String>) {
    let (mut batch, mut places) = (RequestBatch::default(), Vec::new());
    let (mut written, mut shift_ns) = (0, 0);
    loop {
        let mut last_ns = 0;
        for i in 0..source.rows.len() {
            let stamp_ns = source.rows.time_ns[i];
            last_ns = last_ns.max(stamp_ns);
            if batch.len() as u64 >= until.warmup_requests && source.rows.op[i] == Op::Write {
                written += source.rows.bytes[i];
            }
            source.copy(i, &mut batch);
            batch.time_ns[places.len()] = stamp_ns.saturating_add(shift_ns);
            places.push(format!("memory:{i}"));
            if written >= until.written_bytes {
                return (batch, places);
            }
        }
        if !until.again {
            return (batch, places);
        }
        shift_ns = last_ns.saturating_add(shift_ns);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_workload_ends_with_the_request_that_writes_enough(
        source in any_source(1..40),
        written_bytes in 1u64..20_000,
        warmup_requests in 0u64..60,
        again in any::<bool>(),
        step in 1usize..50,
    ) {
        let writes = source.rows.op.iter().zip(&source.rows.bytes).any(|(op, &bytes)| *op == Op::Write && bytes > 0);
        let until = Until { written_bytes, warmup_requests, again: again && writes, renews_content: false };
        let (wanted, places) = expected(&source, until);
        let mut cut = UntilWritten::new(Box::new(source.clone()), until);
        for _ in 0..2 {
            let (batch, at) = all(&mut cut, step);
            prop_assert_eq!(&batch.time_ns, &wanted.time_ns);
            prop_assert_eq!(&batch.offset, &wanted.offset);
            prop_assert_eq!(&batch.op, &wanted.op);
            prop_assert_eq!(&batch.bytes, &wanted.bytes);
            prop_assert_eq!(&batch.content.fingerprint, &wanted.content.fingerprint);
            prop_assert_eq!(&at, &places);
            // Once more from the beginning.
            cut.rewind().unwrap();
        }
    }
}

#[test]
fn a_trace_that_writes_nothing_is_refused_rather_than_repeated_for_ever() {
    let mut source = Memory::default();
    source.rows.push(0, 0, Op::Read, 0, 4096);
    let until = Until { written_bytes: 1, warmup_requests: 0, again: true, renews_content: false };
    let error =
        UntilWritten::new(Box::new(source), until).fill(&mut RequestBatch::default(), 10).unwrap_err();
    let expected = "workload.stop_after: the workload writes nothing, and so never ends; expected a workload that writes";
    assert!(error.to_string().starts_with(expected), "{error}");
}
