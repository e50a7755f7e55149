//! The timed back end: the same state and counts as the functional one, and when each operation is done.
//!
//! The FTL changes state when it issues a command; here the command waits at its die, in the queue of its class, until
//! die and channel are free and what must come before is done:
//! - a read comes after the unfinished program of its own page;
//! - a program comes after the erase of its block, and after earlier programs of that block by another class, because
//!   pages of a block are programmed in order;
//! - a move comes after the programs of its source block, an erase after the reads and programs of its block.

mod die;
mod links;
mod queue;
mod register;
mod schedule;
mod service;
pub mod settings;
mod suspend;
pub mod timeline;
mod times;
mod tournament;

pub use links::{Handle, LinkTimes, Reason};
pub use queue::{Class, Job};
pub use settings::{Commands, MultiPlane, Order, Phases, Settings, Suspend};
pub use timeline::{Span, Timeline};
pub use times::{ClassTimes, CommandCounts};

use crate::{Cause, Counters, Flash, Functional, Layout, Scope};
use floatgate_base::{Lpn, Ppn, UnitId};
use links::Links;
use queue::{Due, Far, Kind, NO_REQUEST, Op};
use schedule::Schedule;

/// Where a plane is.
#[derive(Clone, Copy, Debug)]
struct PlaneAt {
    die: u32,
    /// Plane in its die.
    plane: u8,
}

/// Where a page is.
#[derive(Clone, Copy, Debug)]
struct Place {
    die: usize,
    /// Block, counted over the drive.
    block: usize,
    /// Plane, by its number in the order of allocation.
    plane_number: u32,
}

/// The newest operations on a block, as tickets of its die.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Programs by class: host writes, background.
    programs: [u64; 2],
    /// Erase (background).
    erase: u64,
}

/// A request within another one; see [`Timed::open_aside`].
#[derive(Debug)]
#[must_use]
pub struct Aside {
    outer: u32,
}

/// An operation that was issued; nothing waits for the default one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issued(Far);

/// Times what the FTL asks for.
#[derive(Clone, Debug)]
pub struct Timed {
    counts: Functional,
    schedule: Schedule,
    blocks: Vec<Block>,
    /// By number of the plane in the order of allocation.
    plane_at: Vec<PlaneAt>,
    planes: u32,
    /// Whether operations must know the page in the block, the block in the plane and the plane in the die.
    detailed: bool,
    /// For whom moves and erases are.
    job: Job,
    /// Arrival of the request that is being issued.
    now_ns: u64,
    /// Its number; [`NO_REQUEST`] outside of requests.
    request: u32,
    /// The read of a read-modify-write whose program comes next.
    read_first: Far,
    /// What the next host operation must not start before.
    hold: Far,
    /// The host operation issued last.
    newest: Far,
    /// Requests that wait for others, where they may.
    links: Option<Box<Links>>,
    /// Whether operations take time; preconditioning and warm-up do not.
    on: bool,
}

impl Timed {
    /// A fresh array in which no time has passed.
    #[must_use]
    pub fn new(layout: Layout, settings: Settings) -> Self {
        let geometry = *layout.geometry();
        let plane_at = |number| PlaneAt {
            die: layout.die_of_plane(number),
            plane: layout.place_of_plane(number).3.min(u32::from(u8::MAX)) as u8,
        };
        Self {
            schedule: Schedule::new(settings, layout.clone()),
            blocks: vec![Block::default(); geometry.blocks() as usize],
            plane_at: (0..geometry.planes()).map(plane_at).collect(),
            planes: geometry.planes(),
            detailed: settings.commands.multi_plane != MultiPlane::None || settings.phases.page_types > 1,
            job: Job::Foreground,
            now_ns: 0,
            request: NO_REQUEST,
            read_first: Far::default(),
            hold: Far::default(),
            newest: Far::default(),
            links: None,
            on: false,
            counts: Functional::new(layout),
        }
    }

    /// State and counts, without time.
    #[must_use]
    pub fn counts(&self) -> &Functional {
        &self.counts
    }

    /// State and counts, without time.
    pub fn counts_mut(&mut self) -> &mut Functional {
        &mut self.counts
    }

    /// Records who is busy with what.
    pub fn record(&mut self, timeline: Timeline) {
        self.schedule.timeline = Some(timeline);
        self.schedule.recording = true;
    }

    /// What was recorded.
    #[must_use]
    pub fn timeline(&self) -> Option<&Timeline> {
        self.schedule.timeline.as_ref()
    }

    /// How often optional commands were used.
    #[must_use]
    pub fn command_counts(&self) -> CommandCounts {
        self.schedule.counts
    }

    /// Time that dies spent on foreground and on background jobs, nanoseconds, summed over the dies.
    #[must_use]
    pub fn jobs_ns(&self) -> [u64; 2] {
        let sum = |job: usize| self.schedule.dies.iter().map(|d| d.jobs_ns[job]).sum();
        [sum(0), sum(1)]
    }

