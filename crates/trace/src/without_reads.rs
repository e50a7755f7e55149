//! A workload without its reads, for callers that count programs: a trace with few writes is then repeated very fast.
//!
//! The requests of a short workload are kept in memory after the first pass; in a long one the reads are only left out.
//! A read with a flush stays, because of the flush.

use crate::intake::Trail;
use crate::source::Source;
use floatgate_base::{Op, RequestBatch, Result};

/// Most requests to keep.
const KEPT_MAX: usize = 1 << 20;

/// A source without its reads.
pub struct WithoutReads {
    inner: Box<dyn Source>,
    /// Requests read from the source, the next of them, and the number before them.
    ahead: RequestBatch,
    next: usize,
    before: u64,
    /// The requests of this pass so far and their numbers among all, as long as they are few.
    kept: RequestBatch,
    numbers: Vec<u64>,
    keeps: bool,
    /// Once a whole pass is kept: its next request.
    again: Option<usize>,
    /// Requests returned in this pass, and the numbers of those of the last batch.
    made: u64,
    trail: Trail,
}

/// Returns whether a request stays.
#[inline]
#[must_use]
pub fn stays(batch: &RequestBatch, i: usize) -> bool {
    batch.op[i] != Op::Read || batch.flags.get(i).is_some_and(|&flags| flags != 0)
}

impl WithoutReads {
    /// Removes the reads of a source.
    #[must_use]
    pub fn new(inner: Box<dyn Source>) -> Self {
        Self {
            inner,
            ahead: RequestBatch::default(),
            next: 0,
            before: 0,
            kept: RequestBatch::default(),
            numbers: Vec::new(),
            keeps: true,
            again: None,
            made: 0,
            trail: Trail::default(),
        }
    }

    /// Returns the next request of the source that stays; none at its end.
    fn take(&mut self) -> Result<Option<usize>> {
        loop {
            while self.next < self.ahead.len() {
                self.next += 1;
                if stays(&self.ahead, self.next - 1) {
                    return Ok(Some(self.next - 1));
                }
            }
            self.before += self.ahead.len() as u64;
            self.ahead.clear();
            self.next = 0;
            self.inner.fill(&mut self.ahead, RequestBatch::DEFAULT_LEN)?;
            if self.ahead.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Appends a request that was read.
    fn hand_out(&mut self, i: usize, batch: &mut RequestBatch) {
        let (number, stamp_ns) = (self.before + i as u64, self.ahead.time_ns[i]);
        batch.push_of(&self.ahead, i, stamp_ns);
        self.trail.places.push(number);
        if self.keeps {
            self.kept.push_of(&self.ahead, i, stamp_ns);
            self.numbers.push(number);
            if self.kept.len() == KEPT_MAX {
                (self.keeps, self.kept, self.numbers) = (false, RequestBatch::default(), Vec::new());
            }
        }
        self.made += 1;
    }
}

impl Source for WithoutReads {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        if let Some(next) = &mut self.again {
            let end = (*next + max).min(self.kept.len());
            (*next..end).for_each(|i| batch.push_of(&self.kept, i, self.kept.time_ns[i]));
            *next = end;
            return Ok(());
        }
        self.trail.first_request = self.made;
        self.trail.places.clear();
        for _ in 0..max {
            let Some(i) = self.take()? else {
                self.again = self.keeps.then_some(self.kept.len());
                break;
            };
            self.hand_out(i, batch);
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        if let Some(next) = &mut self.again {
            *next = 0;
            return Ok(());
        }
        self.inner.rewind()?;
        self.ahead.clear();
        self.kept.clear();
        self.numbers.clear();
        (self.next, self.before, self.made, self.trail) = (0, 0, 0, Trail::default());
        Ok(())
    }

    fn place_of(&self, index: u64) -> String {
        let kept = || self.numbers.get(usize::try_from(index).ok()?).copied();
        self.inner.place_of(self.trail.of(index).or_else(kept).unwrap_or(index))
    }

    crate::forward_to_inner!(
        format,
        devices,
        summary,
        assumed,
        has_times,
        columns,
        contexts,
        writers,
        writer_fields,
        slice_report
    );
}
