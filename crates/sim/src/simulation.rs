//! A run: its phases, and the loop in which requests pass the stages.
//!
//! A request of an unknown device restarts the run: the trace is read for the ends of all devices, and new stages are
//! created with them. Under `precondition = "auto"`, laps of the trace precede the warm-up (`wear_in.rs`); they are
//! uncounted passes of the reader.

use crate::addressing::{Addressing, Misplaced};
use crate::book::Book;
use crate::drive_file;
use crate::failure;
use crate::life_book::LifeBook;
use crate::plan::{Plan, Precondition, Workload};
use crate::precondition::{Preparation, Prepared};
use crate::reading::foresight::{Foreseeing, ForesightStep};
use crate::reading::survey::{Survey, SurveyStep};
use crate::reading::{Reading, ends, open};
use crate::serve::pins::{PinSink, PinWatch, PinWindow};
use crate::serve::request_log::{RequestLog, RequestSink};
use crate::serve::{Kept, Serving, Stop, TimedServing, with_drive};
use crate::wear_in::WearIn;
use crate::written_pages::WrittenPages;
use floatgate_base::{Error, Place, Result};
use floatgate_ftl::separate::Foresight;
use floatgate_host::split::beyond_drive;
use floatgate_host::{Beyond, Outside};
use floatgate_stats::Row;
use floatgate_trace::Source;
use serde::{Deserialize, Serialize};

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Reading the trace once to learn its devices and their sizes, the future, or the amount that it writes.
    Scan,
    /// Bringing the drive into its initial state.
    Precondition,
    /// Serving uncounted laps of the trace until they converge.
    WearIn,
    /// Serving uncounted requests.
    WarmUp,
    /// Serving counted requests.
    Run,
    /// All requests are served.
    Done,
}

/// The phase with its state.
#[expect(clippy::large_enum_variant, reason = "a run has one")]
pub(crate) enum State {
    /// Determining the ends of the trace's devices.
    Ends(Vec<u64>),
    /// Determining how much a pass writes.
    Survey(Box<Survey>),
    /// Reading ahead for a separator that knows the future.
    Future(Box<Foreseeing>),
    /// Preparing the drive; the foresight waits until the drive is known.
    Precondition(Preparation, Option<Foresight>),
    WearIn,
    WarmUp,
    Run,
    Done,
}

/// The stages after reading, and the books. A restarted run gets new ones.
pub(crate) struct Stages {
    pub addressing: Addressing,
    pub serving: Serving,
    pub book: Book,
}

impl Stages {
    pub fn new(plan: &Plan, ends: Option<Vec<u64>>, kept: Kept) -> Self {
        Self {
            addressing: Addressing::new(plan, ends),
            serving: Serving::new(plan, kept),
            book: Book::default(),
        }
    }
}

/// A drive with a workload.
pub struct Simulation {
    pub(crate) plan: Plan,
    pub(crate) reading: Reading,
    pub(crate) stages: Stages,
    /// The laps before counting begins, if the plan has any.
    pub(crate) wear_in: Option<WearIn>,
    /// Pages that the workload writes, from the survey until the drive is filled accordingly.
    pub(crate) written: Option<WrittenPages>,
    pub(crate) state: State,
}

impl Simulation {
    /// Opens the workload and creates the drive.
    ///
    /// # Errors
    /// The trace cannot be opened, or lacks columns that the plan needs.
    pub fn new(plan: Plan) -> Result<Self> {
        Self::with(plan, Kept::default())
    }

    /// Creates the simulation of a whole life, like [`Simulation::new`].
    pub(crate) fn of_life(plan: Plan, life: LifeBook) -> Result<Self> {
        let simulation = Self::with(plan, Kept { life: Some(life), ..Kept::default() })?;
        let source = simulation.reading.source();
        if !source.has_times() {
            let what = format!("a workload in format {} has no time stamps for a life", source.format());
            let expected = "expected a trace with time stamps, or workload.rate_per_s";
            return Err(Error::input(Place::Setting("workload".into()), what, expected));
        }
        Ok(simulation)
    }

    /// Creates a run whose requests come from `source` while it goes on, whatever the plan names. A step of exactly as
    /// many requests as the source holds does not ask it again; one more step ends the run.
    ///
    /// # Errors
    /// The source lacks columns that the plan needs.
    pub fn live(plan: Plan, source: Box<dyn Source>) -> Result<Self> {
        open::check(&plan, source.as_ref())?;
        Self::with_source(plan, Kept::default(), source)
    }

