//! Workloads that end after a number of written bytes.

use crate::common::memory::{Memory, all, any_source};
use floatgate_base::{Op, RequestBatch};
use floatgate_trace::period::period_ns;
use floatgate_trace::{Source, Until, UntilWritten};
use proptest::prelude::*;

/// Makes the content of a pass unique if each pass has its own (`workload.repeat_content`).
fn renewed(content: u64, pass: u64) -> u64 {
    let salt = pass.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    match content.rotate_left(32).wrapping_add(salt) {
        _ if pass == 0 || content == 0 => content,
        0 => salt,
        new => new,
    }
}

/// Computes the expected requests, one by one.
fn expected(source: &Memory, until: Until) -> (RequestBatch, Vec<String>) {
    let (mut batch, mut places) = (RequestBatch::default(), Vec::new());
    let (mut passed, mut written, mut shift_ns, mut begun_ns) = (0, 0, 0, None);
    for pass in 0_u64.. {
        let (first_ns, mut last_ns) = (source.rows.time_ns[0], source.rows.time_ns[0]);
        for i in 0..source.rows.len() {
            let stamp_ns = source.rows.time_ns[i];
            last_ns = last_ns.max(stamp_ns);
            let bytes = if source.rows.op[i] == Op::Write { source.rows.bytes[i] } else { 0 };
            if passed < until.passed_bytes {
                passed += bytes;
                begun_ns = begun_ns.or(Some(0));
                continue;
            }
            if batch.len() as u64 >= until.warmup_requests {
                written += bytes;
            }
            source.copy(i, &mut batch);
            if until.renews_content && source.columns.content {
                let entries = batch.content.range(places.len());
                batch.content.fingerprint[entries]
                    .iter_mut()
                    .for_each(|content| *content = renewed(*content, pass));
            }
            let stamp_ns = stamp_ns.saturating_add(shift_ns);
            if places.is_empty() && begun_ns.is_some() {
                begun_ns = Some(stamp_ns);
            }
            batch.time_ns[places.len()] = stamp_ns.saturating_sub(begun_ns.unwrap_or(0));
            places.push(format!("memory:{i}"));
            if written >= until.written_bytes {
                return (batch, places);
            }
        }
        if !until.again {
            break;
        }
        let period_ns = period_ns(last_ns.abs_diff(first_ns), source.rows.len() as u64);
        shift_ns = i64::saturating_add_unsigned(shift_ns, period_ns);
    }
    (batch, places)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_workload_ends_with_the_request_that_writes_enough(
        source in any_source(1..40),
        passed_bytes in prop_oneof![Just(0), 1u64..20_000],
        written_bytes in 1u64..20_000,
        warmup_requests in 0u64..60,
        again in any::<bool>(),
        renews_content in any::<bool>(),
        step in 1usize..50,
    ) {
        let writes = source.rows.op.iter().zip(&source.rows.bytes).any(|(op, &bytes)| *op == Op::Write && bytes > 0);
        let until = Until { passed_bytes, written_bytes, warmup_requests, again: again && writes, renews_content };
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
    let until =
        Until { passed_bytes: 0, written_bytes: 1, warmup_requests: 0, again: true, renews_content: false };
    let error =
        UntilWritten::new(Box::new(source), until).fill(&mut RequestBatch::default(), 10).unwrap_err();
    let expected = "workload.stop_after: the workload writes nothing and would never end; expected a workload with writes";
    assert!(error.to_string().starts_with(expected), "{error}");
}
