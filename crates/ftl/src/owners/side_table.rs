//! The contract of side tables: the meaning of map words that are not plain page numbers.
//!
//! A side table has entries. An entry stands for one or more logical pages (those whose map word names it) and lies on
//! one or more physical pages (those that it owns). Only the table knows which; the mechanism queries it, and notifies
//! it when pages move. Code that makes an entry must keep both directions consistent, and must handle a logical page
//! that leaves its entry (`crate::reduce::release`).
//!
//! A page that belongs to an entry stays in its stream when it moves: it has no single logical page that a separator
//! could inspect.

use floatgate_base::{Lpn, Ppn};

/// A side table with its entries.
pub(crate) trait SideTable {
    /// Calls `each` with the physical pages that a read of `lpn`, which belongs to the entry, reads.
    fn pages_of(&self, entry: u32, lpn: Lpn, each: &mut dyn FnMut(Ppn));

    /// Updates an entry, one of whose pages moved.
    fn relink(&mut self, entry: u32, from: Ppn, to: Ppn);

    /// Calls `each` with every entry and every live page that belongs to it; restores the live pages after a snapshot.
    fn each_page(&self, each: &mut dyn FnMut(u32, Ppn));

    /// Checks whether reads go to the pages of [`SideTable::each_page`], which are live, or to others.
    fn reads_live_pages(&self) -> bool {
        true
    }

    /// Checks an entry, given how many logical pages name it in the map.
    ///
    /// # Errors Describes the inconsistency.
    fn audit(&self, entry: u32, logical_pages: u32) -> Result<(), String>;

    /// Returns the highest entry ever made, plus one.
    fn entries(&self) -> u32;
}
