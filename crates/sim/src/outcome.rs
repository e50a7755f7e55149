//! What a finished run has measured.

use crate::clock::Clock;
use crate::clock::QueueCount;
use crate::device::{Simulation, signed};
use crate::plan::Plan;
use crate::throttled::{Throttled, Throttling};
use floatgate_flash::timed::{ClassTimes, CommandCounts, LinkTimes, Timeline};
use floatgate_flash::{Cause, Counters, Rest, Timed};
use floatgate_ftl::separate::Separation;
pub use floatgate_ftl::separate::StreamCounters;
use floatgate_ftl::{GcCounters, LevelCounters};
use floatgate_host::{BufferCounters, Footprint, HostCounters};
use floatgate_stats::{Histogram, Latency, Series, WafEstimate, estimate_waf, histogram::moments};
use floatgate_trace::{Context, Summary};

/// Bins of the histograms in a result.
pub(crate) const BINS_MAX: usize = 64;

/// What a separator did.
#[derive(Clone, Debug)]
pub struct Streams {
    /// By stream.
    pub counters: Vec<StreamCounters>,
    /// Bytes of its tables.
    pub memory_bytes: u64,
    /// What it found, by name.
    pub figures: Vec<(&'static str, f64)>,
    /// Contexts that it has given a stream, with that stream.
    pub contexts: Vec<(Context, u32)>,
}

impl Streams {
    /// `contexts` is the source's table.
    fn of(separation: &Separation, contexts: &[Context]) -> Self {
        let placed = separation.contexts().into_iter();
        Self {
            counters: separation.counters().to_vec(),
            memory_bytes: separation.memory_bytes(),
            figures: separation.figures(),
            contexts: placed
                .filter_map(|(c, stream)| Some((contexts.get(c as usize)?.clone(), stream)))
                .collect(),
        }
    }
}

/// The figures of a run, all since counting began.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Seconds from the first counted request to the last stamp; none where the workload has no time.
    pub span_s: Option<f64>,
    /// Requests counted.
    pub requests: u64,
    /// Host requests of all devices.
    pub host: HostCounters,
    /// The same by device.
    pub by_device: Vec<(String, HostCounters)>,
    /// Requests whose address was wrapped or scaled.
    pub requests_moved: u64,
    /// Distinct pages that a trace read or wrote.
    pub footprint_pages: Option<u64>,
    /// Content hash of the snapshot in which the drive started, if it did.
    pub snapshot_hash: Option<String>,
    /// Name of the format.
    pub format: &'static str,
    /// What the reader took for granted.
    pub assumed: Vec<String>,
    /// What the source noticed in its first pass.
    pub source: Summary,
    /// Flash operations.
    pub flash: Counters,
    /// Collection.
    pub gc: GcCounters,
    /// Blocks (superblocks) collected, by valid pages.
    pub victim_histogram: Histogram,
    /// Wear-leveling beyond the choice of free blocks.
    pub level: LevelCounters,
    /// What became of the streams, where the separator looks at pages.
    pub streams: Option<Streams>,
    /// Open blocks (superblocks) with pages left at the end, and those pages.
    pub open_units: (u64, u64),
    /// Such pages on average over the host page writes: as each comes, once it has its block.
    pub open_pages_mean: f64,
    /// The most blocks (superblocks) that streams held at once; a full one is held until its stream opens the next.
    pub open_units_most: u64,
    /// Write amplification.
    pub waf: WafEstimate,
    /// Erases of blocks: least, mean, most, standard deviation.
    pub erases: (u32, f64, u32, f64),
    /// How long blocks rested between two erases; none where the workload has no time, or nothing was erased.
    pub idle: Option<Idle>,
    /// Blocks by erases.
    pub erase_histogram: Histogram,
    /// Closed blocks (superblocks) by valid pages, at the end.
    pub valid_histogram: Histogram,
    /// (T - mean free - U) / T; none while the drive has more free pages than spare ones, that is, was never full.
    pub effective_spare_factor: Option<f64>,
    /// The course of the run.
    pub series: Series,
    /// Timed: where the time of each class of operations went.
    pub times: Option<[ClassTimes; 3]>,
    /// Timed: how often optional commands were used.
    pub commands: Option<CommandCounts>,
    /// Timed: seconds that dies spent on foreground and on background jobs.
    pub jobs_s: Option<[f64; 2]>,
    /// Timed: who was busy with what, where that was asked for.
    pub timeline: Option<Timeline>,
    /// What the DRAM buffer did, if there is one.
    pub buffer: Option<BufferCounters>,
    /// Timed, with a buffer: what reads and writes waited for there.
    pub buffer_times: Option<[LinkTimes; 2]>,
    /// Timed: seconds from the first arrival to the last.
    pub arrivals_s: Option<f64>,
    /// Timed: how long reads and writes waited in the host's queues, summed.
    pub queue_wait_ns: Option<[u128; 2]>,
    /// Timed: what each queue has seen; empty where there is one that the drive empties at once.
    pub queues: Vec<QueueCount>,
    /// Timed: latencies of reads and writes.
    pub latencies: Option<[Latency; 2]>,
    /// What the throttle did, if there was one.
    pub throttling: Option<Throttling>,
}

