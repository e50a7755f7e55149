//! Growing demand: converts the life of a drive under constant yearly demand.
//!
//! The host's writes grow continuously by a share `g` per year. By the time `T` it has written as much as in
//! `((1 + g)^T - 1) / ln(1 + g)` years without growth.

/// Returns the years until as much is written as in `years` without growth; None where shrinking demand never reaches
/// it.
#[must_use]
pub fn years_of_growing(years: f64, per_year: f64) -> Option<f64> {
    let rate = libm::log1p(per_year);
    if rate == 0.0 {
        return Some(years);
    }
    let grown = years * rate;
    (grown > -1.0).then(|| libm::log1p(grown) / rate)
}

/// Returns the writes of `years`, relative to the same years without growth.
#[must_use]
pub fn written_of_growing(years: f64, per_year: f64) -> f64 {
    let rate = libm::log1p(per_year);
    if rate == 0.0 || years == 0.0 { 1.0 } else { libm::expm1(rate * years) / (rate * years) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demand_that_doubles_each_year() {
        // In the first year as much as in 1 / ln 2, in three years as much as in 7 / ln 2.
        let ln2 = std::f64::consts::LN_2;
        for (years, as_in) in [(1.0, 1.0 / ln2), (3.0, 7.0 / ln2)] {
            assert!((years_of_growing(as_in, 1.0).unwrap() - years).abs() < 1e-12);
            assert!((written_of_growing(years, 1.0) * years - as_in).abs() < 1e-12);
        }
        assert_eq!((years_of_growing(3.0, 0.0), written_of_growing(3.0, 0.0)), (Some(3.0), 1.0));
    }

    /// Demand that halves each year never exceeds 1 / ln 2 years of the first rate.
    #[test]
    fn demand_that_shrinks_may_never_come_to_it() {
        assert_eq!(years_of_growing(1.5, -0.5), None);
        assert!((years_of_growing(0.5 / std::f64::consts::LN_2, -0.5).unwrap() - 1.0).abs() < 1e-12);
    }
}
