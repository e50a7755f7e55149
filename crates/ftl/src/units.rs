//! State of each erase unit.

use floatgate_base::{DomainId, IdVec, Ppn, StreamId, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// `pos` of a unit that no index holds: free, open, or being collected.
pub const NOT_INDEXED: u32 = u32::MAX;

/// The two words that invalidating a page touches, side by side. Policies from outside read `valid`
/// (`floatgate_plugin::contract::Valid`).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct UnitMeta {
    /// Valid pages. An open unit counts its unwritten pages as valid; programming need not update the count.
    pub valid: u32,
    /// Position in the victim index.
    pub pos: u32,
}

/// Per-unit state of the whole drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Units {
    /// Valid count and position in the index.
    pub meta: IdVec<UnitId, UnitMeta>,
    /// Host page writes at which the unit was closed.
    pub closed_at: IdVec<UnitId, u64>,
}

impl Units {
    /// Returns the host page writes since a unit was closed; 0 while it is not.
    #[must_use]
    pub fn age(&self, unit: UnitId, now: u64) -> u64 {
        if self.meta[unit].pos == NOT_INDEXED { 0 } else { now - self.closed_at[unit] }
    }

    /// Creates the state of a drive whose units are all free and empty.
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        let free = UnitMeta { valid: 0, pos: NOT_INDEXED };
        Self { meta: IdVec::filled(free, layout.units()), closed_at: IdVec::filled(0, layout.units()) }
    }
}

/// A unit being filled. An unopened frontier has `next == end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frontier {
    /// The page to be programmed next.
    pub next: Ppn,
    /// One past the unit's last page.
    pub end: Ppn,
    /// The unit, or `NO_UNIT`.
    pub unit: UnitId,
}

/// `Frontier::unit` before any unit was opened.
pub const NO_UNIT: UnitId = UnitId::MAX;

impl Frontier {
    /// Nothing open.
    pub const CLOSED: Self = Self { next: Ppn(0), end: Ppn(0), unit: NO_UNIT };

    /// Returns the index of a stream's open unit in a domain among all open units.
    #[inline(always)]
    #[must_use]
    pub fn slot(layout: &Layout, stream: StreamId, domain: DomainId) -> usize {
        (stream.0 * layout.domains() + domain.0) as usize
    }

    /// Returns the stream of a slot.
    #[inline(always)]
    #[must_use]
    pub fn stream(layout: &Layout, slot: usize) -> StreamId {
        StreamId(slot as u32 / layout.domains())
    }

    /// Returns the pages left to program.
    #[inline]
    #[must_use]
    pub fn room(&self) -> u32 {
        self.end - self.next
    }
}