/// How long blocks rested between two erases.
#[derive(Clone, Debug, PartialEq)]
pub struct Idle {
    /// Mean over blocks of their mean interval, seconds.
    pub mean_s: f64,
    /// Intervals between two erases of a block.
    pub intervals: u64,
    /// Seconds that 10, 50 and 90 % of the intervals do not exceed.
    pub quantiles_s: [f64; 3],
    /// Edges of the histogram, seconds; one more than counts.
    pub edges_s: Vec<f64>,
    /// Intervals in each bin of the histogram.
    pub counts: Vec<u64>,
}

fn idle(rest: &Rest, erases: &[u32], blocks_per_unit: u64) -> Option<Idle> {
    let [p10, p50, p90] = [0.1, 0.5, 0.9].map(|share| rest.quantile_s(share));
    let (edges_s, counts) = rest.histogram_s();
    Some(Idle {
        mean_s: rest.mean_s(erases)?,
        intervals: rest.intervals() * blocks_per_unit,
        quantiles_s: [p10?, p50?, p90?],
        edges_s,
        counts: counts.into_iter().map(|units| units * blocks_per_unit).collect(),
    })
}

impl Outcome {
    /// Nominal time of the flash by cause, seconds: commands, array times (of several page types their mean), and one
    /// transfer over the channel for each page read or programmed (a copy makes two), one operation after another.
    #[must_use]
    pub fn time_s(&self, plan: &Plan, cause: Cause) -> f64 {
        let i = cause as usize;
        let t = &plan.timing;
        let transfer_us = t.transfer_us(plan.geometry.page_bytes);
        let us = self.flash.reads[i] as f64 * (t.mean_read_us() + t.command_us + transfer_us)
            + self.flash.programs[i] as f64 * (t.mean_program_us() + t.command_us + transfer_us)
            + self.flash.erases[i] as f64 * (t.erase_us + t.command_us);
        us / 1e6
    }
}

impl Simulation {
    /// The figures of the run. Meaningful once the phase is [`Phase::Done`].
    #[must_use]
    pub fn finish(self) -> Outcome {
        let counters = self.array.counters().clone();
        let layout = self.plan.layout();
        let blocks_per_unit = u64::from(layout.blocks_per_unit());
        let total_pages = f64::from(layout.pages());
        let from = self.stream.counted_from_ns.unwrap_or(0);
        let span_ns = match (self.array.timed(), &self.throttled) {
            (Some(timed), _) => signed(timed.last_ns()),
            (None, Some(throttled)) => signed(throttled.now_ns()),
            (None, None) => (self.stream.counted_to_ns - from).max(0),
        };
        let names = self.source.devices();
        let by_device =
            self.splitter.counters().iter().enumerate().map(|(i, count): (usize, &HostCounters)| {
                (names.get(i).cloned().unwrap_or_else(|| i.to_string()), *count)
            });
        let pages_per_block = self.plan.geometry.pages_per_block;
        let spare_pages = total_pages - self.ftl.mean_free_pages() - f64::from(self.plan.logical_pages);
        Outcome {
            span_s: (span_ns > 0).then_some(span_ns as f64 / 1e9),
            requests: self.counted,
            host: self.splitter.total(),
            by_device: by_device.collect(),
            requests_moved: self.splitter.requests_moved,
            footprint_pages: self.footprint.as_ref().map(Footprint::pages),
            snapshot_hash: self.snapshot_hash.clone(),
            format: self.source.format(),
            assumed: self.source.assumed(),
            source: self.first_pass.clone().unwrap_or_default(),
            gc: self.ftl.gc(),
            victim_histogram: Histogram::rebin(self.ftl.victims_by_valid(), BINS_MAX + 1),
            level: self.ftl.leveled(),
            streams: self.ftl.separation().map(|separation| Streams::of(separation, self.source.contexts())),
            open_units: self.ftl.open_units(),
            open_pages_mean: self.ftl.mean_open_pages(),
            open_units_most: self.ftl.most_open_units(),
            waf: estimate_waf(self.series.rows(), pages_per_block, self.ftl.gc().victims),
            erases: moments(self.array.erase_counts()),
            idle: (span_ns > 0)
                .then(|| idle(self.array.counts().rest(), self.array.erase_counts(), blocks_per_unit))
                .flatten(),
            erase_histogram: Histogram::of(self.array.erase_counts(), blocks_per_unit, BINS_MAX as u64),
            valid_histogram: Histogram::rebin(&self.ftl.valid_histogram(), BINS_MAX + 1),
            effective_spare_factor: (spare_pages >= 0.0).then_some(spare_pages / total_pages),
            flash: counters,
            series: self.series,
            buffer: self.buffered.as_ref().map(|buffered| *buffered.counters()),
            buffer_times: self.array.timed().and_then(|timed| timed.link_times().copied()),
            times: self.array.timed().map(|timed| *timed.times()),
            commands: self.array.timed().map(Timed::command_counts),
            jobs_s: self.array.timed().map(|timed| timed.jobs_ns().map(|ns| ns as f64 / 1e9)),
            timeline: self.array.timed().and_then(|timed| timed.timeline().cloned()),
            arrivals_s: self.clock.as_ref().map(|clock| clock.now_ns() as f64 / 1e9),
            queue_wait_ns: self.clock.as_ref().map(Clock::queue_wait_ns),
            queues: self.clock.as_ref().map(|clock| clock.queues().to_vec()).unwrap_or_default(),
            throttling: self.throttled.as_ref().map(Throttled::figures),
            latencies: self.clock.map(|clock| clock.latencies().clone()),
        }
    }
}
