//! Knowing the future: the workload is read once, warm-up and all passes, before it is served, for separators that are
//! to know when data die.
//!
//! Requests are split just as they will be when they are served, and take numbers in that order. What would change the
//! order (a buffer, queues of the host) is refused where settings are read.

use crate::device::{Phase, Simulation, Stream, splitter_for};
use crate::plan::{Plan, Precondition, Workload};
use crate::saved;
use floatgate_base::{Error, ExtentKind as Kind, Place, RequestBatch, Result};
use floatgate_ftl::separate::foresight::WRITES_MAX;
use floatgate_ftl::separate::{Foreseer, Foresight};
use floatgate_host::{Outside, Splitter};
use std::path::Path;

/// Reading the workload ahead of the run.
pub(crate) struct Foreseeing {
    seer: Foreseer,
    splitter: Splitter,
}

impl Plan {
    /// Passes over the workload, those of the warm-up included.
    fn passes(&self) -> u64 {
        match &self.workload {
            Workload::Trace { repeat, warmup_passes, .. } => repeat.saturating_add(*warmup_passes),
            Workload::Synthetic(_) => 1,
        }
    }

    /// Refuses to know the future of a workload that can be read but once.
    pub(crate) fn check_foresight(&self) -> Result<()> {
        match &self.workload {
            Workload::Trace { path, .. } if self.separate.foresees() && !Path::new(path).is_file() => {
                Err(self.only_once(path))
            }
            _ => Ok(()),
        }
    }

    fn only_once(&self, path: &str) -> Box<Error> {
        let name = self.separate.info().name;
        let what = format!("separator {name} reads the workload twice, which a pipe cannot give");
        Error::input(Place::Path(path.into()), what, "expected a file: save the trace to one")
    }
}

impl Simulation {
    /// Starts reading ahead.
    pub(crate) fn begin_foreseeing(&mut self) {
        let splitter = splitter_for(&self.plan, self.ends.as_deref().unwrap_or_default());
        self.foreseeing =
            Some(Box::new(Foreseeing { seer: Foreseer::new(self.plan.logical_pages), splitter }));
        self.phase = Phase::Scan;
    }

    /// Reads on for about so many requests; what was foreseen once the workload is read through. The source then stands
    /// at its first request again.
    pub(crate) fn foresee(&mut self, requests_max: u64) -> Result<Option<Foresight>> {
        let mut done = 0;
        while done < requests_max {
            self.stream.before += self.stream.batch.len() as u64;
            self.stream.batch.clear();
            self.source.fill(&mut self.stream.batch, RequestBatch::DEFAULT_LEN)?;
            if self.stream.batch.is_empty() {
                let empty = self.stream.before == 0;
                self.stream = Stream { pass: self.stream.pass + 1, ..Stream::default() };
                self.source.rewind()?;
                if empty || self.stream.pass >= self.plan.passes() {
                    self.stream = Stream::default();
                    return Ok(self.foreseeing.take().map(|reading| reading.seer.finish()));
                }
                continue;
            }
            done += self.stream.batch.len() as u64;
            if !self.foresee_batch()? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Notes the writes and trims of the batch; false if the run had to start over.
    fn foresee_batch(&mut self) -> Result<bool> {
        let Some(reading) = &mut self.foreseeing else { return Ok(false) };
        self.extents.clear();
        let range = 0..self.stream.batch.len();
        if let Err((request, outside)) = reading.splitter.split(&self.stream.batch, range, &mut self.extents)
        {
            return match outside {
                Outside::Device => self.start_over().map(|()| false),
                Outside::Drive { end } => Err(self.beyond(request, end)),
            };
        }
        let mut all = true;
        for i in 0..self.extents.len() {
            let mut pages = self.extents.lpn[i]..self.extents.lpn[i] + self.extents.pages[i];
            match self.extents.kind[i] {
                Kind::Write | Kind::WritePartial => all &= pages.all(|lpn| reading.seer.write(lpn)),
                Kind::Trim => pages.for_each(|lpn| reading.seer.trim(lpn)),
                Kind::Read => {}
            }
        }
        if all { Ok(true) } else { Err(self.too_long()) }
    }

    /// What the separator knows of the future, where it knows any and the workload has been read.
    #[must_use]
    pub fn foresight(&self) -> Option<&Foresight> {
        self.foresight.as_ref().or_else(|| self.ftl.foresight())
    }

    /// Gives the separator what was foreseen, if that has not been done.
    pub(crate) fn hand_over_foresight(&mut self) {
        if let Some(foresight) = self.foresight.take() {
            self.ftl.foresee(foresight);
        }
    }

    /// Makes what was foreseen again, for a run that goes on in this phase.
    pub(crate) fn foresee_again(&mut self) -> Result<()> {
        if !self.plan.separate.foresees() {
            return Ok(());
        }
        let phase = self.phase;
        self.begin_foreseeing();
        self.foresight = loop {
            match self.foresee(u64::MAX)? {
                None if self.foreseeing.is_none() => return Err(saved::another_trace("workload", 0)),
                None => {}
                foresight => break foresight,
            }
        };
        self.phase = phase;
        Ok(())
    }

    /// Gives it to the separator that was restored meanwhile, unless its drive is still to be read from a file.
    pub(crate) fn recall_foresight(&mut self) {
        let in_file = self.plan.precondition == Precondition::Snapshot && self.phase == Phase::Precondition;
        if !in_file && let Some(foresight) = self.foresight.take() {
            self.ftl.recall(foresight);
        }
    }

    fn too_long(&self) -> Box<Error> {
        let name = self.plan.separate.info().name;
        let what = format!("separator {name} can number {WRITES_MAX} page writes, and the workload has more");
        Error::input(Place::Setting("ftl.separate.policy".into()), what, "expected fewer requests or passes")
    }
}
