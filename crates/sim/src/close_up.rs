//! An aged drive looked at closely: requests of a pass in time, on the drive that laps have worn in.
//!
//! Laps count operations. What a request waits for shows only where operations take time, so the drive that they leave serves
//! a part of the workload in timed mode, at its own stamps and without a throttle. Where requests at the end are far behind their
//! stamps, the same part is served once more as fast as the drive can, which tells what it can do.

use crate::addressing::Placing;
use crate::book::Book;
use crate::buffer::Buffered;
use crate::drive::Drive;
use crate::plan::{Arrival, Mode, Plan, Workload};
use crate::reading::busy::{Stretch, Stretches};
use crate::reading::{Reading, open};
use crate::serve::{InOrder, Serving, TimedServing};
use crate::simulation::{Phase, Simulation, Stages, State};
use floatgate_base::Result;
use floatgate_flash::{Functional, Timed};
use floatgate_ftl::Ftl;
use floatgate_lifetime::{Throttle, throttle};
use floatgate_stats::Latency;
use std::fmt;

/// Requests that are under way at once where a drive shows what it can do.
pub const SATURATING_DEPTH: u32 = 256;
/// By what share of a stretch requests may end after the last arrival before it is asked whether the drive keeps up.
const LATE_SHARE: f64 = 0.05;
/// Requests served between two ticks.
const STEP: u64 = 1 << 14;

/// What a stretch of a workload takes on an aged drive.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When it begins, nanoseconds since its pass did.
    pub from_ns: u64,
    /// From the first arrival to the last, nanoseconds.
    pub span_ns: u64,
    /// Requests that count.
    pub requests: u64,
    /// Bytes that they read and write.
    pub bytes: u64,
    /// Bytes of the host a second that the drive can serve of them; none where it keeps up.
    pub possible_bytes_per_s: Option<f64>,
    /// Latencies of reads and writes.
    pub latencies: [Latency; 2],
}

impl Seen {
    /// Bytes that the host asks for in a second; none of a single moment.
    #[must_use]
    pub fn offered_bytes_per_s(&self) -> Option<f64> {
        (self.span_ns > 0).then(|| self.bytes as f64 * 1e9 / self.span_ns as f64)
    }

    /// Whether the host asks for more than the drive can do.
    #[must_use]
    pub fn is_overloaded(&self) -> bool {
        match (self.offered_bytes_per_s(), self.possible_bytes_per_s) {
            (Some(offered), Some(possible)) => offered > possible,
            _ => false,
        }
    }
}

/// What was seen of a workload.
#[derive(Clone, Debug)]
pub struct CloseUp {
    /// The busiest part of a pass, or all of it.
    pub busiest: Seen,
    /// A typical part, where not all of it was looked at.
    pub typical: Option<Seen>,
}

/// What to look at.
#[derive(Clone)]
pub struct Wanted {
    /// The plan in timed mode.
    pub plan: Plan,
    /// Parts of a pass.
    pub stretches: Stretches,
}

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.plan, self.stretches)
    }
}

/// The plan of a close-up: the same drive in time, without throttle, wear and end.
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

/// What goes from one stretch to the next.
struct Aged {
    ftl: Ftl,
    counts: Functional,
    /// Where the devices of the trace end, if it has several.
    ends: Option<Vec<u64>>,
}

/// Looks closely at the drive that a run in functional mode leaves; none where the drive in time is another one. `tick` may break
/// off.
///
/// # Errors
/// Those of a run, and what `tick` returns.
pub fn close_up(
    run: Simulation,
    wanted: &Wanted,
    tick: &mut dyn FnMut() -> Result<()>,
) -> Result<Option<CloseUp>> {
    let Some(aged) = Aged::of(run)? else { return Ok(None) };
    match wanted.stretches {
        Stretches::Whole(all) => {
            Ok(aged.seen(wanted, &all, tick)?.map(|(busiest, _)| CloseUp { busiest, typical: None }))
        }
        Stretches::Two { busiest, typical } => {
            let Some((typical, aged)) = aged.seen(wanted, &typical, tick)? else { return Ok(None) };
            let busiest = aged.seen(wanted, &busiest, tick)?;
            Ok(busiest.map(|(busiest, _)| CloseUp { busiest, typical: Some(typical) }))
        }
    }
}

/// The drive that a functional run leaves, at the beginning of another functional run; none where it cannot go on so.
///
/// # Errors
/// Those of a run.
pub(crate) fn go_on(run: Simulation, plan: Plan) -> Result<Option<Simulation>> {
    let Some(Aged { ftl, counts, ends }) = Aged::of(run)? else { return Ok(None) };
    let Some(drive) = Drive::go_on(&plan, ftl, &counts) else { return Ok(None) };
    let serving =
        Serving::Functional(InOrder { drive, buffer: Buffered::of(&plan), gate: None, runs: Vec::new() });
    let reading = Reading::new(&plan, open::open_for_run(&plan)?);
    let stages = Stages { placing: Placing::new(&plan, ends), serving, book: Book::default() };
    Ok(Some(counting_from_now(&plan, reading, stages)?))
}

