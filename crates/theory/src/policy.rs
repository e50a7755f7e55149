//! The victim policies that have closed forms, and one entry point to all of them.

use crate::error::Result;
use crate::spare::checked_pages;
use crate::{wa_d_choices, wa_fifo, wa_greedy, wa_random};
use std::fmt;

/// A victim policy with a closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The block that was closed first.
    Fifo,
    /// Any closed block.
    Random,
    /// A block with the fewest valid pages.
    Greedy,
    /// The block with the fewest valid pages among so many closed blocks drawn at random.
    DChoices(u32),
}

impl fmt::Display for Policy {
    /// Writes the policy's name in experiment files and on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "fifo",
            Self::Random => "random",
            Self::Greedy => "greedy",
            Self::DChoices(_) => "d-choices",
        })
    }
}

/// Returns the write amplification (programs per host write) of `policy` under uniform writes at a spare factor.
///
/// FIFO and random do not depend on the block size; it is checked all the same.
///
/// # Errors
/// `spare_factor` not finite or not between 0 and 1; `pages_per_block` 0 or above
/// [`crate::PAGES_PER_BLOCK_MAX`]; 0 choices.
pub fn wa(policy: Policy, spare_factor: f64, pages_per_block: u32) -> Result<f64> {
    checked_pages(pages_per_block)?;
    match policy {
        Policy::Fifo => wa_fifo(spare_factor),
        Policy::Random => wa_random(spare_factor),
        Policy::Greedy => wa_greedy(spare_factor, pages_per_block),
        Policy::DChoices(choices) => wa_d_choices(spare_factor, pages_per_block, choices),
    }
}
