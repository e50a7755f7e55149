//! What is in a trace, from one pass in bounded memory: counts, and how its requests are distributed. One analysis a file.

mod content;
mod contexts;
mod counts;
mod demand;
mod frequency;
mod log_histogram;
mod order;
mod page_table;
mod reuse;
mod sequentiality;
mod sizes;
mod trims;
mod updates;
mod walk;

use crate::source::Source;
use content::Content;
pub use content::ContentInfo;
use contexts::Streams;
pub use contexts::{ContextInfo, ContextsInfo, StreamInfo, StreamsInfo};
use counts::Counts;
pub use counts::DeviceInfo;
use demand::{Clock, Demand};
pub use demand::{DemandInfo, WindowsInfo};
use floatgate_base::{RequestBatch, Result, TRACE_PAGE_BYTES};
pub use frequency::{Frequency, FrequencyHistogram, FrequencyInfo, Shares};
pub use log_histogram::{Buckets, Distribution};
pub use reuse::{LruCurve, Reuse, ReuseInfo};
use sequentiality::Sequentiality;
pub use sequentiality::{OpSequentiality, SequentialityInfo};
use serde::Serialize;
use sizes::Sizes;
pub use sizes::{AlignmentInfo, OpSizes, SizeHistogram, SizesInfo};
pub use updates::UpdateInfo;
use walk::Walk;

/// Most tiles of four pages that are followed one by one: 64 GiB where pages lie side by side.
const TILES_MAX: u32 = 1 << 22;

/// What to find out.
#[derive(Clone, Copy, Debug)]
pub struct InfoOptions {
    /// Counts alone, without distributions: quicker.
    pub counts_only: bool,
    /// Width of the windows of demand in seconds.
    pub window_s: f64,
}

impl Default for InfoOptions {
    fn default() -> Self {
        Self { counts_only: false, window_s: 600.0 }
    }
}

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

/// Reads a source to its end, from where it stands, and describes it.
///
/// # Errors
/// Those of the source.
pub fn info(source: &mut dyn Source) -> Result<Info> {
    info_with(source, &InfoOptions::default())
}

/// Reads a source to its end, from where it stands, and finds out what is asked for.
///
/// # Errors
/// Those of the source.
pub fn info_with(source: &mut dyn Source, options: &InfoOptions) -> Result<Info> {
    let mut counts = Counts::default();
    let mut rest = (!options.counts_only).then(|| Distributions::new(options, TILES_MAX));
    let mut batch = RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN);
    loop {
        batch.clear();
        source.fill(&mut batch, RequestBatch::DEFAULT_LEN)?;
        if batch.is_empty() {
            break;
        }
        counts.add(&batch);
        if let Some(rest) = &mut rest {
            rest.add(&batch);
        }
    }
    let mut info = counts.describe(source);
    if let Some(rest) = rest {
        rest.describe(source, &mut info);
    }
    Ok(info)
}

/// All analyses beside the counts.
struct Distributions {
    clock: Clock,
    /// Times of the present batch.
    times: Vec<i64>,
    sizes: Sizes,
    sequentiality: Sequentiality,
    demand: Demand,
    content: Content,
    streams: Streams,
    walk: Walk,
}

impl Distributions {
    fn new(options: &InfoOptions, tiles: u32) -> Self {
        Self {
            clock: Clock::default(),
            times: Vec::with_capacity(RequestBatch::DEFAULT_LEN),
            sizes: Sizes::default(),
            sequentiality: Sequentiality::default(),
            demand: Demand::new(options.window_s),
            content: Content::default(),
            streams: Streams::default(),
            walk: Walk::new(tiles),
        }
    }

    fn add(&mut self, batch: &RequestBatch) {
        self.times.clear();
        self.clock.times(&batch.time_ns, &mut self.times);
        self.sizes.add(batch);
        self.sequentiality.add(batch);
        self.demand.add(batch, &self.times);
        self.content.add(batch);
        self.streams.add(batch);
        self.walk.contexts.add(batch);
        self.walk.add(batch, &self.times);
    }

    fn describe(self, source: &dyn Source, info: &mut Info) {
        let (columns, has_times) = (source.columns(), source.has_times());
        let (sizes, alignment) = self.sizes.describe();
        info.sizes = Some(sizes);
        info.alignment = Some(alignment);
        info.update_interval = Some(self.walk.describe_updates(has_times));
        info.reuse_distance = Some(self.walk.describe_reuse(info.footprint_bytes / TRACE_PAGE_BYTES));
        info.frequency = Some(self.walk.describe_frequency());
        info.sequentiality = Some(self.sequentiality.describe());
        info.demand = has_times.then(|| self.demand.describe());
        info.content = columns.content.then(|| self.content.describe());
        info.contexts =
            columns.context.then(|| self.walk.contexts.describe(source.contexts(), self.walk.shift()));
        info.streams = columns.stream.then(|| self.streams.describe());
    }
}

#[cfg(test)]
mod tests;
