//! Dies, channels and their order: the start and end of every operation.
//!
//! A die executes one operation at a time, or one multi-plane command. An operation is a sequence of phases: command
//! and data over the channel, work in the array, data back over the channel. Each channel phase is reserved when the
//! die requests it, and dies do so in the order of time; a channel therefore serves first come, first served. An
//! operation without a channel phase at its end (program, erase) has one event, the others have two.
//!
//! This file holds the state and the completion. `choice.rs` selects the next operation. `service.rs` starts operations
//! and moves them through their phases. `register.rs` overlaps them with cache commands and `suspend.rs` stops programs
//! and erases for reads, both by means of `service.rs`. `events.rs` is the layer above and calls them.

use super::barriers::Barriers;
use super::die::{Die, Register, Stage};
use super::joins::Joins;
use super::queue::{BARRIER, Far, Kind, NO_REQUEST, Op};
use super::settings::{MultiPlane, Settings};
use super::tap::{Tap, Work};
use super::timeline::{Span, Timeline};
use super::times::{ClassTimes, CommandCounts};
use super::tournament::Tournament;
use crate::{Class, Layout, Scope};
use floatgate_base::{Ppn, Rng};
use floatgate_nand::Geometry;
use serde::{Deserialize, Serialize};

/// Requests done, with the time of their last operation.
pub(super) type Done = Vec<(u32, u64)>;

/// A completed operation.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Happened {
    pub class: Class,
    pub kind: Kind,
    pub ppn: Ppn,
    pub rows: [u8; 2],
    pub issued: u64,
    pub from: u64,
    pub to: u64,
}

/// A channel or array, from, to.
#[cfg(test)]
pub(super) type Busy = (usize, u64, u64);

/// All dies and channels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Schedule {
    pub settings: Settings,
    /// Not part of snapshots, which are restored into a schedule with a layout.
    #[serde(skip, default = "no_layout")]
    pub layout: Layout,
    pub dies: Vec<Die>,
    pub order: Tournament,
    /// When each channel is free again.
    pub channel_free_ns: Vec<u64>,
    /// Most planes that one command may address.
    pub planes_max: u32,
    /// Whether any command needs the general path.
    pub optional: bool,
    /// Whether no command needs the general path.
    pub plain: bool,
    /// Whether operations may pass through all their phases at once; see `go_through`.
    pub direct: bool,
    /// Whether consecutive moves may be one operation (`rows.rs`).
    pub rows: bool,
    /// The time up to which everything has been handled; at that time itself only the dies below this one.
    pub reached: (u64, u32),
    pub times: [ClassTimes; 3],
    pub counts: CommandCounts,
    pub rng: Rng,
    /// Operations issued so far.
    pub issued: u64,
    /// Pending operations of each request.
    pub pending: Vec<u32>,
    /// Requests that are not done.
    live: u32,
    pub barriers: Barriers,
    pub joins: Joins,
    /// Dies that wait for an operation of another die.
    pub waiting: Vec<usize>,
    /// By die: requests that wait for operations of others there. A FLUSH waits for all dies, and on an overloaded drive
    /// thousands wait: the end of an operation concerns only those of its die.
    pub awaiting: Vec<Vec<Awaiting>>,
    pub done: Done,
    /// End of the last operation.
    pub last_ns: u64,
    pub timeline: Option<Timeline>,
    /// Phases of the pins, if they are recorded; a restored snapshot must set this again.
    #[serde(skip)]
    pub tap: Option<Tap>,
    /// Whether the timeline records, or a tap does.
    pub recording: bool,
    /// The log for tests: operations, and channels and arrays with from and to.
    #[cfg(test)]
    #[serde(skip)]
    pub log: (Vec<Happened>, Vec<Busy>, Vec<Busy>),
    /// Moves of rows that began without a choice.
    #[cfg(test)]
    #[serde(skip)]
    pub unchosen: u64,
}

/// Returns the layout of a drive of one page, for a schedule without a layout yet.
fn no_layout() -> Layout {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 1,
        pages_per_block: 1,
        page_bytes: 512,
    };
    Layout::new(geometry, Scope::Plane)
}

