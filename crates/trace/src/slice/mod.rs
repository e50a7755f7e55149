//! A part of a trace as a source: selected by device, operation, time and number, folded and scaled.
//!
//! The steps are applied in this order: filters, stamps relative to the first request kept, scaling, folding of
//! addresses. The order of the settings therefore makes no difference, and a slice of a slice is a slice.

mod options;

pub use options::{Scale, Slice};

use crate::intake::{Intake, Trail};
use crate::source::{Context, Source, Summary, Writer};
use floatgate_base::batch::flags;
use floatgate_base::error::quote;
use floatgate_base::{Error, OptionalColumns, Place, RequestBatch, Result, TRACE_PAGE_BYTES};
use serde::Serialize;

/// Most devices in a message.
const NAMES_SHOWN: usize = 20;

/// The effect of a slice: requests kept, left out and changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SliceReport {
    /// Requests of the trace that were read: all, or those up to the last one of `--requests`.
    pub requests_read: u64,
    /// Requests kept; a split one counts once.
    pub requests_kept: u64,
    /// Requests of other devices.
    pub left_out_by_device: u64,
    /// Other operations of the selected devices.
    pub left_out_by_operation: u64,
    /// Requests that only fail the filter by time.
    pub left_out_by_time: u64,
    /// Requests that cross the fold and became two with one stamp.
    pub split: u64,
    /// Requests longer than the fold, cut to cover each of its addresses once.
    pub cut: u64,
    /// Pages whose content is no longer known, because of a split inside them or before them.
    pub contents_lost: u64,
}

/// State of a device of the trace.
#[derive(Clone, Copy)]
enum Verdict {
    LeftOut,
    /// Selected; no request has been kept yet.
    Wanted,
    /// Its number in the slice.
    Kept(u16),
}

/// Properties of the whole trace, for the message about an empty slice.
#[derive(Default)]
struct Whole {
    ops: [bool; 3],
    smallest_ns: i64,
    largest_ns: i64,
}

/// A source of the requests that a [`Slice`] keeps.
///
/// It has no hash of content: that of the trace would cover other requests, and requests after the last one of
/// `--requests` are not read at all. Bad lines and other records count as far as the trace has been read.
pub struct Sliced {
    inner: Box<dyn Source>,
    path: String,
    slice: Slice,
    columns: OptionalColumns,
    /// Requests of the trace, the position among them, and the number of requests before them.
    batch: RequestBatch,
    cursor: usize,
    before: u64,
    /// Whether only the first part of the request at `cursor` has been returned.
    halfway: bool,
    /// By the trace's numbers; the names by those of the slice.
    verdicts: Vec<Verdict>,
    names: Vec<String>,
    /// Selected devices that have not occurred in the trace yet.
    missing: Vec<String>,
    origin_ns: Option<i64>,
    whole: Whole,
    report: SliceReport,
    /// Counts stamps that decrease, as in any trace.
    intake: Intake,
    trail: Trail,
    ended: bool,
}

