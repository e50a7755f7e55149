//! Update blocks: units that collection takes last, where a separator has such streams (PDS, algorithm 1).
//!
//! What a program updates again and again will soon be dead where it stands; to move it would be in vain. So these units
//! stand in an index of their own, of the victim policy's kind, and are only looked at when no other unit is worth
//! collecting. Those that have died have nothing left to protect or to move: they wait in a list and are taken before
//! all others. Every choice costs what it costs in one index. Memory: that of a second index, and 9 bytes a unit.

use crate::collect::View;
use crate::ftl::Ftl;
use crate::index::{Index, IndexKind, Lists};
use crate::separate::UpdateBlocks;
use crate::units::{NOT_INDEXED, Units};
use floatgate_base::UnitId;
use floatgate_flash::{Flash, Layout};
use serde::{Deserialize, Serialize};

/// `pos` of a unit in the list of dead ones.
const DEAD: u32 = 0;

/// Among which units a victim was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// Update blocks without a valid page.
    Dead,
    /// All that are no update blocks.
    Others,
    /// Update blocks.
    Last,
}

/// The closed units that are taken last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Last {
    index: Index,
    /// Whether each unit is one of them; of closed units only.
    members: Vec<bool>,
    /// Units of the index with a dead page, by domain.
    worthwhile: Vec<u32>,
    /// Units without a valid page, where they are taken first.
    dead: Option<Lists>,
}

impl Last {
    /// Of an empty drive; none where no unit waits.
    pub fn of(update_blocks: UpdateBlocks, kind: IndexKind, layout: &Layout) -> Option<Box<Self>> {
        let dead = match update_blocks {
            UpdateBlocks::AsAny => return None,
            UpdateBlocks::LastUnlessDead => Some(Lists::new(layout.domains(), layout.units())),
            UpdateBlocks::Last => None,
        };
        Some(Box::new(Self {
            index: Index::new(kind, layout),
            members: vec![false; layout.units() as usize],
            worthwhile: vec![0; layout.domains() as usize],
            dead,
        }))
    }

    /// Whether it is the state of a drive of such a layout, whose units wait likewise.
    pub fn fits(&self, other: &Self) -> bool {
        self.members.len() == other.members.len()
            && self.worthwhile.len() == other.worthwhile.len()
            && self.dead.as_ref().map(Lists::room) == other.dead.as_ref().map(Lists::room)
    }

    /// Whether a closed unit is one of them.
    #[inline(always)]
    pub fn holds(&self, unit: UnitId) -> bool {
        self.members[unit as usize]
    }

    /// A unit was closed.
    pub fn insert(&mut self, domain: u32, unit: UnitId, units: &mut Units, full: u32) {
        let valid = units.meta[unit as usize].valid;
        self.members[unit as usize] = true;
        if valid == 0 && self.dead.is_some() {
            return self.bury(domain, unit, units);
        }
        self.worthwhile[domain as usize] += u32::from(valid < full);
        self.index.insert(domain, unit, units);
    }

    /// A closed unit lost a page; `from` is its count before.
    #[inline(always)]
    pub fn demote(&mut self, layout: &Layout, unit: UnitId, from: u32, units: &mut Units) {
        if from == layout.pages_per_unit() {
            self.worthwhile[layout.domain_of(unit) as usize] += 1;
        }
        self.index.demote(layout, unit, from, &mut units.meta);
        if from == 1 {
            self.died(layout.domain_of(unit), unit, units);
        }
    }

    /// A closed unit lost its last page.
    #[cold]
    fn died(&mut self, domain: u32, unit: UnitId, units: &mut Units) {
        if self.dead.is_some() {
            self.index.remove(domain, unit, units);
            self.worthwhile[domain as usize] -= 1;
            self.bury(domain, unit, units);
        }
    }

    fn bury(&mut self, domain: u32, unit: UnitId, units: &mut Units) {
        if let Some(dead) = &mut self.dead {
            dead.push_back(domain, unit);
            units.meta[unit as usize].pos = DEAD;
        }
    }

    /// A unit is to be emptied.
    pub fn leave(&mut self, domain: u32, unit: UnitId, units: &mut Units, full: u32) {
        let valid = units.meta[unit as usize].valid;
        self.members[unit as usize] = false;
        match &mut self.dead {
            Some(dead) if valid == 0 => {
                dead.remove(domain, unit);
                units.meta[unit as usize].pos = NOT_INDEXED;
            }
            _ => {
                self.index.remove(domain, unit, units);
                self.worthwhile[domain as usize] -= u32::from(valid < full);
            }
        }
    }

