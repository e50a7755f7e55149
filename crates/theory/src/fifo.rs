//! FIFO: the drive as one log whose tail is collected in the order of writing.
//!
//! Source: the log-structured (LRU) cleaning of Desnoyers, "Analytic modeling of SSD write performance",
//! SYSTOR 2012, for uniform writes and for groups of pages of unlike heat.
//!
//! In one turn of the log the host writes `H` pages. A page overwritten at rate `p` per host write is appended
//! `n = p H + n e^(-p H)` times per turn: its host writes, and a copy if a whole turn brought none. So
//! `n = p H / (1 - e^(-p H))`, and the log of `T` pages fills by `sum n = T`; `WA = T / H`. With the length of a turn
//! in page lifetimes, `c = H / U`, uniform writes give `c / (1 - e^-c) = alpha`. Hence
//! `c = alpha + W0(-alpha e^-alpha)` and `WA = alpha / c`.

use crate::error::{Error, Result, checked};
use crate::spare::Spare;

/// Returns the write amplification of FIFO collection under uniform writes: `alpha / (alpha + W0(-alpha e^-alpha))`, in
/// programs per host write.
///
/// # Errors
/// `spare_factor` not finite or not between 0 and 1.
pub fn wa_fifo(spare_factor: f64) -> Result<f64> {
    let spare = Spare::from_share(spare_factor)?;
    Ok(spare.alpha / turn(&UNIFORM, spare.over))
}

/// Returns the write amplification of FIFO collection where groups of pages differ in write rate and share one log.
///
/// A group is `(share_of_pages, share_of_writes)`; both shares sum to 1 over the groups (within 1e-9).
/// Pages within a group are written uniformly; a group may take no writes at all (cold data).
///
/// # Errors
/// `spare_factor` as in [`wa_fifo`]; no group; a share not finite or not in 0..=1; shares that
/// do not sum to 1; writes to a group without pages.
pub fn wa_fifo_skewed(groups: &[(f64, f64)], spare_factor: f64) -> Result<f64> {
    let spare = Spare::from_share(spare_factor)?;
    let scaled = checked_groups(groups)?;
    Ok(spare.alpha / turn(&scaled, spare.over))
}

/// Returns the groups with shares that sum to 1, or an error.
pub(crate) fn checked_groups(groups: &[(f64, f64)]) -> Result<Vec<(f64, f64)>> {
    if groups.is_empty() {
        return Err(Error::NoGroups);
    }
    for (group, &(pages, writes)) in groups.iter().enumerate() {
        checked("share_of_pages", pages, (0.0..=1.0).contains(&pages), "0 to 1")?;
        checked("share_of_writes", writes, (0.0..=1.0).contains(&writes), "0 to 1")?;
        if pages == 0.0 && writes > 0.0 {
            return Err(Error::WritesWithoutPages { group });
        }
    }
    let (pages, writes) = groups.iter().fold((0.0, 0.0), |sum, group| (sum.0 + group.0, sum.1 + group.1));
    checked("sum of share_of_pages", pages, (pages - 1.0).abs() <= 1e-9, "1 (within 1e-9)")?;
    checked("sum of share_of_writes", writes, (writes - 1.0).abs() <= 1e-9, "1 (within 1e-9)")?;
    Ok(groups.iter().map(|group| (group.0 / pages, group.1 / writes)).collect())
}

/// The steady state of a FIFO log under uniform writes: the share of live pages at each position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FifoLog {
    decay: f64,
}

impl FifoLog {
    /// Builds the log of a drive of `alpha` closed pages per live page.
    ///
    /// # Errors
    /// `alpha` not finite or not above 1.
    pub fn new(alpha: f64) -> Result<Self> {
        Ok(Self::of(Spare::from_alpha(alpha)?))
    }

    pub(crate) fn of(spare: Spare) -> Self {
        Self { decay: turn(&UNIFORM, spare.over) }
    }

    /// Returns `c`, the length of one turn of the log in page lifetimes: `(1 - e^-c) / c = 1 / alpha`.
    #[must_use]
    pub fn decay(&self) -> f64 {
        self.decay
    }

