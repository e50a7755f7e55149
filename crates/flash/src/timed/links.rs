//! Dependencies between requests, for a DRAM buffer in front of the array. Kept only on demand; without them a request
//! is done with its last operation.
//!
//! Internal numbers are even for requests of the caller and odd for *asides*, whose completion is not reported. The
//! graph has no cycles: a request waits only for earlier ones.

use serde::{Deserialize, Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The reason of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// Room: a place whose old content is not on flash yet, or a page that has not arrived yet.
    Place,
    /// Data that must be on flash.
    Flushed,
}

/// A request at the time when the handle was created: numbers are reused, handles are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handle {
    /// The internal number, plus 1; 0 for no request.
    number: u32,
    serial: u32,
}

/// Waits of the caller's requests for other requests, summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkTimes {
    /// Requests that waited for room.
    pub place_requests: u64,
    /// Total time.
    pub place_ns: u64,
    /// Requests that waited for data to be on flash.
    pub flushed_requests: u64,
    /// Total time, from when they had room.
    pub flushed_ns: u64,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    /// Parts that are not done; 0 for a free number.
    left: u32,
    serial: u32,
    /// The first request that waits for this one.
    waiters: u32,
    class: u8,
    opened_ns: u64,
    placed_ns: u64,
    flushed_ns: u64,
    delay_ns: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Waiter {
    number: u32,
    reason: Reason,
    next: u32,
}

/// The graph of dependencies.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Links {
    entries: Vec<Entry>,
    waiters: Vec<Waiter>,
    free_waiters: Vec<u32>,
    free_asides: Vec<u32>,
    asides: u32,
    /// Completed parts still to be processed.
    todo: Vec<(u32, u64)>,
    /// Requests whose data need some more time.
    #[serde(serialize_with = "in_order")]
    later: BinaryHeap<Reverse<(u64, u32)>>,
    /// The caller's completed requests, by its numbers.
    pub out: Vec<(u32, u64)>,
    pub times: [LinkTimes; 2],
}

/// Serializes a heap as a sorted list: equal heaps give equal bytes, whatever their history.
fn in_order<S: Serializer>(heap: &BinaryHeap<Reverse<(u64, u32)>>, to: S) -> Result<S::Ok, S::Error> {
    heap.clone().into_sorted_vec().serialize(to)
}

impl Links {
    /// Returns the end of the last request that is only delayed; 0 if no request is.
    pub fn latest_ns(&self) -> u64 {
        self.later.iter().map(|Reverse((time_ns, _))| *time_ns).max().unwrap_or(0)
    }

    /// Opens a request of the caller; returns its internal number.
    pub fn open(&mut self, request: u32, now: u64) -> u32 {
        self.open_inside(request * 2, now)
    }

    /// Opens an aside.
    pub fn open_aside(&mut self, now: u64) -> u32 {
        let aside = self.free_asides.pop().unwrap_or_else(|| {
            self.asides += 1;
            self.asides * 2 - 1
        });
        self.open_inside(aside, now)
    }

    fn open_inside(&mut self, number: u32, now: u64) -> u32 {
        let i = number as usize;
        if self.entries.len() <= i {
            let empty = Entry {
                left: 0,
                serial: 0,
                waiters: NONE,
                class: 0,
                opened_ns: 0,
                placed_ns: 0,
                flushed_ns: 0,
                delay_ns: 0,
            };
            self.entries.resize(i + 1, empty);
        }
        let e = &mut self.entries[i];
        let serial = e.serial.wrapping_add(1);
        *e = Entry { left: 1, serial, opened_ns: now, placed_ns: 0, flushed_ns: 0, delay_ns: 0, ..*e };
        number
    }

    /// Returns a handle of a request under way.
    pub fn handle(&self, number: u32) -> Handle {
        Handle { number: number + 1, serial: self.entries[number as usize].serial }
    }

    /// Delays the end of a request by `ns` after its last part, and counts its waits with class 0 or 1.
    pub fn shape(&mut self, number: u32, delay_ns: u64, class: u8) {
        let e = &mut self.entries[number as usize];
        (e.delay_ns, e.class) = (delay_ns, class);
    }

    /// Returns whether the request of a handle is still under way.
    pub fn pending(&self, handle: Handle) -> bool {
        handle.number > 0
            && self
                .entries
                .get(handle.number as usize - 1)
                .is_some_and(|e| e.left > 0 && e.serial == handle.serial)
    }

