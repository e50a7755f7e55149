//! Knowledge of the future: for separators that know when data die, the workload is read once, warm-up and all passes,
//! before it is served.
//!
//! Requests are split exactly as when they are served, and numbered in that order. Settings that would change the order
//! (a buffer, queues of the host) are refused when they are read.

use super::reader::Reading;
use crate::addressing::{self, Misplaced};
use crate::plan::{Plan, Workload};
use floatgate_base::{Error, ExtentKind as Kind, Extents, Lpn, Place, Result};
use floatgate_ftl::separate::foresight::WRITES_MAX;
use floatgate_ftl::separate::{Foreseer, Foresight, Needs};
use floatgate_host::Splitter;

/// Reads the workload ahead of the run.
pub(crate) struct Foreseeing {
    seer: Foreseer,
    splitter: Splitter,
    extents: Extents,
    request_ends: Vec<usize>,
    /// Whether a column foretells lives, and those of the current requests.
    foretold: bool,
    lives: Vec<u32>,
    /// Passes read.
    passes: u64,
}

/// Result of a step.
pub(crate) enum ForesightStep {
    /// More remains to be read.
    NotYet,
    /// All is read, and the source is at its first request again.
    All(Foresight),
    /// A request has no place.
    Misplaced(Misplaced),
}

impl Foreseeing {
    /// Starts reading ahead in a trace whose devices end at `ends`, where known.
    pub fn new(plan: &Plan, ends: &[u64]) -> Self {
        Self {
            seer: Foreseer::new(plan.ftl.setup.logical_pages),
            splitter: addressing::splitter(plan, ends),
            extents: Extents::default(),
            request_ends: Vec::new(),
            foretold: plan.ftl.setup.separate.needs().contains(&Needs::Lives),
            lives: Vec::new(),
            passes: 0,
        }
    }

    /// Reads about `requests_max` more requests.
    ///
    /// # Errors
    /// Input errors of the source; more writes than numbers.
    pub fn step(&mut self, plan: &Plan, reading: &mut Reading, requests_max: u64) -> Result<ForesightStep> {
        let mut done = 0;
        while done < requests_max {
            let requests = reading.read_batch()?.len();
            if requests == 0 {
                // Serving reports the error of a trace without requests.
                let empty = reading.done() == 0;
                self.passes += 1;
                reading.restart()?;
                if empty || self.passes >= passes(plan) {
                    let seer = std::mem::replace(&mut self.seer, Foreseer::new(0));
                    return Ok(ForesightStep::All(seer.finish()));
                }
                continue;
            }
            done += requests as u64;
            if let Err(misplaced) = self.split(reading, requests) {
                return Ok(ForesightStep::Misplaced(misplaced));
            }
            if !self.note() {
                return Err(too_long(plan));
            }
        }
        Ok(ForesightStep::NotYet)
    }

    fn split(&mut self, reading: &Reading, requests: usize) -> std::result::Result<(), Misplaced> {
        self.extents.clear();
        self.request_ends.clear();
        let chunk = reading.chunk(requests, None);
        let split =
            self.splitter.split(chunk.batch, chunk.range(), &mut self.extents, &mut self.request_ends);
        self.lives.clear();
        if self.foretold {
            self.lives.extend_from_slice(&chunk.batch.predicted_life[chunk.range()]);
        }
        split.map_err(|(i, outside)| Misplaced { index: chunk.at(i).index, outside })
    }

    /// Records the writes and trims of the extents; returns false if there are too many.
    fn note(&mut self) -> bool {
        if self.foretold {
            return self.note_foretold();
        }
        let (extents, seer) = (&self.extents, &mut self.seer);
        let mut all = true;
        for i in 0..extents.len() {
            let mut pages = Lpn::each(extents.lpn[i]..extents.lpn[i] + extents.pages[i]);
            match extents.kind[i] {
                Kind::Write | Kind::WritePartial => all &= pages.all(|lpn| seer.write(lpn)),
                Kind::Trim => pages.for_each(|lpn| seer.trim(lpn)),
                Kind::Read | Kind::Flush => {}
            }
        }
        all
    }
}

impl Foreseeing {
    /// Records the foretold lives of the requests' writes; returns false if there are too many.
    fn note_foretold(&mut self) -> bool {
        let (extents, seer) = (&self.extents, &mut self.seer);
        let mut from = 0;
        let mut all = true;
        for (&to, &life) in self.request_ends.iter().zip(&self.lives) {
            for i in from..to {
                if matches!(extents.kind[i], Kind::Write | Kind::WritePartial) {
                    all &= (0..extents.pages[i]).all(|_| seer.foretold(life));
                }
            }
            from = to;
        }
        all
    }
}

/// Returns the passes over the workload, including the warm-up.
fn passes(plan: &Plan) -> u64 {
    match &plan.workload.source {
        Workload::Trace { repeat, warmup_passes, .. } => repeat.saturating_add(*warmup_passes),
        Workload::Synthetic(_) => 1,
    }
}

fn too_long(plan: &Plan) -> Box<Error> {
    let name = plan.ftl.setup.separate.info().name;
    let what = format!("separator {name} can number {WRITES_MAX} page writes, and the workload has more");
    Error::input(Place::Setting("ftl.separate.policy".into()), what, "expected fewer requests or passes")
}
