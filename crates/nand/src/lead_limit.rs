//! How far ahead of the mean block a wear-leveler lets a block get.

/// Bound on the lead of a block. Levelers that compare remaining lifetimes allow less as the drive ages; others always
/// allow the same number of erases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeadLimit {
    /// Cycles that the leveler assumes for a block's life.
    pub pe_cycles: f64,
    /// Share of the mean remaining cycles.
    pub of_remaining: f64,
    /// Erases that it always allows.
    pub least_erases: f64,
}

impl LeadLimit {
    /// Returns a limit of the same number of erases at any age.
    #[must_use]
    pub fn constant(erases: f64) -> Self {
        Self { pe_cycles: 0.0, of_remaining: 0.0, least_erases: erases }
    }

    /// Returns the erases that a block may be ahead when the mean block has `mean_erases`.
    #[must_use]
    pub fn at(self, mean_erases: f64) -> f64 {
        (self.of_remaining * (self.pe_cycles - mean_erases)).max(self.least_erases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_falls_with_age_down_to_its_least() {
        let limit = LeadLimit { pe_cycles: 1000.0, of_remaining: 0.15, least_erases: 10.0 };
        assert_eq!([0.0, 500.0, 950.0, 2000.0].map(|mean| limit.at(mean)), [150.0, 75.0, 10.0, 10.0]);
        assert_eq!([0.0, 1e6].map(|mean| LeadLimit::constant(40.0).at(mean)), [40.0, 40.0]);
    }
}
