//! Indexes over closed units. The mechanism keeps the one that the victim policy declares. Policies need no bookkeeping
//! of their own and pay only for the index they use.

mod close_order;
mod lists;
mod oldest;
mod unordered;
mod valid_ring;

pub use close_order::CloseOrder;
pub use lists::Lists;
pub use oldest::OldestByValid;
pub use unordered::Slots;
pub use valid_ring::ValidRing;

use crate::units::{UnitMeta, Units};
use floatgate_base::{DomainId, IdSlice, IdVec, UnitId, prefetch::prefetch};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// How a victim policy looks units up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// By the fewest valid pages.
    ByValid,
    /// By the fewest valid pages among the `window` units that were closed first.
    ByValidInWindow {
        /// Units in the window of each domain.
        window: u32,
    },
    /// The unit closed first, for each number of valid pages.
    OldestByValid,
    /// The unit that has lost no page for longest, for each number of valid pages.
    IdlestByValid,
    /// The unit closed first.
    CloseOrder,
    /// Any closed unit, by a dense number.
    Slots,
}

impl IndexKind {
    /// Describes the kind in words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::ByValid => "by valid pages".into(),
            Self::ByValidInWindow { window } => format!("by valid pages among the oldest {window}"),
            Self::OldestByValid => "by valid pages and age".into(),
            Self::IdlestByValid => "by valid pages and age since the last change".into(),
            Self::CloseOrder => "by age".into(),
            Self::Slots => "in no order".into(),
        }
    }

    /// Returns the units in the window, for a kind that has one.
    #[must_use]
    pub fn window(self) -> Option<u32> {
        match self {
            Self::ByValidInWindow { window } => Some(window),
            Self::ByValid | Self::OldestByValid | Self::IdlestByValid | Self::CloseOrder | Self::Slots => {
                None
            }
        }
    }
}

/// The index in use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Index {
    /// See [`IndexKind::ByValid`]; one ring per domain.
    ByValid(IdVec<DomainId, ValidRing>),
    /// See [`IndexKind::ByValidInWindow`].
    Window {
        /// Units in the window, one ring per domain.
        rings: IdVec<DomainId, ValidRing>,
        /// Units that wait for a place in the window.
        waiting: CloseOrder,
        /// Places in each window.
        window: u32,
    },
    /// See [`IndexKind::OldestByValid`].
    Oldest(OldestByValid),
    /// See [`IndexKind::CloseOrder`].
    CloseOrder(CloseOrder),
    /// See [`IndexKind::Slots`]; one pool per domain.
    Slots(IdVec<DomainId, Slots>),
    /// See [`IndexKind::IdlestByValid`].
    Idlest(OldestByValid),
}

/// `pos` of a unit that waits outside the window and is in no ring.
const WAITING: u32 = u32::MAX - 1;

impl Index {
    /// Creates an empty index over the layout's units.
    #[must_use]
    pub fn new(kind: IndexKind, layout: &Layout) -> Self {
        let (domains, units, pages) = (layout.domains(), layout.units_per_domain(), layout.pages_per_unit());
        let rings = |capacity: u32| (0..domains).map(|_| ValidRing::new(capacity, pages)).collect();
        match kind {
            IndexKind::ByValid => Self::ByValid(rings(units)),
            IndexKind::ByValidInWindow { window } => Self::Window {
                rings: rings(units.min(window)),
                waiting: CloseOrder::new(domains, units),
                window,
            },
            IndexKind::OldestByValid => Self::Oldest(OldestByValid::new(domains, units, pages)),
            IndexKind::IdlestByValid => Self::Idlest(OldestByValid::new(domains, units, pages)),
            IndexKind::CloseOrder => Self::CloseOrder(CloseOrder::new(domains, units)),
            IndexKind::Slots => Self::Slots((0..domains).map(|_| Slots::new(units)).collect()),
        }
    }

    /// Inserts a unit that was just closed.
    pub fn insert(&mut self, domain: DomainId, unit: UnitId, units: &mut Units) {
        let (meta, closed_at) = (&mut *units.meta, units.closed_at[unit]);
        match self {
            Self::ByValid(rings) => rings[domain].insert(unit, meta),
            Self::Window { rings, waiting, window } => {
                let ring = &mut rings[domain];
                if ring.len() < *window {
                    ring.insert(unit, meta);
                } else {
                    waiting.insert(domain, unit, meta);
                    meta[unit].pos = WAITING;
                }
            }
            Self::Oldest(heaps) | Self::Idlest(heaps) => heaps.insert(domain, unit, closed_at, meta),
            Self::CloseOrder(list) => list.insert(domain, unit, meta),
            Self::Slots(slots) => slots[domain].insert(unit, meta),
        }
    }

    /// Updates a closed unit that lost a page after `now` host page writes; `from` is its valid count before.
    #[inline(always)]
    pub fn demote(
        &mut self,
        layout: &Layout,
        unit: UnitId,
        from: u32,
        now: u64,
        meta: &mut IdSlice<UnitId, UnitMeta>,
    ) {
        match self {
            Self::ByValid(rings) => {
                let domain = if rings.len() == 1 { DomainId(0) } else { layout.domain_of(unit) };
                rings[domain].demote(unit, from, meta);
            }
            Self::Window { rings, .. } => {
                if meta[unit].pos != WAITING {
                    rings[layout.domain_of(unit)].demote(unit, from, meta);
                }
            }
            Self::Oldest(heaps) => heaps.demote(layout.domain_of(unit), unit, from),
            Self::Idlest(heaps) => heaps.demote_renewed(layout.domain_of(unit), unit, from, now),
            Self::CloseOrder(_) | Self::Slots(_) => {}
        }
    }

