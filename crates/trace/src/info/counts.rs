//! Counts, bytes and footprint, by device and in total.

use super::device::DeviceInfo;
use super::figures::Info;
use crate::pages::{Distinct, PageSet};
use crate::source::Source;
use floatgate_base::{Op, RequestBatch, TRACE_PAGE_BYTES};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Running totals by device and operation.
#[derive(Clone, Copy, Default)]
struct Sums {
    requests: [u64; 3],
    bytes: [u64; 3],
    end: u64,
}

/// Counters of one pass over the trace.
#[derive(Default)]
pub(crate) struct Counts {
    devices: Vec<Sums>,
    pages: PageSet,
    page_writes: u64,
    aligned: u64,
    first_ns: Option<i64>,
    largest_ns: i64,
}

impl Counts {
    pub fn add(&mut self, batch: &RequestBatch) {
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
            // TRIM sizes are bounded only by the address space; their sum may overflow.
            sums.bytes[op as usize] = sums.bytes[op as usize].saturating_add(bytes);
            sums.end = sums.end.max(offset + bytes);
            self.aligned += u64::from((offset | bytes) % TRACE_PAGE_BYTES == 0);
            let pages = self.pages.touch(device, op, offset, bytes);
            self.page_writes += if op == Op::Write { pages } else { 0 };
        }
    }

    pub fn describe(&self, source: &dyn Source) -> Info {
        let distinct = self.pages.count(self.devices.len());
        let name = |i: usize| source.devices().get(i).cloned().unwrap_or_default();
        let rows = self.devices.iter().zip(&distinct).enumerate();
        let devices: Vec<DeviceInfo> = rows.map(|(i, (s, d))| row(name(i), s, d)).collect();
        let sum = |of: fn(&DeviceInfo) -> u64| devices.iter().map(of).fold(0, u64::saturating_add);
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        let (requests, reads, writes) = (sum(|d| d.requests), sum(|d| d.reads), sum(|d| d.writes));
        let (read_bytes, write_bytes) = (sum(|d| d.read_bytes), sum(|d| d.write_bytes));
        let written = sum(|d| d.pages_written_distinct);
        let duration_s =
            source.has_times().then(|| (self.largest_ns as f64 - self.first_ns.unwrap_or(0) as f64) / 1e9);
        let per_day =
            |bytes: u64| duration_s.filter(|&s| s > 0.0).map(|s| bytes as f64 / s * SECONDS_PER_DAY);
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
            duration_s,
            read_bytes_per_day: per_day(read_bytes),
            write_bytes_per_day: per_day(write_bytes),
            pages_written_distinct: written,
            pages_read_distinct: sum(|d| d.pages_read_distinct),
            rewrite_share: share(self.page_writes.saturating_sub(written), self.page_writes),
            footprint_bytes: sum(|d| d.footprint_bytes),
            pages_sampled_share: self.pages.sampled_share(),
            mean_read_bytes: share(read_bytes, reads),
            mean_write_bytes: share(write_bytes, writes),
            aligned_share: share(self.aligned, requests).unwrap_or(0.0),
            stamps_backwards: summary.stamps_backwards,
            stamps_backwards_s_max: summary.furthest_back_s(),
            stamps_backwards_first: summary.first_backwards,
            stamp_jumps: summary.stamp_jumps,
            other_records: summary.other_records,
            bad_lines_skipped: summary.bad_lines_skipped,
            first_bad_line: summary.first_bad_line,
            tar_lines: summary.tar_lines,
            suspicions: summary.suspicions,
            assumed: source.assumed(),
            content_hash: summary.content_hash,
            devices,
            sizes: None,
            alignment: None,
            update_interval: None,
            reuse_distance: None,
            frequency: None,
            sequentiality: None,
            demand: None,
            content: None,
            contexts: None,
            streams: None,
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
