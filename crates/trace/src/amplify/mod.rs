//! Read amplification: many cursors issue one trace concurrently, each at its own pace.
//!
//! Read-disturb management, section 4.4: "we allocated the same trace B to N different I/O generation threads", and
//! "each I/O thread varied randomly idle intervals between successive I/O requests". A cursor issues all requests of
//! the trace in order, including writes and TRIMs. A random factor around 1 stretches or shrinks each gap between two
//! of them. Cursors thus drift apart, but their span stays about that of the trace. After n requests two cursors are
//! about `gap_spread * sqrt(2 n / 3)` gaps apart (times the root mean square of the gaps over their mean).
//!
//! The trace is read once: requests stay in memory from the first cursor that reaches them to the last. Memory holds a
//! million requests; a cursor that is further ahead of the last one waits for it.

use crate::intake::Trail;
use crate::source::Source;
use floatgate_base::error::quote;
use floatgate_base::{Error, Place, RequestBatch, Result, Rng};
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

/// Most cursors.
const CURSORS_MAX: u64 = 65_536;
/// Most chunks of [`RequestBatch::DEFAULT_LEN`] requests in memory.
const CHUNKS_MAX: usize = 256;
/// The gap between two requests of a trace without times, in units that only order the cursors.
const UNTIMED_GAP: i64 = 1 << 20;

/// The number of concurrent copies of a trace, and their differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amplification {
    /// Number of cursors, each of which issues the whole trace; the paper's read amplification factor. 1 leaves the
    /// trace unchanged.
    pub cursors: u64,
    /// Each gap between two requests of a cursor is multiplied by a number drawn evenly from 1 - `gap_spread` to 1 +
    /// `gap_spread`.
    pub gap_spread: f64,
    /// Seed; every cursor has its own stream.
    pub seed: u64,
}

impl Default for Amplification {
    fn default() -> Self {
        Self { cursors: 1, gap_spread: 1.0, seed: 1 }
    }
}

impl Amplification {
    /// The option keys, which the command line writes with dashes.
    pub const KEYS: [&str; 3] = ["read_amplification", "gap_spread", "amplification_seed"];

    /// Parses the options; returns none without a number of cursors. Defaults: spread 1, seed 1.
    ///
    /// # Errors
    /// Quotes an invalid value; a spread or a seed without cursors.
    pub fn parse<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Result<Option<Self>> {
        let Some(cursors) = get("read_amplification") else {
            return match ["gap_spread", "amplification_seed"].into_iter().find(|key| get(key).is_some()) {
                None => Ok(None),
                Some(key) => Err(Error::input(
                    option(key),
                    "a single cursor has no spread and no seed",
                    "add --read-amplification",
                )),
            };
        };
        let defaults = Self::default();
        let model = Self {
            cursors: number("read_amplification", cursors, "a whole number")?,
            gap_spread: match get("gap_spread") {
                Some(text) => number("gap_spread", text, "a share such as 0.5")?,
                None => defaults.gap_spread,
            },
            seed: match get("amplification_seed") {
                Some(text) => number("amplification_seed", text, "a whole number")?,
                None => defaults.seed,
            },
        };
        model.validate().map_err(|e| match &e.place {
            Place::Setting(key) => Error::input(option(key), e.what.clone(), e.expected.clone()),
            _ => e,
        })?;
        Ok(Some(model))
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// Names the key and the valid values.
    pub fn validate(&self) -> Result<()> {
        let refuse = |key: &str, what: String, expected: &str| {
            Err(Error::input(Place::Setting(key.into()), what, expected))
        };
        if !(1..=CURSORS_MAX).contains(&self.cursors) {
            let what = format!("{} copies of the trace", self.cursors);
            return refuse("read_amplification", what, "expected a whole number from 1 to 65536");
        }
        if !(0.0..=1.0).contains(&self.gap_spread) {
            let what = format!("{} is not a spread", self.gap_spread);
            return refuse("gap_spread", what, "expected a number from 0 to 1");
        }
        Ok(())
    }

    /// Wraps the source: all cursors together issue its requests.
    ///
    /// # Errors
    /// As for [`Amplification::validate`].
    pub fn of(self, inner: Box<dyn Source>) -> Result<Box<dyn Source>> {
        self.validate()?;
        Ok(match self.cursors {
            1 => inner,
            _ => Box::new(Amplified::new(inner, self)?),
        })
    }
}

/// Returns the place of an option for messages.
fn option(key: &str) -> Place {
    Place::Setting(format!("--{}", key.replace('_', "-")))
}

fn number<T: std::str::FromStr>(key: &str, text: &str, expected: &str) -> Result<T> {
    text.trim().parse().map_err(|_| {
        let what = format!("{} is not a number", quote(text.as_bytes()));
        Error::input(option(key), what, format!("expected {expected}"))
    })
}

/// A run of consecutive requests of the trace; all chunks but the last have the same length.
struct Chunk {
    rows: RequestBatch,
    /// Time since the largest earlier stamp, by request.
    gaps: Vec<i64>,
    /// Cursors that have passed the chunk.
    left_behind: u64,
}

/// The part of the trace between the last cursor and the first.
struct Window {
    chunks: VecDeque<Chunk>,
    /// Chunks dropped, which is the number of the first one here.
    dropped: u64,
    spare: Vec<RequestBatch>,
    ended: bool,
    largest_ns: Option<i64>,
    /// Requests per chunk, and most chunks.
    len: usize,
    most: usize,
}

/// Whether a request of the trace is in the window.
enum Lookup {
    Here,
    /// No room until the last cursor advances.
    NotYet,
    End,
}

impl Window {
    fn new(len: usize, most: usize) -> Self {
        let (chunks, spare) = (VecDeque::new(), Vec::new());
        Self { chunks, dropped: 0, spare, ended: false, largest_ns: None, len, most }
    }

