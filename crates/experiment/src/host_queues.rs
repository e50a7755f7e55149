//! Waits of requests in the host's queues, for result.json.

use floatgate_sim::Outcome;
use floatgate_sim::plan::Plan;
use floatgate_sim::serve::clock::QueueCount;
use serde_json::{Value, json};

/// Returns the mean time in a queue by kind of request, microseconds; null without requests of the kind.
pub(crate) fn wait_us(outcome: &Outcome) -> Value {
    let Some((waits, latencies)) = outcome.queue_wait_ns.zip(outcome.latencies.as_ref()) else {
        return Value::Null;
    };
    let mean = |i: usize| mean_us(waits[i], latencies[i].count());
    json!({ "read": mean(0), "write": mean(1) })
}

/// Returns requests, priority and times of each queue; null for a single queue that the drive empties at once.
pub(crate) fn by_queue_us(plan: &Plan, outcome: &Outcome) -> Value {
    let row = |(i, count): (usize, &QueueCount)| {
        json!({
            "queue": i,
            "priority": plan.queues.priorities[i],
            "requests": count.completed,
            "queue_wait": mean_us(count.wait_ns, count.completed),
            "mean": mean_us(count.latency_ns, count.completed),
            "max": (count.completed > 0).then_some(count.max_ns as f64 / 1e3),
        })
    };
    let rows: Vec<Value> = outcome.queues.iter().enumerate().map(row).collect();
    if rows.is_empty() { Value::Null } else { rows.into() }
}

fn mean_us(sum_ns: u128, requests: u64) -> Option<f64> {
    (requests > 0).then(|| sum_ns as f64 / requests as f64 / 1e3)
}
