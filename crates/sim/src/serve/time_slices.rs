//! Serving without time: requests of one moment together.

use super::stop::Stop;
use crate::addressing::Placed;
use crate::array::BackEnd;
use crate::buffer::Buffered;
use crate::drive::{Drive, TimeSlice};
use crate::reading::Chunk;

/// Step in which functional mode reports the time to the array; a second is short relative to the rest of a block.
pub(super) const TIME_SLICE_NS: i64 = 1_000_000_000;

/// Splits the requests of a chunk into runs. Before counting there is no time; a workload without time stamps is a
/// single run.
pub(super) fn find_runs(chunk: &Chunk<'_>, runs: &mut Vec<TimeSlice>) {
    runs.clear();
    if chunk.counting.is_none() {
        runs.push(TimeSlice { end: chunk.end, now_ns: 0 });
        return;
    }
    let times = &chunk.batch.time_ns;
    let from_ns = chunk.first_counted_ns();
    let mut begin = chunk.first;
    while begin < chunk.end {
        // Seconds are counted from one origin; the runs do not depend on the sizes of chunks.
        let since_ns = chunk.stamp_ns(begin).saturating_sub(from_ns).max(0);
        let until_ns = times[begin].saturating_add(TIME_SLICE_NS - since_ns % TIME_SLICE_NS);
        let later = |&ns: &i64| ns >= until_ns;
        let end = times[begin..chunk.end].iter().position(later).map_or(chunk.end, |n| begin + n);
        let now_ns = (since_ns - since_ns % TIME_SLICE_NS) as u64;
        runs.push(TimeSlice { end, now_ns });
        begin = end;
    }
}

/// Serves the requests of `chunk`, the first of which is number `first` of those in `placed`; consumes `runs`, which
/// are theirs.
///
/// # Errors
/// The drive cannot continue.
pub(super) fn serve_slices<F: BackEnd>(
    drive: &mut Drive<F>,
    buffer: &mut Option<Buffered>,
    chunk: &Chunk<'_>,
    (placed, first): (Placed<'_>, usize),
    runs: &mut Vec<TimeSlice>,
) -> Result<(), Stop> {
    let begin = placed.end_of(first);
    let ends = &placed.ends[first..first + chunk.len()];
    let served = match buffer {
        Some(buffer) => buffer
            .serve_slices(drive, chunk, (placed.extents, begin, ends), runs)
            .map_err(|stop| (stop.extent, stop.failure)),
        None => {
            runs.iter_mut().for_each(|run| run.end = ends[run.end - chunk.first - 1]);
            drive
                .serve_runs(placed.extents, begin, runs)
                .map_err(|stop| (ends.partition_point(|&end| end <= stop.extent), stop.failure))
        }
    };
    runs.clear();
    served.map_err(|(request, failure)| Stop::Drive(chunk.at(chunk.first + request), failure))
}
