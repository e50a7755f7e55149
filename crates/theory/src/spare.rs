//! The drive's one parameter: spare factor `S = (T - U) / T` or ratio `alpha = T / U = 1 / (1 - S)`.

use crate::error::{Result, checked};

/// Smallest distance of a spare factor from 0 and 1; one page of the largest drive is 4.7e-10 of it.
pub const SPARE_MARGIN: f64 = 1e-12;
/// Maximum of pages per block (or superblock) in the closed forms.
pub const PAGES_PER_BLOCK_MAX: u32 = 1 << 20;

/// A checked spare factor and derived values, each free of cancellation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spare {
    /// `S`, the share of the physical pages that hold no live page.
    pub share: f64,
    /// `alpha`, physical pages per live page.
    pub alpha: f64,
    /// `alpha - 1 = S / (1 - S)`, the over-provisioning.
    pub over: f64,
}

impl Spare {
    pub fn from_share(spare_factor: f64) -> Result<Self> {
        let accepted = (SPARE_MARGIN..=1.0 - SPARE_MARGIN).contains(&spare_factor);
        let share =
            checked("spare_factor", spare_factor, accepted, "more than 0 and less than 1 (by 1e-12)")?;
        Ok(Self { share, alpha: 1.0 / (1.0 - share), over: share / (1.0 - share) })
    }

    pub fn from_alpha(alpha: f64) -> Result<Self> {
        let over = alpha - 1.0;
        let accepted = (SPARE_MARGIN..=1.0 / SPARE_MARGIN).contains(&over);
        let alpha = checked("alpha", alpha, accepted, "more than 1 (by 1e-12) and at most 1e12")?;
        Ok(Self { share: over / alpha, alpha, over })
    }
}

/// Returns `alpha = 1 / (1 - S)`, physical pages per live page.
///
/// # Errors
/// `spare_factor` not finite or not between 0 and 1.
pub fn alpha_of_spare(spare_factor: f64) -> Result<f64> {
    Ok(Spare::from_share(spare_factor)?.alpha)
}

/// Returns `S = 1 - 1 / alpha`, the spare factor of a drive of `alpha` physical pages per live page.
///
/// # Errors
/// `alpha` not finite or not above 1.
pub fn spare_of_alpha(alpha: f64) -> Result<f64> {
    Ok(Spare::from_alpha(alpha)?.share)
}

/// Returns `alpha (1 - q) / (1 - 2 q)`: the `alpha` that results when a share `q` of all requests trims.
///
/// Source: Frankie et al., "A mathematical model of the trim command in NAND-flash SSDs", 2012.
///
/// A trim removes one of the pages in use; a write goes to any logical page. In the steady state the writes that bring
/// a page into use balance the trims: `(1 - q) (1 - s) = q`. The share of logical pages in use is therefore
/// `s = (1 - 2 q) / (1 - q)`. A live page then dies `1 / (s U)` per host write, by overwriting or trimming, as on an
/// untrimmed drive of `s U` pages. Use the result in the closed forms through [`spare_of_alpha`]; the amplification
/// counts programs per host *write*.
///
/// # Errors
/// `alpha` not finite or not above 1; `trim_share` not finite, negative, or one half or more (nothing
/// would stay in use).
pub fn alpha_with_trim(alpha: f64, trim_share: f64) -> Result<f64> {
    let alpha = Spare::from_alpha(alpha)?.alpha;
    let q = checked("trim_share", trim_share, (0.0..0.5).contains(&trim_share), "at least 0 and below 0.5")?;
    let trimmed = alpha * ((1.0 - q) / (1.0 - 2.0 * q));
    Ok(Spare::from_alpha(trimmed)?.alpha)
}

/// Checks the number of pages per block.
pub(crate) fn checked_pages(pages_per_block: u32) -> Result<u32> {
    let accepted = (1..=PAGES_PER_BLOCK_MAX).contains(&pages_per_block);
    checked("pages_per_block", f64::from(pages_per_block), accepted, "1 to 1048576")?;
    Ok(pages_per_block)
}
