//! Saves and restores the operations under way. State and counts are part of [`crate::SavedCounts`].

use super::gathering::Gathering;
use super::links::Links;
use super::moving::{Moving, SavedMoving};
use super::queue::{Far, Job};
use super::reclaims::Reclaims;
use super::schedule::Schedule;
use super::volatile::Volatile;
use super::{Block, Timed};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The operations under way.
#[derive(Serialize, Deserialize)]
pub struct Underway<'a> {
    schedule: Cow<'a, Schedule>,
    blocks: Cow<'a, [Block]>,
    gathering: Cow<'a, Gathering>,
    volatile: Cow<'a, Option<Box<Volatile>>>,
    barrier_of_unit: Cow<'a, [Option<u32>]>,
    job: Job,
    now_ns: u64,
    request: u32,
    read_first: Far,
    hold: Far,
    newest: Far,
    links: Cow<'a, Option<Box<Links>>>,
    moving: Option<SavedMoving>,
    reclaims: Cow<'a, Option<Box<Reclaims>>>,
    on: bool,
}

impl Timed {
    /// Returns the content for a snapshot beside the counts. The pattern without `..` makes the compiler report a new
    /// field.
    #[must_use]
    pub fn saved(&self) -> Underway<'_> {
        let Self {
            schedule,
            blocks,
            gathering,
            volatile,
            barrier_of_unit,
            job,
            now_ns,
            request,
            read_first,
            hold,
            newest,
            links,
            moving,
            reclaims,
            on,
            counts: _,
            // From layout and settings.
            plane_at: _,
            planes: _,
            detailed: _,
            has_modes: _,
            packed: _,
        } = self;
        let schedule = schedule.settled();
        Underway {
            moving: moving
                .as_deref()
                .map(|moving| moving.saved(|die, class| schedule.done_tickets(die, class))),
            schedule,
            blocks: Cow::from(blocks),
            gathering: Cow::Borrowed(gathering),
            volatile: Cow::Borrowed(volatile),
            barrier_of_unit: Cow::from(barrier_of_unit.as_slice()),
            job: *job,
            now_ns: *now_ns,
            request: *request,
            read_first: *read_first,
            hold: *hold,
            newest: *newest,
            links: Cow::Borrowed(links),
            reclaims: Cow::Borrowed(reclaims),
            on: *on,
        }
    }

    /// Returns the same without the schedule and the blocks, for tests that compare.
    #[cfg(test)]
    pub(super) fn saved_beside(&self) -> impl Serialize {
        let saved = serde_json::to_value(self.saved()).unwrap_or_default();
        let beside = |key: &str| key != "schedule" && key != "blocks";
        let fields = saved.as_object().cloned().unwrap_or_default();
        fields.into_iter().filter(|(key, _)| beside(key)).collect::<serde_json::Map<_, _>>()
    }

    /// Restores the content from a snapshot of an array with the same layout and settings; returns false for others.
    #[must_use]
    pub fn restore(&mut self, state: Underway<'_>) -> bool {
        let Underway {
            schedule,
            blocks,
            gathering,
            volatile,
            barrier_of_unit,
            job,
            now_ns,
            request,
            read_first,
            hold,
            newest,
            links,
            moving,
            reclaims,
            on,
        } = state;
        let fits = blocks.len() == self.blocks.len()
            && barrier_of_unit.len() == self.barrier_of_unit.len()
            && gathering.is_like(&self.gathering)
            && volatile.as_deref().map_or(self.volatile.is_none(), |saved| {
                self.volatile.as_deref().is_some_and(|own| saved.is_like(own))
            })
            && moving.as_ref().map_or(self.moving.is_none(), |saved| {
                self.moving.as_deref().is_some_and(|own| own.is_like(saved))
            })
            && schedule.same_drive(&self.schedule);
        if fits {
            let mut schedule = schedule.into_owned();
            std::mem::swap(&mut schedule.layout, &mut self.schedule.layout);
            // A tap stays in place.
            schedule.tap = self.schedule.tap.take();
            schedule.recording |= schedule.tap.is_some();
            if schedule.recording {
                schedule.end_rows();
            }
            (self.schedule, self.blocks, self.job) = (schedule, blocks.into_owned(), job);
            (self.barrier_of_unit, self.links) = (barrier_of_unit.into_owned().into(), links.into_owned());
            (self.now_ns, self.request, self.on) = (now_ns, request, on);
            (self.moving, self.reclaims) =
                (moving.as_ref().map(|saved| Box::new(Moving::of(saved))), reclaims.into_owned());
            (self.gathering, self.volatile) = (gathering.into_owned(), volatile.into_owned());
            (self.read_first, self.hold, self.newest) = (read_first, hold, newest);
        }
        fits
    }
}
