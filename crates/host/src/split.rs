//! Splits requests into extents of pages.

use crate::counters::HostCounters;
use crate::placement::{Outside, Placement};
use floatgate_base::batch::flags::{FLUSH, FUA};
use floatgate_base::{Error, ExtentKind as Kind, Extents, Lpn, Op, Part, RequestBatch, Wanted};
use std::ops::Range;

/// Splits requests into extents and counts them by device.
#[derive(Clone, Debug)]
pub struct Splitter {
    placement: Placement,
    page_shift: u32,
    counters: Vec<HostCounters>,
    /// Requests whose address was wrapped or scaled.
    pub requests_moved: u64,
    /// The optional columns of extents.
    wanted: Wanted,
    /// Whether flags of requests become extents.
    flushes: bool,
}

impl Splitter {
    /// Creates a splitter for pages of `page_bytes`, a power of two.
    #[must_use]
    pub fn new(placement: Placement, page_bytes: u32) -> Self {
        let page_shift = page_bytes.trailing_zeros();
        Self {
            placement,
            page_shift,
            counters: Vec::new(),
            requests_moved: 0,
            wanted: Wanted::default(),
            flushes: false,
        }
    }

    /// Adds these optional columns to extents.
    #[must_use]
    pub fn with_columns(self, wanted: Wanted) -> Self {
        Self { wanted, ..self }
    }

    /// Adds extents for FLUSH, before those of the request, and for FUA, after those of the write.
    #[must_use]
    pub fn with_flushes(self, flushes: bool) -> Self {
        Self { flushes, ..self }
    }

    /// Returns the counters by device, in the order of the source's table.
    #[must_use]
    pub fn counters(&self) -> &[HostCounters] {
        &self.counters
    }

    /// Returns the counters of all devices together.
    #[must_use]
    pub fn total(&self) -> HostCounters {
        let mut total = HostCounters::default();
        self.counters.iter().for_each(|c| total.add(c));
        total
    }

    /// Restores the counters from a snapshot.
    pub fn restore(&mut self, counters: Vec<HostCounters>, requests_moved: u64) {
        (self.counters, self.requests_moved) = (counters, requests_moved);
    }

    /// Resets the counters.
    pub fn reset_counts(&mut self) {
        self.counters.fill(HostCounters::default());
        self.requests_moved = 0;
    }

    /// Appends the extents of the requests in `range`, and to `ends` the number of extents after each request. If a
    /// request cannot be placed, the requests before it stay split.
    ///
    /// # Errors
    /// The number of the request in the batch, and why it cannot be placed.
    pub fn split(
        &mut self,
        batch: &RequestBatch,
        range: Range<usize>,
        out: &mut Extents,
        ends: &mut Vec<usize>,
    ) -> Result<(), (usize, Outside)> {
        match (self.wanted.any(), self.flushes) {
            (false, false) => self.split_all::<false, false>(batch, range, out, ends),
            (true, false) => self.split_all::<true, false>(batch, range, out, ends),
            (_, true) => self.split_all::<true, true>(batch, range, out, ends),
        }
    }

