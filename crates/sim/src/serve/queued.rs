//! Serving in timed mode with several queues, or with a limit of requests in the drive: requests wait in the host's
//! queues until the drive fetches them.
//!
//! Events of one moment happen in this order: completions, fetches of waiting requests, arrivals.

use super::direct::Direct;
use super::request_log::ROWS;
use super::stop::{Stop, lost};
use crate::addressing::Placed;
use crate::plan::{Arrival, Plan};
use crate::reading::{Chunk, RequestAt};
use floatgate_base::Extents;
use floatgate_host::{QueueOf, Queues, Request};
use std::ops::Range;

/// Distance in extents at which the state of an extent's first page is prefetched.
const EXTENTS_AHEAD: usize = 16;

/// The host's queues, and the drive's fetches from them.
pub(crate) struct Waiting {
    pub queues: Queues,
    /// Extents of the fetched request.
    fetched: Extents,
    /// Criterion by which a request chooses its queue.
    queue_of: QueueOf,
    /// Maximum of requests in the drive.
    outstanding_max: usize,
    /// Closed loop: maximum of uncompleted requests of a queue.
    depth_max: Option<u64>,
}

impl Waiting {
    /// Creates empty queues.
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

    /// Returns the state for a snapshot. Destructured without `..`: the compiler rejects a forgotten field.
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

    /// Returns the pages that waiting requests read and write.
    pub fn pages(&self) -> (u64, u64) {
        self.queues.waiting_pages()
    }

    /// Adds the requests of a chunk to their queues as they arrive.
    ///
    /// # Errors
    /// The drive cannot continue, a request is lost, or the log cannot be written.
    pub fn arrive(
        &mut self,
        direct: &mut Direct,
        chunk: &Chunk<'_>,
        placed: Placed<'_>,
        devices: &[String],
    ) -> Result<(), Stop> {
        for i in chunk.range() {
            let extents = placed.of(i - chunk.first);
            // It is served one by one, after others that wait: what it needs is not seen ahead there.
            if let Some(&soon) = placed.extents.lpn.get(extents.start + EXTENTS_AHEAD) {
                direct.prefetch(soon);
            }
            let queue = self.queue_for(direct, chunk, i, devices)?;
            let arrival_ns = self.arrival_of(direct, chunk.stamp_ns(i));
            let passing = (placed.extents, extents.clone());
            let entry_ns = direct.pass_gate(arrival_ns, passing, chunk.op(i), self.pages().1);
            while !self.queues.is_empty() && self.pass_and_fetch(direct, entry_ns, devices)? {}
            if self.queues.is_empty() {
                direct.work_until(entry_ns).map_err(|failure| Stop::Drive(chunk.at(i), failure))?;
            }
            direct.see_context(chunk, i);
            direct.look_for_reclaims(entry_ns);
            let request = chunk.request(i, queue, (arrival_ns, entry_ns));
            direct.clock.arrive(direct.drive.array.back_end_mut(), arrival_ns, entry_ns, queue);
            if let Some(pins) = &mut direct.pins {
                let timed = direct.drive.array.back_end_mut();
                pins.arrives(timed, arrival_ns, request.op, request.bytes);
            }
            if !self.is_full(direct) && self.queues.is_empty() {
                self.queues.took(queue);
                serve(direct, &request, entry_ns, (placed.extents, extents))?;
            } else {
                self.queues.join(request, placed.extents, extents);
                self.fetch(direct, entry_ns)?;
            }
        }
        Ok(())
    }

    /// Fetches waiting requests as time advances until `now_ns`; returns whether some still wait.
    ///
    /// # Errors
    /// As [`Waiting::arrive`].
    pub fn pass(&mut self, direct: &mut Direct, now_ns: u64, devices: &[String]) -> Result<bool, Stop> {
        while !self.queues.is_empty() && self.pass_and_fetch(direct, now_ns, devices)? {}
        Ok(!self.queues.is_empty())
    }

    /// Fetches all waiting requests as time advances; returns the number of those for which nothing ever makes room.
    ///
    /// # Errors
    /// As [`Waiting::arrive`].
    pub fn finish(&mut self, direct: &mut Direct, devices: &[String]) -> Result<usize, Stop> {
        while !self.queues.is_empty() && self.pass_and_fetch(direct, u64::MAX, devices)? {}
        Ok(self.queues.len())
    }

    /// Returns the queue that request `i` joins; in a closed loop time advances until one has room.
    fn queue_for(
        &mut self,
        direct: &mut Direct,
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
            let clock = &direct.clock;
            if let Some(queue) = self.queues.choose(key, |queue| clock.in_queue(queue) < depth) {
                return Ok(queue);
            }
            if !self.pass_and_fetch(direct, u64::MAX, devices)? {
                return Err(lost(self.queues.len()).into());
            }
        }
    }

    /// Returns when the next request arrives: in a closed loop at once, because its queue has room.
    fn arrival_of(&self, direct: &mut Direct, stamp_ns: i64) -> u64 {
        match self.depth_max {
            Some(_) => direct.clock.latest_ns(),
            None => direct.clock.next_arrival(direct.drive.array.back_end_mut(), stamp_ns),
        }
    }

    /// Returns whether the drive works on its maximum of requests.
    fn is_full(&self, direct: &Direct) -> bool {
        direct.clock.outstanding() >= self.outstanding_max
    }

    /// Advances time to the next completion, and fetches requests then; returns false without a completion by
    /// `until_ns`.
    fn pass_and_fetch(
        &mut self,
        direct: &mut Direct,
        until_ns: u64,
        devices: &[String],
    ) -> Result<bool, Stop> {
        let timed = direct.drive.array.back_end_mut();
        let Some(now_ns) = direct.clock.next_completion(timed, until_ns) else { return Ok(false) };
        self.fetch(direct, now_ns)?;
        direct.hand_out_log(ROWS, devices)?;
        Ok(true)
    }

    /// Fetches as many requests as possible at `now_ns`.
    fn fetch(&mut self, direct: &mut Direct, now_ns: u64) -> Result<(), Stop> {
        while !self.is_full(direct) {
            self.fetched.clear();
            let Some(request) = self.queues.fetch(&mut self.fetched) else { return Ok(()) };
            serve(direct, &request, now_ns, (&self.fetched, 0..self.fetched.len()))?;
        }
        Ok(())
    }
}

/// Serves a request that the drive fetches at `now_ns`.
fn serve(
    direct: &mut Direct,
    request: &Request,
    now_ns: u64,
    (extents, range): (&Extents, Range<usize>),
) -> Result<(), Stop> {
    direct.look_for_reclaims(now_ns);
    let hot = direct.is_hot_read(extents, range.clone(), request.op);
    let number = direct.clock.fetch(direct.drive.array.back_end_mut(), now_ns, request, hot);
    if let Some(log) = &mut direct.log {
        log.ended(&mut direct.clock.ended);
        log.fetched(number, *request, now_ns);
    }
    direct
        .issue(extents, range, request.flags, request.op)
        .map_err(|failure| Stop::Drive(RequestAt::from(request), failure))
}
