//! Slot `ftl.separate`: which stream, and so which open block, a page write joins. One file a policy, one row of
//! [`POLICIES`] each.

mod host_gc;
mod none;

use floatgate_base::{Lpn, PolicyInfo, Ppn};

/// All separators.
pub const POLICIES: &[PolicyInfo] = &[none::INFO, host_gc::INFO];

/// Number of a stream; each has an open block of its own in every domain.
pub type Stream = u32;

/// A separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separate {
    /// See [`none`].
    None,
    /// See [`host_gc`].
    HostGc,
}

impl Separate {
    /// Streams that the policy uses, numbered from 0.
    #[must_use]
    pub fn streams(self) -> u32 {
        match self {
            Self::None => none::STREAMS,
            Self::HostGc => host_gc::STREAMS,
        }
    }

    /// The stream of a host write. Later policies look at the page; these do not.
    #[inline(always)]
    #[must_use]
    pub fn host_stream(self, _lpn: Lpn) -> Stream {
        match self {
            Self::None => none::STREAM,
            Self::HostGc => host_gc::HOST,
        }
    }

    /// The stream of a page that is moved.
    #[inline(always)]
    #[must_use]
    pub fn move_stream(self, _lpn: Lpn) -> Stream {
        match self {
            Self::None => none::STREAM,
            Self::HostGc => host_gc::MOVED,
        }
    }

    /// How many of these moved pages, from the first on, join the stream of the first. These policies send all to
    /// one stream, so a whole block moves without a decision per page.
    #[inline(always)]
    #[must_use]
    pub fn move_run(self, moving: &[(Ppn, Lpn)]) -> usize {
        match self {
            Self::None | Self::HostGc => moving.len(),
        }
    }
}