/// A request that waits for an operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Awaiting {
    pub request: u32,
    pub operation: Far,
}

impl Schedule {
    pub fn new(settings: Settings, layout: Layout) -> Self {
        let geometry = *layout.geometry();
        let (dies, channels) = (geometry.dies() as usize, geometry.channels as usize);
        let commands = settings.commands;
        let together = commands.multi_plane != MultiPlane::None;
        let suspends = commands.suspend.program || commands.suspend.erase;
        let overlaps = commands.cache_read || commands.cache_program;
        let optional = suspends || commands.cache_program;
        let single = !optional && !overlaps && !together && !settings.jobs_hold_channel;
        Self {
            plain: single,
            rows: single && layout.scope() == Scope::Plane && !layout.is_packed(),
            reached: (0, 0),
            dies: (0..dies).map(|die| Die::new((die % channels) as u32)).collect(),
            order: Tournament::new(dies),
            channel_free_ns: vec![0; channels],
            // A mask of 64 bits selects the planes of a command.
            planes_max: if together { geometry.planes_per_die.min(64) } else { 1 },
            optional,
            direct: channels == dies && !suspends && !overlaps && !together && !settings.jobs_hold_channel,
            times: [ClassTimes::default(); 3],
            counts: CommandCounts::default(),
            rng: Rng::new(settings.seed, "program times"),
            issued: 0,
            pending: Vec::new(),
            live: 0,
            barriers: Barriers::default(),
            joins: Joins::default(),
            waiting: Vec::new(),
            awaiting: vec![Vec::new(); dies],
            done: Vec::new(),
            last_ns: 0,
            timeline: None,
            tap: None,
            recording: false,
            settings,
            layout,
            #[cfg(test)]
            log: Default::default(),
            #[cfg(test)]
            unchosen: 0,
        }
    }

    /// Returns whether both belong to the same dies, channels and settings.
    pub fn same_drive(&self, other: &Self) -> bool {
        (self.settings, self.dies.len(), self.awaiting.len(), self.channel_free_ns.len())
            == (other.settings, other.dies.len(), other.awaiting.len(), other.channel_free_ns.len())
    }

    pub fn reset_times(&mut self) {
        self.times = [ClassTimes::default(); 3];
        self.counts = CommandCounts::default();
    }

    /// Returns the operations of a class done at a die, as a ticket.
    pub fn done_tickets(&self, die: usize, class: Class) -> u64 {
        self.dies[die].queues[class as usize].done
    }

    /// Returns whether programs or erases wait or are under way at a die; without them no page has an unfinished program.
    #[inline(always)]
    pub fn has_programs(&self, die: usize) -> bool {
        let queues = &self.dies[die].queues;
        Class::Read.others().iter().any(|&class| !queues[class as usize].is_empty())
    }

    /// Returns the last ticket known to be done in the queue of an operation. Moves of a row under way may have ended
    /// since.
    pub fn surely_done(&self, far: Far) -> u64 {
        self.dies[far.die as usize].queues[usize::from(far.class)].done
    }

    /// Returns the ticket of the unfinished program of a page in a class, starting from the newest program of its
    /// block; 0 for none.
    pub fn program_of(&self, die: usize, class: Class, ppn: Ppn, newest: u64) -> u64 {
        self.dies[die].queues[class as usize].program_of(ppn, newest)
    }

    /// Returns the number of requests that are not done.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// Sets the die's next event to the earlier one of its array and its register.
    #[inline(always)]
    pub fn arm(&mut self, die: usize) {
        let d = &self.dies[die];
        self.order.set(die, d.array_at.min(d.register_at));
    }

    /// Advances the time reached to an event of a die.
    #[inline(always)]
    pub fn reach(&mut self, now: u64, die: usize) {
        let (time, below) = self.reached;
        self.reached = (now, if time == now { below.max(die as u32) } else { die as u32 });
    }

    /// Returns whether the events of a die at some time have been handled.
    #[inline(always)]
    pub fn has_reached(&self, die: usize, at_ns: u64) -> bool {
        let (now, below) = self.reached;
        at_ns < now || (at_ns == now && (die as u32) < below)
    }

