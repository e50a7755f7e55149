//! Saying when and why a run stopped.

use crate::device::{Phase, Simulation, note_ends};
use crate::plan::{Plan, Workload};
use floatgate_base::{Error, Extents, RequestBatch};
use floatgate_flash::Counters;
use floatgate_ftl::Failure;
use floatgate_host::split::beyond_drive;
use floatgate_host::{Placement, Splitter};
use floatgate_nand::Endurance;
use std::ops::Range;

/// Which request of `range` the extent belongs to.
#[must_use]
pub fn request_of_extent(
    splitter: &Splitter,
    batch: &RequestBatch,
    range: Range<usize>,
    extent: usize,
) -> usize {
    let mut scratch = splitter.clone();
    let mut extents = Extents::default();
    for i in range.clone() {
        if scratch.split(batch, i..i + 1, &mut extents).is_err() || extents.len() > extent {
            return i;
        }
    }
    range.end.saturating_sub(1)
}

/// The error of a drive that stopped at request number `request` (from 1), which stands at `place` of its trace.
#[must_use]
pub fn stopped(
    plan: &Plan,
    failure: Failure,
    request: u64,
    place: Option<&str>,
    flash: &Counters,
    time_s: Option<f64>,
) -> Box<Error> {
    let [host, partial, ..] = flash.programs;
    let host_pages = host + partial;
    // The host opens its next unit a little after the budget is used up; under recovery only the count says what it was.
    let cycles = match plan.endurance {
        Endurance::Fixed { pe_cycles } => u64::from(pe_cycles),
        Endurance::Recovery { .. } => flash.programs_total() / plan.geometry.pages(),
    };
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    let time = time_s.map_or_else(String::new, |s| format!(" and {s:.3} s"));
    let when = format!("request {request}{place}, {host_pages} host page writes{time} into the run");
    match failure {
        Failure::OutOfFreeBlocks => Error::run(
            format!("the drive ran out of free blocks at {when}"),
            "expected a larger ftl.spare_factor, or lower levels of ftl.collect",
        ),
        Failure::WornOut => Error::run(
            format!(
                "the drive was worn out at {when}: it has programmed its capacity {}",
                match cycles {
                    1 => "once".into(),
                    n => format!("{n} times"),
                }
            ),
            if plan.endurance.recovers() {
                "expected fewer requests or passes, more time between them, or more drive.endurance.pe_cycles"
            } else {
                "expected fewer requests or passes, or more drive.endurance.pe_cycles"
            },
        ),
    }
}

impl Simulation {
    pub(crate) fn beyond(&mut self, request: usize, end: u64) -> Box<Error> {
        let place = self.source.place_of(self.stream.before + request as u64);
        let page_bytes = self.plan.geometry.page_bytes;
        let span = self.span_of_whole_trace().max(end);
        let logical = u64::from(self.plan.logical_pages) * u64::from(page_bytes);
        beyond_drive(&place, span, logical, self.plan.capacity_for(span))
    }

    /// Bytes of the address line that the whole trace needs, to name a drive that holds it. Where the trace cannot be
    /// read twice (a pipe), what is left of it counts; where it goes wrong further on, what was read until then.
    fn span_of_whole_trace(&mut self) -> u64 {
        let mut ends = self.ends.clone().unwrap_or_default();
        let mut batch = std::mem::take(&mut self.stream.batch);
        if self.source.rewind().is_ok() {
            batch.clear();
            if self.source.fill(&mut batch, RequestBatch::DEFAULT_LEN).is_err() {
                batch.clear();
            }
        }
        while !batch.is_empty() {
            note_ends(&mut ends, &batch);
            batch.clear();
            if self.source.fill(&mut batch, RequestBatch::DEFAULT_LEN).is_err() {
                break;
            }
        }
        Placement::span_bytes(self.plan.geometry.page_bytes, self.plan.devices, &ends)
    }

    pub(crate) fn stopped(&self, request: usize, why: Failure) -> Box<Error> {
        let index = self.stream.before + request as u64;
        let number = if self.phase == Phase::Run {
            self.counted + (request - self.stream.cursor) as u64
        } else {
            index
        } + 1;
        let stamp_ns = self.stream.batch.time_ns[request].saturating_add(self.stream.shift_ns);
        self.stopped_at(index, number, stamp_ns, why)
    }

    /// The error of a drive that stopped at a request: from 0 in its pass, from 1 of those that count.
    pub(crate) fn stopped_at(&self, index: u64, number: u64, stamp_ns: i64, why: Failure) -> Box<Error> {
        let place = matches!(self.plan.workload, Workload::Trace { .. }).then(|| self.source.place_of(index));
        let from = self.stream.counted_from_ns.unwrap_or(0);
        let time_s = match &self.throttled {
            Some(throttled) => Some(throttled.now_ns() as f64 / 1e9),
            None => (self.stream.counted_to_ns > from).then_some((stamp_ns - from) as f64 / 1e9),
        };
        // Not the splitter's count: it has already seen the requests behind this one.
        stopped(&self.plan, why, number, place.as_deref(), self.array.counters(), time_s)
    }
}
