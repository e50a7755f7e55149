//! The table of read disturb.

use crate::quantiles::quantiles_us;
use floatgate_flash::Cause;
use floatgate_nand::disturb::{UNIT, type_names};
use floatgate_sim::outcome::{Burst, ReclaimFigures, ReclaimLatency};
use floatgate_sim::{Outcome, Plan};
use floatgate_stats::Row;
use serde_json::{Map, Value, json};

/// Bins of the distribution of blocks over their disturbance.
const BINS: u32 = 20;

/// Maximum of intervals in `over_time`.
const INTERVALS_MAX: usize = 50;

/// Builds the table `reclaim`; null if reads disturb nothing.
pub(crate) fn reclaim(plan: &Plan, outcome: &Outcome) -> Value {
    let (Some(figures), Some(disturb)) = (&outcome.reclaim, &plan.drive.disturb) else { return Value::Null };
    let counters = &figures.counters;
    let share = |sum: u32| f64::from(sum) / f64::from(disturb.max);
    let time = |cause| outcome.time_s(plan, cause);
    let pages = plan.drive.flash_pages_per_block();
    let by_row = || (0u32..).zip(&figures.reads);
    let by_type = |page_type: u32| -> u64 {
        by_row().filter(|(row, _)| row % pages % disturb.types == page_type).map(|(_, n)| n).sum()
    };
    let by_mode =
        |mode: u32| -> u64 { by_row().filter(|(row, _)| row / pages == mode).map(|(_, n)| n).sum() };
    let names = type_names(disturb.types);
    let types: Map<String, Value> =
        (0..disturb.types).map(|t| (names[t as usize].to_string(), by_type(t).into())).collect();
    json!({
        "on_demand": counters.on_demand,
        "background": counters.background,
        "first_after_reads": counters.first_after_reads,
        "moved_pages": counters.moved_pages,
        "reads_beyond_max": counters.reads_beyond_max,
        "replicas": {
            "jobs": counters.replications,
            "made": figures.replicas.made,
            "refused": counters.replicas_refused,
            "died_by_update": figures.replicas.died_by_update,
            "died_by_erase": figures.replicas.died_by_erase,
            "promoted": figures.replicas.promoted,
            "tails_forgone": figures.tails_forgone,
        },
        "reads_by_page_type": types,
        "reads_by_mode": (0..disturb.modes).map(by_mode).collect::<Vec<_>>(),
        "largest_disturbance_share": share(figures.largest),
        "disturbance": disturbance(figures, disturb.max),
        "time_s": { "reclaim": time(Cause::Reclaim), "replica": time(Cause::Replica) },
        "service_ms": service_ms(plan, figures),
        "response_us": outcome.reclaim_latency.as_ref().map(response_us),
        "over_time": over_time(outcome.series.rows(), outcome.span_s.is_some()),
        "memory_bytes": figures.memory_bytes,
        "max_reads": disturb.max / UNIT,
    })
}

/// Returns the response times of reads during reclaims or replications, and otherwise.
fn response_us(reclaim_latency: &ReclaimLatency) -> Value {
    json!({ "during": quantiles_us(&reclaim_latency.during), "otherwise": quantiles_us(&reclaim_latency.otherwise) })
}

/// Returns reclaims by intervals of equally many requests, the last of which may be shorter. Edges are in requests and,
/// if the workload has time stamps, in seconds; there is one more than counts.
fn over_time(rows: &[Row], in_time: bool) -> Value {
    let step = rows.len().div_ceil(INTERVALS_MAX).max(1);
    let last = rows.len().saturating_sub(1);
    let ends: Vec<&Row> = rows
        .iter()
        .enumerate()
        .filter(|(i, _)| (i + 1) % step == 0 || *i == last)
        .map(|(_, row)| row)
        .collect();
    let edges = |of: &dyn Fn(&Row) -> Value, first: Value| -> Vec<Value> {
        std::iter::once(first).chain(ends.iter().map(|row| of(row))).collect()
    };
    let counts = |i: usize| -> Vec<u64> {
        let mut before = 0;
        ends.iter().map(|row| row.reclaims[i] - std::mem::replace(&mut before, row.reclaims[i])).collect()
    };
    json!({
        "requests": edges(&|row| row.requests.into(), 0.into()),
        "time_s": in_time.then(|| edges(&|row| (row.time_ns as f64 / 1e9).into(), 0.0.into())),
        "on_demand": counts(0),
        "background": counts(1),
    })
}

/// Counts blocks by their disturbance as a share of the maximum.
fn disturbance(figures: &ReclaimFigures, max: u32) -> Value {
    let mut blocks = vec![0u64; BINS as usize + 1];
    for &sum in &figures.sums {
        let bin = u64::from(sum) * u64::from(BINS) / u64::from(max);
        blocks[bin.min(u64::from(BINS)) as usize] += 1;
    }
    let edges: Vec<f64> = (0..=BINS).map(|edge| f64::from(edge) / f64::from(BINS)).collect();
    json!({ "edges": edges, "blocks": blocks })
}

/// Returns the duration of all operations of an instant, in sequence; null without any.
fn service_ms(plan: &Plan, figures: &ReclaimFigures) -> Value {
    let timing = &plan.drive.timing;
    let transfer_us = timing.transfer_us(plan.drive.flash_page_bytes());
    let (Some(disturb), per_page) = (&plan.drive.disturb, f64::from(plan.drive.subpages)) else {
        return Value::Null;
    };
    let ms = |burst: &Burst| {
        let program_us = timing.mean_program_us() * disturb.program_factors[usize::from(burst.mode)];
        let move_us = timing.mean_read_us() + program_us + 2.0 * (timing.command_us + transfer_us);
        let erases = f64::from(burst.erases * plan.layout().blocks_per_unit());
        let pages = (f64::from(burst.pages) / per_page).ceil();
        (pages * move_us + erases * (timing.erase_us + timing.command_us)) / 1e3
    };
    let mut bursts: Vec<(f64, u64)> = figures.counters.bursts.iter().map(|(b, &n)| (ms(b), n)).collect();
    bursts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count: u64 = bursts.iter().map(|(_, n)| n).sum();
    let quantile = |share: f64| {
        let rank = ((share * count as f64).ceil() as u64).max(1);
        let mut passed = 0;
        bursts.iter().find(|(_, n)| {
            passed += n;
            passed >= rank
        })
    };
    let value = |burst: Option<&(f64, u64)>| burst.map(|(ms, _)| *ms);
    let mut below = 0;
    let cdf: Vec<_> = bursts
        .iter()
        .map(|(ms, n)| {
            below += n;
            json!([ms, below as f64 / count as f64])
        })
        .collect();
    json!({
        "count": count,
        "p50": value(quantile(0.5)),
        "p99": value(quantile(0.99)),
        "max": value(bursts.last()),
        "cdf": thinned(cdf),
    })
}

/// Maximum of points in a distribution.
const POINTS_MAX: usize = 150;

fn thinned(points: Vec<Value>) -> Vec<Value> {
    let (n, step) = (points.len(), points.len().div_ceil(POINTS_MAX).max(1));
    let kept = |i: &usize| i.is_multiple_of(step) || i + 1 == n;
    points.into_iter().enumerate().filter(|(i, _)| kept(i)).map(|(_, point)| point).collect()
}
