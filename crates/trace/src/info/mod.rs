//! Statistics of a trace, from one pass in bounded memory: counts, and distributions of its requests. One analysis per
//! file.

mod content;
mod contexts;
mod counts;
mod demand;
mod device;
mod figures;
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
use demand::{Clock, Demand};
pub use demand::{DemandInfo, WindowsInfo};
pub use device::DeviceInfo;
pub use figures::Info;
use floatgate_base::{RequestBatch, Result, TRACE_PAGE_BYTES};
pub use frequency::{Frequency, FrequencyHistogram, FrequencyInfo, Shares};
pub use log_histogram::{Buckets, Distribution};
pub use reuse::{LruCurve, Reuse, ReuseInfo};
use sequentiality::Sequentiality;
pub use sequentiality::{OpSequentiality, SequentialityInfo};
use sizes::Sizes;
pub use sizes::{AlignmentInfo, OpSizes, SizeHistogram, SizesInfo};
pub use updates::UpdateInfo;
use walk::Walk;

/// Most tiles of four pages that are followed: 64 GiB if pages lie side by side.
const TILES_MAX: u32 = 1 << 22;

/// Options of the statistics.
#[derive(Clone, Copy, Debug)]
pub struct InfoOptions {
    /// Whether to compute counts only, without distributions, which is faster.
    pub counts_only: bool,
    /// Width of the windows of demand in seconds.
    pub window_s: f64,
}

impl Default for InfoOptions {
    fn default() -> Self {
        Self { counts_only: false, window_s: 600.0 }
    }
}

/// Reads a source from its current position to its end, and describes it.
///
/// # Errors
/// Those of the source.
pub fn info(source: &mut dyn Source) -> Result<Info> {
    info_with(source, &InfoOptions::default())
}

/// Reads a source from its current position to its end, and computes the requested statistics.
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

/// All analyses except the counts.
struct Distributions {
    clock: Clock,
    /// Times of the current batch.
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
