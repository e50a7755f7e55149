//! The table of the separator in result.json.

use floatgate_sim::Outcome;
use floatgate_sim::outcome::StreamCounters;
use serde_json::{Map, Value, json};

/// Returns the results of the streams that hold anything, by number; nulls if the separator inspects no pages.
pub(crate) fn separate(outcome: &Outcome) -> Value {
    let streams = outcome.streams.as_ref();
    let used = |s: &StreamCounters| *s != StreamCounters::default();
    json!({
        "streams": streams.map(|totals| {
            let used = (0..).zip(&totals.counters).filter(|(_, s): &(u32, _)| used(s));
            used.map(|(number, s)| json!({
                "stream": number,
                "host_pages": s.host_pages,
                "moved_pages": s.moved_pages,
                "strayed_pages": s.strayed_pages,
                "opened": s.opened,
                "victims": s.victims,
                "dead_victims": s.dead_victims,
                "copied_pages": s.copied_pages,
            })).collect::<Vec<_>>()
        }),
        "found": streams.map(|totals| {
            totals.figures.iter().map(|&(name, value)| (name.to_string(), value.into())).collect::<Map<_, _>>()
        }),
        "contexts": streams.map(|totals| {
            let placed = totals.contexts.iter();
            placed.map(|(context, stream)| json!({
                "context": context.id, "name": context.name, "stream": stream,
            })).collect::<Vec<_>>()
        }),
        "memory_bytes": streams.map(|totals| totals.memory_bytes),
        "open_blocks": outcome.open_units.0,
        "open_free_pages": outcome.open_units.1,
        "open_free_pages_mean": outcome.open_pages_mean,
        "open_blocks_max": outcome.open_units_most,
    })
}