    fn with(plan: Plan, kept: Kept) -> Result<Self> {
        let source = open::open_for_run(&plan)?;
        Self::with_source(plan, kept, source)
    }

    fn with_source(plan: Plan, kept: Kept, source: Box<dyn Source>) -> Result<Self> {
        let reading = Reading::new(&plan, source);
        let stages = Stages::new(&plan, None, kept);
        failure::must_have_begun(stages.serving.policy_fault())?;
        let state = State::Ends(Vec::new());
        let scans =
            plan.workload.beyond == Beyond::Scale && matches!(plan.workload.source, Workload::Trace { .. });
        let wear_in = WearIn::of(&plan);
        let mut simulation = Self { plan, reading, stages, wear_in, written: None, state };
        if !scans {
            simulation.prepare()?;
        }
        Ok(simulation)
    }

    /// Logs every counted request.
    ///
    /// # Errors
    /// Functional mode, in which nothing takes time.
    pub fn log_requests(&mut self, sink: Box<dyn RequestSink>) -> Result<()> {
        match &mut self.stages.serving {
            Serving::Timed(serving) => {
                serving.log_to(RequestLog::new(sink));
                Ok(())
            }
            Serving::Functional(_) => {
                let what = "functional mode models no time; there is no request log";
                let expected = "expected mode = \"timed\", or no request log";
                Err(Error::input(Place::Setting("mode".into()), what, expected))
            }
        }
    }

    /// Records the Ready/Busy pins.
    ///
    /// # Errors
    /// Functional mode, in which nothing takes time, or a die that does not exist.
    pub fn listen(&mut self, sink: Box<dyn PinSink>, window: PinWindow) -> Result<()> {
        let dies = self.plan.drive.geometry.dies();
        if let Some(die) = window.die.filter(|&die| die >= dies) {
            let expected = format!("expected one from 0 to {}, or all", dies - 1);
            return Err(Error::input(Place::Setting("--die".into()), format!("no die {die}"), expected));
        }
        let counts = matches!(self.state, State::Run);
        match &mut self.stages.serving {
            Serving::Timed(serving) => {
                serving.listen(Box::new(PinWatch::new(sink, window)), counts);
                Ok(())
            }
            Serving::Functional(_) => {
                let what = "functional mode models no time; there is no pin waveform to record";
                Err(Error::input(Place::Setting("--waveform".into()), what, "expected mode = \"timed\""))
            }
        }
    }

