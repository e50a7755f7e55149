//! The drive: a simulation that takes requests one by one, and writes each to the journal first.
//!
//! What it counts is what a run over the journal counts. It is handed the time; the simulated clock never runs backwards.

use crate::feed::{Fed, Feed, LiveSource, Read};
use crate::journal::{Journal, Limits, Position};
use floatgate_base::batch::flags;
use floatgate_base::{Error, Op, Place, RequestBatch, Result};
use floatgate_sim::saved::STATE_VERSION;
use floatgate_sim::{Glance, Outcome, Phase, PinSink, PinWindow, Plan, RequestSink, Simulation};
use floatgate_snapshot::{Kind, Reader, replace_file};
use floatgate_trace::formats::live::{Entry, Kind as EntryKind};
use floatgate_trace::{OpenOptions, Source};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Requests per step while the drive is brought into its first state, or catches up with its journal.
const STEP_REQUESTS: u64 = 1 << 12;

/// A request of the host.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// What it does.
    pub op: Op,
    /// First byte on the drive.
    pub offset: u64,
    /// Bytes, at least one.
    pub bytes: u32,
    /// Bits of [`flags`].
    pub flags: u8,
    /// Placement handle.
    pub stream: u16,
}

/// The part of a drive's state beside that of its simulation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Head {
    /// The experiment with all defaults: a drive goes on with no other.
    experiment: String,
    position: Position,
    /// Moments of the first request and of the last record, since the journal began.
    first_ns: Option<u64>,
    last_ns: u64,
    /// Whether a flush waits for the request that carries it.
    flushes: bool,
}

/// Files of a drive in its folder.
#[derive(Clone, Debug)]
pub struct Files {
    /// Journal.
    pub journal: PathBuf,
    /// State of the drive.
    pub state: PathBuf,
}

impl Files {
    /// Names the files of the folder.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        Self { journal: folder.join("journal"), state: folder.join("drive.snapshot") }
    }
}

/// Onlookers of a drive in timed mode.
#[derive(Default)]
pub struct Onlookers {
    /// Takes completed requests.
    pub log: Option<Box<dyn RequestSink>>,
    /// Takes the low phases of the Ready/Busy pins of all dies.
    pub pins: Option<Box<dyn PinSink>>,
}

impl Onlookers {
    fn begin(self, simulation: &mut Simulation) -> Result<()> {
        if let Some(log) = self.log {
            simulation.log_requests(log)?;
        }
        match self.pins {
            Some(pins) => simulation.listen(pins, PinWindow { die: None, from_ns: 0, until_ns: u64::MAX }),
            None => Ok(()),
        }
    }
}

/// A drive that is fed.
pub struct Drive {
    simulation: Simulation,
    feed: Feed,
    journal: Journal,
    files: Files,
    head: Head,
    /// Why the drive takes no more writes: it is worn out, or a policy from outside failed.
    ended: Option<String>,
}

impl Drive {
    /// Creates a drive in its first state, or goes on with one whose files exist. `experiment` identifies its settings;
    /// `now_ns` is the time since 1970, for the beginning of a new journal.
    ///
    /// # Errors
    /// Files that are damaged, or of other settings; a plan that a live drive cannot have.
    pub fn open(
        plan: Plan,
        experiment: &str,
        files: Files,
        (now_ns, limits): (u64, Limits),
        onlookers: Onlookers,
    ) -> Result<Self> {
        let drive_bytes = logical_bytes(&plan);
        let feed = Feed::default();
        let source = Box::new(LiveSource::of(&feed));
        let is_new = !files.journal.exists();
        let state = files.state.to_string_lossy().into_owned();
        let mut head = Head { experiment: experiment.into(), ..Head::default() };
        let mut simulation = if files.state.exists() {
            let mut from = Reader::open(&state, Kind::Live, STATE_VERSION)?;
            head = from.state("live drive")?;
            if head.experiment != experiment {
                let what = "is the state of a drive with other settings";
                let expected = "expected the settings it began with, or another folder";
                return Err(Error::input(Place::Path(state), what, expected));
            }
            let simulation = Simulation::resume_live(plan, source, &mut from)?;
            from.finish()?;
            simulation
        } else {
            Simulation::live(plan, source)?
        };
        onlookers.begin(&mut simulation)?;
        while !matches!(simulation.phase(), Phase::Run | Phase::Done) {
            simulation.step(STEP_REQUESTS)?;
        }
        if is_new {
            let journal = Journal::create(&files.journal, now_ns, drive_bytes, limits)?;
            return Ok(Self { simulation, feed, journal, files, head, ended: None });
        }
        Self::caught_up(simulation, feed, files, head, limits)
    }

