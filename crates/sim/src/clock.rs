//! Timed mode: when requests arrive, and how long they take.

use crate::plan::Arrival;
use floatgate_base::Op;
use floatgate_flash::Timed;
use floatgate_stats::Latency;

/// A request that is under way.
#[derive(Clone, Copy, Debug)]
struct Underway {
    arrival_ns: u64,
    op: Op,
}

/// Arrivals and completions of a timed run. Time 0 is the first counted request.
#[derive(Clone, Debug)]
pub struct Clock {
    arrival: Arrival,
    /// By number of the request; numbers are used again.
    underway: Vec<Underway>,
    free: Vec<u32>,
    done: Vec<(u32, u64)>,
    /// Latest arrival and latest completion.
    arrived_ns: u64,
    completed_ns: u64,
    /// Stamp of the first request and of the one before.
    first_stamp: Option<i64>,
    last_stamp: i64,
    /// Reads and writes.
    latencies: [Latency; 2],
    completed: u64,
}

impl Clock {
    /// A clock at 0.
    #[must_use]
    pub fn new(arrival: Arrival) -> Self {
        Self {
            arrival,
            underway: Vec::new(),
            free: Vec::new(),
            done: Vec::new(),
            arrived_ns: 0,
            completed_ns: 0,
            first_stamp: None,
            last_stamp: 0,
            latencies: Default::default(),
            completed: 0,
        }
    }

    /// Requests under way.
    fn outstanding(&self) -> usize {
        self.underway.len() - self.free.len()
    }

    /// When the next request arrives, by its way of arriving. Lets time pass for the completions that this depends on,
    /// and no further.
    pub fn next_arrival(&mut self, timed: &mut Timed, stamp_ns: i64) -> u64 {
        let first = *self.first_stamp.get_or_insert(stamp_ns);
        let gap = u64::try_from(stamp_ns.saturating_sub(self.last_stamp)).unwrap_or(0);
        let begins = self.outstanding() == 0 && self.completed == 0;
        self.last_stamp = stamp_ns;
        let arrival_ns = match self.arrival {
            // Stamps that run backwards arrive with the request before.
            Arrival::Open => u64::try_from(stamp_ns.saturating_sub(first)).unwrap_or(0),
            Arrival::Closed { queue_depth } => self.wait(timed, queue_depth as usize - 1),
            Arrival::Think if begins => 0,
            Arrival::Think => self.wait(timed, 0).saturating_add(gap),
        };
        self.arrived_ns.max(arrival_ns)
    }

    /// Lets a request arrive; its operations follow.
    pub fn admit(&mut self, timed: &mut Timed, arrival_ns: u64, op: Op) {
        self.arrived_ns = arrival_ns;
        let underway = Underway { arrival_ns: self.arrived_ns, op };
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
        timed.arrive(number, self.arrived_ns);
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
    pub fn collect(&mut self, timed: &mut Timed) {
        timed.take_done(&mut self.done);
        for (number, time_ns) in self.done.drain(..) {
            let Underway { arrival_ns, op } = self.underway[number as usize];
            if op != Op::Trim {
                self.latencies[op as usize].record(time_ns - arrival_ns);
            }
            self.completed_ns = self.completed_ns.max(time_ns);
            self.completed += 1;
            self.free.push(number);
        }
    }

    /// Lets everything end; how many requests never did, which must be none.
    pub fn finish(&mut self, timed: &mut Timed) -> usize {
        timed.finish();
        self.collect(timed);
        self.outstanding()
    }

    /// Time of the latest arrival.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.arrived_ns
    }

    /// The longest latencies of reads and writes since this was last asked.
    pub fn take_longest_ns(&mut self) -> [u64; 2] {
        self.latencies.each_mut().map(Latency::take_longest_ns)
    }

    /// Latencies of reads and writes.
    #[must_use]
    pub fn latencies(&self) -> &[Latency; 2] {
        &self.latencies
    }
}
