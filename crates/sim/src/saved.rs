//! Saves a run in the middle of its work to a snapshot, and restores it.
//!
//! State that follows from the plan is rebuilt; the source is opened again and read up to the position of the run; all
//! other state is written. Every struct that owns state is destructured without `..`: state added later does not
//! compile until it is handled here.

use crate::addressing::Addressing;
use crate::array::BackEnd;
use crate::book::Book;
use crate::buffer::Buffered;
use crate::drive::Drive;
use crate::failure::another_trace;
use crate::gate::{SavedThrottled, Throttled};
use crate::plan::{Plan, Precondition};
use crate::precondition::{Preparation, SavedPreparation};
use crate::reading::foresight::{Foreseeing, ForesightStep};
use crate::reading::{Reading, SavedReading};
use crate::serve::clock::Clock;
use crate::serve::idle::{Idle, IdleCounts};
use crate::serve::idle_prediction::IdlePrediction;
use crate::serve::{Direct, FunctionalServing, Kept, Serving, TimedServing, Waiting, with_drive};
use crate::simulation::{Phase, Simulation, Stages, State};
use floatgate_base::{Error, Result};
use floatgate_ftl::separate::Foresight;
use floatgate_host::Queues;
use floatgate_snapshot::{Reader, Writer, damaged};
use floatgate_trace::Source;
use std::io;

/// Version of the sections of an interrupted run; increases with every change of a written type.
pub const STATE_VERSION: u32 = 43;

impl Simulation {
    /// Writes the whole state of a run, which can then continue as if it had never stopped.
    ///
    /// # Errors
    /// Those of the file.
    ///
    /// # Panics
    /// Under the shadow model, with recorded pins, and for a whole life, which are not written. A log of requests is left
    /// out: a resumed run does not report those under way.
    pub fn save(&self, out: &mut Writer<'_>) -> io::Result<()> {
        let Self {
            plan,
            reading,
            stages,
            wear_in,
            // A preparation has taken ownership of it.
            written: _,
            state,
        } = self;
        let Stages { addressing, serving, book } = stages;
        // Log and pins are onlookers and no part of it: a run that records them as a whole is not saved
        // (`is_recorded`), and a live drive lets new ones look on after a restart.
        assert!(!plan.shadow, "the shadow model is not part of snapshots");
        out.state("phase", &self.phase())?;
        let preparation = match state {
            // Nothing worth saving is done yet.
            State::Ends(_) | State::Survey(_) | State::Future(_) => return Ok(()),
            // The future is read again.
            State::Precondition(preparation, _) => Some(preparation.saved()),
            State::WearIn | State::WarmUp | State::Run | State::Done => None,
        };
        out.state("preparation", &preparation)?;
        out.state("wear-in", wear_in)?;
        out.state("reading", &reading.saved())?;
        addressing.save(out)?;
        out.state("book", book)?;
        match serving {
            Serving::Functional(serving) => {
                let FunctionalServing {
                    drive,
                    buffer,
                    gate,
                    // Empty between two chunks.
                    runs: _,
                } = serving;
                save_drive(drive, out)?;
                save_gate_and_buffer(gate, buffer, out)
            }
            Serving::Timed(TimedServing { direct, waiting }) => {
                let Direct {
                    drive,
                    buffer,
                    gate,
                    clock,
                    // Earlier rows and phases were handed out and cannot be resumed.
                    log: _,
                    pins: _,
                    idle,
                    // From the plan.
                    timeline: _,
                    engine_delays: _,
                } = direct;
                save_drive(drive, out)?;
                out.state("under way", &drive.array.back_end().saved())?;
                save_gate_and_buffer(gate, buffer, out)?;
                out.state("clock", clock)?;
                out.state("idle time", &idle.as_ref().map(Idle::saved))?;
                out.state("queues", &waiting.as_ref().map(Waiting::saved))
            }
        }
    }

    /// Restores a run for the same plan.
    ///
    /// # Errors
    /// A damaged file; a trace that cannot be opened, or has changed.
    pub fn resume(plan: Plan, from: &mut Reader<'_>) -> Result<Self> {
        let run = Self::new(plan)?;
        run.resumed(from, Reading::restore)
    }

    /// Restores a run that [`Simulation::live`] began; `source` holds the requests after those served.
    ///
    /// # Errors
    /// A damaged file; a source without what the plan needs.
    pub fn resume_live(plan: Plan, source: Box<dyn Source>, from: &mut Reader<'_>) -> Result<Self> {
        let run = Self::live(plan, source)?;
        run.resumed(from, Reading::go_on)
    }

    fn resumed(
        mut self,
        from: &mut Reader<'_>,
        reposition: impl FnOnce(&mut Reading, SavedReading) -> Result<()>,
    ) -> Result<Self> {
        let run = &mut self;
        let phase: Phase = from.state("phase")?;
        if phase == Phase::Scan {
            return Ok(self);
        }
        let preparation: Option<SavedPreparation> = from.state("preparation")?;
        run.wear_in = from.state("wear-in")?;
        let reading: SavedReading = from.state("reading")?;
        let addressing = Addressing::resume(&run.plan, from)?;
        let foresight = run.foresee_again(&addressing)?;
        run.stages = Stages { addressing, ..Stages::new(&run.plan, None, Kept::default()) };
        run.stages.book = from.state::<Book>("book")?;
        run.resume_serving(from)?;
        run.state = match (phase, preparation) {
            (Phase::Precondition, Some(saved)) => run.resume_preparation(from, saved, foresight)?,
            (Phase::WearIn, None) => run.recalling(foresight, State::WearIn),
            (Phase::WarmUp, None) => run.recalling(foresight, State::WarmUp),
            (Phase::Run, None) => run.recalling(foresight, State::Run),
            (Phase::Done, None) => run.recalling(foresight, State::Done),
            _ => return Err(otherwise_prepared(from)),
        };
        reposition(&mut run.reading, reading)?;
        Ok(self)
    }

