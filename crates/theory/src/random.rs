//! Random: every closed block is the next victim with equal probability.
//!
//! A victim has the mean share `1 / alpha` of its pages alive, so `WA = 1 / (1 - 1 / alpha) = 1 / S`.

use crate::error::Result;
use crate::spare::Spare;

/// Returns the write amplification of random collection under uniform writes: `1 / S`, in programs per host write.
///
/// # Errors
/// `spare_factor` not finite or not between 0 and 1.
pub fn wa_random(spare_factor: f64) -> Result<f64> {
    Ok(1.0 / Spare::from_share(spare_factor)?.share)
}

/// Returns the rate `r = 1 / (alpha - 1)` at which a closed block is collected, per page lifetime.
///
/// The age of a closed block is exponential with this rate, and a page of a block of age `t` lives with
/// probability `e^-t`; the mean of that is `r / (1 + r) = 1 / alpha`.
///
/// # Errors
/// `alpha` (closed pages per live page) not finite or not above 1.
pub fn random_turnover(alpha: f64) -> Result<f64> {
    Ok(1.0 / Spare::from_alpha(alpha)?.over)
}

/// Returns the law of the valid pages of a closed block: `Binomial(b, e^-t)` mixed over exponential ages.
///
/// With `u = e^-t` this is beta-binomial, `p_i = r C(b, i) B(r + i, b - i + 1)`; consecutive terms give
/// `p_b = r / (r + b)` and `p_i = p_(i+1) (i + 1) / (r + i)`.
pub(crate) fn validity(spare: Spare, pages_per_block: u32) -> Vec<f64> {
    let rate = 1.0 / spare.over;
    let b = pages_per_block as usize;
    let mut law = vec![0.0; b + 1];
    law[b] = rate / (rate + b as f64);
    for i in (0..b).rev() {
        law[i] = law[i + 1] * ((i as f64 + 1.0) / (rate + i as f64));
    }
    law
}
