//! Processing of records common to all readers: checks, numbering of devices, counts.

use crate::options::TimeUnit;
use crate::source::Summary;
use floatgate_base::{Op, RequestBatch};
use floatgate_input::{Fault, Known};
use rustc_hash::FxHashMap;

/// Most bytes of one read or write: no block command moves more, and a longer one is a broken line.
const TRANSFER_MAX: u64 = 1 << 40;

const YEAR_NS: u64 = 31_557_600_000_000_000;
/// A stamp further than this from the previous one belongs to another clock.
pub(crate) const JUMP_NS: u64 = 30 * YEAR_NS;
/// No trace of this length exists.
const SPAN_MAX_NS: u64 = 50 * YEAR_NS;
/// Mean rate beyond any drive and any trace.
pub(crate) const RATE_MAX_PER_S: f64 = 1e6;
pub(crate) const BYTES_MAX_PER_S: f64 = 16e9;
const RATE_MIN_PER_S: f64 = 1.0 / 120.0;
/// Mean rate below that of any trace, except a few distant requests.
const RATE_MIN_OF_FEW_PER_S: f64 = 1.0 / 3600.0;
/// Fewest requests for conclusions from a low rate, or from addresses that are all multiples of [`SECTOR`].
const REQUESTS_THAT_TELL: u64 = 100;
/// Fewest requests for the conclusion that evenly spaced stamps are no clock.
const REQUESTS_OF_A_COUNTER: u64 = 1000;
/// Share of the gaps that are like the one before in evenly spaced stamps.
const EVEN_SHARE: f64 = 0.99;
/// Addresses in sectors are hardly ever all multiples of this; addresses in bytes often are.
const SECTOR: u64 = 512;

/// The unchecked request of a line or a binary record.
pub(crate) struct Record<'a> {
    /// Nanoseconds since any origin.
    pub stamp: i128,
    pub op: Op,
    pub offset: u64,
    pub bytes: u64,
    /// Key of the device.
    pub device: &'a [u8],
}

/// Requests on their way into a batch: each column of it grows once for many of them.
pub(crate) struct Rows {
    time_ns: [i64; Self::MAX],
    device: [u16; Self::MAX],
    op: [Op; Self::MAX],
    offset: [u64; Self::MAX],
    bytes: [u64; Self::MAX],
    pub len: usize,
}

impl Rows {
    /// Most rows.
    pub const MAX: usize = 64;

    pub fn new() -> Self {
        Self {
            time_ns: [0; Self::MAX],
            device: [0; Self::MAX],
            op: [Op::Read; Self::MAX],
            offset: [0; Self::MAX],
            bytes: [0; Self::MAX],
            len: 0,
        }
    }

    /// Moves all rows to the end of a batch.
    pub fn move_to(&mut self, batch: &mut RequestBatch) {
        batch.time_ns.extend_from_slice(&self.time_ns[..self.len]);
        batch.device.extend_from_slice(&self.device[..self.len]);
        batch.op.extend_from_slice(&self.op[..self.len]);
        batch.offset.extend_from_slice(&self.offset[..self.len]);
        batch.bytes.extend_from_slice(&self.bytes[..self.len]);
        self.len = 0;
    }
}

/// Key of the only device of a format without devices.
pub(crate) const ONE_DEVICE: &[u8] = b"0";

/// The devices seen so far.
struct Devices {
    names: Vec<String>,
    by_key: FxHashMap<Box<[u8]>, u16>,
    last_key: Vec<u8>,
    /// The same, where it is short.
    last_word: Known,
    last: u16,
}

impl Default for Devices {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            by_key: FxHashMap::default(),
            last_key: Vec::new(),
            last_word: Known::NONE,
            last: 0,
        }
    }
}

impl Devices {
    /// Returns the number of the device `key`; none if there are too many.
    #[inline]
    fn of(&mut self, key: &[u8], name: fn(&[u8]) -> String) -> Option<u16> {
        if key == self.last_key.as_slice() && !self.names.is_empty() {
            return Some(self.last);
        }
        self.change_to(key, name)
    }

    #[cold]
    fn change_to(&mut self, key: &[u8], name: fn(&[u8]) -> String) -> Option<u16> {
        let id = match self.by_key.get(key) {
            Some(id) => *id,
            None => {
                let id = u16::try_from(self.names.len()).ok()?;
                self.names.push(name(key));
                self.by_key.insert(key.into(), id);
                id
            }
        };
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.last_word = Known::of(key);
        self.last = id;
        Some(id)
    }
}