impl Sliced {
    /// Creates the part `slice` of a source at its beginning; `path` names it in messages.
    ///
    /// # Errors
    /// A slice by time, or scaled, of a trace without times.
    pub fn new(inner: Box<dyn Source>, slice: Slice, path: &str) -> Result<Self> {
        if let Some(setting) = slice.needs_times().filter(|_| !inner.has_times()) {
            let what = format!("{path} has no time stamps");
            return Err(Error::input(
                Place::Setting(setting.into()),
                what,
                "leave it out, or use --requests",
            ));
        }
        Ok(Self {
            columns: inner.columns(),
            inner,
            path: path.into(),
            missing: slice.devices.clone(),
            slice,
            batch: RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN),
            cursor: 0,
            before: 0,
            halfway: false,
            verdicts: Vec::new(),
            names: Vec::new(),
            origin_ns: None,
            whole: Whole::default(),
            report: SliceReport::default(),
            intake: Intake::default(),
            trail: Trail::default(),
            ended: false,
        })
    }

    /// Reads more of the trace, or detects the end of the slice.
    fn refill(&mut self) -> Result<()> {
        self.before += self.batch.len() as u64;
        self.cursor = 0;
        self.batch.clear();
        if self.is_full() && self.missing.is_empty() {
            self.ended = true;
            return Ok(());
        }
        self.inner.fill(&mut self.batch, RequestBatch::DEFAULT_LEN)?;
        for name in &self.inner.devices()[self.verdicts.len()..] {
            let wanted = self.slice.devices.is_empty() || self.slice.devices.contains(name);
            self.verdicts.push(if wanted { Verdict::Wanted } else { Verdict::LeftOut });
            self.missing.retain(|missing| missing != name);
        }
        if self.batch.is_empty() {
            self.ended = true;
            return self.check();
        }
        self.batch.op.iter().for_each(|&op| self.whole.ops[op as usize] = true);
        let extremes = |(low, high): (i64, i64), &t: &i64| (low.min(t), high.max(t));
        (self.whole.smallest_ns, self.whole.largest_ns) =
            self.batch.time_ns.iter().fold((self.whole.smallest_ns, self.whole.largest_ns), extremes);
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.slice.requests.is_some_and(|most| self.report.requests_kept >= most)
    }

    /// Rejects devices that the trace does not have, and an empty slice.
    fn check(&self) -> Result<()> {
        let listed = |names: &[String]| {
            let mut shown: Vec<String> =
                names.iter().take(NAMES_SHOWN).map(|n| quote(n.as_bytes())).collect();
            if names.len() > NAMES_SHOWN {
                shown.push(format!("{} more", names.len() - NAMES_SHOWN));
            }
            shown.join(", ")
        };
        let devices = listed(self.inner.devices());
        if let Some(unknown) = self.missing.first() {
            let what = format!("{} is not a device of {}", quote(unknown.as_bytes()), self.path);
            let valid: Vec<&str> = self.inner.devices().iter().map(String::as_str).collect();
            let expected = floatgate_base::names::remedy(unknown, &valid, "");
            return Err(Error::input(Place::Setting("--device".into()), what, expected));
        }
        if self.report.requests_kept > 0 {
            return Ok(());
        }
        let ops: Vec<&str> = options::OPERATIONS
            .iter()
            .filter(|(_, op)| self.whole.ops[*op as usize])
            .map(|(n, _)| *n)
            .collect();
        let seconds = |ns: i64| ns as f64 / 1e9;
        let span = if self.inner.has_times() {
            format!("spans {} to {} s, ", seconds(self.whole.smallest_ns), seconds(self.whole.largest_ns))
        } else {
            String::new()
        };
        let what = format!("the slice keeps none of the {} requests", self.report.requests_read);
        let has = format!("the trace {span}has operations {} and devices {devices}", ops.join(", "));
        Err(Error::input(Place::Path(self.path.clone()), what, has))
    }

    /// Returns whether request `i` of the batch is kept, and counts it.
    #[inline]
    fn wanted(&mut self, i: usize) -> bool {
        let (time, report) = (self.batch.time_ns[i], &mut self.report);
        report.requests_read += 1;
        if matches!(self.verdicts[usize::from(self.batch.device[i])], Verdict::LeftOut) {
            report.left_out_by_device += 1;
            return false;
        }
        if !self.slice.keeps(self.batch.op[i]) {
            report.left_out_by_operation += 1;
            return false;
        }
        if self.slice.from_ns.is_some_and(|from| time < from)
            || self.slice.until_ns.is_some_and(|u| time >= u)
        {
            report.left_out_by_time += 1;
            return false;
        }
        report.requests_kept += 1;
        true
    }

    /// Appends request `i` of the batch, or its first part; returns false if a second part is left.
    #[inline]
    fn hand_out(&mut self, i: usize, batch: &mut RequestBatch) -> Result<bool> {
        let (offset, bytes) = (self.batch.offset[i], self.batch.bytes[i]);
        let Some(fold) = self.slice.fold_bytes else {
            self.push(i, offset, 0..bytes, batch)?;
            return Ok(true);
        };
        let offset = offset % fold;
        let kept = bytes.min(fold);
        self.report.cut += u64::from(kept < bytes);
        let first = kept.min(fold - offset);
        self.push(i, offset, 0..first, batch)?;
        self.report.split += u64::from(first < kept);
        Ok(first == kept)
    }

    /// Appends the second part of request `i`, which begins at the start of the space.
    fn hand_out_rest(&mut self, i: usize, batch: &mut RequestBatch) -> Result<()> {
        let fold = self.slice.fold_bytes.unwrap_or(u64::MAX);
        let first = fold - self.batch.offset[i] % fold;
        self.push(i, 0, first..self.batch.bytes[i].min(fold), batch)
    }

    /// Appends the bytes `part` of request `i`, which now lie at `offset`.
    #[inline]
    fn push(
        &mut self,
        i: usize,
        offset: u64,
        part: std::ops::Range<u64>,
        batch: &mut RequestBatch,
    ) -> Result<()> {
        let time = self.time(i)?;
        let device = self.device(i);
        batch.push(time, device, self.batch.op[i], offset, part.end - part.start);
        if self.columns.context {
            batch.context.push(self.batch.context[i]);
        }
        if self.columns.stream {
            batch.stream.push(self.batch.stream[i]);
        }
        if self.columns.predicted_life {
            batch.predicted_life.push(self.batch.predicted_life[i]);
        }
        if self.columns.flags {
            // The second part of a request does not flush again.
            let mask = if part.start > 0 { !flags::FLUSH } else { u8::MAX };
            batch.flags.push(self.batch.flags[i] & mask);
        }
        if self.columns.content {
            self.push_content(i, part, batch);
        }
        self.intake.counts.requests += 1;
        self.trail.places.push(self.before + i as u64);
        Ok(())
    }

    /// Returns the stamp of request `i`, relative to the first request kept and scaled.
    #[inline]
    fn time(&mut self, i: usize) -> Result<i64> {
        let time = self.batch.time_ns[i];
        let since = i128::from(time) - i128::from(*self.origin_ns.get_or_insert(time));
        let scaled = self.slice.time_scale.map_or(since, |scale| scale.of(since));
        i64::try_from(scaled).map_err(|_| {
            let place = Place::Path(self.inner.place_of(self.before + i as u64));
            let what = "the time stamp would lie more than 292 years from the first";
            Error::input(place, what, "expected a smaller --time-scale, or a slice without this request")
        })
    }

    /// Returns the number of the device of request `i` in the slice.
    #[inline]
    fn device(&mut self, i: usize) -> u16 {
        let at = usize::from(self.batch.device[i]);
        if let Verdict::Kept(device) = self.verdicts[at] {
            return device;
        }
        // No more than in the trace, which fit.
        let device = self.names.len() as u16;
        self.names.push(self.inner.devices()[at].clone());
        self.verdicts[at] = Verdict::Kept(device);
        device
    }

    /// Appends the content of the bytes `part` of request `i`.
    ///
    /// An entry stands for 4 KiB from the request's beginning. If a split falls between entries, each part keeps its
    /// own. Inside an entry, that entry and all later ones cover bytes that no entry of the second part covers.
    fn push_content(&mut self, i: usize, part: std::ops::Range<u64>, batch: &mut RequestBatch) {
        let content = &self.batch.content;
        let entries = content.range(i);
        let len = entries.len() as u64;
        let known = |k: usize| content.fingerprint[k] != 0 || content.compressed_bytes[k] != 0;
        let at = |entry: u64| entries.start + entry.min(len) as usize;
        let aligned = |bytes: u64| bytes.is_multiple_of(TRACE_PAGE_BYTES);
        let whole_end = part.end == self.batch.bytes[i] || aligned(part.end);
        let end = part.end.div_ceil(TRACE_PAGE_BYTES);
        if aligned(part.start) {
            let kept = at(part.start / TRACE_PAGE_BYTES)..at(if whole_end { end } else { end - 1 });
            batch.content.fingerprint.extend_from_slice(&content.fingerprint[kept.clone()]);
            batch.content.compressed_bytes.extend_from_slice(&content.compressed_bytes[kept]);
            if !whole_end && end <= len {
                batch.content.push(0, 0);
            }
        } else {
            // The first part has made the content of the split entry unknown.
            let lost = at(part.start / TRACE_PAGE_BYTES)..at(end);
            self.report.contents_lost += lost.filter(|&k| known(k)).count() as u64;
        }
        batch.content.close();
    }
}