    /// Whether host requests are under way.
    #[must_use]
    pub fn host_is_busy(&self) -> bool {
        self.schedule.live() > 0
    }

    /// When something happens next; `u64::MAX` for never.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        self.schedule.next_ns()
    }

    /// Lets everything happen until `now_ns`, for what is issued then without a request that arrives.
    pub fn advance(&mut self, now_ns: u64) {
        self.schedule.advance(now_ns);
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Up to when everything is settled.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Whether a domain has nothing of a job waiting or under way.
    #[must_use]
    pub fn job_is_idle(&self, domain: u32) -> bool {
        let idle = |die: usize| self.schedule.dies[die].queues[Class::Background as usize].is_empty();
        match self.counts.layout().scope() {
            Scope::Plane => idle(self.plane_at[domain as usize].die as usize),
            Scope::Superblock => (0..self.schedule.dies.len()).all(idle),
        }
    }

    /// From now on operations take time.
    pub fn start(&mut self) {
        self.on = true;
    }

    /// Lets everything happen until `now_ns`, which must not lie before earlier arrivals, and opens a request there.
    /// Numbers of requests are small and may be used again once a request is done.
    pub fn arrive(&mut self, request: u32, now_ns: u64) {
        self.schedule.advance(now_ns);
        self.now_ns = self.now_ns.max(now_ns);
        self.request = match &mut self.links {
            None => request,
            Some(links) => {
                links.settle(&mut self.schedule.done);
                links.pass(self.now_ns);
                links.open(request, self.now_ns)
            }
        };
        self.schedule.open(self.request);
    }

    /// All operations of the request are issued.
    pub fn issued(&mut self) {
        self.schedule.close(self.request, self.now_ns);
        self.request = NO_REQUEST;
    }

    /// From now on requests may wait for others.
    pub fn keep_links(&mut self) {
        self.links.get_or_insert_default();
    }

    /// Opens a request within the one that is open, of which nobody is told when it is done. [`Timed::close_aside`]
    /// must follow once its operations are issued.
    ///
    /// # Panics
    /// Where no links are kept, as do the other functions about asides.
    pub fn open_aside(&mut self) -> Aside {
        let outer = self.request;
        let now_ns = self.now_ns;
        self.request = self.links().open_aside(now_ns);
        self.schedule.open(self.request);
        Aside { outer }
    }

    /// All operations of the aside are issued; the request goes on in which it was opened.
    pub fn close_aside(&mut self, aside: Aside) -> Handle {
        let inner = std::mem::replace(&mut self.request, aside.outer);
        let handle = self.links().handle(inner);
        self.schedule.close(inner, self.now_ns);
        handle
    }

    /// The request that is open.
    pub fn open_request(&mut self) -> Handle {
        let request = self.request;
        self.links().handle(request)
    }

    /// The open request is done `delay_ns` after its last part; what it waits for counts with `class` 0 or 1.
    pub fn shape_request(&mut self, delay_ns: u64, class: u8) {
        let request = self.request;
        self.links().shape(request, delay_ns, class);
    }

    /// The open request is done no sooner than another.
    pub fn wait_for(&mut self, other: Handle, reason: Reason) {
        let request = self.request;
        self.links().wait(request, other, reason);
    }

    /// The open request is done no sooner than all asides under way.
    pub fn wait_for_asides(&mut self, reason: Reason) {
        let request = self.request;
        self.links().wait_for_asides(request, reason);
    }

    /// Whether a request is under way.
    pub fn pending(&mut self, request: Handle) -> bool {
        self.links().pending(request)
    }

    /// What requests of both classes waited for beside their own operations.
    #[must_use]
    pub fn link_times(&self) -> Option<&[LinkTimes; 2]> {
        self.links.as_ref().map(|links| &links.times)
    }

    fn links(&mut self) -> &mut Links {
        self.links.as_mut().expect("links are kept")
    }

    /// The next host program (the read of a read-modify-write) starts only when the operation named is done.
    pub fn hold(&mut self, until: Issued) {
        self.hold = until.0;
    }

    /// The host read or program issued last.
    #[must_use]
    pub fn newest(&self) -> Issued {
        Issued(self.newest)
    }

    /// Lets time pass until a request is done, nothing is under way, or it would be later than `until_ns`.
    pub fn advance_to_completion_until(&mut self, until_ns: u64) {
        let Some(links) = &mut self.links else { return self.schedule.advance_to_done(until_ns) };
        loop {
            links.settle(&mut self.schedule.done);
            let due_ns = links.next_ns();
            if !links.out.is_empty() {
                return;
            }
            self.schedule.advance_to_done(until_ns.min(due_ns));
            if self.schedule.done.is_empty() {
                return links.pass(until_ns.min(due_ns));
            }
        }
    }

    /// Lets time pass until a request is done, or nothing is under way.
    pub fn advance_to_completion(&mut self) {
        self.advance_to_completion_until(u64::MAX - 1);
    }

    /// Lets everything end that is under way.
    pub fn finish(&mut self) {
        self.schedule.advance(u64::MAX - 1);
        if let Some(links) = &mut self.links {
            links.settle(&mut self.schedule.done);
            links.pass(u64::MAX - 1);
        }
    }

    /// Whether [`Timed::take_done`] may have something to hand out.
    #[inline(always)]
    #[must_use]
    pub fn has_done(&self) -> bool {
        !self.schedule.done.is_empty() || self.links.is_some()
    }

    /// Hands out the requests done so far, with their times; in the order of time.
    pub fn take_done(&mut self, out: &mut Vec<(u32, u64)>) {
        match &mut self.links {
            None => out.append(&mut self.schedule.done),
            Some(links) => {
                links.settle(&mut self.schedule.done);
                out.append(&mut links.out);
            }
        }
    }

    /// When the last operation was done.
    #[must_use]
    pub fn last_ns(&self) -> u64 {
        self.schedule.last_ns
    }

    /// Where the time went, by class.
    #[must_use]
    pub fn times(&self) -> &[ClassTimes; 3] {
        &self.schedule.times
    }

    #[inline(always)]
    fn place(&self, ppn: Ppn) -> Place {
        let layout = self.counts.layout();
        let unit = layout.unit_of(ppn);
        let (plane_number, block) = match layout.scope() {
            Scope::Plane => (layout.domain_of(unit), unit),
            Scope::Superblock => {
                let number = (ppn - layout.first_page(unit)) % self.planes;
                (number, unit * self.planes + number)
            }
        };
        let die = self.plane_at[plane_number as usize].die as usize;
        Place { die, block: block as usize, plane_number }
    }

    #[inline(always)]
    fn op(&self, kind: Kind, ppn: Ppn, place: Place, cause: Cause) -> Op {
        let job = if class_of(cause) == Class::Background { self.job } else { Job::Host };
        let mut op = Op {
            issued_ns: 0,
            jobs_ns: [0; 2],
            ppn,
            request: NO_REQUEST,
            order: 0,
            after: [Due::default(); 2],
            previous: Due::default(),
            far_die: 0,
            far: Due::default(),
            far_class: 0,
            kind,
            cause: cause as u8,
            job,
            page_type: 0,
            read_type: 0,
            plane: 0,
            within_plane: false,
            #[cfg(test)]
            started_ns: 0,
        };
        if self.detailed {
            self.add_details(&mut op, place);
        }
        op
    }

    fn add_details(&self, op: &mut Op, place: Place) {
        let address = self.counts.layout().address(op.ppn);
        op.plane = self.plane_at[place.plane_number as usize].plane;
        op.page_type = self.page_type(address.page);
        op.read_type = op.page_type;
    }

    /// Type of a page by its number in the block.
    fn page_type(&self, page: u32) -> u8 {
        (page % self.schedule.settings.phases.page_types) as u8
    }

    /// What an operation waits for that another die does.
    #[inline(always)]
    fn wait_for_far(&self, op: &mut Op, far: Far) {
        if far.ticket > 0 {
            let queue = &self.schedule.dies[far.die as usize].queues[usize::from(far.class)];
            (op.far_die, op.far_class, op.far) = (far.die, far.class, Due::of(far.ticket, queue.done));
        }
    }

    /// Issues a program, or a copy whose page is on the same die; a copy comes after the write `source_written`.
    #[inline(always)]
    fn issue_program(&mut self, mut op: Op, class: Class, place: Place, source_written: u64) -> u64 {
        let b = self.blocks[place.block];
        let done = |class| self.schedule.done_tickets(place.die, class);
        // Pages of a block are programmed in order, whoever asks for it; of one class the queue sees to it.
        if class == Class::Write {
            let before = b.erase.max(b.programs[Class::Background as usize - 1]);
            op.after[1] = Due::of(before, done(Class::Background));
        } else {
            let before = source_written.max(b.programs[Class::Write as usize - 1]);
            op.after[1] = Due::of(before, done(Class::Write));
        }
        op.previous = Due::of(b.programs[class as usize - 1], done(class));
        let ticket = self.schedule.push(place.die, class, op, self.now_ns);
        self.blocks[place.block].programs[class as usize - 1] = ticket;
        ticket
    }
}

