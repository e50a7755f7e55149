//! Division of page numbers by a number that is constant during a run.

/// Divides numbers below 2^31 by a divisor below 2^31 with one multiplication.
///
/// With `m = floor(2^62 / d) + 1` the product `n * m` exceeds the exact quotient by less than `n / 2^62 < 2^-31`,
/// which is less than the `1/d` that could carry it to the next whole number.
#[derive(Clone, Copy, Debug)]
pub struct FastDiv {
    divisor: u32,
    multiplier: u64,
}

impl FastDiv {
    /// Prepares division by `divisor`, which must lie in 1..2^31.
    #[must_use]
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0 && divisor < 1 << 31, "divisor {divisor} outside 1..2^31");
        Self { divisor, multiplier: (1u64 << 62) / u64::from(divisor) + 1 }
    }

    /// Returns the divisor.
    #[inline]
    #[must_use]
    pub fn divisor(self) -> u32 {
        self.divisor
    }

    /// Divides `n`, which is below 2^31, and rounds down.
    #[inline]
    #[must_use]
    pub fn quotient(self, n: u32) -> u32 {
        debug_assert!(n < 1 << 31);
        ((u128::from(n) * u128::from(self.multiplier)) >> 62) as u32
    }

    /// Computes `n % divisor` for `n` below 2^31.
    #[inline]
    #[must_use]
    pub fn remainder(self, n: u32) -> u32 {
        n - self.quotient(n) * self.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_plain_division_at_the_edges() {
        for d in (1..600).chain([4095, 4096, 4097, 65_537, (1 << 30) - 1, 1 << 30, (1 << 31) - 1]) {
            let f = FastDiv::new(d);
            for q in [0u64, 1, 2, 3, 1000, 4_194_303, (1 << 31) / u64::from(d) - 1, (1 << 31) / u64::from(d)]
            {
                for delta in [-1i64, 0, 1] {
                    let n = (q * u64::from(d)) as i64 + delta;
                    if (0..1 << 31).contains(&n) {
                        let n = n as u32;
                        assert_eq!((f.quotient(n), f.remainder(n)), (n / d, n % d), "{n} / {d}");
                    }
                }
            }
        }
    }
}
