//! Serving in time with several queues, or with a limit to what the drive works on at once: requests wait in the host's
//! queues until the drive fetches them.
//!
//! At one moment, what is done comes first, then the drive fetches what waits, then requests arrive.

use super::direct::Direct;
use super::request_log::ROWS;
use super::stop::{Stop, lost};
use crate::addressing::Placed;
use crate::plan::{Arrival, Plan};
use crate::reading::{Chunk, RequestAt};
use floatgate_base::Extents;
use floatgate_host::{QueueOf, Queues, Request};
use std::ops::Range;

/// The host's queues, and what the drive fetches from them.
pub(crate) struct Waiting {
    pub queues: Queues,
    /// Extents of the request that is fetched.
    fetched: Extents,
    /// By what a request chooses its queue.
    queue_of: QueueOf,
    /// Requests that the drive works on at once, at most.
    outstanding_max: usize,
    /// Closed loop: requests of a queue that are not done, at most.
    depth_max: Option<u64>,
}

impl Waiting {
    /// Empty queues.
    pub fn new(plan: &Plan, arrival: Arrival) -> Self {
        let setup = &plan.queues;
        Self {
            queues: Queues::new(setup.clone()),
            fetched: Extents::default(),
            queue_of: setup.queue_of,
            outstanding_max: setup.outstanding_max.map_or(usize::MAX, |most| most as usize),
            depth_max: match arrival {
                Arrival::Closed { queue_depth } => Some(u64::from(queue_depth)),
                Arrival::Open | Arrival::Shifted | Arrival::Think => None,
            },
        }
    }

    /// What a snapshot keeps. Taken apart without `..`, so that no new field is forgotten.
    pub fn saved(&self) -> &Queues {
        let Self {
            queues,
            // Empty between two requests.
            fetched: _,
            // From the plan.
            queue_of: _,
            outstanding_max: _,
            depth_max: _,
        } = self;
        queues
    }

    /// Pages that waiting requests read and write.
    pub fn pages(&self) -> (u64, u64) {
        self.queues.waiting_pages()
    }

    /// Lets the requests of a chunk arrive at their queues.
    ///
    /// # Errors
    /// When the drive cannot go on, a request is lost, or the log cannot be written.
    pub fn arrive(
        &mut self,
        timely: &mut Direct,
        chunk: &Chunk<'_>,
        placed: Placed<'_>,
        devices: &[String],
    ) -> Result<(), Stop> {
        for i in chunk.range() {
            let extents = placed.of(i - chunk.first);
            let queue = self.queue_for(timely, chunk, i, devices)?;
            let arrival_ns = self.arrival_of(timely, chunk.stamp_ns(i));
            let passing = (placed.extents, extents.clone());
            let entry_ns = timely.pass_gate(arrival_ns, passing, chunk.op(i), self.pages().1);
            while !self.queues.is_empty() && self.pass_and_fetch(timely, entry_ns, devices)? {}
            if self.queues.is_empty() {
                timely.work_until(entry_ns).map_err(|failure| Stop::Drive(chunk.at(i), failure))?;
            }
            timely.look_for_reclaims(entry_ns);
            let request = chunk.request(i, queue, (arrival_ns, entry_ns));
            timely.clock.arrive(timely.drive.array.back_end_mut(), arrival_ns, entry_ns, queue);
            if let Some(pins) = &mut timely.pins {
                let timed = timely.drive.array.back_end_mut();
                pins.arrives(timed, arrival_ns, request.op, request.bytes);
            }
            if !self.is_full(timely) && self.queues.is_empty() {
                self.queues.took(queue);
                serve(timely, &request, entry_ns, (placed.extents, extents))?;
            } else {
                self.queues.join(request, placed.extents, extents);
                self.fetch(timely, entry_ns)?;
            }
        }
        Ok(())
    }

    /// Fetches all that waits, as time passes; gives how many are left that nothing ever makes room for.
    ///
    /// # Errors
    /// As [`Waiting::arrive`].
    pub fn finish(&mut self, timely: &mut Direct, devices: &[String]) -> Result<usize, Stop> {
        while !self.queues.is_empty() && self.pass_and_fetch(timely, u64::MAX, devices)? {}
        Ok(self.queues.len())
    }

    /// The queue that request `i` joins; in closed loop time passes until one has room.
    fn queue_for(
        &mut self,
        timely: &mut Direct,
        chunk: &Chunk<'_>,
        i: usize,
        devices: &[String],
    ) -> Result<u16, Stop> {
        let key = match self.queue_of {
            QueueOf::RoundRobin => 0,
            QueueOf::Device => u32::from(chunk.batch.device[i]),
            QueueOf::Stream => chunk.batch.stream[i],
        };
        let depth = self.depth_max.unwrap_or(u64::MAX);
        loop {
            let clock = &timely.clock;
            if let Some(queue) = self.queues.choose(key, |queue| clock.in_queue(queue) < depth) {
                return Ok(queue);
            }
            if !self.pass_and_fetch(timely, u64::MAX, devices)? {
                return Err(lost(self.queues.len()).into());
            }
        }
    }

    /// When the next request arrives: in closed loop at once, for its queue has room.
    fn arrival_of(&self, timely: &mut Direct, stamp_ns: i64) -> u64 {
        match self.depth_max {
            Some(_) => timely.clock.latest_ns(),
            None => timely.clock.next_arrival(timely.drive.array.back_end_mut(), stamp_ns),
        }
    }

    /// Whether the drive works on as many requests as it may.
    fn is_full(&self, timely: &Direct) -> bool {
        timely.clock.outstanding() >= self.outstanding_max
    }

    /// Lets time pass until a request is done, and fetches what may go then; false if none is done by `until_ns`.
    fn pass_and_fetch(
        &mut self,
        timely: &mut Direct,
        until_ns: u64,
        devices: &[String],
    ) -> Result<bool, Stop> {
        let timed = timely.drive.array.back_end_mut();
        let Some(now_ns) = timely.clock.next_completion(timed, until_ns) else { return Ok(false) };
        self.fetch(timely, now_ns)?;
        timely.hand_out_log(ROWS, devices)?;
        Ok(true)
    }

    /// Fetches what may be fetched at `now_ns`.
    fn fetch(&mut self, timely: &mut Direct, now_ns: u64) -> Result<(), Stop> {
        while !self.is_full(timely) {
            self.fetched.clear();
            let Some(request) = self.queues.fetch(&mut self.fetched) else { return Ok(()) };
            serve(timely, &request, now_ns, (&self.fetched, 0..self.fetched.len()))?;
        }
        Ok(())
    }
}

/// Serves a request that the drive fetches at `now_ns`.
fn serve(
    timely: &mut Direct,
    request: &Request,
    now_ns: u64,
    (extents, range): (&Extents, Range<usize>),
) -> Result<(), Stop> {
    timely.look_for_reclaims(now_ns);
    let hot = timely.is_hot_read(extents, range.clone(), request.op);
    let number = timely.clock.fetch(timely.drive.array.back_end_mut(), now_ns, request, hot);
    if let Some(log) = &mut timely.log {
        log.ended(&mut timely.clock.ended);
        log.fetched(number, *request, now_ns);
    }
    timely
        .issue(extents, range, request.flags, request.op)
        .map_err(|failure| Stop::Drive(RequestAt::from(request), failure))
}
