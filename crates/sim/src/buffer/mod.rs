//! The fourth stage: the DRAM buffer between the host interface and the FTL. It turns the buffer's decisions into flash
//! operations and, in timed mode, their dependencies.
//!
//! Decisions follow the order of arrival; functional and timed mode therefore flush the same pages in the same order.
//! In timed mode a reassigned place is free for its new page once the flushes from that place are done. A flush does
//! not extend the request that causes it, and flushes from one place run one after another.

use crate::addressing;
use crate::array::BackEnd;
use crate::drive::{Drive, TimeSlice};
use crate::plan::Plan;
use crate::reading::Chunk;
use floatgate_base::{ExtentKind as Kind, Extents, Lpn, PageColumns, Wanted, batch};
use floatgate_flash::Timed;
use floatgate_flash::timed::{Handle, Issued, Reason};
use floatgate_ftl::{Failure, Stopped};
use floatgate_host::buffer::{NOWHERE, SavedBuffer};
use floatgate_host::{Buffer, BufferConfig, BufferCounters, Step, Why};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Distance at which the place of an extent is prefetched from a table as large as the map.
const PLACES_AHEAD: usize = 16;

/// The dependencies of a place.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The last flush from it.
    flushed: Handle,
    /// The operation for which its page must wait: the last flush of the previous page.
    free: Handle,
    /// The request that fills it from flash.
    filled: Handle,
    /// The flash operation that the next flush from here comes after.
    after: Issued,
}

/// State of the buffer in a snapshot, between two requests.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedBuffered<'a> {
    buffer: SavedBuffer<'a>,
    places: Cow<'a, [Place]>,
    columns: Cow<'a, PageColumns>,
}

/// The buffer of a run.
#[derive(Clone, Debug)]
pub(crate) struct Buffered {
    buffer: Buffer,
    access_ns: u64,
    steps: Vec<Step>,
    /// The flash operations, and the end of each request of a chunk in them.
    flash: Extents,
    ends: Vec<usize>,
    /// Pages of a newly disturbed block.
    disturbed: Vec<Lpn>,
    places: Vec<Place>,
    /// The optional columns of each page, as of its last write, if any.
    columns: PageColumns,
    keeps_columns: bool,
}

impl Buffered {
    /// Creates the empty buffer of a plan, if it has one.
    pub fn of(plan: &Plan) -> Option<Self> {
        plan.buffer.map(|buffer| Self::new(buffer.config, buffer.access_ns, addressing::wanted(plan)))
    }

    fn new(config: BufferConfig, access_ns: u64, wanted: Wanted) -> Self {
        Self {
            buffer: Buffer::new(config),
            access_ns,
            steps: Vec::new(),
            flash: Extents::default(),
            ends: Vec::new(),
            disturbed: Vec::new(),
            places: vec![Place::default(); config.pages as usize],
            columns: PageColumns::new(wanted, config.logical_pages),
            keeps_columns: wanted.any_of_pages(),
        }
    }