    /// Returns whether requests or pins are recorded.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        let recorded = |serving: &TimedServing| serving.direct.log.is_some() || serving.direct.pins.is_some();
        self.stages.serving.timed().is_some_and(recorded)
    }

    /// Returns the current phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.state {
            State::Ends(_) | State::Survey(_) | State::Future(_) => Phase::Scan,
            State::Precondition(..) => Phase::Precondition,
            State::WearIn => Phase::WearIn,
            State::WarmUp => Phase::WarmUp,
            State::Run => Phase::Run,
            State::Done => Phase::Done,
        }
    }

    /// Returns the run's settings.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the full audits that the run has passed under the shadow model, besides the one at its end.
    #[must_use]
    pub fn audits(&self) -> u64 {
        self.stages.book.audits
    }

    /// Returns the separator's knowledge of the future, if it uses any and the workload has been read.
    #[must_use]
    pub fn foresight(&self) -> Option<&Foresight> {
        match &self.state {
            State::Precondition(_, Some(foresight)) => Some(foresight),
            _ => with_drive!(&self.stages.serving, drive => drive.ftl.foresight()),
        }
    }

    /// Returns the laps before counting begins, if the plan has [`Precondition::Auto`].
    #[must_use]
    pub fn wear_in(&self) -> Option<&WearIn> {
        self.wear_in.as_ref()
    }

    /// Returns the pages at rest in separate blocks, while the drive is filled.
    pub(crate) fn pages_at_rest(&self) -> u64 {
        match &self.state {
            State::Precondition(preparation, _) => preparation.pages_at_rest(),
            _ => 0,
        }
    }

    /// Returns the work done in this phase, and the total where known.
    #[must_use]
    pub fn progress(&self) -> (u64, Option<u64>) {
        match (&self.state, &self.plan.workload.source) {
            (State::Precondition(preparation, _), _) => {
                let (done, all) = preparation.progress(&self.plan);
                (done, Some(all))
            }
            (State::WearIn, _) => {
                let (passes, all) = self.wear_in.as_ref().map_or((0, 1), |w| (w.passes, w.passes_max));
                (passes, Some(all))
            }
            (State::Run, _) if let Some(until) = self.plan.workload.until => {
                (self.stages.addressing.total().write_bytes, Some(until.written_bytes))
            }
            (State::Run, Workload::Synthetic(config)) => {
                let all = config.requests.saturating_mul(self.plan.workload.amplification.cursors);
                (self.stages.book.counted, Some(all - self.plan.workload.warmup_requests))
            }
            (State::Run, Workload::Trace { .. }) => (self.stages.book.counted, None),
            _ => (self.reading.done(), None),
        }
    }

    /// Continues for about `requests_max` requests; returns the phase afterwards.
    ///
    /// # Errors
    /// Input errors from the trace, run errors from the drive.
    pub fn step(&mut self, requests_max: u64) -> Result<Phase> {
        match &mut self.state {
            State::Ends(ends) => {
                if ends::read_ends(&mut self.reading, ends, requests_max)? {
                    let ends = std::mem::take(ends);
                    self.begin_anew(ends)?;
                }
            }
            State::Survey(survey) => match survey.step(&mut self.reading, requests_max)? {
                SurveyStep::NotYet => {}
                SurveyStep::All(pass, written) => {
                    self.written = Some(written);
                    self.wear_in.iter_mut().for_each(|wear_in| wear_in.learn(&self.plan, pass));
                    self.prepare()?;
                }
                SurveyStep::Misplaced(misplaced) => self.misplaced(misplaced)?,
            },
            State::Future(foreseeing) => {
                match foreseeing.step(&self.plan, &mut self.reading, requests_max)? {
                    ForesightStep::NotYet => {}
                    ForesightStep::All(foresight) => self.precondition_with(Some(foresight))?,
                    ForesightStep::Misplaced(misplaced) => self.misplaced(misplaced)?,
                }
            }
            State::Precondition(preparation, foresight) => {
                let drive = &mut self.stages.serving;
                let prepared = with_drive!(drive, drive => preparation.step(&self.plan, drive))?;
                if let Some(prepared) = prepared {
                    let foresight = foresight.take();
                    self.begin_warm_up(prepared, foresight)?;
                }
            }
            State::WearIn | State::WarmUp | State::Run => self.serve(requests_max)?,
            State::Done => {}
        }
        Ok(self.phase())
    }

    /// Restarts the run with the known ends of the devices.
    fn begin_anew(&mut self, ends: Vec<u64>) -> Result<()> {
        let mut kept = self.stages.serving.take_kept();
        if let Some(log) = &mut kept.log {
            log.restart()?;
        }
        if let Some(pins) = &mut kept.pins {
            pins.restart()?;
        }
        self.stages = Stages::new(&self.plan, Some(ends), kept);
        self.wear_in = WearIn::of(&self.plan);
        self.prepare()
    }

    /// Starts with the drive's initial state, or with the reading that must precede it.
    fn prepare(&mut self) -> Result<()> {
        if self.wear_in.as_ref().is_some_and(WearIn::wants_survey) {
            let ends = self.stages.addressing.ends();
            self.state = State::Survey(Box::new(Survey::new(&self.plan, ends)));
            return Ok(());
        }
        if self.plan.ftl.setup.separate.foresees() {
            let foreseeing = Foreseeing::new(&self.plan, self.stages.addressing.ends());
            self.state = State::Future(Box::new(foreseeing));
            return Ok(());
        }
        self.precondition_with(None)
    }

    /// Starts with the drive's initial state. The separator of a drive from a file has a past; it receives the future
    /// later.
    fn precondition_with(&mut self, mut foresight: Option<Foresight>) -> Result<()> {
        if self.plan.ftl.precondition != Precondition::Snapshot {
            self.hand_over(foresight.take());
        }
        self.state = State::Precondition(Preparation::new(&self.plan, self.written.take())?, foresight);
        Ok(())
    }

    fn hand_over(&mut self, foresight: Option<Foresight>) {
        if let Some(foresight) = foresight {
            with_drive!(&mut self.stages.serving, drive => drive.ftl.foresee(foresight));
        }
    }

    fn begin_warm_up(&mut self, prepared: Prepared, foresight: Option<Foresight>) -> Result<()> {
        self.stages.book.snapshot_hash = prepared.snapshot_hash;
        self.hand_over(foresight);
        with_drive!(&mut self.stages.serving, drive => drive.ftl.workload_begins());
        let (programs, page_writes) = self.written();
        if self.wear_in.as_mut().is_some_and(|wear_in| wear_in.begin(programs, page_writes)) {
            self.state = State::WearIn;
            return Ok(());
        }
        self.state = State::WarmUp;
        self.start_counting_if_due()
    }

    /// Returns page programs and host page writes so far.
    fn written(&self) -> (u64, u64) {
        let Stages { addressing, serving, .. } = &self.stages;
        (serving.counters().programs_total(), addressing.total().page_writes)
    }

    /// Returns the counted passes over the workload, and those before them.
    fn passes(&self) -> (u64, u64) {
        let worn_in = self.wear_in.as_ref().map_or(0, |wear_in| wear_in.passes);
        match self.plan.workload.source {
            Workload::Trace { repeat, warmup_passes, .. } => (repeat, warmup_passes.max(worn_in)),
            Workload::Synthetic(_) => (1, 0),
        }
    }

    /// Returns the requests of a pass; None where the run ended within one.
    pub(crate) fn pass_requests(&self) -> Option<u64> {
        let (counted, before) = self.passes();
        (self.reading.pass() == counted.saturating_add(before)).then(|| self.reading.done())
    }

    /// Begins counting after the requests and the passes of the warm-up, whichever ends later; earlier laps are passes
    /// of it.
    pub(crate) fn start_counting_if_due(&mut self) -> Result<()> {
        let (_, passes) = self.passes();
        let served = self.stages.book.served;
        let due = self.reading.pass() >= passes && served >= self.plan.workload.warmup_requests;
        if !due || !matches!(self.state, State::WarmUp) {
            return Ok(());
        }
        self.stages.serving.start_counting().map_err(|stop| self.stopped(stop))?;
        self.stages.addressing.reset_counts();
        self.reading.reset_counts();
        self.state = State::Run;
        Ok(())
    }

    /// Runs the loop: requests are read, placed, pass the gate, go through the buffer, are served, and are booked.
    fn serve(&mut self, requests_max: u64) -> Result<()> {
        let counts = matches!(self.state, State::Run);
        let mut left = requests_max;
        while left > 0 && matches!(self.state, State::Run) == counts {
            let ready = self.reading.ready()?;
            if ready == 0 {
                return self.end_pass();
            }
            let Stages { addressing, serving, book } = &mut self.stages;
            let until_due = match counts {
                true => book.series.until_due(book.counted),
                // If only passes are still due, their end is detected at the end of a batch.
                false => match self.plan.workload.warmup_requests.saturating_sub(book.served) {
                    0 => u64::MAX,
                    n => n,
                },
            };
            let n = left.min(until_due).min(ready as u64);
            let chunk = self.reading.chunk(n as usize, counts.then(|| book.counting()));

            if let Err(misplaced) = addressing.place(&chunk) {
                return self.misplaced(misplaced);
            }
            // Gate and buffer belong to serving, where a request may have to wait in between.
            let devices = self.reading.source().devices();
            let served = match serving.serve(&chunk, addressing.placed(), devices) {
                Ok(served) => served,
                Err(stop) => return Err(self.stopped(stop)),
            };
            if served < chunk.len() {
                addressing.take_back(&chunk.part(chunk.first..chunk.first + served));
                return self.end_life(served);
            }
            self.book(served)?;
            left -= n;
        }
        Ok(())
    }

    /// Books the next, served requests.
    fn book(&mut self, requests: usize) -> Result<()> {
        let span = self.reading.advance(requests);
        let book = &mut self.stages.book;
        book.served += requests as u64;
        if !matches!(self.state, State::Run) {
            self.start_counting_if_due()?;
        } else if book.count(requests as u64, span) {
            let row = self.row();
            self.stages.book.series.push(row);
        }
        if !self.plan.shadow {
            return Ok(());
        }
        if !self.stages.book.audit_is_due() {
            return with_drive!(&self.stages.serving, drive => drive.check_shadow());
        }
        self.stages.book.audits += 1;
        self.audit()
    }

    fn row(&mut self) -> Row {
        let Stages { addressing, serving, book } = &mut self.stages;
        let host = addressing.total();
        let mut row = Row { page_writes: host.page_writes, page_reads: host.page_reads, ..book.row() };
        serving.complete(&mut row);
        row
    }

    /// Begins the next pass, or ends the run.
    fn end_pass(&mut self) -> Result<()> {
        self.reading.end_pass()?;
        if matches!(self.state, State::WearIn) {
            return self.end_wear_in_pass();
        }
        let (repeat, warmup_passes) = self.passes();
        let Stages { serving, book, .. } = &mut self.stages;
        if matches!(self.state, State::Run) {
            serving.end_pass(book.period_ns().max(1));
        }
        let passes = serving.passes_max().unwrap_or(repeat).saturating_add(warmup_passes);
        if self.reading.pass() < passes {
            self.reading.next_pass()?;
            return self.start_counting_if_due();
        }
        if book.counted == 0 {
            return Err(Error::input(
                Place::Setting("workload.warmup_requests".into()),
                format!(
                    "the warm-up of {} requests leaves none to count",
                    self.plan.workload.warmup_requests
                ),
                "expected fewer of them, or more passes (workload.repeat)",
            ));
        }
        self.close()
    }

    /// Begins the next pass of the laps, or the phase after them.
    fn end_wear_in_pass(&mut self) -> Result<()> {
        let (programs, page_writes) = self.written();
        let wear_in = self.wear_in.as_mut().expect("the laps have their state");
        let last = wear_in.end_pass(&self.plan, programs, page_writes);
        self.reading.next_pass()?;
        if last {
            self.state = State::WarmUp;
            return self.start_counting_if_due();
        }
        Ok(())
    }

    /// Ends a whole life after so many of the chunk's requests.
    fn end_life(&mut self, served: usize) -> Result<()> {
        if served > 0 {
            self.book(served)?;
        }
        self.reading.end_early();
        self.close()
    }

    /// Completes requests in flight, and flushes the buffer.
    pub(crate) fn finish_serving(&mut self) -> Result<()> {
        let devices = self.reading.source().devices();
        self.stages.serving.finish(devices).map_err(|stop| self.stopped(stop))
    }

    /// Closes the run after all requests are served.
    fn close(&mut self) -> Result<()> {
        self.finish_serving()?;
        let row = self.row();
        self.stages.book.series.push(row);
        if self.plan.shadow {
            self.audit()?;
        }
        self.state = State::Done;
        Ok(())
    }

    /// Handles a request without a place. If its device was unknown, the run restarts once all devices are known.
    fn misplaced(&mut self, misplaced: Misplaced) -> Result<()> {
        match misplaced.outside {
            Outside::Device => {
                self.reading.restart().map_err(|_| {
                    Error::input(
                        Place::None,
                        "the trace has several devices and cannot be read twice to learn their sizes",
                        "expected a file instead of a pipe, or workload.devices = \"fold\"",
                    )
                })?;
                self.state = State::Ends(Vec::new());
                Ok(())
            }
            Outside::Drive { end } => {
                let place = self.reading.source().place_of(misplaced.index);
                let ends = self.stages.addressing.ends();
                let span_bytes = ends::span_bytes(&self.plan, &mut self.reading, ends).max(end);
                let logical_bytes = u64::from(self.plan.ftl.setup.logical_pages)
                    * u64::from(self.plan.drive.geometry.page_bytes);
                Err(beyond_drive(&place, span_bytes, logical_bytes, self.plan.capacity_for(span_bytes)))
            }
        }
    }

    /// Returns the error with the time and reason of the stop.
    pub(crate) fn stopped(&self, stop: Stop) -> Box<Error> {
        let Stages { serving, book, .. } = &self.stages;
        // Not the splitter's count, which includes the requests after this one.
        let flash = serving.counters();
        match stop {
            Stop::Error(error) => error,
            Stop::Flush(why) => failure::stopped(&self.plan, why, book.counted.max(1), None, flash, None),
            Stop::Drive(at, why) => {
                let is_trace = matches!(self.plan.workload.source, Workload::Trace { .. });
                let place = is_trace.then(|| self.reading.source().place_of(at.index));
                let time_s = match (serving.gate(), &self.state) {
                    (Some(gate), State::Run) => Some(gate.now_ns() as f64 / 1e9),
                    _ => book.time_s(at.stamp_ns),
                };
                failure::stopped(&self.plan, why, at.number, place.as_deref(), flash, time_s)
            }
        }
    }

    /// Checks all books of the drive, with or without the shadow model.
    ///
    /// # Errors
    /// A run error that names the invariant.
    pub fn audit(&self) -> Result<()> {
        with_drive!(&self.stages.serving, drive => drive.audit())
    }

    /// Writes the drive to a file from which other runs may start; returns its content hash. Valid once the phase is
    /// [`Phase::Done`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_drive(&self, path: &std::path::Path) -> Result<String> {
        with_drive!(&self.stages.serving, drive => drive_file::save(path, &self.plan, drive))
    }
}
