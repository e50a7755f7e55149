//! The source, and the position of a run in it.

use super::chunk::{Chunk, Counting};
use super::dispatching::Dispatching;
use crate::failure::another_trace;
use crate::plan::{Plan, Workload};
use floatgate_base::{Error, Place, RequestBatch, Result};
use floatgate_host::DispatchCounters;
use floatgate_trace::content::renew_content;
use floatgate_trace::period::Stamps;
use floatgate_trace::{Source, Summary};
use serde::{Deserialize, Serialize};

/// Position in the source, for a snapshot.
#[derive(Debug, Serialize, Deserialize)]
struct Position {
    /// Requests of this pass before the batch.
    before: u64,
    /// Requests of the batch.
    in_batch: u64,
    /// The next of them.
    next: u64,
    pass: u64,
    /// Digest of the requests of this pass, including those of the batch.
    digest: u64,
    /// Added to the stamps of this pass.
    shift_ns: i64,
    stamps: Stamps,
}

/// State of the stage in a snapshot.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedReading {
    position: Position,
    first_pass: Option<Summary>,
    dispatched: Option<DispatchCounters>,
}

/// Shifted stamps of served requests: of the first one, and the largest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub first_ns: i64,
    pub largest_ns: i64,
}

/// Position of a run in the source.
#[derive(Default)]
struct Cursor {
    batch: RequestBatch,
    /// Next request of the batch.
    next: usize,
    /// Requests of this pass before the batch.
    before: u64,
    pass: u64,
    /// Added to the stamps of this pass.
    shift_ns: i64,
    /// Stamps of the served requests of this pass.
    stamps: Stamps,
    /// Digest of the requests of this pass, including those of the batch.
    digest: u64,
}

/// The source of a run, and the position of the run in it.
pub(crate) struct Reading {
    source: Box<dyn Source>,
    /// Name of the trace, for errors; `synthetic` for a generator.
    path: String,
    /// Whether requests are digested: those of a trace, which may have changed when a run is resumed.
    digests: bool,
    at: Cursor,
    /// Whether each pass writes new content.
    renews_content: bool,
    /// The dispatcher, if it labels anything.
    dispatching: Option<Dispatching>,
    /// Observations of the source in the first pass.
    first_pass: Option<Summary>,
}

impl Reading {
    /// Creates the stage before the first request.
    pub fn new(plan: &Plan, source: Box<dyn Source>) -> Self {
        let (path, digests) = match &plan.workload.source {
            Workload::Trace { path, .. } => (path.clone(), true),
            Workload::Synthetic(_) => (String::from("synthetic"), false),
        };
        let renews_content = plan.workload.renews_content;
        let dispatching = Dispatching::of(plan.ftl.dispatch);
        let at = Cursor::default();
        Self { source, path, digests, renews_content, dispatching, at, first_pass: None }
    }

