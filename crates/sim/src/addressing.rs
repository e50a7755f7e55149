//! The second stage: maps requests to places on the drive and splits them into extents of pages.

use crate::plan::{Plan, Workload};
use crate::reading::Chunk;
use floatgate_base::{Extents, Wanted};
use floatgate_host::{Footprint, HostCounters, Outside, Placement, Splitter};
use floatgate_snapshot::{Reader, Writer};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;

/// Returns the splitter of a run over devices that end at `ends`, where known.
pub(crate) fn splitter(plan: &Plan, ends: &[u64]) -> Splitter {
    let page_bytes = plan.drive.geometry.page_bytes;
    let placement = Placement::new(
        page_bytes,
        plan.ftl.setup.logical_pages,
        plan.workload.beyond,
        plan.workload.devices,
        ends,
    );
    Splitter::new(placement, page_bytes)
        .with_columns(wanted(plan))
        .with_flushes(plan.loses_power() || plan.gathers_chunks() || plan.loses_map())
}

/// Returns the optional columns of extents that a run needs.
pub(crate) fn wanted(plan: &Plan) -> Wanted {
    Wanted {
        edges: plan.buffer.is_some(),
        hints: plan.ftl.setup.separate.inspects_pages() || plan.ftl.setup.timing.is_some(),
        content: plan.ftl.setup.reduce.is_some(),
    }
}

/// A request without a place on the drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Misplaced {
    /// Its index from 0, in its pass over the source.
    pub index: u64,
    pub outside: Outside,
}

/// The extents of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    pub extents: &'a Extents,
    /// One past the last extent of each request.
    pub ends: &'a [usize],
}

impl Placed<'_> {
    /// Returns the index past the last extent of the first `requests`.
    #[inline(always)]
    pub fn end_of(&self, requests: usize) -> usize {
        if requests == 0 { 0 } else { self.ends[requests - 1] }
    }

    /// Returns the extents of a request of the chunk, from 0.
    #[inline(always)]
    pub fn of(&self, request: usize) -> Range<usize> {
        self.end_of(request)..self.ends[request]
    }
}

/// State of the stage in a snapshot, besides the footprint.
#[derive(Debug, Serialize, Deserialize)]
struct SavedAddressing {
    ends: Option<Vec<u64>>,
    by_device: Vec<HostCounters>,
    requests_moved: u64,
}

/// The stage.
pub(crate) struct Addressing {
    splitter: Splitter,
    /// Pages touched; only traces have a footprint that is not known in advance.
    footprint: Option<Footprint>,
    /// One past the largest byte addressed, by device, once scanned.
    ends: Option<Vec<u64>>,
    extents: Extents,
    /// One past the last extent of each request of the chunk.
    request_ends: Vec<usize>,
    /// Counts before the chunk, by device, and moved requests.
    before: (Vec<HostCounters>, u64),
}

impl Addressing {
    /// Creates the stage of a run whose devices end at `ends`, if the trace was scanned for them.
    pub fn new(plan: &Plan, ends: Option<Vec<u64>>) -> Self {
        let is_trace = matches!(plan.workload.source, Workload::Trace { .. });
        Self {
            splitter: splitter(plan, ends.as_deref().unwrap_or_default()),
            footprint: is_trace.then(|| Footprint::new(plan.ftl.setup.logical_pages)),
            ends,
            extents: Extents::default(),
            request_ends: Vec::new(),
            before: (Vec::new(), 0),
        }
    }

    /// Places the requests of a chunk.
    ///
    /// # Errors
    /// The first request without a place.
    pub fn place(&mut self, chunk: &Chunk<'_>) -> Result<(), Misplaced> {
        self.before.0.clear();
        self.before.0.extend_from_slice(self.splitter.counters());
        self.before.1 = self.splitter.requests_moved;
        self.extents.clear();
        self.request_ends.clear();
        let split =
            self.splitter.split(chunk.batch, chunk.range(), &mut self.extents, &mut self.request_ends);
        split.map_err(|(i, outside)| Misplaced { index: chunk.at(i).index, outside })?;
        if let Some(footprint) = &mut self.footprint {
            footprint.add(&self.extents);
        }
        Ok(())
    }

    /// Returns the extents of the last chunk.
    pub fn placed(&self) -> Placed<'_> {
        Placed { extents: &self.extents, ends: &self.request_ends }
    }

    /// Returns one past the largest byte addressed, by device, where known.
    pub fn ends(&self) -> &[u64] {
        self.ends.as_deref().unwrap_or_default()
    }

    pub fn counters(&self) -> &[HostCounters] {
        self.splitter.counters()
    }

    /// Returns the counts of all devices together.
    pub fn total(&self) -> HostCounters {
        self.splitter.total()
    }

    /// Returns the requests whose address was wrapped or scaled.
    pub fn requests_moved(&self) -> u64 {
        self.splitter.requests_moved
    }

    /// Returns the distinct pages that a trace read or wrote.
    pub fn footprint_pages(&self) -> Option<u64> {
        self.footprint.as_ref().map(Footprint::pages)
    }

    /// Counts only these requests of the last chunk: the rest arrives after the end. The footprint keeps all.
    pub fn take_back(&mut self, chunk: &Chunk<'_>) {
        let (by_device, requests_moved) = std::mem::take(&mut self.before);
        self.splitter.restore(by_device, requests_moved);
        self.extents.clear();
        self.request_ends.clear();
        let split =
            self.splitter.split(chunk.batch, chunk.range(), &mut self.extents, &mut self.request_ends);
        debug_assert!(split.is_ok(), "these requests were placed before");
    }

    /// Resets the counts.
    pub fn reset_counts(&mut self) {
        self.splitter.reset_counts();
        if let Some(footprint) = &mut self.footprint {
            footprint.clear();
        }
    }

    /// Writes the state of a run. Destructured without `..`: the compiler rejects a forgotten field.
    ///
    /// # Errors
    /// Those of the file.
    pub fn save(&self, out: &mut Writer<'_>) -> io::Result<()> {
        let Self {
            splitter,
            footprint,
            ends,
            // Empty between two chunks.
            extents: _,
            request_ends: _,
            before: _,
        } = self;
        let saved = SavedAddressing {
            ends: ends.clone(),
            by_device: splitter.counters().to_vec(),
            requests_moved: splitter.requests_moved,
        };
        out.state("placing", &saved)?;
        out.long_words("footprint", footprint.as_ref().map_or(&[], |f| f.words()))
    }

    /// Reads the state of a stage for the same plan.
    ///
    /// # Errors
    /// A damaged file.
    pub fn resume(plan: &Plan, from: &mut Reader<'_>) -> floatgate_base::Result<Self> {
        let SavedAddressing { ends, by_device, requests_moved } = from.state("placing")?;
        let mut addressing = Self::new(plan, ends);
        addressing.splitter.restore(by_device, requests_moved);
        match &mut addressing.footprint {
            Some(footprint) => {
                from.long_words("footprint", footprint.words_mut())?;
                footprint.recount();
            }
            None => from.long_words("footprint", &mut [])?,
        }
        Ok(addressing)
    }
}
