//! Timed mode: when requests arrive, and how long they take.

use super::hot_reads::{HotReadWatch, HotReads};
use super::reclaim_latency::ReclaimLatency;
use crate::plan::Arrival;
use floatgate_base::Op;
use floatgate_flash::Timed;
use floatgate_host::Request;
use floatgate_stats::Latency;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A request that is under way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Underway {
    arrival_ns: u64,
    op: Op,
    queue: u16,
    /// Whether it is a hot read.
    hot: bool,
}

/// What a queue has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueCount {
    /// Requests that arrived.
    pub arrived: u64,
    /// Requests that are done.
    pub completed: u64,
    /// Time that fetched requests had waited in the queue.
    pub wait_ns: u128,
    /// Time from arrival to completion.
    pub latency_ns: u128,
    /// The longest such time.
    pub max_ns: u64,
}

/// Arrivals and completions of a timed run. Time 0 is the first counted request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Clock {
    arrival: Arrival,
    /// By number of the request; numbers are used again.
    underway: Vec<Underway>,
    free: Vec<u32>,
    done: Vec<(u32, u64)>,
    /// Latest arrival, the latest that left the throttle's gate, and the latest completion.
    arrived_ns: u64,
    entered_ns: u64,
    completed_ns: u64,
    /// Stamp of the first request and of the one before.
    first_stamp: Option<i64>,
    last_stamp: i64,
    /// What throttling delayed so far: [`Arrival::Shifted`] moves the stamps by it.
    shift_ns: u64,
    /// Reads and writes.
    latencies: [Latency; 2],
    /// Time that fetched reads and writes had waited in their queues.
    queue_wait_ns: [u128; 2],
    completed: u64,
    /// In closed loop under a throttle: completions that made room for a request which has not arrived yet. While one
    /// waits at the gate, several may end.
    rooms: Option<VecDeque<u64>>,
    /// By queue; empty where there is just one that the drive empties at once.
    queues: Vec<QueueCount>,
    /// Response times around reclaims, where reads disturb.
    reclaim_latency: Option<Box<ReclaimLatency>>,
    /// Reads of pages that are read often.
    hot: HotReadWatch,
    /// Whether [`Clock::ended`] is kept.
    pub(crate) logged: bool,
    /// Requests that ended, for the log.
    pub(crate) ended: Vec<(u32, u64)>,
}

impl Clock {
    /// A clock at 0 that counts so many queues, 0 where there is just one that the drive empties at once. Behind a
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

    /// Tells response times while something is reclaimed from others.
    pub(crate) fn watch_reclaims(&mut self) {
        self.reclaim_latency = Some(Box::default());
    }

    /// Whether it does.
    #[inline(always)]
    pub(crate) fn watches_reclaims(&self) -> bool {
        self.reclaim_latency.is_some()
    }

    /// Reads of pages that are read often.
    pub(crate) fn hot_reads(&self) -> &HotReads {
        &self.hot.found
    }

    /// The same, for whoever sees reads.
    #[inline(always)]
    pub(super) fn hot_reads_mut(&mut self) -> &mut HotReadWatch {
        &mut self.hot
    }

    /// Something is being reclaimed at `now_ns`.
    pub(crate) fn reclaims_at(&mut self, now_ns: u64) {
        if let Some(reclaim_latency) = &mut self.reclaim_latency {
            reclaim_latency.reclaims_at(now_ns);
        }
    }

    /// Response times of reads around reclaims, where reads disturb.
    pub(crate) fn reclaim_latency(&self) -> Option<&ReclaimLatency> {
        self.reclaim_latency.as_deref()
    }

    /// Throttling has delayed requests by `ns` more.
    pub fn delay(&mut self, ns: u64) {
        self.shift_ns = self.shift_ns.saturating_add(ns);
    }

    /// Requests under way: fetched and not done.
    pub(crate) fn outstanding(&self) -> usize {
        self.underway.len() - self.free.len()
    }

