//! The clock of timed mode: arrivals of requests, and their durations.

use super::hot_reads::{HotReadWatch, HotReads};
use super::reclaim_latency::ReclaimLatency;
use crate::plan::Arrival;
use floatgate_base::Op;
use floatgate_flash::Timed;
use floatgate_host::Request;
use floatgate_stats::Latency;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A request in flight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Underway {
    arrival_ns: u64,
    op: Op,
    queue: u16,
    /// Whether it is a hot read.
    hot: bool,
}

/// Counts of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueCount {
    /// Arrived requests.
    pub arrived: u64,
    /// Completed requests.
    pub completed: u64,
    /// Sum of the waits of fetched requests in the queue.
    pub wait_ns: u128,
    /// Sum of the times from arrival to completion.
    pub latency_ns: u128,
    /// The longest time from arrival to completion.
    pub max_ns: u64,
}

/// Arrivals and completions of a timed run. Time 0 is the first counted request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Clock {
    arrival: Arrival,
    /// Requests by their number; numbers are reused.
    underway: Vec<Underway>,
    free: Vec<u32>,
    done: Vec<(u32, u64)>,
    /// Latest arrival, latest exit from the throttle's gate, and latest completion.
    arrived_ns: u64,
    entered_ns: u64,
    completed_ns: u64,
    /// Stamp of the first request and of the previous one.
    first_stamp: Option<i64>,
    last_stamp: i64,
    /// Delay by throttling so far: [`Arrival::Shifted`] moves the stamps by it.
    shift_ns: u64,
    /// Latencies of reads and writes.
    latencies: [Latency; 2],
    /// Waits of fetched reads and writes in their queues, summed.
    queue_wait_ns: [u128; 2],
    completed: u64,
    /// In a closed loop under a throttle: completions that made room for requests that have not arrived yet. While one
    /// waits at the gate, several may complete.
    rooms: Option<VecDeque<u64>>,
    /// Counts by queue; empty for a single queue that the drive empties at once.
    queues: Vec<QueueCount>,
    /// Response times during reclaims and otherwise, if reads disturb.
    reclaim_latency: Option<Box<ReclaimLatency>>,
    /// Reads of frequently read pages.
    hot: HotReadWatch,
    /// Whether [`Clock::ended`] is recorded.
    pub(crate) logged: bool,
    /// Completed requests, for the log.
    pub(crate) ended: Vec<(u32, u64)>,
}

impl Clock {
    /// Creates a clock at 0 that counts so many queues, 0 for a single queue that the drive empties at once. Behind a
    /// `throttle` requests may wait at a gate.
    #[must_use]
    pub(super) fn new(arrival: Arrival, queues: usize, throttle: bool, hot: HotReadWatch) -> Self {
        let rooms = throttle && matches!(arrival, Arrival::Closed { .. });
        Self {
            arrival,
            underway: Vec::new(),
            free: Vec::new(),
            done: Vec::new(),
            arrived_ns: 0,
            entered_ns: 0,
            completed_ns: 0,
            first_stamp: None,
            last_stamp: 0,
            shift_ns: 0,
            latencies: Default::default(),
            queue_wait_ns: [0; 2],
            completed: 0,
            rooms: rooms.then(VecDeque::new),
            queues: vec![QueueCount::default(); queues],
            reclaim_latency: None,
            hot,
            logged: false,
            ended: Vec::new(),
        }
    }

    /// Separates response times during reclaims from now on.
    pub(crate) fn watch_reclaims(&mut self) {
        self.reclaim_latency = Some(Box::default());
    }

    /// Returns whether it separates them.
    #[inline(always)]
    pub(crate) fn watches_reclaims(&self) -> bool {
        self.reclaim_latency.is_some()
    }

    /// Returns the reads of frequently read pages.
    pub(crate) fn hot_reads(&self) -> &HotReads {
        &self.hot.hot
    }

    /// Returns the detector of frequently read pages.
    #[inline(always)]
    pub(super) fn hot_reads_mut(&mut self) -> &mut HotReadWatch {
        &mut self.hot
    }

    /// Notes a reclaim at `now_ns`.
    pub(crate) fn reclaims_at(&mut self, now_ns: u64) {
        if let Some(reclaim_latency) = &mut self.reclaim_latency {
            reclaim_latency.reclaims_at(now_ns);
        }
    }

