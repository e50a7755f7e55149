//! Saying when and why a run stopped.

use crate::plan::Plan;
use floatgate_base::{Error, Extents, RequestBatch};
use floatgate_ftl::Failure;
use floatgate_host::Splitter;
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
    host_pages: u64,
    time_s: Option<f64>,
) -> Box<Error> {
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
                match plan.endurance.pe_cycles() {
                    1 => "once".into(),
                    n => format!("{n} times"),
                }
            ),
            "expected fewer requests or passes, or more drive.endurance.pe_cycles",
        ),
    }
}
