//! How the spread of wear grows: whether the lead of the most erased blocks is lasting or chance.
//!
//! A block's erases are those of the mean block plus an excess. The excess grows with the mean where blocks wear at
//! different rates, with its square root where differences are chance, and not at all where wear is levelled. The
//! standard deviation is therefore fitted as `sd ~ mean^growth` over the last part of the run.

use crate::series::Row;

/// Minimum of rows in a fit.
const ROWS_MIN: usize = 8;
/// Mean erases per block at which a fit begins; with fewer, a single erase is a large share.
const ERASES_MIN: f64 = 2.0;

/// Growth of the spread of wear with the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearGrowth {
    /// Exponent of the standard deviation: 1 where blocks wear at different rates, 0.5 by chance, 0 where levelled.
    pub exponent: f64,
    /// Difference between the exponents of the two halves of the fit.
    pub error: f64,
}

/// Fits the last three quarters of the erases, of `units` erase units with `blocks_per_unit` blocks each; None where
/// the run is too short.
#[must_use]
pub fn wear_growth(rows: &[Row], units: u32, blocks_per_unit: u32) -> Option<WearGrowth> {
    let units = f64::from(units);
    let spread = |row: &Row| {
        let mean = row.erases.iter().sum::<u64>() as f64 / f64::from(blocks_per_unit) / units;
        let variance = row.erase_squares as f64 / units - mean * mean;
        (mean, variance.max(0.0).sqrt())
    };
    growth_of(&rows.iter().map(spread).collect::<Vec<_>>())
}

/// Fits the growth from mean and standard deviation of the erases of blocks, in order of growth.
#[must_use]
pub fn growth_of(spreads: &[(f64, f64)]) -> Option<WearGrowth> {
    let &(end, _) = spreads.last()?;
    let part = |from: f64, to: f64| -> Vec<(f64, f64)> {
        let within = |&&(mean, sd): &&(f64, f64)| mean >= from * end && mean <= to * end && sd > 0.0;
        spreads.iter().filter(within).map(|&(mean, sd)| (libm::log(mean), libm::log(sd))).collect()
    };
    if end / 4.0 < ERASES_MIN {
        return None;
    }
    let halves = [part(0.25, 0.5), part(0.5, 1.0)];
    if halves.iter().any(|half| half.len() < ROWS_MIN) {
        return None;
    }
    let [early, late] = halves.each_ref().map(|half| slope(half));
    Some(WearGrowth { exponent: slope(&part(0.25, 1.0)).clamp(0.0, 1.0), error: (late - early).abs() })
}

/// Returns the slope of the least-squares line.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / n, sum.1 + p.1 / n));
    let (xx, xy) = points
        .iter()
        .fold((0.0, 0.0), |sum, p| (sum.0 + (p.0 - x) * (p.0 - x), sum.1 + (p.0 - x) * (p.1 - y)));
    if xx > 0.0 { xy / xx } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a series of 100 units, whose standard deviation is `sd` of the mean.
    fn rows(sd: impl Fn(f64) -> f64) -> Vec<Row> {
        (1..=200u64)
            .map(|i| {
                let (mean, sd) = (i as f64, sd(i as f64));
                let mut row = Row { requests: i * 64, ..Row::default() };
                row.erases[2] = i * 100 * 2;
                row.erase_squares = (100.0 * (mean * mean + sd * sd)).round() as u64;
                row
            })
            .collect()
    }

    #[test]
    fn the_exponent_is_that_of_the_spread() {
        for exponent in [0.5, 0.8, 1.0] {
            let growth = wear_growth(&rows(|mean| 3.0 * libm::pow(mean, exponent)), 100, 2).unwrap();
            assert!((growth.exponent - exponent).abs() < 0.01 && growth.error < 0.02, "{growth:?}");
        }
        let levelled = wear_growth(&rows(|_| 2.0), 100, 2).unwrap();
        assert!(levelled.exponent < 0.01, "{levelled:?}");
    }

    #[test]
    fn a_change_on_the_way_is_an_error() {
        let growth =
            wear_growth(&rows(|mean| if mean < 100.0 { 10.0 } else { mean / 10.0 }), 100, 2).unwrap();
        assert!(growth.error > 0.5, "{growth:?}");
    }

    /// The exponent is that of all three quarters. A spread that grows as the square root in the early quarter and in
    /// proportion in the late half has an exponent between both.
    #[test]
    fn the_whole_fit_counts() {
        let bend = |mean: f64| if mean <= 100.0 { libm::sqrt(mean) } else { mean / 10.0 };
        let growth = wear_growth(&rows(|mean| 3.0 * bend(mean)), 100, 2).unwrap();
        assert!((0.65..0.95).contains(&growth.exponent), "{growth:?}");
        assert!((growth.error - 0.5).abs() < 0.02, "{growth:?}");
    }

    #[test]
    fn short_runs_tell_nothing() {
        let all = rows(|mean| mean);
        assert_eq!(wear_growth(&[], 100, 2), None);
        assert_eq!(wear_growth(&all[..7], 100, 2), None);
        // Many erases in few rows.
        let few: Vec<Row> = all.into_iter().step_by(25).collect();
        assert_eq!(wear_growth(&few, 100, 2), None);
    }
}
