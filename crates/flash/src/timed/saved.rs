//! What is under way, to a snapshot and back. State and counts go by [`crate::SavedCounts`].

use super::links::Links;
use super::queue::{Far, Job};
use super::schedule::Schedule;
use super::{Block, Timed};
use serde::{Deserialize, Serialize};

/// What is under way.
#[derive(Deserialize)]
pub struct Underway(
    Schedule,
    (Vec<Block>, Vec<Option<u32>>),
    Job,
    u64,
    u32,
    [Far; 3],
    Option<Box<Links>>,
    bool,
);

/// The same, borrowed, field by field in the same order.
#[derive(Serialize)]
struct UnderwayRef<'a>(
    &'a Schedule,
    (&'a [Block], &'a [Option<u32>]),
    Job,
    u64,
    u32,
    [Far; 3],
    &'a Option<Box<Links>>,
    bool,
);

impl Timed {
    /// What a snapshot keeps beside the counts. Taken apart without `..`, so that no new field is forgotten.
    #[must_use]
    pub fn saved(&self) -> impl Serialize + '_ {
        let Self {
            schedule,
            blocks,
            barrier_of_unit,
            job,
            now_ns,
            request,
            read_first,
            hold,
            newest,
            links,
            on,
            counts: _,
            // From layout and settings.
            plane_at: _,
            planes: _,
            detailed: _,
        } = self;
        let blocks = (&blocks[..], &barrier_of_unit[..]);
        UnderwayRef(schedule, blocks, *job, *now_ns, *request, [*read_first, *hold, *newest], links, *on)
    }

    /// Takes over what a snapshot kept of an array of the same layout and settings; false if it is of another one.
    #[must_use]
    pub fn restore(&mut self, state: Underway) -> bool {
        let Underway(
            mut schedule,
            (blocks, barriers),
            job,
            now_ns,
            request,
            [read_first, hold, newest],
            links,
            on,
        ) = state;
        let fits = blocks.len() == self.blocks.len()
            && barriers.len() == self.barrier_of_unit.len()
            && schedule.same_drive(&self.schedule);
        if fits {
            std::mem::swap(&mut schedule.layout, &mut self.schedule.layout);
            (self.schedule, self.blocks, self.job, self.links) = (schedule, blocks, job, links);
            self.barrier_of_unit = barriers;
            (self.now_ns, self.request, self.on) = (now_ns, request, on);
            (self.read_first, self.hold, self.newest) = (read_first, hold, newest);
        }
        fits
    }
}