    fn clear(&mut self) {
        self.spare.extend(self.chunks.drain(..).map(|chunk| chunk.rows));
        (self.dropped, self.ended, self.largest_ns) = (0, false, None);
    }

    /// Returns the chunk of request `at`, which must be in the window, and the position there.
    #[inline]
    fn place(&self, at: u64) -> (&Chunk, usize) {
        let chunk = &self.chunks[(at / self.len as u64 - self.dropped) as usize];
        (chunk, (at % self.len as u64) as usize)
    }

    /// Looks up request `at`, at most one beyond the window, and reads more of the trace if there is room.
    #[inline]
    fn find(&mut self, at: u64, inner: &mut dyn Source) -> Result<Lookup> {
        // The last request may have left its chunk incomplete; beyond it, the chunk may be gone.
        let Some(chunk) = (at / self.len as u64).checked_sub(self.dropped) else { return Ok(Lookup::End) };
        let chunk = chunk as usize;
        if chunk == self.chunks.len() {
            if self.ended {
                return Ok(Lookup::End);
            }
            if self.chunks.len() == self.most {
                return Ok(Lookup::NotYet);
            }
            self.read_on(inner)?;
        }
        let here = self.chunks.get(chunk).is_some_and(|c| (at % self.len as u64) < c.gaps.len() as u64);
        Ok(if here { Lookup::Here } else { Lookup::End })
    }

    fn read_on(&mut self, inner: &mut dyn Source) -> Result<()> {
        let mut rows = self.spare.pop().unwrap_or_default();
        rows.clear();
        while rows.len() < self.len && !self.ended {
            let before = rows.len();
            inner.fill(&mut rows, self.len - before)?;
            self.ended = rows.len() == before;
        }
        let timed = inner.has_times();
        let mut gaps = Vec::with_capacity(rows.len());
        for &stamp in &rows.time_ns {
            let before = self.largest_ns.unwrap_or(stamp);
            // A stamp that decreases counts as no gap.
            gaps.push(if timed { stamp.saturating_sub(before).max(0) } else { UNTIMED_GAP });
            self.largest_ns = Some(before.max(stamp));
        }
        if !rows.is_empty() {
            self.chunks.push_back(Chunk { rows, gaps, left_behind: 0 });
        }
        Ok(())
    }

    /// Moves a cursor past the chunk of request `at`; returns true if chunks were dropped.
    fn leave(&mut self, at: u64, cursors: u64) -> bool {
        let chunk = (at / self.len as u64 - self.dropped) as usize;
        self.chunks[chunk].left_behind += 1;
        let before = self.dropped;
        while self.chunks.front().is_some_and(|chunk| chunk.left_behind == cursors) {
            self.spare.extend(self.chunks.pop_front().map(|chunk| chunk.rows));
            self.dropped += 1;
        }
        self.dropped > before
    }
}

/// A copy of the trace in progress.
struct Cursor {
    /// Next request.
    at: u64,
    rng: Rng,
}

impl Cursor {
    /// Returns the time of the next request after one at `time`.
    #[inline]
    fn next_ns(&mut self, time: i64, gap: i64, spread: f64) -> i64 {
        let factor = 1.0 + spread * (2.0 * self.rng.unit() - 1.0);
        time.saturating_add(if spread == 0.0 { gap } else { (gap as f64 * factor) as i64 })
    }
}

/// The requests of all cursors over a source, in the order of their times; among equal times the first cursor goes
/// first.
pub struct Amplified {
    inner: Box<dyn Source>,
    model: Amplification,
    window: Window,
    cursors: Vec<Cursor>,
    /// Time and number of the cursors with a next request.
    due: BinaryHeap<Reverse<(i64, u32)>>,
    /// Cursors that are too far ahead, with the time of their last request.
    waiting: Vec<(i64, u32)>,
    started: bool,
    made: u64,
    trail: Trail,
}

impl Amplified {
    /// Creates the cursors over a source at its beginning.
    ///
    /// # Errors
    /// As for [`Amplification::validate`].
    pub fn new(inner: Box<dyn Source>, model: Amplification) -> Result<Self> {
        Self::with_window(inner, model, RequestBatch::DEFAULT_LEN, CHUNKS_MAX)
    }