    /// When the next request arrives, by its way of arriving. Lets time pass for the completions that this depends on,
    /// and no further.
    pub fn next_arrival(&mut self, timed: &mut Timed, stamp_ns: i64) -> u64 {
        let first = *self.first_stamp.get_or_insert(stamp_ns);
        let last = std::mem::replace(&mut self.last_stamp, stamp_ns);
        // Stamps that run backwards arrive with the request before.
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

    /// Lets a request in that arrived at `arrival_ns`, left the throttle at `entry_ns`, and that the drive takes at once;
    /// its operations follow. Gives its number.
    pub fn admit(
        &mut self,
        timed: &mut Timed,
        (arrival_ns, entry_ns): (u64, u64),
        (op, hot): (Op, bool),
    ) -> u32 {
        (self.arrived_ns, self.entered_ns) = (arrival_ns, entry_ns);
        self.begin(timed, entry_ns, Underway { arrival_ns, op, queue: 0, hot })
    }

    /// Lets a request join a queue when it has left the throttle, and time pass until then.
    pub(crate) fn arrive(&mut self, timed: &mut Timed, arrival_ns: u64, entry_ns: u64, queue: u16) {
        (self.arrived_ns, self.entered_ns) = (arrival_ns, entry_ns);
        self.queues[usize::from(queue)].arrived += 1;
        self.collect_until(timed, entry_ns);
    }

    /// Lets time pass until `until_ns`, and takes note of what is done then.
    pub(crate) fn collect_until(&mut self, timed: &mut Timed, until_ns: u64) {
        while self.next_completion(timed, until_ns).is_some() {}
    }

    /// The drive fetches a request that has arrived; its operations follow. Gives its number.
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

    /// Lets time pass until a request is done, but not beyond `until_ns`: when that was, if one was.
    pub(crate) fn next_completion(&mut self, timed: &mut Timed, until_ns: u64) -> Option<u64> {
        let before = self.completed;
        timed.advance_to_completion_until(until_ns.min(u64::MAX - 1));
        self.collect(timed);
        (self.completed > before).then(|| self.latest_ns())
    }

    /// Requests of a queue that are not done.
    pub(crate) fn in_queue(&self, queue: usize) -> u64 {
        self.queues[queue].arrived - self.queues[queue].completed
    }

    /// Time of the latest entry or completion.
    pub(crate) fn latest_ns(&self) -> u64 {
        self.entered_ns.max(self.completed_ns)
    }

    /// Lets time pass until a request is done that no other has followed yet, where as many are under way as may: when
    /// that was.
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

    /// Lets time pass until at most so many requests are under way; the time of the completion that made room.
    fn wait(&mut self, timed: &mut Timed, at_most: usize) -> u64 {
        self.collect(timed);
        while self.outstanding() > at_most {
            timed.advance_to_completion();
            self.collect(timed);
        }
        self.completed_ns
    }

    /// Takes note of what is done.
    #[inline]
    pub fn collect(&mut self, timed: &mut Timed) {
        if timed.has_done() {
            self.collect_done(timed);
        }
    }

    /// What is done counts as during a reclaim or not. A pass of its own, out of the way of runs without read disturb.
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
                self.hot.found.latency.record(time_ns - arrival_ns);
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

    /// Lets everything end; how many requests never did, which must be none.
    pub fn finish(&mut self, timed: &mut Timed) -> usize {
        timed.finish();
        self.collect(timed);
        self.outstanding()
    }

    /// When the latest request entered: when it arrived, or left the throttle.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.entered_ns
    }

    /// The longest latencies of reads and writes since this was last asked.
    pub fn take_longest_ns(&mut self) -> [u64; 2] {
        self.latencies.each_mut().map(Latency::take_longest_ns)
    }

    /// Latencies of reads and writes so far; those that follow are counted afresh.
    pub fn take_latencies(&mut self) -> [Latency; 2] {
        std::mem::take(&mut self.latencies)
    }

    /// Latencies of reads and writes.
    #[must_use]
    pub fn latencies(&self) -> &[Latency; 2] {
        &self.latencies
    }

    /// Time that reads and writes waited in the host's queues, summed.
    #[must_use]
    pub fn queue_wait_ns(&self) -> [u128; 2] {
        self.queue_wait_ns
    }

    /// What each queue has seen; empty where there is just one that the drive empties at once.
    #[must_use]
    pub fn queues(&self) -> &[QueueCount] {
        &self.queues
    }
}
