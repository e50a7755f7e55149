//! The choice of a victim in one domain: dead update blocks first, then what the victim policy names, update blocks only
//! where nothing else is worth collecting. Wear-leveling may set candidates aside and have the choice made again.

use super::{Candidates, Victim, View};
use crate::units::Units;
use floatgate_base::{DomainId, IdSlice, UnitId};
use floatgate_flash::Layout;

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

/// A unit that was set aside, and the one that took its place in the victim policy's window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetAside {
    group: Group,
    unit: UnitId,
    replaced_by: Option<UnitId>,
}

/// What a choice is made of.
pub(crate) struct Choice<'a> {
    pub candidates: &'a mut Candidates,
    pub units: &'a mut Units,
    pub layout: &'a Layout,
    /// Erases of every unit.
    pub erases: &'a IdSlice<UnitId, u32>,
    /// Host page writes so far.
    pub now: u64,
    pub victim: Victim,
    pub domain: DomainId,
}

impl Choice<'_> {
    /// The unit to collect next; none if nothing is to be gained. It is still in its index.
    pub fn first(&mut self) -> Option<(Group, UnitId)> {
        let domain = self.domain;
        let Some(last) = &self.candidates.last else {
            let unit = self.pick(Group::Others)?;
            return (!self.is_futile(unit)).then_some((Group::Others, unit));
        };
        if let Some(dead) = last.dead.as_ref().and_then(|dead| dead.first(self.domain)) {
            return Some((Group::Dead, dead));
        }
        let group = match (self.candidates.worthwhile[domain], last.worthwhile[domain]) {
            (0, 0) => return None,
            (0, _) => Group::Last,
            _ => Group::Others,
        };
        self.pick(group).map(|unit| (group, unit))
    }

    /// The one after it, once one of a group was set aside; an update block takes the place of no other unit.
    pub fn next(&mut self, mut group: Group) -> Option<(Group, UnitId)> {
        if group == Group::Dead {
            let last = self.candidates.last.as_ref();
            if let Some(dead) = last.and_then(|last| last.dead.as_ref()?.first(self.domain)) {
                return Some((Group::Dead, dead));
            }
            group = Group::Others;
        }
        let unit = self.pick(group)?;
        (self.units.meta[unit].valid < self.layout.pages_per_unit()).then_some((group, unit))
    }

    /// The unit that the victim policy names.
    fn pick(&mut self, group: Group) -> Option<UnitId> {
        let Candidates { index, last, rng, .. } = &mut *self.candidates;
        let index = match last {
            Some(last) if group == Group::Last => &last.index,
            _ => index,
        };
        let view = View {
            index,
            units: self.units,
            erases: self.erases,
            layout: self.layout,
            now: self.now,
            domain: self.domain,
        };
        self.victim.pick(view, rng)
    }

    /// Policies that do not look at valid pages may choose full units for ever: whether the victim is full, and so is every
    /// other closed unit of its domain.
    fn is_futile(&self, victim: UnitId) -> bool {
        let full = self.units.meta[victim].valid == self.layout.pages_per_unit();
        full && self.candidates.worthwhile[self.domain] == 0
    }

    /// Takes a unit out of the choice until it is put back.
    pub fn set_aside(&mut self, group: Group, unit: UnitId) -> SetAside {
        let Candidates { index, last, .. } = &mut *self.candidates;
        let replaced_by = match (group, last) {
            (Group::Dead, Some(last)) => {
                if let Some(dead) = &mut last.dead {
                    dead.remove(self.domain, unit);
                }
                None
            }
            (Group::Last, Some(last)) => last.index.remove(self.domain, unit, self.units),
            _ => index.remove(self.domain, unit, self.units),
        };
        SetAside { group, unit, replaced_by }
    }

    /// Undoes [`Choice::set_aside`]; of several, the last one first.
    pub fn put_back(&mut self, aside: SetAside) {
        let SetAside { group, unit, replaced_by } = aside;
        let Candidates { index, last, .. } = &mut *self.candidates;
        match (group, last) {
            (Group::Dead, Some(last)) => {
                if let Some(dead) = &mut last.dead {
                    dead.push_front(self.domain, unit);
                }
            }
            (Group::Last, Some(last)) => last.index.put_back(self.domain, unit, replaced_by, self.units),
            _ => index.put_back(self.domain, unit, replaced_by, self.units),
        }
    }
}