/// Counters of the current pass.
#[derive(Clone, Default)]
pub(crate) struct Counts {
    pub requests: u64,
    pub bad: u64,
    pub first_bad: Option<String>,
    /// Records that are not requests.
    pub other: u64,
    /// Bytes read and written.
    bytes: u64,
    /// Bitwise union of all addresses.
    offset_bits: u64,
    backwards: u64,
    /// Gaps that are as long as the one before, and the last gap.
    even_gaps: u64,
    last_gap_ns: i64,
    /// Place of the first of these, and the largest step back.
    first_backwards: Option<String>,
    furthest_back_ns: u64,
    jumps: u64,
    /// Stamp of the first request; all stamps are relative to it.
    first_stamp: Option<i128>,
    /// Stamp of the last request.
    last_ns: i64,
    smallest_ns: i64,
    largest_ns: i64,
}

impl Counts {
    /// Records stamps that neither decrease nor jump; returns false for others, which it does not record.
    #[inline]
    fn note_forwards(&mut self, added: &[i64]) -> bool {
        let (mut before, mut last_gap_ns, mut even_gaps, mut is_odd) =
            (self.last_ns, self.last_gap_ns, 0, false);
        for &time in added {
            // A step back or an overflow becomes a jump.
            let gap_ns = time.wrapping_sub(before);
            is_odd |= gap_ns as u64 > JUMP_NS;
            even_gaps += u64::from(are_alike(gap_ns, last_gap_ns));
            (before, last_gap_ns) = (time, gap_ns);
        }
        if is_odd {
            return false;
        }
        self.even_gaps += even_gaps;
        self.last_gap_ns = last_gap_ns;
        self.smallest_ns = self.smallest_ns.min(added[0]);
        (self.largest_ns, self.last_ns) = (self.largest_ns.max(before), before);
        true
    }

    fn are_evenly_spaced(&self) -> bool {
        self.requests >= REQUESTS_OF_A_COUNTER
            && self.even_gaps as f64 >= EVEN_SHARE * (self.requests - 2) as f64
    }
}

/// Checks and counts the records of one trace.
#[derive(Default)]
pub(crate) struct Intake {
    devices: Devices,
    pub counts: Counts,
}

impl Intake {
    /// Returns the names of the devices seen so far.
    pub fn devices(&self) -> &[String] {
        &self.devices.names
    }

    /// Starts another pass: devices keep their numbers.
    pub fn restart(&mut self) {
        self.counts = Counts::default();
    }

    /// Appends a record to the batch; returns false for length 0, which is not a request.
    #[inline(always)]
    pub fn take(
        &mut self,
        record: Record<'_>,
        name: fn(&[u8]) -> String,
        batch: &mut RequestBatch,
    ) -> Result<bool, Fault> {
        let Some((time, device)) = self.check(&record, Some(record.device), name)? else { return Ok(false) };
        batch.push(time, device, record.op, record.offset, record.bytes);
        Ok(true)
    }

    /// Appends a record to `rows`, which have room; returns false for length 0. Without a device in `key` it is that of
    /// the last request.
    #[inline(always)]
    pub fn take_row(
        &mut self,
        record: &Record<'_>,
        key: Option<&[u8]>,
        name: fn(&[u8]) -> String,
        rows: &mut Rows,
    ) -> Result<bool, Fault> {
        let Some((time, device)) = self.check(record, key, name)? else { return Ok(false) };
        let row = rows.len % Rows::MAX;
        rows.time_ns[row] = time;
        rows.device[row] = device;
        rows.op[row] = record.op;
        rows.offset[row] = record.offset;
        rows.bytes[row] = record.bytes;
        rows.len += 1;
        Ok(true)
    }

    /// Returns the device of the last request.
    #[inline]
    pub fn last_device(&self) -> Known {
        self.devices.last_word
    }