    pub fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }

    pub fn source_mut(&mut self) -> &mut dyn Source {
        self.source.as_mut()
    }

    /// Returns the current batch.
    pub fn batch(&self) -> &RequestBatch {
        &self.at.batch
    }

    /// Returns the number of complete passes.
    pub fn pass(&self) -> u64 {
        self.at.pass
    }

    /// Returns the served requests of this pass.
    pub fn done(&self) -> u64 {
        self.at.before + self.at.next as u64
    }

    /// Returns the observations of the source in the first pass; None before its end.
    pub fn first_pass(&self) -> Option<&Summary> {
        self.first_pass.as_ref()
    }

    /// Reads the next batch, which is empty at the end of a pass. Its requests may stay unserved.
    ///
    /// # Errors
    /// Input errors of the source.
    pub fn read_batch(&mut self) -> Result<&RequestBatch> {
        let at = &mut self.at;
        at.before += at.batch.len() as u64;
        at.batch.clear();
        at.next = 0;
        let len = self.dispatching.as_ref().map_or(RequestBatch::DEFAULT_LEN, Dispatching::batch_len);
        self.source.fill(&mut at.batch, len)?;
        if self.renews_content && at.pass > 0 {
            renew_content(&mut at.batch, at.pass);
        }
        Ok(&at.batch)
    }

    /// Returns the number of unserved requests of the batch; 0 at the end of a pass.
    ///
    /// # Errors
    /// Input errors of the source.
    pub fn ready(&mut self) -> Result<usize> {
        if self.at.next == self.at.batch.len() {
            self.read_batch()?;
            if let Some(dispatching) = &mut self.dispatching {
                dispatching.label(&mut self.at.batch);
            }
            if self.digests {
                self.at.digest = digest(self.at.digest, &self.at.batch);
            }
        }
        Ok(self.at.batch.len() - self.at.next)
    }

    /// Returns the next `n` requests of the batch.
    pub fn chunk(&self, n: usize, counting: Option<Counting>) -> Chunk<'_> {
        let Cursor { batch, next, before, shift_ns, .. } = &self.at;
        Chunk { batch, first: *next, end: next + n, before: *before, shift_ns: *shift_ns, counting }
    }

    /// Moves past the next `n` served requests, at least one; returns their stamps.
    pub fn advance(&mut self, n: usize) -> Span {
        let at = &mut self.at;
        let times = &at.batch.time_ns[at.next..at.next + n];
        let (first, largest) = (times[0], times.iter().copied().fold(i64::MIN, i64::max));
        if let Some(dispatching) = &mut self.dispatching {
            dispatching.count(&at.batch, (at.next, at.next + n));
        }
        at.next += n;
        at.stamps.note(times);
        let shifted = |stamp_ns: i64| stamp_ns.saturating_add(at.shift_ns);
        Span { first_ns: shifted(first), largest_ns: shifted(largest) }
    }

    /// Skips the next `n` requests of this pass without serving them.
    ///
    /// # Errors
    /// Input errors of the source.
    pub fn skip(&mut self, mut n: u64) -> Result<()> {
        while n > 0 {
            let ready = self.ready()? as u64;
            if ready == 0 {
                break;
            }
            self.advance(n.min(ready) as usize);
            n -= n.min(ready);
        }
        Ok(())
    }

    /// Ends a pass.
    ///
    /// # Errors
    /// It held no request, or its requests differ from those of the first pass.
    pub fn end_pass(&mut self) -> Result<()> {
        if self.at.before == 0 {
            return Err(Error::input(
                Place::Path(self.path.clone()),
                "the trace holds no request",
                "expected at least one read, write or TRIM",
            ));
        }
        let summary = self.source.summary();
        let first = self.first_pass.get_or_insert_with(|| summary.clone());
        // Only a resumed run reads the trace to this end for the first time in a later pass.
        if first.content_hash != summary.content_hash {
            return Err(another_trace(&self.path, self.at.before));
        }
        self.at.pass += 1;
        Ok(())
    }

    /// Resets the counts.
    pub fn reset_counts(&mut self) {
        if let Some(dispatching) = &mut self.dispatching {
            dispatching.counters = DispatchCounters::default();
        }
    }

    /// Returns the counts of the dispatcher, if it labels anything.
    pub fn dispatched(&self) -> Option<DispatchCounters> {
        self.dispatching.as_ref().map(|dispatching| dispatching.counters)
    }

    /// Stops the pass: the observations of the source so far are final.
    pub fn end_early(&mut self) {
        self.first_pass.get_or_insert_with(|| self.source.summary());
    }

    /// Begins the next pass, whose stamps continue one mean gap after this one.
    ///
    /// # Errors
    /// The source cannot be read again.
    pub fn next_pass(&mut self) -> Result<()> {
        self.source.rewind()?;
        self.dispatching.iter_mut().for_each(Dispatching::restart);
        let at = &mut self.at;
        (at.before, at.digest) = (0, 0);
        at.shift_ns = at.shift_ns.saturating_add_unsigned(at.stamps.period_ns());
        at.stamps = Stamps::default();
        Ok(())
    }

    /// Restarts at the first request of the first pass.
    ///
    /// # Errors
    /// The source cannot be read again.
    pub fn restart(&mut self) -> Result<()> {
        self.source.rewind()?;
        self.dispatching.iter_mut().for_each(Dispatching::restart);
        (self.at, self.first_pass) = (Cursor::default(), None);
        Ok(())
    }

    /// Returns the state for a snapshot. Destructured without `..`: the compiler rejects a forgotten field.
    pub fn saved(&self) -> SavedReading {
        let Self {
            at: Cursor { batch, next, before, pass, shift_ns, stamps, digest },
            first_pass,
            path,
            dispatching,
            // From the plan.
            source: _,
            digests: _,
            renews_content: _,
        } = self;
        let position = Position {
            before: *before,
            in_batch: batch.len() as u64,
            next: *next as u64,
            pass: *pass,
            digest: *digest,
            shift_ns: *shift_ns,
            stamps: *stamps,
        };
        SavedReading {
            position,
            first_pass: first_pass.clone().map(|summary| without_path(path, summary)),
            dispatched: dispatching.as_ref().map(|dispatching| dispatching.counters),
        }
    }

    /// Continues behind the requests of a snapshot, with a source that holds only those after them.
    ///
    /// # Errors
    /// None; it repositions like [`Reading::restore`].
    #[expect(clippy::unnecessary_wraps, reason = "stands in for `restore`")]
    pub fn go_on(&mut self, saved: SavedReading) -> Result<()> {
        let SavedReading { position, first_pass, dispatched } = saved;
        let Position { before, in_batch: _, next, pass, digest, shift_ns, stamps } = position;
        self.first_pass = first_pass;
        if let (Some(dispatching), Some(counters)) = (&mut self.dispatching, dispatched) {
            dispatching.counters = counters;
        }
        self.at = Cursor { before: before + next, pass, digest, shift_ns, stamps, ..Cursor::default() };
        Ok(())
    }

    /// Reads the source up to the batch in which a snapshot was taken.
    ///
    /// # Errors
    /// Input errors of the source; a changed workload.
    pub fn restore(&mut self, saved: SavedReading) -> Result<()> {
        let SavedReading { position, first_pass, dispatched } = saved;
        let Position { before, in_batch, next, pass, digest: expected, shift_ns, stamps } = position;
        self.first_pass = first_pass.map(|summary| with_path(&self.path, summary));
        let mut sum = 0;
        self.at.pass = pass;
        while self.at.before + (self.at.batch.len() as u64) < before + in_batch {
            if self.read_batch()?.is_empty() {
                break;
            }
            // A dispatcher may keep state from the previous window.
            if let Some(dispatching) = &mut self.dispatching {
                dispatching.label(&mut self.at.batch);
            }
            sum = digest(sum, &self.at.batch);
        }
        if let (Some(dispatching), Some(counters)) = (&mut self.dispatching, dispatched) {
            dispatching.counters = counters;
        }
        let read = (self.at.before, self.at.batch.len() as u64);
        if read != (before, in_batch) || next > in_batch || self.digests && sum != expected {
            let path = if self.digests { &self.path } else { "workload" };
            return Err(another_trace(path, before + in_batch));
        }
        let batch = std::mem::take(&mut self.at.batch);
        self.at = Cursor { batch, next: next as usize, before, pass, shift_ns, stamps, digest: expected };
        Ok(())
    }
}

