//! The close-up: serves requests of a pass in timed mode on the drive worn in by laps.
//!
//! Laps count operations; waits appear only where operations take time. The drive after the laps therefore serves a part
//! of the workload in timed mode, with its own time stamps and without a throttle. If the last requests end far behind
//! their stamps, the same part is served again as fast as possible to measure the drive's capability.

use crate::addressing::Addressing;
use crate::book::Book;
use crate::buffer::Buffered;
use crate::drive::Drive;
use crate::plan::{Arrival, Mode, Plan, Workload};
use crate::reading::busy::{Stretch, Stretches};
use crate::reading::{Reading, open};
use crate::serve::{FunctionalServing, Serving, TimedServing};
use crate::simulation::{Phase, Simulation, Stages, State};
use floatgate_base::Result;
use floatgate_flash::{Functional, Timed};
use floatgate_ftl::Ftl;
use floatgate_lifetime::{Throttle, throttle};
use floatgate_stats::{Latency, replication_factor};
use std::fmt;

/// How often each stretch is served at least. Waits depend on where collection stands, and each time it stands
/// elsewhere.
const LOOKS_MIN: usize = 3;
/// How often at most.
const LOOKS_MAX: usize = 5;
/// Factor by which p99 may be off for [`LOOKS_MIN`] to be enough.
const SURE: f64 = 1.1;
/// Requests in flight when measuring the capability of a drive.
pub const SATURATING_DEPTH: u32 = 256;
/// Share of a stretch by which requests may end after the last arrival before the drive's capability is measured.
const LATE_SHARE: f64 = 0.05;
/// Approximate share of the requests without time in the work of a look after the first.
const UNTIMED_SHARE: f64 = 0.25;
/// Requests served between two ticks.
const STEP: u64 = 1 << 14;

/// A stretch of a workload, served on an aged drive.
#[derive(Clone, Debug)]
pub struct StretchResult {
    /// Its start, nanoseconds since the start of its pass.
    pub from_ns: u64,
    /// Time from the first arrival to the last, nanoseconds.
    pub span_ns: u64,
    /// Counted requests.
    pub requests: u64,
    /// Bytes that they read and write.
    pub bytes: u64,
    /// Host bytes per second that the drive can serve of them; None if it keeps up.
    pub possible_bytes_per_s: Option<f64>,
    /// Latencies of reads and writes, of all times that the stretch was served.
    pub latencies: [Latency; 2],
    /// Those of each time.
    pub looks: Vec<[Latency; 2]>,
}

impl StretchResult {
    /// Returns whether p99 is known well enough.
    fn is_sure(&self) -> bool {
        let sure = |kind: usize| {
            let p99 = |look: &[Latency; 2]| look[kind].quantile_ns(0.99).map(|ns| ns as f64);
            let values: Vec<f64> = self.looks.iter().filter_map(p99).collect();
            values.is_empty() || replication_factor(&values) <= SURE
        };
        self.looks.len() >= LOOKS_MIN && (0..2).all(sure)
    }

    /// Adds the latencies of one more time that the stretch was served.
    fn add_look(&mut self, look: [Latency; 2]) {
        for (all, one) in self.latencies.iter_mut().zip(&look) {
            all.add(one);
        }
        self.looks.push(look);
    }

    /// Returns the bytes per second that the host requests; None for a single moment.
    #[must_use]
    pub fn offered_bytes_per_s(&self) -> Option<f64> {
        (self.span_ns > 0).then(|| self.bytes as f64 * 1e9 / self.span_ns as f64)
    }

    /// Returns whether the host requests more than the drive can serve.
    #[must_use]
    pub fn is_overloaded(&self) -> bool {
        match (self.offered_bytes_per_s(), self.possible_bytes_per_s) {
            (Some(offered), Some(possible)) => offered > possible,
            _ => false,
        }
    }
}

/// The stretches of a workload.
#[derive(Clone, Debug)]
pub struct CloseUp {
    /// The busiest part of a pass, or the whole pass.
    pub busiest: StretchResult,
    /// A typical part, if only parts were served.
    pub typical: Option<StretchResult>,
}

/// The input of a close-up.
#[derive(Clone)]
pub struct CloseUpPlan {
    /// The plan in timed mode.
    pub plan: Plan,
    /// Parts of a pass.
    pub stretches: Stretches,
}

impl fmt::Debug for CloseUpPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.plan, self.stretches)
    }
}

/// Returns the plan of a close-up: the same drive in timed mode, without throttle, wear and end.
#[must_use]
pub fn plan_of(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.mode = Mode::Timed(Arrival::Open);
    plan.throttle.policy = Throttle::None;
    plan.throttle.params = throttle::Params::default();
    plan.wears_out = false;
    plan.timeline = None;
    plan.ftl.without_wear_in();
    plan.workload.shifted = false;
    plan.workload.without_reads = false;
    plan.workload.warmup_requests = 0;
    if let Workload::Trace { repeat, warmup_passes, .. } = &mut plan.workload.source {
        (*repeat, *warmup_passes) = (u64::MAX, 0);
    }
    plan
}

