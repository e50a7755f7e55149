//! Dies, channels and the order of things: what starts when, and when it is done.
//!
//! A die does one operation at a time. An operation is a row of phases: command and data over the channel, work in the
//! array, data back over the channel. Each channel phase is reserved when the die asks for it, and dies ask in the
//! order of time, so a channel serves first come, first served. There is one event for an operation without a phase on
//! the channel at its end (program, erase), two for the others.

use super::queue::{Class, Kind, NO_REQUEST, Op, Queue};
use super::tournament::Tournament;

/// Times of the phases in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    /// Command and address on the channel, before every operation.
    pub command_ns: u64,
    /// One page over the channel.
    pub transfer_ns: u64,
    /// Array time of a read.
    pub read_ns: u64,
    /// Array time of a program.
    pub program_ns: u64,
    /// Array time of an erase.
    pub erase_ns: u64,
}

/// Where the time of a class went, summed over its operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassTimes {
    /// Operations done.
    pub operations: u64,
    /// Waiting for the die while it worked for hosts, or while what had to come before was not done.
    pub die_wait_ns: u64,
    /// Waiting for the die while it worked in the background.
    pub background_wait_ns: u64,
    /// Waiting for the channel.
    pub channel_wait_ns: u64,
    /// Commands, transfers and array work.
    pub service_ns: u64,
}

/// A die between two events.
#[derive(Clone, Debug, Default)]
struct Die {
    queues: [Queue; 3],
    /// What it does now.
    current: Option<(Class, Op)>,
    /// The array part of a read is done when it next wants attention.
    data_out: bool,
    started_ns: u64,
    /// Time spent on background work that is done.
    background_ns: u64,
    /// Whether some other die waits for an operation of this one.
    awaited: bool,
}

/// Requests done, with the time of their last operation.
pub(super) type Done = Vec<(u32, u64)>;

/// An operation that is done: die, kind, page, from, to.
#[cfg(test)]
pub(super) type Happened = (usize, Kind, u32, u64, u64);

/// All dies and channels.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    phases: Phases,
    dies: Vec<Die>,
    order: Tournament,
    /// When each channel is free again.
    channel_free_ns: Vec<u64>,
    times: [ClassTimes; 3],
    /// Operations that each request still waits for.
    pending: Vec<u32>,
    /// Dies that wait for an operation of another die.
    waiting: Vec<usize>,
    pub done: Done,
    /// When the last operation was done.
    pub last_ns: u64,
    /// What happened, for the tests that judge it: operations, and channels with from and to.
    #[cfg(test)]
    pub log: (Vec<Happened>, Vec<(usize, u64, u64)>),
}

impl Schedule {
    pub fn new(phases: Phases, dies: usize, channels: usize) -> Self {
        Self {
            phases,
            dies: vec![Die::default(); dies],
            order: Tournament::new(dies),
            channel_free_ns: vec![0; channels],
            times: [ClassTimes::default(); 3],
            pending: Vec::new(),
            waiting: Vec::new(),
            done: Vec::new(),
            last_ns: 0,
            #[cfg(test)]
            log: Default::default(),
        }
    }

    /// Where the time went, by class.
    pub fn times(&self) -> &[ClassTimes; 3] {
        &self.times
    }

    pub fn reset_times(&mut self) {
        self.times = [ClassTimes::default(); 3];
    }

    /// Operations of a class that are done at a die, as a ticket.
    pub fn done_tickets(&self, die: usize, class: Class) -> u64 {
        self.dies[die].queues[class as usize].done
    }

    /// Ticket of the operation of a class issued last at a die.
    pub fn issued(&self, die: usize, class: Class) -> u64 {
        self.dies[die].queues[class as usize].issued()
    }

    /// Ticket of the unfinished program of a page in a class, given that of the newest program of its block; 0 for none.
    pub fn program_of(&self, die: usize, class: Class, ppn: u32, newest: u64) -> u64 {
        let die = &self.dies[die];
        let current = die.current.as_ref().filter(|(c, _)| *c == class).map(|(_, op)| op);
        die.queues[class as usize].program_of(ppn, newest, current)
    }

    /// Time that a die has spent in the background until `now`.
    #[inline(always)]
    fn background_until(&self, die: usize, now: u64) -> u64 {
        let die = &self.dies[die];
        match die.current {
            Some((Class::Background, _)) => die.background_ns + (now - die.started_ns),
            _ => die.background_ns,
        }
    }

    /// Issues an operation at `now`, up to which time everything is settled; gives its ticket.
    #[inline(always)]
    pub fn push(&mut self, die: usize, class: Class, mut op: Op, now: u64) -> u64 {
        op.issued_ns = now;
        op.background_ns = self.background_until(die, now);
        if op.request != NO_REQUEST {
            self.pending[op.request as usize] += 1;
        }
        if op.far.ticket > 0 {
            self.dies[op.far.die as usize].awaited = true;
        }
        let ticket = self.dies[die].queues[class as usize].push(op);
        if self.dies[die].current.is_none() && self.order.time(die) > now {
            self.order.set(die, now);
        }
        ticket
    }

    /// Opens a request; [`Schedule::close`] must follow once its operations are issued.
    pub fn open(&mut self, request: u32) {
        if self.pending.len() <= request as usize {
            self.pending.resize(request as usize + 1, 0);
        }
        self.pending[request as usize] = 1;
    }

