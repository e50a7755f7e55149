//! The operations waiting at a die: one queue per class, served in order within a class.

use floatgate_base::Ppn;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// No request waits for the operation.
pub(super) const NO_REQUEST: u32 = u32::MAX;
/// From this number on, numbers of requests are those of barriers: operations of a job for which its erases wait on
/// other dies.
pub(super) const BARRIER: u32 = 1 << 31;

/// The origin of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Job {
    /// A host request.
    Host = 0,
    /// A job on which a host write depends.
    Foreground = 1,
    /// A job in idle time.
    Background = 2,
}

/// The kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub(super) enum Kind {
    /// Array read, then data out.
    Read = 0,
    /// Data in, then array program.
    Program = 1,
    /// Erase of one block.
    Erase = 2,
    /// Array read, data out, data in, array program, all on one die.
    Copy = 3,
}

/// An operation of another die that must be done before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Far {
    pub die: u32,
    pub class: u8,
    /// 0 for none.
    pub ticket: u64,
}

/// A pending ticket by its low 31 bits. Far fewer than 2^30 operations are under way at a die, so the bits show whether
/// it is done meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Due(u32);

impl Due {
    /// Stores a ticket; one that is already done leaves nothing to wait for.
    #[inline(always)]
    pub fn of(ticket: u64, done: u64) -> Self {
        if ticket <= done { Self(0) } else { Self((ticket as u32) << 1 | 1) }
    }

    /// Returns its distance from the last ticket done; 0 or less if it is done.
    #[inline(always)]
    pub fn ahead(self, done: u64) -> i32 {
        ((self.0 >> 1).wrapping_sub(done as u32) << 1).cast_signed() >> 1
    }

    /// Returns whether it is still pending.
    #[inline(always)]
    pub fn pending(self, done: u64) -> bool {
        self.0 != 0 && self.ahead(done) > 0
    }

    /// Returns the whole ticket while it is pending; 0 afterwards.
    pub fn ticket(self, done: u64) -> u64 {
        if self.pending(done) { done.wrapping_add_signed(i64::from(self.ahead(done))) } else { 0 }
    }
}

/// An operation that waits or is under way: one cache line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Op {
    pub issued_ns: u64,
    /// Time that the die had spent on foreground and background jobs at the issue.
    pub jobs_ns: [u64; 2],
    /// The page read or programmed; for a copy the page programmed.
    pub ppn: Ppn,
    /// The host request that waits for it. For a program that moves a page to another die, its barrier; for an erase,
    /// the barrier for which it waits.
    pub request: u32,
    /// Low half of its number in the order of issue.
    pub order: u32,
    /// Predecessors at this die: in the two other classes, in the order of [`Class::others`].
    pub after: [Due; 2],
    /// The previous program of this block and class.
    pub previous: Due,
    /// Predecessor at another die: die, class and ticket; or the number of a join (`joins.rs`). A copy waits for no
    /// other die: here it stores the moves that follow it in its row (`rows.rs`).
    pub far_die: u32,
    pub far: Due,
    pub far_class: u8,
    pub kind: Kind,
    /// Cause as a number.
    pub cause: u8,
    pub job: Job,
    /// Rows of the array times of the page programmed, and of the page read.
    pub row: u8,
    pub read_row: u8,
    /// Plane in its die; known if multi-plane commands are enabled.
    pub plane: u8,
    /// For a read: pages of the map that leave the die. For a copy: 1 if source and destination lie in one plane, else
    /// 0.
    pub pages: u8,
    #[cfg(test)]
    #[serde(skip)]
    pub started_ns: u64,
}

#[cfg(not(test))]
const _: () = assert!(size_of::<Op>() == 64);

impl Op {
    /// Returns the moves that follow this one in its row, to the next pages and with the next tickets.
    #[inline(always)]
    pub fn more(&self) -> u32 {
        if self.kind == Kind::Copy { self.far_die } else { 0 }
    }
}

