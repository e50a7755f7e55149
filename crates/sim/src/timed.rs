//! The loop in time: requests one by one, each at its arrival.

use crate::clock::Clock;
use crate::device::Simulation;
use crate::plan::Mode;
use crate::queued::lost;
use crate::request_log::ROWS;
use floatgate_base::{Error, Op, Result};
use floatgate_flash::timed::Timeline;
use floatgate_ftl::Failure;
use floatgate_host::{Outside, Queues, Request};
use std::ops::Range;

/// Half of what the clock can hold: what one chunk of requests takes must not wrap it around.
const CLOCK_MAX_NS: u64 = 1 << 62;

impl Simulation {
    /// Counting begins: from here on operations take time.
    pub(crate) fn start_clock(&mut self) {
        if let (Mode::Timed(arrival), Some(timed)) = (self.plan.mode, self.array.timed_mut()) {
            timed.start();
            if let Some((from_ns, to_ns, spans_max)) = self.plan.timeline {
                timed.record(Timeline::new(from_ns, to_ns, spans_max));
            }
            if self.buffered.is_some() {
                timed.keep_links();
            }
            let mut clock = Clock::new(arrival);
            let queues = &self.plan.queues;
            if !queues.is_plain() {
                clock.count_queues(queues.queues());
                self.queues = Some(Queues::new(queues.clone()));
            }
            clock.logged = self.log.is_some();
            if self.plan.throttle.parts().is_some() {
                clock.expect_throttle();
            }
            self.clock = Some(clock);
        }
    }

    /// Serves some requests of the batch; false if the run had to start over.
    pub(crate) fn chunk_in_time(&mut self, range: Range<usize>) -> Result<bool> {
        if !self.split_each(range.clone())? {
            return Ok(false);
        }
        if self.queues.is_some() {
            self.arrive_in_queues(range.clone())?;
        } else {
            self.arrive_at_once(range.clone())?;
        }
        self.hand_out_log(ROWS)?;
        if self.clock.as_ref().is_some_and(|clock| clock.latest_ns() > CLOCK_MAX_NS) {
            let expected =
                "expected shorter times of operations, fewer requests, or stamps that lie closer together";
            return Err(Error::run("the clock has run for more than 146 years", expected));
        }
        self.after_chunk(range)?;
        Ok(true)
    }

    /// Splits requests one by one; false if the run had to start over.
    pub(crate) fn split_each(&mut self, range: Range<usize>) -> Result<bool> {
        self.extents.clear();
        self.request_ends.clear();
        let batch = &self.stream.batch;
        if let Err((request, outside)) =
            self.splitter.split_each(batch, range, &mut self.extents, &mut self.request_ends)
        {
            return match outside {
                Outside::Device => self.start_over().map(|()| false),
                Outside::Drive { end } => Err(self.beyond(request, end)),
            };
        }
        if let Some(footprint) = &mut self.footprint {
            footprint.add(&self.extents);
        }
        Ok(true)
    }

    /// The drive takes every request when it arrives.
    fn arrive_at_once(&mut self, range: Range<usize>) -> Result<()> {
        let mut from = 0;
        for (k, i) in range.enumerate() {
            let (stamp, op) = (self.stream.batch.time_ns[i], self.stream.batch.op[i]);
            let to = self.request_ends[k];
            let mut arrival_ns = 0;
            if let (Some(clock), Some(timed)) = (&mut self.clock, self.array.timed_mut()) {
                arrival_ns = clock.next_arrival(timed, stamp.saturating_add(self.stream.shift_ns));
            }
            let entry_ns = self.pass_gate(arrival_ns, from..to, op);
            if self.plan.background.is_some() {
                self.work_until(entry_ns).map_err(|failure| self.stopped(i, failure))?;
            }
            if let (Some(clock), Some(timed)) = (&mut self.clock, self.array.timed_mut()) {
                let number = clock.admit(timed, arrival_ns, entry_ns, op);
                if self.log.is_some() {
                    self.note_fetched(number, i, i - k, (arrival_ns, entry_ns));
                }
            }
            self.serve_admitted(from..to, self.stream.batch.flags_of(i), op)
                .map_err(|why| self.stopped(i, why))?;
            from = to;
        }
        Ok(())
    }

    /// Issues the operations of the request admitted last, whose extents are those in `range`, through the buffer if
    /// there is one.
    #[inline(always)]
    pub(crate) fn serve_admitted(
        &mut self,
        range: Range<usize>,
        request_flags: u8,
        op: Op,
    ) -> std::result::Result<(), Failure> {
        let served = match &mut self.buffered {
            None => self.array.serve(&mut self.ftl, &self.extents, range),
            Some(buffered) => buffered.serve_in_time(
                (&mut self.array, &mut self.ftl),
                (&self.extents, range),
                request_flags,
                u8::from(op != Op::Read),
            ),
        };
        served.map_err(|stop| stop.failure)?;
        if let (Some(clock), Some(timed)) = (&mut self.clock, self.array.timed_mut()) {
            timed.issued();
            clock.collect(timed);
        }
        Ok(())
    }

    /// Request `i` of the batch, with its arrival and its entry; the chunk begins at `begin`.
    pub(crate) fn request(
        &self,
        i: usize,
        begin: usize,
        queue: u16,
        (arrival_ns, entry_ns): (u64, u64),
    ) -> Request {
        let batch = &self.stream.batch;
        Request {
            number: self.counted + (i - begin) as u64 + 1,
            index: self.stream.before + i as u64,
            stamp_ns: batch.time_ns[i].saturating_add(self.stream.shift_ns),
            arrival_ns,
            entry_ns,
            op: batch.op[i],
            flags: batch.flags_of(i),
            device: batch.device[i],
            offset: batch.offset[i],
            bytes: batch.bytes[i],
            queue,
        }
    }

    #[cold]
    fn note_fetched(&mut self, number: u32, i: usize, begin: usize, times: (u64, u64)) {
        let request = self.request(i, begin, 0, times);
        if let (Some(log), Some(clock)) = (&mut self.log, &mut self.clock) {
            log.ended(&mut clock.ended);
            log.fetched(number, request, times.1);
        }
    }

    /// Hands the log's rows out, if there are at least so many.
    pub(crate) fn hand_out_log(&mut self, rows: usize) -> Result<()> {
        if let (Some(log), Some(clock)) = (&mut self.log, &mut self.clock) {
            log.ended(&mut clock.ended);
            log.hand_out(rows, self.source.devices())?;
        }
        Ok(())
    }

    /// All requests are issued: those under way end.
    ///
    /// # Errors
    /// A run error if one never does.
    pub(crate) fn stop_clock(&mut self) -> Result<()> {
        while self.waiting() > 0 && self.pass_and_fetch(u64::MAX)? {}
        let waiting = self.waiting();
        if let (Some(clock), Some(timed)) = (&mut self.clock, self.array.timed_mut()) {
            let missing = clock.finish(timed) + waiting;
            if missing > 0 {
                return Err(lost(missing));
            }
        }
        self.hand_out_log(1)
    }
}
