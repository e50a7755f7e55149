//! Determines how much a pass over the workload writes, and where, by reading it once.
//!
//! It is read to its end, regardless of its length. A page written late that counted as a page at rest would lie in a
//! block that nothing else empties.
//!
//! Requests are split exactly as when they are served; a request without a place is detected before the drive is
//! filled.

use super::reader::Reading;
use crate::addressing::{self, Misplaced};
use crate::plan::Plan;
use crate::written_pages::WrittenPages;
use floatgate_base::{Extents, Result};
use floatgate_host::Splitter;
use serde::{Deserialize, Serialize};

/// Size of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassSize {
    /// Requests.
    pub requests: u64,
    /// Page writes.
    pub page_writes: u64,
}

/// Result of a step.
pub(crate) enum SurveyStep {
    /// More remains to be read.
    NotYet,
    /// The pass is complete; the source is at its first request again.
    All(PassSize, WrittenPages),
    /// A request has no place.
    Misplaced(Misplaced),
}

/// The reading of a pass.
pub(crate) struct Survey {
    splitter: Splitter,
    extents: Extents,
    request_ends: Vec<usize>,
    requests: u64,
    written: WrittenPages,
}

impl Survey {
    /// Begins in a trace whose devices end at `ends`, where known.
    pub fn new(plan: &Plan, ends: &[u64]) -> Self {
        let splitter = addressing::splitter(plan, ends);
        let written = WrittenPages::new(plan.ftl.setup.logical_pages.into());
        Self { splitter, extents: Extents::default(), request_ends: Vec::new(), requests: 0, written }
    }

    /// Reads about `requests_max` more requests.
    ///
    /// # Errors
    /// Input errors of the source.
    pub fn step(&mut self, reading: &mut Reading, requests_max: u64) -> Result<SurveyStep> {
        let mut done = 0;
        while done < requests_max {
            let requests = reading.read_batch()?.len();
            self.extents.clear();
            self.request_ends.clear();
            let chunk = reading.chunk(requests, None);
            let split =
                self.splitter.split(chunk.batch, chunk.range(), &mut self.extents, &mut self.request_ends);
            if let Err((i, outside)) = split {
                return Ok(SurveyStep::Misplaced(Misplaced { index: chunk.at(i).index, outside }));
            }
            self.written.learn(&self.extents);
            done += requests as u64;
            self.requests += requests as u64;
            if requests == 0 {
                let page_writes = self.splitter.total().page_writes;
                reading.restart()?;
                let written = std::mem::replace(&mut self.written, WrittenPages::new(0));
                return Ok(SurveyStep::All(PassSize { requests: self.requests, page_writes }, written));
            }
        }
        Ok(SurveyStep::NotYet)
    }
}
