//! The mechanism's side of a separator that looks at pages: which unit belongs to which stream, and what became of each
//! stream's pages.

use super::by_stream::ByStream;
use super::{
    Chosen, Foresight, Held, Hints, Looking, Moved, Place, Reclaimed, Regroup, Replaced, Separate, Separator,
    Shape, StreamId, UpdateBlocks, Written, with_looking,
};
use crate::owners::Mapping;
use floatgate_base::{IdSlice, IdVec, Lpn, Owner, Ppn, UnitId};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What became of a stream's pages and units since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamCounters {
    /// Pages that the host wrote into it.
    pub host_pages: u64,
    /// Pages that collection and wear-leveling moved into it.
    pub moved_pages: u64,
    /// Pages that joined another stream's unit, because no unit was free.
    pub strayed_pages: u64,
    /// Units that were opened for it.
    pub opened: u64,
    /// Units of it that were collected.
    pub victims: u64,
    /// Of these, units without a valid page.
    pub dead_victims: u64,
    /// Pages that they moved out of its units into streams.
    pub copied_pages: u64,
}

/// Live pages of a unit, in order, for all of which the separator will be asked.
#[inline(never)]
fn gather<S: Separator>(state: &S, mapping: &Mapping, pages: Range<Ppn>, moving: &mut Vec<(Ppn, Owner)>) {
    mapping.for_each(pages, |ppn, owner| {
        // Of no use, but no harm, where a side table owns it.
        state.prefetch(Lpn(owner.bits()));
        moving.push((ppn, owner));
    });
}

/// Streams of pages that leave a unit opened for `from`. Their map entries will be written next. A page that a side table
/// owns mostly stays in its stream.
#[inline(never)]
fn ask<S: Separator>(
    state: &mut S,
    moving: &[(Ppn, Owner)],
    from: StreamId,
    now: u64,
    mapping: &Mapping,
    streams: &mut [u16],
) {
    let sides = mapping.sides.any();
    for (&(_, owner), stream) in moving.iter().zip(streams) {
        if sides && owner.lpn().is_none() {
            *stream = state.side_stream(from).0 as u16;
            continue;
        }
        let lpn = Lpn(owner.bits());
        mapping.prefetch(lpn);
        let page = Moved { lpn, from, now };
        let to = state.move_stream(&page);
        state.moved(&page, to);
        *stream = to.0 as u16;
    }
}

/// A separator at work on a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Separation {
    looking: Looking,
    /// Stream for which each unit was opened last.
    stream_of: IdVec<UnitId, StreamId>,
    /// Host page writes when it was.
    opened_at: IdVec<UnitId, u64>,
    counters: IdVec<StreamId, StreamCounters>,
    #[serde(skip)]
    by_stream: ByStream,
}

impl Separation {
    /// Of a new drive; none for separators that look at no page.
    #[must_use]
    pub fn of(separate: Separate, shape: &Shape) -> Option<Box<Self>> {
        let looking = Looking::of(separate, shape)?;
        Some(Box::new(Self {
            looking,
            stream_of: IdVec::filled(StreamId(0), shape.units),
            opened_at: IdVec::filled(0, shape.units),
            counters: IdVec::filled(StreamCounters::default(), separate.streams()),
            by_stream: ByStream::default(),
        }))
    }

    /// Whether it can be one of a drive with so many units and streams.
    pub(crate) fn is_within(&self, units: u32, separate: Separate) -> bool {
        let streams = separate.streams();
        self.looking.is_of(separate)
            && self.stream_of.len() == units as usize
            && self.opened_at.len() == units as usize
            && self.counters.len() == streams as usize
            && self.stream_of.iter().all(|&stream| stream.0 < streams)
    }

    /// Hands over what the separator is to know of the future, before the workload begins.
    pub(crate) fn foresee(&mut self, foresight: Foresight) {
        with_looking!(&mut self.looking, state => {
            if let Some(future) = state.future() {
                *future = foresight;
                state.foreseen();
            }
        });
    }

    /// What it knows.
    pub(crate) fn foresight(&self) -> Option<&Foresight> {
        with_looking!(&self.looking, state => state.foresight())
    }

    /// The workload begins after so many host page writes.
    pub(crate) fn workload_begins(&mut self, now: u64) {
        with_looking!(&mut self.looking, state => {
            if let Some(future) = state.future() {
                future.begin_at(now);
            }
        });
    }