    /// Implements [`Splitter::split`] with or without optional columns and flushes.
    fn split_all<const COLUMNS: bool, const FLUSHES: bool>(
        &mut self,
        batch: &RequestBatch,
        range: Range<usize>,
        out: &mut Extents,
        ends: &mut Vec<usize>,
    ) -> Result<(), (usize, Outside)> {
        let devices_max = batch.device[range.clone()].iter().copied().max().unwrap_or(0);
        if self.counters.len() <= usize::from(devices_max) {
            self.counters.resize(usize::from(devices_max) + 1, HostCounters::default());
        }
        let logical_bytes = self.placement.logical_bytes();
        let (wanted, page_shift) = (self.wanted, self.page_shift);
        let mut left = range;
        loop {
            if !COLUMNS && !FLUSHES {
                left.start += self.split_whole(batch, left.clone(), out, ends);
            }
            let Some(i) = left.next() else { return Ok(()) };
            let (device, op, mut bytes) = (batch.device[i], batch.op[i], batch.bytes[i]);
            let (mut start, moved) =
                self.placement.place(device, batch.offset[i], bytes).map_err(|why| (i, why))?;
            self.requests_moved += u64::from(moved);
            let count = &mut self.counters[usize::from(device)];
            count_request(count, op, bytes);
            if op == Op::Trim {
                // Trimming the whole drive more than once has no further effect. A range that begins inside a page
                // reaches the rest of that page in the second round.
                let aligned = start.is_multiple_of(1 << self.page_shift);
                bytes = bytes.min(if aligned { logical_bytes } else { 2 * logical_bytes - start });
            }
            let flags = if FLUSHES { batch.flags_of(i) } else { 0 };
            if FLUSHES && flags & FLUSH != 0 {
                out.push(Lpn(0), 0, Kind::Flush);
                out.pad_columns(wanted);
            }
            let extent = out.len();
            let part = |start, bytes, left| {
                let before = batch.bytes[i].saturating_sub(left);
                Part { batch, request: i, extent, start, bytes, before, page_shift }
            };
            // A wrapped request continues at the drive's first byte.
            while start + bytes > logical_bytes {
                let head = logical_bytes - start;
                pages_of(op, start, head, self.page_shift, count, out);
                if COLUMNS {
                    out.make_columns(wanted, &part(start, head, bytes));
                }
                (start, bytes) = (0, bytes - head);
            }
            pages_of(op, start, bytes, self.page_shift, count, out);
            if COLUMNS {
                out.make_columns(wanted, &part(start, bytes, bytes));
            }
            if FLUSHES && flags & FUA != 0 && op == Op::Write {
                force(extent, wanted, out);
            }
            ends.push(out.len());
        }
    }

    /// Appends the extents of the first requests in `range` as long as they read or write whole pages inside the drive,
    /// on one device. Works column by column, which takes half of the instructions. Returns their number; 0 if it is
    /// not worth it.
    fn split_whole(
        &mut self,
        batch: &RequestBatch,
        range: Range<usize>,
        out: &mut Extents,
        ends: &mut Vec<usize>,
    ) -> usize {
        let Some(&device) = batch.device.get(range.start) else { return 0 };
        let Some((base, room)) = self.placement.room_of(device) else { return 0 };
        let (shift, mask) = (self.page_shift, (1u64 << self.page_shift) - 1);
        let (ops, devices) = (&batch.op[range.clone()], &batch.device[range.clone()]);
        let spans = batch.offset[range.clone()].iter().zip(&batch.bytes[range.clone()]);
        let fits = |((&offset, &bytes), (&op, &of)): ((&u64, &u64), (&Op, &u16))| {
            let whole = (offset | bytes) & mask == 0 && bytes > 0;
            whole && bytes <= room && offset <= room - bytes && of == device && op != Op::Trim
        };
        let requests = spans.zip(ops.iter().zip(devices)).take_while(|&request| fits(request)).count();
        if requests < WHOLE_MIN {
            return 0;
        }
        let range = range.start..range.start + requests;
        let extents = out.len();
        out.lpn
            .extend(batch.offset[range.clone()].iter().map(|offset| Lpn(((base + offset) >> shift) as u32)));
        out.pages.extend(batch.bytes[range.clone()].iter().map(|bytes| (bytes >> shift) as u32));
        let ops = &batch.op[range.clone()];
        out.kind.extend(ops.iter().map(|&op| if op == Op::Read { Kind::Read } else { Kind::Write }));
        ends.extend(extents + 1..=extents + requests);
        let (mut all_bytes, mut reads, mut read_bytes) = (0, 0, 0);
        for (&op, &bytes) in ops.iter().zip(&batch.bytes[range]) {
            all_bytes += bytes;
            reads += u64::from(op == Op::Read);
            read_bytes += if op == Op::Read { bytes } else { 0 };
        }
        let count = &mut self.counters[usize::from(device)];
        count.read_requests += reads;
        count.read_bytes += read_bytes;
        count.page_reads += read_bytes >> shift;
        count.write_requests += requests as u64 - reads;
        count.write_bytes += all_bytes - read_bytes;
        count.page_writes += (all_bytes - read_bytes) >> shift;
        requests
    }
}

/// Least run of requests of whole pages that is split column by column.
const WHOLE_MIN: usize = 8;