    /// Returns response times of reads during reclaims and otherwise, if reads disturb.
    pub(crate) fn reclaim_latency(&self) -> Option<&ReclaimLatency> {
        self.reclaim_latency.as_deref()
    }

    /// Adds `ns` to the delay by throttling.
    pub fn delay(&mut self, ns: u64) {
        self.shift_ns = self.shift_ns.saturating_add(ns);
    }

    /// Returns the number of requests in flight: fetched and not completed.
    pub(crate) fn outstanding(&self) -> usize {
        self.underway.len() - self.free.len()
    }

    /// Returns when the next request arrives, by its kind of arrival. Advances time for the completions on which this
    /// depends, and no further.
    pub fn next_arrival(&mut self, timed: &mut Timed, stamp_ns: i64) -> u64 {
        let first = *self.first_stamp.get_or_insert(stamp_ns);
        let last = std::mem::replace(&mut self.last_stamp, stamp_ns);
        // A request with an out-of-order stamp arrives with the one before it.
        let since = |stamp: i64| u64::try_from(stamp_ns.saturating_sub(stamp)).unwrap_or(0);
        let arrival_ns = match self.arrival {
            Arrival::Open => since(first),
            Arrival::Shifted => since(first).saturating_add(self.shift_ns),
            Arrival::Closed { queue_depth } if self.rooms.is_some() => self.wait_for_room(timed, queue_depth),
            Arrival::Closed { queue_depth } => self.wait(timed, queue_depth as usize - 1),
            Arrival::Think if self.outstanding() == 0 && self.completed == 0 => 0,
            Arrival::Think => self.wait(timed, 0).saturating_add(since(last)),
        };
        self.arrived_ns.max(arrival_ns)
    }

    /// Admits a request that arrived at `arrival_ns`, left the throttle at `entry_ns`, and is taken by the drive at
    /// once; its operations follow. Returns its number.
    pub fn admit(
        &mut self,
        timed: &mut Timed,
        (arrival_ns, entry_ns): (u64, u64),
        (op, hot): (Op, bool),
    ) -> u32 {
        (self.arrived_ns, self.entered_ns) = (arrival_ns, entry_ns);
        self.begin(timed, entry_ns, Underway { arrival_ns, op, queue: 0, hot })
    }

    /// Adds a request to a queue when it has left the throttle, and advances time until then.
    pub(crate) fn arrive(&mut self, timed: &mut Timed, arrival_ns: u64, entry_ns: u64, queue: u16) {
        (self.arrived_ns, self.entered_ns) = (arrival_ns, entry_ns);
        self.queues[usize::from(queue)].arrived += 1;
        self.collect_until(timed, entry_ns);
    }

    /// Advances time until `until_ns`, and records the completions.
    pub(crate) fn collect_until(&mut self, timed: &mut Timed, until_ns: u64) {
        while self.next_completion(timed, until_ns).is_some() {}
    }

    /// Fetches a request that has arrived; its operations follow. Returns its number.
    pub(crate) fn fetch(&mut self, timed: &mut Timed, now_ns: u64, request: &Request, hot: bool) -> u32 {
        let Request { arrival_ns, entry_ns, op, queue, .. } = *request;
        let wait_ns = u128::from(now_ns - entry_ns);
        self.queues[usize::from(queue)].wait_ns += wait_ns;
        if op != Op::Trim {
            self.queue_wait_ns[op as usize] += wait_ns;
        }
        self.begin(timed, now_ns, Underway { arrival_ns, op, queue, hot })
    }

    fn begin(&mut self, timed: &mut Timed, now_ns: u64, underway: Underway) -> u32 {
        let number = match self.free.pop() {
            Some(number) => {
                self.underway[number as usize] = underway;
                number
            }
            None => {
                self.underway.push(underway);
                (self.underway.len() - 1) as u32
            }
        };
        timed.arrive(number, now_ns);
        number
    }

    /// Advances time to the next completion, but not beyond `until_ns`; returns its time, if there was one.
    pub(crate) fn next_completion(&mut self, timed: &mut Timed, until_ns: u64) -> Option<u64> {
        let before = self.completed;
        timed.advance_to_completion_until(until_ns.min(u64::MAX - 1));
        self.collect(timed);
        (self.completed > before).then(|| self.latest_ns())
    }

