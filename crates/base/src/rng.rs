//! Random numbers: one named stream per purpose, which a new consumer cannot shift.

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// A reproducible stream of random numbers (xoshiro256++).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// Creates the stream `name` of the run with this seed.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name keeps the streams of one seed apart.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Self(Xoshiro256PlusPlus::seed_from_u64(seed ^ hash))
    }

    /// Draws 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a whole number in `0..n`; `n` must not be 0. The bias of the multiply-shift is below `n / 2^64`.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Draws a number in [0, 1) with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns the underlying generator, for distributions of other crates.
    pub fn inner(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |seed, name| {
            (0..4)
                .map({
                    let mut r = Rng::new(seed, name);
                    move |_| r.next_u64()
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Rng::new(7, "test");
        let mut seen = [0u32; 10];
        for _ in 0..100_000 {
            seen[rng.below(10) as usize] += 1;
        }
        // The standard deviation of a cell is 95; the limit is six of them.
        assert!(seen.iter().all(|&n| n.abs_diff(10_000) < 570), "{seen:?}");
    }
}
