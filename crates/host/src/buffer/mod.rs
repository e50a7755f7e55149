//! The DRAM buffer: which pages lie in it, and what the flash has to do for a request.
//!
//! Write-back with the least recently used page leaving first, or in the disturb-aware order ([`aware`]). A page is known by sectors of 512 bytes: *valid* ones hold
//! their newest content, *dirty* ones are newer than flash. A page that is valid as a whole is flushed without a read.
//!
//! Nothing here knows of time or of the FTL. A request becomes [`Step`]s, which whoever owns time carries out in order:
//! a place changes hands when the decision falls, and who uses it may have to wait until its content of before has been
//! programmed. So the order of evictions is that of arrival, in every mode.
//!
//! Cost: O(1) a page; memory: 4 bytes a logical page, 52 a page of the buffer.

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

/// Why a page is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its place is needed.
    Evict,
    /// Too many pages are dirty.
    Watermark,
    /// The host wants it on flash before its write is done.
    Fua,
    /// The host asked for everything to be on flash.
    Flush,
    /// Counting begins or ends.
    End,
}

/// What has to happen for a request, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The page is programmed from its place: as a whole, or together with what flash has of it.
    Flush {
        /// Where it lies.
        place: u32,
        /// Which page it is.
        lpn: Lpn,
        /// Whether the buffer holds all of it.
        whole: bool,
        /// For what reason.
        why: Why,
    },
    /// The place is given to another page: free for it when all its flushes so far are done.
    Take {
        /// Which place.
        place: u32,
    },
    /// The request needs the place's page to be there.
    Wait {
        /// Which place.
        place: u32,
    },
    /// Pages are read from flash for the request.
    Read {
        /// The first of them.
        lpn: Lpn,
        /// How many.
        pages: u32,
        /// The place that this one page fills, or [`NOWHERE`].
        place: u32,
    },
    /// A page is read from flash though no request asks for it.
    Preload {
        /// Which page.
        lpn: Lpn,
        /// The place that it fills.
        place: u32,
    },
    /// Pages are given up.
    Trim {
        /// The first of them.
        lpn: Lpn,
        /// How many.
        pages: u32,
    },
    /// What the flash was given of pages is to be on it before the request is done.
    Force {
        /// The first of them.
        lpn: Lpn,
        /// How many; 0 for all that there are.
        pages: u32,
    },
}

/// No place of the buffer.
pub const NOWHERE: u32 = u32::MAX;

#[cfg(test)]
mod aware_tests;
#[cfg(test)]
mod tests;