    /// Serves what the journal holds beyond the state.
    fn caught_up(
        simulation: Simulation,
        feed: Feed,
        files: Files,
        head: Head,
        limits: Limits,
    ) -> Result<Self> {
        let mut behind = CatchUp { simulation, feed, head, queued: 0, ended: None };
        let from = behind.head.position;
        let journal = Journal::open(&files.journal, from, limits, &mut |entry| behind.take(entry))?;
        behind.step();
        let CatchUp { simulation, feed, mut head, ended, .. } = behind;
        head.position = journal.position();
        Ok(Self { simulation, feed, journal, files, head, ended })
    }

    /// Returns the bytes that the host sees.
    #[must_use]
    pub fn logical_bytes(&self) -> u64 {
        self.journal.header().drive_bytes
    }

    /// Returns the time of the last record, since the journal began.
    #[must_use]
    pub fn last_ns(&self) -> u64 {
        self.head.last_ns
    }

    /// Returns the moment of the first request, since the journal began.
    #[must_use]
    pub fn first_ns(&self) -> Option<u64> {
        self.head.first_ns
    }

    /// Returns the requests and flushes taken so far.
    #[must_use]
    pub fn position(&self) -> Position {
        self.journal.position()
    }

    /// Returns why the drive takes no more writes, if it is at its end.
    #[must_use]
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Takes a request `now_ns` after the journal began. Returns its number, from 1, if it counts: a drive at its end serves
    /// reads without counting them, and refuses all else.
    ///
    /// # Errors
    /// The journal cannot be written; the request is not taken.
    pub fn take(&mut self, request: Request, now_ns: u64) -> std::io::Result<Option<u64>> {
        if self.ended.is_some() {
            return Ok(None);
        }
        let time_ns = now_ns.max(self.head.last_ns);
        let Request { op, offset, bytes, flags, stream } = request;
        let entry = Entry { time_ns, kind: EntryKind::Request(op), offset, bytes, flags, stream };
        self.journal.append(&entry)?;
        self.feed.push(self.head.fed(&entry, op));
        if let Err(error) = self.simulation.step(1) {
            self.ended = Some(error.to_string());
        }
        self.rotate_if_full()?;
        Ok(self.ended.is_none().then(|| self.simulation.requests()))
    }

