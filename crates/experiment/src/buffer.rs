//! The tables of the DRAM buffer in a result.

use floatgate_flash::timed::LinkTimes;
use floatgate_host::{BufferConfig, BufferCounters};
use floatgate_sim::Outcome;
use serde_json::{Value, json};

/// Returns hits and misses by page, and pages flushed by reason; ratios are null without accesses. `kept_pages` are
/// those kept by the disturb-aware order at the end.
pub(crate) fn buffer(config: &BufferConfig, c: &BufferCounters, kept_pages: u32) -> Value {
    let ratio = |hits: u64, misses: u64| (hits + misses > 0).then(|| hits as f64 / (hits + misses) as f64);
    json!({
        "capacity_bytes": u64::from(config.pages) * u64::from(config.page_bytes),
        "write_hits": c.write_hits,
        "write_misses": c.write_misses,
        "write_hit_ratio": ratio(c.write_hits, c.write_misses),
        "read_hits": c.read_hits,
        "read_misses": c.read_misses,
        "read_hit_ratio": ratio(c.read_hits, c.read_misses),
        "kept_pages": config.aware.map(|_| kept_pages),
        "preloaded_pages": config.aware.map(|_| c.preloaded_pages),
        "pages_merged": c.pages_merged,
        "pages_dropped": c.pages_dropped,
        "evictions": c.evictions,
        "flush_requests": c.flushes,
        "flushed_pages": {
            "evict": c.flushed_evict,
            "watermark": c.flushed_watermark,
            "fua": c.flushed_fua,
            "flush": c.flushed_flush,
            "end": c.flushed_end,
            "total": c.flushed_pages(),
        },
    })
}

/// Returns the waits of reads and writes (including TRIMs) at the buffer, mean over all requests of the kind: for
/// space, and then for data to be on flash.
pub(crate) fn buffer_wait_us(outcome: &Outcome) -> Option<Value> {
    let [reads, writes] = outcome.buffer_times.as_ref()?;
    let host = &outcome.host;
    let of = |t: &LinkTimes, requests: u64| {
        let mean = |ns: u64| ns as f64 / 1e3 / requests as f64;
        (requests > 0).then(|| {
            json!({
                "requests": requests,
                "place": mean(t.place_ns),
                "place_requests": t.place_requests,
                "flushed": mean(t.flushed_ns),
                "flushed_requests": t.flushed_requests,
            })
        })
    };
    Some(json!({
        "read": of(reads, host.read_requests),
        "write": of(writes, host.write_requests + host.trim_requests),
    }))
}
