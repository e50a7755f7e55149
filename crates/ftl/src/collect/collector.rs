//! Collection as a starter of jobs: it names the victim, after wear-leveling has judged it.

use super::choice::Group;
use super::{Candidates, Choice, Victim};
use crate::jobs::request::{DriveView, StartsJobs};
use crate::jobs::{Request, Urgency};
use crate::level::{Judged, Leveling, PASSED_MAX, Verdict};
use crate::separate::Separation;
use floatgate_base::{DomainId, UnitId};
use floatgate_flash::Cause;

/// What collection chooses from and by.
pub(crate) struct Collector<'a> {
    pub victim: Victim,
    pub candidates: &'a mut Candidates,
    pub leveling: Option<&'a mut Leveling>,
    pub separation: Option<&'a Separation>,
}

impl StartsJobs for Collector<'_> {
    /// The unit to collect next, and what wear-leveling wants to follow; none if nothing is to be gained. All units are
    /// still closed ones.
    fn wanted(&mut self, drive: &mut DriveView<'_>, domain: DomainId) -> Option<Request> {
        let DriveView { layout, erases, now, logical_pages, .. } = *drive;
        let (candidates, victim) = (&mut *self.candidates, self.victim);
        let (units, separation) = (&mut *drive.units, self.separation);
        let mut choice = Choice { candidates, units, layout, erases, now, victim, separation, domain };
        let first = choice.first()?;
        let collect = |unit| Request::emptying(unit, domain, Cause::Gc, Urgency::Collection);
        let Some(leveling) = self.leveling.as_deref_mut() else { return Some(collect(first.1)) };
        let (unit, cold) = judged(&mut choice, leveling, first, logical_pages);
        Some(match cold {
            Some(cold) => collect(unit).taking_in(cold, domain, Cause::Level),
            None => collect(unit),
        })
    }
}

/// The victim that wear-leveling lets pass, and the unit whose pages are to move in.
fn judged(
    choice: &mut Choice<'_>,
    leveling: &mut Leveling,
    first: (Group, UnitId),
    logical_pages: u32,
) -> (UnitId, Option<UnitId>) {
    let (mut group, mut victim) = first;
    let mut passed = Vec::new();
    let cold = loop {
        let judged = Judged {
            units: &*choice.units,
            layout: choice.layout,
            erases: choice.erases,
            logical_pages,
            now: choice.now,
            domain: choice.domain,
        };
        match leveling.judge(judged, victim, passed.len() < PASSED_MAX) {
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
