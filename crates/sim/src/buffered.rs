//! The DRAM buffer between the host interface and the FTL: its decisions become flash operations, and in time what has
//! to wait for what.
//!
//! Decisions fall in the order of arrival, so functional and timed mode flush the same pages in the same order. In time
//! a place that was given to another page is free for it once the flushes from that place are done; a flush is an aside
//! of the request that causes it, and flushes from one place go one after the other.

use crate::array::{Array, Together};
use crate::device::Simulation;
use crate::failure;
use floatgate_base::{ExtentKind as Kind, Extents, Hints, Lpn, RequestBatch, Result};
use floatgate_flash::timed::{Handle, Issued, Reason};
use floatgate_ftl::{Ftl, Stopped};
use floatgate_host::buffer::{NOWHERE, SavedBuffer};
use floatgate_host::{Buffer, BufferConfig, BufferCounters, Step, Why};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// When a place can be used.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The last flush from it.
    flushed: Handle,
    /// What its page has to wait for: the last flush of the page before.
    free: Handle,
    /// The request that fills it from flash.
    filled: Handle,
    /// The flash operation that the next flush from here comes after.
    after: Issued,
}

/// What a snapshot keeps of the buffer of a run.
pub(crate) type SavedBuffered = (SavedBuffer, Vec<Place>, Vec<Hints>);

/// The buffer of a run.
#[derive(Clone, Debug)]
pub(crate) struct Buffered {
    buffer: Buffer,
    access_ns: u64,
    steps: Vec<Step>,
    /// What the flash does, and where each request of a chunk ends in it.
    flash: Extents,
    ends: Vec<usize>,
    places: Vec<Place>,
    /// What the host said of each page when it wrote it last, for separators that look at pages; else empty.
    hints: Vec<Hints>,
}

impl Buffered {
    pub fn new(config: BufferConfig, access_ns: u64, hinted_pages: u32) -> Self {
        Self {
            buffer: Buffer::new(config),
            access_ns,
            steps: Vec::new(),
            flash: Extents::default(),
            ends: Vec::new(),
            places: vec![Place::default(); config.pages as usize],
            hints: vec![Hints::default(); hinted_pages as usize],
        }
    }