/// Tickets order the operations of one class at one die by themselves: only other classes need saying.
fn class_of(cause: Cause) -> Class {
    match cause {
        Cause::Host | Cause::Partial => Class::Write,
        Cause::Gc => Class::Background,
    }
}

impl Flash for Timed {
    #[inline(always)]
    fn program(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.counts.program(ppn, lpn, cause);
        if !self.on {
            return;
        }
        let place = self.place(ppn);
        let mut op = self.op(Kind::Program, ppn, place, cause);
        op.request = self.request;
        let mut far = std::mem::take(&mut self.read_first);
        if far.ticket == 0 {
            far = std::mem::take(&mut self.hold);
        }
        self.wait_for_far(&mut op, far);
        let class = class_of(cause);
        let ticket = self.issue_program(op, class, place, 0);
        self.newest = Far { die: place.die as u32, class: class as u8, ticket };
    }

    fn copy(&mut self, source: Ppn, destination: Ppn, lpn: Lpn, cause: Cause) {
        self.counts.copy(source, destination, lpn, cause);
        if !self.on {
            return;
        }
        let (from, to) = (self.place(source), self.place(destination));
        let written = self.blocks[from.block].programs[Class::Write as usize - 1];
        if from.die == to.die {
            let mut op = self.op(Kind::Copy, destination, to, cause);
            op.within_plane = from.plane_number == to.plane_number;
            if self.detailed {
                op.read_type = self.page_type(self.counts.layout().address(source).page);
            }
            self.issue_program(op, Class::Background, to, written);
            return;
        }
        let mut read = self.op(Kind::Read, source, from, cause);
        read.after[1] = Due::of(written, self.schedule.done_tickets(from.die, Class::Write));
        let ticket = self.schedule.push(from.die, Class::Background, read, self.now_ns);
        let mut program = self.op(Kind::Program, destination, to, cause);
        let far = Far { die: from.die as u32, class: Class::Background as u8, ticket };
        self.wait_for_far(&mut program, far);
        self.issue_program(program, Class::Background, to, 0);
    }