    /// Logs the end of an operation.
    #[cfg(test)]
    pub fn log_end(&mut self, die: usize, to: u64) {
        let d = &self.dies[die];
        let class = d.active.class;
        let &Op { kind, ppn, issued_ns, started_ns, read_row, row, .. } =
            d.queues[class as usize].under_way(0);
        self.log.2.push((die, d.started_ns, to));
        let (issued, from, rows) = (issued_ns, started_ns, [read_row, row]);
        self.log.0.push(Happened { class, kind, ppn, rows, issued, from, to });
    }

    /// Opens a request; [`Schedule::close`] must follow once its operations are issued.
    pub fn open(&mut self, request: u32) {
        if self.pending.len() <= request as usize {
            self.pending.resize(request as usize + 1, 0);
        }
        self.pending[request as usize] = 1;
        self.live += 1;
    }

    /// Closes a request to further operations; one without any is done at once.
    pub fn close(&mut self, request: u32, now: u64) {
        self.finish_one(request, now);
    }

    #[inline(always)]
    pub fn finish_one(&mut self, request: u32, now: u64) {
        let pending = &mut self.pending[request as usize];
        *pending -= 1;
        if *pending == 0 {
            self.live -= 1;
            self.done.push((request, now));
        }
    }

    /// Sets the time from which the channel of a die's own is free again.
    pub fn channel_is_free(&mut self, die: usize, from_ns: u64) {
        self.channel_free_ns[die] = from_ns;
    }

    /// Reserves a channel from `from` for `length`, for `n` operations of a class, the first of which is the
    /// `first`th under way; returns start and end.
    #[inline(always)]
    pub fn channel(
        &mut self,
        die: usize,
        (class, first, n): (Class, usize, u32),
        from: u64,
        length: u64,
    ) -> (u64, u64) {
        let channel = self.dies[die].channel as usize;
        let free = &mut self.channel_free_ns[channel];
        let start = from.max(*free);
        *free = start + length;
        #[cfg(test)]
        self.log.1.push((channel, start, start + length));
        self.times[class as usize].channel_wait_ns += u64::from(n) * (start - from);
        if self.recording {
            self.record_transfer(die, channel, (class, first), start, start + length);
        }
        (start, start + length)
    }

    /// Ends the array's current piece of work, finally or for a while.
    #[inline(always)]
    pub fn end_piece(&mut self, die: usize, now: u64) {
        if self.records(die) {
            self.record_piece(die, now);
        }
        let d = &mut self.dies[die];
        #[cfg(test)]
        self.log.2.push((die, d.started_ns, now));
        d.jobs_ns = d.jobs_until(now);
        d.active.stage = Stage::Idle;
    }

    /// Completes the first operation under way of a class.
    #[inline(always)]
    pub fn complete(&mut self, die: usize, class: Class, now: u64) {
        self.last_ns = self.last_ns.max(now);
        #[cfg(test)]
        {
            let op = *self.dies[die].queues[class as usize].under_way(0);
            let (kind, ppn, issued, from) = (op.kind, op.ppn, op.issued_ns, op.started_ns);
            let rows = [op.read_row, op.row];
            self.log.0.push(Happened { class, kind, ppn, rows, issued, from, to: now });
        }
        let queue = &mut self.dies[die].queues[class as usize];
        let Op { request, kind, .. } = *queue.under_way(0);
        queue.finish(self.settings.phases.page_types);
        if request < BARRIER {
            self.finish_one(request, now);
        } else if request != NO_REQUEST
            && kind == Kind::Program
            && self.barriers.programmed(request - BARRIER)
        {
            self.dies[die].awaited = true;
        }
        if self.dies[die].awaited {
            self.wake(die, now);
        }
    }

    /// Wakes the dies that waited for an operation of this one.
    #[cold]
    pub fn wake(&mut self, die: usize, now: u64) {
        self.dies[die].awaited = false;
        let waiting = std::mem::take(&mut self.waiting);
        for other in waiting {
            let d = &mut self.dies[other];
            if d.active.stage == Stage::Idle && d.array_at > now {
                d.array_at = now;
                self.arm(other);
            }
        }
        if !self.awaiting[die].is_empty() {
            self.finish_awaiting(die, now);
        }
    }

