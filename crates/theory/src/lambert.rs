//! The principal branch of the Lambert W function: `W0(z) e^W0(z) = z`.

use crate::error::{Result, checked};
use std::f64::consts::E;

/// Remainder of e beyond its nearest double.
const E_REST: f64 = 1.445_646_891_729_250_1e-16;
/// The nearest double to `-1/e`, where the branch ends; it lies above `-1/e`.
const BRANCH_POINT: f64 = -0.367_879_441_171_442_3;
/// Coefficients of `W0 = -1 + p - p^2/3 + 11 p^3/72 - ...` in `p = sqrt(2 (1 + e z))`
/// (Corless et al., "On the Lambert W function", 1996, eq. 4.22), from `p^1` on.
const BRANCH_SERIES: [f64; 9] = [
    1.0,
    -1.0 / 3.0,
    11.0 / 72.0,
    -43.0 / 540.0,
    769.0 / 17280.0,
    -221.0 / 8505.0,
    680_863.0 / 43_545_600.0,
    -1963.0 / 204_120.0,
    226_287_557.0 / 37_623_398_400.0,
];

/// Computes `W0(z)`, by the series about the branch point near `-1/e` and by Halley's iteration elsewhere.
///
/// The error is a few units in the last place of `max(|W0|, 1)`. Near `-1/e` the function itself is a square root: a
/// rounded `z` shifts it by up to `sqrt(eps)` under any method. For little spare the closed forms here do not use
/// `alpha + W0(-alpha e^-alpha)`; they solve for that sum directly ([`crate::FifoLog`]).
///
/// # Errors
/// `z` not finite or below `-1/e`.
pub fn lambert_w0(z: f64) -> Result<f64> {
    let z = checked("z", z, z >= BRANCH_POINT, "at least -1/e")?;
    // 1 + e z without cancellation.
    let above = E.mul_add(z, 1.0) + E_REST * z;
    let p = (2.0 * above.max(0.0)).sqrt();
    let series = |terms: usize| {
        BRANCH_SERIES[..terms].iter().rev().fold(0.0, |sum, coefficient| p * (coefficient + sum)) - 1.0
    };
    if p < 0.03 {
        return Ok(series(BRANCH_SERIES.len()));
    }
    let mut w = if z < 0.5 {
        if p < 1.2 { series(5) } else { z / (1.0 + z) }
    } else if z < 3.0 {
        libm::log1p(z) * 0.75
    } else {
        let log = libm::log(z);
        log - libm::log(log)
    };
    for _ in 0..30 {
        let exp = libm::exp(w);
        let residual = w * exp - z;
        let slope = exp * (w + 1.0);
        let step = residual / (slope - (w + 2.0) * residual / (2.0 * w + 2.0));
        w -= step;
        if step.abs() <= 1e-15 * w.abs() {
            break;
        }
    }
    Ok(w)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverts_w_exp_w() {
        for step in 0..4000 {
            let w = -0.99 + f64::from(step) * 0.01;
            let z = w * libm::exp(w);
            let got = lambert_w0(z).unwrap();
            // Conditioning: z is known to eps, W' = 1 / (e^w (1 + w)).
            let tolerance = 1e-15 * w.abs().max(1.0) + 3e-16 * w.abs() / (1.0 + w);
            assert!((got - w).abs() <= tolerance, "w {w} got {got}");
        }
    }

    #[test]
    fn meets_known_values() {
        // The omega constant, W(e) = 1, W(0) = 0, and the end of the branch.
        assert!((lambert_w0(1.0).unwrap() - 0.567_143_290_409_784).abs() < 1e-15);
        assert!((lambert_w0(E).unwrap() - 1.0).abs() < 1e-15);
        assert_eq!(lambert_w0(0.0).unwrap(), 0.0);
        assert!((lambert_w0(BRANCH_POINT).unwrap() + 1.0).abs() < 2e-8);
        assert!((lambert_w0(-1e-300).unwrap() + 1e-300).abs() < 1e-314);
        assert!(lambert_w0(f64::MAX).unwrap() > 700.0);
        // Sixty digits of mpmath, truncated.
        for (z, w) in [
            (-0.367_879_441, -0.999_969_470_698_208_6),
            (-0.3678, -0.979_360_714_957_830_5),
            (-0.36, -0.806_084_315_970_817_6),
            (-0.2, -0.259_171_101_819_073_75),
            (0.3, 0.236_755_310_788_559_3),
            (5.0, 1.326_724_665_242_200_2),
            (1e10, 20.028_685_413_304_952),
        ] {
            assert!((lambert_w0(z).unwrap() / w - 1.0).abs() < 1e-14, "{z}");
        }
    }

    #[test]
    fn series_and_iteration_meet() {
        // Just under and over the switch at p = 0.03 the value follows -1 + p - p^2/3 + ...
        for p in [0.029_999_9, 0.030_000_1] {
            let z = (p * p / 2.0 - 1.0) / E;
            let w = lambert_w0(z).unwrap();
            let residual = w * libm::exp(w) - z;
            assert!(residual.abs() < 2e-16, "p {p}: {residual}");
        }
    }

    #[test]
    fn refuses_what_lies_outside() {
        for z in [-0.5, -0.367_879_441_171_443, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(lambert_w0(z).is_err(), "{z}");
        }
    }
}
