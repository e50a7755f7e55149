//! A pseudo-random permutation of 0..n without a table: a Feistel network with cycle walking.

use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// A permutation of `0..n` determined by its keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// Draws a permutation of `0..n`.
    #[must_use]
    pub fn new(n: u64, rng: &mut Rng) -> Self {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        Self { n, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| rng.next_u64()) }
    }

    /// Maps `i`, which must be below `n`.
    #[inline]
    #[must_use]
    pub fn apply(&self, i: u64) -> u64 {
        debug_assert!(i < self.n);
        let mut x = i;
        // The network permutes a power of four below `4 n`: walk until the result lies inside.
        loop {
            x = self.network(x);
            if x < self.n {
                return x;
            }
        }
    }

    #[inline]
    fn network(&self, x: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (x >> self.half_bits, x & mask);
        for key in self.keys {
            let mut mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^= mixed >> 29;
            mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (left, right) = (right, left ^ (mixed >> 32 & mask));
        }
        left << self.half_bits | right
    }
}

/// Elements that pass through the network side by side.
const LANES: usize = 32;

/// A permutation evaluated in order. The steps of one network depend on each other; evaluating several elements at once
/// takes little longer than one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Permutation", into = "Permutation")]
pub struct InOrder {
    permutation: Permutation,
    from: u64,
    lanes: [u64; LANES],
    there: usize,
}

impl From<Permutation> for InOrder {
    fn from(permutation: Permutation) -> Self {
        Self::new(permutation)
    }
}

impl From<InOrder> for Permutation {
    fn from(order: InOrder) -> Self {
        order.permutation
    }
}

impl InOrder {
    /// Starts the evaluation of a permutation at its first element.
    #[must_use]
    pub fn new(permutation: Permutation) -> Self {
        Self { permutation, from: 0, lanes: [0; LANES], there: 0 }
    }

    /// Maps `i` as [`Permutation::apply`] does; fast if `i` is mostly the successor of the previous one.
    #[inline]
    pub fn apply(&mut self, i: u64) -> u64 {
        let lane = i.wrapping_sub(self.from);
        if lane < self.there as u64 {
            return self.lanes[lane as usize];
        }
        self.fill(i);
        self.lanes[0]
    }

    fn fill(&mut self, from: u64) {
        let n = self.permutation.n;
        debug_assert!(from < n);
        (self.from, self.there) = (from, (n - from).min(LANES as u64) as usize);
        // Lanes beyond the end waste their work; avoiding it would need a division per lane, which takes longer.
        self.lanes = std::array::from_fn(|lane| (from + lane as u64).min(n - 1));
        let mut walking: [usize; LANES] = std::array::from_fn(|lane| lane);
        let mut count = LANES;
        while count > 0 {
            let mut on = 0;
            for i in 0..count {
                let lane = walking[i];
                self.lanes[lane] = self.permutation.network(self.lanes[lane]);
                // Without a branch, which would be unpredictable.
                walking[on] = lane;
                on += usize::from(self.lanes[lane] >= n);
            }
            count = on;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_is_the_same_permutation() {
        for n in [1u64, 2, 3, 15, 16, 17, 1000, 4096, 10_007] {
            let p = Permutation::new(n, &mut Rng::new(n, "permutation"));
            let mut in_order = InOrder::new(p.clone());
            assert!((0..n).all(|i| in_order.apply(i) == p.apply(i)), "{n} forwards");
            assert!((0..n).rev().all(|i| in_order.apply(i) == p.apply(i)), "{n} backwards");
        }
    }

    #[test]
    fn is_a_permutation_for_any_length() {
        for n in [1u64, 2, 3, 5, 16, 17, 1000, 4096, 10_007] {
            let p = Permutation::new(n, &mut Rng::new(n, "permutation"));
            let mut seen = vec![false; n as usize];
            for i in 0..n {
                let j = p.apply(i) as usize;
                assert!(!seen[j], "{j} hit twice of {n}");
                seen[j] = true;
            }
        }
    }

    #[test]
    fn does_not_keep_the_order() {
        let p = Permutation::new(1000, &mut Rng::new(3, "permutation"));
        let rising = (1..1000).filter(|&i| p.apply(i) > p.apply(i - 1)).count();
        assert!((430..570).contains(&rising), "{rising} of 999 steps rise");
    }
}
