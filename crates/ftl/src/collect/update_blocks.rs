//! Update blocks: units that collection takes last, for separators that have such streams (PDS, algorithm 1).
//!
//! Data that a program updates again and again will soon be dead in place; moving it would be in vain. These units have
//! an index of their own, of the victim policy's kind. It is used only when no other unit is worth collecting. Dead
//! update blocks have nothing left to protect or to move: they wait in a list and are taken before all other units.
//! Every choice costs what it costs in one index. Memory: that of a second index, and 9 bytes per unit.

use crate::index::{Index, IndexKind, Lists};
use crate::separate::UpdateBlocks;
use crate::units::{NOT_INDEXED, Units};
use floatgate_base::{DomainId, IdSlice, IdVec, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// `pos` of a unit in the list of dead ones.
const DEAD: u32 = 0;

/// The closed units that are collected last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UpdateBlockIndex {
    pub index: Index,
    /// Whether each closed unit is one of them.
    members: IdVec<UnitId, bool>,
    /// Units of the index with a dead page, by domain.
    pub worthwhile: IdVec<DomainId, u32>,
    /// Units without a valid page, if those are collected first.
    pub dead: Option<Lists>,
}

impl UpdateBlockIndex {
    /// Creates the index for an empty drive; none if no unit waits.
    pub fn of(update_blocks: UpdateBlocks, kind: IndexKind, layout: &Layout) -> Option<Box<Self>> {
        let dead = match update_blocks {
            UpdateBlocks::AsAny => return None,
            UpdateBlocks::LastUnlessDead => Some(Lists::new(layout.domains(), layout.units())),
            UpdateBlocks::Last => None,
        };
        Some(Box::new(Self {
            index: Index::new(kind, layout),
            members: IdVec::filled(false, layout.units()),
            worthwhile: IdVec::filled(0, layout.domains()),
            dead,
        }))
    }

    /// Checks whether the state fits a drive with this layout whose units wait in the same way.
    pub fn fits(&self, other: &Self) -> bool {
        self.members.len() == other.members.len()
            && self.worthwhile.len() == other.worthwhile.len()
            && self.dead.as_ref().map(Lists::room) == other.dead.as_ref().map(Lists::room)
    }

    /// Checks whether a closed unit is one of them.
    #[inline(always)]
    pub fn holds(&self, unit: UnitId) -> bool {
        self.members[unit]
    }

    /// Adds a unit that was closed.
    pub fn insert(&mut self, domain: DomainId, unit: UnitId, units: &mut Units, full: u32) {
        let valid = units.meta[unit].valid;
        self.members[unit] = true;
        if valid == 0 && self.dead.is_some() {
            return self.bury(domain, unit, units);
        }
        self.worthwhile[domain] += u32::from(valid < full);
        self.index.insert(domain, unit, units);
    }

    /// Updates a closed unit that lost a page after `now` host page writes; `from` is its valid count before.
    #[inline(always)]
    pub fn demote(&mut self, layout: &Layout, unit: UnitId, from: u32, now: u64, units: &mut Units) {
        if from == layout.pages_per_unit() {
            self.worthwhile[layout.domain_of(unit)] += 1;
        }
        self.index.demote(layout, unit, from, now, &mut units.meta);
        if from == 1 {
            self.died(layout.domain_of(unit), unit, units);
        }
    }

    /// Moves a closed unit that lost its last page to the list of dead ones.
    #[cold]
    fn died(&mut self, domain: DomainId, unit: UnitId, units: &mut Units) {
        if self.dead.is_some() {
            self.index.remove(domain, unit, units);
            self.worthwhile[domain] -= 1;
            self.bury(domain, unit, units);
        }
    }

    fn bury(&mut self, domain: DomainId, unit: UnitId, units: &mut Units) {
        if let Some(dead) = &mut self.dead {
            dead.push_back(domain, unit);
            units.meta[unit].pos = DEAD;
        }
    }

    /// Removes a unit that will be emptied.
    pub fn leave(&mut self, domain: DomainId, unit: UnitId, units: &mut Units, full: u32) {
        let valid = units.meta[unit].valid;
        self.members[unit] = false;
        match &mut self.dead {
            Some(dead) if valid == 0 => {
                dead.remove(domain, unit);
                units.meta[unit].pos = NOT_INDEXED;
            }
            _ => {
                self.index.remove(domain, unit, units);
                self.worthwhile[domain] -= u32::from(valid < full);
            }
        }
    }

    /// Verifies that it holds exactly its members, each at its position, with correct counts.
    ///
    /// # Errors
    /// Describes the discrepancy.
    pub fn audit(
        &self,
        layout: &Layout,
        units: &Units,
        held: &mut IdSlice<UnitId, bool>,
    ) -> Result<(), String> {
        let mut here = IdVec::filled(false, layout.units());
        self.index.audit(layout, units, &mut here)?;
        let mut worthwhile = IdVec::filled(0, layout.domains());
        for unit in UnitId::all(layout.units()).filter(|&unit| here[unit]) {
            let valid = units.meta[unit].valid;
            if valid == 0 && self.dead.is_some() {
                return Err(format!("unit {unit} is dead, but not among the dead update blocks"));
            }
            worthwhile[layout.domain_of(unit)] += u32::from(valid < layout.pages_per_unit());
        }
        if worthwhile != self.worthwhile {
            let counted = &self.worthwhile;
            return Err(format!("update blocks worth collecting: {worthwhile:?}, counted {counted:?}"));
        }
        for domain in DomainId::all(layout.domains()) {
            for unit in self.dead.iter().flat_map(|dead| dead.iter(domain)) {
                let wrong = layout.domain_of(unit) != domain || units.meta[unit].valid != 0;
                if wrong || std::mem::replace(&mut here[unit], true) {
                    return Err(format!("unit {unit} is among the dead update blocks of domain {domain}"));
                }
            }
        }
        for unit in UnitId::all(layout.units()) {
            if here[unit] != self.members[unit] || here[unit] && held[unit] {
                return Err(format!("unit {unit} is in the wrong victim index"));
            }
            held[unit] |= here[unit];
        }
        Ok(())
    }
}
