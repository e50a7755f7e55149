//! The mechanism's side of a separator that inspects pages: the stream of each unit, and counters of each stream.

use super::by_stream::ByStream;
use super::{
    Foresight, Hints, Moved, Occupancy, Reclaimed, Regroup, Replaced, Separate, Separator, SeparatorState,
    Shape, StreamId, UpdateBlocks, VictimUnit, WaitingPlace, Written, with_separator,
};
use crate::owners::Mapping;
use floatgate_base::{IdSlice, IdVec, Lpn, Owner, Ppn, UnitId};
use floatgate_plugin::Plugin;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Counters of a stream's pages and units since counting began.
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

/// Gathers the live pages of a unit, in order, and prefetches what the separator will need for them.
#[inline(never)]
fn gather<S: Separator>(state: &S, mapping: &Mapping, pages: Range<Ppn>, moving: &mut Vec<(Ppn, Owner)>) {
    mapping.for_each(pages, |ppn, owner| {
        // Useless, but harmless, if a side table owns it.
        state.prefetch(Lpn(owner.bits()));
        moving.push((ppn, owner));
    });
}

/// Selects the streams of pages that leave a unit of `from`, and prefetches their map entries. A page that a side table
/// owns usually stays in its stream.
#[inline(never)]
fn assign_streams<S: Separator>(
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
    state: SeparatorState,
    /// Stream of each unit at its last opening.
    stream_of: IdVec<UnitId, StreamId>,
    /// Host page writes at that time.
    opened_at: IdVec<UnitId, u64>,
    counters: IdVec<StreamId, StreamCounters>,
    #[serde(skip)]
    by_stream: ByStream,
}

impl Separation {
    /// Creates the state for a new drive; none for separators that inspect no pages.
    #[must_use]
    pub fn of(separate: Separate, shape: &Shape) -> Option<Box<Self>> {
        let state = SeparatorState::of(separate, shape)?;
        Some(Box::new(Self {
            state,
            stream_of: IdVec::filled(StreamId(0), shape.units),
            opened_at: IdVec::filled(0, shape.units),
            counters: IdVec::filled(StreamCounters::default(), separate.streams()),
            by_stream: ByStream::default(),
        }))
    }

    /// Checks whether it fits a drive of this shape and a separator.
    pub(crate) fn is_within(&self, shape: &Shape, separate: Separate) -> bool {
        let (units, streams) = (shape.units, separate.streams());
        self.state.is_of(separate)
            && with_separator!(&self.state, state => state.code()) == separate.plugin().map(Plugin::code)
            && with_separator!(&self.state, state => state.fits(shape))
            && self.stream_of.len() == units as usize
            && self.opened_at.len() == units as usize
            && self.counters.len() == streams as usize
            && self.stream_of.iter().all(|&stream| stream.0 < streams)
    }

    /// Hands the separator its knowledge of the future before the workload begins.
    pub(crate) fn foresee(&mut self, foresight: Foresight) {
        with_separator!(&mut self.state, state => {
            if let Some(future) = state.future() {
                *future = foresight;
                state.foreseen();
            }
        });
    }

    /// Returns its knowledge of the future.
    pub(crate) fn foresight(&self) -> Option<&Foresight> {
        with_separator!(&self.state, state => state.foresight())
    }

    /// Notes the beginning of the workload after `now` host page writes.
    pub(crate) fn workload_begins(&mut self, now: u64) {
        with_separator!(&mut self.state, state => {
            if let Some(future) = state.future() {
                future.begin_at(now);
            }
        });
    }

    /// Hands over again what a snapshot leaves out of it, when a run resumes.
    pub(crate) fn recall(&mut self, foresight: Foresight) {
        with_separator!(&mut self.state, state => {
            if let Some(future) = state.future() {
                future.recall(foresight);
            }
        });
    }

    /// Returns the stream of a page that the host writes now.
    #[inline(always)]
    pub(crate) fn write(&mut self, lpn: Lpn, update: bool, hints: Hints, now: u64) -> StreamId {
        let page = Written { lpn, update, hints, now };
        let stream = with_separator!(&mut self.state, state => state.write(&page));
        self.counters[stream].host_pages += 1;
        stream
    }

