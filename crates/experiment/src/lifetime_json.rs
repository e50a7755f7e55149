//! The object of `floatgate lifetime`: schema `floatgate.lifetime/1`. All but its `run` table is byte-equal between two
//! runs.

use crate::amplification::Amplification;
use crate::block_lives::{Block, block_years};
use crate::by_cause::by_cause;
use crate::close_up;
use crate::lifetime_laps::Measured;
use crate::lifetime_results::LifeResults;
use crate::lifetime_variant::service_us;
use crate::meter::peak_rss_bytes;
use crate::quantiles::quantiles_us;
use crate::reduce;
use crate::result;
use floatgate_config::Resolved;
use floatgate_flash::Cause;
use floatgate_lifetime::SECONDS_PER_HOUR;
use floatgate_lifetime::demand_growth::{written_of_growing, years_of_growing};
use floatgate_lifetime::life::{Detail, Method, Row};
use floatgate_lifetime::throttle::Predictions;
use floatgate_sim::Workload;
use floatgate_sim::laps::Reduced;
use floatgate_sim::reading::pass::Pass;
use floatgate_sim::wear_ahead::WearAhead;
use serde_json::{Value, json};

/// Name and version of the layout.
pub const SCHEMA: &str = "floatgate.lifetime/1";

/// Converts write amplification to flash bytes per byte that the host writes.
fn waf_bytes(resolved: &Resolved, pass: &Pass, waf: f64) -> Option<f64> {
    let pages = pass.host.page_writes as f64 * f64::from(resolved.plan.drive.geometry.page_bytes);
    (pass.host.write_bytes > 0).then(|| waf * pages / pass.host.write_bytes as f64)
}

/// Splits write amplification in bytes by cause; null where it was configured, or schemes of reduction alternate.
fn waf_bytes_parts(results: &LifeResults<'_>) -> Value {
    let LifeResults { resolved, pass, drive, .. } = *results;
    if let Some(drive) = drive {
        return Amplification {
            flash: &drive.flash,
            page_bytes: resolved.plan.drive.geometry.page_bytes,
            page_writes: drive.host.page_writes,
            write_bytes: drive.host.write_bytes,
        }
        .parts();
    }
    let by_laps = results.laps.and_then(Measured::once).filter(|_| results.life.reduced.is_none());
    let (Some(laps), Some(waf), false) = (by_laps, results.waf(), is_waf_configured(resolved)) else {
        return Value::Null;
    };
    let Some(bytes_per_page) = waf_bytes(resolved, pass, 1.0) else { return Value::Null };
    let parts = laps.split(waf);
    json!(by_cause(&Cause::ALL, |cause| parts[cause as usize] * bytes_per_page, waf * bytes_per_page))
}

/// Returns whether write amplification is configured.
fn is_waf_configured(resolved: &Resolved) -> bool {
    resolved.forecast.waf.is_some() || resolved.forecast.waf_of_bytes.is_some()
}

/// Builds the object. Its `run` table covers all variants of the call together.
pub(crate) fn object(results: &LifeResults<'_>, wall_s: f64, cpu_s: f64) -> Value {
    let LifeResults { resolved, pass, life, .. } = *results;
    let plan = &resolved.plan;
    let mut experiment = resolved.experiment.clone();
    if let Some(lifetime) = &mut experiment.lifetime {
        lifetime.forecast = Some(resolved.raw_forecast.clone());
    }
    let config = result::config_of(&experiment, pass.source.content_hash.as_deref(), None);
    let waf = results.waf();
    let reduce = reduced(results);
    let (close_up, latency_us) = close_up::tables(results.timed_plan, results.close_up());
    let body = json!({
        "drive": result::drive_of(resolved, None),
        "workload": workload(results),
        "pass": {
            "span_s": pass.demand.period_ns() as f64 / 1e9,
            "page_writes": pass.demand.pages(),
            "written_distinct_bytes": written_distinct_bytes(results),
            "passes": life.passes,
            "parts": parts(results),
        },
        "method": method(results),
        "waf": waf,
        "waf_bytes": waf.and_then(|waf| waf_bytes(resolved, pass, waf)),
        "waf_bytes_parts": waf_bytes_parts(results),
        "lifetime": lifetime(results),
        "latency_us": latency_us,
        "close_up": close_up,
        "throttle": throttle(results, mean_service_us(results, &reduce)),
        "reduce": reduce,
        "series": series(&life.rows),
        "detail": life.detail.as_ref().map(|detail| of_detail(detail, plan.drive.geometry.page_bytes, waf)),
        "run": {
            "wall_s": wall_s,
            "cpu_s": cpu_s,
            "peak_rss_bytes": peak_rss_bytes(),
        },
    });
    result::headed(SCHEMA, config, plan.seed, body)
}

