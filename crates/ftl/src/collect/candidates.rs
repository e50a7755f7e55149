//! Closed units, among which victims are chosen. The mechanism keeps them; a victim policy sees what they hold.

use super::queues::Queues;
use super::update_blocks::UpdateBlockIndex;
use crate::faults::Faults;
use crate::index::{Index, IndexKind};
use crate::separate::{Separation, WaitingPlace};
use crate::units::{NOT_INDEXED, Units};
use floatgate_base::{DomainId, IdVec, Rng, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Closed units outside the index of the victim policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Apart {
    /// Update blocks, which are collected last.
    Last(Box<UpdateBlockIndex>),
    /// Units that are collected in the order of closing, stream by stream.
    Queues(Box<Queues>),
}

impl Apart {
    /// Creates the structure that the separator needs; none if all units are in the index.
    pub fn of(separation: &Separation, kind: IndexKind, layout: &Layout) -> Option<Self> {
        if separation.queues() {
            let streams = separation.counters().len() as u32;
            return Some(Self::Queues(Box::new(Queues::new(streams, layout))));
        }
        UpdateBlockIndex::of(separation.update_blocks(), kind, layout).map(Self::Last)
    }

    pub fn holds(&self, unit: UnitId) -> bool {
        match self {
            Self::Last(last) => last.holds(unit),
            Self::Queues(queues) => queues.holds(unit),
        }
    }

    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Last(own), Self::Last(other)) => own.fits(other),
            (Self::Queues(own), Self::Queues(other)) => own.fits(other),
            _ => false,
        }
    }
}

/// The closed units of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Candidates {
    pub index: Index,
    /// Closed update blocks that are taken last, or queues, if the separator has either. Their units are not in
    /// `index`.
    pub apart: Option<Apart>,
    /// Units of `index` with a dead page, by domain: collection gains something only if one exists.
    pub worthwhile: IdVec<DomainId, u32>,
    /// Closed units and their dead pages, if collection depends on them. Recounted when a drive is restored.
    #[serde(skip)]
    pub garbage: Option<Garbage>,
    /// Random numbers of victim policies.
    pub rng: Rng,
    /// Faults of a victim policy from outside.
    #[serde(skip)]
    pub faults: Faults,
}

/// Closed units and their dead pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Garbage {
    /// Closed units.
    pub units: u32,
    /// Their dead pages.
    pub dead_pages: u64,
}

impl Garbage {
    /// Counts the garbage of closed units anew.
    pub fn of(layout: &Layout, units: &Units) -> Self {
        let closed = units.meta.iter().filter(|meta| meta.pos != NOT_INDEXED);
        closed.fold(Self::default(), |sum, meta| Self {
            units: sum.units + 1,
            dead_pages: sum.dead_pages + u64::from(layout.pages_per_unit() - meta.valid),
        })
    }
}

impl Candidates {
    /// Creates the candidates of an empty drive.
    pub fn new(kind: IndexKind, apart: Option<Apart>, layout: &Layout, seed: u64) -> Self {
        Self {
            index: Index::new(kind, layout),
            apart,
            worthwhile: IdVec::filled(0, layout.domains()),
            garbage: None,
            rng: Self::rng(seed),
            faults: Faults::default(),
        }
    }

    /// Returns the random stream of a run.
    pub fn rng(seed: u64) -> Rng {
        Rng::new(seed, "ftl")
    }

    /// Adds a unit that was closed.
    pub fn insert(&mut self, layout: &Layout, unit: UnitId, place: WaitingPlace, units: &mut Units) {
        let (domain, full) = (layout.domain_of(unit), layout.pages_per_unit());
        if let Some(garbage) = &mut self.garbage {
            garbage.units += 1;
            garbage.dead_pages += u64::from(full - units.meta[unit].valid);
        }
        match (&mut self.apart, place) {
            (Some(Apart::Last(last)), WaitingPlace::Last) => last.insert(domain, unit, units, full),
            (Some(Apart::Queues(queues)), WaitingPlace::Queue(stream)) => {
                queues.insert(domain, unit, stream, units, full);
            }
            _ => {
                self.worthwhile[domain] += u32::from(units.meta[unit].valid < full);
                self.index.insert(domain, unit, units);
            }
        }
    }

