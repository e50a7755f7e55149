//! Collection as a source of job requests: it selects the victim, which timing by context and wear-leveling may veto.

use super::choice::{CandidateGroup, SetAside};
use super::{Candidates, Choice, Timing, Victim};
use crate::jobs::request::{DriveView, StartsJobs};
use crate::jobs::{Request, Urgency};
use crate::level::{Leveling, PASSED_MAX, Verdict, VictimView};
use crate::owners::Mapping;
use crate::separate::Separation;
use floatgate_base::{DomainId, UnitId};
use floatgate_flash::Cause;

/// Inputs of collection.
pub(crate) struct Collector<'a> {
    pub victim: Victim,
    pub candidates: &'a mut Candidates,
    pub leveling: Option<&'a mut Leveling>,
    pub separation: Option<&'a Separation>,
    /// Present if victims may be passed over because their data will soon be dead.
    pub timing: Option<&'a mut Timing>,
}

impl StartsJobs for Collector<'_> {
    /// Returns the collection of the next victim, followed by the swap that wear-leveling may add; none if nothing is
    /// gained. All units are still closed.
    fn next_request(&mut self, drive: &mut DriveView<'_>, domain: DomainId) -> Option<Request> {
        let DriveView { layout, erases, now, logical_pages, mapping, .. } = *drive;
        let (candidates, victim) = (&mut *self.candidates, self.victim);
        let (units, separation) = (&mut *drive.units, self.separation);
        let mut choice = Choice { candidates, units, layout, erases, now, victim, separation, domain };
        let first = choice.first()?;
        let reviewers = (self.timing.as_deref_mut(), self.leveling.as_deref_mut());
        if reviewers.0.is_none() && reviewers.1.is_none() {
            return Some(collect(first.1, domain));
        }
        reviewed(&mut choice, first, reviewers, (mapping, logical_pages))
    }
}

/// Requests the collection of a unit.
fn collect(unit: UnitId, domain: DomainId) -> Request {
    Request::emptying(unit, domain, Cause::Gc, Urgency::Collection)
}

/// Returns the request where timing by context and wear-leveling review victims, of which `first` comes first.
fn reviewed(
    choice: &mut Choice<'_>,
    mut first: (CandidateGroup, UnitId),
    (timing, leveling): (Option<&mut Timing>, Option<&mut Leveling>),
    (mapping, logical_pages): (&Mapping, u32),
) -> Option<Request> {
    let domain = choice.domain;
    let mut passed = Vec::new();
    if let Some(timing) = timing {
        let other = first_that_cannot_wait(choice, timing, first, (mapping, &mut passed));
        let Some(other) = other else {
            put_back(choice, passed);
            timing.put_off(domain, choice.layout);
            return None;
        };
        first = other;
    }
    let (unit, cold) = match leveling {
        None => (first.1, None),
        Some(leveling) => select_victim(choice, leveling, first, (logical_pages, &mut passed)),
    };
    put_back(choice, passed);
    Some(match cold {
        Some(cold) => collect(unit, domain).taking_in(cold, domain, Cause::Level),
        None => collect(unit, domain),
    })
}

/// Undoes what was set aside.
fn put_back(choice: &mut Choice<'_>, passed: Vec<SetAside>) {
    for aside in passed.into_iter().rev() {
        choice.put_back(aside);
    }
}

/// Returns the first victim whose data will not soon be dead; none if all that may be passed over can wait. Another
/// victim is taken only if it has fewer additional valid pages than the first would lose: otherwise collection waits.
fn first_that_cannot_wait(
    choice: &mut Choice<'_>,
    timing: &mut Timing,
    first: (CandidateGroup, UnitId),
    (mapping, passed): (&Mapping, &mut Vec<SetAside>),
) -> Option<(CandidateGroup, UnitId)> {
    let valid = |choice: &Choice<'_>, unit| choice.units.meta[unit].valid;
    let least = valid(choice, first.1);
    let Some(dying) = timing.waiting(first.1, least, choice.layout, mapping) else { return Some(first) };
    passed.push(choice.set_aside(first.0, first.1));
    let mut group = first.0;
    while passed.len() < PASSED_MAX {
        let other = choice.next(group)?;
        let pages = valid(choice, other.1);
        if pages >= least + dying {
            return None;
        }
        if timing.waiting(other.1, pages, choice.layout, mapping).is_none() {
            timing.taken_instead(pages, least);
            return Some(other);
        }
        passed.push(choice.set_aside(other.0, other.1));
        group = other.0;
    }
    None
}

/// Returns the first victim that wear-leveling does not veto, and the cold unit whose pages move into it, if any.
fn select_victim(
    choice: &mut Choice<'_>,
    leveling: &mut Leveling,
    first: (CandidateGroup, UnitId),
    (logical_pages, passed): (u32, &mut Vec<SetAside>),
) -> (UnitId, Option<UnitId>) {
    let (mut group, mut victim) = first;
    let cold = loop {
        let view = VictimView {
            units: &*choice.units,
            layout: choice.layout,
            erases: choice.erases,
            logical_pages,
            now: choice.now,
            domain: choice.domain,
        };
        match leveling.review(view, victim, passed.len() < PASSED_MAX) {
            Verdict::Collect => break None,
            Verdict::Swap(cold) => break Some(cold),
            Verdict::PassOver => {
                passed.push(choice.set_aside(group, victim));
                match choice.next(group) {
                    Some(next) => (group, victim) = next,
                    None => break None,
                }
            }
        }
    };
    (victim, cold)
}
