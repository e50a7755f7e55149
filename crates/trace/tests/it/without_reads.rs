//! A workload without its reads.

use crate::common::memory::{Memory, all, any_source};
use floatgate_base::RequestBatch;
use floatgate_trace::{Source, WithoutReads, without_reads::stays};
use proptest::prelude::*;

/// Computes the expected requests, one by one.
fn expected(source: &Memory) -> (RequestBatch, Vec<String>) {
    let (whole, _) = all(&mut source.clone(), 7);
    let (mut batch, mut places) = (RequestBatch::default(), Vec::new());
    for i in (0..whole.len()).filter(|&i| stays(&whole, i)) {
        batch.push_of(&whole, i, whole.time_ns[i]);
        places.push(format!("memory:{i}"));
    }
    (batch, places)
}

proptest! {
    /// The first pass, which is read, and the later ones, which are not, contain the same requests, in batches of any
    /// size.
    #[test]
    fn all_but_reads_come_in_every_pass(source in any_source(1..40), steps in prop::array::uniform3(1usize..50)) {
        let (wanted, places) = expected(&source);
        let mut without = WithoutReads::new(Box::new(source));
        for step in steps {
            let (found, at) = all(&mut without, step);
            prop_assert_eq!(&found.op, &wanted.op);
            prop_assert_eq!(&found.offset, &wanted.offset);
            prop_assert_eq!(&found.bytes, &wanted.bytes);
            prop_assert_eq!(&found.time_ns, &wanted.time_ns);
            prop_assert_eq!(&found.context, &wanted.context);
            prop_assert_eq!(&found.content.fingerprint, &wanted.content.fingerprint);
            prop_assert_eq!(&at, &places);
            without.rewind().unwrap();
        }
    }
}

/// Requests beyond the limit are read again.
#[test]
fn many_requests_are_read_in_every_pass() {
    let mut source = Memory::default();
    for i in 0..(1 << 20) + 5 {
        source.rows.push(
            i,
            0,
            if i % 1000 == 0 { floatgate_base::Op::Read } else { floatgate_base::Op::Write },
            0,
            4096,
        );
    }
    let wanted = expected(&source).0.len();
    let mut without = WithoutReads::new(Box::new(source));
    for _ in 0..2 {
        let mut batch = RequestBatch::default();
        without.fill(&mut batch, 1 << 22).unwrap();
        assert_eq!(batch.len(), wanted);
        without.rewind().unwrap();
    }
}
