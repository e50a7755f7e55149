//! Serving in either mode.

use super::direct::Direct;
use super::functional::FunctionalServing;
use super::pins::PinWatch;
use super::request_log::RequestLog;
use super::stop::Stop;
use super::timed::TimedServing;
use crate::addressing::Placed;
use crate::buffer::Buffered;
use crate::gate::Throttled;
use crate::life_book::LifeBook;
use crate::plan::{Mode, Plan};
use crate::reading::Chunk;
use floatgate_flash::Counters;
use floatgate_ftl::Failure;
use floatgate_stats::Row;

/// Gate, buffer and drive of a run.
#[expect(clippy::large_enum_variant, reason = "a run has one")]
pub(crate) enum Serving {
    /// Operations are counted.
    Functional(FunctionalServing),
    /// Operations take time.
    Timed(TimedServing),
}

/// Runs `$body` with `$drive` bound to the drive, monomorphized for its type.
macro_rules! with_drive {
    ($serving:expr, $drive:ident => $body:expr) => {
        match $serving {
            $crate::serve::Serving::Functional($crate::serve::FunctionalServing {
                drive: $drive, ..
            }) => $body,
            $crate::serve::Serving::Timed($crate::serve::TimedServing {
                direct: $crate::serve::Direct { drive: $drive, .. },
                ..
            }) => $body,
        }
    };
}
pub(crate) use with_drive;

/// State kept when a run restarts.
#[derive(Default)]
pub(crate) struct Kept {
    pub log: Option<RequestLog>,
    pub pins: Option<Box<PinWatch>>,
    pub life: Option<LifeBook>,
}

impl Serving {
    /// Creates the stages of an empty drive.
    pub fn new(plan: &Plan, kept: Kept) -> Self {
        let Kept { log, pins, life } = kept;
        let gate = Throttled::of(plan, life);
        match plan.mode {
            Mode::Functional => Self::Functional(FunctionalServing::new(plan, gate)),
            Mode::Timed(arrival) => {
                let mut serving = TimedServing::new(plan, arrival, gate);
                if let Some(log) = log {
                    serving.log_to(log);
                }
                if let Some(pins) = pins {
                    serving.listen(pins, false);
                }
                Self::Timed(serving)
            }
        }
    }

    /// Takes the state kept in a restart: the log, the recorder of pins, and the book of a life before its first
    /// request.
    pub fn take_kept(&mut self) -> Kept {
        match self {
            Self::Functional(serving) => {
                let life = serving.gate.as_ref().and_then(Throttled::life).map(LifeBook::anew);
                Kept { log: None, pins: None, life }
            }
            Self::Timed(serving) => {
                let Direct { log, pins, .. } = &mut serving.direct;
                Kept { log: log.take(), pins: pins.take(), life: None }
            }
        }
    }

    /// Serves the requests of a chunk; returns their number, which is smaller if a whole life ends within. `devices`
    /// names the devices so far.
    ///
    /// # Errors
    /// The drive cannot continue, a request is lost, or the log cannot be written.
    pub fn serve(
        &mut self,
        chunk: &Chunk<'_>,
        placed: Placed<'_>,
        devices: &[String],
    ) -> Result<usize, Stop> {
        let served = match self {
            Self::Functional(serving) => serving.serve(chunk, placed),
            Self::Timed(serving) => serving.serve(chunk, placed, devices).map(|()| chunk.len()),
        }?;
        // The drive reports its own; a throttle's must stop the run before its state is saved.
        let fault = self.gate().and_then(Throttled::policy_fault);
        fault.map_or(Ok(served), |fault| Err(Stop::Flush(Failure::Policy(fault))))
    }

    /// Returns the fault that a policy from outside made, if one did.
    pub fn policy_fault(&self) -> Option<&'static str> {
        let of_gate = || self.gate().and_then(Throttled::policy_fault);
        with_drive!(self, drive => drive.ftl.policy_fault()).or_else(of_gate)
    }

    /// Begins counting. The buffer is flushed first; its pages belong to the warm-up and do not count.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn start_counting(&mut self) -> Result<(), Stop> {
        match self {
            Self::Functional(serving) => serving.start_counting(),
            Self::Timed(serving) => serving.start_counting(),
        }
    }

    /// Completes all requests and flushes the buffer: all written pages count.
    ///
    /// # Errors
    /// As [`Serving::serve`].
    pub fn finish(&mut self, devices: &[String]) -> Result<(), Stop> {
        match self {
            Self::Functional(serving) => serving.flush_buffer(),
            Self::Timed(serving) => serving.finish(devices),
        }?;
        // Work in idle time may have found one after the last request.
        let fault = self.policy_fault();
        fault.map_or(Ok(()), |fault| Err(Stop::Flush(Failure::Policy(fault))))
    }

    /// Ends a counted pass over the workload; the next one begins `period_ns` after counting did.
    pub fn end_pass(&mut self, period_ns: u64) {
        if let Self::Functional(FunctionalServing { gate: Some(gate), .. }) = self {
            gate.end_pass(period_ns);
        }
    }

    /// Returns the throttle, if there is one.
    pub fn gate(&self) -> Option<&Throttled> {
        match self {
            Self::Functional(serving) => serving.gate.as_ref(),
            Self::Timed(serving) => serving.direct.gate.as_ref(),
        }
    }

    /// Returns the DRAM buffer, if there is one.
    pub fn buffer(&self) -> Option<&Buffered> {
        match self {
            Self::Functional(serving) => serving.buffer.as_ref(),
            Self::Timed(serving) => serving.direct.buffer.as_ref(),
        }
    }

    /// Returns the timed run, if it is one.
    pub fn timed(&self) -> Option<&TimedServing> {
        match self {
            Self::Functional(_) => None,
            Self::Timed(serving) => Some(serving),
        }
    }

    /// Returns the counted passes over the workload, if a whole life determines them.
    pub fn passes_max(&self) -> Option<u64> {
        self.gate().and_then(Throttled::life).map(LifeBook::passes_max)
    }

    /// Returns the counts of the flash.
    pub fn counters(&self) -> &Counters {
        with_drive!(self, drive => drive.counters())
    }

    /// Completes a row that has the arrivals and their times, by stamps.
    pub fn complete(&mut self, row: &mut Row) {
        if let Some(gate) = self.gate() {
            row.time_ns = i64::try_from(gate.now_ns()).unwrap_or(i64::MAX);
            row.held_back_ns = gate.gate().held_back_ns();
        }
        if let Self::Timed(serving) = self {
            serving.complete(row);
        }
        let counters = self.counters();
        (row.programs, row.erases) = (counters.programs, counters.erases);
        (row.free_units, row.erase_squares) =
            with_drive!(self, drive => (drive.ftl.free_units(), drive.array.counts().erase_squares()));
        row.reclaims = with_drive!(self, drive => drive.ftl.reclaims());
    }
}