/// A run whose drive is there, and which counts from its next request on.
fn counting_from_now(plan: &Plan, reading: Reading, stages: Stages) -> Result<Simulation> {
    let (plan, state) = (plan.clone(), State::WarmUp);
    let mut simulation = Simulation { plan, reading, stages, wear_in: None, written: None, state };
    simulation.start_counting_if_due()?;
    Ok(simulation)
}

impl Aged {
    /// The drive of a functional run, with what its buffer held; none of another run.
    fn of(mut run: Simulation) -> Result<Option<Self>> {
        run.finish_serving()?;
        let ends = run.stages.placing.ends().to_vec();
        let Serving::Functional(serving) = run.stages.serving else { return Ok(None) };
        let Drive { ftl, array } = serving.drive;
        Ok(Some(Self {
            ftl,
            counts: array.counts().clone(),
            ends: Some(ends).filter(|ends| !ends.is_empty()),
        }))
    }

    /// Serves a stretch in time, and once more as fast as can be where it ends late; the drive as it is then.
    fn seen(
        self,
        wanted: &Wanted,
        stretch: &Stretch,
        tick: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<(Seen, Self)>> {
        let Some((served, aged)) = self.serve(&wanted.plan, stretch, tick)? else { return Ok(None) };
        let late_ns = served.ended_ns.saturating_sub(served.arrived_ns);
        let mut seen = Seen {
            from_ns: stretch.from_ns,
            span_ns: served.arrived_ns - served.from_ns,
            requests: stretch.requests,
            bytes: served.bytes,
            possible_bytes_per_s: None,
            latencies: served.latencies,
        };
        if (late_ns as f64) <= seen.span_ns as f64 * LATE_SHARE {
            return Ok(Some((seen, aged)));
        }
        let mut plan = wanted.plan.clone();
        plan.mode = Mode::Timed(Arrival::Closed { queue_depth: SATURATING_DEPTH });
        let Some((served, aged)) = aged.serve(&plan, stretch, tick)? else { return Ok(None) };
        let took_ns = (served.ended_ns - served.from_ns).max(1);
        seen.possible_bytes_per_s = Some(served.bytes as f64 * 1e9 / took_ns as f64);
        Ok(Some((seen, aged)))
    }

    fn serve(
        self,
        plan: &Plan,
        stretch: &Stretch,
        tick: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<(Served, Self)>> {
        let Self { ftl, counts, ends } = self;
        let Mode::Timed(arrival) = plan.mode else { return Ok(None) };
        let Some(drive) = Drive::go_on(plan, ftl, &counts) else { return Ok(None) };
        let mut reading = Reading::new(plan, open::open_for_run(plan)?);
        reading.skip(stretch.range().start)?;
        let stages = Stages {
            placing: Placing::new(plan, ends.clone()),
            serving: Serving::Timed(TimedServing::of(plan, arrival, None, drive)),
            book: Book::default(),
        };
        let mut run = Run { simulation: counting_from_now(plan, reading, stages)? };
        let (from_ns, bytes_before) = run.serve(stretch.lead, tick)?;
        let (arrived_ns, bytes) = run.serve(stretch.requests, tick)?;
        let (latencies, ended_ns, Drive { ftl, array }) = run.end()?;
        let served = Served { from_ns, arrived_ns, ended_ns, bytes: bytes - bytes_before, latencies };
        Ok(Some((served, Self { ftl, counts: array.counts().clone(), ends })))
    }
}

/// Requests that were served in time, by the clock of their run.
struct Served {
    from_ns: u64,
    /// The last arrival.
    arrived_ns: u64,
    ended_ns: u64,
    bytes: u64,
    latencies: [Latency; 2],
}

/// A run in time on an aged drive.
struct Run {
    simulation: Simulation,
}

impl Run {
    /// Serves requests, and forgets the latencies before; when the last of them arrived, and the bytes of all so far.
    fn serve(&mut self, requests: u64, tick: &mut dyn FnMut() -> Result<()>) -> Result<(u64, u64)> {
        let end = self.simulation.stages.book.counted + requests;
        self.timed().timely.clock.take_latencies();
        while self.simulation.stages.book.counted < end {
            if self.simulation.step((end - self.simulation.stages.book.counted).min(STEP))? == Phase::Done {
                break;
            }
            tick()?;
        }
        let host = self.simulation.stages.placing.total();
        Ok((self.timed().timely.clock.now_ns(), host.read_bytes + host.write_bytes))
    }

    /// Lets all requests end: latencies, when the last one ended, and the drive.
    fn end(mut self) -> Result<([Latency; 2], u64, Drive<Timed>)> {
        self.simulation.finish_serving()?;
        if self.simulation.plan().shadow {
            self.simulation.audit()?;
        }
        let Serving::Timed(serving) = self.simulation.stages.serving else { unreachable!("it is in time") };
        let mut clock = serving.timely.clock;
        Ok((clock.take_latencies(), clock.latest_ns(), serving.timely.drive))
    }

    fn timed(&mut self) -> &mut TimedServing {
        match &mut self.simulation.stages.serving {
            Serving::Timed(serving) => serving,
            Serving::Functional(_) => unreachable!("it is in time"),
        }
    }
}
