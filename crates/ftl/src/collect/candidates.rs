//! Closed units: among them victims are chosen. The mechanism's side of the slot; what it knows, the victim policy sees.

use super::last::Last;
use crate::index::{Index, IndexKind};
use crate::separate::UpdateBlocks;
use crate::units::{NOT_INDEXED, Units};
use floatgate_base::{DomainId, IdVec, Rng, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// The closed units of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Candidates {
    pub index: Index,
    /// Where the separator has update blocks that are taken last: those that are closed. They are not in `index`.
    pub last: Option<Box<Last>>,
    /// Units of `index` with a dead page, by domain: whether collecting any of them can gain anything.
    pub worthwhile: IdVec<DomainId, u32>,
    /// Closed units and their dead pages, where collection goes by these. Counted afresh when a drive is read.
    #[serde(skip)]
    pub garbage: Option<Garbage>,
    /// What victim policies draw from.
    pub rng: Rng,
}

/// What closed units hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Garbage {
    /// Units.
    pub units: u32,
    /// Their pages that are dead.
    pub dead_pages: u64,
}

impl Garbage {
    /// Counts afresh.
    pub fn of(layout: &Layout, units: &Units) -> Self {
        let closed = units.meta.iter().filter(|meta| meta.pos != NOT_INDEXED);
        closed.fold(Self::default(), |sum, meta| Self {
            units: sum.units + 1,
            dead_pages: sum.dead_pages + u64::from(layout.pages_per_unit() - meta.valid),
        })
    }
}

impl Candidates {
    /// Of an empty drive.
    pub fn new(kind: IndexKind, update_blocks: Option<UpdateBlocks>, layout: &Layout, seed: u64) -> Self {
        Self {
            index: Index::new(kind, layout),
            last: update_blocks.and_then(|mode| Last::of(mode, kind, layout)),
            worthwhile: IdVec::filled(0, layout.domains()),
            garbage: None,
            rng: Self::rng(seed),
        }
    }

    /// The stream of random numbers of a run.
    pub fn rng(seed: u64) -> Rng {
        Rng::new(seed, "ftl")
    }

    /// A unit was closed.
    pub fn insert(&mut self, layout: &Layout, unit: UnitId, is_last: bool, units: &mut Units) {
        let (domain, full) = (layout.domain_of(unit), layout.pages_per_unit());
        if let Some(garbage) = &mut self.garbage {
            garbage.units += 1;
            garbage.dead_pages += u64::from(full - units.meta[unit].valid);
        }
        match &mut self.last {
            Some(last) if is_last => last.insert(domain, unit, units, full),
            _ => {
                self.worthwhile[domain] += u32::from(units.meta[unit].valid < full);
                self.index.insert(domain, unit, units);
            }
        }
    }

    /// A closed unit is to be emptied.
    pub fn remove(&mut self, layout: &Layout, unit: UnitId, units: &mut Units) {
        let (domain, full) = (layout.domain_of(unit), layout.pages_per_unit());
        let valid = units.meta[unit].valid;
        if let Some(garbage) = &mut self.garbage {
            garbage.units -= 1;
            garbage.dead_pages -= u64::from(full - valid);
        }
        match &mut self.last {
            Some(last) if last.holds(unit) => last.leave(domain, unit, units, full),
            _ => {
                self.index.remove(domain, unit, units);
                self.worthwhile[domain] -= u32::from(valid < full);
            }
        }
    }

    /// A closed unit lost a page after `now` host page writes; `from` is its count before. `LAST` says that there may be update
    /// blocks.
    #[inline(always)]
    pub fn lost_page<const LAST: bool>(
        &mut self,
        layout: &Layout,
        unit: UnitId,
        from: u32,
        now: u64,
        units: &mut Units,
    ) {
        // A drive that goes by garbage takes the code with all features.
        if LAST && let Some(garbage) = &mut self.garbage {
            garbage.dead_pages += 1;
        }
        if LAST
            && let Some(last) = &mut self.last
            && last.holds(unit)
        {
            return last.demote(layout, unit, from, now, units);
        }
        if from == layout.pages_per_unit() {
            self.worthwhile[layout.domain_of(unit)] += 1;
        }
        self.index.demote(layout, unit, from, now, &mut units.meta);
    }

    /// Whether it is the state of a drive of such a layout and separator as `other`'s.
    pub fn fits(&self, other: &Self) -> bool {
        let last = match (&self.last, &other.last) {
            (Some(own), Some(other)) => own.fits(other),
            (None, None) => true,
            _ => false,
        };
        last && self.worthwhile.len() == other.worthwhile.len()
    }

    /// Checks that it holds just the units that say so, each in its place, and counts them right.
    ///
    /// # Errors
    /// Says what is wrong.
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
        if let Some(last) = &self.last {
            last.audit(layout, units, &mut held)?;
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
