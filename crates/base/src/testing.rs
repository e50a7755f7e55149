//! Helpers for the tests of all crates.

/// A limit for a loop of a test that might not end: a wrong threshold must fail a test, not hang it.
///
/// `tests/python/test_structure.py` requires a call of [`Bound::step`] in every `while` and `loop` of test code.
#[derive(Debug)]
pub struct Bound {
    limit: u64,
    steps: u64,
}

impl Bound {
    /// Allows `limit` rounds.
    #[must_use]
    pub const fn new(limit: u64) -> Self {
        Self { limit, steps: 0 }
    }

    /// Counts a round.
    ///
    /// # Panics
    /// At the first round beyond the limit.
    #[track_caller]
    #[inline]
    pub fn step(&mut self) {
        self.steps += 1;
        assert!(self.steps <= self.limit, "the loop did not end within {} rounds", self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_within_the_limit_pass() {
        let mut bound = Bound::new(3);
        (0..3).for_each(|_| bound.step());
    }

    #[test]
    #[should_panic = "did not end within 3 rounds"]
    fn the_round_beyond_the_limit_panics() {
        let mut bound = Bound::new(3);
        (0..4).for_each(|_| bound.step());
    }
}
