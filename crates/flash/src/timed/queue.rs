//! What waits at a die: one queue for each class, served in order within a class.

use floatgate_base::Ppn;
use std::collections::VecDeque;

/// No request waits for the operation.
pub(super) const NO_REQUEST: u32 = u32::MAX;

/// Who waits for an operation; the default order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Host reads, those of read-modify-writes included.
    Read = 0,
    /// Host writes.
    Write = 1,
    /// Moves and erases of background jobs.
    Background = 2,
}

impl Class {
    /// All classes, the most preferred first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Background];

    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["read", "write", "background"][self as usize]
    }
}

/// What the die does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Array read, then data out.
    Read,
    /// Data in, then array program.
    Program,
    /// Array read, data out, data in, array program, all on one die.
    Copy,
    /// Erase of one block.
    Erase,
}

/// An operation of another die that must be done before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Far {
    pub die: u32,
    pub class: u8,
    /// 0 for none.
    pub ticket: u64,
}

/// An operation that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub kind: Kind,
    /// The page read or programmed; of a copy the page programmed.
    pub ppn: Ppn,
    /// The host request that waits for it.
    pub request: u32,
    pub issued_ns: u64,
    /// Time that the die had spent on background work when this was issued.
    pub background_ns: u64,
    /// Tickets of this die, by class, that must be done before; 0 for none.
    pub after: [u64; 3],
    pub far: Far,
    /// Ticket of the program of this block and class before this one; 0 for none.
    pub previous: u64,
}

/// Operations of one class at one die. Tickets count from 1 in the order of issue, which is that of completion.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Op>,
    issued: u64,
    pub done: u64,
}

impl Queue {
    /// Appends an operation and gives its ticket.
    #[inline(always)]
    pub fn push(&mut self, op: Op) -> u64 {
        self.waiting.push_back(op);
        self.issued += 1;
        self.issued
    }

    /// Ticket of the operation issued last.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    #[inline(always)]
    pub fn head(&self) -> Option<&Op> {
        self.waiting.front()
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<Op> {
        self.waiting.pop_front()
    }

    /// Ticket of the unfinished program of a page, given the ticket of the newest program of its block; 0 for none.
    /// Follows the block's programs backwards, so it takes at most as many steps as a block has pages, however long
    /// the queue.
    pub fn program_of(&self, ppn: Ppn, newest: u64, current: Option<&Op>) -> u64 {
        let started = self.issued - self.waiting.len() as u64;
        let mut ticket = newest;
        while ticket > self.done {
            let op =
                if ticket > started { self.waiting.get((ticket - started - 1) as usize) } else { current };
            match op {
                Some(op) if op.ppn == ppn => return ticket,
                Some(op) => ticket = op.previous,
                None => break,
            }
        }
        0
    }
}