/// Returns the bytes of the pages that a pass over a trace writes, each page once; no more than the drive shows.
fn written_distinct_bytes(results: &LifeResults<'_>) -> Option<u64> {
    let LifeResults { resolved, pass, .. } = *results;
    let pages = pass.pages_written?.min(u64::from(resolved.plan.ftl.setup.logical_pages));
    Some(pages * u64::from(resolved.plan.drive.geometry.page_bytes))
}

/// Returns the writes of the host in pages of the drive, day by day or hour by hour.
fn parts(results: &LifeResults<'_>) -> Value {
    let Some(parts) = results.parts else { return Value::Null };
    let page_bytes = u64::from(results.resolved.plan.drive.geometry.page_bytes);
    json!({
        "are": parts.name,
        "part_s": parts.part_ns as f64 / 1e9,
        "trend": parts.trend().map(|(trend, _)| trend),
        "trend_95": parts.trend().map(|(_, error)| error),
        "written_bytes": parts.pages.iter().map(|pages| pages * page_bytes).collect::<Vec<_>>(),
    })
}

fn workload(results: &LifeResults<'_>) -> Value {
    let LifeResults { resolved, pass, .. } = *results;
    let kind = match &resolved.plan.workload.source {
        Workload::Synthetic(config) if config.twin.is_some() => "twin",
        Workload::Synthetic(_) => "synthetic",
        Workload::Trace { .. } => "trace",
    };
    let mut workload = json!({ "kind": kind, "format": pass.format, "requests": pass.requests });
    if let (Value::Object(workload), Value::Object(counts)) = (&mut workload, result::host(&pass.host)) {
        workload.extend(counts);
    }
    workload["bad_lines_skipped"] = pass.source.bad_lines_skipped.into();
    workload["stamps_backwards"] = pass.source.stamps_backwards.into();
    workload["stamps_backwards_first"] = pass.source.first_backwards.clone().into();
    workload["stamps_backwards_s_max"] = pass.source.furthest_back_s().into();
    workload["suspicions"] = pass.source.suspicions.clone().into();
    workload["content_hash"] = pass.source.content_hash.clone().into();
    workload["assumed"] = pass.assumed.clone().into();
    workload
}

fn method(results: &LifeResults<'_>) -> Value {
    let forecast = &results.resolved.forecast;
    let (name, runs) = match results.method {
        Method::Full => ("full", None),
        Method::Requests => ("requests", Some(results.pass.demand.len())),
        Method::Auto | Method::Windows => ("windows", Some(results.pass.demand.len())),
    };
    let laps = results.laps();
    let throttled = results.resolved.plan.throttles();
    json!({
        "name": name,
        "tails": throttled.then(|| tails(results)),
        "window_s": (name == "windows").then_some(forecast.window_ns as f64 / 1e9),
        "runs": runs,
        "waf_given": is_waf_configured(results.resolved),
        "laps": laps.map(|laps| laps.waf_by_lap.len()),
        "passes": laps.map(|laps| laps.passes),
        "waf_by_lap": laps.map(|laps| laps.waf_by_lap.clone()),
        "never_erased_by_lap": laps.map(|laps| laps.never_erased_by_lap.clone()),
        "laps_taken": laps.map(|laps| laps.taken),
        "waf_error": laps.map(|laps| laps.error),
        "stationary": laps.map(|laps| laps.stationary),
        "cut_short": laps.map(|laps| laps.cut_short),
        "leveling": laps.and_then(|laps| laps.ahead).map(|ahead| leveling(&ahead)),
        "programs": laps.map(|laps| laps.programs).or(results.drive.map(|drive| drive.flash.programs_total())),
    })
}

