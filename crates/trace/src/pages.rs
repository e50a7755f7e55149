//! Counts distinct pages of 4 KiB, exactly: a bitmap in pieces, which exist only once touched. When there are more
//! pieces than [`PIECES_MAX`] (8 TiB if pages lie side by side), every other one, selected by a fixed hash of its
//! address, is dropped. The remaining ones count for it: the counts become estimates.

use floatgate_base::{Op, TRACE_PAGE_BYTES};
use rustc_hash::FxHashMap;

/// Pages per piece as a power of two: a piece is one cache line for writes and one for reads.
const PIECE_BITS: u32 = 9;
const WORDS: usize = 1 << (PIECE_BITS - 6);
/// Most pieces: about 800 MB with their table.
const PIECES_MAX: usize = 1 << 22;

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
    /// Its key in the table.
    key: u64,
    written: [u64; WORDS],
    read: [u64; WORDS],
}

/// The pages that have been read and written.
pub(crate) struct PageSet {
    pieces: Vec<Piece>,
    by_key: FxHashMap<u64, u32>,
    last_key: u64,
    last: usize,
    max: usize,
    /// One piece in `2^shift` is followed.
    shift: u32,
}

impl Default for PageSet {
    fn default() -> Self {
        Self::with_max(PIECES_MAX)
    }
}

/// Returns whether a piece belongs to the one in `2^shift` that is followed.
#[inline]
fn is_followed(key: u64, shift: u32) -> bool {
    let mixed = (key ^ key >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    shift == 0 || (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> (64 - shift) == 0
}

impl PageSet {
    fn with_max(max: usize) -> Self {
        Self { pieces: Vec::new(), by_key: FxHashMap::default(), last_key: 0, last: 0, max, shift: 0 }
    }

    /// Returns the share of pages that is followed: 1 means exact counts.
    pub fn sampled_share(&self) -> f64 {
        1.0 / (1u64 << self.shift) as f64
    }

    /// Records a transfer of at least one byte; returns how many pages it touches. TRIMs touch none.
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
            if let Some(piece) = self.piece(device, page >> PIECE_BITS) {
                let bits = if op == Op::Write { &mut piece.written } else { &mut piece.read };
                mark(bits, page, in_piece);
            }
            if in_piece == last {
                return last - first + 1;
            }
            page = in_piece + 1;
        }
    }

    #[inline]
    fn piece(&mut self, device: u16, number: u64) -> Option<&mut Piece> {
        // Addresses of 64 bits leave 43 for the number of a piece.
        let key = u64::from(device) << 48 | number;
        if key != self.last_key || self.pieces.is_empty() {
            if !is_followed(key, self.shift) {
                return None;
            }
            let next = self.pieces.len() as u32;
            let at = *self.by_key.entry(key).or_insert(next);
            if at == next {
                self.pieces.push(Piece { key, written: [0; WORDS], read: [0; WORDS] });
                if self.pieces.len() > self.max {
                    self.halve();
                    return self.piece(device, number);
                }
            }
            (self.last_key, self.last) = (key, at as usize);
        }
        Some(&mut self.pieces[self.last])
    }

    #[cold]
    fn halve(&mut self) {
        while self.pieces.len() > self.max {
            self.shift += 1;
            let shift = self.shift;
            self.pieces.retain(|piece| is_followed(piece.key, shift));
        }
        self.by_key.clear();
        self.by_key.extend(self.pieces.iter().zip(0u32..).map(|(piece, at)| (piece.key, at)));
        // No piece has this key.
        self.last_key = u64::MAX;
    }

    /// Counts the distinct pages of each of the first `devices` devices.
    pub fn count(&self, devices: usize) -> Vec<Distinct> {
        let mut out = vec![Distinct::default(); devices];
        for piece in &self.pieces {
            let sums = &mut out[(piece.key >> 48) as usize];
            for (w, r) in piece.written.iter().zip(&piece.read) {
                sums.written += u64::from(w.count_ones());
                sums.read += u64::from(r.count_ones());
                sums.touched += u64::from((w | r).count_ones());
            }
        }
        for sums in &mut out {
            sums.written <<= self.shift;
            sums.read <<= self.shift;
            sums.touched <<= self.shift;
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

    /// 64,000 pieces with two written pages and a read one each: a sample of `n` of them has a relative error of
    /// `1 / sqrt(n)`; the limit is four of them.
    #[test]
    fn more_pieces_than_fit_are_estimated() {
        let mut pages = PageSet::with_max(3000);
        for round in 0..2 {
            for i in 0..64_000u64 {
                let offset = (i * 7) << (PIECE_BITS + 12);
                assert_eq!(pages.touch((i % 3) as u16, Op::Write, offset, 8192), 2);
                assert_eq!(pages.touch((i % 3) as u16, Op::Read, offset + round * 4096, 4096), 1);
            }
        }
        assert_eq!(pages.sampled_share(), 1.0 / 32.0);
        let counts = pages.count(3);
        let sum = |of: fn(&Distinct) -> u64| counts.iter().map(of).sum::<u64>();
        for estimate in [sum(|d| d.written), sum(|d| d.read), sum(|d| d.touched)] {
            assert!((estimate as f64 / 128_000.0 - 1.0).abs() < 4.0 / 2000f64.sqrt(), "{estimate}");
        }
    }

    #[test]
    fn the_end_of_the_address_space_is_a_page_too() {
        let mut pages = PageSet::default();
        assert_eq!(pages.touch(u16::MAX, Op::Write, u64::MAX - 10, 10), 1);
        assert_eq!(pages.count(65_536)[65_535].written, 1);
    }
}