    /// What a snapshot keeps between two requests. Taken apart without `..`, so that no new field is forgotten.
    pub fn saved(&self) -> impl Serialize + '_ {
        let Self {
            buffer,
            places,
            hints,
            // From the plan, or empty between two requests.
            access_ns: _,
            steps: _,
            flash: _,
            ends: _,
        } = self;
        (buffer.saved(), places, hints)
    }

    /// Takes over what a snapshot kept of a buffer of the same size; false if it is of another one.
    #[must_use]
    pub fn restore(&mut self, (buffer, places, hints): SavedBuffered) -> bool {
        let fits = places.len() == self.places.len()
            && hints.len() == self.hints.len()
            && self.buffer.restore(buffer);
        if fits {
            (self.places, self.hints) = (places, hints);
        }
        fits
    }

    pub fn counters(&self) -> &BufferCounters {
        self.buffer.counters()
    }

    pub fn reset_counts(&mut self) {
        self.buffer.reset_counts();
    }

    /// Notes what the host says of the pages that a request writes, for when they leave.
    fn note_hints(&mut self, extents: &Extents, range: Range<usize>) {
        if self.hints.is_empty() {
            return;
        }
        for i in range {
            if matches!(extents.kind[i], Kind::Write | Kind::WritePartial) {
                let pages = extents.lpn[i] as usize..(extents.lpn[i] + extents.pages[i]) as usize;
                self.hints[pages].fill(extents.hints_of(i));
            }
        }
    }

    /// Appends the flush of a page.
    fn push_flush(&mut self, lpn: Lpn, whole: bool) {
        self.flash.push(lpn, 1, if whole { Kind::Write } else { Kind::WritePartial });
        if let Some(&hints) = self.hints.get(lpn as usize) {
            self.flash.hints.resize(self.flash.len() - 1, Hints::default());
            self.flash.hints.push(hints);
        }
    }

    /// What the flash has to do for the steps, as extents.
    fn append_steps(&mut self) {
        let mut steps = std::mem::take(&mut self.steps);
        for step in steps.drain(..) {
            match step {
                Step::Flush { lpn, whole, .. } => self.push_flush(lpn, whole),
                Step::Read { lpn, pages, .. } => self.flash.push(lpn, pages, Kind::Read),
                Step::Trim { lpn, pages } => self.flash.push(lpn, pages, Kind::Trim),
                Step::Take { .. } | Step::Wait { .. } => {}
            }
        }
        self.steps = steps;
    }

    /// Serves some requests of a chunk, whose extents begin at `from` and end at `ends`, in functional mode; `runs` are of
    /// requests, and are turned into runs of flash operations.
    ///
    /// # Errors
    /// When the drive cannot go on: names the request of `range`, from 0, in place of the extent.
    pub fn serve_chunk(
        &mut self,
        (array, ftl): (&mut Array, &mut Ftl),
        (extents, mut from, ends): (&Extents, usize, &[usize]),
        (batch, range): (&RequestBatch, Range<usize>),
        runs: &mut [Together],
    ) -> std::result::Result<(), Stopped> {
        self.flash.clear();
        self.ends.clear();
        let begin = range.start;
        for (&to, i) in ends.iter().zip(range) {
            self.note_hints(extents, from..to);
            self.buffer.request(extents, from..to, batch.flags_of(i), &mut self.steps);
            self.append_steps();
            self.ends.push(self.flash.len());
            from = to;
        }
        for run in &mut *runs {
            run.end = self.ends[run.end - begin - 1];
        }
        array
            .serve_runs(ftl, &self.flash, 0, runs)
            .map_err(|stop| Stopped { extent: self.ends.partition_point(|&end| end <= stop.extent), ..stop })
    }

    /// Serves one request in time: it has arrived, and is issued after this.
    ///
    /// # Errors
    /// When the drive cannot go on.
    pub fn serve_in_time(
        &mut self,
        (array, ftl): (&mut Array, &mut Ftl),
        (extents, range): (&Extents, Range<usize>),
        request_flags: u8,
        class: u8,
    ) -> std::result::Result<(), Stopped> {
        self.note_hints(extents, range.clone());
        self.buffer.request(extents, range, request_flags, &mut self.steps);
        if request_flags & floatgate_base::batch::flags::FLUSH != 0
            && let Some(timed) = array.timed_mut()
        {
            timed.wait_for_asides(Reason::Flushed);
        }
        let through = self.steps.iter().filter(|step| matches!(step, Step::Wait { .. })).count() as u64;
        self.perform(array, ftl, class == 0)?;
        if let Some(timed) = array.timed_mut() {
            timed.shape_request(through * self.access_ns, class);
        }
        Ok(())
    }

    /// Carries the steps out for the open request, a read or not.
    fn perform(
        &mut self,
        array: &mut Array,
        ftl: &mut Ftl,
        reading: bool,
    ) -> std::result::Result<(), Stopped> {
        let mut steps = std::mem::take(&mut self.steps);
        for step in steps.drain(..) {
            match step {
                Step::Flush { place, lpn, whole, why } => {
                    let Some(timed) = array.timed_mut() else { continue };
                    let aside = timed.open_aside();
                    timed.hold(self.places[place as usize].after);
                    self.flash.clear();
                    self.push_flush(lpn, whole);
                    array.serve(ftl, &self.flash, 0..1)?;
                    let Some(timed) = array.timed_mut() else { continue };
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
                    let Some(timed) = array.timed_mut() else { continue };
                    let place = self.places[place as usize];
                    // A page that comes from flash is handed to readers as it comes, wherever it stays.
                    let comes = reading && place.filled != Handle::default();
                    timed.wait_for(if comes { place.filled } else { place.free }, Reason::Place);
                }
                Step::Read { lpn, pages, place } => {
                    let before = array.timed_mut().map(|timed| timed.newest());
                    self.flash.clear();
                    self.flash.push(lpn, pages, Kind::Read);
                    array.serve(ftl, &self.flash, 0..1)?;
                    let Some(timed) = array.timed_mut() else { continue };
                    if place != NOWHERE && before != Some(timed.newest()) {
                        let place = &mut self.places[place as usize];
                        place.filled = timed.open_request();
                        // Of the two that a flush from here would come after, the one that ends later as a rule.
                        if !timed.pending(place.free) {
                            place.after = timed.newest();
                        }
                    }
                }
                Step::Trim { lpn, pages } => {
                    self.flash.clear();
                    self.flash.push(lpn, pages, Kind::Trim);
                    array.serve(ftl, &self.flash, 0..1)?;
                }
            }
        }
        self.steps = steps;
        Ok(())
    }
}

impl Simulation {
    /// Flushes what is dirty in the buffer: before counting begins, so that nothing of the warm-up counts later, and
    /// when all is served, so that everything written counts.
    ///
    /// # Errors
    /// A run error when the drive cannot go on.
    pub(crate) fn flush_buffer(&mut self) -> Result<()> {
        let Some(buffered) = &mut self.buffered else { return Ok(()) };
        buffered.buffer.flush_all(Why::End, &mut buffered.steps);
        let served = match (&self.clock, self.array.timed_mut()) {
            (Some(clock), Some(timed)) => {
                timed.advance(clock.now_ns().max(timed.last_ns()));
                buffered.perform(&mut self.array, &mut self.ftl, false)
            }
            _ => {
                buffered.flash.clear();
                buffered.append_steps();
                let all = 0..buffered.flash.len();
                self.array.serve(&mut self.ftl, &buffered.flash, all)
            }
        };
        if let Err(stop) = served {
            let number = self.counted.max(1);
            return Err(failure::stopped(
                &self.plan,
                stop.failure,
                number,
                None,
                self.array.counters(),
                None,
            ));
        }
        if let (Some(_), Some(timed)) = (&self.clock, self.array.timed_mut()) {
            timed.finish();
        }
        Ok(())
    }
}
