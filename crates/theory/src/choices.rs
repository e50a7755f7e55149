//! d-choices: the victim is the one with the fewest valid pages among `d` closed blocks drawn at random.
//!
//! Source: the mean field of Van Houdt ("A mean field model for a class of garbage collection algorithms
//! in flash-based solid state drives", 2013). `S_i` is the share of closed blocks with at least `i` valid
//! pages. Victims leave, and full blocks close, at rate `f` per block; a victim has at least `i` valid
//! pages with probability `S_i^d`; a block of `i` valid pages steps down at rate `i`. The blocks with at
//! least `i` valid pages are in balance if
//!
//! `f - f S_i^d - i (S_i - S_(i+1)) = 0`, that is with `lambda = 1 / f`:
//! `lambda i (S_i - S_(i+1)) = 1 - S_i^d`, `S_(b+1) = 0`.
//!
//! `sum S_i = b / alpha` fixes lambda. Host writes come at the rate of dying, `b / alpha` per block, programs at `b f`:
//! `WA = alpha / lambda`. Summed over `i` the balance gives the same from the victims, `WA = b / sum (1 - S_i^d)`. From
//! `1 - S_i <= 1 - S_i^d <= 1` follows `S <= 1 / WA <= 1`, so `lambda` lies between `alpha - 1` and `alpha`.
//!
//! All is computed in `y_i = 1 - S_i`, `sum y_i = b S`: every term is positive and none cancels, even for the smallest
//! spare factor.

use crate::error::{Result, checked};
use crate::spare::{Spare, checked_pages};

/// Returns the write amplification of d-choices collection under uniform writes, in programs per host write.
///
/// `choices` = 1 is random collection, many choices tend to greedy.
///
/// # Errors
/// `spare_factor` not finite or not between 0 and 1; `pages_per_block` 0 or above
/// [`crate::PAGES_PER_BLOCK_MAX`]; `choices` 0.
pub fn wa_d_choices(spare_factor: f64, pages_per_block: u32, choices: u32) -> Result<f64> {
    let spare = Spare::from_share(spare_factor)?;
    let b = checked_pages(pages_per_block)?;
    let d = checked_choices(choices)?;
    let lambda = find_lambda(spare, b, d);
    let mut freed = 0.0;
    descend(lambda, b, d, |_, _, below_min| freed += below_min);
    Ok((f64::from(b) / freed).max(1.0))
}

pub(crate) fn checked_choices(choices: u32) -> Result<u32> {
    checked("choices", f64::from(choices), choices > 0, "at least 1")?;
    Ok(choices)
}

/// Returns the law of the valid pages of a closed block: `p_i = S_i - S_(i+1) = (1 - S_i^d) / (lambda i)`,
/// `p_0 = 1 - S_1`.
pub(crate) fn validity(spare: Spare, pages_per_block: u32, choices: u32) -> Vec<f64> {
    let lambda = find_lambda(spare, pages_per_block, choices);
    let mut law = vec![0.0; pages_per_block as usize + 1];
    descend(lambda, pages_per_block, choices, |i, y, below_min| {
        law[i as usize] = below_min / (lambda * f64::from(i));
        // The last one visited, i = 1, stays: y_1 = p_0.
        law[0] = y;
    });
    law
}

/// Finds the `lambda` at which `sum y_i = b S`; the sum grows with lambda. Regula falsi (Illinois), with a bisection
/// step wherever that narrows the interval too slowly.
fn find_lambda(spare: Spare, b: u32, d: u32) -> f64 {
    let target = f64::from(b) * spare.share;
    let excess = |lambda: f64| {
        let mut sum = 0.0;
        descend(lambda, b, d, |_, y, _| sum += y);
        sum - target
    };
    let (mut low, mut high) = (spare.over, spare.alpha);
    let (mut at_low, mut at_high) = (excess(low), excess(high));
    if at_low >= 0.0 {
        return low;
    }
    if at_high <= 0.0 {
        return high;
    }
    let mut last = 0;
    for round in 1..=200 {
        let width = high - low;
        if width <= 2.0 * f64::EPSILON * high {
            break;
        }
        let halved = if high > 4.0 * low { (low * high).sqrt() } else { low + 0.5 * width };
        let secant = low - at_low * (width / (at_high - at_low));
        let middle = if round % 4 == 0 || secant <= low || secant >= high { halved } else { secant };
        let value = excess(middle);
        if value == 0.0 {
            return middle;
        } else if value < 0.0 {
            (low, at_low) = (middle, value);
            at_high *= if last == -1 { 0.5 } else { 1.0 };
            last = -1;
        } else {
            (high, at_high) = (middle, value);
            at_low *= if last == 1 { 0.5 } else { 1.0 };
            last = 1;
        }
    }
    low + 0.5 * (high - low)
}

/// Solves the balance from `i = b` down and passes `i, y_i, 1 - (1 - y_i)^d` to `visit`.
///
/// `1 - (1 - y)^d = lambda i (y_(i+1) - y)` has one root in `0..y_(i+1)`; the difference of the sides is
/// increasing and concave in `y`, so Newton's iteration rises to the root from the left.
fn descend(lambda: f64, b: u32, d: u32, mut visit: impl FnMut(u32, f64, f64)) {
    let mut above = 1.0;
    for i in (1..=b).rev() {
        let pull = lambda * f64::from(i);
        let mut y = f64::max(0.0, above - 1.0 / pull);
        let below_min = loop {
            let but_one = any_of(y, d - 1);
            let below_min = but_one + y * (1.0 - but_one);
            let gap = pull * (above - y) - below_min;
            let next = y + gap / (f64::from(d) * (1.0 - but_one) + pull);
            // Rising steps end at the limit of rounding.
            if next - y <= 2.0 * f64::EPSILON * y {
                break below_min;
            }
            y = next;
        };
        visit(i, y, below_min);
        above = y;
    }
}

/// Computes `1 - (1 - y)^n`, the chance of at least one hit in `n` tries, by squaring and without cancellation.
fn any_of(y: f64, n: u32) -> f64 {
    let (mut result, mut square, mut left) = (0.0, y, n);
    while left > 0 {
        if left & 1 == 1 {
            result += square * (1.0 - result);
        }
        square *= 2.0 - square;
        left >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_of_meets_the_library() {
        for n in [0_u32, 1, 2, 3, 7, 64, 1000, 1_000_000] {
            for y in [1e-15, 1e-6, 0.01, 0.3, 0.9, 1.0 - 1e-9] {
                let expected = -libm::expm1(f64::from(n) * libm::log1p(-y));
                assert!((any_of(y, n) - expected).abs() <= 1e-14 * expected, "{n} {y}");
            }
        }
    }

    #[test]
    fn both_forms_of_amplification_agree() {
        for d in [1, 2, 4, 30, 1024] {
            for share in [0.001, 0.07, 0.28, 0.6, 0.95] {
                for b in [1, 2, 64, 256, 4096] {
                    let spare = Spare::from_share(share).unwrap();
                    let by_flow = spare.alpha / find_lambda(spare, b, d);
                    let by_victim = wa_d_choices(share, b, d).unwrap();
                    assert!(
                        (by_flow / by_victim - 1.0).abs() < 1e-11,
                        "{d} {share} {b}: {by_flow} {by_victim}"
                    );
                }
            }
        }
    }
}
