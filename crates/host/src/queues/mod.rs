//! The host's queues: requests wait here until the drive fetches them.
//!
//! The drive fetches from the queue of the best priority whose first request may go, in turn among equals. Within a
//! queue, requests are fetched in order of arrival. A request must wait while an earlier one in any queue waits that
//! touches one of its pages, if one of the two writes or trims. A read therefore returns the last data written before
//! it arrived, and the drive ends with the data that a single queue would have left.

use floatgate_base::{ExtentColumns, ExtentKind as Kind, Extents};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

mod request;
mod sharing;
mod slot;

pub use request::Request;
use sharing::Sharing;
use slot::{NO_REQUEST, Slot};

/// Most queues of a host.
pub const QUEUES_MAX: u32 = 1024;

/// The queue that a request joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueOf {
    /// Each queue in turn; in closed loop the next one with room.
    RoundRobin,
    /// Selected by the number of its device.
    Device,
    /// Selected by its stream.
    Stream,
}

/// Names of the choices with their meaning.
pub const QUEUE_OF: &[(&str, &str)] = &[
    ("round-robin", "one queue after the other; in closed loop the next one with room"),
    ("device", "the number of the request's device, modulo the number of queues"),
    ("stream", "the request's stream, modulo the number of queues"),
];

/// The setup of the host's queues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSetup {
    /// Priority of each queue; the lowest value is served first.
    pub priorities: Vec<u32>,
    /// The queue that a request joins.
    pub queue_of: QueueOf,
    /// Most requests in the drive at once; none for no limit.
    pub outstanding_max: Option<u32>,
}

impl Default for QueueSetup {
    /// Returns one queue that the drive empties at once.
    fn default() -> Self {
        Self { priorities: vec![0], queue_of: QueueOf::RoundRobin, outstanding_max: None }
    }
}

impl QueueSetup {
    /// Returns the number of queues.
    #[must_use]
    pub fn queues(&self) -> usize {
        self.priorities.len()
    }

    /// Returns whether every request joins a single queue and is fetched when it arrives.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.queues() == 1 && self.outstanding_max.is_none()
    }
}

/// Queues of one priority, which take turns.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Level {
    queues: Vec<u16>,
    /// The queue whose turn is next.
    next: usize,
}

/// Waiting requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Queues {
    setup: QueueSetup,
    /// The most preferred first.
    levels: Vec<Level>,
    /// Level of each queue, and its position in the level.
    places: Vec<(usize, usize)>,
    lines: Vec<VecDeque<u32>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Derived from the slots, so a snapshot does not hold it.
    #[serde(skip)]
    sharing: Sharing,
    /// The queue for the next request in round-robin order.
    joins: usize,
    waiting: usize,
    waiting_page_reads: u64,
    waiting_page_writes: u64,
}

impl Queues {
    /// Creates empty queues.
    #[must_use]
    pub fn new(setup: QueueSetup) -> Self {
        let mut priorities = setup.priorities.clone();
        priorities.sort_unstable();
        priorities.dedup();
        let mut levels: Vec<Level> =
            priorities.iter().map(|_| Level { queues: Vec::new(), next: 0 }).collect();
        let mut places = Vec::new();
        for (queue, priority) in setup.priorities.iter().enumerate() {
            let level = priorities.binary_search(priority).expect("it is one of them");
            places.push((level, levels[level].queues.len()));
            levels[level].queues.push(queue as u16);
        }
        Self {
            lines: vec![VecDeque::new(); setup.queues()],
            setup,
            levels,
            places,
            slots: Vec::new(),
            free: Vec::new(),
            sharing: Sharing::default(),
            joins: 0,
            waiting: 0,
            waiting_page_reads: 0,
            waiting_page_writes: 0,
        }
    }

    /// Finds the pages again that the waiting requests of a snapshot share.
    #[must_use]
    pub fn restored(mut self) -> Self {
        if self.lines.len() > 1 {
            self.sharing = Sharing::of(&mut self.slots);
        }
        self
    }

    /// Returns the setup of the queues.
    #[must_use]
    pub fn setup(&self) -> &QueueSetup {
        &self.setup
    }

    /// Returns the number of waiting requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Returns whether no request waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Returns the pages that waiting requests read and write.
    #[must_use]
    pub fn waiting_pages(&self) -> (u64, u64) {
        (self.waiting_page_reads, self.waiting_page_writes)
    }