    /// Removes a unit that is about to be collected. Returns the unit that moves up into the window, if any.
    pub fn remove(&mut self, domain: DomainId, unit: UnitId, units: &mut Units) -> Option<UnitId> {
        let meta = &mut *units.meta;
        match self {
            Self::ByValid(rings) => rings[domain].remove(unit, meta),
            Self::Window { rings, waiting, .. } => {
                if meta[unit].pos == WAITING {
                    waiting.remove(domain, unit, meta);
                    return None;
                }
                rings[domain].remove(unit, meta);
                let next = waiting.oldest(domain)?;
                waiting.remove(domain, next, meta);
                rings[domain].insert(next, meta);
                return Some(next);
            }
            Self::Oldest(heaps) | Self::Idlest(heaps) => heaps.remove(domain, unit, meta),
            Self::CloseOrder(list) => list.remove(domain, unit, meta),
            Self::Slots(slots) => slots[domain].remove(unit, meta),
        }
        None
    }

    /// Undoes [`Index::remove`] of a unit that the victim policy selected; of several calls, the last one first. Only
    /// the order of units that are equal to the index may differ.
    pub fn put_back(
        &mut self,
        domain: DomainId,
        unit: UnitId,
        replaced_by: Option<UnitId>,
        units: &mut Units,
    ) {
        match self {
            Self::Window { rings, waiting, .. } => {
                let meta = &mut *units.meta;
                if let Some(next) = replaced_by {
                    rings[domain].remove(next, meta);
                    waiting.put_back(domain, next, meta);
                    meta[next].pos = WAITING;
                }
                rings[domain].insert(unit, meta);
            }
            Self::CloseOrder(list) => list.put_back(domain, unit, &mut units.meta),
            Self::Idlest(heaps) => heaps.insert(domain, unit, heaps.aged_from(unit), &mut units.meta),
            Self::ByValid(_) | Self::Oldest(_) | Self::Slots(_) => self.insert(domain, unit, units),
        }
    }

    /// Inserts units of a domain that were closed some time ago. An index by the order of closing is rebuilt to put
    /// them at their original positions.
    pub fn absorb(&mut self, domain: DomainId, closed: &[UnitId], units: &mut Units) {
        let mut all = closed.to_vec();
        let waiting = match self {
            Self::CloseOrder(list) => list,
            Self::Window { rings, waiting, .. } => {
                let ring = &mut rings[domain];
                while let Some(unit) = ring.first() {
                    ring.remove(unit, &mut units.meta);
                    all.push(unit);
                }
                waiting
            }
            Self::ByValid(_) | Self::Oldest(_) | Self::Idlest(_) | Self::Slots(_) => {
                return all.into_iter().for_each(|unit| self.insert(domain, unit, units));
            }
        };
        while let Some(unit) = waiting.oldest(domain) {
            waiting.remove(domain, unit, &mut units.meta);
            all.push(unit);
        }
        all.sort_by_key(|&unit| (units.closed_at[unit], unit));
        all.into_iter().for_each(|unit| self.insert(domain, unit, units));
    }

    /// Prefetches what `demote` touches first.
    #[inline(always)]
    pub fn prefetch(&self, unit: UnitId, meta: &IdSlice<UnitId, UnitMeta>) {
        prefetch(meta.as_slice(), unit.index());
    }

    /// Checks whether the units are indexed by domain, and there are several.
    #[inline(always)]
    pub fn has_many_domains(&self) -> bool {
        matches!(self, Self::ByValid(rings) if rings.len() > 1)
    }

    /// Prefetches the start of the bucket that a unit is in.
    #[inline(always)]
    pub fn prefetch_start(&self, layout: &Layout, unit: UnitId, meta: &IdSlice<UnitId, UnitMeta>) {
        if let Self::ByValid(rings) = self {
            rings[layout.domain_of(unit)].prefetch_start(meta[unit]);
        }
    }

    /// Prefetches what `demote` touches next.
    #[inline(always)]
    pub fn prefetch_bucket(&self, layout: &Layout, unit: UnitId, meta: &IdSlice<UnitId, UnitMeta>) {
        if let Self::ByValid(rings) = self {
            let domain = if rings.len() == 1 { DomainId(0) } else { layout.domain_of(unit) };
            rings[domain].prefetch(meta[unit]);
        }
    }

    /// Verifies that each unit in the index is at its position, and marks it in `held`.
    ///
    /// # Errors
    /// Describes the discrepancy.
    pub fn audit(
        &self,
        layout: &Layout,
        units: &Units,
        held: &mut IdSlice<UnitId, bool>,
    ) -> Result<(), String> {
        let meta = &*units.meta;
        let mut hold = |unit: UnitId| {
            let twice = std::mem::replace(&mut held[unit], true);
            if twice { Err(format!("unit {unit} is twice in the victim index")) } else { Ok(()) }
        };
        for domain in DomainId::all(layout.domains()) {
            match self {
                Self::ByValid(rings) => rings[domain].audit(meta, &mut hold)?,
                Self::Window { rings, waiting, .. } => {
                    rings[domain].audit(meta, &mut hold)?;
                    waiting.audit(domain, units, &mut hold)?;
                }
                Self::Oldest(heaps) => heaps.audit(domain, units, false, &mut hold)?,
                Self::Idlest(heaps) => heaps.audit(domain, units, true, &mut hold)?,
                Self::CloseOrder(list) => list.audit(domain, units, &mut hold)?,
                Self::Slots(slots) => slots[domain].audit(meta, &mut hold)?,
            }
        }
        Ok(())
    }
}