    /// Returns the uncompleted requests of a queue.
    pub(crate) fn in_queue(&self, queue: usize) -> u64 {
        self.queues[queue].arrived - self.queues[queue].completed
    }

    /// Returns the time of the latest entry or completion.
    pub(crate) fn latest_ns(&self) -> u64 {
        self.entered_ns.max(self.completed_ns)
    }

    /// With the maximum of requests in flight, advances time to a completion that no other request has followed yet;
    /// returns its time.
    #[inline(never)]
    fn wait_for_room(&mut self, timed: &mut Timed, queue_depth: u32) -> u64 {
        self.collect(timed);
        let arrived = self.completed + self.outstanding() as u64;
        if arrived < u64::from(queue_depth) {
            return 0;
        }
        loop {
            if let Some(room_ns) = self.rooms.as_mut().and_then(VecDeque::pop_front) {
                return room_ns;
            }
            timed.advance_to_completion();
            self.collect(timed);
        }
    }

    /// Advances time until at most so many requests are in flight; returns the time of the completion that made room.
    fn wait(&mut self, timed: &mut Timed, at_most: usize) -> u64 {
        self.collect(timed);
        while self.outstanding() > at_most {
            timed.advance_to_completion();
            self.collect(timed);
        }
        self.completed_ns
    }

    /// Records completions.
    #[inline]
    pub fn collect(&mut self, timed: &mut Timed) {
        if timed.has_done() {
            self.collect_done(timed);
        }
    }

    /// Records completions as during a reclaim or not. A separate pass that does not slow down runs without read
    /// disturb.
    #[cold]
    fn record_reclaim_latency(&mut self) {
        let Some(reclaim_latency) = &mut self.reclaim_latency else { return };
        for &(number, time_ns) in &self.done {
            let Underway { arrival_ns, op, .. } = self.underway[number as usize];
            if op == Op::Read {
                reclaim_latency.record(arrival_ns, time_ns);
            }
        }
    }

    fn collect_done(&mut self, timed: &mut Timed) {
        timed.take_done(&mut self.done);
        if self.reclaim_latency.is_some() {
            self.record_reclaim_latency();
        }
        for (number, time_ns) in self.done.drain(..) {
            let Underway { arrival_ns, op, queue, hot } = self.underway[number as usize];
            if op != Op::Trim {
                self.latencies[op as usize].record(time_ns - arrival_ns);
            }
            if hot {
                self.hot.hot.latency.record(time_ns - arrival_ns);
            }
            if let Some(count) = self.queues.get_mut(usize::from(queue)) {
                count.completed += 1;
                count.latency_ns += u128::from(time_ns - arrival_ns);
                count.max_ns = count.max_ns.max(time_ns - arrival_ns);
            }
            if self.logged {
                self.ended.push((number, time_ns));
            }
            self.completed_ns = self.completed_ns.max(time_ns);
            self.completed += 1;
            if let Some(rooms) = &mut self.rooms {
                rooms.push_back(time_ns);
            }
            self.free.push(number);
        }
    }

    /// Completes all requests; returns the number of those that never end, which must be 0.
    pub fn finish(&mut self, timed: &mut Timed) -> usize {
        timed.finish();
        self.collect(timed);
        self.outstanding()
    }

    /// Returns when the latest request entered: its arrival, or its exit from the throttle.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.entered_ns
    }

    /// Takes the longest latencies of reads and writes since the last call.
    pub fn take_longest_ns(&mut self) -> [u64; 2] {
        self.latencies.each_mut().map(Latency::take_longest_ns)
    }

    /// Takes the latencies of reads and writes so far; later ones are counted from 0.
    pub fn take_latencies(&mut self) -> [Latency; 2] {
        std::mem::take(&mut self.latencies)
    }

    /// Returns the latencies of reads and writes.
    #[must_use]
    pub fn latencies(&self) -> &[Latency; 2] {
        &self.latencies
    }

    /// Returns the waits of reads and writes in the host's queues, summed.
    #[must_use]
    pub fn queue_wait_ns(&self) -> [u128; 2] {
        self.queue_wait_ns
    }

    /// Returns the counts of each queue; empty for a single queue that the drive empties at once.
    #[must_use]
    pub fn queues(&self) -> &[QueueCount] {
        &self.queues
    }
}