    fn resume_serving(&mut self, from: &mut Reader<'_>) -> Result<()> {
        match &mut self.stages.serving {
            Serving::Functional(serving) => {
                resume_drive(&mut serving.drive, from)?;
                resume_gate_and_buffer(&self.plan, &mut serving.gate, &mut serving.buffer, from)
            }
            Serving::Timed(TimedServing { direct, waiting }) => {
                resume_drive(&mut direct.drive, from)?;
                if !direct.drive.array.back_end_mut().restore(from.state("under way")?) {
                    return Err(unfit(from));
                }
                resume_gate_and_buffer(&self.plan, &mut direct.gate, &mut direct.buffer, from)?;
                direct.clock = from.state::<Clock>("clock")?;
                let idle = from.state::<Option<(IdleCounts, Option<IdlePrediction>)>>("idle time")?;
                let fits = match (&mut direct.idle, idle) {
                    (None, None) => true,
                    (Some(own), Some(saved)) => own.restore(saved),
                    _ => false,
                };
                if !fits {
                    return Err(damaged(from.path(), 0, "the snapshot is damaged: its idle time differs"));
                }
                match (waiting, from.state::<Option<Queues>>("queues")?) {
                    (None, None) => Ok(()),
                    (Some(waiting), Some(queues)) => {
                        waiting.queues = queues.restored();
                        Ok(())
                    }
                    _ => Err(damaged(from.path(), 0, "the snapshot is damaged: its queues differ")),
                }
            }
        }
    }

    fn resume_preparation(
        &mut self,
        from: &Reader<'_>,
        saved: SavedPreparation,
        mut foresight: Option<Foresight>,
    ) -> Result<State> {
        let mut preparation = Preparation::new(&self.plan, None)?;
        if !preparation.restore(saved) {
            return Err(otherwise_prepared(from));
        }
        // The separator of a drive that is still to be read from a file receives the future later.
        if self.plan.ftl.precondition != Precondition::Snapshot {
            self.recall(foresight.take());
        }
        Ok(State::Precondition(preparation, foresight))
    }

    /// Returns `state`, once the restored separator has its foresight.
    fn recalling(&mut self, foresight: Option<Foresight>, state: State) -> State {
        self.recall(foresight);
        state
    }

    fn recall(&mut self, foresight: Option<Foresight>) {
        if let Some(foresight) = foresight {
            with_drive!(&mut self.stages.serving, drive => drive.ftl.recall(foresight));
        }
    }

    /// Reads the future again, if the separator uses it; the source is at its first request afterwards.
    fn foresee_again(&mut self, addressing: &Addressing) -> Result<Option<Foresight>> {
        if !self.plan.ftl.setup.separate.foresees() {
            return Ok(None);
        }
        let mut foreseeing = Foreseeing::new(&self.plan, addressing.ends());
        loop {
            match foreseeing.step(&self.plan, &mut self.reading, u64::MAX)? {
                ForesightStep::NotYet => {}
                ForesightStep::All(foresight) => return Ok(Some(foresight)),
                ForesightStep::Misplaced(_) => return Err(another_trace("workload", 0)),
            }
        }
    }
}

fn save_drive<F: BackEnd>(drive: &Drive<F>, out: &mut Writer<'_>) -> io::Result<()> {
    let Drive { ftl, array } = drive;
    ftl.save(out)?;
    out.state("flash", &array.counts().saved())?;
    out.state("rest", array.counts().rest())
}

fn resume_drive<F: BackEnd>(drive: &mut Drive<F>, from: &mut Reader<'_>) -> Result<()> {
    let Drive { ftl, array } = drive;
    ftl.restore(from)?;
    let counts = array.counts_mut();
    if !counts.restore(from.state("flash")?) || !counts.restore_rest(from.state("rest")?) {
        return Err(unfit(from));
    }
    ftl.learn_wear(array.erase_counts());
    Ok(())
}

fn save_gate_and_buffer(
    gate: &Option<Throttled>,
    buffer: &Option<Buffered>,
    out: &mut Writer<'_>,
) -> io::Result<()> {
    out.state("throttle", &gate.as_ref().map(Throttled::saved))?;
    out.state("buffer", &buffer.as_ref().map(Buffered::saved))
}

fn resume_gate_and_buffer(
    plan: &Plan,
    gate: &mut Option<Throttled>,
    buffer: &mut Option<Buffered>,
    from: &mut Reader<'_>,
) -> Result<()> {
    let fits = match (gate, from.state::<Option<SavedThrottled>>("throttle")?) {
        (None, None) => true,
        (Some(gate), Some(saved)) => gate.restore(plan, saved),
        _ => false,
    };
    if !fits {
        return Err(damaged(from.path(), 0, "the snapshot is damaged: its throttle differs"));
    }
    let fits = match (buffer, from.state("buffer")?) {
        (None, None) => true,
        (Some(buffer), Some(saved)) => buffer.restore(saved),
        _ => false,
    };
    if fits { Ok(()) } else { Err(unfit(from)) }
}

fn unfit(from: &Reader<'_>) -> Box<Error> {
    damaged(from.path(), 0, "the snapshot is damaged: its array or buffer differs")
}

fn otherwise_prepared(from: &Reader<'_>) -> Box<Error> {
    damaged(from.path(), 0, "the snapshot is damaged: its drive was prepared differently")
}