/// Counts a request, but not its pages.
#[inline(always)]
fn count_request(count: &mut HostCounters, op: Op, bytes: u64) {
    let (requests, sum) = match op {
        Op::Read => (&mut count.read_requests, &mut count.read_bytes),
        Op::Write => (&mut count.write_requests, &mut count.write_bytes),
        Op::Trim => (&mut count.trim_requests, &mut count.trim_bytes),
    };
    *requests += 1;
    *sum += bytes;
}

/// Appends the extents that force the writes from `extent` to flash.
#[cold]
fn force(extent: usize, wanted: Wanted, out: &mut Extents) {
    for i in extent..out.len() {
        out.push(out.lpn[i], out.pages[i], Kind::Flush);
    }
    out.pad_columns(wanted);
}

/// Appends the extents of one range of bytes.
#[inline(always)]
fn pages_of(op: Op, start: u64, bytes: u64, shift: u32, count: &mut HostCounters, out: &mut Extents) {
    if bytes == 0 {
        return;
    }
    let mask = (1u64 << shift) - 1;
    let end = start + bytes;
    // All pages touched, and those covered entirely.
    let (first, last) = (start >> shift, (end - 1) >> shift);
    let (whole_first, whole_end) = ((start + mask) >> shift, end >> shift);
    let pages = last - first + 1;
    match op {
        Op::Read => {
            count.page_reads += pages;
            out.push(Lpn(first as u32), pages as u32, Kind::Read);
        }
        Op::Write => {
            count.page_writes += pages;
            if start & mask == 0 && end & mask == 0 {
                out.push(Lpn(first as u32), pages as u32, Kind::Write);
                return;
            }
            if first < whole_first {
                out.push(Lpn(first as u32), 1, Kind::WritePartial);
            }
            if whole_first < whole_end {
                out.push(Lpn(whole_first as u32), (whole_end - whole_first) as u32, Kind::Write);
            }
            if end & mask != 0 && last >= whole_first {
                out.push(Lpn(last as u32), 1, Kind::WritePartial);
            }
        }
        // A page that is trimmed in part is still needed.
        Op::Trim if whole_first < whole_end => {
            out.push(Lpn(whole_first as u32), (whole_end - whole_first) as u32, Kind::Trim);
        }
        Op::Trim => {}
    }
}

