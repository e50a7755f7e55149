//! What every side table does: the contract behind map words that are no plain page numbers.
//!
//! A side table has entries. An entry stands for one or more logical pages (those whose map word names it) and lies on one
//! or more physical pages (those whose owner it is). Only the table knows which; the mechanism asks, and tells it what
//! becomes of pages. Whoever makes an entry sees to it that both directions agree, and knows what a table does when a
//! logical page gives its entry up (`crate::reduce::release`).
//!
//! A page that belongs to an entry stays in its stream when it moves: it has no single logical page that a separator
//! could be asked about.

use floatgate_base::{Lpn, Ppn};

/// A side table with its entries.
pub(crate) trait SideTable {
    /// Calls `each` with the physical pages that a read of `lpn`, which belongs to the entry, reads.
    fn pages_of(&self, entry: u32, lpn: Lpn, each: &mut dyn FnMut(Ppn));

    /// A page of the entry moved.
    fn relink(&mut self, entry: u32, from: Ppn, to: Ppn);

    /// Calls `each` with every entry and every live page that belongs to it: what is live, after a snapshot.
    fn each_page(&self, each: &mut dyn FnMut(u32, Ppn));

    /// Whether reads go to the pages of [`SideTable::each_page`], which are live; else to others.
    fn reads_live_pages(&self) -> bool {
        true
    }

    /// Checks an entry, given how many logical pages name it in the map.
    ///
    /// # Errors
    /// Says what is wrong.
    fn audit(&self, entry: u32, logical_pages: u32) -> Result<(), String>;

    /// One past the highest entry ever made.
    fn entries(&self) -> u32;
}
