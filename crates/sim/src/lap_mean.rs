//! Write amplification over laps: its mean once it has settled, and the error of the mean.
//!
//! The first quarter is left out, and always the first lap, which may have filled the drive. The error is the larger of
//! two. One is the half width of the mean's confidence interval, from blocks of one and of more laps; this prevents
//! alternating laps from looking alike by chance. The other is the distance of the mean from the limit that the laps
//! approach (`trend.rs`).

use crate::trend::limit;

/// Minimum of laps for an estimate.
pub(crate) const LAPS_MIN: usize = 5;
/// Minimum of long laps, of which few should run. The interval of a mean of two is wide: both must agree to a
/// two-thousandth.
pub(crate) const LONG_LAPS_MIN: usize = 3;
/// Factor by which intervals are wider than those of a fixed number of laps: stopping at the first small error
/// sometimes stops too early. With it 19 of 20 hold (tests below).
const STOPPED_EARLY: f64 = 1.5;
/// Quantiles of Student's t for 95 %, by degrees of freedom from 1 on; beyond, those of the normal distribution.
const T_95: [f64; 12] = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18];

/// The settled mean of laps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LapMean {
    /// The mean of the last laps.
    pub mean: f64,
    /// Its relative error.
    pub error: f64,
    /// Number of laps in the mean.
    pub taken: usize,
}

/// Averages laps with equal numbers of programs, at least one. The error is infinite for fewer than `least` laps.
pub(crate) fn settled(laps: &[f64], least: usize) -> LapMean {
    let n = laps.len();
    // A whole lap has reclaimed only blocks without a valid page, and the same passes follow.
    if least == LONG_LAPS_MIN && laps.ends_with(&[1.0; 2]) {
        return LapMean { mean: 1.0, error: 0.0, taken: 1 };
    }
    if n < least {
        return LapMean { mean: laps[n - 1], error: f64::INFINITY, taken: 1 };
    }
    let start = (n / 4).max(1);
    let kept = &laps[start..];
    let average = mean(kept);
    let spread = (1..=kept.len() / 2).map(|len| half_width(kept, (len, least - 1))).fold(0.0, f64::max);
    let drift = (limit(thirds(kept)) - average).abs();
    LapMean { mean: average, error: spread.max(drift) / average, taken: kept.len() }
}

fn mean(laps: &[f64]) -> f64 {
    laps.iter().sum::<f64>() / laps.len() as f64
}

/// Returns the variance of the mean, assuming independent laps.
fn variance_of_mean(laps: &[f64]) -> f64 {
    let (n, mean) = (laps.len() as f64, mean(laps));
    laps.iter().map(|lap| (lap - mean).powi(2)).sum::<f64>() / ((n - 1.0) * n)
}

/// Returns half the width of the mean's confidence interval, from blocks of `len` laps, the last of them whole; 0
/// for fewer than `least` blocks.
fn half_width(laps: &[f64], (len, least): (usize, usize)) -> f64 {
    let blocks: Vec<f64> = laps.rchunks_exact(len).map(mean).collect();
    if blocks.len() < least {
        return 0.0;
    }
    let t = T_95.get(blocks.len() - 2).copied().unwrap_or(1.96);
    STOPPED_EARLY * t * libm::sqrt(variance_of_mean(&blocks))
}

/// Returns the means of the first, second and last third, which share laps if the number is not divisible by three.
fn thirds(laps: &[f64]) -> [f64; 3] {
    let n = laps.len();
    let len = n.div_ceil(3);
    [mean(&laps[..len]), mean(&laps[(n - len) / 2..(n - len) / 2 + len]), mean(&laps[n - len..])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

    #[test]
    fn laps_that_are_alike_are_averaged() {
        let mean = settled(&[1.2, 1.9, 1.904, 1.902, 1.9, 1.903], LAPS_MIN);
        assert_eq!(mean.taken, 5);
        assert!((mean.mean - 1.9018).abs() < 1e-12 && mean.error < 0.003, "{mean:?}");
        assert_eq!(settled(&[1.9; 4], LAPS_MIN).error, f64::INFINITY);
        assert_eq!(settled(&[1.9; 5], LAPS_MIN), LapMean { mean: 1.9, error: 0.0, taken: 4 });
        assert_eq!(settled(&[1.9; 2], LONG_LAPS_MIN).error, f64::INFINITY);
        assert_eq!(settled(&[1.8, 1.9, 1.9], LONG_LAPS_MIN), LapMean { mean: 1.9, error: 0.0, taken: 2 });
        // 1.5 * 12.7 / 2 * 0.001 / 1.9.
        let mean = settled(&[1.8, 1.9, 1.901], LONG_LAPS_MIN);
        assert!((mean.error / 0.005015 - 1.0).abs() < 1e-3, "{mean:?}");
    }

    /// Two laps that are equal by chance end nothing: the others show the scatter of laps.
    #[test]
    fn laps_that_come_in_turns_have_the_spread_of_all() {
        let turns = [2.0, 2.1, 2.1, 2.0, 2.2, 2.1, 2.1, 2.0];
        let mean = settled(&turns, LAPS_MIN);
        assert!(mean.error > 0.02, "{mean:?}");
    }

    /// A rise of a thousandth per lap is not a stationary state, although laps differ little.
    #[test]
    fn what_rises_slowly_is_off_by_where_it_goes() {
        let rising: Vec<f64> = (0..12).map(|i| 1.1 + 0.001 * f64::from(i)).collect();
        let mean = settled(&rising, LAPS_MIN);
        assert!(mean.error > 0.015, "{mean:?}");
    }

    /// The value around which laps scatter lies within the error of their mean in 19 of 20 cases, although the laps end
    /// at the first small error.
    #[test]
    fn the_error_holds_in_19_of_20_cases() {
        for (least, deviation) in [(LAPS_MIN, 0.01), (LONG_LAPS_MIN, 0.01), (LONG_LAPS_MIN, 0.001)] {
            let (mut within, cases) = (0, 4000);
            for seed in 0..cases {
                let mut rng = Rng::new(seed, "laps");
                // The sum of twelve uniform draws is nearly normal.
                let mut draw = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
                let laps: Vec<f64> = (0..12).map(|_| 2.0 + deviation * draw()).collect();
                let stopped =
                    (least..=12).map(|n| settled(&laps[..n], least)).find(|mean| mean.error <= 0.005);
                let mean = stopped.unwrap_or_else(|| settled(&laps, least));
                within += u32::from((mean.mean / 2.0 - 1.0).abs() <= mean.error);
            }
            assert!(f64::from(within) / cases as f64 > 0.95, "{within} of {cases} with {least} laps");
        }
    }
}
