//! The content of written pages, if the trace records it: duplicates and compressed sizes.
//!
//! Cost: a look-up per page with known content. Memory: 8 bytes for each of up to 2^25 places of a table. When the
//! table holds more than [`FINGERPRINTS_MAX`] contents, half of them, selected by value, are dropped and no longer
//! followed. Shares then become estimates from a sample of contents.

use floatgate_base::{Op, RequestBatch, TRACE_PAGE_BYTES};
use serde::Serialize;

/// Most fingerprints in the table.
const FINGERPRINTS_MAX: usize = 1 << 24;

/// Content of the pages written; null if the trace records no content.
#[derive(Clone, Debug, Serialize)]
pub struct ContentInfo {
    /// Page writes with known content.
    pub known_page_writes: u64,
    /// Distinct contents among them.
    pub distinct: u64,
    /// Share of them whose content was written before in the trace; null if none is known.
    pub duplicate_share: Option<f64>,
    /// Page writes with known compressed size.
    pub compressed_page_writes: u64,
    /// Mean compressed size over 4096 bytes; null if none is known.
    pub compressed_share: Option<f64>,
    /// Share of the contents that were followed for `distinct` and `duplicate_share`; 1 means exact.
    pub sampled_share: f64,
}

/// Counters of one pass over the trace.
pub(crate) struct Content {
    known: u64,
    followed: u64,
    duplicates: u64,
    compressed: u64,
    compressed_bytes: u64,
    seen: Fingerprints,
}

impl Default for Content {
    fn default() -> Self {
        Self::with_max(FINGERPRINTS_MAX)
    }
}

impl Content {
    /// Creates the counters with room for `max` fingerprints.
    pub fn with_max(max: usize) -> Self {
        let seen = Fingerprints::new(max);
        Self { known: 0, followed: 0, duplicates: 0, compressed: 0, compressed_bytes: 0, seen }
    }

    pub fn add(&mut self, batch: &RequestBatch) {
        if batch.content.end.is_empty() {
            return;
        }
        for (i, _) in batch.op.iter().enumerate().filter(|&(_, &op)| op == Op::Write) {
            let entries = batch.content.range(i);
            for &fingerprint in &batch.content.fingerprint[entries.clone()] {
                if fingerprint != 0 {
                    self.known += 1;
                    self.note(fingerprint);
                }
            }
            for &bytes in &batch.content.compressed_bytes[entries] {
                self.compressed += u64::from(bytes > 0);
                self.compressed_bytes += u64::from(bytes);
            }
        }
    }

    #[inline]
    fn note(&mut self, fingerprint: u64) {
        let weight = 1 << self.seen.shift;
        match self.seen.insert(fingerprint) {
            Some(true) => self.followed += weight,
            Some(false) => {
                self.followed += weight;
                self.duplicates += weight;
            }
            None => {}
        }
    }

    pub fn describe(&self) -> ContentInfo {
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        ContentInfo {
            known_page_writes: self.known,
            distinct: (self.seen.len as u64) << self.seen.shift,
            duplicate_share: share(self.duplicates, self.followed),
            compressed_page_writes: self.compressed,
            compressed_share: share(self.compressed_bytes, self.compressed * TRACE_PAGE_BYTES),
            sampled_share: 1.0 / (1u64 << self.seen.shift) as f64,
        }
    }
}

/// A set of nonzero values that keeps a sample, selected by value, when it exceeds its limit.
struct Fingerprints {
    table: Vec<u64>,
    len: usize,
    max: usize,
    shift: u32,
}