impl Source for Sliced {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        self.trail.first_request = self.intake.counts.requests;
        self.trail.places.clear();
        let before = batch.len();
        while batch.len() - before < max && !self.ended {
            let i = self.cursor;
            if self.halfway {
                self.hand_out_rest(i, batch)?;
                self.halfway = false;
                self.cursor += 1;
            } else if i == self.batch.len() {
                self.refill()?;
            } else if self.is_full() {
                // The rest is read only for the names of devices.
                self.cursor = self.batch.len();
            } else if self.wanted(i) && !self.hand_out(i, batch)? {
                self.halfway = true;
            } else {
                self.cursor += 1;
            }
        }
        let places = &self.trail.places;
        self.intake.note_times(&batch.time_ns[before..], |i| format!("request {}", places[i] + 1));
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.inner.rewind()?;
        self.batch.clear();
        (self.cursor, self.before, self.halfway, self.ended) = (0, 0, false, false);
        (self.origin_ns, self.report, self.trail) = (None, SliceReport::default(), Trail::default());
        self.intake.restart();
        Ok(())
    }

    fn format(&self) -> &'static str {
        self.inner.format()
    }

    fn devices(&self) -> &[String] {
        &self.names
    }

    fn summary(&self) -> Summary {
        let own = self.intake.summary(None, None, None, 0);
        let Summary { stamps_backwards, first_backwards, furthest_back_ns, stamp_jumps, .. } = own;
        let inner = self.inner.summary();
        Summary {
            stamps_backwards,
            first_backwards,
            furthest_back_ns,
            stamp_jumps,
            content_hash: None,
            ..inner
        }
    }

    fn place_of(&self, index: u64) -> String {
        match self.trail.of(index) {
            Some(inner) => self.inner.place_of(inner),
            None => format!("{} (request {index} of the slice)", self.path),
        }
    }

    fn has_times(&self) -> bool {
        self.inner.has_times()
    }

    fn assumed(&self) -> Vec<String> {
        let mut out = self.inner.assumed();
        let SliceReport { requests_kept, requests_read, .. } = self.report;
        out.push(format!("a slice: kept {requests_kept} of {requests_read} requests"));
        out
    }

    fn columns(&self) -> OptionalColumns {
        self.columns
    }

    fn writers(&self) -> Vec<Writer> {
        self.inner.writers()
    }

    fn writer_fields(&self) -> Vec<String> {
        self.inner.writer_fields()
    }

    fn contexts(&self) -> &[Context] {
        self.inner.contexts()
    }

    fn slice_report(&self) -> Option<SliceReport> {
        Some(self.report)
    }
}
