//! Forecasts years of life from a shorter workload: the core of `floatgate lifetime`.
//!
//! Several variants of an experiment are forecast in one call. The workload is read once, and the FTL runs once, for
//! all variants that share their dependencies.

use crate::close_up::{TimedPlan, timed_plan};
use crate::life_interval::Parts;
use crate::lifetime_json::object;
use crate::lifetime_laps::measure_all;
use crate::lifetime_pieces::Variants;
use crate::lifetime_results::LifeResults;
use crate::lifetime_variant::{is_given, variant};
use crate::meter::{Meter, process_cpu_s};
use crate::options::Progress;
use crate::shared_traces;
use crate::workers::each;
use floatgate_base::{Error, Place, Result};
use floatgate_config::Resolved;
use floatgate_lifetime::SECONDS_PER_YEAR;
use floatgate_lifetime::life::Method;
use floatgate_sim::Plan;
use floatgate_sim::plan::WorkloadSettings;
use floatgate_sim::reading::pass::{Pass, read_pass};
use floatgate_sim::reading::rate::{WriteRate, read_write_rate};
use serde_json::Value;

/// Options of a forecast.
#[derive(Clone, Debug)]
pub struct LifetimeOptions {
    /// Start and end of the detail in seconds, per variant: throughput second by second. Variants that end before have
    /// none.
    pub details_s: Vec<Option<(f64, f64)>>,
    /// Whether to compute intervals; each life is then simulated three times.
    pub intervals: bool,
    /// Whether to serve a close-up of the worn-in drive in timed mode, for latencies.
    pub latencies: bool,
    /// Share of the workload's rate under which the drive lives, per variant: its blocks are that share of those of a
    /// drive with as many dies. The close-up has the whole rate, since these dies serve all of it. Empty for 1.
    pub modelled_shares: Vec<f64>,
}

impl Default for LifetimeOptions {
    fn default() -> Self {
        Self { details_s: vec![], intervals: true, latencies: true, modelled_shares: vec![] }
    }
}

/// Longest detail.
const DETAIL_S_MAX: f64 = 7.0 * 86_400.0;