    /// Checks and counts a record; returns the time since the first and the device, none for length 0.
    #[inline(always)]
    fn check(
        &mut self,
        record: &Record<'_>,
        key: Option<&[u8]>,
        name: fn(&[u8]) -> String,
    ) -> Result<Option<(i64, u16)>, Fault> {
        if record.bytes.wrapping_sub(1) >= TRANSFER_MAX && !self.is_request(record)? {
            return Ok(None);
        }
        if record.offset.checked_add(record.bytes).is_none() {
            return Err(Fault::line(
                "the request ends beyond 2^64 bytes",
                "expected an address and a size that end before",
            ));
        }
        let first = self.counts.first_stamp.unwrap_or(record.stamp);
        let Ok(time) = i64::try_from(record.stamp - first) else {
            return Err(Fault::line(
                "the time stamp lies more than 292 years from the first",
                "expected stamps of one clock, in the format's unit of time",
            ));
        };
        let device = match key {
            None => Some(self.devices.last),
            Some(key) => self.devices.of(key, name),
        };
        let Some(device) = device else {
            return Err(Fault::line("more than 65536 devices", "expected at most 65536"));
        };
        if self.counts.first_stamp.is_none() {
            self.counts.first_stamp = Some(first);
        }
        self.counts.offset_bits |= record.offset;
        if record.op != Op::Trim {
            self.counts.bytes = self.counts.bytes.saturating_add(record.bytes);
        }
        Ok(Some((time, device)))
    }

    /// Returns whether a record of no length or of a large one is a request.
    #[cold]
    fn is_request(&mut self, record: &Record<'_>) -> Result<bool, Fault> {
        if record.bytes == 0 {
            self.counts.other += 1;
            return Ok(false);
        }
        if record.op != Op::Trim {
            return Err(Fault::line("a transfer of more than 1 TiB", "expected at most 1099511627776 bytes"));
        }
        Ok(true)
    }

    /// Records the stamps of the requests added by a `fill`; `place` returns the place of one of them.
    pub fn note_times(&mut self, added: &[i64], place: impl Fn(usize) -> String) {
        let counts = &mut self.counts;
        let Some((&first, &last)) = added.first().zip(added.last()) else { return };
        if counts.note_forwards(added) {
            return;
        }
        let mut step = |before: i64, time: i64| {
            counts.backwards += u64::from(time < before);
            counts.furthest_back_ns = counts.furthest_back_ns.max(back_ns(before, time));
            counts.jumps += u64::from(time.abs_diff(before) > JUMP_NS);
            let gap_ns = time.saturating_sub(before);
            counts.even_gaps += u64::from(are_alike(gap_ns, counts.last_gap_ns));
            counts.last_gap_ns = gap_ns;
        };
        step(counts.last_ns, first);
        added.windows(2).for_each(|pair| step(pair[0], pair[1]));
        if counts.backwards > 0 && counts.first_backwards.is_none() {
            let at = if first < counts.last_ns { 0 } else { 1 + first_backwards(added) };
            counts.first_backwards = Some(place(at));
        }
        let (smallest, largest) =
            added.iter().fold((first, first), |(low, high), &time| (low.min(time), high.max(time)));
        counts.smallest_ns = counts.smallest_ns.min(smallest);
        counts.largest_ns = counts.largest_ns.max(largest);
        counts.last_ns = last;
    }

    /// Returns the reader's summary; `unit` is that of meaningful stamps, `lba_bytes` that of addresses with an assumed
    /// unit.
    pub fn summary(
        &self,
        hash: Option<&str>,
        unit: Option<TimeUnit>,
        lba_bytes: Option<u64>,
        tar_lines: u64,
    ) -> Summary {
        let counts = &self.counts;
        Summary {
            bad_lines_skipped: counts.bad,
            first_bad_line: counts.first_bad.clone(),
            other_records: counts.other,
            stamps_backwards: counts.backwards,
            first_backwards: counts.first_backwards.clone(),
            furthest_back_ns: counts.furthest_back_ns,
            stamp_jumps: counts.jumps,
            tar_lines,
            suspicions: self.suspicions(unit, lba_bytes),
            content_hash: hash.map(str::to_owned),
        }
    }

