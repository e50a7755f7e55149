//! The table of the dispatcher in result.json.

use floatgate_sim::{Outcome, Plan};
use serde_json::{Value, json};

/// Returns windows, patterns and matched writes; None if the dispatcher labels nothing. Patterns are null if the
/// dispatcher does not mine them.
pub(crate) fn dispatch(plan: &Plan, outcome: &Outcome) -> Option<Value> {
    let (found, matched_pages) = outcome.dispatched?;
    let mines = plan.ftl.dispatch.makes_groups();
    let share = |part: u64, whole: u64| (mines && whole > 0).then(|| part as f64 / whole as f64);
    Some(json!({
        "windows": found.windows,
        "patterns_per_window": share(found.patterns, found.windows),
        "pattern_size_mean": share(found.items, found.patterns),
        "windows_too_dense": mines.then_some(found.windows_too_dense),
        "matched_requests": found.matched_requests,
        "matched_pages": matched_pages,
    }))
}
