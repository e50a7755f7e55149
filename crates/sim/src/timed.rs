//! The loop in time: requests one by one, each at its arrival.

use crate::clock::Clock;
use crate::device::Simulation;
use crate::plan::Mode;
use floatgate_base::{Error, Result};
use floatgate_host::Outside;
use std::ops::Range;

impl Simulation {
    /// Counting begins: from here on operations take time.
    pub(crate) fn start_clock(&mut self) {
        if let (Mode::Timed(arrival), Some(timed)) = (self.plan.mode, self.array.timed_mut()) {
            timed.start();
            self.clock = Some(Clock::new(arrival));
        }
    }

    /// Serves some requests of the batch; false if the run had to start over.
    pub(crate) fn chunk_in_time(&mut self, range: Range<usize>) -> Result<bool> {
        self.extents.clear();
        self.request_ends.clear();
        for i in range.clone() {
            if let Err((request, outside)) =
                self.splitter.split(&self.stream.batch, i..i + 1, &mut self.extents)
            {
                return match outside {
                    Outside::Device => self.start_over().map(|()| false),
                    Outside::Drive { end } => Err(self.beyond(request, end)),
                };
            }
            self.request_ends.push(self.extents.len());
        }
        if let Some(footprint) = &mut self.footprint {
            footprint.add(&self.extents);
        }
        let mut from = 0;
        for (k, i) in range.clone().enumerate() {
            let (stamp, op) = (self.stream.batch.time_ns[i], self.stream.batch.op[i]);
            let to = self.request_ends[k];
            let mut arrival_ns = 0;
            if let (Some(clock), Some(timed)) = (&mut self.clock, self.array.timed_mut()) {
                arrival_ns = clock.next_arrival(timed, stamp.saturating_add(self.stream.shift_ns));
                if self.plan.background.is_some() {
                    self.work_until(arrival_ns).map_err(|failure| self.stopped(i, failure))?;
                }
            }
            if let (Some(clock), Some(timed)) = (&mut self.clock, self.array.timed_mut()) {
                clock.admit(timed, arrival_ns, op);
            }
            if let Err(stop) = self.array.serve(&mut self.ftl, &self.extents, from..to) {
                return Err(self.stopped(i, stop.failure));
            }
            if let (Some(clock), Some(timed)) = (&mut self.clock, self.array.timed_mut()) {
                timed.issued();
                clock.collect(timed);
            }
            from = to;
        }
        self.after_chunk(range)?;
        Ok(true)
    }

    /// All requests are issued: those under way end.
    ///
    /// # Errors
    /// A run error if one never does.
    pub(crate) fn stop_clock(&mut self) -> Result<()> {
        if let (Some(clock), Some(timed)) = (&mut self.clock, self.array.timed_mut()) {
            let lost = clock.finish(timed);
            if lost > 0 {
                let what = format!("{lost} requests never ended");
                return Err(Error::run(what, "this is an error in floatgate; please report it"));
            }
        }
        Ok(())
    }
}
