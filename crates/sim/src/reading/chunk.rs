//! Consecutive requests of a batch, which pass the stages together.

use floatgate_base::{Op, RequestBatch};
use floatgate_host::Request;
use std::ops::Range;

/// State of counting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counting {
    /// Requests counted before.
    pub counted: u64,
    /// Shifted stamp of the first counted request; None before it.
    pub from_ns: Option<i64>,
}

/// Position of a request, for error messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestAt {
    /// Index from 0, in its pass over the source.
    pub index: u64,
    /// Number from 1, of the counted ones; in the warm-up of its pass.
    pub number: u64,
    /// Its shifted stamp.
    pub stamp_ns: i64,
}

impl From<&Request> for RequestAt {
    fn from(request: &Request) -> Self {
        Self { index: request.index, number: request.number, stamp_ns: request.stamp_ns }
    }
}

/// The requests `first..end` of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    pub batch: &'a RequestBatch,
    pub first: usize,
    pub end: usize,
    /// Requests of this pass before the batch.
    pub before: u64,
    /// Added to the stamps of this pass.
    pub shift_ns: i64,
    /// Present while requests count.
    pub counting: Option<Counting>,
}

impl Chunk<'_> {
    pub fn len(&self) -> usize {
        self.end - self.first
    }

    /// Returns a part of its requests.
    pub fn part(&self, range: Range<usize>) -> Self {
        let before = (range.start - self.first) as u64;
        let counting = self.counting.map(|counting| Counting {
            counted: counting.counted + before,
            from_ns: Some(self.first_counted_ns()),
        });
        Self { first: range.start, end: range.end, counting, ..*self }
    }

    pub fn range(&self) -> Range<usize> {
        self.first..self.end
    }

    /// Returns the shifted stamp of request `i` of the batch.
    #[inline(always)]
    pub fn stamp_ns(&self, i: usize) -> i64 {
        self.batch.time_ns[i].saturating_add(self.shift_ns)
    }

    #[inline(always)]
    pub fn op(&self, i: usize) -> Op {
        self.batch.op[i]
    }

    #[inline(always)]
    pub fn flags(&self, i: usize) -> u8 {
        self.batch.flags_of(i)
    }

    /// Returns the shifted stamp of the first counted request, or else of the chunk's first one.
    pub fn first_counted_ns(&self) -> i64 {
        self.counting.and_then(|counting| counting.from_ns).unwrap_or_else(|| self.stamp_ns(self.first))
    }

    /// Returns the position of request `i` of the batch.
    pub fn at(&self, i: usize) -> RequestAt {
        let index = self.before + i as u64;
        let before = self.counting.map_or(index, |counting| counting.counted + (i - self.first) as u64);
        RequestAt { index, number: before + 1, stamp_ns: self.stamp_ns(i) }
    }

    /// Returns request `i` of the batch, with its arrival and its entry, in a queue.
    pub fn request(&self, i: usize, queue: u16, (arrival_ns, entry_ns): (u64, u64)) -> Request {
        let RequestAt { index, number, stamp_ns } = self.at(i);
        let batch = self.batch;
        Request {
            number,
            index,
            stamp_ns,
            arrival_ns,
            entry_ns,
            op: batch.op[i],
            flags: batch.flags_of(i),
            device: batch.device[i],
            offset: batch.offset[i],
            bytes: batch.bytes[i],
            queue,
        }
    }
}