/// Forecasts the life of each variant: the text of a file (with its path) with overrides on top. Returns one object of
/// schema `floatgate.lifetime/1` each, in their order. `progress` is called a few times per second and may stop it.
///
/// # Errors
/// Input errors with their place, run errors, and the errors of `progress`.
pub fn lifetime(
    text: Option<&str>,
    path: &str,
    variants: &[Vec<(String, String)>],
    options: &LifetimeOptions,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Vec<Value>> {
    let (meter, cpu_s) = (Meter::start(), process_cpu_s());
    let details_ns = options.details_s.iter().map(|detail| detail.map(detail_ns).transpose());
    let details_ns = details_ns.collect::<Result<Vec<_>>>()?;
    let mut resolved: Vec<Resolved> =
        variants.iter().map(|overrides| variant(text, path, overrides)).collect::<Result<_>>()?;
    let mut timed_plan: Vec<TimedPlan> = variants
        .iter()
        .zip(&resolved)
        .map(|(one, r)| timed_plan(text, path, one, (r, options.latencies)))
        .collect::<Result<_>>()?;
    set_demand(&mut resolved, &mut timed_plan, &options.modelled_shares);
    shared_traces::share(&mut resolved, &mut timed_plan);
    let (pass_of, firsts) = group(&resolved, pass_key);
    let passes = read_passes(&resolved, &firsts, progress)?;
    for (i, one) in resolved.iter().enumerate() {
        waf_is_possible(one, &passes[pass_of[i]])?;
    }
    let methods: Vec<Method> =
        resolved.iter().enumerate().map(|(i, r)| method(r, &passes[pass_of[i]])).collect();
    let parts: Vec<Option<Parts>> = resolved
        .iter()
        .enumerate()
        .map(|(i, one)| {
            Parts::of(&passes[pass_of[i]].demand, one.plan.workload.demand).filter(|_| repeats(&one.plan))
        })
        .collect();
    // Lives with every request through the FTL need no laps.
    let wanted: Vec<_> = (0..resolved.len())
        .map(|i| {
            (methods[i] != Method::Full)
                .then(|| (&resolved[i], &passes[pass_of[i]], timed_plan[i].as_deref().ok()))
        })
        .collect();
    let laps = measure_all(&wanted, progress)?;
    let lives = Variants {
        resolved: &resolved,
        timed_plans: &timed_plan,
        methods: &methods,
        known: (0..resolved.len()).map(|i| (&passes[pass_of[i]], &laps[i], parts[i].as_ref())).collect(),
        details_ns: &details_ns,
        intervals: options.intervals,
    }
    .lives(progress)?;
    let results = |i: usize| LifeResults {
        resolved: &resolved[i],
        pass: &passes[pass_of[i]],
        method: methods[i],
        laps: Some(&laps[i]).filter(|_| methods[i] != Method::Full),
        life: &lives[i].life,
        drive: lives[i].drive.as_ref(),
        worn_s: lives[i].worn_s,
        timed_plan: &timed_plan[i],
        close_up: lives[i].close_up.as_ref(),
        parts: parts[i].as_ref(),
        interval: lives[i].interval.as_ref(),
    };
    let cpu_s = process_cpu_s() - cpu_s;
    Ok((0..resolved.len()).map(|i| object(&results(i), meter.wall_s(), cpu_s)).collect())
}

/// Reads the workload of a forecast once, for the rate at which it writes whatever `lifetime.forecast.demand` says.
///
/// # Errors
/// Input errors with their place, a workload without times, and the errors of `progress`.
pub fn write_rate(
    text: Option<&str>,
    path: &str,
    overrides: &[(String, String)],
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<WriteRate> {
    let mut plan = variant(text, path, overrides)?.plan;
    let all = requests_of(&plan);
    if let floatgate_sim::Workload::Synthetic(config) = &mut plan.workload.source {
        config.counts_only = true;
    }
    let mut rates = each(&[plan], "rate of the workload", progress, |plan, ticker| {
        read_write_rate(plan, &mut |done| ticker.tick(done as f64 / all.unwrap_or(u64::MAX) as f64))
    })?;
    Ok(rates.remove(0))
}

/// Sets the rate of the workload, which belongs to forecasts alone: of the life, and of its close-up.
fn set_demand(resolved: &mut [Resolved], timed_plan: &mut [TimedPlan], modelled_shares: &[f64]) {
    for (i, (one, timed)) in resolved.iter_mut().zip(timed_plan).enumerate() {
        let share = modelled_shares.get(i).copied().unwrap_or(1.0);
        one.plan.workload.demand = one.forecast.demand * share;
        if let Ok(plan) = timed {
            plan.workload.demand = one.forecast.demand;
        }
    }
}

/// Reads one pass over the workload of the first variant of each group.
fn read_passes(
    resolved: &[Resolved],
    firsts: &[usize],
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Vec<Pass>> {
    each(firsts, "workload", progress, |&i, ticker| {
        let r = &resolved[i];
        let all = requests_of(&r.plan);
        read_pass(&plan_of_pass(r), window_ns(r), &mut |done| {
            ticker.tick(done as f64 / all.unwrap_or(u64::MAX) as f64)
        })
    })
}

/// Least possible programs per page written without a buffer, except for rounding.
const POSSIBLE: f64 = 0.995;

/// Refuses a write amplification of less than a program per page written. A buffer may absorb page writes.
fn waf_is_possible(resolved: &Resolved, pass: &Pass) -> Result<()> {
    if resolved.plan.buffer.is_some() {
        return Ok(());
    }
    // Rounding of the third digit does not make a drive impossible.
    if let Some(waf) = resolved.forecast.waf.filter(|&waf| waf < POSSIBLE) {
        let what = format!(
            "{waf} is less than one program per page written, which takes a buffer that absorbs writes"
        );
        let expected = "expected at least 1, or drive.buffer";
        return Err(Error::input(Place::Setting("lifetime.forecast.waf".into()), what, expected));
    }
    let Some(waf) = resolved.forecast.waf_of_bytes else {
        return Ok(());
    };
    let page_bytes = pass.host.page_writes as f64 * f64::from(resolved.plan.drive.geometry.page_bytes);
    let least = page_bytes / pass.host.write_bytes.max(1) as f64;
    if waf >= least * POSSIBLE || pass.host.write_bytes == 0 {
        return Ok(());
    }
    let what = format!(
        "{waf} flash bytes per byte that the host writes are {:.3} programs per page written: the requests touch pages of {least:.3} \
         bytes per byte",
        waf / least
    );
    let expected =
        format!("expected at least {least:.3}, or lifetime.forecast.waf, programs per page written");
    Err(Error::input(Place::Setting("lifetime.forecast.waf_of_bytes".into()), what, expected))
}

fn detail_ns((from_s, to_s): (f64, f64)) -> Result<(u64, u64)> {
    let fits = from_s.is_finite() && to_s.is_finite() && from_s >= 0.0;
    if fits && to_s > from_s && to_s - from_s <= DETAIL_S_MAX && to_s < 3e9 {
        return Ok(((from_s * 1e9) as u64, (to_s * 1e9) as u64));
    }
    let what = format!("{from_s} to {to_s} s is not a valid part of a life");
    Err(Error::input(
        Place::Setting("detail".into()),
        what,
        "expected two times in seconds, up to a week apart",
    ))
}

/// Returns the requests of a pass, if known in advance.
fn requests_of(plan: &Plan) -> Option<u64> {
    match &plan.workload.source {
        floatgate_sim::Workload::Synthetic(config) => Some(config.requests),
        floatgate_sim::Workload::Trace { .. } => None,
    }
}

/// Returns the plan for reading a pass; if write amplification is configured, the written pages are not needed.
fn plan_of_pass(resolved: &Resolved) -> Plan {
    let mut plan = resolved.plan.clone();
    if let floatgate_sim::Workload::Synthetic(config) = &mut plan.workload.source {
        config.counts_only = is_given(resolved);
    }
    plan
}

/// Returns the width of the windows, unless the life is simulated request by request.
fn window_ns(resolved: &Resolved) -> Option<u64> {
    (resolved.forecast.method != Method::Requests).then_some(resolved.forecast.window_ns)
}

/// Returns the group of each variant, and the first variant of each group.
fn group(resolved: &[Resolved], key: impl Fn(&Resolved) -> String) -> (Vec<usize>, Vec<usize>) {
    let keys: Vec<String> = resolved.iter().map(key).collect();
    let mut firsts: Vec<usize> = Vec::new();
    let groups = (0..keys.len()).map(|i| {
        firsts.iter().position(|&first| keys[first] == keys[i]).unwrap_or_else(|| {
            firsts.push(i);
            firsts.len() - 1
        })
    });
    (groups.collect(), firsts)
}

/// Returns the dependencies of a pass over the workload.
fn pass_key(resolved: &Resolved) -> String {
    let plan = &resolved.plan;
    let windows = (window_ns(resolved), plan.reduction_window_ns());
    let skips_laps = is_given(resolved);
    let (geometry, page_ns) = (plan.drive.geometry, plan.page_ns());
    let WorkloadSettings { source, demand, .. } = &plan.workload;
    format!("{source:?} {demand} {} {geometry:?} {page_ns:?} {windows:?} {skips_laps}", plan.seed)
}

/// Returns whether a pass is a sample of coming days; generators continue as they began.
fn repeats(plan: &Plan) -> bool {
    match &plan.workload.source {
        floatgate_sim::Workload::Synthetic(config) => config.twin.is_some(),
        floatgate_sim::Workload::Trace { .. } => true,
    }
}

/// Resolves `auto`: full if that takes seconds.
fn method(resolved: &Resolved, pass: &Pass) -> Method {
    if resolved.forecast.method != Method::Auto {
        return resolved.forecast.method;
    }
    let target_s = resolved.plan.throttle.target_years * SECONDS_PER_YEAR;
    let passes = target_s * 1e9 / pass.demand.period_ns().max(1) as f64;
    let work = passes * (pass.requests + pass.host.page_writes) as f64;
    if work <= FULL_MAX && !is_given(resolved) { Method::Full } else { Method::Windows }
}

/// Requests and page writes of a life up to which `auto` selects the full method.
const FULL_MAX: f64 = 3e7;
