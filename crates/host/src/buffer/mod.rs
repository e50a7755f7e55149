//! The DRAM buffer: its pages, and the flash operations that a request needs.
//!
//! Write-back; the least recently used page is evicted first, or the disturb-aware order decides ([`aware`]). A page is
//! tracked in sectors of 512 bytes: *valid* sectors hold their newest content, *dirty* ones are newer than flash. A
//! page whose sectors are all valid is flushed without a read.
//!
//! The buffer models neither time nor the FTL. A request becomes [`Step`]s, which the owner of the clock executes in
//! order. A place changes hands at the decision; its next user may have to wait until the former content has been
//! programmed. Evictions therefore follow the order of arrival in every mode.
//!
//! Cost: O(1) per page. Memory: 4 bytes per logical page, 52 per page of the buffer.

mod aware;
mod order;
mod pages;
mod slot;
mod state;

pub use aware::AwareConfig;
pub use pages::SECTOR_BYTES;
pub use slot::{DISTURB_AWARE, SLOT};
pub use state::{Buffer, BufferConfig, BufferCounters, SavedBuffer};

use floatgate_base::Lpn;

/// Reason for a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its place is needed.
    Evict,
    /// Too many pages are dirty.
    Watermark,
    /// The host requires it on flash before its write completes.
    Fua,
    /// The host requires everything on flash.
    Flush,
    /// Counting begins or ends.
    End,
}

/// The steps of a request, in the order of their execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Programs the page from its place, merged with its content on flash if the buffer holds only a part.
    Flush {
        /// Its place.
        place: u32,
        /// The page.
        lpn: Lpn,
        /// Whether the buffer holds all of it.
        whole: bool,
        /// Reason for the flush.
        why: Why,
    },
    /// Assigns the place to another page; it is free once all its flushes so far are done.
    Take {
        /// The place.
        place: u32,
    },
    /// Waits until the page of the place has arrived.
    Wait {
        /// The place.
        place: u32,
    },
    /// Reads pages from flash for the request.
    Read {
        /// The first page.
        lpn: Lpn,
        /// Number of pages.
        pages: u32,
        /// The place that this single page fills, or [`NOWHERE`].
        place: u32,
    },
    /// Reads a page from flash without a request.
    Preload {
        /// The page.
        lpn: Lpn,
        /// The place that it fills.
        place: u32,
    },
    /// Unmaps pages.
    Trim {
        /// The first page.
        lpn: Lpn,
        /// Number of pages.
        pages: u32,
    },
    /// Completes all programs of these pages before the request completes.
    Force {
        /// The first page.
        lpn: Lpn,
        /// Number of pages; 0 for all.
        pages: u32,
    },
}

/// No place of the buffer.
pub const NOWHERE: u32 = u32::MAX;

#[cfg(test)]
mod aware_tests;
#[cfg(test)]
mod tests;