    /// Returns the stream for which a unit was opened.
    pub(crate) fn stream_of(&self, unit: UnitId) -> StreamId {
        self.stream_of[unit]
    }

    /// Counts `pages` of chunks that moved into a stream.
    pub(crate) fn moved_chunk(&mut self, from: StreamId, to: StreamId, pages: u64) {
        self.counters[from].copied_pages += pages;
        self.counters[to].moved_pages += pages;
    }

    /// Returns the stream of a page that will leave `unit`.
    pub(crate) fn move_stream(&self, owner: Owner, unit: UnitId, now: u64) -> StreamId {
        let from = self.stream_of[unit];
        with_separator!(&self.state, state => match owner.lpn() {
            Some(lpn) => state.move_stream(&Moved { lpn, from, now }),
            None => state.side_stream(from),
        })
    }

    /// Returns the stream of chunks that will leave `unit`.
    pub(crate) fn side_stream(&self, unit: UnitId) -> StreamId {
        with_separator!(&self.state, state => state.side_stream(self.stream_of[unit]))
    }

    /// Notes the move of a page from `unit` to `stream`.
    pub(crate) fn moved(&mut self, owner: Owner, unit: UnitId, stream: StreamId, now: u64) {
        let from = self.stream_of[unit];
        if let Some(lpn) = owner.lpn() {
            let page = Moved { lpn, from, now };
            with_separator!(&mut self.state, state => state.moved(&page, stream));
        }
        self.counters[from].copied_pages += 1;
        self.counters[stream].moved_pages += 1;
    }

    /// Gathers the live pages and prefetches what [`Separation::move_all`] of them will touch.
    #[inline(always)]
    pub(crate) fn gather(&self, mapping: &Mapping, pages: Range<Ppn>, moving: &mut Vec<(Ppn, Owner)>) {
        with_separator!(&self.state, state => gather(&**state, mapping, pages, moving));
    }

