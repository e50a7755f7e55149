//! The number of valid pages of a closed block in the steady state, from which `precondition = "steady"` draws.

use crate::choices::checked_choices;
use crate::error::Result;
use crate::policy::Policy;
use crate::spare::{Spare, checked_pages};
use crate::{choices, fifo, greedy, random};

/// Stationary law of the number of valid pages of a closed block under a victim policy and uniform writes.
///
/// The probabilities of `0..=b` valid pages sum to 1 and have the mean `b / alpha`. The modules of the policies hold
/// the derivations: [`fifo`], [`random`], [`greedy`], [`choices`].
#[derive(Debug, Clone, PartialEq)]
pub struct ValidityLaw {
    shares: Vec<f64>,
    cumulated: Vec<f64>,
}

impl ValidityLaw {
    /// Builds the law for `alpha` closed pages per live page and `pages_per_block` pages per block.
    ///
    /// # Errors
    /// `alpha` not finite or not above 1; `pages_per_block` 0 or above [`crate::PAGES_PER_BLOCK_MAX`];
    /// 0 choices.
    pub fn new(policy: Policy, alpha: f64, pages_per_block: u32) -> Result<Self> {
        let spare = Spare::from_alpha(alpha)?;
        let b = checked_pages(pages_per_block)?;
        let mut shares = match policy {
            Policy::Fifo => fifo::validity(spare, b),
            Policy::Random => random::validity(spare, b),
            Policy::Greedy => greedy::validity(spare, b),
            Policy::DChoices(d) => choices::validity(spare, b, checked_choices(d)?),
        };
        // They sum to 1 by construction; this removes rounding errors.
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        let cumulated = shares
            .iter()
            .scan(0.0, |below, share| {
                *below += share;
                Some(*below)
            })
            .collect();
        Ok(Self { shares, cumulated })
    }

    /// Returns the probabilities of 0, 1, ... `b` valid pages.
    #[must_use]
    pub fn probabilities(&self) -> &[f64] {
        &self.shares
    }

    /// Returns the mean number of valid pages.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.shares.iter().enumerate().map(|(valid, share)| valid as f64 * share).sum()
    }

    /// Returns the number of valid pages that a share `rank` (0 to 1) of the blocks does not reach.
    ///
    /// A uniform `rank` draws from the law; `(n + 0.5) / N` for n in 0..N spreads N blocks over it evenly, in ascending
    /// order.
    #[must_use]
    pub fn quantile(&self, rank: f64) -> u32 {
        let count = self.cumulated.partition_point(|&below| below <= rank);
        // Rounding may leave the last sum below 1; a count of probability 0 must not be drawn.
        let last = self.shares.iter().rposition(|&share| share > 0.0).unwrap_or(0);
        count.min(last) as u32
    }
}