/// Returns the error for a trace that addresses `end` bytes of a drive with fewer logical bytes; `capacity` is the
/// flash of a similar drive that holds it.
#[must_use]
pub fn beyond_drive(place: &str, end: u64, logical_bytes: u64, capacity: u64) -> Box<Error> {
    use floatgate_base::units::{exact_bytes, show_bytes};
    Error::input(
        floatgate_base::Place::Setting(place.to_string()),
        format!(
            "the trace addresses {} ({end} bytes) but the drive has {} ({logical_bytes} bytes)",
            show_bytes(end),
            show_bytes(logical_bytes)
        ),
        format!(
            "expected drive.capacity = \"{}\" or more, or workload.beyond = \"wrap\" or \"scale\"",
            exact_bytes(capacity)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::{Beyond, Devices};
    use floatgate_base::Hints;

    fn split(
        op: Op,
        offset: u64,
        bytes: u64,
        pages: u32,
        beyond: Beyond,
    ) -> (Vec<(u32, u32, Kind)>, HostCounters) {
        let placement = Placement::new(4096, pages, beyond, Devices::Apart, &[]);
        let mut splitter = Splitter::new(placement, 4096);
        let mut batch = RequestBatch::default();
        batch.push(0, 0, op, offset, bytes);
        let mut out = Extents::default();
        splitter.split(&batch, 0..1, &mut out, &mut Vec::new()).unwrap();
        ((0..out.len()).map(|i| (out.lpn[i].0, out.pages[i], out.kind[i])).collect(), splitter.total())
    }

    #[test]
    fn writes_touch_partial_and_whole_pages() {
        let w = |offset, bytes| split(Op::Write, offset, bytes, 100, Beyond::Refuse).0;
        assert_eq!(w(0, 4096), [(0, 1, Kind::Write)]);
        assert_eq!(w(4096, 3 * 4096), [(1, 3, Kind::Write)]);
        assert_eq!(w(512, 512), [(0, 1, Kind::WritePartial)]);
        assert_eq!(w(512, 3584), [(0, 1, Kind::WritePartial)]);
        assert_eq!(w(0, 512), [(0, 1, Kind::WritePartial)]);
        assert_eq!(w(4000, 200), [(0, 1, Kind::WritePartial), (1, 1, Kind::WritePartial)]);
        assert_eq!(
            w(4000, 9000),
            [(0, 1, Kind::WritePartial), (1, 2, Kind::Write), (3, 1, Kind::WritePartial)]
        );
        assert_eq!(w(4096, 5000), [(1, 1, Kind::Write), (2, 1, Kind::WritePartial)]);
        assert_eq!(split(Op::Write, 4000, 9000, 100, Beyond::Refuse).1.page_writes, 4);
    }

    /// Requests of whole pages are split column by column, with other requests between them.
    #[test]
    fn many_requests_become_what_each_becomes_alone() {
        let mut rng = floatgate_base::Rng::new(3, "split");
        for (beyond, share) in
            [(Beyond::Refuse, 100), (Beyond::Wrap, 30), (Beyond::Scale, 30), (Beyond::Wrap, 2)]
        {
            let placement = || Placement::new(4096, 100, beyond, Devices::Apart, &[60 * 4096, 40 * 4096]);
            let mut batch = RequestBatch::default();
            for _ in 0..2000 {
                let whole = rng.below(share) > 0;
                let (unit, most) = if whole { (4096, 4) } else { (100, 400) };
                let op = match rng.below(if whole { 2 } else { 3 }) {
                    0 => Op::Read,
                    1 => Op::Write,
                    _ => Op::Trim,
                };
                let device = u16::from(rng.below(share) == 0);
                let limit = if beyond == Beyond::Refuse { 30 * 4096 } else { 110 * 4096 };
                batch.push(0, device, op, rng.below(limit / unit) * unit, rng.below(most) * unit);
            }
            let (mut all, mut extents, mut ends) =
                (Splitter::new(placement(), 4096), Extents::default(), vec![]);
            all.split(&batch, 0..batch.len(), &mut extents, &mut ends).unwrap();
            let (mut one, mut expected, mut expected_ends) =
                (Splitter::new(placement(), 4096), Extents::default(), vec![]);
            for i in 0..batch.len() {
                one.split(&batch, i..i + 1, &mut expected, &mut expected_ends).unwrap();
            }
            assert_eq!((&extents.lpn, &extents.pages), (&expected.lpn, &expected.pages), "{beyond:?}");
            assert_eq!((&extents.kind, &ends), (&expected.kind, &expected_ends));
            assert_eq!(all.counters(), one.counters());
            assert_eq!(all.requests_moved, one.requests_moved);
        }
    }

    #[test]
    fn hints_are_those_of_the_request_for_each_of_its_extents() {
        let placement = Placement::new(4096, 100, Beyond::Refuse, Devices::Apart, &[]);
        let mut splitter =
            Splitter::new(placement, 4096).with_columns(Wanted { hints: true, ..Wanted::default() });
        let mut batch = RequestBatch::default();
        batch.push(0, 0, Op::Write, 4000, 9000);
        batch.push(0, 0, Op::Write, 0, 4096);
        (batch.context, batch.stream) = (vec![7, 8], vec![1, 2]);
        let mut out = Extents::default();
        splitter.split(&batch, 0..2, &mut out, &mut Vec::new()).unwrap();
        let first = Hints { context: 7, handle: 1, request_pages: 4, ..Hints::default() };
        let second = Hints { context: 8, handle: 2, request_pages: 1, ..Hints::default() };
        assert_eq!(out.columns.hints, [first, first, first, second]);
    }

    #[test]
    fn edges_are_what_is_touched_of_the_outer_pages() {
        let edges = |op, offset, bytes, pages| {
            let placement = Placement::new(4096, pages, Beyond::Wrap, Devices::Apart, &[]);
            let mut splitter =
                Splitter::new(placement, 4096).with_columns(Wanted { edges: true, ..Wanted::default() });
            let mut batch = RequestBatch::default();
            batch.push(0, 0, op, offset, bytes);
            let mut out = Extents::default();
            splitter.split(&batch, 0..1, &mut out, &mut Vec::new()).unwrap();
            assert_eq!(out.columns.edges.len(), out.len());
            out.columns.edges
        };
        assert_eq!(edges(Op::Write, 0, 8192, 9), [(0, 4096)]);
        assert_eq!(edges(Op::Write, 1, 1, 9), [(1, 2)]);
        assert_eq!(edges(Op::Write, 4000, 9000, 9), [(4000, 4096), (0, 4096), (0, 712)]);
        assert_eq!(edges(Op::Read, 4000, 9000, 9), [(4000, 712)]);
        assert_eq!(edges(Op::Trim, 4000, 9000, 9), [(0, 4096)]);
        // Across the end of the drive: 100 bytes there, 100 at the start.
        assert_eq!(edges(Op::Write, 2 * 4096 - 100, 200, 2), [(3996, 4096), (0, 100)]);
    }

    #[test]
    fn a_flush_comes_first_and_fua_last() {
        let placement = Placement::new(4096, 10, Beyond::Wrap, Devices::Apart, &[]);
        let wanted = Wanted { edges: true, hints: true, ..Wanted::default() };
        let mut splitter = Splitter::new(placement, 4096).with_columns(wanted).with_flushes(true);
        let mut batch = RequestBatch::default();
        batch.push(0, 0, Op::Write, 9 * 4096, 3 * 4096);
        batch.push(0, 0, Op::Read, 0, 4096);
        batch.push(0, 0, Op::Write, 4000, 200);
        batch.flags.extend([FLUSH | FUA, FUA, FLUSH]);
        let (mut out, mut ends) = (Extents::default(), Vec::new());
        splitter.split(&batch, 0..3, &mut out, &mut ends).unwrap();
        let extents: Vec<_> = (0..out.len()).map(|i| (out.lpn[i].0, out.pages[i], out.kind[i])).collect();
        let force = Kind::Flush;
        let write = [(0, 0, force), (9, 1, Kind::Write), (0, 2, Kind::Write), (9, 1, force), (0, 2, force)];
        assert_eq!(extents[..5], write);
        assert_eq!(extents[5..7], [(0, 1, Kind::Read), (0, 0, force)]);
        assert_eq!(extents[7..], [(0, 1, Kind::WritePartial), (1, 1, Kind::WritePartial)]);
        assert_eq!(ends, [5, 6, 9]);
        assert_eq!(out.columns.edges[5..], [(0, 4096), (0, 0), (4000, 4096), (0, 104)]);
        assert_eq!(out.columns.hints[1].request_pages, 3);
        assert_eq!(out.columns.hints[7].request_pages, 2);
    }

    #[test]
    fn reads_touch_and_trims_spare_partial_pages() {
        assert_eq!(split(Op::Read, 4000, 200, 100, Beyond::Refuse).0, [(0, 2, Kind::Read)]);
        assert_eq!(split(Op::Trim, 4000, 200, 100, Beyond::Refuse).0, []);
        assert_eq!(split(Op::Trim, 4000, 9000, 100, Beyond::Refuse).0, [(1, 2, Kind::Trim)]);
    }

    /// From a random run: a trim that wraps around more than once trims the whole drive, including the page in which it
    /// begins.
    #[test]
    fn a_trim_of_more_than_the_drive_gives_up_all_of_it() {
        let trims = |offset, bytes| split(Op::Trim, offset, bytes, 3, Beyond::Wrap).0;
        // One round: the first page is trimmed in two parts, and is still needed.
        assert_eq!(trims(100, 3 * 4096), [(1, 2, Kind::Trim)]);
        for bytes in [6 * 4096, 7 * 4096, 1 << 40] {
            assert_eq!(trims(100, bytes), [(1, 2, Kind::Trim), (0, 3, Kind::Trim)], "{bytes}");
        }
    }

    #[test]
    fn a_wrapped_request_goes_on_at_the_start() {
        let (extents, count) = split(Op::Write, 9 * 4096, 3 * 4096, 10, Beyond::Wrap);
        assert_eq!(extents, [(9, 1, Kind::Write), (0, 2, Kind::Write)]);
        assert_eq!(count.page_writes, 3);
        let (_, count) = split(Op::Trim, u64::MAX - 4096, 4096, 10, Beyond::Wrap);
        assert_eq!((count.trim_requests, count.trim_bytes), (1, 4096));
        let (extents, _) = split(Op::Trim, 0, u64::MAX, 10, Beyond::Wrap);
        assert_eq!(extents, [(0, 10, Kind::Trim)]);
    }
}