    /// Lists signs of another unit of time or of addresses.
    fn suspicions(&self, unit: Option<TimeUnit>, lba_bytes: Option<u64>) -> Vec<String> {
        let counts = &self.counts;
        let mut out = Vec::new();
        if let Some(lba_bytes) = lba_bytes.filter(|_| counts.requests >= REQUESTS_THAT_TELL)
            && counts.offset_bits.is_multiple_of(lba_bytes * SECTOR)
            && lba_bytes > 1
        {
            out.push(format!(
                "all addresses are multiples of {SECTOR}: if they are in bytes, use --lba-unit byte"
            ));
        }
        let Some(unit) = unit.filter(|_| counts.requests > 1) else { return out };
        let span = counts.largest_ns.abs_diff(counts.smallest_ns);
        let (n, unit) = (counts.requests, unit.name());
        if counts.jumps > 0 {
            let lie = if counts.jumps == 1 { "time stamp lies" } else { "time stamps lie" };
            out.push(format!(
                "{} {lie} more than 30 years from the previous one: span and rate mean little",
                counts.jumps
            ));
        } else if span > SPAN_MAX_NS {
            out.push(format!(
                "the time stamps span {:.0} years if they are in {unit}; if they are not, use --time-unit",
                span as f64 / YEAR_NS as f64
            ));
        } else if span == 0 {
            out.push(format!("all {n} time stamps are equal"));
        } else if counts.are_evenly_spaced() {
            out.push(EVENLY_SPACED.into());
        } else {
            let rate = (n - 1) as f64 / (span as f64 / 1e9);
            let few = n < REQUESTS_THAT_TELL;
            let least = if few { RATE_MIN_OF_FEW_PER_S } else { RATE_MIN_PER_S };
            let bytes_per_s = counts.bytes as f64 / (span as f64 / 1e9);
            if rate > RATE_MAX_PER_S {
                out.push(format!(
                    "{:.0} million requests per second if the time stamps are in {unit}; if they are not, use \
                     --time-unit",
                    rate / 1e6
                ));
            } else if bytes_per_s > BYTES_MAX_PER_S {
                out.push(format!(
                    "{:.0} GB per second if the time stamps are in {unit}; if they are not, use --time-unit",
                    bytes_per_s / 1e9
                ));
            } else if rate < least {
                let minutes = 1.0 / rate / 60.0;
                let (gap, of) = if minutes < 60.0 { (minutes, "minutes") } else { (minutes / 60.0, "hours") };
                out.push(format!(
                    "one request in {gap:.1} {of} if the time stamps are in {unit}; if they are not, use --time-unit"
                ));
            }
        }
        out
    }
}

/// Suspicion about stamps that count requests. It replaces those about the rate: no unit of time would be right.
pub(crate) const EVENLY_SPACED: &str = "evenly spaced time stamps: probably a counter, not a clock; bytes per day and years \
                                        mean nothing until you set the rate (--demand, or floatgate trace convert --time-scale)";

/// Returns whether two gaps between stamps are equal within a hundredth, or the nanosecond of rounding.
#[inline]
fn are_alike(gap_ns: i64, other_ns: i64) -> bool {
    let tolerance_ns = (gap_ns.unsigned_abs() / 100).max(1);
    (gap_ns > 0) & (other_ns > 0) & (gap_ns.abs_diff(other_ns) <= tolerance_ns)
}

/// Returns by how much a stamp lies before another one.
fn back_ns(before: i64, time: i64) -> u64 {
    if time < before { before.abs_diff(time) } else { 0 }
}

/// Returns the number of the first stamp whose successor is smaller.
fn first_backwards(stamps: &[i64]) -> usize {
    stamps.windows(2).position(|pair| pair[1] < pair[0]).unwrap_or(0)
}

/// Places of the requests of the last `fill`, by line or byte.
#[derive(Default)]
pub(crate) struct Trail {
    pub first_request: u64,
    pub places: Vec<u64>,
}

