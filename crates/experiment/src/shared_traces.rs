//! Shares the requests of a trace in memory among several variants, which read it once.

use crate::close_up::TimedPlan;
use floatgate_config::Resolved;
use floatgate_sim::{Plan, Workload};
use floatgate_trace::Keep;

/// Lets all plans with the same trace keep its requests in the same place.
pub(crate) fn share(resolved: &mut [Resolved], timed_plan: &mut [TimedPlan]) {
    let mut places: Vec<(String, Keep)> = vec![];
    let plans = resolved.iter_mut().map(|one| &mut one.plan);
    let plans = plans.chain(timed_plan.iter_mut().flatten().map(|plan| plan.as_mut()));
    for plan in plans {
        if let Some(trace) = trace_of(plan) {
            let known = places.iter().position(|(other, _)| *other == trace);
            let at = known.unwrap_or_else(|| {
                places.push((trace, Keep::place()));
                places.len() - 1
            });
            plan.workload.keep = places[at].1.clone();
        }
    }
}

/// Identifies the trace of a plan and its options.
fn trace_of(plan: &Plan) -> Option<String> {
    match &plan.workload.source {
        Workload::Trace { path, options, .. } => Some(format!("{path:?} {options:?}")),
        Workload::Synthetic(_) => None,
    }
}
