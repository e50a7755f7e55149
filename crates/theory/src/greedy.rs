//! Greedy: the victim is a closed block with the fewest valid pages.
//!
//! Source: the mean field of Desnoyers (2012) and of Van Houdt ("A mean field model for a class of
//! garbage collection algorithms in flash-based solid state drives", 2013). Blocks close full (`b` valid
//! pages) at rate `f`, and a block of `i` valid pages steps down at rate `i`. Above some level `k` the whole flow
//! passes every level: `i n_i = f`. Of the blocks that reach `k` a share `1 - q` is collected at once; `k n_k = q f` go
//! on to `k - 1` and are collected there. Blocks sum to 1, live pages to `b / alpha`:
//!
//! `f (H_b - H_k + q / k) = 1`, `f (b - k + q) = b / alpha`, so
//! `alpha (b - k + q) / b = H_b - H_k + q / k`.
//!
//! A victim keeps `k - q` valid pages, `WA = b / (b - k + q)`. From `alpha >= H_b` on, blocks die
//! completely before they are needed: `WA = 1`, and dead blocks wait at level 0.

use crate::error::Result;
use crate::spare::{Spare, checked_pages};

/// Returns the write amplification of greedy collection under uniform writes, in programs per host write.
///
/// At most `pages_per_block`: a victim has at least one dead page.
///
/// # Errors
/// `spare_factor` not finite or not between 0 and 1; `pages_per_block` 0 or above
/// [`crate::PAGES_PER_BLOCK_MAX`].
pub fn wa_greedy(spare_factor: f64, pages_per_block: u32) -> Result<f64> {
    let spare = Spare::from_share(spare_factor)?;
    let b = checked_pages(pages_per_block)?;
    Ok(Level::find(spare, b).wa(b))
}

/// The level of victims: `k` valid pages, or `k - 1` for a share `q` of them. At `k = 0` all pages are dead.
#[derive(Debug, Clone, Copy)]
struct Level {
    k: u32,
    q: f64,
}

impl Level {
    /// Descends from the full block, adding `b` times the equation's terms, `alpha - b / i`, until the
    /// sum turns negative.
    fn find(spare: Spare, b: u32) -> Self {
        let mut sum = 0.0;
        for k in (1..=b).rev() {
            let term = spare.over - f64::from(b - k) / f64::from(k);
            if sum + term < 0.0 {
                return Self { k, q: sum / -term };
            }
            sum += term;
        }
        Self { k: 0, q: 0.0 }
    }

    fn wa(self, b: u32) -> f64 {
        f64::from(b) / (f64::from(b - self.k) + self.q)
    }
}

/// Returns the law of the valid pages of a closed block: `f / i` above level `k`, `q f / k` at it, `f = WA / alpha`;
/// dead blocks take the rest if `k` is 0.
pub(crate) fn validity(spare: Spare, pages_per_block: u32) -> Vec<f64> {
    let level = Level::find(spare, pages_per_block);
    let flow = level.wa(pages_per_block) / spare.alpha;
    let mut law = vec![0.0; pages_per_block as usize + 1];
    for i in level.k.max(1)..=pages_per_block {
        law[i as usize] = flow / f64::from(i);
    }
    if level.k > 0 {
        law[level.k as usize] *= level.q;
    } else {
        law[0] = f64::max(1.0 - law.iter().sum::<f64>(), 0.0);
    }
    law
}
