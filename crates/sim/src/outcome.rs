//! Results of a finished run.

use crate::buffer::Buffered;
use crate::gate::{Throttled, Throttling};
use crate::plan::Plan;
use crate::scaled::ScaledFigures;
use crate::serve::clock::QueueCount;
pub use crate::serve::hot_reads::{HOT_FROM, HotReads};
use crate::serve::idle::IdleCounts;
use crate::serve::idle_prediction::IdlePrediction;
pub use crate::serve::reclaim_latency::ReclaimLatency;
use crate::serve::{Direct, TimedServing, with_drive};
use crate::simulation::{Phase, Simulation, Stages};
use crate::wear_in::WearIn;
use floatgate_base::{IdSlice, Result, UnitId};
use floatgate_flash::timed::{ClassTimes, CommandCounts, LinkTimes, Timeline};
use floatgate_flash::{Cause, Counters, Flash, Functional, Rest};
pub use floatgate_ftl::collect::TimingCounters;
pub use floatgate_ftl::metadata::MetadataCounters;
pub use floatgate_ftl::reclaim::{Burst, ReclaimFigures};
pub use floatgate_ftl::reduce::{IndexFigures, ReduceCounters, ReduceFigures};
pub use floatgate_ftl::separate::StreamCounters;
use floatgate_ftl::separate::{Labelled, Separation};
use floatgate_ftl::{GcCounters, LevelCounters};
use floatgate_host::{BufferCounters, DispatchCounters, HostCounters};
use floatgate_lifetime::reduce::Record;
use floatgate_nand::Endurance;
use floatgate_stats::histogram::moments;
use floatgate_stats::{Histogram, Latency, Series, WafEstimate, WearGrowth, estimate_waf, wear_growth};
use floatgate_trace::period::period_ns;
use floatgate_trace::{Context, Summary};

/// Bins of the histograms in a result.
pub(crate) const BINS_MAX: usize = 64;

