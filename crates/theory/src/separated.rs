//! Groups of pages with different write rates, each in its own log, with the best split of the spare space. This is the
//! limit of separation that knows the groups, with FIFO inside each.
//!
//! A group of `f` of the pages that takes `w` of the writes has a log of `alpha f U` pages, whose turn takes `x` of its
//! pages' lifetimes: `alpha = x / (1 - e^-x)`, `WA = 1 / (1 - e^-x)` (see [`crate::fifo`]). For a fixed `sum f alpha`,
//! `sum w WA` is least where one more page gains each group the same: `d WA / d alpha` over groups is as `-f / w`. The
//! derivatives of both by `x` give `e^x - 1 - x = m w / f` with one `m` for all. Desnoyers, "Analytic models of SSD
//! write performance", ACM TOS 2014, shows that each group needs its own share of the spare space; the condition for
//! FIFO is derived here.

use crate::error::Result;
use crate::fifo::{checked_groups, copied};
use crate::spare::Spare;

/// Result for groups of pages with separate logs.
#[derive(Debug, Clone, PartialEq)]
pub struct Separated {
    /// Write amplification, programs per host write.
    pub wa: f64,
    /// Spare factor of each group's log, `(T - U) / T`; 0 for a group that takes no writes.
    pub spare_factors: Vec<f64>,
}

/// Returns the write amplification of FIFO collection where groups of pages differ in write rate and each has its own
/// log, with the split of the spare space that minimizes it.
///
/// A group is `(share_of_pages, share_of_writes)`, as in [`crate::wa_fifo_skewed`].
///
/// # Errors
/// As [`crate::wa_fifo_skewed`].
pub fn wa_fifo_separated(groups: &[(f64, f64)], spare_factor: f64) -> Result<Separated> {
    let spare = Spare::from_share(spare_factor)?;
    let groups = checked_groups(groups)?;
    let written = || groups.iter().filter(|group| group.1 > 0.0);
    let heats = || written().map(|&(pages, writes)| libm::log(writes / pages));
    let widest = heats().fold(0.0, |most: f64, heat| most.max(heat.abs()));
    let narrow = written().map(|group| group.0).fold(1.0, f64::min);
    // The root is where the logs together have the available spare space. It grows with `ln m`.
    let over = |log_m: f64| -> f64 {
        written().map(|&(pages, writes)| pages * copied(turn(log_m + libm::log(writes / pages)))).sum()
    };
    let (mut low, mut high) = (-100.0 - widest, 2.0 * spare.over / narrow + 100.0 + widest);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if over(middle) < spare.over { low = middle } else { high = middle }
    }
    let (mut wa, mut spare_factors) = (0.0, Vec::with_capacity(groups.len()));
    for &(pages, writes) in &groups {
        if writes > 0.0 {
            let x = turn(high + libm::log(writes / pages));
            wa += writes / -libm::expm1(-x);
            spare_factors.push(copied(x) / (1.0 + copied(x)));
        } else {
            spare_factors.push(0.0);
        }
    }
    Ok(Separated { wa, spare_factors })
}

/// Returns the `x` for which `ln (e^x - 1 - x)` equals `value`.
fn turn(value: f64) -> f64 {
    if value > 50.0 {
        // `(1 + x) e^-x` is below rounding.
        return value;
    }
    let y = libm::exp(value);
    // Both lie above the root; the function is convex, so Newton's iteration falls towards it.
    let mut x = libm::sqrt(2.0 * y).min(libm::log1p(y) + 1.5);
    for _ in 0..100 {
        let next = x - (beyond_line(x) - y) / libm::expm1(x);
        if next.is_nan() || next >= x {
            break;
        }
        x = next;
    }
    x
}

/// Computes `e^x - 1 - x` without cancellation.
fn beyond_line(x: f64) -> f64 {
    if x > 0.5 {
        return libm::expm1(x) - x;
    }
    // x^2/2! + x^3/3! + ..., by Horner from x^18/18!.
    let rest = (3..=18).rev().fold(0.0, |sum, n| (1.0 + sum) * x / f64::from(n));
    x * x / 2.0 * (1.0 + rest)
}
