//! The loop: requests come from the source, are split into extents, and go through the FTL to the array.

use crate::array::{Array, Together};
use crate::buffered::Buffered;
use crate::clock::Clock;
use crate::foresight::Foreseeing;
use crate::life::LifeBook;
use crate::outcome::Outcome;
use crate::plan::{Arrival, Mode, Plan, Precondition, Workload};
use crate::precondition::Preparation;
use crate::request_log::{RequestLog, RequestSink};
use crate::throttled::Throttled;
use crate::{drive_file, saved};
use floatgate_base::{Error, Extents, Place, RequestBatch, Result};
use floatgate_ftl::Ftl;
use floatgate_ftl::separate::{Foresight, Needs};
use floatgate_host::{Beyond, Footprint, Placement, QueueOf, Queues, Splitter};
use floatgate_lifetime::Throttle;
use floatgate_stats::{Latency, Row, Series};
use floatgate_trace::{Generator, Source, Summary};
use serde::{Deserialize, Serialize};

/// Requests between two full audits under the shadow model.
const AUDIT_EVERY: u64 = 1 << 20;

/// What a run is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Reading the trace once to learn its devices and their sizes.
    Scan,
    /// Bringing the drive into its first state.
    Precondition,
    /// Serving requests that do not count.
    WarmUp,
    /// Serving requests that count.
    Run,
    /// All requests are served.
    Done,
}

/// A drive with a workload.
pub struct Simulation {
    pub(crate) plan: Plan,
    pub(crate) source: Box<dyn Source>,
    pub(crate) ftl: Ftl,
    pub(crate) array: Array,
    /// The DRAM buffer, if there is one.
    pub(crate) buffered: Option<Buffered>,
    pub(crate) splitter: Splitter,
    /// Pages touched; only traces have a footprint that is not known before.
    pub(crate) footprint: Option<Footprint>,
    /// One past the largest byte addressed, by device, once scanned.
    pub(crate) ends: Option<Vec<u64>>,
    pub(crate) preparation: Option<Preparation>,
    /// While the workload is read for a separator that knows the future.
    pub(crate) foreseeing: Option<Box<Foreseeing>>,
    /// What that gave, until the separator has it.
    pub(crate) foresight: Option<Foresight>,
    /// Content hash of the drive's snapshot that the run started from.
    pub(crate) snapshot_hash: Option<String>,
    pub(crate) phase: Phase,
    pub(crate) stream: Stream,
    pub(crate) extents: Extents,
    /// Requests served, those of the warm-up included.
    pub(crate) served: u64,
    pub(crate) counted: u64,
    pub(crate) next_audit: u64,
    pub(crate) series: Series,
    pub(crate) first_pass: Option<Summary>,
    /// Present while a timed run counts.
    pub(crate) clock: Option<Clock>,
    /// Functional mode: runs of requests of a chunk that arrive within a second.
    pub(crate) runs: Vec<Together>,
    /// Where the extents of each request of a chunk end.
    pub(crate) request_ends: Vec<usize>,
    /// Present while a timed run counts whose requests wait in queues.
    pub(crate) queues: Option<Queues>,
    /// Extents of the request that is fetched.
    pub(crate) fetched: Extents,
    /// Where requests are put on record, if anywhere.
    pub(crate) log: Option<RequestLog>,
    /// The throttle, while requests count and there is one.
    pub(crate) throttled: Option<Throttled>,
    /// What is noted where the run is a whole life.
    pub(crate) life: Option<Box<LifeBook>>,
}

/// Where in the source the run is.
#[derive(Default)]
pub(crate) struct Stream {
    pub(crate) batch: RequestBatch,
    /// Next request of the batch.
    pub(crate) cursor: usize,
    /// Requests of this pass before the batch.
    pub(crate) before: u64,
    pub(crate) pass: u64,
    /// Added to the stamps of this pass.
    pub(crate) shift_ns: i64,
    /// Largest stamp of this pass.
    pub(crate) last_ns: i64,
    /// Shifted stamp of the first counted request.
    pub(crate) counted_from_ns: Option<i64>,
    /// Largest shifted stamp.
    pub(crate) counted_to_ns: i64,
    /// Of a trace: digest of the requests of this pass, those of the batch included.
    pub(crate) digest: u64,
}