    /// Checks that it holds just its members, each in its place, and counts them right.
    ///
    /// # Errors
    /// Says what is out of place.
    pub fn audit(&self, layout: &Layout, units: &Units, held: &mut [bool]) -> Result<(), String> {
        let mut here = vec![false; held.len()];
        self.index.audit(layout, units, &mut here)?;
        let mut worthwhile = vec![0; layout.domains() as usize];
        for unit in (0..layout.units()).filter(|&unit| here[unit as usize]) {
            let valid = units.meta[unit as usize].valid;
            if valid == 0 && self.dead.is_some() {
                return Err(format!("unit {unit} is dead, but not among the dead update blocks"));
            }
            worthwhile[layout.domain_of(unit) as usize] += u32::from(valid < layout.pages_per_unit());
        }
        if worthwhile != self.worthwhile {
            let counted = &self.worthwhile;
            return Err(format!("update blocks worth collecting: {worthwhile:?}, counted {counted:?}"));
        }
        for domain in 0..layout.domains() {
            for unit in self.dead.iter().flat_map(|dead| dead.iter(domain)) {
                let wrong = layout.domain_of(unit) != domain || units.meta[unit as usize].valid != 0;
                if wrong || std::mem::replace(&mut here[unit as usize], true) {
                    return Err(format!(
                        "unit {unit} stands among the dead update blocks of domain {domain}"
                    ));
                }
            }
        }
        for unit in 0..held.len() {
            if here[unit] != self.members[unit] || here[unit] && held[unit] {
                return Err(format!("unit {unit} stands in the wrong victim index"));
            }
            held[unit] |= here[unit];
        }
        Ok(())
    }
}

impl Ftl {
    /// The unit to collect next in a domain; none if nothing is to be gained. It is still in its index.
    pub(crate) fn first_choice<F: Flash>(&mut self, flash: &F, domain: u32) -> Option<(Group, UnitId)> {
        let Some(last) = &self.last else {
            let unit = self.pick(flash, domain, Group::Others)?;
            return (!self.is_futile(unit, domain)).then_some((Group::Others, unit));
        };
        if let Some(dead) = last.dead.as_ref().and_then(|dead| dead.first(domain)) {
            return Some((Group::Dead, dead));
        }
        let d = domain as usize;
        let group = match (self.units.worthwhile[d], last.worthwhile[d]) {
            (0, 0) => return None,
            (0, _) => Group::Last,
            _ => Group::Others,
        };
        self.pick(flash, domain, group).map(|unit| (group, unit))
    }

    /// The one after it, once one of a group was set aside; an update block takes the place of no other unit.
    pub(crate) fn next_choice<F: Flash>(
        &mut self,
        flash: &F,
        domain: u32,
        mut group: Group,
    ) -> Option<(Group, UnitId)> {
        if group == Group::Dead {
            let dead = self.last.as_ref().and_then(|last| last.dead.as_ref()?.first(domain));
            if let Some(dead) = dead {
                return Some((Group::Dead, dead));
            }
            group = Group::Others;
        }
        let full = self.layout.pages_per_unit();
        let unit = self.pick(flash, domain, group)?;
        (self.units.meta[unit as usize].valid < full).then_some((group, unit))
    }

    /// The unit that the victim policy names.
    fn pick<F: Flash>(&mut self, flash: &F, domain: u32, group: Group) -> Option<UnitId> {
        let index = match &self.last {
            Some(last) if group == Group::Last => &last.index,
            _ => &self.index,
        };
        let view = View {
            index,
            units: &self.units,
            erases: flash.erase_counts(),
            layout: &self.layout,
            now: self.now,
            domain,
        };
        self.setup.victim.pick(view, &mut self.rng)
    }

    /// Takes a unit out of the choice for a while; gives what [`Ftl::put_back`] needs.
    pub(crate) fn set_aside(&mut self, domain: u32, group: Group, unit: UnitId) -> Option<UnitId> {
        match (group, &mut self.last) {
            (Group::Dead, Some(last)) => {
                if let Some(dead) = &mut last.dead {
                    dead.remove(domain, unit);
                }
                None
            }
            (Group::Last, Some(last)) => last.index.remove(domain, unit, &mut self.units),
            _ => self.index.remove(domain, unit, &mut self.units),
        }
    }

    /// Undoes [`Ftl::set_aside`]; of several, the last one first.
    pub(crate) fn put_back(&mut self, domain: u32, group: Group, unit: UnitId, replaced_by: Option<UnitId>) {
        match (group, &mut self.last) {
            (Group::Dead, Some(last)) => {
                if let Some(dead) = &mut last.dead {
                    dead.push_front(domain, unit);
                }
            }
            (Group::Last, Some(last)) => last.index.put_back(domain, unit, replaced_by, &mut self.units),
            _ => self.index.put_back(domain, unit, replaced_by, &mut self.units),
        }
    }
}