/// Results of a separator.
#[derive(Clone, Debug)]
pub struct Streams {
    /// By stream.
    pub counters: Vec<StreamCounters>,
    /// Bytes of its tables.
    pub memory_bytes: u64,
    /// State of the separator under its own names.
    pub figures: Vec<(&'static str, f64)>,
    /// Contexts with an assigned stream, and the stream.
    pub contexts: Vec<(Context, u32)>,
}

impl Streams {
    /// Collects them; `contexts` is the source's table.
    fn of(separation: &Separation, contexts: &[Context]) -> Self {
        let placed = separation.contexts().into_iter();
        Self {
            counters: separation.counters().as_slice().to_vec(),
            memory_bytes: separation.memory_bytes(),
            figures: separation.figures(),
            contexts: placed
                .filter_map(|(c, stream)| Some((contexts.get(c as usize)?.clone(), stream.0)))
                .collect(),
        }
    }
}

/// Returns the pages that the host wrote under the labels of a dispatcher.
fn labelled_pages(separation: &Separation) -> u64 {
    separation.counters()[Labelled::APART].host_pages
}

/// Results of a run, all since counting began.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Seconds from the first counted request to the last stamp; None where the workload has no time stamps.
    pub span_s: Option<f64>,
    /// Period in seconds at which all counted requests would repeat at this rate: the span and one mean gap between
    /// requests, by the stamps. It is at least the time that a timed drive took.
    pub period_s: Option<f64>,
    /// Requests counted.
    pub requests: u64,
    /// Host requests of all devices.
    pub host: HostCounters,
    /// Host requests by device.
    pub by_device: Vec<(String, HostCounters)>,
    /// Requests whose address was wrapped or scaled.
    pub requests_moved: u64,
    /// Distinct pages that a trace read or wrote.
    pub footprint_pages: Option<u64>,
    /// Content hash of the snapshot from which the drive started, if any.
    pub snapshot_hash: Option<String>,
    /// The laps before counting began, where the plan has [`Precondition::Auto`](crate::Precondition::Auto).
    pub wear_in: Option<WearIn>,
    /// Name of the format.
    pub format: &'static str,
    /// Assumptions of the reader.
    pub assumed: Vec<String>,
    /// Observations of the source in its first pass.
    pub source: Summary,
    /// Flash operations.
    pub flash: Counters,
    /// Collection.
    pub gc: GcCounters,
    /// Blocks (superblocks) collected, by valid pages.
    pub victim_histogram: Histogram,
    /// Metadata, if the drive keeps its map on flash.
    pub metadata: Option<MetadataCounters>,
    /// What collection by context did, if contexts time it, with the entries of its table in use and the replaced ones.
    pub timing: Option<(TimingCounters, (u64, u64))>,
    /// Wear-leveling beyond the choice of free blocks.
    pub level: LevelCounters,
    /// Counts of the dispatcher, if it labels anything, and pages that the host wrote under its labels.
    pub dispatched: Option<(DispatchCounters, u64)>,
    /// Counts of read disturb, if reads disturb.
    pub reclaim: Option<ReclaimFigures>,
    /// Modes of erases, if there are several.
    pub scaled: Option<ScaledFigures>,
    /// Counts of deduplication and compression, if there is either.
    pub reduced: Option<ReduceFigures>,
    /// Results of the streams, if the separator inspects pages.
    pub streams: Option<Streams>,
    /// Open blocks (superblocks) with pages left at the end, and these pages.
    pub open_units: (u64, u64),
    /// Such pages, mean over the host page writes, each counted once it has its block.
    pub open_pages_mean: f64,
    /// Largest number of blocks (superblocks) held by streams at once; a stream holds a full block until it opens the
    /// next.
    pub open_units_most: u64,
    /// Write amplification.
    pub waf: WafEstimate,
    /// Erases of blocks: least, mean, most, standard deviation.
    pub erases: (u32, f64, u32, f64),
    /// Blocks that were never erased.
    pub never_erased: u64,
    /// Erases of the first block that the reserve cannot replace, if the most erased blocks fail first.
    pub erases_beyond_reserve: u32,
    /// Growth of the spread of erases; None if the run is too short.
    pub wear_growth: Option<WearGrowth>,
    /// Rest of blocks between two erases; None if the workload has no time stamps, or nothing was erased.
    pub idle: Option<Idle>,
    /// Blocks by erases.
    pub erase_histogram: Histogram,
    /// Closed blocks (superblocks) by valid pages, at the end.
    pub valid_histogram: Histogram,
    /// (T - mean free - U) / T; None while the drive has more free pages than spare ones, that is, was never full.
    pub effective_spare_factor: Option<f64>,
    /// The course of the run.
    pub series: Series,
    /// Timed mode: time of each class of operations by purpose.
    pub times: Option<[ClassTimes; 3]>,
    /// Timed mode: use of optional commands.
    pub commands: Option<CommandCounts>,
    /// Timed mode: seconds of dies on foreground and on background jobs.
    pub jobs_s: Option<[f64; 2]>,
    /// Timed mode: idle time and its use, if jobs use it.
    pub idle_time: Option<IdleTime>,
    /// Timed mode: the activity of dies and channels, if requested.
    pub timeline: Option<Timeline>,
    /// Counts of the DRAM buffer, if there is one.
    pub buffer: Option<BufferCounters>,
    /// Pages that it keeps because of disturbed blocks.
    pub kept_pages: u32,
    /// Timed mode, with a buffer: waits of reads and writes for it.
    pub buffer_times: Option<[LinkTimes; 2]>,
    /// Timed mode: seconds from the first arrival to the last.
    pub arrivals_s: Option<f64>,
    /// Timed mode: waits of reads and writes in the host's queues, summed.
    pub queue_wait_ns: Option<[u128; 2]>,
    /// Timed mode: counts of each queue; empty for a single queue that the drive empties at once.
    pub queues: Vec<QueueCount>,
    /// Timed mode: latencies of reads and writes.
    pub latencies: Option<[Latency; 2]>,
    /// Timed mode with read disturb: response times of reads during reclaims and otherwise.
    pub reclaim_latency: Option<ReclaimLatency>,
    /// Timed mode: reads of frequently read pages.
    pub hot_reads: Option<HotReads>,
    /// Totals of the throttle, if there was one.
    pub throttling: Option<Throttling>,
    /// Decisions of the integrated manager, if there was one.
    pub managed: Option<Record>,
}

