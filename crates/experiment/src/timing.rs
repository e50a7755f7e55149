//! What collection that program contexts time did.

use floatgate_sim::Outcome;
use floatgate_sim::outcome::TimingCounters;
use serde_json::{Value, json};

/// Describes it; null where the number of free blocks decides.
pub(crate) fn timing(outcome: &Outcome) -> Value {
    let Some((counters, (contexts, replaced))) = outcome.timing else { return Value::Null };
    let TimingCounters {
        pages,
        pages_with_context,
        predicted_deaths,
        deaths_in_time,
        outlived_pages,
        passed_over,
        put_off,
        collected_later,
        dead_later,
        saved_pages,
        copied_later,
        instead,
        instead_pages,
        needed,
        needed_pages,
        bursts,
        predicted_bursts,
        bursts_as_predicted,
        prepared_units,
        used_units,
    } = counters;
    let timed = outcome.jobs_s.is_some();
    json!({
        "pages_with_context_share": (pages > 0).then(|| pages_with_context as f64 / pages as f64),
        "predicted_deaths": predicted_deaths,
        "deaths_in_time": deaths_in_time,
        "outlived_pages": outlived_pages,
        "passed_over": passed_over,
        "put_off": put_off,
        "collected_later": collected_later,
        "dead_later": dead_later,
        "saved_pages": saved_pages,
        "copied_later": copied_later,
        "instead": instead,
        "instead_pages": instead_pages,
        "needed": needed,
        "needed_pages": needed_pages,
        "bursts": timed.then(|| json!({
            "bursts": bursts,
            "predicted": predicted_bursts,
            "as_predicted": bursts_as_predicted,
            "prepared_blocks": prepared_units,
            "used_blocks": used_units,
        })),
        "contexts": contexts,
        "contexts_replaced": replaced,
    })
}
