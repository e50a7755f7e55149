//! Serving in functional mode: operations are counted and take no time.

use super::stop::Stop;
use super::time_slices::{TIME_SLICE_NS, find_runs, serve_slices};
use crate::addressing::Placed;
use crate::buffer::Buffered;
use crate::drive::{Drive, TimeSlice};
use crate::gate::Throttled;
use crate::plan::Plan;
use crate::reading::Chunk;
use floatgate_flash::Functional;

/// Gate, buffer and drive of a functional run.
pub(crate) struct FunctionalServing {
    pub drive: Drive<Functional>,
    pub buffer: Option<Buffered>,
    /// Passed by counted requests.
    pub gate: Option<Throttled>,
    /// Runs of requests of a chunk that arrive within a second.
    pub runs: Vec<TimeSlice>,
}

impl FunctionalServing {
    /// Creates the stages of an empty drive.
    pub fn new(plan: &Plan, gate: Option<Throttled>) -> Self {
        Self { drive: Drive::new(plan), buffer: Buffered::of(plan), gate, runs: Vec::new() }
    }

    /// Serves the requests of a chunk; returns their number, which is smaller if a whole life ends within.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn serve(&mut self, chunk: &Chunk<'_>, placed: Placed<'_>) -> Result<usize, Stop> {
        let Self { drive, buffer, gate, runs } = self;
        if let (Some(gate), Some(_)) = (gate, chunk.counting) {
            return serve_gated((drive, buffer, gate), runs, chunk, placed);
        }
        find_runs(chunk, runs);
        serve_slices(drive, buffer, chunk, (placed, 0), runs)?;
        Ok(chunk.len())
    }

    /// Begins counting.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn start_counting(&mut self) -> Result<(), Stop> {
        self.flush_buffer()?;
        self.drive.reset_counts();
        self.buffer.iter_mut().for_each(Buffered::reset_counts);
        Ok(())
    }

    /// Flushes dirty pages of the buffer.
    ///
    /// # Errors
    /// The drive cannot continue.
    pub fn flush_buffer(&mut self) -> Result<(), Stop> {
        let Self { drive, buffer, .. } = self;
        buffer.as_mut().map_or(Ok(()), |buffer| buffer.flush_all(drive)).map_err(Stop::Flush)
    }
}

/// Serves each request when it has left the gate.
fn serve_gated(
    (drive, buffer, gate): (&mut Drive<Functional>, &mut Option<Buffered>, &mut Throttled),
    runs: &mut Vec<TimeSlice>,
    chunk: &Chunk<'_>,
    placed: Placed<'_>,
) -> Result<usize, Stop> {
    let from_ns = chunk.first_counted_ns();
    let (mut unserved, mut end) = (chunk.first, chunk.end);
    let mut serve_until = |drive: &mut Drive<Functional>, runs: &mut Vec<TimeSlice>, end: usize| {
        let part = (placed, unserved - chunk.first);
        let served = serve_slices(drive, buffer, &chunk.part(unserved..end), part, runs);
        unserved = end;
        served
    };
    runs.clear();
    for i in chunk.range() {
        let extents = placed.of(i - chunk.first);
        let arrival_ns = gate.arrival_ns(chunk.stamp_ns(i).saturating_sub(from_ns));
        if gate.life_ends(arrival_ns) {
            end = i;
            break;
        }
        // Passed requests are served before the gate checks the flash.
        if gate.is_due_for(arrival_ns, placed.extents, extents.clone()) {
            serve_until(drive, runs, i)?;
        }
        let left_ns = gate.pass(arrival_ns, (placed.extents, extents), chunk.op(i), drive, 0);
        if let Some(schemes) = gate.schemes() {
            drive.ftl.set_schemes(schemes);
        }
        let now_ns = left_ns - left_ns % TIME_SLICE_NS as u64;
        match runs.last_mut() {
            Some(run) if run.now_ns == now_ns => run.end = i + 1,
            _ => runs.push(TimeSlice { end: i + 1, now_ns }),
        }
    }
    serve_until(drive, runs, end)?;
    Ok(end - chunk.first)
}