    /// Takes a flush: the journal is on disk when this returns.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn flush(&mut self, now_ns: u64) -> std::io::Result<()> {
        if self.ended.is_none() {
            let time_ns = now_ns.max(self.head.last_ns);
            let entry = Entry { time_ns, kind: EntryKind::Flush, offset: 0, bytes: 0, flags: 0, stream: 0 };
            self.journal.append(&entry)?;
            self.head.note(&entry);
            self.rotate_if_full()?;
        }
        self.journal.sync()
    }

    /// Hands records to the operating system, which keeps them if this process is killed.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn hand_over(&mut self) -> std::io::Result<()> {
        self.journal.flush()
    }

    fn rotate_if_full(&mut self) -> std::io::Result<()> {
        if !self.journal.is_full() {
            return Ok(());
        }
        // In this order: what follows the state always lies in the current part.
        self.journal.rotate()?;
        self.save().map_err(|error| std::io::Error::other(error.to_string()))
    }

    /// Saves the state of the drive, with which it goes on after a restart.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save(&mut self) -> Result<()> {
        if self.ended.is_some() {
            return Ok(());
        }
        self.journal.sync().map_err(|e| {
            let place = Place::Path(self.files.journal.to_string_lossy().into_owned());
            Error::input(place, format!("cannot be written: {e}"), "expected free space")
        })?;
        self.head.position = self.journal.position();
        let Self { simulation, files, head, .. } = self;
        replace_file(&files.state, Kind::Live, STATE_VERSION, |out| {
            out.state("live drive", head)?;
            simulation.save(out)
        })?;
        Ok(())
    }

    /// Lets the simulated clock follow the real one in timed mode, up to `now_ns` after the journal began.
    pub fn pass_time(&mut self, now_ns: u64) {
        if let (Some(first_ns), None) = (self.head.first_ns, &self.ended)
            && let Err(error) = self.simulation.pass_time(now_ns.saturating_sub(first_ns))
        {
            self.ended = Some(error.to_string());
        }
    }

    /// Returns the time of the drive's next event after the journal began, in timed mode; none while it is idle or at its
    /// end.
    #[must_use]
    pub fn next_event_ns(&self) -> Option<u64> {
        let first_ns = self.head.first_ns.filter(|_| self.ended.is_none())?;
        Some(first_ns + self.simulation.next_event_ns()?)
    }

    /// Returns what the drive has counted so far.
    #[must_use]
    pub fn glance(&self) -> Glance<'_> {
        self.simulation.glance()
    }

    /// Stops the drive: saves its state, and returns the outcome of a run over the journal; none if it served no request.
    ///
    /// # Errors
    /// A file cannot be written or read; the drive cannot complete its requests.
    pub fn stop(mut self) -> Result<Option<Outcome>> {
        self.save()?;
        if self.head.first_ns.is_none() {
            return Ok(None);
        }
        self.feed.end(read_whole(&self.files.journal)?);
        while self.ended.is_none() && self.simulation.step(1)? != Phase::Done {}
        if let Some(fault) = self.simulation.policy_fault() {
            return Err(Error::run(fault, "expected a policy that keeps to its contract"));
        }
        Ok(Some(self.simulation.finish()))
    }
}

impl Head {
    /// Notes a record.
    fn note(&mut self, entry: &Entry) {
        self.last_ns = entry.time_ns;
        self.flushes |= entry.kind == EntryKind::Flush;
    }

    /// Notes a request, and makes it one for the feed.
    fn fed(&mut self, entry: &Entry, op: Op) -> Fed {
        self.note(entry);
        let first_ns = *self.first_ns.get_or_insert(entry.time_ns);
        let flush = if std::mem::take(&mut self.flushes) { flags::FLUSH } else { 0 };
        Fed {
            stamp_ns: (entry.time_ns - first_ns) as i64,
            op,
            offset: entry.offset,
            bytes: u64::from(entry.bytes),
            flags: entry.flags | flush,
            stream: entry.stream,
        }
    }
}

/// A drive that serves what its journal holds beyond its state.
struct CatchUp {
    simulation: Simulation,
    feed: Feed,
    head: Head,
    queued: u64,
    ended: Option<String>,
}

impl CatchUp {
    #[expect(clippy::unnecessary_wraps, reason = "as the journal calls it")]
    fn take(&mut self, entry: Entry) -> Result<()> {
        match entry.kind {
            EntryKind::Flush => self.head.note(&entry),
            EntryKind::Request(op) => {
                self.feed.push(self.head.fed(&entry, op));
                self.queued += 1;
            }
        }
        if self.queued == STEP_REQUESTS {
            self.step();
        }
        Ok(())
    }

    fn step(&mut self) {
        let queued = std::mem::take(&mut self.queued);
        if queued > 0
            && self.ended.is_none()
            && let Err(error) = self.simulation.step(queued)
        {
            self.ended = Some(error.to_string());
        }
    }
}

fn logical_bytes(plan: &Plan) -> u64 {
    u64::from(plan.ftl.setup.logical_pages) * u64::from(plan.drive.geometry.page_bytes)
}

/// Reads the journal as any run would, for what its reader says of it.
fn read_whole(path: &Path) -> Result<Read> {
    let mut source: Box<dyn Source> =
        floatgate_trace::open(&path.to_string_lossy(), &OpenOptions::default())?;
    let mut batch = RequestBatch::default();
    loop {
        batch.clear();
        source.fill(&mut batch, RequestBatch::DEFAULT_LEN)?;
        if batch.is_empty() {
            return Ok(Read { summary: source.summary(), assumed: source.assumed() });
        }
    }
}
