//! What a live drive shows while it runs.

use crate::amplification::Amplification;
use crate::by_cause::by_cause;
use crate::quantiles::quantiles_us;
use floatgate_flash::Cause;
use floatgate_live::Export;
use floatgate_sim::outcome::ReclaimFigures;
use floatgate_sim::{Glance, Plan};
use floatgate_stats::Latency;
use serde_json::{Value, json};

pub(super) fn export(export: &Export) -> Value {
    let Export { name, offset, bytes, stream } = export;
    json!({ "name": name, "offset": offset, "bytes": bytes, "stream": stream })
}

/// Bars of the histogram of erases.
const BARS: usize = 32;

/// Returns how far reads have disturbed blocks, as shares of what a block bears.
fn disturb(figures: &ReclaimFigures, max: u32) -> Value {
    let share = |sum: u32| f64::from(sum) / f64::from(max);
    let (now, sum) =
        figures.sums.iter().fold((0, 0.0), |(most, sum), &one| (one.max(most), sum + share(one)));
    json!({
        "largest_share": share(now),
        "mean_share": sum / figures.sums.len().max(1) as f64,
        "largest_share_ever": share(figures.largest),
        "reclaims": figures.counters.on_demand + figures.counters.background,
        "reads_beyond_max": figures.counters.reads_beyond_max,
    })
}

/// Returns what a drive has counted so far.
pub(super) fn figures(glance: &Glance<'_>, plan: &Plan) -> Value {
    let page_bytes = plan.drive.geometry.page_bytes;
    let Glance {
        requests,
        host,
        flash,
        free_units,
        erases,
        latencies,
        now_ns,
        outstanding,
        reclaim,
        throttling,
    } = glance;
    let in_bytes =
        Amplification { flash, page_bytes, page_writes: host.page_writes, write_bytes: host.write_bytes };
    let programs = flash.programs_total();
    let total: u64 = erases.iter().map(|&n| u64::from(n)).sum();
    let max = erases.iter().copied().max().unwrap_or(0);
    let mut bars = vec![0u64; BARS];
    let width = max as usize / BARS + 1;
    erases.iter().for_each(|&n| bars[n as usize / width] += 1);
    json!({
        "requests": requests,
        "host": crate::result::host(host),
        "programs": by_cause(&Cause::ALL, |cause| flash.programs[cause as usize], programs),
        "page_bytes": page_bytes,
        "flash_bytes": programs * u64::from(page_bytes),
        "waf": (host.page_writes > 0).then(|| programs as f64 / host.page_writes as f64),
        "waf_bytes": in_bytes.total(),
        "waf_bytes_parts": in_bytes.parts(),
        "free_units": free_units,
        "erases": { "total": total, "max": max, "units": erases.len(), "width": width, "histogram": bars },
        "rated_erases": plan.drive.endurance.rated_erases(),
        "flash_capacity_bytes": plan.drive.geometry.pages() * u64::from(page_bytes),
        "dies": plan.drive.geometry.dies(),
        "time_s": now_ns.map(|ns| ns as f64 / 1e9),
        "outstanding": outstanding,
        "disturb": reclaim.as_ref().zip(plan.drive.disturb).map(|(figures, model)| disturb(figures, model.max)),
        "throttle": throttling.as_ref().map(|figures| json!({
            "delay_s": figures.passed.delay_ns as f64 / 1e9,
            "request_wait_s": figures.request_wait_ns.map(|ns| ns as f64 / 1e9),
        })),
        "latency_us": latencies.map(|[reads, writes]| json!({ "read": latency(reads), "write": latency(writes) })),
    })
}

/// Returns quantiles without the whole distribution.
pub(super) fn latency(of: &Latency) -> Value {
    let mut quantiles = quantiles_us(of);
    if let Some(fields) = quantiles.as_object_mut() {
        fields.remove("cdf");
    }
    quantiles
}
