//! What the host interface hands down: runs of logical pages with one operation each, in columns.

use crate::Lpn;
use crate::columns::{ExtentColumns, Hints, Part, Wanted};
use serde::{Deserialize, Serialize};

/// What happens to the pages of an extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Kind {
    /// Pages are read.
    Read,
    /// Whole pages are written.
    Write,
    /// One page is written in part: it is read, if it exists, and written anew.
    WritePartial,
    /// Pages are given up.
    Trim,
    /// What the host wrote of the pages is to be on flash before the request is done; an extent without pages stands for
    /// all that it ever wrote. Only where a power cut would lose some of it.
    Flush,
}

/// Extents in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    /// First page.
    pub lpn: Vec<Lpn>,
    /// Number of pages, at least 1 but for [`Kind::Flush`].
    pub pages: Vec<u32>,
    /// Operation.
    pub kind: Vec<Kind>,
    /// What else their consumers asked for.
    pub columns: ExtentColumns,
}

impl Extents {
    /// Number of extents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lpn.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lpn.is_empty()
    }

    /// Forgets all and keeps the memory.
    pub fn clear(&mut self) {
        self.lpn.clear();
        self.pages.clear();
        self.kind.clear();
        self.columns.clear();
    }

    /// What the host says of an extent.
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

    /// Makes the columns that are `wanted`, for the extents at the end that `part` became.
    #[inline]
    pub fn make_columns(&mut self, wanted: Wanted, part: &Part<'_>) {
        self.columns.make(wanted, part, (&self.lpn, &self.pages));
    }

    /// Gives extents at the end that no request's bytes became the defaults of the columns that are `wanted`.
    pub fn pad_columns(&mut self, wanted: Wanted) {
        self.columns.pad(wanted, self.lpn.len());
    }
}
