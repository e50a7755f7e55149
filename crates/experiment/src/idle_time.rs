//! Idle time of a run, and how it was predicted.

use floatgate_sim::outcome::IdleTime;
use floatgate_sim::serve::idle::IdleCounts;
use serde_json::{Value, json};

/// Describes idle time, and how it was predicted.
pub(crate) fn idle_time(time: &IdleTime) -> Value {
    let IdleCounts {
        periods,
        idle_ns,
        used,
        delayed,
        with_context,
        requests,
        predicted,
        predicted_long,
        mispredicted_delayed,
        missed,
        predicted_ns,
        predicted_idle_ns,
    } = time.counts;
    let share = |part: u128, whole: u128| (whole > 0).then(|| part as f64 / whole as f64);
    json!({
        "periods": periods,
        "idle_s": idle_ns as f64 / 1e9,
        "used_periods": used,
        "delayed_requests": delayed,
        "prediction": time.entries.map(|(contexts, replaced)| json!({
            "requests_with_context_share": share(with_context.into(), requests.into()),
            "long_periods": predicted_long + missed,
            "predicted_periods": predicted,
            "predicted_long_periods": predicted_long,
            "predicted_idle_share": share(predicted_idle_ns, predicted_ns),
            "mispredicted_delayed_requests": mispredicted_delayed,
            "contexts": contexts,
            "contexts_replaced": replaced,
        })),
    })
}
