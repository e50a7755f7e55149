//! The timed back end: state and counts as in the functional one, and the completion time of each operation.
//!
//! The state changes when the FTL issues a command. The command then waits at its die, in the queue of its class, until
//! die and channel are free and its predecessors are done:
//! - a read follows the unfinished program of its own page, or takes the old copy of a page that a job moves
//!   (`old_copies.rs`);
//! - a program follows the erase of its block, and earlier programs of that block by another class, because pages of a
//!   block are programmed in order;
//! - a move follows the programs of its source block;
//! - an erase follows the reads and programs of its block, and the programs of all pages that moved from its superblock
//!   to other dies.
//!
//! Reading order: `issue.rs` accepts commands, `ops.rs` turns them into operations, `queue.rs` holds them, and
//! `schedule.rs` keeps dies and channels. `choice.rs` selects the next operation, and `service.rs` moves operations
//! through their phases.
//! `events.rs` orders events by a tournament over the dies (`tournament.rs`). `register.rs` (cache commands) and
//! `suspend.rs` are entered only on drives with these commands, `hold.rs` where jobs hold their channel; `plain.rs` is the path for plain commands. Consecutive
//! moves of one block are one operation, a row (`rows.rs`, `steps.rs`; `docs/decisions/0030-rows-of-moves.md`). Code
//! that reads or changes the state touched by a move calls `Schedule::catch_up` first; code that lets anything come
//! between moves calls `Schedule::shorten`. `sim` decides when requests arrive and measures their latency
//! (`docs/decisions/0009-timed-array.md`).

mod barriers;
mod choice;
mod chunks;
mod die;
mod events;
mod flushes;
mod gathering;
mod hold;
mod issue;
mod joins;
mod links;
mod moving;
mod old_copies;
mod ops;
mod packed;
mod plain;
mod queue;
mod reclaims;
mod register;
mod rows;
mod saved;
mod schedule;
pub mod scheduling;
mod service;
pub mod settings;
mod steps;
mod suspend;
pub mod tap;
pub mod timeline;
mod times;
mod tournament;
mod volatile;

pub use links::{Handle, LinkTimes, Reason};
pub use queue::Job;
pub use saved::Underway;
pub use settings::{Commands, MultiPlane, Order, PageTimes, Phases, Settings, Suspend};
pub use tap::{ArrayPhase, Signal, Work};
pub use timeline::{Span, Timeline};
pub use times::{ClassTimes, CommandCounts};

use crate::{Class, Flash, Functional, Layout, Scope};
use floatgate_base::{DomainId, IdVec, UnitId};
use gathering::Gathering;
use links::Links;
use moving::Moving;
use queue::{Far, NO_REQUEST};
use reclaims::Reclaims;
use schedule::Schedule;
use serde::{Deserialize, Serialize};
use tap::Tap;
use volatile::Volatile;

/// Address of a plane.
#[derive(Clone, Copy, Debug)]
struct PlaneAt {
    die: u32,
    /// Plane in its die.
    plane: u8,
}

/// Location of a page.
#[derive(Clone, Copy, Debug)]
struct Place {
    die: usize,
    /// Block, counted over the drive.
    block: usize,
    /// Plane, by its number in the order of allocation.
    plane_number: u32,
}

/// The newest operations on a block, as tickets of its die.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Block {
    /// Programs by class: host writes, background.
    programs: [u64; 2],
    /// Erase (background).
    erase: u64,
}

/// A request nested in another one; see [`Timed::open_aside`].
#[derive(Debug)]
#[must_use]
pub struct Aside {
    outer: u32,
}

/// An issued operation; the default one is already done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued(Far);

