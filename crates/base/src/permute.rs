//! A pseudo-random permutation of 0..n without memory: a Feistel network with cycle walking.

use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// A permutation of `0..n` fixed by its keys.
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

    /// Where `i` goes; `i` must be below `n`.
    #[inline]
    #[must_use]
    pub fn apply(&self, i: u64) -> u64 {
        debug_assert!(i < self.n);
        let mut x = i;
        // The network permutes a power of four that is less than four times n: walk until inside.
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

#[cfg(test)]
mod tests {
    use super::*;

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
