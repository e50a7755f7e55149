//! One pass over a workload without a drive: its writes over time, for lives that repeat it.

use crate::plan::{Plan, Workload};
use crate::reading::busy::Busy;
use crate::reading::distinct_pages::DistinctPages;
use crate::reading::open::open_source;
use floatgate_base::{Error, Op, Place, RequestBatch, Result};
use floatgate_host::HostCounters;
use floatgate_lifetime::life::{Demand, DemandBuilder};
use floatgate_trace::{Summary, period::Stamps, without_reads::stays};

/// The requests of a pass by windows of its time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassWindows {
    /// Width of a window.
    pub width_ns: u64,
    /// Requests of each; a request with an out-of-order stamp belongs to the window of the previous one.
    pub requests: Vec<u32>,
    /// End of the last of them.
    end_ns: u64,
}

/// Maximum of windows per pass; windows of twice the width are sufficient for a pass of months.
const WINDOWS_MAX: u64 = 1 << 16;

impl PassWindows {
    fn new(width_ns: u64) -> Self {
        Self { width_ns, requests: vec![], end_ns: 0 }
    }

    /// Adds a request at the largest stamp so far.
    #[inline]
    fn add(&mut self, last_ns: u64) {
        match self.requests.last_mut() {
            Some(requests) if last_ns < self.end_ns => *requests += 1,
            _ => self.add_behind(last_ns),
        }
    }

    /// Adds the first request of a window.
    fn add_behind(&mut self, last_ns: u64) {
        while last_ns / self.width_ns >= WINDOWS_MAX {
            self.requests = self.requests.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.width_ns *= 2;
        }
        let window = (last_ns / self.width_ns) as usize;
        if window >= self.requests.len() {
            self.requests.resize(window + 1, 0);
        }
        self.requests[window] += 1;
        self.end_ns = (window as u64 + 1).saturating_mul(self.width_ns);
    }
}

/// Summary of a pass over a workload.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Its page writes.
    pub demand: Demand,
    /// All its requests.
    pub requests: u64,
    /// Requests that remain if reads are left out.
    pub requests_without_reads: u64,
    /// Requests by window.
    pub windows: PassWindows,
    /// Load of the drive.
    pub busy: Busy,
    /// Counts of all devices together; pages are those that requests touch.
    pub host: HostCounters,
    /// Distinct pages that a trace writes; None for a generator, which goes on to others.
    pub pages_written: Option<u64>,
    /// Name of the format.
    pub format: &'static str,
    /// Assumptions of the reader.
    pub assumed: Vec<String>,
    /// Observations of the source.
    pub source: Summary,
}

/// Reads the workload once. `window_ns` as in [`DemandBuilder::new`]; `tick` receives the requests so far and may stop
/// the pass.
///
/// # Errors
/// Input errors of the source, a workload without requests or without time stamps, and the errors of `tick`.
pub fn read_pass(
    plan: &Plan,
    window_ns: Option<u64>,
    tick: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Pass> {
    let mut source = open_source(plan)?;
    let shift = plan.drive.geometry.page_bytes.trailing_zeros();
    let mut builder = DemandBuilder::new(window_ns);
    let mut batch = RequestBatch::default();
    let (mut requests, mut requests_without_reads) = (0, 0);
    let (mut host, mut stamps, mut last_ns) = (HostCounters::default(), Stamps::default(), 0);
    let mut windows = PassWindows::new(plan.reduction_window_ns());
    let (mut busy, mut written) = (Busy::new(plan.page_ns()), none_written(plan));
    loop {
        batch.clear();
        source.fill(&mut batch, RequestBatch::DEFAULT_LEN)?;
        if batch.is_empty() {
            break;
        }
        stamps.note(&batch.time_ns);
        for i in 0..batch.len() {
            let (op, offset, bytes) = (batch.op[i], batch.offset[i], batch.bytes[i]);
            requests_without_reads += u64::from(stays(&batch, i));
            let stamp_ns = u64::try_from(batch.time_ns[i]).unwrap_or(0);
            last_ns = last_ns.max(stamp_ns);
            windows.add(last_ns);
            let end = offset.saturating_add(bytes.max(1)) - 1;
            let pages = if bytes == 0 { 0 } else { (end >> shift) - (offset >> shift) + 1 };
            busy.add(last_ns, [Op::Read, Op::Write].map(|one| if one == op { pages } else { 0 }));
            match op {
                Op::Read => {
                    host.read_requests += 1;
                    host.read_bytes += bytes;
                    host.page_reads += pages;
                }
                Op::Write => {
                    host.write_requests += 1;
                    host.write_bytes += bytes;
                    host.page_writes += pages;
                    builder.add(stamp_ns, pages);
                    written.iter_mut().for_each(|set| set.add(batch.device[i], offset >> shift, pages));
                }
                Op::Trim => {
                    host.trim_requests += 1;
                    host.trim_bytes += bytes;
                }
            }
        }
        requests += batch.len() as u64;
        tick(requests)?;
    }
    if last_ns == 0 {
        return Err(without_time(plan, requests, &source.summary()));
    }
    if last_ns < SPAN_MIN_NS {
        return Err(too_short(plan, last_ns));
    }
    Ok(Pass {
        demand: builder.finish(stamps.period_ns()),
        requests,
        requests_without_reads,
        windows,
        busy,
        host,
        pages_written: written.map(|written| written.count()),
        format: source.format(),
        assumed: source.assumed(),
        source: source.summary(),
    })
}

/// Creates the empty set of written pages; None for a generator.
fn none_written(plan: &Plan) -> Option<DistinctPages> {
    let is_trace = matches!(plan.workload.source, Workload::Trace { .. });
    is_trace.then(|| DistinctPages::new(plan.drive.geometry.pages()))
}

/// Shortest workload that may repeat for years.
const SPAN_MIN_NS: u64 = 1_000_000_000;

fn place_of(plan: &Plan) -> Place {
    match &plan.workload.source {
        Workload::Trace { path, .. } => Place::Path(path.clone()),
        Workload::Synthetic(_) => Place::Setting("workload.rate_per_s".into()),
    }
}

fn too_short(plan: &Plan, last_ns: u64) -> Box<Error> {
    let what = format!("the workload lasts {} s, too short for years", last_ns as f64 / 1e9);
    let expected = "expected at least a second; --time-unit sets the unit of time stamps, and a counter is no clock: scale \
                    it to the bytes per day that you know (floatgate trace convert --time-scale, or --demand)";
    Error::input(place_of(plan), what, expected)
}

/// Returns the error of a workload that has no times.
pub(crate) fn without_time(plan: &Plan, requests: u64, source: &Summary) -> Box<Error> {
    let place = place_of(plan);
    if requests == 0 {
        return Error::input(
            place,
            "the trace holds no request",
            "expected at least one read, write or TRIM",
        );
    }
    if let (Some(first), Some(back_s)) = (&source.first_backwards, source.furthest_back_s()) {
        let what = format!(
            "{} of {requests} time stamps run backwards, the first in {first}, by at most {back_s} s, and none lies after the \
             first request's",
            source.stamps_backwards
        );
        return Error::input(place, what, "expected requests in the order of their stamps");
    }
    let (what, expected) = match &plan.workload.source {
        Workload::Trace { .. } => (
            "the requests of the trace have no time stamps, or all the same",
            "expected a trace with increasing time stamps",
        ),
        Workload::Synthetic(_) => (
            "the workload has no arrival rate",
            "expected requests per second, such as workload.rate_per_s=1000",
        ),
    };
    Error::input(place, what, expected)
}
