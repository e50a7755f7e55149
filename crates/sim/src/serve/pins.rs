//! Recording of Ready/Busy pins: their low phases are handed out in chunks, with the drive's own counts for comparison.

use floatgate_base::{Op, Result};
use floatgate_flash::timed::{ArrayPhase, Signal};
use floatgate_flash::{Flash, Timed};

/// A sink of pin phases.
pub trait PinSink: Send {
    /// Takes low phases, those of a die in order of time. All phases that begin before `known_ns` have been handed out
    /// by then.
    ///
    /// # Errors
    /// The sink cannot keep them: the run stops with this error.
    fn take(&mut self, phases: &[ArrayPhase], known_ns: u64) -> Result<()>;

    /// Ends the recording: the run is over at `end_ns`.
    ///
    /// # Errors
    /// As [`PinSink::take`].
    fn end(&mut self, end_ns: u64, counted: &PinCounts) -> Result<()>;

    /// Restarts the recording with the run: discards all phases handed out so far.
    ///
    /// # Errors
    /// As [`PinSink::take`].
    fn restart(&mut self) -> Result<()>;
}

/// The recorded pins and the time window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinWindow {
    /// The recorded die; None for all.
    pub die: Option<u32>,
    /// Start, nanoseconds since counting began.
    pub from_ns: u64,
    /// End; `u64::MAX` for the end of the run.
    pub until_ns: u64,
}

/// Counts within the window, on all dies: arrived requests and operations requested by the FTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PinCounts {
    /// Arrived requests.
    pub requests: u64,
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Flash pages programmed, flash pages read, blocks erased.
    pub flash: [u64; 3],
}

/// Records pins.
pub(crate) struct PinWatch {
    sink: Box<dyn PinSink>,
    window: PinWindow,
    phases: Vec<ArrayPhase>,
    counted: PinCounts,
    /// Operations requested by the FTL at the beginning of the window, and at its end.
    began: Option<[u64; 3]>,
    ended: Option<[u64; 3]>,
}

/// Returns the operations requested by the FTL so far.
fn requested(timed: &Timed) -> [u64; 3] {
    let counters = timed.counts().counters();
    [counters.flash_programs_total(), counters.reads.iter().sum(), counters.erases_total()]
}

impl PinWatch {
    /// Begins with nothing recorded.
    pub fn new(sink: Box<dyn PinSink>, window: PinWindow) -> Self {
        Self { sink, window, phases: Vec::new(), counted: PinCounts::default(), began: None, ended: None }
    }

    /// Begins counting.
    pub fn begin(&self, timed: &mut Timed) {
        timed.tap(Signal::Pin, self.window.die);
    }

    /// Restarts with the run.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn restart(&mut self) -> Result<()> {
        self.phases.clear();
        (self.counted, self.began, self.ended) = (PinCounts::default(), None, None);
        self.sink.restart()
    }

    /// Notes an arriving request, none of whose operations is issued yet.
    pub fn arrives(&mut self, timed: &Timed, arrival_ns: u64, op: Op, bytes: u64) {
        let PinWindow { from_ns, until_ns, .. } = self.window;
        if arrival_ns >= from_ns && self.began.is_none() {
            self.began = Some(requested(timed));
        }
        if arrival_ns >= until_ns {
            self.ended.get_or_insert_with(|| requested(timed));
        } else if arrival_ns >= from_ns {
            self.counted.requests += 1;
            self.counted.host_bytes += if op == Op::Write { bytes } else { 0 };
        }
    }

    /// Hands out the recorded phases.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn hand_out(&mut self, timed: &mut Timed) -> Result<()> {
        timed.take_phases(&mut self.phases);
        let dies = match self.window.die {
            Some(die) => die..die + 1,
            None => 0..timed.layout().geometry().dies(),
        };
        let known_ns = dies.map(|die| timed.phases_known_ns(die)).min().unwrap_or(0);
        self.sink.take(&self.phases, known_ns)?;
        self.phases.clear();
        Ok(())
    }

    /// Ends the recording: all requests are served, and nothing is in flight.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn end(&mut self, timed: &mut Timed) -> Result<()> {
        self.hand_out(timed)?;
        let now = requested(timed);
        let (began, ended) = (self.began.unwrap_or(now), self.ended.unwrap_or(now));
        self.counted.flash = std::array::from_fn(|n| ended[n] - began[n]);
        self.sink.end(timed.last_ns(), &self.counted)
    }
}