/// Returns the state of the drive near the end of its life, and the cost of its leveler.
fn leveling(ahead: &WearAhead) -> Value {
    json!({
        "mean_erases_from": ahead.mean_from,
        "mean_erases": ahead.mean,
        "moved": ahead.moved,
        "moved_over_life": ahead.moved_over_life,
        "lead_first_block": ahead.lead_first,
        "lead_spare_blocks": ahead.lead_beyond_reserve,
    })
}

/// Names the basis of the waits of page writes. It is the drive itself, the lumps of collection in its laps, or the
/// mean cost of a page write. The last applies if lumps are unknown (write amplification is configured) or changed by
/// reduction.
fn tails(results: &LifeResults<'_>) -> &'static str {
    match results.laps.and_then(Measured::once) {
        _ if results.method == Method::Full => "drive",
        Some(laps) if laps.lumps.is_some() => "lumps",
        _ => "mean-cost",
    }
}

fn lifetime(results: &LifeResults<'_>) -> Value {
    let LifeResults { resolved, life, .. } = *results;
    let plan = &resolved.plan;
    let physical = plan.drive.geometry.bytes();
    let first = block_years(results, Block::First);
    let beyond_reserve = block_years(results, Block::BeyondReserve);
    let growth = resolved.forecast.growth_per_year;
    let target_years = plan.throttle.target_years;
    let grown = |years: f64| years_of_growing(years, growth);
    let years = life.years.and_then(grown);
    let holds = if growth == 0.0 { life.holds } else { years.is_none_or(|years| years >= target_years) };
    json!({
        "years": years,
        "years_range": results.interval.map(|interval| interval.years.map(|end| end.and_then(grown))),
        "years_range_from": results.interval.map_or(&[][..], |interval| &interval.from),
        "years_first_block": first.and_then(|block| grown(block.years)),
        "years_first_block_range": first.map(|block| block.range.map(grown)),
        "years_spare_blocks": beyond_reserve.and_then(|block| grown(block.years)),
        "years_spare_blocks_range": beyond_reserve.map(|block| block.range.map(grown)),
        "target_years": target_years,
        "growth_per_year": growth,
        "holds": holds,
        "c_ssd_bytes": physical.saturating_mul(u64::from(plan.drive.endurance.pe_cycles())),
        "c_ssd_recovered_bytes": (physical as f64 * life.pe_cycles) as u64,
        "w_work_bytes": (life.work_bytes * written_of_growing(target_years, growth)).round() as u64,
        "pe_cycles_achievable": life.pe_cycles,
        "mean_idle_h": life.mean_idle_s.map(|s| s / SECONDS_PER_HOUR),
    })
}

/// Returns the mean nominal time of a page write: of programs for the pages left after reduction, and of hash and
/// compressor.
fn mean_service_us(results: &LifeResults<'_>, reduce: &Value) -> f64 {
    let plan = &results.resolved.plan;
    let service_us = service_us(plan);
    let of = |key: &str| reduce[key].as_f64().unwrap_or(0.0);
    let host_pages = of("host_pages");
    if host_pages == 0.0 {
        return service_us;
    }
    let through = match (results.drive, results.laps, &results.life.reduced) {
        (Some(drive), ..) => host_pages / drive.host.page_writes.max(1) as f64,
        (None, _, Some(reduced)) => host_pages / reduced.page_writes,
        (None, Some(laps), None) => {
            laps.once().and_then(|laps| laps.reduced.as_ref()).map_or(1.0, Reduced::through)
        }
        (None, None, None) => 1.0,
    };
    let [hash_us, compress_us, _] = plan.engine_delays().unwrap_or_default().map(|ns| ns as f64 / 1e3);
    let [programmed, hashed, compressed] = ["programmed_pages", "hashed_pages", "compressed_pages"].map(of);
    through * (programmed * service_us + hashed * hash_us + compressed * compress_us) / host_pages
}

fn throttle(results: &LifeResults<'_>, service_us: f64) -> Value {
    let LifeResults { resolved, life, pass, .. } = *results;
    let policy = resolved.plan.throttle.policy;
    let parts = policy.parts();
    let plans = parts.is_some_and(|parts| parts.plans);
    let predicts = parts.is_some_and(|parts| parts.predicts());
    let bound_s = resolved.plan.throttle.params.max_delay_ns.map(|ns| ns as f64 / 1e9);
    let pages = life.delay.count().max(1) as f64;
    let of = |p: &Predictions| json!({ "compared": p.compared, "within": (p.compared > 0).then(|| p.right as f64 / p.compared as f64) });
    let mut prediction = of(&life.predictions);
    prediction["error_max"] = resolved.plan.throttle.params.error_max.into();
    prediction["first_pass"] = of(&life.first_pass);
    let served = life.delay.count() as f64 / (pass.demand.pages_within(life.end_ns) as f64).max(1.0);
    // Served writes never exceed the demand.
    let served_range =
        results.interval.map(|interval| interval.served.map(|end| (served * end).min(served.max(1.0))));
    json!({
        "policy": policy.info().name,
        "service_us": service_us,
        "delay_us": resolved.plan.throttles().then(|| quantiles_us(&life.delay)),
        "delay_us_mean": life.passed.delay_ns as f64 / pages / 1e3,
        "wait_us_mean": life.passed.wait_ns as f64 / pages / 1e3,
        "held_share": life.passed.held_page_writes as f64 / pages,
        "waits": life.passed.waits,
        "wait_s": life.passed.wait_ns as f64 / 1e9,
        "page_writes": life.delay.count(),
        "demand_share": served,
        "demand_share_range": served_range,
        "epochs": plans.then_some(life.epochs),
        "selections": plans.then_some(life.selections),
        "epoch_s": plans.then_some(life.passed.epoch_ns as f64 / 1e9),
        "prediction": predicts.then_some(prediction),
        "max_delay_s": bound_s,
        "epochs_at_max_delay": bound_s.and(plans.then_some(life.bounded_epochs)),
    })
}

/// Returns the table of deduplication and compression; null without either.
fn reduced(results: &LifeResults<'_>) -> Value {
    let LifeResults { resolved, life, .. } = *results;
    let plan = &resolved.plan;
    if let Some(drive) = results.drive {
        return reduce::reduce(plan, drive);
    }
    let mut table = match (results.laps, &life.reduced) {
        (Some(Measured::ByChoice(laps)), Some(reduced)) => reduce::foreseen(plan, reduced, laps),
        (Some(Measured::Once(laps)), _) => reduce::of_laps(plan, laps),
        _ => return Value::Null,
    };
    if !table.is_null() {
        reduce::add_decisions(plan, life.decisions.as_ref(), &mut table);
    }
    table
}

fn series(rows: &[Row]) -> Value {
    let column = |of: &dyn Fn(&Row) -> Value| rows.iter().map(of).collect::<Value>();
    json!({
        "time_s": column(&|r| (r.time_ns as f64 / 1e9).into()),
        "written_bytes": column(&|r| r.written_bytes.round().into()),
        "demand_bytes": column(&|r| r.demand_bytes.round().into()),
        "capacity_bytes": column(&|r| r.capacity_bytes.round().into()),
        "delay_us": column(&|r| (r.delay_ns / 1e3).into()),
        "wait_us": column(&|r| (r.wait_ns / 1e3).into()),
        "epoch_s": column(&|r| (r.epoch_ns as f64 / 1e9).into()),
        "pe_cycles": column(&|r| r.pe_cycles.into()),
        "idle_h": column(&|r| r.idle_s.map(|s| s / SECONDS_PER_HOUR).into()),
    })
}

fn of_detail(detail: &Detail, page_bytes: u32, waf: Option<f64>) -> Value {
    let bytes = |pages: &[u64]| -> Vec<u64> { pages.iter().map(|&n| n * u64::from(page_bytes)).collect() };
    json!({
        "from_s": detail.from_ns as f64 / 1e9,
        "interval_s": detail.interval_ns as f64 / 1e9,
        "written_bytes": bytes(&detail.written_pages),
        "demand_bytes": bytes(&detail.demand_pages),
        "waf": waf,
    })
}