impl Trail {
    pub fn of(&self, index: u64) -> Option<u64> {
        let at = index.checked_sub(self.first_request)?;
        self.places.get(usize::try_from(at).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenly_spaced_stamps_are_no_clock() {
        let every = |gap: i128, n: i128| (0..n).map(|i| i * gap).collect::<Vec<i128>>();
        for gap in [1, 10, 10_000_000] {
            assert_eq!(suspicions(&every(gap, 1000)), [EVENLY_SPACED], "{gap}");
        }
        // Scaled stamps are rounded, and some lines of a trace may be missing.
        let rounded: Vec<i128> = (0..2000).map(|i| i * 21 / 2 + 1_000_000 * (i / 500)).collect();
        assert_eq!(suspicions(&rounded), [EVENLY_SPACED]);
        assert!(suspicions(&every(10_000_000, 999)).is_empty());
        // A coarse clock: many requests have the stamp of the one before.
        let coarse: Vec<i128> = (0..2000).map(|i| i / 20 * 1_000_000_000).collect();
        assert!(suspicions(&coarse).is_empty());
        let jittered: Vec<i128> = (0..2000).map(|i| i * 1_000_000 + i * i * 7919 % 997 * 400).collect();
        assert!(suspicions(&jittered).is_empty());
    }

    fn suspicions(stamps: &[i128]) -> Vec<String> {
        suspicions_of(stamps, 1, 0)
    }

    fn suspicions_of(stamps: &[i128], bytes: u64, step: u64) -> Vec<String> {
        let (mut intake, mut batch) = (Intake::default(), RequestBatch::default());
        for (i, &stamp) in stamps.iter().enumerate() {
            let record = Record { stamp, op: Op::Write, offset: i as u64 * step, bytes, device: ONE_DEVICE };
            assert!(intake.take(record, |_| String::new(), &mut batch).unwrap());
            intake.counts.requests += 1;
        }
        intake.note_times(&batch.time_ns, |i| format!("request {i}"));
        intake.summary(None, Some(TimeUnit::Nanoseconds), (step > 0).then_some(512), 0).suspicions
    }

    #[test]
    fn rates_and_spans_that_cannot_be_are_pointed_out() {
        let year = i128::from(YEAR_NS);
        for (stamps, expected) in [
            (&[5][..], None),
            (&[0, 1_000_000], None),
            (&[0, 1, 0, 1], Some("3000 million requests per second if the time stamps are in ns")),
            (&[0, 0], Some("all 2 time stamps are equal")),
            (&[0, 3_600_000_000_000], None),
            (&[0, 9_000_000_000_000], Some("one request in 2.5 hours if the time stamps are in ns")),
            (&[0, 29 * year, 58 * year], Some("the time stamps span 58 years if they are in ns")),
            (&[0, 31 * year], Some("1 time stamp lies more than 30 years from the previous one")),
            (&[0, 31 * year, 1], Some("2 time stamps lie more than 30 years from the previous one")),
        ] {
            let summary = suspicions(stamps);
            assert_eq!(summary.len(), usize::from(expected.is_some()), "{stamps:?} {summary:?}");
            assert!(expected.is_none_or(|e| summary[0].starts_with(e)), "{summary:?}");
        }
    }

    /// Count, place and distance do not depend on the batches of the stamps.
    #[test]
    fn stamps_that_run_backwards_are_counted_placed_and_measured() {
        let stamps = [0, 50, 20, 30, 25, 60, -5];
        for step in 1..=stamps.len() {
            let mut intake = Intake::default();
            for (batch, added) in stamps.chunks(step).enumerate() {
                intake.note_times(added, |i| format!("line {}", batch * step + i + 1));
            }
            let summary = intake.summary(None, None, None, 0);
            assert_eq!((summary.stamps_backwards, summary.furthest_back_ns), (3, 65), "{step}");
            assert_eq!(summary.first_backwards.as_deref(), Some("line 3"), "{step}");
        }
        let mut intake = Intake::default();
        intake.note_times(&[0, 1, 1, 2], |i| i.to_string());
        let summary = intake.summary(None, None, None, 0);
        assert_eq!(
            (summary.stamps_backwards, summary.first_backwards, summary.furthest_back_ns),
            (0, None, 0)
        );
    }

    #[test]
    fn more_bytes_a_second_than_a_drive_moves_are_pointed_out() {
        let summary = suspicions_of(&[0, 1000], 10_000, 0);
        assert_eq!(
            summary,
            ["20 GB per second if the time stamps are in ns; if they are not, use --time-unit"]
        );
        assert!(suspicions_of(&[0, 2000], 10_000, 0).is_empty());
    }

    #[test]
    fn many_requests_that_lie_far_apart_are_pointed_out() {
        let every = |seconds: i128| (0..100).map(|i| i * seconds * 1_000_000_000).collect::<Vec<_>>();
        assert_eq!(
            suspicions(&every(150)),
            ["one request in 2.5 minutes if the time stamps are in ns; if they are not, use --time-unit"]
        );
        assert!(suspicions(&every(119)).is_empty());
    }

    #[test]
    fn addresses_that_look_like_bytes_are_pointed_out() {
        let stamps: Vec<i128> = (0..100).map(|i| i * 1_000_000).collect();
        let summary = suspicions_of(&stamps, 512, 512 * 512);
        assert_eq!(
            summary,
            ["all addresses are multiples of 512: if they are in bytes, use --lba-unit byte"]
        );
        assert!(suspicions_of(&stamps, 512, 512 * 256).is_empty());
        assert!(suspicions_of(&stamps[..99], 512, 512 * 512).is_empty());
    }
}