/// Operations of one class at one die. Tickets count from 1 in the order of issue, which is that of completion.
///
/// Operations stay here until they are done: the first `started` are under way. A row of moves is one operation. While
/// it is under way, so is its first move; completed moves are removed from the row.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Queue {
    ops: VecDeque<Op>,
    started: usize,
    issued: u64,
    pub done: u64,
    /// Whether the queue may contain rows.
    has_rows: bool,
    /// If so: ticket of the last move of each operation.
    ends: VecDeque<u64>,
    /// For rows on drives with page types: the rows of the array times of the pages read after the first.
    pub reads: VecDeque<u8>,
}

impl Queue {
    /// Creates an empty queue that may contain rows.
    pub fn with_rows() -> Self {
        Self { has_rows: true, ..Self::default() }
    }

    /// Appends an operation and returns its ticket; for a row, that of its last move.
    #[inline(always)]
    pub fn push(&mut self, op: Op) -> u64 {
        self.issued += 1 + u64::from(op.more());
        if self.has_rows {
            self.ends.push_back(self.issued);
        }
        self.ops.push_back(op);
        self.issued
    }

    /// Returns whether no operation waits or is under way.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Returns the number of operations that wait or are under way.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Returns the number of operations under way.
    #[inline(always)]
    pub fn started(&self) -> usize {
        self.started
    }

    /// Returns the ticket of the latest pending operation for which `is_it` holds; 0 for none.
    pub fn last(&self, is_it: impl Fn(&Op) -> bool) -> u64 {
        self.ops.iter().rposition(is_it).map_or(0, |i| self.done + 1 + i as u64)
    }

    /// Returns the `n`th waiting operation.
    #[inline(always)]
    pub fn waiting(&self, n: usize) -> Option<&Op> {
        self.ops.get(self.started + n)
    }

    /// Removes the dependency of the `n`th waiting operation on another die.
    pub fn forget_far(&mut self, n: usize) {
        let op = &mut self.ops[self.started + n];
        (op.far, op.far_class, op.far_die) = (Due::default(), 0, 0);
    }

    /// Makes the `n`th waiting operation of the background wait for a read.
    pub fn follow_read(&mut self, n: usize, read: Due) {
        self.ops[self.started + n].after[0] = read;
    }

    /// Starts the first `n` waiting operations.
    #[inline(always)]
    pub fn start(&mut self, n: usize, _now: u64) {
        #[cfg(test)]
        self.ops.range_mut(self.started..self.started + n).for_each(|op| op.started_ns = _now);
        self.started += n;
    }

    /// Starts the operations loaded into the register in the array.
    #[cfg(test)]
    pub fn start_anew(&mut self, n: usize, now: u64) {
        self.ops.range_mut(..n).for_each(|op| op.started_ns = now);
    }

    /// Returns the `n`th operation under way.
    #[inline(always)]
    pub fn under_way(&self, n: usize) -> &Op {
        &self.ops[n]
    }

    /// Completes the first operation under way; of a row its first move, and the others wait. Pages have `page_types`
    /// types. Returns the request that waits for it.
    #[inline(always)]
    pub fn finish(&mut self, page_types: u32) -> u32 {
        self.started -= 1;
        if self.has_rows {
            let op = &self.ops[0];
            if op.more() > 0 {
                let request = op.request;
                self.advance(1, page_types);
                return request;
            }
            self.ends.pop_front();
        }
        self.done += 1;
        self.ops.pop_front().map_or(NO_REQUEST, |op| op.request)
    }

    /// Completes the first `n` moves of the row at the head, which keeps the remaining ones. Pages have `page_types`
    /// types.
    #[inline(always)]
    pub fn advance(&mut self, n: u32, page_types: u32) -> &Op {
        let op = &mut self.ops[0];
        debug_assert!(op.more() >= n);
        op.ppn += n;
        op.order = op.order.wrapping_add(n);
        op.far_die -= n;
        self.done += u64::from(n);
        if page_types > 1 {
            op.row = row_after(op.row, n, page_types);
            op.read_row = self.reads[n as usize - 1];
            self.reads.drain(..n as usize);
        }
        op
    }