    /// No more operations of this request: one without any is done at once.
    pub fn close(&mut self, request: u32, now: u64) {
        self.finish_one(request, now);
    }

    #[inline(always)]
    fn finish_one(&mut self, request: u32, now: u64) {
        let pending = &mut self.pending[request as usize];
        *pending -= 1;
        if *pending == 0 {
            self.done.push((request, now));
        }
    }

    /// Lets everything happen that happens until `until`, that moment included.
    pub fn advance(&mut self, until: u64) {
        loop {
            let (time, die) = self.order.first();
            if time > until || time == u64::MAX {
                return;
            }
            self.event(die, time);
        }
    }

    /// Lets things happen until a request is done or the next event is later than `until`.
    pub fn advance_to_done(&mut self, until: u64) {
        while self.done.is_empty() && self.order.first().0 <= until && self.advance_one() {}
    }

    /// Lets one event happen; false if there is none.
    pub fn advance_one(&mut self) -> bool {
        let (time, die) = self.order.first();
        if time != u64::MAX {
            self.event(die, time);
        }
        time != u64::MAX
    }

    /// Reserves a channel from `from` on for `length`; gives the end.
    #[inline(always)]
    fn channel(&mut self, die: usize, class: Class, from: u64, length: u64) -> u64 {
        let channels = self.channel_free_ns.len();
        let free = &mut self.channel_free_ns[die % channels];
        let start = from.max(*free);
        *free = start + length;
        #[cfg(test)]
        self.log.1.push((die % channels, start, start + length));
        self.times[class as usize].channel_wait_ns += start - from;
        self.times[class as usize].service_ns += length;
        start + length
    }

    fn event(&mut self, die: usize, now: u64) {
        if self.dies[die].data_out {
            self.data_out(die, now);
            return;
        }
        if let Some((class, op)) = self.dies[die].current.take() {
            self.complete(die, class, &op, now);
        }
        self.start(die, now);
    }

    /// The array has read: the data leave, and of a copy come back to be programmed.
    fn data_out(&mut self, die: usize, now: u64) {
        self.dies[die].data_out = false;
        let Some((class, op)) = self.dies[die].current else { return };
        let p = self.phases;
        let end = if op.kind == Kind::Copy {
            let moved = self.channel(die, class, now, 2 * p.transfer_ns);
            self.times[class as usize].service_ns += p.program_ns;
            moved + p.program_ns
        } else {
            self.channel(die, class, now, p.transfer_ns)
        };
        self.order.set(die, end);
    }

    fn complete(&mut self, die: usize, class: Class, op: &Op, now: u64) {
        self.last_ns = self.last_ns.max(now);
        #[cfg(test)]
        self.log.0.push((die, op.kind, op.ppn, self.dies[die].started_ns, now));
        let d = &mut self.dies[die];
        d.queues[class as usize].done += 1;
        if class == Class::Background {
            d.background_ns += now - d.started_ns;
        }
        if op.request != NO_REQUEST {
            self.finish_one(op.request, now);
        }
        if self.dies[die].awaited {
            self.wake(die, now);
        }
    }

    /// Dies that waited for an operation of this one look again.
    #[cold]
    fn wake(&mut self, die: usize, now: u64) {
        self.dies[die].awaited = false;
        let waiting = std::mem::take(&mut self.waiting);
        for other in waiting {
            if self.dies[other].current.is_none() && self.order.time(other) > now {
                self.order.set(other, now);
            }
        }
    }

    /// Starts the most preferred operation that may start, if there is one.
    #[inline(always)]
    fn start(&mut self, die: usize, now: u64) {
        for class in Class::ALL {
            let Some(op) = self.dies[die].queues[class as usize].head() else { continue };
            let queues = &self.dies[die].queues;
            if op.after.iter().zip(queues).any(|(&ticket, queue)| ticket > queue.done) {
                continue;
            }
            let far = op.far;
            if far.ticket > self.dies[far.die as usize].queues[usize::from(far.class)].done {
                self.dies[far.die as usize].awaited = true;
                self.waiting.push(die);
                continue;
            }
            if let Some(op) = self.dies[die].queues[class as usize].pop() {
                self.begin(die, class, op, now);
            }
            return;
        }
        self.order.set(die, u64::MAX);
    }

    #[inline(always)]
    fn begin(&mut self, die: usize, class: Class, op: Op, now: u64) {
        let p = self.phases;
        let waited = now - op.issued_ns;
        let background = self.dies[die].background_ns - op.background_ns;
        let times = &mut self.times[class as usize];
        times.operations += 1;
        times.background_wait_ns += background;
        times.die_wait_ns += waited - background;
        let (on_channel, array) = match op.kind {
            Kind::Read | Kind::Copy => (p.command_ns, p.read_ns),
            Kind::Program => (p.command_ns + p.transfer_ns, p.program_ns),
            Kind::Erase => (p.command_ns, p.erase_ns),
        };
        times.service_ns += array;
        let ready = if on_channel > 0 { self.channel(die, class, now, on_channel) } else { now };
        let d = &mut self.dies[die];
        d.data_out = matches!(op.kind, Kind::Read | Kind::Copy);
        d.started_ns = now;
        d.current = Some((class, op));
        self.order.set(die, ready + array);
    }
}
