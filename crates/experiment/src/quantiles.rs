//! Latencies in the form of results.

use floatgate_stats::Latency;
use serde_json::{Value, json};

/// Returns the quantiles of latencies, and their distribution; null without requests.
pub(crate) fn quantiles_us(latency: &Latency) -> Value {
    let us = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e3);
    let cdf = latency.cdf();
    let quantiles = (latency.count() > 0).then(|| {
        json!({
            "count": latency.count(),
            "mean": latency.mean_ns().map(|ns| ns / 1e3),
            "p50": us(latency.quantile_ns(0.5)),
            "p90": us(latency.quantile_ns(0.9)),
            "p99": us(latency.quantile_ns(0.99)),
            "p999": us(latency.quantile_ns(0.999)),
            "p9999": us(latency.quantile_ns(0.9999)),
            "max": us(latency.max_ns()),
            "cdf": {
                "us": cdf.ns.iter().map(|&ns| ns as f64 / 1e3).collect::<Vec<_>>(),
                "share": cdf.share,
            },
        })
    });
    json!(quantiles)
}