pub(crate) fn open_source(plan: &Plan) -> Result<Box<dyn Source>> {
    match &plan.workload {
        Workload::Synthetic(config) => Ok(Box::new(Generator::new(config.clone())?)),
        Workload::Trace { path, options, .. } => floatgate_trace::open(path, options),
    }
}

pub(crate) fn splitter_for(plan: &Plan, ends: &[u64]) -> Splitter {
    let page_bytes = plan.geometry.page_bytes;
    let placement = Placement::new(page_bytes, plan.logical_pages, plan.beyond, plan.devices, ends);
    Splitter::new(placement, page_bytes).with_edges(plan.buffer.is_some()).with_hints(plan.separate.looks())
}

fn array_for(plan: &Plan) -> Array {
    let endurance = plan.wears_out.then_some(plan.endurance);
    Array::new(plan.layout(), plan.logical_pages, plan.mode, plan.settings(), plan.shadow, endurance)
}

fn buffer_for(plan: &Plan) -> Option<Buffered> {
    let hinted_pages = if plan.separate.looks() { plan.logical_pages } else { 0 };
    plan.buffer.map(|config| Buffered::new(config, plan.buffer_access_ns, hinted_pages))
}

/// A separator that goes by what the host says is of no use where the host says nothing.
fn check_hints(plan: &Plan, source: &dyn Source) -> Result<()> {
    let (columns, name) = (source.columns(), plan.separate.info().name);
    let (what, expected) = match plan.separate.needs() {
        Some(Needs::Contexts) if !columns.context => (
            format!("{name} goes by program contexts, and this workload has none"),
            "expected a trace that `floatgate trace record` made (docs/recording.md), or another separator",
        ),
        Some(Needs::Streams) if !columns.stream => (
            format!("{name} goes by streams, and this workload has none"),
            "expected a trace with a column of streams (docs/formats.md), or another separator",
        ),
        _ => return Ok(()),
    };
    Err(Error::input(Place::Setting("ftl.separate.policy".into()), what, expected))
}

impl Simulation {
    /// Opens the workload and makes the drive.
    ///
    /// # Errors
    /// When the trace cannot be opened.
    pub fn new(plan: Plan) -> Result<Self> {
        plan.check_foresight()?;
        let source = open_source(&plan)?;
        if matches!(plan.mode, Mode::Timed(Arrival::Open | Arrival::Shifted | Arrival::Think))
            && !source.has_times()
        {
            let what =
                format!("a trace in format {} has no times at which requests could arrive", source.format());
            let expected = "expected workload.arrival = \"closed\"";
            return Err(Error::input(Place::Setting("workload.arrival".into()), what, expected));
        }
        if plan.mode == Mode::Functional && plan.throttle != Throttle::None && !source.has_times() {
            let what =
                format!("a trace in format {} has no times by which a throttle could go", source.format());
            let expected = "expected lifetime.throttle.policy = \"none\", or a trace with times";
            return Err(Error::input(Place::Setting("lifetime.throttle.policy".into()), what, expected));
        }
        if plan.queues.queue_of == QueueOf::Stream && !source.columns().stream {
            let what = format!(
                "a trace in format {} has no streams by which requests could choose their queue",
                source.format()
            );
            let expected = "expected host.queue_of = \"round-robin\" or \"device\"";
            return Err(Error::input(Place::Setting("host.queue_of".into()), what, expected));
        }
        check_hints(&plan, source.as_ref())?;
        let mut ftl = Ftl::new(plan.layout(), plan.ftl_setup());
        ftl.set_prefetching(plan.prefetching);
        let array = array_for(&plan);
        let scale = plan.beyond == Beyond::Scale && matches!(plan.workload, Workload::Trace { .. });
        let mut simulation = Self {
            splitter: splitter_for(&plan, &[]),
            footprint: matches!(plan.workload, Workload::Trace { .. })
                .then(|| Footprint::new(plan.logical_pages)),
            source,
            ftl,
            array,
            buffered: buffer_for(&plan),
            ends: scale.then(Vec::new),
            preparation: None,
            foreseeing: None,
            foresight: None,
            snapshot_hash: None,
            phase: Phase::Scan,
            stream: Stream::default(),
            extents: Extents::default(),
            served: 0,
            counted: 0,
            next_audit: AUDIT_EVERY,
            series: Series::default(),
            first_pass: None,
            clock: None,
            runs: Vec::new(),
            request_ends: Vec::new(),
            queues: None,
            fetched: Extents::default(),
            log: None,
            throttled: None,
            life: None,
            plan,
        };
        if !scale {
            simulation.begin()?;
        }
        Ok(simulation)
    }