    #[inline(always)]
    fn read(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        self.counts.read(ppn, lpn, cause);
        if !self.on {
            return;
        }
        let place = self.place(ppn);
        let mut op = self.op(Kind::Read, ppn, place, cause);
        op.request = self.request;
        let programs = self.blocks[place.block].programs;
        for (class, (newest, after)) in
            Class::Read.others().into_iter().zip(programs.iter().zip(&mut op.after))
        {
            let done = self.schedule.done_tickets(place.die, class);
            if *newest > done {
                *after = Due::of(self.schedule.program_of(place.die, class, ppn, *newest), done);
            }
        }
        if cause == Cause::Partial {
            let far = std::mem::take(&mut self.hold);
            self.wait_for_far(&mut op, far);
        }
        let ticket = self.schedule.push(place.die, Class::Read, op, self.now_ns);
        self.newest = Far { die: place.die as u32, class: Class::Read as u8, ticket };
        if cause == Cause::Partial {
            self.read_first = self.newest;
        }
    }

    #[inline(always)]
    fn read_unmapped(&mut self, lpn: Lpn) {
        self.counts.read_unmapped(lpn);
    }

    fn erase(&mut self, unit: UnitId, cause: Cause) {
        self.counts.erase(unit, cause);
        if !self.on {
            return;
        }
        let first = self.counts.layout().first_page(unit);
        for i in 0..self.counts.layout().blocks_per_unit() {
            // Under superblock scope the first pages of a unit lie one on each plane.
            let place = self.place(first + i);
            let mut op = self.op(Kind::Erase, first + i, place, cause);
            let written = self.blocks[place.block].programs[Class::Write as usize - 1];
            let due = |ticket, class| Due::of(ticket, self.schedule.done_tickets(place.die, class));
            let read = self.schedule.issued(place.die, Class::Read);
            op.after = [due(read, Class::Read), due(written, Class::Write)];
            let ticket = self.schedule.push(place.die, Class::Background, op, self.now_ns);
            self.blocks[place.block].erase = ticket;
        }
    }

    fn in_background(&mut self, on: bool) {
        self.job = if on { Job::Background } else { Job::Foreground };
    }

    #[inline(always)]
    fn trim(&mut self, lpn: Lpn) {
        self.counts.trim(lpn);
    }

    #[inline(always)]
    fn install(&mut self, ppn: Ppn, lpn: Option<Lpn>) {
        self.counts.install(ppn, lpn);
    }

    fn erase_count(&self, unit: UnitId) -> u32 {
        self.counts.erase_count(unit)
    }

    fn reset_counts(&mut self) {
        self.counts.reset_counts();
        self.schedule.reset_times();
    }

    fn counters(&self) -> &Counters {
        self.counts.counters()
    }

    fn erase_counts(&self) -> &[u32] {
        self.counts.erase_counts()
    }

    fn layout(&self) -> &Layout {
        self.counts.layout()
    }
}

#[cfg(test)]
mod command_tests;
#[cfg(test)]
mod order_tests;
#[cfg(test)]
mod tests;
