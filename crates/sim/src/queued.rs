//! The loop in time with several queues, or with a limit to what the drive works on at once: requests wait in the
//! host's queues until the drive fetches them.
//!
//! At one moment, what is done comes first, then the drive fetches what waits, then requests arrive.

use crate::device::Simulation;
use crate::plan::{Arrival, Mode};
use floatgate_base::{Error, Result};
use floatgate_host::{QueueOf, Request};
use std::ops::Range;

impl Simulation {
    /// Lets the requests of `range`, whose extents are split, arrive at their queues.
    pub(crate) fn arrive_in_queues(&mut self, range: Range<usize>) -> Result<()> {
        let mut from = 0;
        for (k, i) in range.enumerate() {
            let to = self.request_ends[k];
            let queue = self.queue_for(i)?;
            let arrival_ns = self.arrival_at(i);
            let entry_ns = self.pass_gate(arrival_ns, from..to, self.stream.batch.op[i]);
            while self.waiting() > 0 && self.pass_and_fetch(entry_ns)? {}
            if self.plan.background.is_some() && self.waiting() == 0 {
                self.work_until(entry_ns).map_err(|why| self.stopped(i, why))?;
            }
            let request = self.request(i, i - k, queue, (arrival_ns, entry_ns));
            let Some((clock, timed)) = self.clock.as_mut().zip(self.array.timed_mut()) else { break };
            clock.arrive(timed, arrival_ns, entry_ns, queue);
            let full = self.is_full();
            if let Some(queues) = &mut self.queues {
                if !full && queues.is_empty() {
                    queues.took(queue);
                    self.serve_request(&request, entry_ns, from..to)?;
                } else {
                    queues.join(request, &self.extents, from..to);
                    self.fetch_waiting(entry_ns)?;
                }
            }
            from = to;
        }
        Ok(())
    }

    /// The queue that request `i` joins; in closed loop time passes until one has room.
    fn queue_for(&mut self, i: usize) -> Result<u16> {
        loop {
            let key = match self.plan.queues.queue_of {
                QueueOf::RoundRobin => 0,
                QueueOf::Device => u32::from(self.stream.batch.device[i]),
                QueueOf::Stream => self.stream.batch.stream[i],
            };
            let found = self.queues.as_mut().zip(self.clock.as_ref()).and_then(|(queues, clock)| {
                let depth = match self.plan.mode {
                    Mode::Timed(Arrival::Closed { queue_depth }) => u64::from(queue_depth),
                    _ => u64::MAX,
                };
                queues.choose(key, |queue| clock.in_queue(queue) < depth)
            });
            match found {
                Some(queue) => return Ok(queue),
                None if self.pass_and_fetch(u64::MAX)? => {}
                None => return Err(lost(self.waiting())),
            }
        }
    }

    /// When request `i` arrives: in closed loop, now.
    fn arrival_at(&mut self, i: usize) -> u64 {
        let stamp_ns = self.stream.batch.time_ns[i].saturating_add(self.stream.shift_ns);
        match (&mut self.clock, self.array.timed_mut()) {
            (Some(clock), Some(timed)) => match self.plan.mode {
                Mode::Timed(Arrival::Closed { .. }) => clock.latest_ns(),
                _ => clock.next_arrival(timed, stamp_ns),
            },
            _ => 0,
        }
    }

    /// Requests that wait in the queues.
    pub(crate) fn waiting(&self) -> usize {
        self.queues.as_ref().map_or(0, floatgate_host::Queues::len)
    }

    /// Whether the drive works on as many requests as it may.
    fn is_full(&self) -> bool {
        let most = self.plan.queues.outstanding_max.map_or(usize::MAX, |most| most as usize);
        self.clock.as_ref().is_some_and(|clock| clock.outstanding() >= most)
    }

    /// Lets time pass until a request is done, and fetches what may go then; false if none is done by `until_ns`.
    pub(crate) fn pass_and_fetch(&mut self, until_ns: u64) -> Result<bool> {
        let Some((clock, timed)) = self.clock.as_mut().zip(self.array.timed_mut()) else { return Ok(false) };
        let Some(now_ns) = clock.next_completion(timed, until_ns) else { return Ok(false) };
        self.fetch_waiting(now_ns)?;
        self.hand_out_log(crate::request_log::ROWS)?;
        Ok(true)
    }

    /// Fetches what may be fetched at `now_ns`.
    fn fetch_waiting(&mut self, now_ns: u64) -> Result<()> {
        while !self.is_full() {
            self.fetched.clear();
            let Some(request) = self.queues.as_mut().and_then(|queues| queues.fetch(&mut self.fetched))
            else {
                return Ok(());
            };
            let extents = 0..self.fetched.len();
            std::mem::swap(&mut self.fetched, &mut self.extents);
            let served = self.serve_request(&request, now_ns, extents);
            std::mem::swap(&mut self.fetched, &mut self.extents);
            served?;
        }
        Ok(())
    }

    /// Serves a request that the drive fetches at `now_ns`; `range` are its extents.
    fn serve_request(&mut self, request: &Request, now_ns: u64, range: Range<usize>) -> Result<()> {
        if let Some((clock, timed)) = self.clock.as_mut().zip(self.array.timed_mut()) {
            let number = clock.fetch(timed, now_ns, request);
            if let Some(log) = &mut self.log {
                log.ended(&mut clock.ended);
                log.fetched(number, *request, now_ns);
            }
        }
        self.serve_admitted(range, request.flags, request.op)
            .map_err(|why| self.stopped_at(request.index, request.number, request.stamp_ns, why))
    }
}

/// The error for requests that the run lost.
pub(crate) fn lost(requests: usize) -> Box<Error> {
    Error::run(format!("{requests} requests never ended"), "this is an error in floatgate; please report it")
}
