//! What is in a trace: counts, sizes, footprint, per device and in all, from one pass.

use crate::pages::{Distinct, PageSet};
use crate::source::Source;
use floatgate_base::{Op, RequestBatch, Result, TRACE_PAGE_BYTES};
use serde::Serialize;

/// Statistics of a trace; the fields are those of the JSON of `floatgate trace info`.
#[derive(Clone, Debug, Serialize)]
pub struct Info {
    /// Name of the format.
    pub format: String,
    /// Accepted requests.
    pub requests: u64,
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Requests that trim.
    pub trims: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes trimmed.
    pub trim_bytes: u64,
    /// Largest minus first stamp in seconds; null where there are no stamps.
    pub duration_s: Option<f64>,
    /// Distinct (device, 4 KiB page) written, even in part.
    pub pages_written_distinct: u64,
    /// Distinct (device, 4 KiB page) read, even in part.
    pub pages_read_distinct: u64,
    /// 1 - distinct / all 4 KiB page writes; null without writes.
    pub rewrite_share: Option<f64>,
    /// Distinct 4 KiB pages read or written, in bytes.
    pub footprint_bytes: u64,
    /// Mean size of a read in bytes; null without reads.
    pub mean_read_bytes: Option<f64>,
    /// Mean size of a write in bytes; null without writes.
    pub mean_write_bytes: Option<f64>,
    /// Share of the requests that begin and end at a multiple of 4 KiB.
    pub aligned_share: f64,
    /// Stamps smaller than the one before.
    pub stamps_backwards: u64,
    /// Stamps more than 30 years from the one before.
    pub stamp_jumps: u64,
    /// Records that are no read, write or TRIM, or that have no length.
    pub other_records: u64,
    /// Lines left out because they could not be understood.
    pub bad_lines_skipped: u64,
    /// The first of them with its message.
    pub first_bad_line: Option<String>,
    /// Lines of a tar archive's headers and padding, passed over.
    pub tar_lines: u64,
    /// What looks wrong without being an error, such as a rate that no drive serves.
    pub suspicions: Vec<String>,
    /// What was taken for granted because the format does not say it.
    pub assumed: Vec<String>,
    /// blake3 of the decompressed content; null for generators.
    pub content_hash: Option<String>,
    /// The same by device, in the order of their first request.
    pub devices: Vec<DeviceInfo>,
}

/// Statistics of one device of a trace.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DeviceInfo {
    /// Name as the trace gives it.
    pub name: String,
    /// Accepted requests.
    pub requests: u64,
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Requests that trim.
    pub trims: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes trimmed.
    pub trim_bytes: u64,
    /// Distinct 4 KiB pages written.
    pub pages_written_distinct: u64,
    /// Distinct 4 KiB pages read.
    pub pages_read_distinct: u64,
    /// Distinct 4 KiB pages read or written, in bytes.
    pub footprint_bytes: u64,
    /// First byte behind all requests: a drive must be at least this large.
    pub end_bytes: u64,
}

/// Totals by device and operation while they grow.
#[derive(Clone, Copy, Default)]
struct Sums {
    requests: [u64; 3],
    bytes: [u64; 3],
    end: u64,
}

/// What one pass collects.
#[derive(Default)]
struct Pass {
    devices: Vec<Sums>,
    pages: PageSet,
    page_writes: u64,
    aligned: u64,
    first_ns: Option<i64>,
    largest_ns: i64,
}

/// Reads a source to its end, from where it stands, and describes it.
///
/// # Errors
/// Those of the source.
pub fn info(source: &mut dyn Source) -> Result<Info> {
    let mut pass = Pass::default();
    let mut batch = RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN);
    loop {
        batch.clear();
        source.fill(&mut batch, RequestBatch::DEFAULT_LEN)?;
        if batch.is_empty() {
            return Ok(pass.describe(source));
        }
        pass.add(&batch);
    }
}