/// The timed back end.
#[derive(Clone, Debug)]
pub struct Timed {
    counts: Functional,
    schedule: Schedule,
    blocks: Vec<Block>,
    /// By plane number in the order of allocation.
    plane_at: Vec<PlaneAt>,
    planes: u32,
    /// The barrier of the job that empties a unit, if pages may move to other dies.
    barrier_of_unit: IdVec<UnitId, Option<u32>>,
    /// Whether operations need the page in the block, the block in the plane and the plane in the die, or the modes of
    /// the block.
    detailed: bool,
    /// Whether blocks have several modes of either kind.
    has_modes: bool,
    /// Whether several pages of the map share a flash page.
    packed: bool,
    gathering: Gathering,
    /// Data that a power cut would lose, if it would lose any.
    volatile: Option<Box<Volatile>>,
    /// The job of moves and erases.
    job: Job,
    /// Arrival of the request that is being issued.
    now_ns: u64,
    /// Its number; [`NO_REQUEST`] outside of requests.
    request: u32,
    /// The read of a read-modify-write whose program comes next.
    read_first: Far,
    /// The operation before which the next host operation must not start.
    hold: Far,
    /// The host operation issued last.
    newest: Far,
    /// Dependencies between requests, if they are kept.
    links: Option<Box<Links>>,
    /// Pages that jobs move, if host reads take their old copies.
    moving: Option<Box<Moving>>,
    /// Operations of read reclaim under way, if they are tracked.
    reclaims: Option<Box<Reclaims>>,
    /// Whether operations take time; those of preconditioning and warm-up do not.
    on: bool,
}

impl Timed {
    /// Creates a fresh array at time 0.
    #[must_use]
    pub fn new(layout: Layout, settings: Settings) -> Self {
        let geometry = *layout.geometry();
        let has_modes = settings.phases.modes > 1 || settings.phases.scales > 1;
        let plane_at = |number| PlaneAt {
            die: layout.die_of_plane(number),
            plane: layout.place_of_plane(number).3.min(u32::from(u8::MAX)) as u8,
        };
        Self {
            schedule: Schedule::new(settings, layout.clone()),
            blocks: vec![Block::default(); geometry.blocks() as usize],
            plane_at: (0..geometry.planes()).map(plane_at).collect(),
            planes: geometry.planes(),
            barrier_of_unit: IdVec::filled(None, layout.units()),
            detailed: settings.commands.multi_plane != MultiPlane::None
                || settings.phases.page_types > 1
                || has_modes,
            has_modes,
            packed: layout.is_packed(),
            volatile: (layout.is_packed() && !settings.plp)
                .then(|| Box::new(Volatile::new(layout.units(), geometry.dies() as usize))),
            gathering: Gathering::new(if layout.is_packed() { layout.units() } else { 0 }),
            job: Job::Foreground,
            now_ns: 0,
            request: NO_REQUEST,
            read_first: Far::default(),
            hold: Far::default(),
            newest: Far::default(),
            links: None,
            moving: settings
                .reads_old_copies
                .then(|| Box::new(Moving::new(layout.units(), geometry.dies() as usize))),
            reclaims: None,
            on: false,
            counts: Functional::new(layout),
        }
    }

    /// Returns state and counts, without time.
    #[must_use]
    pub fn counts(&self) -> &Functional {
        &self.counts
    }

    /// Returns state and counts for modification, without time.
    pub fn counts_mut(&mut self) -> &mut Functional {
        &mut self.counts
    }

    /// Starts recording a timeline.
    pub fn record(&mut self, timeline: Timeline) {
        self.schedule.timeline = Some(timeline);
        self.schedule.recording = true;
        self.schedule.end_rows();
    }

    /// Returns the recorded timeline.
    #[must_use]
    pub fn timeline(&self) -> Option<&Timeline> {
        self.schedule.timeline.as_ref()
    }

    /// Starts keeping the phases of the arrays, or of their pins, until they are taken, for one die or for all.
    /// Snapshots do not contain them.
    pub fn tap(&mut self, signal: Signal, die: Option<u32>) {
        self.schedule.tap = Some(Tap::new(signal, die, self.schedule.dies.len()));
        self.schedule.recording = true;
        self.schedule.end_rows();
    }

    /// Moves the phases kept so far to `out`, those of a die in the order of time. Dies that pass through an operation
    /// at once report its read when it starts: such a phase may end later than now.
    pub fn take_phases(&mut self, out: &mut Vec<ArrayPhase>) {
        if let Some(tap) = &mut self.schedule.tap {
            out.append(&mut tap.phases);
        }
    }

