//! Collection as a source of job requests: it selects the victim, which wear-leveling may veto.

use super::choice::CandidateGroup;
use super::{Candidates, Choice, Victim};
use crate::jobs::request::{DriveView, StartsJobs};
use crate::jobs::{Request, Urgency};
use crate::level::{Leveling, PASSED_MAX, Verdict, VictimView};
use crate::separate::Separation;
use floatgate_base::{DomainId, UnitId};
use floatgate_flash::Cause;

/// Inputs of collection.
pub(crate) struct Collector<'a> {
    pub victim: Victim,
    pub candidates: &'a mut Candidates,
    pub leveling: Option<&'a mut Leveling>,
    pub separation: Option<&'a Separation>,
}

impl StartsJobs for Collector<'_> {
    /// Returns the collection of the next victim, followed by the swap that wear-leveling may add; none if nothing is
    /// gained. All units are still closed.
    fn next_request(&mut self, drive: &mut DriveView<'_>, domain: DomainId) -> Option<Request> {
        let DriveView { layout, erases, now, logical_pages, .. } = *drive;
        let (candidates, victim) = (&mut *self.candidates, self.victim);
        let (units, separation) = (&mut *drive.units, self.separation);
        let mut choice = Choice { candidates, units, layout, erases, now, victim, separation, domain };
        let first = choice.first()?;
        let collect = |unit| Request::emptying(unit, domain, Cause::Gc, Urgency::Collection);
        let Some(leveling) = self.leveling.as_deref_mut() else { return Some(collect(first.1)) };
        let (unit, cold) = select_victim(&mut choice, leveling, first, logical_pages);
        Some(match cold {
            Some(cold) => collect(unit).taking_in(cold, domain, Cause::Level),
            None => collect(unit),
        })
    }
}

/// Returns the first victim that wear-leveling does not veto, and the cold unit whose pages move into it, if any.
fn select_victim(
    choice: &mut Choice<'_>,
    leveling: &mut Leveling,
    first: (CandidateGroup, UnitId),
    logical_pages: u32,
) -> (UnitId, Option<UnitId>) {
    let (mut group, mut victim) = first;
    let mut passed = Vec::new();
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
    for aside in passed.into_iter().rev() {
        choice.put_back(aside);
    }
    (victim, cold)
}
