//! Counts distinct pages of 4 KiB, exactly: a bitmap in pieces, of which only the touched ones exist.

use floatgate_base::{Op, TRACE_PAGE_BYTES};
use rustc_hash::FxHashMap;

/// Pages per piece as a power of two: a piece is one cache line for writes and one for reads.
const PIECE_BITS: u32 = 9;
const WORDS: usize = 1 << (PIECE_BITS - 6);

/// Distinct pages of one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Distinct {
    pub written: u64,
    pub read: u64,
    /// Read or written.
    pub touched: u64,
}

#[derive(Clone, Copy)]
struct Piece {
    device: u16,
    written: [u64; WORDS],
    read: [u64; WORDS],
}

/// Which pages have been read and written.
#[derive(Default)]
pub(crate) struct PageSet {
    pieces: Vec<Piece>,
    by_key: FxHashMap<u64, u32>,
    last_key: u64,
    last: usize,
}

impl PageSet {
    /// Notes a transfer of at least one byte; returns how many pages it touches. TRIMs touch none.
    #[inline]
    pub fn touch(&mut self, device: u16, op: Op, offset: u64, bytes: u64) -> u64 {
        if op == Op::Trim {
            return 0;
        }
        let first = offset / TRACE_PAGE_BYTES;
        let last = (offset + (bytes - 1)) / TRACE_PAGE_BYTES;
        let mut page = first;
        loop {
            let in_piece = last.min(page | ((1 << PIECE_BITS) - 1));
            let piece = self.piece(device, page >> PIECE_BITS);
            let bits = if op == Op::Write { &mut piece.written } else { &mut piece.read };
            mark(bits, page, in_piece);
            if in_piece == last {
                return last - first + 1;
            }
            page = in_piece + 1;
        }
    }

    #[inline]
    fn piece(&mut self, device: u16, number: u64) -> &mut Piece {
        // Addresses of 64 bits leave 43 for the number of a piece.
        let key = u64::from(device) << 48 | number;
        if key != self.last_key || self.pieces.is_empty() {
            let next = self.pieces.len() as u32;
            let at = *self.by_key.entry(key).or_insert(next);
            if at == next {
                self.pieces.push(Piece { device, written: [0; WORDS], read: [0; WORDS] });
            }
            (self.last_key, self.last) = (key, at as usize);
        }
        &mut self.pieces[self.last]
    }

    /// Distinct pages of each of the first `devices` devices.
    pub fn count(&self, devices: usize) -> Vec<Distinct> {
        let mut out = vec![Distinct::default(); devices];
        for piece in &self.pieces {
            let sums = &mut out[usize::from(piece.device)];
            for (w, r) in piece.written.iter().zip(&piece.read) {
                sums.written += u64::from(w.count_ones());
                sums.read += u64::from(r.count_ones());
                sums.touched += u64::from((w | r).count_ones());
            }
        }
        out
    }
}

/// Sets the bits of the pages `first..=last`, which lie in one piece.
#[inline]
fn mark(bits: &mut [u64; WORDS], first: u64, last: u64) {
    let (from, to) = ((first >> 6) as usize % WORDS, (last >> 6) as usize % WORDS);
    let low = u64::MAX << (first % 64);
    let high = u64::MAX >> (63 - last % 64);
    if from == to {
        bits[from] |= low & high;
        return;
    }
    bits[from] |= low;
    bits[from + 1..to].fill(u64::MAX);
    bits[to] |= high;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn counts_equal_plain_sets(
            requests in prop::collection::vec((0u16..3, 0u8..3, 0u64..20_000_000, 1u64..6_000_000), 1..40),
        ) {
            let mut pages = PageSet::default();
            let mut plain = vec![(BTreeSet::new(), BTreeSet::new()); 3];
            for (device, op, offset, bytes) in requests {
                let op = [Op::Read, Op::Write, Op::Trim][usize::from(op)];
                let touched = offset / 4096..(offset + bytes).div_ceil(4096);
                let n = pages.touch(device, op, offset, bytes);
                let sets = &mut plain[usize::from(device)];
                match op {
                    Op::Read => sets.0.extend(touched.clone()),
                    Op::Write => sets.1.extend(touched.clone()),
                    Op::Trim => {}
                }
                prop_assert_eq!(n, if op == Op::Trim { 0 } else { touched.end - touched.start });
            }
            for (distinct, (read, written)) in pages.count(3).into_iter().zip(plain) {
                prop_assert_eq!(distinct.read, read.len() as u64);
                prop_assert_eq!(distinct.written, written.len() as u64);
                prop_assert_eq!(distinct.touched, read.union(&written).count() as u64);
            }
        }
    }

    #[test]
    fn the_end_of_the_address_space_is_a_page_too() {
        let mut pages = PageSet::default();
        assert_eq!(pages.touch(u16::MAX, Op::Write, u64::MAX - 10, 10), 1);
        assert_eq!(pages.count(65_536)[65_535].written, 1);
    }
}
