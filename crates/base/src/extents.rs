//! Output of the host interface: runs of logical pages with one operation each, in columns.

use crate::Lpn;
use crate::columns::{ExtentColumns, Hints, Part, Wanted};
use serde::{Deserialize, Serialize};

/// Operation on the pages of an extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Kind {
    /// Pages are read.
    Read,
    /// Whole pages are written.
    Write,
    /// One page is written in part: it is read, if it exists, and written again.
    WritePartial,
    /// Pages are unmapped.
    Trim,
    /// Earlier host writes to these pages must be on flash before the request completes; an extent without pages stands
    /// for all earlier host writes. Occurs only if a power cut would lose buffered writes.
    Flush,
}

/// Extents in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    /// First page.
    pub lpn: Vec<Lpn>,
    /// Number of pages, at least 1 except for [`Kind::Flush`].
    pub pages: Vec<u32>,
    /// Operation.
    pub kind: Vec<Kind>,
    /// The optional columns that their consumers requested.
    pub columns: ExtentColumns,
}

impl Extents {
    /// Returns the number of extents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lpn.len()
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lpn.is_empty()
    }

    /// Removes all extents and keeps the memory.
    pub fn clear(&mut self) {
        self.lpn.clear();
        self.pages.clear();
        self.kind.clear();
        self.columns.clear();
    }

    /// Returns the hints of an extent.
    #[inline]
    #[must_use]
    pub fn hints_of(&self, i: usize) -> Hints {
        self.columns.hints.get(i).copied().unwrap_or_default()
    }

    /// Appends an extent.
    #[inline]
    pub fn push(&mut self, lpn: Lpn, pages: u32, kind: Kind) {
        self.lpn.push(lpn);
        self.pages.push(pages);
        self.kind.push(kind);
    }

    /// Fills the `wanted` columns for the extents at the end, which were made of `part`.
    #[inline]
    pub fn make_columns(&mut self, wanted: Wanted, part: &Part<'_>) {
        self.columns.make(wanted, part, (&self.lpn, &self.pages));
    }

    /// Extends the `wanted` columns with defaults for extents at the end that belong to no request.
    pub fn pad_columns(&mut self, wanted: Wanted) {
        self.columns.pad(wanted, self.lpn.len());
    }
}
