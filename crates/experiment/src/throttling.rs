//! The table of the throttle in result.json.

use floatgate_sim::Outcome;
use floatgate_sim::gate::Throttling;
use floatgate_sim::plan::Plan;
use serde_json::{Value, json};

/// Returns delays and waits of page writes, and the planning of the throttle; null if it does not plan in epochs.
pub(crate) fn throttle(plan: &Plan, totals: &Throttling) -> Value {
    let managed = plan.reduce.params.integrated.is_some();
    let parts = plan.throttle.policy.parts();
    let plans = managed || parts.is_some_and(|parts| parts.plans);
    let predicts = managed || parts.is_some_and(|parts| parts.predicts());
    let bound_s = plan.throttle.params.max_delay_ns.map(|ns| ns as f64 / 1e9);
    let passed = &totals.passed;
    let per_page = |sum: f64| (passed.page_writes > 0).then(|| sum / passed.page_writes as f64);
    let epochs = |n: u64| plans.then_some(n);
    let predictions = totals.predictions;
    json!({
        "policy": if managed { plan.reduce.policy.info().name } else { plan.throttle.policy.info().name },
        "delay_us_mean": per_page(passed.delay_ns as f64 / 1e3),
        "held_share": per_page(passed.held_page_writes as f64),
        "waits": passed.waits,
        "wait_s": passed.wait_ns as f64 / 1e9,
        "held_back_s": totals.held_back_ns as f64 / 1e9,
        "epochs": epochs(totals.epochs),
        "selections": epochs(totals.selections),
        "epoch_s": epochs(passed.epoch_ns).map(|ns| ns as f64 / 1e9),
        "prediction": predicts.then(|| json!({
            "compared": predictions.compared,
            "within": (predictions.compared > 0).then(|| predictions.right as f64 / predictions.compared as f64),
            "error_max": plan.throttle.params.error_max,
        })),
        "max_delay_s": bound_s,
        "epochs_at_max_delay": bound_s.and(epochs(totals.bounded_epochs)),
    })
}

/// Returns the mean time from arrival to leaving the throttle by kind of request, microseconds; null without requests
/// of the kind.
pub(crate) fn wait_us(totals: &Throttling, outcome: &Outcome) -> Value {
    let mean = |i: usize| {
        let requests = outcome.latencies.as_ref().map_or(0, |latencies| latencies[i].count());
        (requests > 0).then(|| totals.request_wait_ns[i] as f64 / requests as f64 / 1e3)
    };
    json!({ "read": mean(0), "write": mean(1) })
}