    /// Returns the operation of a pending ticket, and the ticket of its last move.
    #[inline(always)]
    fn of_ticket(&self, ticket: u64) -> (&Op, u64) {
        if !self.has_rows {
            return (&self.ops[(ticket - self.done - 1) as usize], ticket);
        }
        let place = self.ends.partition_point(|&end| end < ticket);
        (&self.ops[place], self.ends[place])
    }

    /// Lists the operations that wait or are under way, with tickets and with the moves of rows one by one, as it would
    /// be without rows.
    #[cfg(test)]
    pub fn one_by_one(&self, page_types: u32) -> Vec<(u64, Op)> {
        let mut queue = self.clone();
        let mut all = Vec::new();
        for place in 0..self.ops.len() {
            let more = queue.ops[0].more();
            for n in 0..=more {
                let previous =
                    if n > 0 { Due::of(queue.done, queue.done - 1) } else { queue.ops[0].previous };
                all.push((queue.done + 1, Op { far_die: 0, previous, ..queue.ops[0] }));
                queue.started = 1;
                queue.finish(page_types);
            }
            debug_assert_eq!(queue.ops.len(), self.ops.len() - place - 1);
        }
        all
    }

    /// Returns the ticket of the unfinished program of a page, starting from the newest program of its block; 0 for
    /// none. Follows the block's programs backwards, so it takes at most as many steps as a block has pages, however
    /// long the queue.
    pub fn program_of(&self, ppn: Ppn, newest: u64) -> u64 {
        self.program_of_those(ppn, newest, |_| true)
    }

    /// Returns the same of the programs issued before the operation of this number.
    pub fn program_before(&self, ppn: Ppn, newest: u64, order: u32) -> u64 {
        self.program_of_those(ppn, newest, |of| of.wrapping_sub(order).cast_signed() < 0)
    }

    #[inline(always)]
    fn program_of_those(&self, ppn: Ppn, newest: u64, is_one: impl Fn(u32) -> bool) -> u64 {
        let mut ticket = newest;
        while ticket > self.done {
            let (op, end) = self.of_ticket(ticket);
            let (place, more) = (ppn.0.wrapping_sub(op.ppn.0), op.more());
            if place <= more && is_one(op.order.wrapping_add(place)) {
                return end - u64::from(more - place);
            }
            ticket = op.previous.ticket(self.done);
        }
        0
    }

    /// Returns the number of a pending operation in the order of issue.
    pub fn order_of(&self, ticket: u64) -> u32 {
        let (op, end) = self.of_ticket(ticket);
        op.order.wrapping_add(op.more() - (end - ticket) as u32)
    }
}

/// Returns the row of the array times of the `n`th page after one of this row, in the same block.
#[inline(always)]
pub(super) fn row_after(row: u8, n: u32, page_types: u32) -> u8 {
    let page_type = u32::from(row) % page_types;
    (u32::from(row) - page_type + (page_type + n) % page_types) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noted_ticket_is_due_until_it_is_done() {
        for done in [0, 5, (1 << 31) - 2, (1 << 32) - 2, (1 << 32) - 1, 7 << 33] {
            assert_eq!(Due::of(done, done), Due::default());
            for ahead in [1, 2, 3, 1000, 1 << 29] {
                let due = Due::of(done + ahead, done);
                assert!(due.pending(done) && due.ticket(done) == done + ahead, "{done} {ahead}");
                assert!(due.pending(done + ahead - 1) && due.ticket(done + ahead - 1) == done + ahead);
                for later in [0, 1, 1 << 20] {
                    assert!(!due.pending(done + ahead + later) && due.ticket(done + ahead + later) == 0);
                }
            }
        }
        assert!(!Due::default().pending(0));
    }
}