/// Spreads fingerprints, which may be counters as well as hashes.
#[inline]
fn spread(value: u64) -> u64 {
    let mixed = (value ^ value >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl Fingerprints {
    fn new(max: usize) -> Self {
        Self { table: vec![0; 1024], len: 0, max, shift: 0 }
    }

    /// Inserts a value; returns true for a new value, false for a known one, none outside the sample.
    #[inline]
    fn insert(&mut self, value: u64) -> Option<bool> {
        let hash = spread(value);
        // The low bits select the sample, the high ones the place.
        if hash & ((1 << self.shift) - 1) != 0 {
            return None;
        }
        let (at, is_present) = self.place(value, hash);
        if is_present {
            return Some(false);
        }
        self.table[at] = value;
        self.len += 1;
        if self.len > self.max {
            self.halve();
        } else if self.len * 2 > self.table.len() {
            self.rebuild(self.table.len() * 2);
        }
        Some(true)
    }

    #[inline]
    fn place(&self, value: u64, hash: u64) -> (usize, bool) {
        let mask = self.table.len() - 1;
        let mut at = (hash >> (64 - self.table.len().trailing_zeros())) as usize;
        loop {
            match self.table[at] {
                0 => return (at, false),
                there if there == value => return (at, true),
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn halve(&mut self) {
        while self.len > self.max {
            self.shift += 1;
            self.rebuild(self.table.len());
        }
    }

    /// Moves the sample into a table of `n` places.
    fn rebuild(&mut self, n: usize) {
        let old = std::mem::replace(&mut self.table, vec![0; n]);
        self.len = 0;
        for value in old.into_iter().filter(|&value| value != 0) {
            let hash = spread(value);
            if hash & ((1 << self.shift) - 1) == 0 {
                let (at, _) = self.place(value, hash);
                self.table[at] = value;
                self.len += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn batch(requests: &[(Op, &[(u64, u16)])]) -> RequestBatch {
        let mut batch = RequestBatch::default();
        for &(op, entries) in requests {
            batch.push(0, 0, op, 0, 4096 * entries.len().max(1) as u64);
            entries.iter().for_each(|&(fingerprint, bytes)| batch.content.push(fingerprint, bytes));
            batch.content.close();
        }
        batch
    }

    #[test]
    fn what_was_written_before_is_a_duplicate() {
        let mut content = Content::default();
        content.add(&batch(&[
            (Op::Read, &[(9, 10)]),
            (Op::Write, &[(7, 1024), (0, 0), (9, 3072)]),
            (Op::Write, &[]),
            (Op::Write, &[(7, 0), (7, 0)]),
        ]));
        let info = content.describe();
        assert_eq!((info.known_page_writes, info.distinct, info.duplicate_share), (4, 2, Some(0.5)));
        assert_eq!((info.compressed_page_writes, info.compressed_share), (2, Some(0.5)));
        assert_eq!(info.sampled_share, 1.0);
    }

    #[test]
    fn nothing_known_is_null() {
        let mut content = Content::default();
        content.add(&batch(&[(Op::Write, &[(0, 0)]), (Op::Read, &[(1, 1)])]));
        let info = content.describe();
        assert_eq!((info.known_page_writes, info.duplicate_share, info.compressed_share), (0, None, None));
    }

    /// Each of 40,000 contents three times: two thirds are duplicates. In a sample of `n` contents with equal numbers
    /// of writes, the share has no error; the number of contents has a relative error of `1 / sqrt(n)`.
    #[test]
    fn a_sample_tells_the_same() {
        let mut content = Content::with_max(4000);
        for round in 0..3u64 {
            let _ = round;
            (1..=40_000u64).for_each(|i| content.note(i));
        }
        let info = content.describe();
        assert_eq!(info.sampled_share, 1.0 / 16.0);
        assert!((info.duplicate_share.unwrap() - 2.0 / 3.0).abs() < 0.04, "{info:?}");
        assert!((info.distinct as f64 / 40_000.0 - 1.0).abs() < 4.0 / 2500f64.sqrt(), "{info:?}");
    }

    proptest! {
        #[test]
        fn equals_a_plain_set(values in prop::collection::vec(1u64..500, 1..3000)) {
            let (mut content, mut plain, mut duplicates) = (Content::default(), BTreeSet::new(), 0u64);
            for &value in &values {
                content.note(value << 40);
                duplicates += u64::from(!plain.insert(value));
            }
            let info = content.describe();
            prop_assert_eq!(info.distinct, plain.len() as u64);
            prop_assert_eq!(info.duplicate_share, Some(duplicates as f64 / values.len() as f64));
        }
    }
}