    /// Removes a closed unit that will be emptied.
    pub fn remove(&mut self, layout: &Layout, unit: UnitId, units: &mut Units) {
        let (domain, full) = (layout.domain_of(unit), layout.pages_per_unit());
        let valid = units.meta[unit].valid;
        if let Some(garbage) = &mut self.garbage {
            garbage.units -= 1;
            garbage.dead_pages -= u64::from(full - valid);
        }
        match &mut self.apart {
            Some(Apart::Last(last)) if last.holds(unit) => last.leave(domain, unit, units, full),
            Some(Apart::Queues(queues)) if queues.holds(unit) => queues.leave(domain, unit, units, full),
            _ => {
                self.index.remove(domain, unit, units);
                self.worthwhile[domain] -= u32::from(valid < full);
            }
        }
    }

    /// Updates a closed unit that lost a page after `now` host page writes; `from` is its valid count before. `APART`
    /// says whether some units are not in the index.
    #[inline(always)]
    pub fn lost_page<const APART: bool>(
        &mut self,
        layout: &Layout,
        unit: UnitId,
        from: u32,
        now: u64,
        units: &mut Units,
    ) {
        // A drive that collects by garbage runs the code with all features.
        if APART && let Some(garbage) = &mut self.garbage {
            garbage.dead_pages += 1;
        }
        if APART
            && let Some(apart) = &mut self.apart
            && apart.holds(unit)
        {
            match apart {
                Apart::Last(last) => last.demote(layout, unit, from, now, units),
                Apart::Queues(queues) if from == layout.pages_per_unit() => {
                    queues.lost_first_page(layout.domain_of(unit), unit);
                }
                Apart::Queues(_) => {}
            }
            return;
        }
        if from == layout.pages_per_unit() {
            self.worthwhile[layout.domain_of(unit)] += 1;
        }
        self.index.demote(layout, unit, from, now, &mut units.meta);
    }

    /// Moves units of queues into the index of their domain. An index ordered by closing time takes them in at their
    /// original positions.
    pub fn release(&mut self, layout: &Layout, domain: DomainId, released: &[UnitId], units: &mut Units) {
        let Some(Apart::Queues(queues)) = &mut self.apart else { return };
        let full = layout.pages_per_unit();
        for &unit in released {
            queues.leave(domain, unit, units, full);
            self.worthwhile[domain] += u32::from(units.meta[unit].valid < full);
        }
        self.index.absorb(domain, released, units);
    }

    /// Checks whether the state fits a drive with the layout and separator of `other`.
    pub fn fits(&self, other: &Self) -> bool {
        let apart = match (&self.apart, &other.apart) {
            (Some(own), Some(other)) => own.fits(other),
            (None, None) => true,
            _ => false,
        };
        apart && self.worthwhile.len() == other.worthwhile.len()
    }

    /// Verifies that it holds exactly its units, each at its position, with correct counts.
    ///
    /// # Errors
    /// Describes the discrepancy.
    pub fn audit(&self, layout: &Layout, units: &Units) -> Result<(), String> {
        let mut held = IdVec::filled(false, layout.units());
        self.index.audit(layout, units, &mut held)?;
        let mut worthwhile = IdVec::filled(0, layout.domains());
        for (unit, _) in held.enumerate().filter(|(_, held)| **held) {
            let valid = units.meta[unit].valid;
            worthwhile[layout.domain_of(unit)] += u32::from(valid < layout.pages_per_unit());
        }
        if worthwhile != self.worthwhile {
            let counted = &self.worthwhile;
            return Err(format!("units worth collecting by domain: {worthwhile:?}, counted {counted:?}"));
        }
        match &self.apart {
            Some(Apart::Last(last)) => last.audit(layout, units, &mut held)?,
            Some(Apart::Queues(queues)) => queues.audit(layout, units, &mut held)?,
            None => {}
        }
        let garbage = Garbage::of(layout, units);
        if let Some(counted) = self.garbage.filter(|&counted| counted != garbage) {
            return Err(format!("closed units hold {garbage:?}, counted {counted:?}"));
        }
        let closed = units.meta.iter().map(|meta| meta.pos != NOT_INDEXED);
        match held.iter().zip(closed).position(|(&held, closed)| held != closed) {
            Some(unit) => {
                Err(format!("unit {unit} and the victim index disagree on whether it is a candidate"))
            }
            None => Ok(()),
        }
    }
}