    /// Returns the probability `e^(-c x)` that a page at `position` x of the closed log still lives: 0 = just closed, 1
    /// = the next victim. Its mean over positions is `1 / alpha`.
    #[must_use]
    pub fn live_share(&self, position: f64) -> f64 {
        libm::exp(-self.decay * position)
    }
}

/// One group of all pages.
const UNIFORM: [(f64, f64); 1] = [(1.0, 1.0)];

/// Computes `copied(x) = x / (1 - e^-x) - 1`: the appends of a page in a turn of `x` of its lifetimes, less 1. Zero at
/// 0, convex, between `x / 2` and `x`; computed as `(x - 1 + e^-x) / (1 - e^-x)`.
pub(crate) fn copied(x: f64) -> f64 {
    if x < 0.5 {
        // x (1/2 - x/6 + x^2/24 - ...) over 1 - x/2 + x^2/6 - ..., the numerator by Horner from 1/18!.
        let sum = (2..=18).rev().fold(0.0, |sum, n| (1.0 - x * sum) / f64::from(n));
        if x == 0.0 { 0.0 } else { x * x * sum / -libm::expm1(-x) }
    } else {
        x / -libm::expm1(-x) - 1.0
    }
}

/// Returns the length `h = H / U` of one turn, from `sum f copied(w h / f) = alpha - 1` over groups of `f` of the pages
/// and `w` of the writes.
///
/// The sum is convex and increasing and lies between `h / 2` and `h`, so the root lies between
/// `alpha - 1` and `2 (alpha - 1)` and Newton's iteration falls towards it from the right.
fn turn(groups: &[(f64, f64)], over: f64) -> f64 {
    let mut h = 2.0 * over;
    for _ in 0..200 {
        let (mut value, mut slope) = (0.0, 0.0);
        for &(pages, writes) in groups.iter().filter(|group| group.1 > 0.0) {
            let x = writes * h / pages;
            let more = copied(x);
            value += pages * more;
            // d copied / dx = (1 + copied) (x - copied) / x, one half at 0.
            slope += writes * if x > 0.0 { (1.0 + more) * ((x - more) / x) } else { 0.5 };
        }
        let next = (h - (value - over) / slope).max(over);
        // From the right the steps shrink h; once rounding ends that, h is the root.
        if next >= h {
            break;
        }
        h = next;
    }
    h
}

/// Returns the law of the valid pages of a closed block: the mean over log positions `x` in 0..1 of
/// `Binomial(b, e^(-c x))`.
///
/// With `u = e^(-c x)` the integral of `C(b, j) u^(j-1) (1-u)^(b-j)` from `e^-c` to 1 is an incomplete beta
/// function, so `p_j = P(Binomial(b, e^-c) < j) / (c j)` for `j >= 1`; `p_0` is the rest.
pub(crate) fn validity(spare: Spare, pages_per_block: u32) -> Vec<f64> {
    let log = FifoLog::of(spare);
    let c = log.decay();
    let victim = binomial(pages_per_block, libm::exp(-c), -libm::expm1(-c));
    let mut law = vec![0.0; victim.len()];
    let (mut below, mut rest) = (0.0, 1.0);
    for (j, share) in law.iter_mut().enumerate().skip(1) {
        below += victim[j - 1];
        *share = f64::min(below, 1.0) / (c * j as f64);
        rest -= *share;
    }
    law[0] = f64::max(rest, 0.0);
    law
}

/// Returns `Binomial(n, live)` as probabilities of 0..=n, `dead = 1 - live`, from the mode outwards by ratios.
fn binomial(n: u32, live: f64, dead: f64) -> Vec<f64> {
    let n_pages = f64::from(n);
    let mut law = vec![0.0; n as usize + 1];
    let mode = (((n_pages + 1.0) * live) as usize).min(n as usize);
    law[mode] = 1.0;
    for j in mode..n as usize {
        law[j + 1] = law[j] * ((n_pages - j as f64) * live) / ((j as f64 + 1.0) * dead);
    }
    for j in (0..mode).rev() {
        law[j] = law[j + 1] * ((j as f64 + 1.0) * dead) / ((n_pages - j as f64) * live);
    }
    let sum: f64 = law.iter().sum();
    law.iter_mut().for_each(|share| *share /= sum);
    law
}