/// Rest of blocks between two erases.
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

fn idle(rest: &Rest, erases: &IdSlice<UnitId, u32>, blocks_per_unit: u64) -> Option<Idle> {
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

/// Returns the erases of the first block, in descending order, that a reserve of this share cannot replace.
pub(crate) fn beyond_reserve(erases: &[u32], reserve: f64) -> u32 {
    let reserved = (erases.len() as f64 * reserve) as usize;
    let mut sorted = erases.to_vec();
    match sorted.len().checked_sub(reserved + 1) {
        Some(at) => *sorted.select_nth_unstable(at).1,
        None => 0,
    }
}

/// Returns what modes of erases did, if there are several; with the share of the blocks in reserve.
fn scaled(array: &Functional, reserve: f64) -> Option<ScaledFigures> {
    let scaling = array.scaling()?;
    Some(ScaledFigures::of(scaling, beyond_reserve(scaling.worn_of_units(), reserve)))
}

impl Outcome {
    /// Returns the nominal time of the flash by cause, seconds, with all operations in sequence. It includes commands,
    /// array times (of several page types their mean), and one transfer over the channel per flash page read or
    /// programmed (two for a copy).
    #[must_use]
    pub fn time_s(&self, plan: &Plan, cause: Cause) -> f64 {
        let i = cause as usize;
        let t = &plan.drive.timing;
        let transfer_us = t.transfer_us(plan.drive.flash_page_bytes());
        let us = self.flash.reads[i] as f64 * (t.mean_read_us() + t.command_us + transfer_us)
            + self.flash.flash_programs(cause) as f64 * (t.mean_program_us() + t.command_us + transfer_us)
            + self.slow_programs_us(plan, cause)
            + self.flash.erases[i] as f64 * (t.erase_us + t.command_us);
        us / 1e6 + self.scaled_s(plan, cause)
    }

    /// Returns the additional time of programs in other modes than the ordinary one, microseconds.
    fn slow_programs_us(&self, plan: &Plan, cause: Cause) -> f64 {
        let Some(disturb) = &plan.drive.disturb else { return 0.0 };
        let in_modes = self.flash.in_modes.iter().zip(&disturb.program_factors[1..]);
        let longer = in_modes.map(|(programs, factor)| programs[cause as usize] as f64 * (factor - 1.0));
        longer.sum::<f64>() * plan.drive.timing.mean_program_us()
    }
}

impl Outcome {
    /// Returns the endurance of the drive in erases, and the erases of the mean block, of the most worn one and of the
    /// first beyond the reserve. Where erases have modes, these are erases of mean wear: as many wear a block as much.
    #[must_use]
    pub fn wear_of_blocks(&self, plan: &Plan) -> (Endurance, [f64; 3]) {
        let endurance = plan.drive.endurance;
        let (Some(scaled), Some(dpes)) = (&self.scaled, plan.ftl.setup.dpes) else {
            let (_, mean, most, _) = self.erases;
            return (endurance, [mean, f64::from(most), f64::from(self.erases_beyond_reserve)]);
        };
        // Only the run determines the wear of modes that are chosen in it.
        let endurance = if dpes.needs_time() { endurance.wearing(scaled.mean_wear) } else { endurance };
        (endurance, scaled.worn.map(|cycles| cycles / endurance.wear()))
    }

    /// Returns the time that modes of erases added for a cause, seconds.
    fn scaled_s(&self, plan: &Plan, cause: Cause) -> f64 {
        let added = |scaled: &ScaledFigures| Some(scaled.added(plan, &plan.ftl.setup.dpes?.modes, cause));
        self.scaled.as_ref().and_then(added).map_or(0.0, |added| added.total_s())
    }
}

/// Idle time of a timed run.
#[derive(Clone, Copy, Debug)]
pub struct IdleTime {
    /// Its counts.
    pub counts: IdleCounts,
    /// Where contexts predict: entries of the table in use, and replacements.
    pub entries: Option<(u64, u64)>,
}

/// Results that only timed mode has.
struct TimedFigures {
    last_ns: u64,
    times: [ClassTimes; 3],
    commands: CommandCounts,
    jobs_s: [f64; 2],
    idle_time: Option<IdleTime>,
    timeline: Option<Timeline>,
    buffer_times: Option<[LinkTimes; 2]>,
    arrivals_ns: u64,
    queue_wait_ns: [u128; 2],
    queues: Vec<QueueCount>,
    latencies: [Latency; 2],
    reclaim_latency: Option<ReclaimLatency>,
    hot_reads: HotReads,
}

impl TimedFigures {
    fn of(serving: &TimedServing) -> Self {
        let Direct { drive, clock, .. } = &serving.direct;
        let timed = drive.array.back_end();
        Self {
            last_ns: timed.last_ns(),
            times: timed.times(),
            commands: timed.command_counts(),
            jobs_s: timed.jobs_ns().map(|ns| ns as f64 / 1e9),
            idle_time: serving.direct.idle.as_ref().map(|idle| IdleTime {
                counts: idle.counts,
                entries: idle.prediction.as_ref().map(IdlePrediction::entries),
            }),
            timeline: timed.timeline().cloned(),
            buffer_times: timed.link_times().copied(),
            arrivals_ns: clock.now_ns(),
            queue_wait_ns: clock.queue_wait_ns(),
            queues: clock.queues().to_vec(),
            latencies: clock.latencies().clone(),
            reclaim_latency: clock.reclaim_latency().cloned(),
            hot_reads: clock.hot_reads().clone(),
        }
    }
}

impl Stages {
    /// Returns the span of the counted requests, and the period at which they would repeat.
    fn times_ns(&self, timed: Option<&TimedFigures>) -> (u64, u64) {
        let Self { serving, book, .. } = self;
        match (timed, serving.gate()) {
            (Some(timed), _) => {
                (timed.last_ns, timed.last_ns.max(period_ns(timed.arrivals_ns, book.counted)))
            }
            (None, Some(gate)) => (gate.now_ns(), period_ns(gate.now_ns(), book.counted)),
            (None, None) => (book.span_ns() as u64, book.period_ns()),
        }
    }
}

impl Simulation {
    /// Completes the run.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn run(mut self) -> Result<Outcome> {
        while self.step(1 << 20)? != Phase::Done {}
        Ok(self.finish())
    }

    /// Returns the results of the run. Valid once the phase is [`Phase::Done`](crate::Phase::Done).
    #[must_use]
    pub fn finish(self) -> Outcome {
        let timed = self.stages.serving.timed().map(TimedFigures::of);
        let (ftl, array) = with_drive!(&self.stages.serving, drive => (&drive.ftl, drive.array.counts()));
        let Stages { addressing, serving, book } = &self.stages;
        let (layout, pages_per_block) = (self.plan.layout(), self.plan.drive.geometry.pages_per_block);
        let blocks_per_unit = u64::from(layout.blocks_per_unit());
        let erases = array.erase_counts().as_slice();
        let (total_pages, reserve) = (f64::from(layout.pages()), self.plan.drive.bad_block_reserve);
        let (span_ns, period_ns) = self.stages.times_ns(timed.as_ref());
        let source = self.reading.source();
        let name = |i: usize| source.devices().get(i).cloned().unwrap_or_else(|| i.to_string());
        let by_device = addressing.counters().iter().enumerate().map(|(i, count)| (name(i), *count));
        let mapped = f64::from(self.plan.ftl.setup.mapped_pages_max());
        let spare_pages = total_pages - ftl.mean_free_pages() - mapped;
        Outcome {
            span_s: (span_ns > 0).then_some(span_ns as f64 / 1e9),
            period_s: (span_ns > 0).then_some(period_ns as f64 / 1e9),
            requests: book.counted,
            host: addressing.total(),
            by_device: by_device.collect(),
            requests_moved: addressing.requests_moved(),
            footprint_pages: addressing.footprint_pages(),
            snapshot_hash: book.snapshot_hash.clone(),
            wear_in: self.wear_in.clone(),
            format: source.format(),
            assumed: source.assumed().into_iter().chain(self.plan.idle_rate()).collect(),
            source: self.reading.first_pass().cloned().unwrap_or_default(),
            gc: ftl.gc(),
            victim_histogram: Histogram::rebin(ftl.victims_by_valid(), BINS_MAX + 1),
            timing: ftl.timing(),
            level: ftl.leveled(),
            dispatched: (self.reading.dispatched())
                .map(|counters| (counters, ftl.separation().map_or(0, labelled_pages))),
            reclaim: ftl.reclaimed(),
            metadata: ftl.metadata(),
            scaled: scaled(array, reserve),
            reduced: ftl.reduced(),
            streams: ftl.separation().map(|separation| Streams::of(separation, source.contexts())),
            open_units: ftl.open_units(),
            open_pages_mean: ftl.mean_open_pages(),
            open_units_most: ftl.most_open_units(),
            waf: estimate_waf(book.series.rows(), pages_per_block, ftl.gc().victims, self.pass_requests()),
            erases: moments(erases),
            never_erased: erases.iter().filter(|&&n| n == 0).count() as u64 * blocks_per_unit,
            erases_beyond_reserve: beyond_reserve(erases, reserve),
            wear_growth: wear_growth(book.series.rows(), layout.units(), layout.blocks_per_unit()),
            idle: if span_ns > 0 { idle(array.rest(), array.erase_counts(), blocks_per_unit) } else { None },
            erase_histogram: Histogram::of(erases, blocks_per_unit, BINS_MAX as u64),
            valid_histogram: Histogram::rebin(&ftl.valid_histogram(), BINS_MAX + 1),
            effective_spare_factor: (spare_pages >= 0.0).then_some(spare_pages / total_pages),
            flash: serving.counters().clone(),
            series: book.series.clone(),
            buffer: serving.buffer().map(|buffer| *buffer.counters()),
            kept_pages: serving.buffer().map_or(0, Buffered::kept_pages),
            throttling: serving.gate().map(Throttled::figures),
            managed: serving.gate().and_then(Throttled::record).cloned(),
            times: timed.as_ref().map(|timed| timed.times),
            commands: timed.as_ref().map(|timed| timed.commands),
            jobs_s: timed.as_ref().map(|timed| timed.jobs_s),
            idle_time: timed.as_ref().and_then(|timed| timed.idle_time),
            buffer_times: timed.as_ref().and_then(|timed| timed.buffer_times),
            arrivals_s: timed.as_ref().map(|timed| timed.arrivals_ns as f64 / 1e9),
            queue_wait_ns: timed.as_ref().map(|timed| timed.queue_wait_ns),
            queues: timed.as_ref().map(|timed| timed.queues.clone()).unwrap_or_default(),
            timeline: timed.as_ref().and_then(|timed| timed.timeline.clone()),
            reclaim_latency: timed.as_ref().and_then(|timed| timed.reclaim_latency.clone()),
            hot_reads: timed.as_ref().map(|timed| timed.hot_reads.clone()),
            latencies: timed.map(|timed| timed.latencies),
        }
    }
}