    /// Hands over again what of that is not saved, when a run goes on.
    pub(crate) fn recall(&mut self, foresight: Foresight) {
        with_looking!(&mut self.looking, state => {
            if let Some(future) = state.future() {
                future.recall(foresight);
            }
        });
    }

    /// The stream of a page that the host writes now.
    #[inline(always)]
    pub(crate) fn write(&mut self, lpn: Lpn, update: bool, hints: Hints, now: u64) -> StreamId {
        let page = Written { lpn, update, hints, now };
        let stream = with_looking!(&mut self.looking, state => state.write(&page));
        self.counters[stream].host_pages += 1;
        stream
    }

    /// The stream for which a unit was opened.
    pub(crate) fn stream_of(&self, unit: UnitId) -> StreamId {
        self.stream_of[unit]
    }

    /// Chunks were moved: so many pages into a stream.
    pub(crate) fn moved_chunk(&mut self, from: StreamId, to: StreamId, pages: u64) {
        self.counters[from].copied_pages += pages;
        self.counters[to].moved_pages += pages;
    }

    /// The stream of a page that is to leave `unit`.
    pub(crate) fn move_stream(&self, owner: Owner, unit: UnitId, now: u64) -> StreamId {
        let from = self.stream_of[unit];
        with_looking!(&self.looking, state => match owner.lpn() {
            Some(lpn) => state.move_stream(&Moved { lpn, from, now }),
            None => state.side_stream(from),
        })
    }

    /// The stream of chunks that are to leave `unit`.
    pub(crate) fn side_stream(&self, unit: UnitId) -> StreamId {
        with_looking!(&self.looking, state => state.side_stream(self.stream_of[unit]))
    }

    /// The page leaves `unit` for `stream`.
    pub(crate) fn moved(&mut self, owner: Owner, unit: UnitId, stream: StreamId, now: u64) {
        let from = self.stream_of[unit];
        if let Some(lpn) = owner.lpn() {
            let page = Moved { lpn, from, now };
            with_looking!(&mut self.looking, state => state.moved(&page, stream));
        }
        self.counters[from].copied_pages += 1;
        self.counters[stream].moved_pages += 1;
    }

    /// Asks for what [`Separation::move_all`] of these pages will touch.
    #[inline(always)]
    pub(crate) fn gather(&self, mapping: &Mapping, pages: Range<Ppn>, moving: &mut Vec<(Ppn, Owner)>) {
        with_looking!(&self.looking, state => gather(&**state, mapping, pages, moving));
    }

    /// All these pages leave `unit`, each for its stream; [`Separation::keep`] takes the answer back.
    pub(crate) fn move_all(
        &mut self,
        moving: &[(Ppn, Owner)],
        unit: UnitId,
        now: u64,
        mapping: &Mapping,
    ) -> ByStream {
        let from = self.stream_of[unit];
        let mut sorted = std::mem::take(&mut self.by_stream);
        let streams = sorted.begin(moving.len());
        with_looking!(&mut self.looking, state => ask(&mut **state, moving, from, now, mapping, streams));
        sorted.sort(self.counters.len(), moving);
        self.counters[from].copied_pages += moving.len() as u64;
        for (stream, pages) in sorted.runs() {
            self.counters[stream].moved_pages += pages.len() as u64;
        }
        sorted
    }

    /// Memory for the next call.
    pub(crate) fn keep(&mut self, by_stream: ByStream) {
        self.by_stream = by_stream;
    }

    /// Pages of a stream joined another's unit.
    pub(crate) fn strayed(&mut self, stream: StreamId, pages: u64) {
        self.counters[stream].strayed_pages += pages;
    }

    pub(crate) fn trimmed(&mut self, lpn: Lpn, now: u64) {
        with_looking!(&mut self.looking, state => state.trimmed(lpn, now));
    }

    /// A page that the host writes lies in a unit now.
    #[inline(always)]
    pub(crate) fn placed(&mut self, lpn: Lpn, unit: UnitId) {
        with_looking!(&mut self.looking, state => state.placed(lpn, unit));
    }

    /// Pages that moved lie in a unit now.
    #[cold]
    pub(crate) fn placed_all(&mut self, moved: &[(Ppn, Owner)], unit: UnitId) {
        let pages = moved.iter().filter_map(|(_, owner)| owner.lpn());
        with_looking!(&mut self.looking, state => pages.for_each(|lpn| state.placed(lpn, unit)));
    }

