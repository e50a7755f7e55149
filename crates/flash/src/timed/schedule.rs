//! Dies, channels and the order of things: what starts when, and when it is done.
//!
//! A die does one operation at a time, or one multi-plane command. An operation is a row of phases: command and data
//! over the channel, work in the array, data back over the channel. Each channel phase is reserved when the die asks
//! for it, and dies ask in the order of time, so a channel serves first come, first served. There is one event for an
//! operation without a phase on the channel at its end (program, erase), two for the others.
//!
//! Here: the state, and completion. `choice.rs` says what may come next. `service.rs` starts operations and moves them through their
//! phases; `register.rs` overlaps them with cache commands and `suspend.rs` stops programs and erases for reads, both by
//! means of `service.rs`; `events.rs` stands above them.

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

/// An operation that is done.
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
    /// Snapshots go without it: what takes one over knows it.
    #[serde(skip, default = "no_layout")]
    pub layout: Layout,
    pub dies: Vec<Die>,
    pub order: Tournament,
    /// When each channel is free again.
    pub channel_free_ns: Vec<u64>,
    /// Planes that one command may address.
    pub planes_max: u32,
    /// Whether any command needs more than the plain way.
    pub optional: bool,
    /// Whether no command needs more than the plain way.
    pub plain: bool,
    /// Whether operations may go through all their phases at once; see `go_through`.
    pub direct: bool,
    /// Whether moves that follow one another may be one operation (`rows.rs`).
    pub rows: bool,
    /// Up to where everything has happened: a moment, and of what happens at that moment the dies below this one.
    pub reached: (u64, u32),
    pub times: [ClassTimes; 3],
    pub counts: CommandCounts,
    pub rng: Rng,
    /// Operations issued so far.
    pub issued: u64,
    /// Operations that each request still waits for.
    pub pending: Vec<u32>,
    /// Requests that are not done.
    live: u32,
    pub barriers: Barriers,
    pub joins: Joins,
    /// Dies that wait for an operation of another die.
    pub waiting: Vec<usize>,
    /// Requests that wait for operations that are not theirs.
    pub awaiting: Vec<Awaiting>,
    pub done: Done,
    /// When the last operation was done.
    pub last_ns: u64,
    pub timeline: Option<Timeline>,
    /// What the pins show, where somebody listens; whoever takes a snapshot over says so again.
    #[serde(skip)]
    pub tap: Option<Tap>,
    /// Whether the timeline wants more, or somebody listens.
    pub recording: bool,
    /// What happened, for the tests that judge it: operations, and channels and arrays with from and to.
    #[cfg(test)]
    #[serde(skip)]
    pub log: (Vec<Happened>, Vec<Busy>, Vec<Busy>),
    /// Moves of rows that began without a choice.
    #[cfg(test)]
    #[serde(skip)]
    pub unchosen: u64,
}

/// Of a drive of one page, in place of one that is not known yet.
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

