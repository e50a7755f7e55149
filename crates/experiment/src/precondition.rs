//! Outcome of `precondition = "auto"`, and an upper estimate of its cost.

use floatgate_sim::plan::{AUTO_FILLS, AutoFill};
use floatgate_sim::wear_in::Ended;
use floatgate_sim::{Outcome, Plan, WearIn};
use serde_json::{Value, json};

/// Pages filled per second at steady state, on a machine of 2020.
const INSTALLED_PER_S: f64 = 15e6;
/// Page programs per second, in random order.
const PROGRAMS_PER_S: f64 = 8e6;
/// Requests read from a trace per second.
const REQUESTS_PER_S: f64 = 4e6;

/// Estimates the upper limits of its cost: seconds, from the sizes alone and equal for equal runs; and bytes of the
/// drive's tables.
fn expected(plan: &Plan, wear_in: &WearIn) -> Option<(f64, u64)> {
    let auto = plan.ftl.auto?;
    let (logical, physical) = (f64::from(plan.ftl.setup.logical_pages), f64::from(plan.layout().pages()));
    // Uniform writes copy about as many pages as the spare space requires; the trace copies at most as many.
    let spare = 1.0 - logical / physical;
    let programs_per_write = 0.5 + 0.5 / spare.max(0.01);
    let fill_s = match auto.fill {
        AutoFill::Steady => logical / INSTALLED_PER_S,
        AutoFill::Random => logical * (1.0 + programs_per_write) / PROGRAMS_PER_S,
    };
    let (requests, writes) = (wear_in.requests().1 as f64, wear_in.page_writes_max() as f64);
    let laps_s = writes * programs_per_write / PROGRAMS_PER_S + requests / REQUESTS_PER_S;
    // Four bytes per page in either direction, and a bit for live or touched pages.
    let bytes = 4.125 * (logical + physical);
    Some((fill_s + laps_s, bytes as u64))
}

/// Returns the law by which the drive was filled, or that it was filled at random.
fn became(plan: &Plan) -> Option<&'static str> {
    plan.ftl.auto.map(|auto| AUTO_FILLS[auto.fill as usize].0)
}

/// Builds the object of result.json; None for a drive with another initial state.
pub(crate) fn precondition(plan: &Plan, outcome: &Outcome) -> Option<Value> {
    let wear_in = outcome.wear_in.as_ref()?;
    let (seconds, bytes) = expected(plan, wear_in)?;
    let writes = wear_in.page_writes();
    let logical = f64::from(plan.ftl.setup.logical_pages);
    let stationary = match wear_in.ended {
        Some(Ended::Stationary) => Some(true),
        Some(Ended::Bounded) => Some(false),
        _ => None,
    };
    Some(json!({
        "asked": "auto",
        "became": became(plan),
        "why": plan.ftl.auto.and_then(|auto| auto.no_law),
        "wear_in_laps": wear_in.waf_by_lap().len(),
        "wear_in_passes": wear_in.passes,
        "wear_in_requests": wear_in.requests().0,
        "wear_in_page_writes": writes,
        "wear_in_drive_writes": writes as f64 / logical,
        "wear_in_waf": wear_in.waf_by_lap(),
        "stationary": stationary,
        "error": wear_in.error,
        "ended": wear_in.ended.map(Ended::text),
        "expected_s": seconds,
        "expected_bytes": bytes,
    }))
}

/// Shortest time that is announced.
const ANNOUNCED_FROM_S: f64 = 2.0;

/// Describes the coming work for people, once it is known; None if it takes no time, or for a drive with another
/// initial state.
pub(crate) fn announcement(plan: &Plan, wear_in: &WearIn) -> Option<String> {
    let (seconds, bytes) = expected(plan, wear_in).filter(|&(seconds, _)| seconds >= ANNOUNCED_FROM_S)?;
    let fill = match plan.ftl.auto?.fill {
        AutoFill::Steady => "at steady state",
        AutoFill::Random => "at random",
    };
    let gib = f64::from(plan.ftl.setup.logical_pages) * f64::from(plan.drive.geometry.page_bytes) / GIB;
    let laps = match wear_in.passes_max {
        0 => String::from("no laps"),
        n => {
            let writes = wear_in.page_writes_max() as f64 / f64::from(plan.ftl.setup.logical_pages);
            format!("up to {n} passes over the trace ({writes:.1} drive writes)")
        }
    };
    let mib = bytes as f64 / GIB * 1024.0;
    Some(format!(
        "precondition auto: {gib:.1} GiB filled {fill}, then {laps}; at most about {seconds:.0} s and {mib:.0} MiB of memory"
    ))
}

const GIB: f64 = (1u64 << 30) as f64;