impl Pass {
    fn add(&mut self, batch: &RequestBatch) {
        self.first_ns.get_or_insert(batch.time_ns[0]);
        self.largest_ns = batch.time_ns.iter().copied().fold(self.largest_ns, i64::max);
        let devices = batch.device.iter().max().map_or(0, |d| usize::from(*d) + 1);
        if devices > self.devices.len() {
            self.devices.resize(devices, Sums::default());
        }
        let columns = batch.device.iter().zip(&batch.op).zip(batch.offset.iter().zip(&batch.bytes));
        for ((&device, &op), (&offset, &bytes)) in columns {
            let sums = &mut self.devices[usize::from(device)];
            sums.requests[op as usize] += 1;
            // Sizes of TRIMs are bounded by the address space only, so a sum of them may not fit.
            sums.bytes[op as usize] = sums.bytes[op as usize].saturating_add(bytes);
            sums.end = sums.end.max(offset + bytes);
            self.aligned += u64::from((offset | bytes) % TRACE_PAGE_BYTES == 0);
            let pages = self.pages.touch(device, op, offset, bytes);
            self.page_writes += if op == Op::Write { pages } else { 0 };
        }
    }

    fn describe(&self, source: &dyn Source) -> Info {
        let distinct = self.pages.count(self.devices.len());
        let name = |i: usize| source.devices().get(i).cloned().unwrap_or_default();
        let rows = self.devices.iter().zip(&distinct).enumerate();
        let devices: Vec<DeviceInfo> = rows.map(|(i, (s, d))| row(name(i), s, d)).collect();
        let sum = |of: fn(&DeviceInfo) -> u64| devices.iter().map(of).fold(0, u64::saturating_add);
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        let (requests, reads, writes) = (sum(|d| d.requests), sum(|d| d.reads), sum(|d| d.writes));
        let (read_bytes, write_bytes) = (sum(|d| d.read_bytes), sum(|d| d.write_bytes));
        let written = sum(|d| d.pages_written_distinct);
        let summary = source.summary();
        Info {
            format: source.format().to_owned(),
            requests,
            reads,
            writes,
            trims: sum(|d| d.trims),
            read_bytes,
            write_bytes,
            trim_bytes: sum(|d| d.trim_bytes),
            duration_s: source
                .has_times()
                .then(|| (self.largest_ns as f64 - self.first_ns.unwrap_or(0) as f64) / 1e9),
            pages_written_distinct: written,
            pages_read_distinct: sum(|d| d.pages_read_distinct),
            rewrite_share: share(self.page_writes - written, self.page_writes),
            footprint_bytes: sum(|d| d.footprint_bytes),
            mean_read_bytes: share(read_bytes, reads),
            mean_write_bytes: share(write_bytes, writes),
            aligned_share: share(self.aligned, requests).unwrap_or(0.0),
            stamps_backwards: summary.stamps_backwards,
            stamp_jumps: summary.stamp_jumps,
            other_records: summary.other_records,
            bad_lines_skipped: summary.bad_lines_skipped,
            first_bad_line: summary.first_bad_line,
            tar_lines: summary.tar_lines,
            suspicions: summary.suspicions,
            assumed: source.assumed(),
            content_hash: summary.content_hash,
            devices,
        }
    }
}

fn row(name: String, sums: &Sums, distinct: &Distinct) -> DeviceInfo {
    let of = |op: Op| (sums.requests[op as usize], sums.bytes[op as usize]);
    let ((reads, read_bytes), (writes, write_bytes)) = (of(Op::Read), of(Op::Write));
    let (trims, trim_bytes) = of(Op::Trim);
    DeviceInfo {
        name,
        requests: reads + writes + trims,
        reads,
        writes,
        trims,
        read_bytes,
        write_bytes,
        trim_bytes,
        pages_written_distinct: distinct.written,
        pages_read_distinct: distinct.read,
        footprint_bytes: distinct.touched.saturating_mul(TRACE_PAGE_BYTES),
        end_bytes: sums.end,
    }
}
