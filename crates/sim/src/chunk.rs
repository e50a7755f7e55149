//! Some requests of a batch together: split into extents, served as the run's mode has it, and booked.

use crate::array::Together;
use crate::device::{Phase, Simulation};
use crate::failure;
use floatgate_base::Result;
use floatgate_host::Outside;
use std::ops::Range;

/// Functional mode tells the array the time in steps of this: a second is short beside the rest of a block.
pub(crate) const TOGETHER_NS: i64 = 1_000_000_000;

impl Simulation {
    /// Serves some requests of the batch; false if the run had to start over.
    pub(crate) fn chunk(&mut self, range: Range<usize>) -> Result<bool> {
        if self.clock.is_some() {
            return self.chunk_in_time(range);
        }
        if self.throttled.is_some() {
            return self.chunk_throttled(range);
        }
        if self.buffered.is_some() {
            return self.chunk_buffered(range);
        }
        self.extents.clear();
        self.find_runs(range.clone());
        let mut begin = range.start;
        for run in &mut self.runs {
            let requests = begin..run.end;
            begin = run.end;
            let split = self.splitter.split(&self.stream.batch, requests, &mut self.extents);
            run.end = self.extents.len();
            if let Err((request, outside)) = split {
                return match outside {
                    Outside::Device => self.start_over().map(|()| false),
                    Outside::Drive { end } => Err(self.beyond(request, end)),
                };
            }
        }
        if let Some(footprint) = &mut self.footprint {
            footprint.add(&self.extents);
        }
        if let Err(stop) = self.array.serve_runs(&mut self.ftl, &self.extents, 0, &self.runs) {
            let at = failure::request_of_extent(&self.splitter, &self.stream.batch, range, stop.extent);
            return Err(self.stopped(at, stop.failure));
        }
        self.after_chunk(range)?;
        Ok(true)
    }

    /// Finds the runs of requests of `range`. Before counting there is no time; where the workload has none there is a
    /// single run.
    fn find_runs(&mut self, range: Range<usize>) {
        self.runs.clear();
        if self.phase != Phase::Run {
            self.runs.push(Together { end: range.end, now_ns: 0 });
            return;
        }
        let stream = &self.stream;
        let times = &stream.batch.time_ns;
        let from_ns = stream.counted_from_ns.unwrap_or(times[range.start].saturating_add(stream.shift_ns));
        let mut begin = range.start;
        while begin < range.end {
            // Seconds are counted from one place, so that runs do not depend on how requests come in chunks.
            let since_ns = times[begin].saturating_add(stream.shift_ns).saturating_sub(from_ns).max(0);
            let until_ns = times[begin].saturating_add(TOGETHER_NS - since_ns % TOGETHER_NS);
            let later = |&ns: &i64| ns >= until_ns;
            let end = times[begin..range.end].iter().position(later).map_or(range.end, |n| begin + n);
            let now_ns = (since_ns - since_ns % TOGETHER_NS) as u64;
            self.runs.push(Together { end, now_ns });
            begin = end;
        }
    }

    /// As [`Simulation::chunk`], through the buffer.
    fn chunk_buffered(&mut self, range: Range<usize>) -> Result<bool> {
        if !self.split_each(range.clone())? {
            return Ok(false);
        }
        self.find_runs(range.clone());
        self.serve_together(&range, range.clone())?;
        self.after_chunk(range)?;
        Ok(true)
    }

    /// Serves the requests of `part`, of which the runs are, and begins new runs; `range` is the chunk, whose requests
    /// were split one by one.
    pub(crate) fn serve_together(&mut self, range: &Range<usize>, part: Range<usize>) -> Result<()> {
        let end_of = |k: usize| if k == 0 { 0 } else { self.request_ends[k - 1] };
        let (first, last) = (part.start - range.start, part.end - range.start);
        let begin = end_of(first);
        let ends = &self.request_ends[first..last];
        let stopped_at = match &mut self.buffered {
            Some(buffered) => buffered
                .serve_chunk(
                    (&mut self.array, &mut self.ftl),
                    (&self.extents, begin, ends),
                    (&self.stream.batch, part.clone()),
                    &mut self.runs,
                )
                .map_err(|stop| (stop.extent, stop.failure)),
            None => {
                self.runs.iter_mut().for_each(|run| run.end = ends[run.end - part.start - 1]);
                let served = self.array.serve_runs(&mut self.ftl, &self.extents, begin, &self.runs);
                served.map_err(|stop| (ends.partition_point(|&end| end <= stop.extent), stop.failure))
            }
        };
        self.runs.clear();
        stopped_at.map_err(|(request, failure)| self.stopped(part.start + request, failure))
    }

    /// Books what was served.
    pub(crate) fn after_chunk(&mut self, range: Range<usize>) -> Result<()> {
        let n = range.len() as u64;
        self.advance(range);
        self.served += n;
        if self.phase == Phase::Run {
            self.counted += n;
            if self.series.until_due(self.counted - n) == n {
                let row = self.row();
                self.series.push(row);
            }
        } else {
            self.start_counting_if_due()?;
        }
        self.check_shadow()
    }

    /// Moves the cursor and the times on.
    fn advance(&mut self, range: Range<usize>) {
        let stream = &mut self.stream;
        stream.cursor = range.end;
        let times = &stream.batch.time_ns[range];
        let largest = times.iter().copied().max().unwrap_or(0);
        stream.last_ns = stream.last_ns.max(largest);
        if self.phase == Phase::Run {
            stream.counted_from_ns.get_or_insert(times[0].saturating_add(stream.shift_ns));
            stream.counted_to_ns = stream.counted_to_ns.max(largest.saturating_add(stream.shift_ns));
        }
    }
}