    /// Completes the requests that waited for an operation of a die.
    fn finish_awaiting(&mut self, die: usize, now: u64) {
        let mut awaiting = std::mem::take(&mut self.awaiting[die]);
        awaiting.retain(|&Awaiting { request, operation }| {
            let due = operation.ticket > self.dies[die].queues[usize::from(operation.class)].done;
            if due {
                self.dies[die].awaited = true;
            } else {
                self.finish_one(request, now);
            }
            due
        });
        self.awaiting[die] = awaiting;
    }

    #[cold]
    fn record_transfer(
        &mut self,
        die: usize,
        channel: usize,
        (class, which): (Class, usize),
        from_ns: u64,
        to_ns: u64,
    ) {
        let Some(timeline) = &mut self.timeline else { return };
        let Op { cause, job, request, .. } = *self.dies[die].queues[class as usize].under_way(which);
        let request = if request < BARRIER { request } else { NO_REQUEST };
        let index = channel as u32;
        timeline.record(Span { resource: 1, index, kind: 4, cause, job, request, from_ns, to_ns });
    }

    /// Records array work of a die, past or future.
    #[cold]
    pub fn record_phase(&mut self, die: usize, work: Work, from_ns: u64, to_ns: u64) {
        self.tap.iter_mut().for_each(|tap| tap.push(die, work, from_ns, to_ns));
    }

    /// Records a page read by the array for a host, which may use the cache register.
    #[cold]
    pub fn record_read(&mut self, die: usize, from_ns: u64, to_ns: u64) {
        let hidden = matches!(self.dies[die].register, Register::Out { .. });
        self.tap.iter_mut().for_each(|tap| tap.read(die, hidden, from_ns, to_ns));
    }

    /// Marks the register as free; `held` if it takes the next page at once.
    #[cold]
    pub fn record_register_free(&mut self, die: usize, now: u64, held: bool) {
        self.tap.iter_mut().for_each(|tap| tap.register_free(die, now, held));
    }

    /// Records a cache program whose data arrived at `ready_ns` and enter the array at `from_ns`.
    #[cold]
    pub fn record_cache_program(&mut self, die: usize, ready_ns: u64, from_ns: u64) {
        self.tap.iter_mut().for_each(|tap| tap.cache_program(die, ready_ns, from_ns));
    }

    /// Records the end of array work on programs or erases, finally or for a while.
    #[cold]
    pub fn record_work(&mut self, die: usize, to_ns: u64) {
        let Die { active, array_from, .. } = self.dies[die];
        let cached = self.settings.commands.cache_program && active.kind == Kind::Program;
        self.tap.iter_mut().for_each(|tap| tap.work(die, (active.kind, cached), array_from, to_ns));
    }

    /// Checks whether a die is recorded: a tap may be on one die only.
    #[inline(always)]
    pub fn records(&self, die: usize) -> bool {
        self.recording && self.records_while_recording(die)
    }

    #[inline(never)]
    fn records_while_recording(&self, die: usize) -> bool {
        self.timeline.is_some() || self.tap.as_ref().is_none_or(|tap| tap.includes(die))
    }

    #[cold]
    fn record_piece(&mut self, die: usize, now: u64) {
        if self.dies[die].active.stage == Stage::Working {
            self.record_work(die, now);
        }
        self.recording = self.tap.is_some();
        let Some(timeline) = &mut self.timeline else { return };
        let d = &self.dies[die];
        let op = d.queues[d.active.class as usize].under_way(0);
        let (cause, job) = (op.cause, op.job);
        let request = if op.request < BARRIER { op.request } else { NO_REQUEST };
        let kind = d.active.kind as u8;
        let (index, from_ns) = (die as u32, d.started_ns);
        self.recording |= timeline.wants_more(from_ns);
        timeline.record(Span { resource: 0, index, kind, cause, job, request, from_ns, to_ns: now });
    }
}