/// State passed from one stretch to the next.
struct Aged {
    ftl: Ftl,
    counts: Functional,
    /// Ends of the devices of the trace, if it has several.
    ends: Option<Vec<u64>>,
}

/// Serves the close-up on the drive of a functional run; None if timed mode requires another drive. `tick` receives the
/// finished share of the largest number of looks, and may stop it.
///
/// # Errors
/// Errors of the run, and those of `tick`.
pub fn close_up(
    run: Simulation,
    wanted: &CloseUpPlan,
    tick: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Option<CloseUp>> {
    let Some(mut aged) = Aged::of(run)? else { return Ok(None) };
    let stretches = match wanted.stretches {
        Stretches::Whole(all) => vec![all],
        Stretches::Two { busiest, typical } => vec![typical, busiest],
    };
    let mut tick_in =
        |look: usize, share: f64| tick((look as f64 + share) / (stretches.len() * LOOKS_MAX) as f64);
    let mut results: Vec<StretchResult> = Vec::new();
    for (look, stretch) in stretches.iter().enumerate() {
        let tick = &mut |share: f64| tick_in(look, share);
        let Some((result, drive)) = aged.seen(wanted, stretch, tick)? else { return Ok(None) };
        results.push(result);
        aged = drive;
    }
    let between = wanted.plan.endless();
    // Latencies of a load that the drive cannot follow show the length of the stretch alone.
    let looks_max = if results.iter().all(StretchResult::is_overloaded) { 1 } else { LOOKS_MAX };
    for round in 1..looks_max {
        for (number, (stretch, result)) in stretches.iter().zip(&mut results).enumerate() {
            let look = round * stretches.len() + number;
            if result.is_sure() {
                continue;
            }
            // Requests without time between: two looks in a row would begin with what the first left waiting.
            let tick = &mut |share: f64| tick_in(look, share * UNTIMED_SHARE);
            let Some(drive) = aged.serve_functional(&between, stretch, tick)? else { return Ok(None) };
            aged = drive;
            let tick = &mut |share: f64| tick_in(look, UNTIMED_SHARE + share * (1.0 - UNTIMED_SHARE));
            let Some((served, drive)) = aged.serve(&wanted.plan, stretch, tick)? else { return Ok(None) };
            result.add_look(served.latencies);
            aged = drive;
        }
    }
    let Some(busiest) = results.pop() else { return Ok(None) };
    Ok(Some(CloseUp { busiest, typical: results.pop() }))
}

/// Transfers the drive of a functional run to the beginning of another functional run; None if it cannot continue
/// there.
///
/// # Errors
/// Errors of the run.
pub(crate) fn go_on(run: Simulation, plan: &Plan) -> Result<Option<Simulation>> {
    let Some(aged) = Aged::of(run)? else { return Ok(None) };
    aged.functional(plan, 0)
}

/// Creates a run with an existing drive that counts from its next request on.
fn counting_from_now(plan: &Plan, reading: Reading, stages: Stages) -> Result<Simulation> {
    let (plan, state) = (plan.clone(), State::WarmUp);
    let mut simulation = Simulation { plan, reading, stages, wear_in: None, written: None, state };
    simulation.start_counting_if_due()?;
    Ok(simulation)
}

impl Aged {
    /// Takes the drive of a functional run, with the content of its buffer; None for a timed run.
    fn of(mut run: Simulation) -> Result<Option<Self>> {
        run.finish_serving()?;
        let ends = run.stages.addressing.ends().to_vec();
        let Serving::Functional(serving) = run.stages.serving else { return Ok(None) };
        let Drive { ftl, array } = serving.drive;
        Ok(Some(Self {
            ftl,
            counts: array.counts().clone(),
            ends: Some(ends).filter(|ends| !ends.is_empty()),
        }))
    }

    /// Begins a functional run on the drive, at a request of the pass; None if the plan describes another drive.
    fn functional(self, plan: &Plan, first: u64) -> Result<Option<Simulation>> {
        let Self { ftl, counts, ends } = self;
        let Some(drive) = Drive::go_on(plan, ftl, &counts) else { return Ok(None) };
        let mut reading = Reading::new(plan, open::open_for_run(plan)?);
        reading.skip(first)?;
        let serving = Serving::Functional(FunctionalServing {
            drive,
            buffer: Buffered::of(plan),
            gate: None,
            runs: Vec::new(),
        });
        let stages = Stages { addressing: Addressing::new(plan, ends), serving, book: Book::default() };
        counting_from_now(plan, reading, stages).map(Some)
    }

    /// Serves a stretch in timed mode, and again as fast as possible if it ends late; returns the drive as well.
    fn seen(
        self,
        wanted: &CloseUpPlan,
        stretch: &Stretch,
        tick: &mut dyn FnMut(f64) -> Result<()>,
    ) -> Result<Option<(StretchResult, Self)>> {
        let first = &mut |share: f64| tick(share / 2.0);
        let Some((served, aged)) = self.serve(&wanted.plan, stretch, first)? else { return Ok(None) };
        let late_ns = served.ended_ns.saturating_sub(served.arrived_ns);
        let mut seen = StretchResult {
            from_ns: stretch.from_ns,
            span_ns: served.arrived_ns - served.from_ns,
            requests: stretch.requests,
            bytes: served.bytes,
            possible_bytes_per_s: None,
            latencies: served.latencies.clone(),
            looks: vec![served.latencies],
        };
        if (late_ns as f64) <= seen.span_ns as f64 * LATE_SHARE {
            return Ok(Some((seen, aged)));
        }
        let mut plan = wanted.plan.clone();
        plan.mode = Mode::Timed(Arrival::Closed { queue_depth: SATURATING_DEPTH });
        let second = &mut |share: f64| tick((1.0 + share) / 2.0);
        let Some((served, aged)) = aged.serve(&plan, stretch, second)? else { return Ok(None) };
        let took_ns = (served.ended_ns - served.from_ns).max(1);
        seen.possible_bytes_per_s = Some(served.bytes as f64 * 1e9 / took_ns as f64);
        Ok(Some((seen, aged)))
    }

    /// Serves as many requests after a stretch as it has, without time.
    fn serve_functional(
        self,
        plan: &Plan,
        stretch: &Stretch,
        tick: &mut dyn FnMut(f64) -> Result<()>,
    ) -> Result<Option<Self>> {
        let Some(mut run) = self.functional(plan, stretch.range().end)? else { return Ok(None) };
        while run.stages.book.counted < stretch.requests && run.step(STEP)? != Phase::Done {
            tick(run.stages.book.counted as f64 / stretch.requests as f64)?;
        }
        Self::of(run)
    }

    fn serve(
        self,
        plan: &Plan,
        stretch: &Stretch,
        tick: &mut dyn FnMut(f64) -> Result<()>,
    ) -> Result<Option<(Served, Self)>> {
        let Self { ftl, counts, ends } = self;
        let Mode::Timed(arrival) = plan.mode else { return Ok(None) };
        let Some(drive) = Drive::go_on(plan, ftl, &counts) else { return Ok(None) };
        let mut reading = Reading::new(plan, open::open_for_run(plan)?);
        reading.skip(stretch.range().start)?;
        let stages = Stages {
            addressing: Addressing::new(plan, ends.clone()),
            serving: Serving::Timed(TimedServing::of(plan, arrival, None, drive)),
            book: Book::default(),
        };
        let mut run = Run { simulation: counting_from_now(plan, reading, stages)? };
        let all = (stretch.lead + stretch.requests) as f64;
        let (from_ns, bytes_before) = run.serve(stretch.lead, &mut |served| tick(served as f64 / all))?;
        let lead = stretch.lead;
        let (arrived_ns, bytes) =
            run.serve(stretch.requests, &mut |served| tick((lead + served) as f64 / all))?;
        let (latencies, ended_ns, Drive { ftl, array }) = run.end()?;
        let served = Served { from_ns, arrived_ns, ended_ns, bytes: bytes - bytes_before, latencies };
        Ok(Some((served, Self { ftl, counts: array.counts().clone(), ends })))
    }
}

/// Requests served in timed mode, by the clock of their run.
struct Served {
    from_ns: u64,
    /// The last arrival.
    arrived_ns: u64,
    ended_ns: u64,
    bytes: u64,
    latencies: [Latency; 2],
}

/// A timed run on an aged drive.
struct Run {
    simulation: Simulation,
}

impl Run {
    /// Serves requests and discards earlier latencies; returns when the last of them arrived, and the bytes of all so
    /// far. `tick` receives the requests served.
    fn serve(&mut self, requests: u64, tick: &mut dyn FnMut(u64) -> Result<()>) -> Result<(u64, u64)> {
        let begin = self.simulation.stages.book.counted;
        let end = begin + requests;
        self.timed().direct.clock.take_latencies();
        while self.simulation.stages.book.counted < end {
            if self.simulation.step((end - self.simulation.stages.book.counted).min(STEP))? == Phase::Done {
                break;
            }
            tick(self.simulation.stages.book.counted - begin)?;
        }
        let host = self.simulation.stages.addressing.total();
        Ok((self.timed().direct.clock.now_ns(), host.read_bytes + host.write_bytes))
    }

    /// Waits for all requests; returns latencies, the end of the last one, and the drive.
    fn end(mut self) -> Result<([Latency; 2], u64, Drive<Timed>)> {
        self.simulation.finish_serving()?;
        if self.simulation.plan().shadow {
            self.simulation.audit()?;
        }
        let Serving::Timed(serving) = self.simulation.stages.serving else {
            unreachable!("the run is timed")
        };
        let mut clock = serving.direct.clock;
        Ok((clock.take_latencies(), clock.latest_ns(), serving.direct.drive))
    }

    fn timed(&mut self) -> &mut TimedServing {
        match &mut self.simulation.stages.serving {
            Serving::Timed(serving) => serving,
            Serving::Functional(_) => unreachable!("the run is timed"),
        }
    }
}