/// A request that is done no sooner than an operation.
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
        Self {
            plain: !optional && !overlaps && !together,
            rows: !optional
                && !overlaps
                && !together
                && layout.scope() == Scope::Plane
                && !layout.is_packed(),
            reached: (0, 0),
            dies: (0..dies).map(|die| Die::new((die % channels) as u32)).collect(),
            order: Tournament::new(dies),
            channel_free_ns: vec![0; channels],
            // A mask of 64 bits says which planes take part.
            planes_max: if together { geometry.planes_per_die.min(64) } else { 1 },
            optional,
            direct: channels == dies && !suspends && !overlaps && !together,
            times: [ClassTimes::default(); 3],
            counts: CommandCounts::default(),
            rng: Rng::new(settings.seed, "program times"),
            issued: 0,
            pending: Vec::new(),
            live: 0,
            barriers: Barriers::default(),
            joins: Joins::default(),
            waiting: Vec::new(),
            awaiting: Vec::new(),
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

    /// Whether both are for the same dies, channels and settings.
    pub fn same_drive(&self, other: &Self) -> bool {
        (self.settings, self.dies.len(), self.channel_free_ns.len())
            == (other.settings, other.dies.len(), other.channel_free_ns.len())
    }

    pub fn reset_times(&mut self) {
        self.times = [ClassTimes::default(); 3];
        self.counts = CommandCounts::default();
    }

    /// Operations of a class that are done at a die, as a ticket.
    pub fn done_tickets(&self, die: usize, class: Class) -> u64 {
        self.dies[die].queues[class as usize].done
    }

    /// Ticket of the unfinished program of a page in a class, given that of the newest program of its block; 0 for none.
    pub fn program_of(&self, die: usize, class: Class, ppn: Ppn, newest: u64) -> u64 {
        self.dies[die].queues[class as usize].program_of(ppn, newest)
    }

    /// Requests that are not done.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// The die's next event is the earlier one of its array and its register.
    #[inline(always)]
    pub fn arm(&mut self, die: usize) {
        let d = &self.dies[die];
        self.order.set(die, d.array_at.min(d.register_at));
    }

    /// Something is about to happen at a die.
    #[inline(always)]
    pub fn reach(&mut self, now: u64, die: usize) {
        let (time, below) = self.reached;
        self.reached = (now, if time == now { below.max(die as u32) } else { die as u32 });
    }

    /// Whether what happens at a die at some moment has happened.
    #[inline(always)]
    pub fn has_reached(&self, die: usize, at_ns: u64) -> bool {
        let (now, below) = self.reached;
        at_ns < now || (at_ns == now && (die as u32) < below)
    }

    /// Puts the end of an operation on the log.
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

    /// No more operations of this request: one without any is done at once.
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

    /// The channel of a die's own is free again from then on.
    pub fn channel_is_free(&mut self, die: usize, from_ns: u64) {
        self.channel_free_ns[die] = from_ns;
    }

    /// Reserves a channel from `from` on for `length` on behalf of `n` operations of a class, the first of which is the
    /// `first`th under way; gives start and end.
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

    /// The array stops working on what it has, for good or for a while.
    #[inline(always)]
    pub fn end_piece(&mut self, die: usize, now: u64) {
        if self.recording {
            self.record_piece(die, now);
        }
        let d = &mut self.dies[die];
        #[cfg(test)]
        self.log.2.push((die, d.started_ns, now));
        d.jobs_ns = d.jobs_until(now);
        d.active.stage = Stage::Idle;
    }

    /// The first operation under way of a class is done.
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

    /// Dies that waited for an operation of this one look again.
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
        if !self.awaiting.is_empty() {
            self.finish_awaiting(die, now);
        }
    }

    /// An operation of a die is done: so may be requests that wait for it.
    fn finish_awaiting(&mut self, die: usize, now: u64) {
        let mut awaiting = std::mem::take(&mut self.awaiting);
        awaiting.retain(|&Awaiting { request, operation }| {
            if operation.die as usize != die {
                return true;
            }
            let due = operation.ticket > self.dies[die].queues[usize::from(operation.class)].done;
            if due {
                self.dies[die].awaited = true;
            } else {
                self.finish_one(request, now);
            }
            due
        });
        self.awaiting = awaiting;
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

    /// The array of a die has worked, or will have.
    #[cold]
    pub fn record_phase(&mut self, die: usize, work: Work, from_ns: u64, to_ns: u64) {
        self.tap.iter_mut().for_each(|tap| tap.push(die, work, from_ns, to_ns));
    }

    /// The array has read a page for a host that may use the cache register.
    #[cold]
    pub fn record_read(&mut self, die: usize, from_ns: u64, to_ns: u64) {
        let hidden = matches!(self.dies[die].register, Register::Out { .. });
        self.tap.iter_mut().for_each(|tap| tap.read(die, hidden, from_ns, to_ns));
    }

    /// The register is free; `held` says whether it takes the next page at once.
    #[cold]
    pub fn record_register_free(&mut self, die: usize, now: u64, held: bool) {
        self.tap.iter_mut().for_each(|tap| tap.register_free(die, now, held));
    }

    /// A cache program's data came at `ready_ns`, and the array takes them at `from_ns`.
    #[cold]
    pub fn record_cache_program(&mut self, die: usize, ready_ns: u64, from_ns: u64) {
        self.tap.iter_mut().for_each(|tap| tap.cache_program(die, ready_ns, from_ns));
    }

    /// The array stops working on programs or erases, for good or for a while.
    #[cold]
    pub fn record_work(&mut self, die: usize, to_ns: u64) {
        let Die { active, array_from, .. } = self.dies[die];
        let cached = self.settings.commands.cache_program && active.kind == Kind::Program;
        self.tap.iter_mut().for_each(|tap| tap.work(die, (active.kind, cached), array_from, to_ns));
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
