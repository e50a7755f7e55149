//! Determines the ends of a trace's devices by reading it once.

use super::reader::Reading;
use crate::plan::Plan;
use floatgate_base::{RequestBatch, Result};
use floatgate_host::Placement;

/// Reads about `requests_max` requests and raises `ends`, one past the largest byte addressed by device. Returns true
/// at the end of the trace; the source is then at its first request again.
///
/// # Errors
/// Input errors of the source.
pub(crate) fn read_ends(reading: &mut Reading, ends: &mut Vec<u64>, requests_max: u64) -> Result<bool> {
    let mut done = 0;
    while done < requests_max {
        let batch = reading.read_batch()?;
        if batch.is_empty() {
            reading.restart()?;
            return Ok(true);
        }
        note_ends(ends, batch);
        done += batch.len() as u64;
    }
    Ok(false)
}

/// Returns the bytes of the address line that the whole trace needs, to name a drive that holds it; `ends` are those
/// known so far. If the trace cannot be read twice (a pipe), its remainder counts; in case of an error, the part before
/// it. The run is over after this call.
pub(crate) fn span_bytes(plan: &Plan, reading: &mut Reading, ends: &[u64]) -> u64 {
    let mut ends = ends.to_vec();
    let mut batch = RequestBatch::default();
    if reading.source_mut().rewind().is_err() {
        note_ends(&mut ends, reading.batch());
    }
    let source = reading.source_mut();
    while source.fill(&mut batch, RequestBatch::DEFAULT_LEN).is_ok() && !batch.is_empty() {
        note_ends(&mut ends, &batch);
        batch.clear();
    }
    Placement::span_bytes(plan.drive.geometry.page_bytes, plan.workload.devices, &ends)
}

/// Raises each device's end to the largest byte that the batch addresses on it.
pub(crate) fn note_ends(ends: &mut Vec<u64>, batch: &RequestBatch) {
    for i in 0..batch.len() {
        let device = usize::from(batch.device[i]);
        if ends.len() <= device {
            ends.resize(device + 1, 0);
        }
        ends[device] = ends[device].max(batch.offset[i].saturating_add(batch.bytes[i]));
    }
}
