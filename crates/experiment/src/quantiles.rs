//! Latencies in the form of results.

use floatgate_stats::{Latency, replication_factor};
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

/// Standard deviations on either side of a 95 % interval of the normal distribution.
const Z: f64 = 1.96;

/// Returns the 95 % intervals of mean and quantiles of all `looks` together; null with fewer than two, or without
/// requests.
///
/// The interval lies around the metric of all looks, as far as [`replication_factor`] says. Latencies of flash lie on few
/// values, and all looks may have the same. That of a quantile therefore also contains the order statistics between
/// which it lies in a sample of as many requests as one look has. Requests of a burst wait together: that of all looks
/// would be too narrow.
pub(crate) fn intervals_us(all: &Latency, looks: &[&Latency]) -> Value {
    if looks.len() < 2 || looks.iter().any(|look| look.count() == 0) {
        return Value::Null;
    }
    let mean = replicated(all, looks, &Latency::mean_ns);
    let quantile = |share: f64| {
        let of = |look: &Latency, share: f64| look.quantile_ns(share).map(|ns| ns as f64);
        let [low, high] = replicated(all, looks, &|look| of(look, share))?;
        let requests = all.count() as f64 / looks.len() as f64;
        let beside = Z * (share * (1.0 - share) / requests).sqrt();
        let order = [share - beside, share + beside].map(|share| of(all, share.clamp(0.0, 1.0)));
        Some([low.min(order[0]?), high.max(order[1]?)])
    };
    let us = |interval: Option<[f64; 2]>| interval.map(|interval| interval.map(|ns| ns / 1e3));
    json!({ "mean": us(mean), "p50": us(quantile(0.5)), "p99": us(quantile(0.99)), "p999": us(quantile(0.999)) })
}

/// Returns the interval of a metric of all looks from how they differ.
fn replicated(all: &Latency, looks: &[&Latency], of: &dyn Fn(&Latency) -> Option<f64>) -> Option<[f64; 2]> {
    let metric = of(all)?;
    let factor = replication_factor(&looks.iter().filter_map(|look| of(look)).collect::<Vec<_>>());
    Some([metric / factor, metric * factor])
}