    /// Selects a stream for each of the pages that leave `unit`; [`Separation::keep`] takes the result back.
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
        with_separator!(&mut self.state, state => assign_streams(&mut **state, moving, from, now, mapping, streams));
        sorted.sort(self.counters.len(), moving);
        self.counters[from].copied_pages += moving.len() as u64;
        for (stream, pages) in sorted.runs() {
            self.counters[stream].moved_pages += pages.len() as u64;
        }
        sorted
    }

    /// Keeps the memory for the next call.
    pub(crate) fn keep(&mut self, by_stream: ByStream) {
        self.by_stream = by_stream;
    }

    /// Counts pages of a stream that joined another's unit.
    pub(crate) fn strayed(&mut self, stream: StreamId, pages: u64) {
        self.counters[stream].strayed_pages += pages;
    }

    pub(crate) fn trimmed(&mut self, lpn: Lpn, now: u64) {
        with_separator!(&mut self.state, state => state.trimmed(lpn, now));
    }

    /// Notes the unit in which a page was written by the host.
    #[inline(always)]
    pub(crate) fn placed(&mut self, lpn: Lpn, unit: UnitId) {
        with_separator!(&mut self.state, state => state.placed(lpn, unit));
    }

    /// Notes the unit into which pages moved.
    #[cold]
    pub(crate) fn placed_all(&mut self, moved: &[(Ppn, Owner)], unit: UnitId) {
        let pages = moved.iter().filter_map(|(_, owner)| owner.lpn());
        with_separator!(&mut self.state, state => pages.for_each(|lpn| state.placed(lpn, unit)));
    }

    /// Notes a unit that was opened for a stream.
    pub(crate) fn opened(&mut self, unit: UnitId, stream: StreamId, now: u64) {
        with_separator!(&mut self.state, state => state.opened(unit));
        (self.stream_of[unit], self.opened_at[unit]) = (stream, now);
        self.counters[stream].opened += 1;
    }

    /// Notes the return of an unused unit that was opened for a stream.
    pub(crate) fn put_back(&mut self, stream: StreamId) {
        self.counters[stream].opened -= 1;
    }

    /// Notes the coming move of the pages of `cold` into `unit`, an erased unit that takes over the identity of `cold`.
    pub(crate) fn takes_in(&mut self, unit: UnitId, cold: UnitId) {
        with_separator!(&mut self.state, state => state.opened(unit));
        self.stream_of[unit] = self.stream_of[cold];
        self.opened_at[unit] = self.opened_at[cold];
    }

    /// Notes a victim with `valid` valid pages.
    pub(crate) fn chosen(&mut self, unit: UnitId, valid: u32, closed_at: u64, now: u64) {
        let stream = self.stream_of[unit];
        let counters = &mut self.counters[stream];
        counters.victims += 1;
        counters.dead_victims += u64::from(valid == 0);
        let unit = VictimUnit { stream, valid, closed_at, now };
        with_separator!(&mut self.state, state => state.chosen(&unit));
    }

    /// Notes a coming host write to a page in a unit that was closed `age` host page writes ago.
    pub(crate) fn replaces(&mut self, lpn: Lpn, unit: UnitId, age: u64) {
        let page = Replaced { lpn, stream: self.stream_of[unit], age };
        with_separator!(&mut self.state, state => state.replaces(&page));
    }

    /// Checks whether streams may have queues.
    pub(crate) fn queues(&self) -> bool {
        with_separator!(&self.state, state => state.queues())
    }

    /// Returns the stream whose queue gives the next victim of a domain.
    pub(crate) fn victim_stream(&self, closed: &[u32]) -> Option<StreamId> {
        with_separator!(&self.state, state => state.victim_stream(closed))
    }

    /// Checks whether the separator wants to change the meaning of streams.
    pub(crate) fn wants_regroup(&self) -> bool {
        with_separator!(&self.state, state => state.wants_regroup())
    }

    /// Returns the new meaning of streams.
    pub(crate) fn regroup(&mut self, held: &Occupancy) -> Option<Regroup> {
        with_separator!(&mut self.state, state => state.regroup(held))
    }

    /// Assigns a closed unit to another stream.
    pub(crate) fn give_to(&mut self, unit: UnitId, stream: StreamId) {
        self.stream_of[unit] = stream;
    }

    /// Notes the coming erase of a unit.
    pub(crate) fn reclaimed(&mut self, unit: UnitId, now: u64) {
        let (stream, opened_at) = (self.stream_of[unit], self.opened_at[unit]);
        let unit = Reclaimed { stream, opened_at, now };
        with_separator!(&mut self.state, state => state.reclaimed(&unit));
    }

    /// Prefetches what the write of a page will touch.
    #[inline(always)]
    pub(crate) fn prefetch(&self, lpn: Lpn) {
        with_separator!(&self.state, state => state.prefetch(lpn));
    }

    /// Returns when collection takes update blocks.
    pub(crate) fn update_blocks(&self) -> UpdateBlocks {
        with_separator!(&self.state, state => state.update_blocks())
    }

    /// Finds where a closed unit waits for its collection.
    #[must_use]
    pub fn place(&self, unit: UnitId) -> WaitingPlace {
        let stream = self.stream_of[unit];
        with_separator!(&self.state, state => {
            if state.is_queued(stream) {
                WaitingPlace::Queue(stream)
            } else if state.is_last(stream) {
                WaitingPlace::Last
            } else {
                WaitingPlace::Index
            }
        })
    }

    /// Returns the separator's fault, if it made one.
    #[inline(always)]
    pub(crate) fn fault(&self) -> Option<&'static str> {
        with_separator!(&self.state, state => state.fault())
    }

    /// Restarts the counters.
    pub(crate) fn reset_counts(&mut self) {
        self.counters.fill(StreamCounters::default());
    }

    /// Returns the counters of each stream.
    #[must_use]
    pub fn counters(&self) -> &IdSlice<StreamId, StreamCounters> {
        &self.counters
    }

    /// Returns the bytes of all tables.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let units = self.stream_of.len() as u64 * 12;
        units + with_separator!(&self.state, state => state.memory_bytes())
    }

    /// Returns the contexts to which the separator has assigned a stream, with that stream.
    #[must_use]
    pub fn contexts(&self) -> Vec<(u32, StreamId)> {
        with_separator!(&self.state, state => state.contexts())
    }

    /// Returns the separator's metrics by name.
    #[must_use]
    pub fn figures(&self) -> Vec<(&'static str, f64)> {
        with_separator!(&self.state, state => state.figures())
    }
}
