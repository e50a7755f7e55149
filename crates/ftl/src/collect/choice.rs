//! The choice of a victim in one domain: dead update blocks first, then the selection of the victim policy, update
//! blocks only if nothing else is worth collecting. A separator with queues selects a queue, whose oldest unit is the
//! victim, or leaves the choice to the victim policy among units in no queue. Wear-leveling may set candidates aside
//! and have the choice repeated.

use super::{Apart, Candidates, Victim, View};
use crate::separate::Separation;
use crate::units::Units;
use floatgate_base::{DomainId, IdSlice, StreamId, UnitId};
use floatgate_flash::Layout;

/// The group of units from which a victim was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CandidateGroup {
    /// Update blocks without a valid page.
    Dead,
    /// Units that are neither update blocks nor in a queue.
    Others,
    /// Update blocks.
    Last,
    /// Units of a stream's queue, in the order of closing.
    Queue(StreamId),
}

/// A unit that was set aside, and the one that replaced it in the victim policy's window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetAside {
    group: CandidateGroup,
    unit: UnitId,
    replaced_by: Option<UnitId>,
}

/// Inputs of a choice.
pub(crate) struct Choice<'a> {
    pub candidates: &'a mut Candidates,
    pub units: &'a mut Units,
    pub layout: &'a Layout,
    /// Erases of each unit.
    pub erases: &'a IdSlice<UnitId, u32>,
    /// Host page writes so far.
    pub now: u64,
    pub victim: Victim,
    /// The separator, which may have queues.
    pub separation: Option<&'a Separation>,
    pub domain: DomainId,
}

impl Choice<'_> {
    /// Returns the unit to collect next, still in its index; none if collection gains nothing.
    pub fn first(&mut self) -> Option<(CandidateGroup, UnitId)> {
        let domain = self.domain;
        let last = match &self.candidates.apart {
            None => {
                let unit = self.pick(CandidateGroup::Others)?;
                return (!self.is_futile(unit)).then_some((CandidateGroup::Others, unit));
            }
            Some(Apart::Queues(_)) => return self.first_of_queues(),
            Some(Apart::Last(last)) => last,
        };
        if let Some(dead) = last.dead.as_ref().and_then(|dead| dead.first(self.domain)) {
            return Some((CandidateGroup::Dead, dead));
        }
        let group = match (self.candidates.worthwhile[domain], last.worthwhile[domain]) {
            (0, 0) => return None,
            (0, _) => CandidateGroup::Last,
            _ => CandidateGroup::Others,
        };
        self.pick(group).map(|unit| (group, unit))
    }

    /// Returns the first choice if the separator has queues. Full units of a queue are collected, too: their pages move
    /// on to another stream and the units with dead pages get their turn. None if no unit has dead pages.
    fn first_of_queues(&mut self) -> Option<(CandidateGroup, UnitId)> {
        let (domain, separation) = (self.domain, self.separation?);
        let Some(Apart::Queues(queues)) = &self.candidates.apart else { return None };
        let worthwhile = queues.first_worthwhile(domain);
        let others = self.candidates.worthwhile[domain] > 0;
        if worthwhile.is_none() && !others {
            return None;
        }
        let named =
            separation.victim_stream(queues.lengths(domain)).or(if others { None } else { worthwhile });
        if let Some(stream) = named
            && let Some(unit) = queues.oldest(domain, stream)
        {
            return Some((CandidateGroup::Queue(stream), unit));
        }
        self.pick(CandidateGroup::Others).map(|unit| (CandidateGroup::Others, unit))
    }

    /// Returns the next choice after one of a group was set aside; an update block replaces no other unit.
    pub fn next(&mut self, mut group: CandidateGroup) -> Option<(CandidateGroup, UnitId)> {
        if group == CandidateGroup::Dead {
            if let Some(Apart::Last(last)) = &self.candidates.apart
                && let Some(dead) = last.dead.as_ref().and_then(|dead| dead.first(self.domain))
            {
                return Some((CandidateGroup::Dead, dead));
            }
            group = CandidateGroup::Others;
        }
        let unit = match (group, &self.candidates.apart) {
            (CandidateGroup::Queue(stream), Some(Apart::Queues(queues))) => {
                queues.oldest(self.domain, stream)
            }
            _ => self.pick(group),
        }?;
        (self.units.meta[unit].valid < self.layout.pages_per_unit()).then_some((group, unit))
    }

    /// Returns the victim policy's selection.
    fn pick(&mut self, group: CandidateGroup) -> Option<UnitId> {
        let Candidates { index, apart, rng, faults, .. } = &mut *self.candidates;
        let index = match apart {
            Some(Apart::Last(last)) if group == CandidateGroup::Last => &last.index,
            _ => index,
        };
        let view = View {
            index,
            units: self.units,
            erases: self.erases,
            layout: self.layout,
            now: self.now,
            domain: self.domain,
            faults,
        };
        let unit = self.victim.pick(view, rng)?;
        if self.victim.is_plugin()
            && apart.as_ref().is_some_and(|apart| apart.holds(unit) != (group == CandidateGroup::Last))
        {
            faults.report(format!(
                "the victim policy chose block {unit}, which waits for its collection elsewhere"
            ));
            return None;
        }
        Some(unit)
    }

    /// Checks whether the victim is full and so is every other closed unit of its domain. Policies that ignore valid
    /// pages may select full units forever.
    fn is_futile(&self, victim: UnitId) -> bool {
        let full = self.units.meta[victim].valid == self.layout.pages_per_unit();
        full && self.candidates.worthwhile[self.domain] == 0
    }

    /// Excludes a unit from the choice until it is put back.
    pub fn set_aside(&mut self, group: CandidateGroup, unit: UnitId) -> SetAside {
        let Candidates { index, apart, .. } = &mut *self.candidates;
        let replaced_by = match (group, apart) {
            (CandidateGroup::Queue(stream), Some(Apart::Queues(queues))) => {
                queues.set_aside(self.domain, stream, unit);
                None
            }
            (CandidateGroup::Dead, Some(Apart::Last(last))) => {
                if let Some(dead) = &mut last.dead {
                    dead.remove(self.domain, unit);
                }
                None
            }
            (CandidateGroup::Last, Some(Apart::Last(last))) => {
                last.index.remove(self.domain, unit, self.units)
            }
            _ => index.remove(self.domain, unit, self.units),
        };
        SetAside { group, unit, replaced_by }
    }

    /// Undoes [`Choice::set_aside`]; of several calls, the last one first.
    pub fn put_back(&mut self, aside: SetAside) {
        let SetAside { group, unit, replaced_by } = aside;
        let Candidates { index, apart, .. } = &mut *self.candidates;
        match (group, apart) {
            (CandidateGroup::Queue(stream), Some(Apart::Queues(queues))) => {
                queues.put_back(self.domain, stream, unit)
            }
            (CandidateGroup::Dead, Some(Apart::Last(last))) => {
                if let Some(dead) = &mut last.dead {
                    dead.push_front(self.domain, unit);
                }
            }
            (CandidateGroup::Last, Some(Apart::Last(last))) => {
                last.index.put_back(self.domain, unit, replaced_by, self.units)
            }
            _ => index.put_back(self.domain, unit, replaced_by, self.units),
        }
    }
}