    /// Selects the queue of the next request with this `key` (device or stream); none if that queue has no room.
    pub fn choose(&mut self, key: u32, has_room: impl Fn(usize) -> bool) -> Option<u16> {
        let queues = self.setup.queues();
        if self.setup.queue_of != QueueOf::RoundRobin {
            let queue = key as usize % queues;
            return has_room(queue).then_some(queue as u16);
        }
        let queue = (self.joins..queues).chain(0..self.joins).find(|&queue| has_room(queue))?;
        self.joins = if queue + 1 < queues { queue + 1 } else { 0 };
        Some(queue as u16)
    }

    /// Adds a request to its queue; it touches the extents in `range`.
    pub fn join(&mut self, request: Request, extents: &Extents, range: Range<usize>) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                request,
                extents: Vec::new(),
                columns: ExtentColumns::default(),
                shares: false,
                behind: None,
            });
            (self.slots.len() - 1) as u32
        });
        let kept = &mut self.slots[slot as usize];
        kept.request = request;
        kept.shares = false;
        kept.columns.append_range(0, &extents.columns, range.clone());
        for i in range {
            let (lpn, pages, kind) = (extents.lpn[i], extents.pages[i], extents.kind[i]);
            kept.extents.push((lpn, pages, kind));
            count(
                kind,
                pages,
                &mut self.waiting_page_reads,
                &mut self.waiting_page_writes,
                u64::wrapping_add,
            );
        }
        if self.lines.len() > 1 {
            self.sharing.join(&mut self.slots, slot);
        }
        self.lines[usize::from(request.queue)].push_back(slot);
        self.waiting += 1;
    }

    /// Removes the next request and appends its extents to `out`; none if no request may go.
    pub fn fetch(&mut self, out: &mut Extents) -> Option<Request> {
        let queue = self.next()?;
        self.took(queue);
        let slot = self.lines[usize::from(queue)].pop_front()?;
        let kept = &mut self.slots[slot as usize];
        if self.lines.len() > 1 {
            self.sharing.leave(kept, slot);
        }
        out.columns.append_all(out.len(), &mut kept.columns);
        for (lpn, pages, kind) in kept.extents.drain(..) {
            out.push(lpn, pages, kind);
            count(
                kind,
                pages,
                &mut self.waiting_page_reads,
                &mut self.waiting_page_writes,
                u64::wrapping_sub,
            );
        }
        let request = kept.request;
        kept.request.number = NO_REQUEST;
        kept.behind = None;
        self.free.push(slot);
        self.waiting -= 1;
        Some(request)
    }

    /// Counts a request as fetched from this queue: the others of its priority now come first.
    pub fn took(&mut self, queue: u16) {
        let (level, place) = self.places[usize::from(queue)];
        let level = &mut self.levels[level];
        level.next = if place + 1 < level.queues.len() { place + 1 } else { 0 };
    }

    /// Selects the queue to fetch from.
    fn next(&mut self) -> Option<u16> {
        for level in 0..self.levels.len() {
            let (queues, next) = (self.levels[level].queues.len(), self.levels[level].next);
            for place in (next..queues).chain(0..next) {
                let queue = self.levels[level].queues[place];
                if let Some(&slot) = self.lines[usize::from(queue)].front()
                    && self.may_go(slot as usize)
                {
                    return Some(queue);
                }
            }
        }
        None
    }

    fn may_go(&mut self, slot: usize) -> bool {
        if !self.slots[slot].shares {
            return true;
        }
        if let Some((number, other)) = self.slots[slot].behind
            && self.slots[other as usize].request.number == number
        {
            return false;
        }
        let behind = self.sharing.earlier(&self.slots[slot]);
        self.slots[slot].behind = behind;
        behind.is_none()
    }
}

/// Changes the count of waiting pages.
fn count(kind: Kind, pages: u32, reads: &mut u64, writes: &mut u64, by: fn(u64, u64) -> u64) {
    match kind {
        Kind::Read => *reads = by(*reads, u64::from(pages)),
        Kind::Write | Kind::WritePartial => *writes = by(*writes, u64::from(pages)),
        Kind::Trim | Kind::Flush => {}
    }
}

#[cfg(test)]
mod tests;