    /// Delays a request until that of the handle is done.
    pub fn wait(&mut self, number: u32, handle: Handle, reason: Reason) {
        if !self.pending(handle) || handle.number - 1 == number {
            return;
        }
        self.entries[number as usize].left += 1;
        let e = &mut self.entries[handle.number as usize - 1];
        let waiter = Waiter { number, reason, next: e.waiters };
        e.waiters = match self.free_waiters.pop() {
            Some(i) => {
                self.waiters[i as usize] = waiter;
                i
            }
            None => {
                self.waiters.push(waiter);
                self.waiters.len() as u32 - 1
            }
        };
    }

    /// Makes the request wait for all asides under way.
    pub fn wait_for_asides(&mut self, number: u32, reason: Reason) {
        for aside in (1..self.entries.len() as u32).step_by(2) {
            if self.entries[aside as usize].left > 0 {
                self.wait(number, self.handle(aside), reason);
            }
        }
    }

    /// Processes the operations that the schedule reports as done.
    #[inline(always)]
    pub fn settle(&mut self, done: &mut Vec<(u32, u64)>) {
        if !done.is_empty() {
            self.settle_all(done);
        }
    }

    fn settle_all(&mut self, done: &mut Vec<(u32, u64)>) {
        for (number, time) in done.drain(..) {
            self.todo.push((number, time));
            while let Some((number, time)) = self.todo.pop() {
                self.part_done(number, time);
            }
        }
    }

    fn part_done(&mut self, number: u32, time: u64) {
        let e = &mut self.entries[number as usize];
        e.left -= 1;
        if e.left > 0 {
            return;
        }
        let mut next = std::mem::replace(&mut e.waiters, NONE);
        let e = *e;
        while next != NONE {
            let w = self.waiters[next as usize];
            self.free_waiters.push(next);
            next = w.next;
            let waiting = &mut self.entries[w.number as usize];
            let at = match w.reason {
                Reason::Place => &mut waiting.placed_ns,
                Reason::Flushed => &mut waiting.flushed_ns,
            };
            *at = (*at).max(time);
            self.todo.push((w.number, time));
        }
        if number % 2 == 1 {
            self.free_asides.push(number);
            return;
        }
        let times = &mut self.times[usize::from(e.class)];
        let placed_ns = e.placed_ns.max(e.opened_ns);
        times.place_requests += u64::from(placed_ns > e.opened_ns);
        times.place_ns += placed_ns - e.opened_ns;
        times.flushed_requests += u64::from(e.flushed_ns > placed_ns);
        times.flushed_ns += e.flushed_ns.saturating_sub(placed_ns);
        match e.delay_ns {
            0 => self.out.push((number / 2, time)),
            delay => self.later.push(Reverse((time + delay, number / 2))),
        }
    }

    /// Returns the end of the next request that waits only for its delay.
    pub fn next_ns(&self) -> u64 {
        self.later.peek().map_or(u64::MAX, |Reverse((time, _))| *time)
    }

    /// Completes the requests whose delay has passed by `until`.
    pub fn pass(&mut self, until: u64) {
        while self.next_ns() <= until
            && let Some(Reverse((time, request))) = self.later.pop()
        {
            self.out.push((request, time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_stands_for_its_request_and_not_for_the_next_of_its_number() {
        let mut links = Links::default();
        let (first, second) = (links.open(0, 0), links.open(1, 5));
        let (of_first, of_second) = (links.handle(first), links.handle(second));
        assert!(links.pending(of_first) && links.pending(of_second));
        links.settle(&mut vec![(second, 10)]);
        assert!(links.pending(of_first) && !links.pending(of_second));
        let again = links.open(1, 20);
        assert!(!links.pending(of_second) && links.pending(links.handle(again)));
        assert!(!links.pending(Handle::default()));
    }

    #[test]
    fn a_request_is_done_with_what_it_waits_for() {
        let mut links = Links::default();
        let (first, second) = (links.open(0, 0), links.open(1, 5));
        links.wait(second, links.handle(first), Reason::Place);
        // Its own part is done, and all dependencies on earlier requests are resolved.
        links.settle(&mut vec![(second, 10)]);
        assert_eq!(links.out, []);
        links.settle(&mut vec![(first, 30)]);
        assert_eq!(links.out, [(0, 30), (1, 30)]);
        let times = LinkTimes { place_requests: 1, place_ns: 25, ..LinkTimes::default() };
        assert_eq!(links.times, [times, LinkTimes::default()]);
    }
}