    /// Puts every counted request on record.
    ///
    /// # Errors
    /// In functional mode, in which nothing takes time.
    pub fn log_requests(&mut self, sink: Box<dyn RequestSink>) -> Result<()> {
        if self.plan.mode == Mode::Functional {
            let what = "functional mode has no times at which requests could be logged";
            let expected = "expected mode = \"timed\", or no log of requests";
            return Err(Error::input(Place::Setting("mode".into()), what, expected));
        }
        self.log = Some(RequestLog::new(sink));
        Ok(())
    }

    /// Whether requests are put on record.
    #[must_use]
    pub fn is_logged(&self) -> bool {
        self.log.is_some()
    }

    /// What the run is busy with.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The run's settings.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Work done in this phase, and in all where that is known.
    #[must_use]
    pub fn progress(&self) -> (u64, Option<u64>) {
        if let (Phase::Precondition, Some(preparation)) = (self.phase, &self.preparation) {
            let (done, all) = preparation.progress(&self.plan);
            return (done, Some(all));
        }
        let all = match &self.plan.workload {
            Workload::Synthetic(config) if self.phase == Phase::Run => {
                Some(config.requests - self.plan.warmup_requests)
            }
            _ => None,
        };
        let done = if self.phase == Phase::Run {
            self.counted
        } else {
            self.stream.before + self.stream.cursor as u64
        };
        (done, all)
    }

