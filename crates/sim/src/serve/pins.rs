//! Ready/Busy pins on record: what they show goes out chunk by chunk, and what the drive's own counters say stands beside it.

use floatgate_base::{Op, Result};
use floatgate_flash::timed::{ArrayPhase, Signal};
use floatgate_flash::{Flash, Timed};

/// What takes what the pins show.
pub trait PinSink: Send {
    /// Takes low phases, those of a die in the order of time. All that begin before `known_ns` have been handed out then.
    ///
    /// # Errors
    /// When they cannot be kept: the run stops with this error.
    fn take(&mut self, phases: &[ArrayPhase], known_ns: u64) -> Result<()>;

    /// The run is over at `end_ns`.
    ///
    /// # Errors
    /// As [`PinSink::take`].
    fn end(&mut self, end_ns: u64, counted: &PinCounts) -> Result<()>;

    /// The run starts over: nothing of what was handed out counts.
    ///
    /// # Errors
    /// As [`PinSink::take`].
    fn restart(&mut self) -> Result<()>;
}

/// Which pins are listened to, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinWindow {
    /// The only die, if not all.
    pub die: Option<u32>,
    /// From when on, nanoseconds since counting began.
    pub from_ns: u64,
    /// Until when; `u64::MAX` for the end of the run.
    pub until_ns: u64,
}

/// What arrived and what the FTL asked for within the window, on all dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PinCounts {
    /// Requests that arrived.
    pub requests: u64,
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Flash pages programmed, flash pages read, blocks erased.
    pub flash: [u64; 3],
}

/// Listens to pins.
pub(crate) struct PinWatch {
    sink: Box<dyn PinSink>,
    window: PinWindow,
    phases: Vec<ArrayPhase>,
    counted: PinCounts,
    /// What the FTL had asked for when the window began, and when it ended.
    began: Option<[u64; 3]>,
    ended: Option<[u64; 3]>,
}

/// What the FTL has asked for so far.
fn asked(timed: &Timed) -> [u64; 3] {
    let counters = timed.counts().counters();
    [counters.flash_programs_total(), counters.reads.iter().sum(), counters.erases_total()]
}

impl PinWatch {
    /// Nothing is heard yet.
    pub fn new(sink: Box<dyn PinSink>, window: PinWindow) -> Self {
        Self { sink, window, phases: Vec::new(), counted: PinCounts::default(), began: None, ended: None }
    }

    /// Counting begins.
    pub fn begin(&self, timed: &mut Timed) {
        timed.tap(Signal::Pin, self.window.die);
    }

    /// The run starts over.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn restart(&mut self) -> Result<()> {
        self.phases.clear();
        (self.counted, self.began, self.ended) = (PinCounts::default(), None, None);
        self.sink.restart()
    }

    /// A request arrives, of which nothing is issued yet.
    pub fn arrives(&mut self, timed: &Timed, arrival_ns: u64, op: Op, bytes: u64) {
        let PinWindow { from_ns, until_ns, .. } = self.window;
        if arrival_ns >= from_ns && self.began.is_none() {
            self.began = Some(asked(timed));
        }
        if arrival_ns >= until_ns {
            self.ended.get_or_insert_with(|| asked(timed));
        } else if arrival_ns >= from_ns {
            self.counted.requests += 1;
            self.counted.host_bytes += if op == Op::Write { bytes } else { 0 };
        }
    }

    /// Hands out what was heard.
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

    /// All requests are served, and nothing is under way.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn end(&mut self, timed: &mut Timed) -> Result<()> {
        self.hand_out(timed)?;
        let now = asked(timed);
        let (began, ended) = (self.began.unwrap_or(now), self.ended.unwrap_or(now));
        self.counted.flash = std::array::from_fn(|n| ended[n] - began[n]);
        self.sink.end(timed.last_ns(), &self.counted)
    }
}