    fn with_window(
        inner: Box<dyn Source>,
        model: Amplification,
        len: usize,
        chunks_max: usize,
    ) -> Result<Self> {
        model.validate()?;
        Ok(Self {
            inner,
            window: Window::new(len, chunks_max),
            cursors: cursors(&model),
            due: BinaryHeap::new(),
            waiting: Vec::new(),
            started: false,
            made: 0,
            trail: Trail::default(),
            model,
        })
    }

    /// Starts all cursors at the first request.
    fn start(&mut self) -> Result<()> {
        self.started = true;
        if matches!(self.window.find(0, self.inner.as_mut())?, Lookup::Here) {
            let first_ns = self.window.place(0).0.rows.time_ns[0];
            self.due.extend((0..self.cursors.len() as u32).map(|cursor| Reverse((first_ns, cursor))));
        }
        Ok(())
    }

    /// Issues the next request in time.
    #[inline]
    fn issue(&mut self, batch: &mut RequestBatch) -> Result<()> {
        let Some(mut top) = self.due.peek_mut() else { return Ok(()) };
        let Reverse((time, number)) = *top;
        let cursor = &mut self.cursors[number as usize];
        let at = cursor.at;
        let (chunk, i) = self.window.place(at);
        batch.push_of(&chunk.rows, i, if self.inner.has_times() { time } else { 0 });
        self.trail.places.push(at);
        cursor.at = at + 1;
        let last_of_chunk = i + 1 == chunk.gaps.len();
        if !last_of_chunk {
            *top = Reverse((cursor.next_ns(time, chunk.gaps[i + 1], self.model.gap_spread), number));
            return Ok(());
        }
        PeekMut::pop(top);
        self.waiting.push((time, number));
        if self.window.leave(at, self.model.cursors) {
            return self.go_on(time);
        }
        self.try_to_go_on(self.waiting.len() - 1, time).map(|_| ())
    }

    /// Resumes waiting cursors after chunks were dropped, at `now` at the earliest.
    fn go_on(&mut self, now: i64) -> Result<()> {
        let mut i = 0;
        while i < self.waiting.len() {
            if !self.try_to_go_on(i, now)? {
                i += 1;
            }
        }
        Ok(())
    }

    /// Resumes a waiting cursor if its next request is in the window, or removes it at the end of the trace.
    fn try_to_go_on(&mut self, waiting: usize, now: i64) -> Result<bool> {
        let (time, number) = self.waiting[waiting];
        let cursor = &mut self.cursors[number as usize];
        match self.window.find(cursor.at, self.inner.as_mut())? {
            Lookup::NotYet => return Ok(false),
            Lookup::End => {}
            Lookup::Here => {
                let (chunk, i) = self.window.place(cursor.at);
                let next = cursor.next_ns(time.max(now), chunk.gaps[i], self.model.gap_spread);
                self.due.push(Reverse((next, number)));
            }
        }
        self.waiting.swap_remove(waiting);
        Ok(true)
    }
}

fn cursors(model: &Amplification) -> Vec<Cursor> {
    let stream = |cursor| Rng::new(model.seed, &format!("gaps of cursor {cursor}"));
    (0..model.cursors).map(|cursor| Cursor { at: 0, rng: stream(cursor) }).collect()
}

impl Source for Amplified {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        if !self.started {
            self.start()?;
        }
        self.trail.first_request = self.made;
        self.trail.places.clear();
        let before = batch.len();
        while batch.len() - before < max && !self.due.is_empty() {
            self.issue(batch)?;
        }
        self.made += (batch.len() - before) as u64;
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.inner.rewind()?;
        self.window.clear();
        self.due.clear();
        self.waiting.clear();
        self.cursors = cursors(&self.model);
        (self.started, self.made, self.trail) = (false, 0, Trail::default());
        Ok(())
    }

    fn place_of(&self, index: u64) -> String {
        self.inner.place_of(self.trail.of(index).unwrap_or(index))
    }

    fn assumed(&self) -> Vec<String> {
        let mut out = self.inner.assumed();
        let Amplification { cursors, gap_spread, seed } = self.model;
        out.push(format!(
            "issued by {cursors} cursors at once, each gap {} to {} times as long, seed {seed}",
            1.0 - gap_spread,
            1.0 + gap_spread
        ));
        out
    }

    crate::forward_to_inner!(format, devices, summary, has_times, columns, contexts, slice_report);
}

#[cfg(test)]
mod tests;
