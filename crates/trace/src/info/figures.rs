//! The statistics of a trace, as returned to the caller.

use super::content::ContentInfo;
use super::contexts::{ContextsInfo, StreamsInfo};
use super::demand::DemandInfo;
use super::device::DeviceInfo;
use super::frequency::FrequencyInfo;
use super::reuse::ReuseInfo;
use super::sequentiality::SequentialityInfo;
use super::sizes::{AlignmentInfo, SizesInfo};
use super::updates::UpdateInfo;
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
    /// Largest minus first stamp in seconds; null without stamps.
    pub duration_s: Option<f64>,
    /// Bytes read per day at the mean rate; null without a duration.
    pub read_bytes_per_day: Option<f64>,
    /// Bytes written per day at the mean rate; null without a duration.
    pub write_bytes_per_day: Option<f64>,
    /// Distinct (device, 4 KiB page) written, even in part.
    pub pages_written_distinct: u64,
    /// Distinct (device, 4 KiB page) read, even in part.
    pub pages_read_distinct: u64,
    /// 1 - distinct / all 4 KiB page writes; null without writes.
    pub rewrite_share: Option<f64>,
    /// Distinct 4 KiB pages read or written, in bytes.
    pub footprint_bytes: u64,
    /// Share of the pages that were followed for distinct counts; 1 means exact.
    pub pages_sampled_share: f64,
    /// Mean size of a read in bytes; null without reads.
    pub mean_read_bytes: Option<f64>,
    /// Mean size of a write in bytes; null without writes.
    pub mean_write_bytes: Option<f64>,
    /// Share of the requests that begin and end at a multiple of 4 KiB.
    pub aligned_share: f64,
    /// Stamps smaller than the previous one.
    pub stamps_backwards: u64,
    /// Place of the first of them: a line, a byte, a row or a request; null without any.
    pub stamps_backwards_first: Option<String>,
    /// Largest step back of a stamp in seconds; null without any.
    pub stamps_backwards_s_max: Option<f64>,
    /// Stamps more than 30 years from the previous one.
    pub stamp_jumps: u64,
    /// Records that are not a read, write or TRIM, or that have no length.
    pub other_records: u64,
    /// Skipped lines that could not be parsed.
    pub bad_lines_skipped: u64,
    /// The first of them with its message.
    pub first_bad_line: Option<String>,
    /// Skipped lines of a tar archive's headers and padding.
    pub tar_lines: u64,
    /// Suspicious findings that are not errors, such as a rate beyond any drive.
    pub suspicions: Vec<String>,
    /// Assumptions where the format is silent.
    pub assumed: Vec<String>,
    /// BLAKE3 hash of the decompressed content; null for generators.
    pub content_hash: Option<String>,
    /// The same by device, in the order of their first request.
    pub devices: Vec<DeviceInfo>,
    /// Sizes of requests; null, as everything below, if only counts were requested.
    pub sizes: Option<SizesInfo>,
    /// Alignment of the requests' first bytes.
    pub alignment: Option<AlignmentInfo>,
    /// Intervals between writes of a page.
    pub update_interval: Option<UpdateInfo>,
    /// Number of other pages accessed between two accesses to a page, and the hit ratios of LRU caches.
    pub reuse_distance: Option<ReuseInfo>,
    /// Number of writes and reads per page.
    pub frequency: Option<FrequencyInfo>,
    /// Share of requests that continue earlier ones.
    pub sequentiality: Option<SequentialityInfo>,
    /// Demand over time; null if the trace has no times.
    pub demand: Option<DemandInfo>,
    /// Content of written pages; null if the trace does not record it.
    pub content: Option<ContentInfo>,
    /// Program contexts; null if the trace has none.
    pub contexts: Option<ContextsInfo>,
    /// Streams assigned by the host; null if the trace has none.
    pub streams: Option<StreamsInfo>,
}
