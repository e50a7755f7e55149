//! A workload that ends after a number of written bytes, like a replayer with such a limit (RB-Explorer, section 5.3).
//! It may begin where another one ended.
//!
//! The request that reaches the limit is the last one; requests before the beginning are skipped. A trace that ends
//! earlier is repeated, with stamps that continue one mean gap after the previous pass (`period.rs`).

use crate::content::renew_content;
use crate::period::Stamps;
use crate::source::{Source, Summary};
use floatgate_base::{Error, Op, Place, RequestBatch, Result};

/// Beginning and end of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// Bytes written before it begins; the request that reaches them is the last one skipped.
    pub passed_bytes: u64,
    /// Bytes to write.
    pub written_bytes: u64,
    /// Requests before the first whose bytes count.
    pub warmup_requests: u64,
    /// Whether the workload is repeated if it ends earlier.
    pub again: bool,
    /// Whether each pass writes content of its own.
    pub renews_content: bool,
}

/// A source that ends after a number of written bytes.
pub struct UntilWritten {
    inner: Box<dyn Source>,
    until: Until,
    /// Requests read from the source, and the next of them.
    ahead: RequestBatch,
    next: usize,
    /// Requests skipped, and the bytes that they write.
    passed: u64,
    passed_bytes: u64,
    /// Requests returned.
    made: u64,
    /// By pass, the number of its first request, including skipped ones.
    starts: Vec<u64>,
    /// Stamp of the first request returned, from which stamps count if any requests were skipped.
    begun_ns: i64,
    /// Bytes that count, and those of this pass.
    written: u64,
    written_in_pass: u64,
    /// Offset of the stamps of this pass, and the stamps.
    shift_ns: i64,
    stamps: Stamps,
    /// Summary of the first pass, once it is over.
    first: Option<Summary>,
}

impl UntilWritten {
    /// Limits a source at its beginning.
    #[must_use]
    pub fn new(inner: Box<dyn Source>, until: Until) -> Self {
        Self {
            inner,
            until,
            ahead: RequestBatch::default(),
            next: 0,
            passed: 0,
            passed_bytes: 0,
            made: 0,
            starts: vec![0],
            begun_ns: 0,
            written: 0,
            written_in_pass: 0,
            shift_ns: 0,
            stamps: Stamps::default(),
            first: None,
        }
    }

    /// Reads more, in another pass if one is over; returns false at the end.
    fn read_on(&mut self, max: usize) -> Result<bool> {
        self.next = 0;
        self.ahead.clear();
        self.inner.fill(&mut self.ahead, max)?;
        if self.ahead.is_empty() {
            if !self.until.again || self.passed + self.made == 0 {
                return Ok(false);
            }
            self.begin_again()?;
            self.inner.fill(&mut self.ahead, max)?;
        }
        if self.until.renews_content && self.starts.len() > 1 {
            renew_content(&mut self.ahead, self.starts.len() as u64 - 1);
        }
        Ok(true)
    }

    fn begin_again(&mut self) -> Result<()> {
        if self.written_in_pass == 0 {
            let what = "the workload writes nothing and would never end";
            let place = Place::Setting("workload.stop_after".into());
            return Err(Error::input(
                place,
                what,
                "expected a workload with writes; otherwise remove the key",
            ));
        }
        self.first.get_or_insert(self.inner.summary());
        self.inner.rewind()?;
        self.starts.push(self.passed + self.made);
        self.shift_ns = self.shift_ns.saturating_add_unsigned(self.stamps.period_ns());
        (self.written_in_pass, self.stamps) = (0, Stamps::default());
        Ok(())
    }

    /// Takes the next request that was read: its index, its stamp, and the bytes that it writes.
    fn take(&mut self) -> (usize, i64, u64) {
        let i = self.next;
        let stamp_ns = self.ahead.time_ns[i];
        self.stamps.note(&[stamp_ns]);
        let bytes = if self.ahead.op[i] == Op::Write { self.ahead.bytes[i] } else { 0 };
        self.written_in_pass = self.written_in_pass.saturating_add(bytes);
        self.next += 1;
        (i, stamp_ns.saturating_add(self.shift_ns), bytes)
    }

    /// Skips requests before the beginning, as far as they were read.
    fn pass_over(&mut self) {
        while self.next < self.ahead.len() && self.passed_bytes < self.until.passed_bytes {
            let (.., bytes) = self.take();
            self.passed_bytes = self.passed_bytes.saturating_add(bytes);
            self.passed += 1;
        }
    }

    /// Appends the next request that was read.
    fn hand_out(&mut self, batch: &mut RequestBatch) {
        let (i, stamp_ns, bytes) = self.take();
        if self.made == 0 && self.passed > 0 {
            self.begun_ns = stamp_ns;
        }
        batch.push_of(&self.ahead, i, stamp_ns.saturating_sub(self.begun_ns));
        if self.made >= self.until.warmup_requests {
            self.written = self.written.saturating_add(bytes);
        }
        self.made += 1;
    }
}

impl Source for UntilWritten {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        let mut left = max;
        while left > 0 && self.written < self.until.written_bytes {
            if self.next == self.ahead.len() && !self.read_on(left)? {
                break;
            }
            if self.passed_bytes < self.until.passed_bytes {
                self.pass_over();
                continue;
            }
            self.hand_out(batch);
            left -= 1;
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.inner.rewind()?;
        self.ahead.clear();
        self.starts.truncate(1);
        (self.passed, self.passed_bytes, self.begun_ns) = (0, 0, 0);
        (self.next, self.made, self.written, self.written_in_pass) = (0, 0, 0, 0);
        (self.shift_ns, self.stamps, self.first) = (0, Stamps::default(), None);
        Ok(())
    }

    fn summary(&self) -> Summary {
        self.first.clone().unwrap_or_else(|| self.inner.summary())
    }

    fn place_of(&self, index: u64) -> String {
        let index = self.passed + index;
        let pass = self.starts.partition_point(|&start| start <= index);
        self.inner.place_of(index - self.starts[pass - 1])
    }

    crate::forward_to_inner!(
        format,
        devices,
        assumed,
        has_times,
        columns,
        contexts,
        writers,
        writer_fields,
        slice_report
    );
}
