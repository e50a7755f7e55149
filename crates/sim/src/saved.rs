//! A run in the middle of its work, to a snapshot and back.
//!
//! What follows from the plan is made again; the source is opened again and read up to where the run was; all else is
//! written. Every struct that owns state is taken apart without `..`: state that is added later does not compile until
//! it is said here what becomes of it.

use crate::device::{Phase, Simulation, Stream, splitter_for};
use crate::plan::{Plan, Workload};
use crate::precondition::{Preparation, SavedPreparation};
use crate::throttled::{SavedThrottled, Throttled, setup};
use floatgate_base::{Error, Place, RequestBatch, Result};
use floatgate_snapshot::{Reader, Writer, damaged};
use floatgate_trace::Summary;
use std::io::{self, Read, Write};

/// Version of what the sections of an interrupted run hold; goes up whenever a type that is written changes.
pub const STATE_VERSION: u32 = 11;

/// Where in the source a run is: requests of this pass before the batch, requests of the batch, the next of them, the
/// pass, digest.
type Position = (u64, u64, u64, u64, u64);

/// Goes on from `seed` over the requests of a batch: whether a trace is still the one that a run was given. Four sums
/// side by side, because each step waits for the one before.
pub(crate) fn digest(seed: u64, batch: &RequestBatch) -> u64 {
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

impl Simulation {
    /// Writes all that a run needs to go on as if it had never stopped.
    ///
    /// # Errors
    /// Those of the file.
    ///
    /// # Panics
    /// Under the shadow model and with a log of requests, which are not written.
    pub fn save<W: Write>(&self, out: &mut Writer<W>) -> io::Result<()> {
        let Self {
            ftl,
            array,
            buffered,
            splitter,
            footprint,
            ends,
            preparation,
            snapshot_hash,
            phase,
            stream,
            served,
            counted,
            next_audit,
            series,
            first_pass,
            clock,
            queues,
            throttled,
            // Made again from the plan, or empty between two steps.
            plan,
            source: _,
            extents: _,
            runs: _,
            request_ends: _,
            fetched: _,
            // The workload is read again.
            foreseeing: _,
            foresight: _,
            // Of a whole life, which nobody interrupts.
            life: _,
            // What took the rows so far cannot be taken up again.
            log,
        } = self;
        let Stream { batch, cursor, before, pass, shift_ns, last_ns, counted_from_ns, counted_to_ns, digest } =
            stream;
        assert!(log.is_none(), "a log of requests has no place in snapshots");
        assert!(!plan.shadow, "the shadow model has no place in snapshots");
        out.state("phase", &(phase, ends))?;
        if *phase == Phase::Scan {
            // Nothing is done yet that would be worth keeping.
            return Ok(());
        }
        let position: Position = (*before, batch.len() as u64, *cursor as u64, *pass, *digest);
        out.state("position", &(position, [shift_ns, last_ns, counted_to_ns], counted_from_ns))?;
        out.state("counts", &(splitter.counters(), splitter.requests_moved, served, counted, next_audit))?;
        out.state("series", series)?;
        out.state("trace", &(first_pass.as_ref().map(|s| without_path(plan, s.clone())), snapshot_hash))?;
        out.state("preparation", &preparation.as_ref().map(|p| p.saved()))?;
        out.long_words("footprint", footprint.as_ref().map_or(&[], |f| f.words()))?;
        ftl.save(out)?;
        out.state("flash", &array.counts().saved())?;
        out.state("rest", array.counts().rest())?;
        if let Some(timed) = array.timed() {
            out.state("under way", &timed.saved())?;
        }
        if let Some(buffered) = buffered {
            out.state("buffer", &buffered.saved())?;
        }
        out.state("clock", &(clock, queues))?;
        out.state("throttle", &throttled.as_ref().map(Throttled::saved))
    }

    /// The run that was written, for the same plan.
    ///
    /// # Errors
    /// A damaged file; a trace that cannot be opened, or is another one now.
    pub fn resume<R: Read>(plan: Plan, from: &mut Reader<R>) -> Result<Self> {
        let mut run = Self::new(plan)?;
        let ends;
        (run.phase, ends) = from.state("phase")?;
        if run.phase == Phase::Scan {
            return Self::new(run.plan);
        }
        run.ends = ends;
        run.splitter = splitter_for(&run.plan, run.ends.as_deref().unwrap_or_default());
        run.foresee_again()?;
        let position: Position;
        let stream = &mut run.stream;
        (position, [stream.shift_ns, stream.last_ns, stream.counted_to_ns], stream.counted_from_ns) =
            from.state("position")?;
        let (counters, moved);
        (counters, moved, run.served, run.counted, run.next_audit) = from.state("counts")?;
        run.splitter.restore(counters, moved);
        run.series = from.state("series")?;
        let first_pass: Option<Summary>;
        (first_pass, run.snapshot_hash) = from.state("trace")?;
        run.first_pass = first_pass.map(|summary| with_path(&run.plan, summary));
        run.resume_preparation(from)?;
        if let Some(footprint) = &mut run.footprint {
            from.long_words("footprint", footprint.words_mut())?;
            footprint.recount();
        } else {
            from.long_words("footprint", &mut [])?;
        }
        run.ftl.restore(from)?;
        run.recall_foresight();
        let unfit = damaged(from.path(), 0, "the snapshot is damaged: its array or buffer is another one");
        let counts = run.array.counts_mut();
        if !counts.restore(from.state("flash")?) || !counts.restore_rest(from.state("rest")?) {
            return Err(unfit);
        }
        run.ftl.learn_wear(run.array.erase_counts());
        if let Some(timed) = run.array.timed_mut()
            && !timed.restore(from.state("under way")?)
        {
            return Err(unfit);
        }
        if let Some(buffered) = &mut run.buffered
            && !buffered.restore(from.state("buffer")?)
        {
            return Err(unfit);
        }
        (run.clock, run.queues) = from.state("clock")?;
        let throttled: Option<SavedThrottled> = from.state("throttle")?;
        if let Some(saved) = throttled {
            run.start_throttle();
            match &mut run.throttled {
                Some(throttled) => throttled.restore(setup(&run.plan, 0.0, 0.0), saved),
                None => {
                    return Err(damaged(from.path(), 0, "the snapshot is damaged: it has another throttle"));
                }
            }
        }
        run.seek(position)?;
        Ok(run)
    }

    fn resume_preparation<R: Read>(&mut self, from: &mut Reader<R>) -> Result<()> {
        let saved: Option<SavedPreparation> = from.state("preparation")?;
        if saved.is_some() && self.preparation.is_none() {
            self.preparation = Preparation::new(&self.plan)?;
        }
        let fits = match (&mut self.preparation, saved) {
            (Some(preparation), Some(saved)) => preparation.restore(saved),
            (preparation, None) => {
                *preparation = None;
                true
            }
            (None, Some(_)) => false,
        };
        match fits {
            true => Ok(()),
            false => {
                Err(damaged(from.path(), 0, "the snapshot is damaged: its drive was prepared otherwise"))
            }
        }
    }

    /// Reads the source up to the batch that the run was in.
    fn seek(&mut self, (before, in_batch, cursor, pass, expected): Position) -> Result<()> {
        let trace = self.footprint.is_some();
        let stream = &mut self.stream;
        (stream.before, stream.pass, stream.cursor) = (before, pass, cursor as usize);
        let mut sum = 0;
        let mut done = 0;
        while done < before + in_batch {
            stream.batch.clear();
            self.source.fill(&mut stream.batch, RequestBatch::DEFAULT_LEN)?;
            done += stream.batch.len() as u64;
            if trace {
                sum = digest(sum, &stream.batch);
            }
            if stream.batch.is_empty() {
                break;
            }
        }
        stream.digest = expected;
        let same = done == before + in_batch
            && stream.batch.len() as u64 == in_batch
            && stream.cursor <= stream.batch.len();
        if same && (!trace || sum == expected) {
            return Ok(());
        }
        let path = match &self.plan.workload {
            Workload::Trace { path, .. } => path.as_str(),
            Workload::Synthetic(_) => "workload",
        };
        Err(another_trace(path, before + in_batch))
    }
}

/// The error of a run that would go on with requests of something else.
pub(crate) fn another_trace(path: &str, requests: u64) -> Box<Error> {
    let expected = format!("expected the same {requests} requests to begin with");
    let what = "the workload is another one than when the run was interrupted";
    Error::input(Place::Path(path.into()), what, expected)
}

/// What a summary says without the name of the trace, which may be another one when the run goes on.
fn without_path(plan: &Plan, mut summary: Summary) -> Summary {
    if let (Workload::Trace { path, .. }, Some(line)) = (&plan.workload, &mut summary.first_bad_line)
        && let Some(rest) = line.strip_prefix(path.as_str())
    {
        *line = rest.to_owned();
    }
    summary
}

/// The way back.
fn with_path(plan: &Plan, mut summary: Summary) -> Summary {
    if let (Workload::Trace { path, .. }, Some(line)) = (&plan.workload, &mut summary.first_bad_line) {
        line.insert_str(0, path);
    }
    summary
}
