//! The statistics of a trace, as they are handed out.

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
    /// Share of the pages that were followed for counts of distinct ones; 1 means that they are exact.
    pub pages_sampled_share: f64,
    /// Mean size of a read in bytes; null without reads.
    pub mean_read_bytes: Option<f64>,
    /// Mean size of a write in bytes; null without writes.
    pub mean_write_bytes: Option<f64>,
    /// Share of the requests that begin and end at a multiple of 4 KiB.
    pub aligned_share: f64,
    /// Stamps smaller than the one before.
    pub stamps_backwards: u64,
    /// Where the first of them is: a line, a byte, a row or a request; null without any.
    pub stamps_backwards_first: Option<String>,
    /// By how many seconds a stamp lies before the one before it, at most; null without any.
    pub stamps_backwards_s_max: Option<f64>,
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
    /// Sizes of requests; null, as all that follows, where counts alone were asked for.
    pub sizes: Option<SizesInfo>,
    /// Alignment of the requests' first bytes.
    pub alignment: Option<AlignmentInfo>,
    /// How soon pages are written again.
    pub update_interval: Option<UpdateInfo>,
    /// How many other pages are accessed between two accesses to a page; what LRU caches hit.
    pub reuse_distance: Option<ReuseInfo>,
    /// How often pages are written and read.
    pub frequency: Option<FrequencyInfo>,
    /// How often requests go on where others ended.
    pub sequentiality: Option<SequentialityInfo>,
    /// Demand over time; null where the trace has no times.
    pub demand: Option<DemandInfo>,
    /// What written pages hold; null where the trace does not say.
    pub content: Option<ContentInfo>,
    /// Program contexts; null where the trace has none.
    pub contexts: Option<ContextsInfo>,
    /// Streams that the host gave; null where the trace has none.
    pub streams: Option<StreamsInfo>,
}