    /// Goes on for up to about `requests_max` requests; the phase that it is in then.
    ///
    /// # Errors
    /// Input errors from the trace, run errors from the drive.
    pub fn step(&mut self, requests_max: u64) -> Result<Phase> {
        match self.phase {
            Phase::Scan => self.scan(requests_max)?,
            Phase::Precondition => self.precondition()?,
            Phase::WarmUp | Phase::Run => self.serve(requests_max)?,
            Phase::Done => {}
        }
        Ok(self.phase)
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn run(mut self) -> Result<Outcome> {
        while self.step(1 << 20)? != Phase::Done {}
        Ok(self.finish())
    }

    /// Starts with the drive's first state, or with what must be known before.
    fn begin(&mut self) -> Result<()> {
        if self.plan.separate.foresees() {
            self.begin_foreseeing();
            return Ok(());
        }
        self.prepare()
    }

    /// Starts with the drive's first state.
    pub(crate) fn prepare(&mut self) -> Result<()> {
        if self.plan.precondition != Precondition::Snapshot {
            self.hand_over_foresight();
        }
        self.preparation = Preparation::new(&self.plan)?;
        self.phase = Phase::Precondition;
        Ok(())
    }

    /// Learns the devices and their ends, then starts from the first request.
    fn scan(&mut self, requests_max: u64) -> Result<()> {
        if self.foreseeing.is_some() {
            self.foresight = self.foresee(requests_max)?;
            return if self.foresight.is_some() { self.prepare() } else { Ok(()) };
        }
        let mut done = 0;
        let ends = self.ends.get_or_insert_default();
        while done < requests_max {
            self.stream.batch.clear();
            self.source.fill(&mut self.stream.batch, RequestBatch::DEFAULT_LEN)?;
            let batch = &self.stream.batch;
            if batch.is_empty() {
                self.splitter = splitter_for(&self.plan, ends);
                self.source.rewind()?;
                self.stream = Stream::default();
                return self.begin();
            }
            note_ends(ends, batch);
            done += batch.len() as u64;
            self.stream.before = done;
        }
        Ok(())
    }

    /// A second device turned up: the run starts over, once the devices' sizes are known.
    pub(crate) fn start_over(&mut self) -> Result<()> {
        self.source.rewind().map_err(|_| {
            Error::input(
                Place::None,
                "the trace has several devices and cannot be read twice to learn their sizes",
                "expected a file instead of a pipe, or workload.devices = \"fold\"",
            )
        })?;
        self.ftl = Ftl::new(self.plan.layout(), self.plan.ftl_setup());
        self.ftl.set_prefetching(self.plan.prefetching);
        let plan = &self.plan;
        self.array = array_for(plan);
        self.buffered = buffer_for(plan);
        if let Some(footprint) = &mut self.footprint {
            footprint.clear();
        }
        self.ends = Some(Vec::new());
        self.stream = Stream::default();
        (self.foreseeing, self.foresight) = (None, None);
        self.served = 0;
        self.counted = 0;
        self.series = Series::default();
        self.first_pass = None;
        (self.clock, self.queues, self.throttled) = (None, None, None);
        if let Some(life) = &mut self.life {
            life.start_over();
        }
        if let Some(log) = &mut self.log {
            log.restart()?;
        }
        self.phase = Phase::Scan;
        Ok(())
    }

    fn precondition(&mut self) -> Result<()> {
        if let Some(preparation) = &mut self.preparation
            && !preparation.step(&self.plan, &mut self.ftl, &mut self.array, &mut self.snapshot_hash)?
        {
            return Ok(());
        }
        self.preparation = None;
        // Of a drive from a file: the file has its own past.
        self.hand_over_foresight();
        self.ftl.workload_begins();
        self.phase = Phase::WarmUp;
        self.start_counting_if_due()
    }

    /// Warm-up ends after its requests and its passes, whichever comes later.
    pub(crate) fn start_counting_if_due(&mut self) -> Result<()> {
        let passes = match self.plan.workload {
            Workload::Trace { warmup_passes, .. } => warmup_passes,
            Workload::Synthetic(_) => 0,
        };
        let due = self.stream.pass >= passes && self.served >= self.plan.warmup_requests;
        if self.phase != Phase::WarmUp || !due {
            return Ok(());
        }
        self.flush_buffer()?;
        self.array.reset_counts(&mut self.ftl);
        self.splitter.reset_counts();
        if let Some(buffered) = &mut self.buffered {
            buffered.reset_counts();
        }
        if let Some(footprint) = &mut self.footprint {
            footprint.clear();
        }
        self.phase = Phase::Run;
        self.start_clock();
        self.start_throttle();
        Ok(())
    }

    fn serve(&mut self, requests_max: u64) -> Result<()> {
        let mut left = requests_max;
        let phase = self.phase;
        while left > 0 && self.phase == phase {
            if self.stream.cursor == self.stream.batch.len() && !self.refill()? {
                return self.end_pass();
            }
            let cursor = self.stream.cursor;
            let mut n = ((self.stream.batch.len() - cursor) as u64).min(left);
            if self.phase == Phase::Run {
                n = n.min(self.series.until_due(self.counted));
            } else {
                n = n.min(self.plan.warmup_requests.saturating_sub(self.served).max(1));
            }
            if !self.chunk(cursor..cursor + n as usize)? {
                return Ok(());
            }
            left -= n;
        }
        Ok(())
    }

    fn refill(&mut self) -> Result<bool> {
        let stream = &mut self.stream;
        stream.before += stream.batch.len() as u64;
        stream.batch.clear();
        stream.cursor = 0;
        self.source.fill(&mut stream.batch, RequestBatch::DEFAULT_LEN)?;
        if self.footprint.is_some() {
            stream.digest = saved::digest(stream.digest, &stream.batch);
        }
        Ok(!stream.batch.is_empty())
    }

    /// The next pass, or the end.
    fn end_pass(&mut self) -> Result<()> {
        let (repeat, warmup_passes, path) = match &self.plan.workload {
            Workload::Trace { repeat, warmup_passes, path, .. } => (*repeat, *warmup_passes, path.as_str()),
            Workload::Synthetic(_) => (1, 0, "synthetic"),
        };
        let repeat = self.life.as_ref().map_or(repeat, |life| life.passes_max());
        let passes = repeat.saturating_add(warmup_passes);
        if self.stream.before == 0 {
            let place = Place::Path(path.to_string());
            return Err(Error::input(
                place,
                "the trace holds no request",
                "expected at least one read, write or TRIM",
            ));
        }
        let summary = self.source.summary();
        let first = self.first_pass.get_or_insert_with(|| summary.clone());
        // Only a run that was taken up again reads the trace to this end for the first time in a later pass.
        if first.content_hash != summary.content_hash {
            return Err(saved::another_trace(path, self.stream.before));
        }
        self.stream.pass += 1;
        self.note_pass();
        if self.stream.pass < passes {
            self.source.rewind()?;
            (self.stream.before, self.stream.digest) = (0, 0);
            self.stream.shift_ns = self.stream.shift_ns.saturating_add(self.stream.last_ns);
            self.stream.last_ns = 0;
            return self.start_counting_if_due();
        }
        if self.counted == 0 {
            return Err(Error::input(
                Place::Setting("workload.warmup_requests".into()),
                format!("the warm-up of {} requests leaves none to count", self.plan.warmup_requests),
                "expected fewer of them, or more passes (workload.repeat)",
            ));
        }
        self.close()
    }

    /// All requests are served.
    pub(crate) fn close(&mut self) -> Result<()> {
        self.stop_clock()?;
        self.flush_buffer()?;
        let row = self.row();
        self.series.push(row);
        if self.plan.shadow {
            self.audit()?;
        }
        self.phase = Phase::Done;
        Ok(())
    }

    pub(crate) fn row(&mut self) -> Row {
        let longest_ns = self.clock.as_mut().map_or([0; 2], Clock::take_longest_ns);
        let latencies = self.clock.as_ref().map(Clock::latencies);
        let host = self.splitter.total();
        // Requests are counted as they arrive; what still waits has not reached the flash.
        let (waiting_reads, waiting_writes) = self.queues.as_ref().map_or((0, 0), Queues::waiting_pages);
        let flash = self.array.counters();
        let from = self.stream.counted_from_ns.unwrap_or(0);
        Row {
            requests: self.counted,
            time_ns: match (&self.clock, &self.throttled) {
                (Some(clock), _) => signed(clock.now_ns()),
                (None, Some(throttled)) => signed(throttled.now_ns()),
                (None, None) => (self.stream.counted_to_ns - from).max(0),
            },
            held_back_ns: self.throttled.as_ref().map_or(0, |throttled| throttled.gate().held_back_ns()),
            page_writes: host.page_writes - waiting_writes,
            page_reads: host.page_reads - waiting_reads,
            programs: flash.programs,
            erases: flash.erases,
            free_units: self.ftl.free_units(),
            done: latencies.map_or([0; 2], |of| of.each_ref().map(Latency::count)),
            latency_ns: latencies.map_or([0; 2], |of| of.each_ref().map(Latency::sum_ns)),
            longest_ns,
        }
    }

    pub(crate) fn check_shadow(&mut self) -> Result<()> {
        if !self.plan.shadow {
            return Ok(());
        }
        if self.counted >= self.next_audit {
            self.next_audit += AUDIT_EVERY;
            return self.audit();
        }
        match self.array.violation() {
            Some(what) => Err(shadow_error(what)),
            None => Ok(()),
        }
    }

    /// Checks all books of the drive, with or without the shadow model.
    ///
    /// # Errors
    /// A run error that names the invariant.
    pub fn audit(&self) -> Result<()> {
        self.array.audit(&self.ftl).map_err(|what| shadow_error(&what))
    }

    /// Writes the drive to a file that other runs may start from; gives its content hash. Meaningful once the phase is
    /// [`Phase::Done`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_drive(&self, path: &std::path::Path) -> Result<String> {
        drive_file::save(path, &self.plan, &self.ftl, &self.array)
    }
}

pub(crate) fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// Raises each device's end to the largest byte that the batch addresses on it.
pub(crate) fn note_ends(ends: &mut Vec<u64>, batch: &RequestBatch) {
    for i in 0..batch.len() {
        let device = usize::from(batch.device[i]);
        if ends.len() <= device {
            ends.resize(device + 1, 0);
        }
        ends[device] = ends[device].max(batch.offset[i].saturating_add(batch.bytes[i]));
    }
}

fn shadow_error(what: &str) -> Box<Error> {
    Error::run(
        format!("the shadow model found a fault: {what}"),
        "this is an error in floatgate; please report it",
    )
}
