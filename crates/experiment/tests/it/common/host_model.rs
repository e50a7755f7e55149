//! What the host interface owes to a list of requests, counted page by page: a second opinion without shared code.

use floatgate_base::testing::Bound;
use floatgate_base::{Op, RequestBatch};

/// Counts that a result must show exactly, whatever the FTL does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    pub requests: u64,
    pub read_requests: u64,
    pub write_requests: u64,
    pub trim_requests: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub trim_bytes: u64,
    pub page_reads: u64,
    pub page_writes: u64,
    /// Pages written in part.
    pub partial: u64,
    /// Of these, pages that held data.
    pub partial_reads: u64,
    /// Host page reads that found data, and that found none.
    pub mapped_reads: u64,
    pub unmapped_reads: u64,
    /// Pages programmed because they were read and held nothing.
    pub programmed_unwritten: u64,
    /// Nanoseconds from the first counted request to the last; 0 where the workload has no time.
    pub span_ns: i64,
}

/// How addresses come onto the drive; the keys `workload.beyond` and `workload.devices`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub page_bytes: u64,
    pub logical_pages: u64,
    pub fold: bool,
    /// 0 refuse, 1 wrap, 2 scale.
    pub beyond: u8,
    /// `ftl.unwritten_reads` is "program".
    pub programs_unwritten: bool,
}

impl Rules {
    /// One device whose addresses fit.
    pub fn plain(page_bytes: u64, logical_pages: u64, programs_unwritten: bool) -> Self {
        Self { page_bytes, logical_pages, fold: false, beyond: 0, programs_unwritten }
    }
}

/// A drive that only knows which logical pages hold data.
pub struct HostModel {
    rules: Rules,
    bases: Vec<u64>,
    span: u64,
    mapped: Vec<bool>,
    pub counted: Expected,
    /// Pages written and (true) given up whole, in order.
    pub changes: Vec<(u32, bool)>,
}

impl HostModel {
    /// A drive before the requests of `batch`, full or empty.
    pub fn new(rules: Rules, batch: &RequestBatch, full: bool) -> Self {
        let mut ends = vec![0u64; 1];
        for i in 0..batch.len() {
            let device = usize::from(batch.device[i]);
            if device >= ends.len() {
                ends.resize(device + 1, 0);
            }
            ends[device] = ends[device].max((batch.offset[i] + batch.bytes[i]).div_ceil(rules.page_bytes));
        }
        let mut bases = vec![0; ends.len()];
        if !rules.fold {
            (1..ends.len()).for_each(|d| bases[d] = bases[d - 1] + ends[d - 1]);
        }
        let span = if rules.fold { ends.iter().copied().max().unwrap() } else { ends.iter().sum() };
        let mapped = vec![full; rules.logical_pages as usize];
        Self { rules, bases, span: span.max(1), mapped, counted: Expected::default(), changes: Vec::new() }
    }

    /// Serves the requests in `range`.
    pub fn serve(&mut self, batch: &RequestBatch, range: std::ops::Range<usize>) {
        for i in range {
            let (op, bytes) = (batch.op[i], batch.bytes[i]);
            let count = &mut self.counted;
            count.requests += 1;
            match op {
                Op::Read => {
                    (count.read_requests, count.read_bytes) =
                        (count.read_requests + 1, count.read_bytes + bytes)
                }
                Op::Write => {
                    (count.write_requests, count.write_bytes) =
                        (count.write_requests + 1, count.write_bytes + bytes)
                }
                Op::Trim => {
                    (count.trim_requests, count.trim_bytes) =
                        (count.trim_requests + 1, count.trim_bytes + bytes)
                }
            }
            let page = self.rules.page_bytes;
            let end_of_drive = self.rules.logical_pages * page;
            let address = self.bases[usize::from(batch.device[i])] * page + batch.offset[i];
            let mut at = match self.rules.beyond {
                0 => address,
                1 => address % end_of_drive,
                _ => {
                    let place = address / page * self.rules.logical_pages / self.span;
                    place.min(self.rules.logical_pages - 1) * page + address % page
                }
            };
            let mut left = bytes;
            let mut bound = Bound::new(100_000_000);
            while left > 0 {
                bound.step();
                let piece = left.min(end_of_drive - at);
                self.piece(op, at, at + piece);
                left -= piece;
                at = 0;
            }
        }
    }

    fn piece(&mut self, op: Op, start: u64, end: u64) {
        let page = self.rules.page_bytes;
        for p in start / page..end.div_ceil(page) {
            let whole = start <= p * page && (p + 1) * page <= end;
            let mapped = &mut self.mapped[p as usize];
            let count = &mut self.counted;
            match op {
                Op::Read => {
                    count.page_reads += 1;
                    if self.rules.programs_unwritten && !*mapped {
                        count.programmed_unwritten += 1;
                        *mapped = true;
                    }
                    count.mapped_reads += u64::from(*mapped);
                    count.unmapped_reads += u64::from(!*mapped);
                }
                Op::Write => {
                    count.page_writes += 1;
                    count.partial += u64::from(!whole);
                    count.partial_reads += u64::from(!whole && *mapped);
                    *mapped = true;
                    self.changes.push((p as u32, false));
                }
                Op::Trim => {
                    *mapped &= !whole;
                    if whole {
                        self.changes.push((p as u32, true));
                    }
                }
            }
        }
    }
}