    /// A unit is opened for a stream.
    pub(crate) fn opened(&mut self, unit: UnitId, stream: StreamId, now: u64) {
        with_looking!(&mut self.looking, state => state.opened(unit));
        (self.stream_of[unit], self.opened_at[unit]) = (stream, now);
        self.counters[stream].opened += 1;
    }

    /// A unit that was opened for a stream goes back untouched.
    pub(crate) fn put_back(&mut self, stream: StreamId) {
        self.counters[stream].opened -= 1;
    }

    /// The pages of `cold` are to move into `unit`, which has been erased: it goes on in the place of theirs.
    pub(crate) fn takes_in(&mut self, unit: UnitId, cold: UnitId) {
        with_looking!(&mut self.looking, state => state.opened(unit));
        self.stream_of[unit] = self.stream_of[cold];
        self.opened_at[unit] = self.opened_at[cold];
    }

    /// A unit with so many valid pages is to be collected.
    pub(crate) fn chosen(&mut self, unit: UnitId, valid: u32, closed_at: u64, now: u64) {
        let stream = self.stream_of[unit];
        let counters = &mut self.counters[stream];
        counters.victims += 1;
        counters.dead_victims += u64::from(valid == 0);
        let unit = Chosen { stream, valid, closed_at, now };
        with_looking!(&mut self.looking, state => state.chosen(&unit));
    }

    /// The host is about to write a page that lies in a unit, which was closed so long ago.
    pub(crate) fn replaces(&mut self, lpn: Lpn, unit: UnitId, age: u64) {
        let page = Replaced { lpn, stream: self.stream_of[unit], age };
        with_looking!(&mut self.looking, state => state.replaces(&page));
    }

    /// Whether there may be queues.
    pub(crate) fn queues(&self) -> bool {
        with_looking!(&self.looking, state => state.queues())
    }

    /// From whose queue the next victim of a domain is taken.
    pub(crate) fn victim_stream(&self, closed: &[u32]) -> Option<StreamId> {
        with_looking!(&self.looking, state => state.victim_stream(closed))
    }

    /// Whether streams may begin to mean something else.
    pub(crate) fn wants_regroup(&self) -> bool {
        with_looking!(&self.looking, state => state.wants_regroup())
    }

    /// What they begin to mean.
    pub(crate) fn regroup(&mut self, held: &Held) -> Option<Regroup> {
        with_looking!(&mut self.looking, state => state.regroup(held))
    }

    /// A closed unit belongs to another stream.
    pub(crate) fn give_to(&mut self, unit: UnitId, stream: StreamId) {
        self.stream_of[unit] = stream;
    }

    /// A unit is about to be erased.
    pub(crate) fn reclaimed(&mut self, unit: UnitId, now: u64) {
        let (stream, opened_at) = (self.stream_of[unit], self.opened_at[unit]);
        let unit = Reclaimed { stream, opened_at, now };
        with_looking!(&mut self.looking, state => state.reclaimed(&unit));
    }

    /// Asks for what the write of a page will touch.
    #[inline(always)]
    pub(crate) fn prefetch(&self, lpn: Lpn) {
        with_looking!(&self.looking, state => state.prefetch(lpn));
    }

    /// When collection takes update blocks.
    pub(crate) fn update_blocks(&self) -> UpdateBlocks {
        with_looking!(&self.looking, state => state.update_blocks())
    }

    /// Where a unit waits for its collection once it is closed.
    #[must_use]
    pub fn place(&self, unit: UnitId) -> Place {
        let stream = self.stream_of[unit];
        with_looking!(&self.looking, state => {
            if state.is_queued(stream) {
                Place::Queue(stream)
            } else if state.is_last(stream) {
                Place::Last
            } else {
                Place::Index
            }
        })
    }

    /// Starts counting afresh.
    pub(crate) fn reset_counts(&mut self) {
        self.counters.fill(StreamCounters::default());
    }

    /// What became of each stream.
    #[must_use]
    pub fn counters(&self) -> &IdSlice<StreamId, StreamCounters> {
        &self.counters
    }

    /// Bytes of all tables.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let units = self.stream_of.len() as u64 * 12;
        units + with_looking!(&self.looking, state => state.memory_bytes())
    }

    /// Contexts that the separator has given a stream, with that stream.
    #[must_use]
    pub fn contexts(&self) -> Vec<(u32, StreamId)> {
        with_looking!(&self.looking, state => state.contexts())
    }

    /// What the separator found, by name.
    #[must_use]
    pub fn figures(&self) -> Vec<(&'static str, f64)> {
        with_looking!(&self.looking, state => state.figures())
    }
}