    /// Returns the time before which all phases that begin at a die are known.
    #[must_use]
    pub fn phases_known_ns(&self, die: u32) -> u64 {
        tap::known_ns(&self.schedule.dies[die as usize], self.present_ns())
    }

    /// Returns how often optional commands were used.
    #[must_use]
    pub fn command_counts(&self) -> CommandCounts {
        self.schedule.settled().counts
    }

    /// Returns the time that dies spent on foreground and on background jobs, nanoseconds, summed over the dies.
    #[must_use]
    pub fn jobs_ns(&self) -> [u64; 2] {
        let schedule = self.schedule.settled();
        let sum = |job: usize| schedule.dies.iter().map(|d| d.jobs_ns[job]).sum();
        [sum(0), sum(1)]
    }

    /// Returns whether host requests are under way.
    #[must_use]
    pub fn host_is_busy(&self) -> bool {
        self.schedule.live() > 0
    }

    /// Returns the time of the next event; `u64::MAX` for none.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        self.schedule.next_ns()
    }

    /// Returns the time of the next event or of the next completion of a request on its links; `u64::MAX` for none.
    #[must_use]
    pub fn next_event_ns(&self) -> u64 {
        let links_ns = self.links.as_ref().map_or(u64::MAX, |links| links.next_ns());
        self.next_ns().min(links_ns)
    }

    /// Handles everything until `now_ns`, for operations issued then without a request.
    pub fn advance(&mut self, now_ns: u64) {
        self.schedule.advance(now_ns);
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Returns whether a domain has no operation of a job waiting or under way.
    #[must_use]
    pub fn job_is_idle(&self, domain: DomainId) -> bool {
        let idle = |die: usize| self.schedule.dies[die].queues[Class::Background as usize].is_empty();
        match self.counts.layout().scope() {
            Scope::Plane => idle(self.plane_at[domain.index()].die as usize),
            Scope::Superblock => (0..self.schedule.dies.len()).all(idle),
        }
    }

    /// Starts tracking for [`Timed::reclaims`].
    pub fn watch_reclaims(&mut self) {
        self.reclaims = Some(Box::default());
    }

    /// Returns whether operations of reclaims or replications are issued and not done, as of the latest time handled.
    pub fn reclaims(&mut self) -> bool {
        self.reclaims.as_mut().is_some_and(|reclaims| reclaims.pending(&self.schedule))
    }

    /// Makes operations take time from now on.
    pub fn start(&mut self) {
        self.on = true;
    }

    /// Handles everything until `now_ns`, which must not lie before earlier arrivals, and opens a request there.
    /// Numbers of requests are small and may be reused once a request is done.
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

    /// Declares all operations of the request issued.
    pub fn issued(&mut self) {
        self.schedule.close(self.request, self.now_ns);
        self.request = NO_REQUEST;
    }

    /// Keeps dependencies between requests from now on.
    pub fn keep_links(&mut self) {
        self.links.get_or_insert_default();
    }

    /// Opens a request nested in the open one, whose completion is not reported. [`Timed::close_aside`] must follow
    /// once its operations are issued.
    ///
    /// # Panics
    /// Without links, as do the other functions about asides.
    pub fn open_aside(&mut self) -> Aside {
        let outer = self.request;
        let now_ns = self.now_ns;
        self.request = self.links().open_aside(now_ns);
        self.schedule.open(self.request);
        Aside { outer }
    }

    /// Closes an aside after its operations are issued; the outer request continues.
    pub fn close_aside(&mut self, aside: Aside) -> Handle {
        let inner = std::mem::replace(&mut self.request, aside.outer);
        let handle = self.links().handle(inner);
        self.schedule.close(inner, self.now_ns);
        handle
    }

    /// Returns the open request.
    pub fn open_request(&mut self) -> Handle {
        let request = self.request;
        self.links().handle(request)
    }

    /// Delays the end of the open request by `delay_ns` after its last part; its waits count with `class` 0 or 1.
    pub fn shape_request(&mut self, delay_ns: u64, class: u8) {
        let request = self.request;
        self.links().shape(request, delay_ns, class);
    }

    /// Delays the open request until another one is done.
    pub fn wait_for(&mut self, other: Handle, reason: Reason) {
        let request = self.request;
        self.links().wait(request, other, reason);
    }

    /// Delays the open request until all asides under way are done.
    pub fn wait_for_asides(&mut self, reason: Reason) {
        let request = self.request;
        self.links().wait_for_asides(request, reason);
    }

    /// Returns whether a request is under way.
    pub fn pending(&mut self, request: Handle) -> bool {
        self.links().pending(request)
    }

    /// Returns the waits of both classes of requests for other requests.
    #[must_use]
    pub fn link_times(&self) -> Option<&[LinkTimes; 2]> {
        self.links.as_ref().map(|links| &links.times)
    }

    fn links(&mut self) -> &mut Links {
        self.links.as_mut().expect("links are kept")
    }

    /// Holds the next host program (or the read of a read-modify-write) until this operation is done.
    pub fn hold(&mut self, until: Issued) {
        self.hold = until.0;
    }

    /// Returns the host read or program issued last.
    #[must_use]
    pub fn newest(&self) -> Issued {
        Issued(self.newest)
    }

    /// Advances time until a request is done, nothing is under way, or `until_ns` would be exceeded.
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
                if due_ns <= until_ns && due_ns < u64::MAX {
                    // The array has advanced to that time, even if none of its operations was done.
                    self.now_ns = self.now_ns.max(due_ns);
                }
                return links.pass(until_ns.min(due_ns));
            }
        }
    }

    /// Advances time until a request is done, or nothing is under way.
    pub fn advance_to_completion(&mut self) {
        self.advance_to_completion_until(u64::MAX - 1);
    }

    /// Completes everything under way.
    pub fn finish(&mut self) {
        self.schedule.advance(u64::MAX - 1);
        if let Some(links) = &mut self.links {
            links.settle(&mut self.schedule.done);
            links.pass(u64::MAX - 1);
        }
    }

    /// Returns whether [`Timed::take_done`] may have any requests.
    #[inline(always)]
    #[must_use]
    pub fn has_done(&self) -> bool {
        !self.schedule.done.is_empty() || self.links.as_ref().is_some_and(|links| !links.out.is_empty())
    }

    /// Moves the completed requests to `out`, with their times, in the order of time.
    pub fn take_done(&mut self, out: &mut Vec<(u32, u64)>) {
        match &mut self.links {
            None => out.append(&mut self.schedule.done),
            Some(links) => {
                links.settle(&mut self.schedule.done);
                // Requests delayed by DRAM come after those completed meanwhile.
                links.out.sort_by_key(|&(_, time_ns)| time_ns);
                out.append(&mut links.out);
            }
        }
    }

    /// Returns the end of the last host request, with delays of DRAM included, if none is under way now.
    #[must_use]
    pub fn idle_from_ns(&self) -> u64 {
        let delayed = self.links.as_ref().map_or(0, |links| links.latest_ns());
        self.present_ns().max(delayed)
    }

    /// Returns the latest time at which an operation or a request completed, or a request arrived: nothing can be
    /// issued before it.
    #[must_use]
    pub fn present_ns(&self) -> u64 {
        self.last_ns().max(self.now_ns)
    }

    /// Returns the end of the last operation.
    #[must_use]
    pub fn last_ns(&self) -> u64 {
        self.schedule.last_done_ns()
    }

    /// Returns the time spent, by class.
    #[must_use]
    pub fn times(&self) -> [ClassTimes; 3] {
        self.schedule.settled().times
    }
}

#[cfg(test)]
mod command_tests;
#[cfg(test)]
mod drawn_settings;
#[cfg(test)]
mod hold_tests;
#[cfg(test)]
mod order_tests;
#[cfg(test)]
mod packed_tests;
#[cfg(test)]
mod row_tests;
#[cfg(test)]
mod scale_tests;
#[cfg(test)]
mod tests;