/// Continues a digest from `seed` over the requests of a batch, to detect whether a trace has changed since the run
/// began. Four sums side by side, because each step waits for the previous one.
fn digest(seed: u64, batch: &RequestBatch) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let mut sums = [seed, !seed, 1, 2];
    for i in 0..batch.len() {
        let stream = u64::from(batch.stream.get(i).copied().unwrap_or(0));
        let device = u64::from(batch.device[i]);
        let small = stream << 32 | device << 16 | u64::from(batch.flags_of(i)) << 8 | batch.op[i] as u64;
        let words = [batch.time_ns[i] as u64, batch.offset[i], batch.bytes[i], small];
        sums = std::array::from_fn(|k| mix(sums[k], words[k]));
    }
    sums.into_iter().fold(batch.len() as u64, mix)
}

/// Removes the name of the trace from a summary; a resumed run may use another one.
fn without_path(path: &str, mut summary: Summary) -> Summary {
    if let Some(line) = &mut summary.first_bad_line
        && let Some(rest) = line.strip_prefix(path)
    {
        *line = rest.to_owned();
    }
    summary
}

/// Reverses [`without_path`].
fn with_path(path: &str, mut summary: Summary) -> Summary {
    if let Some(line) = &mut summary.first_bad_line {
        line.insert_str(0, path);
    }
    summary
}