    /// Returns the state for a snapshot. Destructured without `..`: the compiler rejects a forgotten field.
    pub fn saved(&self) -> SavedBuffered<'_> {
        let Self {
            buffer,
            places,
            columns,
            // From the plan, or empty between two requests.
            keeps_columns: _,
            access_ns: _,
            steps: _,
            flash: _,
            ends: _,
            disturbed: _,
        } = self;
        SavedBuffered { buffer: buffer.saved(), places: Cow::from(places), columns: Cow::Borrowed(columns) }
    }

    /// Restores the state of a buffer of the same size; returns false for another size.
    #[must_use]
    pub fn restore(&mut self, saved: SavedBuffered<'_>) -> bool {
        let SavedBuffered { buffer, places, columns } = saved;
        let fits = places.len() == self.places.len()
            && columns.is_like(&self.columns)
            && self.buffer.restore(buffer);
        if fits {
            (self.places, self.columns) = (places.into_owned(), columns.into_owned());
        }
        fits
    }

    /// Prefetches the place of a page that will be read or written soon.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        self.buffer.prefetch(lpn);
    }

    pub fn counters(&self) -> &BufferCounters {
        self.buffer.counters()
    }

    /// Returns the pages that the disturb-aware order currently keeps.
    pub fn kept_pages(&self) -> u32 {
        self.buffer.kept_pages()
    }

    pub fn reset_counts(&mut self) {
        self.buffer.reset_counts();
    }

    /// Keeps the columns of the pages that a request writes until they are flushed. A page that the request itself
    /// evicts before rewriting it is flushed with the new columns.
    fn keep_columns(&mut self, extents: &Extents, range: Range<usize>) {
        if !self.keeps_columns {
            return;
        }
        for i in range {
            if matches!(extents.kind[i], Kind::Write | Kind::WritePartial) {
                let pages = extents.lpn[i]..extents.lpn[i] + extents.pages[i];
                self.columns.put(pages, &extents.columns, i);
            }
        }
    }

    /// Appends the flush of a page.
    fn push_flush(&mut self, lpn: Lpn, whole: bool) {
        self.flash.push(lpn, 1, if whole { Kind::Write } else { Kind::WritePartial });
        if self.keeps_columns {
            self.columns.get(lpn, &mut self.flash.columns, self.flash.lpn.len() - 1);
        }
    }

    /// Appends the flash operations of the steps as extents.
    fn append_steps(&mut self) {
        let mut steps = std::mem::take(&mut self.steps);
        for step in steps.drain(..) {
            match step {
                Step::Flush { lpn, whole, .. } => self.push_flush(lpn, whole),
                Step::Read { lpn, pages, .. } => self.flash.push(lpn, pages, Kind::Read),
                Step::Preload { lpn, .. } => self.flash.push(lpn, 1, Kind::Read),
                Step::Trim { lpn, pages } => self.flash.push(lpn, pages, Kind::Trim),
                Step::Force { lpn, pages } => self.flash.push(lpn, pages, Kind::Flush),
                Step::Take { .. } | Step::Wait { .. } => {}
            }
        }
        self.steps = steps;
    }

    /// Serves the requests of `chunk`, whose extents begin at `from` and end at `ends`, without time. `runs` are runs
    /// of requests, and become runs of flash operations.
    ///
    /// # Errors
    /// The drive cannot continue; the error names the request of the chunk, from 0, in place of the extent.
    pub fn serve_slices<F: BackEnd>(
        &mut self,
        drive: &mut Drive<F>,
        chunk: &Chunk<'_>,
        (extents, mut from, ends): (&Extents, usize, &[usize]),
        runs: &mut [TimeSlice],
    ) -> Result<(), Stopped> {
        if self.buffer.is_aware() {
            return self.serve_one_by_one(drive, chunk, (extents, from, ends), runs);
        }
        self.flash.clear();
        self.ends.clear();
        for (&to, i) in ends.iter().zip(chunk.range()) {
            self.keep_columns(extents, from..to);
            self.buffer.request((extents, from..to), chunk.flags(i), |_| false, &mut self.steps);
            self.append_steps();
            self.ends.push(self.flash.len());
            from = to;
        }
        for run in &mut *runs {
            run.end = self.ends[run.end - chunk.first - 1];
        }
        drive
            .serve_runs(&self.flash, 0, runs)
            .map_err(|stop| Stopped { extent: self.ends.partition_point(|&end| end <= stop.extent), ..stop })
    }

    /// Serves likewise where decisions depend on read disturb. Each request is served before the next decision; results
    /// therefore do not depend on the sizes of chunks.
    fn serve_one_by_one<F: BackEnd>(
        &mut self,
        drive: &mut Drive<F>,
        chunk: &Chunk<'_>,
        (extents, mut from, ends): (&Extents, usize, &[usize]),
        runs: &[TimeSlice],
    ) -> Result<(), Stopped> {
        let mut runs = runs.iter();
        let mut run_end = chunk.first;
        for ((number, &to), i) in ends.iter().enumerate().zip(chunk.range()) {
            while i >= run_end
                && let Some(run) = runs.next()
            {
                drive.array.counts_mut().set_now(run.now_ns);
                drive.tell_time(run.now_ns).map_err(|failure| Stopped { extent: number, failure })?;
                run_end = run.end;
            }
            self.keep_columns(extents, from..to);
            let Self { buffer, steps, .. } = self;
            let ftl = &drive.ftl;
            buffer.request((extents, from..to), chunk.flags(i), |lpn| ftl.is_disturbed(lpn), steps);
            self.serve_steps(drive).map_err(|stop| Stopped { extent: number, ..stop })?;
            while self.preload(drive) {
                self.serve_steps(drive).map_err(|stop| Stopped { extent: number, ..stop })?;
            }
            from = to;
        }
        Ok(())
    }

    /// Performs the steps without time.
    fn serve_steps<F: BackEnd>(&mut self, drive: &mut Drive<F>) -> Result<(), Stopped> {
        self.flash.clear();
        self.append_steps();
        drive.serve(&self.flash, 0..self.flash.len())
    }

    /// Selects the pages of a newly disturbed block to read ahead; returns false without such a block.
    fn preload<F: BackEnd>(&mut self, drive: &mut Drive<F>) -> bool {
        let Self { buffer, steps, disturbed, .. } = self;
        let preloads = buffer.is_aware() && drive.ftl.take_disturbed(disturbed);
        if preloads {
            buffer.preload(disturbed, |lpn| drive.ftl.is_disturbed(lpn), steps);
        }
        preloads
    }

    /// Serves a newly arrived request in timed mode; it is issued after this call.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn serve_timed(
        &mut self,
        drive: &mut Drive<Timed>,
        (extents, range): (&Extents, Range<usize>),
        request_flags: u8,
        class: u8,
    ) -> Result<(), Stopped> {
        if let Some(&lpn) = extents.lpn.get(range.end + PLACES_AHEAD) {
            self.prefetch(lpn);
            drive.ftl.prefetch(lpn);
        }
        self.keep_columns(extents, range.clone());
        let Self { buffer, steps, .. } = self;
        let ftl = &drive.ftl;
        buffer.request((extents, range), request_flags, |lpn| ftl.is_disturbed(lpn), steps);
        if request_flags & batch::flags::FLUSH != 0 {
            drive.array.back_end_mut().wait_for_asides(Reason::Flushed);
        }
        let through = self.steps.iter().filter(|step| matches!(step, Step::Wait { .. })).count() as u64;
        self.perform(drive, class == 0)?;
        while self.preload(drive) {
            self.perform(drive, false)?;
        }
        drive.array.back_end_mut().shape_request(through * self.access_ns, class);
        Ok(())
    }

    /// Flushes dirty pages, without time.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn flush_all<F: BackEnd>(&mut self, drive: &mut Drive<F>) -> Result<(), Failure> {
        self.buffer.flush_all(Why::End, &mut self.steps);
        self.flash.clear();
        self.append_steps();
        drive.serve(&self.flash, 0..self.flash.len()).map_err(|stop| stop.failure)
    }

    /// Flushes dirty pages from `now_ns` on, and waits for the end.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn flush_all_timed(&mut self, drive: &mut Drive<Timed>, now_ns: u64) -> Result<(), Failure> {
        self.buffer.flush_all(Why::End, &mut self.steps);
        let timed = drive.array.back_end_mut();
        timed.advance(now_ns.max(timed.last_ns()));
        self.perform(drive, false).map_err(|stop| stop.failure)?;
        drive.array.back_end_mut().finish();
        Ok(())
    }

    /// Performs the steps for the open request, a read or not.
    fn perform(&mut self, drive: &mut Drive<Timed>, reading: bool) -> Result<(), Stopped> {
        let mut steps = std::mem::take(&mut self.steps);
        for step in steps.drain(..) {
            match step {
                Step::Flush { place, lpn, whole, why } => {
                    let timed = drive.array.back_end_mut();
                    let aside = timed.open_aside();
                    timed.hold(self.places[place as usize].after);
                    self.flash.clear();
                    self.push_flush(lpn, whole);
                    drive.serve(&self.flash, 0..1)?;
                    let timed = drive.array.back_end_mut();
                    let place = &mut self.places[place as usize];
                    place.after = timed.newest();
                    place.flushed = timed.close_aside(aside);
                    if matches!(why, Why::Fua | Why::Flush) {
                        timed.wait_for(place.flushed, Reason::Flushed);
                    }
                }
                Step::Take { place } => {
                    let place = &mut self.places[place as usize];
                    (place.free, place.filled) = (place.flushed, Handle::default());
                }
                Step::Wait { place } => {
                    let timed = drive.array.back_end_mut();
                    let place = self.places[place as usize];
                    // A page from flash is passed to readers on arrival, wherever it is kept.
                    let comes = reading && place.filled != Handle::default();
                    timed.wait_for(if comes { place.filled } else { place.free }, Reason::Place);
                }
                Step::Read { lpn, pages, place } => self.read_from_flash(drive, (lpn, pages), place)?,
                Step::Preload { lpn, place } => {
                    let aside = drive.array.back_end_mut().open_aside();
                    self.read_from_flash(drive, (lpn, 1), place)?;
                    drive.array.back_end_mut().close_aside(aside);
                }
                Step::Trim { lpn, pages } | Step::Force { lpn, pages } => {
                    let kind = if matches!(step, Step::Trim { .. }) { Kind::Trim } else { Kind::Flush };
                    self.flash.clear();
                    self.flash.push(lpn, pages, kind);
                    drive.serve(&self.flash, 0..1)?;
                }
            }
        }
        self.steps = steps;
        Ok(())
    }

    /// Reads pages for the open request, which fills a place.
    fn read_from_flash(
        &mut self,
        drive: &mut Drive<Timed>,
        (lpn, pages): (Lpn, u32),
        place: u32,
    ) -> Result<(), Stopped> {
        let before = drive.array.back_end().newest();
        self.flash.clear();
        self.flash.push(lpn, pages, Kind::Read);
        drive.serve(&self.flash, 0..1)?;
        let timed = drive.array.back_end_mut();
        if place != NOWHERE && before != timed.newest() {
            let place = &mut self.places[place as usize];
            place.filled = timed.open_request();
            // Of the two predecessors of a flush from here, the one that usually ends later.
            if !timed.pending(place.free) {
                place.after = timed.newest();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
