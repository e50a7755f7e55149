//! What the host interface hands down: runs of logical pages with one operation each, in columns.

use crate::Lpn;
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
}

/// What the host says of a request beside its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Program context that writes; 0 where none is known.
    pub context: u32,
    /// Stream or placement handle that the host gave; 0 where it gave none.
    pub handle: u32,
    /// Pages that the request touches.
    pub request_pages: u32,
}

/// Extents in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    /// First page.
    pub lpn: Vec<Lpn>,
    /// Number of pages, at least 1.
    pub pages: Vec<u32>,
    /// Operation.
    pub kind: Vec<Kind>,
    /// Optional, for a DRAM buffer: the first byte touched of the first page, and one past the last of the last page.
    pub edges: Vec<(u32, u32)>,
    /// Optional, for separators: what the host says of the request that the extent is of.
    pub hints: Vec<Hints>,
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
        self.edges.clear();
        self.hints.clear();
    }

    /// What the host says of an extent.
    #[inline]
    #[must_use]
    pub fn hints_of(&self, i: usize) -> Hints {
        self.hints.get(i).copied().unwrap_or_default()
    }

    /// Appends an extent.
    #[inline]
    pub fn push(&mut self, lpn: Lpn, pages: u32, kind: Kind) {
        self.lpn.push(lpn);
        self.pages.push(pages);
        self.kind.push(kind);
    }
}
