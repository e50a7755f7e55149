//! Measures the latencies of a forecast: prepares a timed run of parts of the workload on the worn-in drive (the
//! close-up), and summarises its results.

use crate::lifetime_variant::{functional, is_given};
use crate::load::{experiment_toml, load};
use crate::quantiles::{intervals_us, quantiles_us};
use floatgate_base::Result;
use floatgate_config::{Resolved, acting_in_time};
use floatgate_sim::Plan;
use floatgate_sim::close_up::{CloseUp, StretchResult};
use serde_json::{Value, json};
use toml::Table;

/// The plan of a variant in timed mode, or the reason for its absence.
pub(crate) type TimedPlan = std::result::Result<Box<Plan>, String>;

/// Builds the plan of a variant in timed mode.
///
/// # Errors
/// If the experiment sets that mode itself, its input errors.
pub(crate) fn timed_plan(
    text: Option<&str>,
    path: &str,
    overrides: &[(String, String)],
    (resolved, wanted): (&Resolved, bool),
) -> Result<TimedPlan> {
    if !wanted {
        return Ok(Err("not requested".into()));
    }
    if is_given(resolved) {
        return Ok(Err("write amplification is given, so no drive was simulated".into()));
    }
    if resolved.forecast.close_up_requests == 0 {
        return Ok(Err("lifetime.forecast.close_up_requests is 0".into()));
    }
    let resolved = timed_experiment(text, path, overrides, resolved).and_then(|experiment| {
        let plain = load_timed(&experiment);
        match load_timed(&with_timed_collection(experiment)) {
            Ok(resolved) if resolved.plan.ftl.setup.incremental => Ok(resolved),
            _ => plain,
        }
    });
    match resolved {
        Ok(resolved) => Ok(Ok(Box::new(resolved.plan))),
        Err(error) if sets_timed_mode(text, overrides) => Err(error),
        Err(error) => Ok(Err(format!("timed mode refuses the experiment: {error}"))),
    }
}

/// Returns whether the experiment itself sets timed mode.
fn sets_timed_mode(text: Option<&str>, overrides: &[(String, String)]) -> bool {
    let in_text = || Some(text?.parse::<Table>().ok()?.get("mode")?.as_str()? == "timed");
    match overrides.iter().rfind(|(key, _)| key == "mode") {
        Some((_, mode)) => mode.trim_matches('"') == "timed",
        None => in_text().unwrap_or(false),
    }
}

fn load_timed(experiment: &Table) -> Result<Resolved> {
    let text = toml::to_string(experiment).expect("an experiment is TOML");
    load(Some(&text), "the resolved experiment", &[("mode".into(), "timed".into())])
}

/// Formats the experiment of a forecast with every default, as TOML. Settings of timed mode stay for the close-up;
/// lives ignore them. A forecast of the result is the same forecast.
///
/// # Errors
/// Input errors with their place.
pub fn forecast_toml(text: Option<&str>, path: &str, overrides: &[(String, String)]) -> Result<String> {
    let resolved = functional(text, path, overrides)?;
    match timed_experiment(text, path, overrides, &resolved) {
        Ok(experiment) => Ok(toml::to_string(&experiment).expect("an experiment is TOML")),
        Err(error) if sets_timed_mode(text, overrides) => Err(error),
        Err(_) => Ok(with_forecast(&resolved)),
    }
}

/// Formats the resolved experiment with its forecast settings, which that of a run lacks.
fn with_forecast(resolved: &Resolved) -> String {
    let mut resolved = resolved.clone();
    if let Some(lifetime) = &mut resolved.experiment.lifetime {
        lifetime.forecast = Some(resolved.raw_forecast.clone());
    }
    experiment_toml(&resolved)
}

/// Returns the resolved functional experiment, with the settings of timed mode added.
fn timed_experiment(
    text: Option<&str>,
    path: &str,
    overrides: &[(String, String)],
    resolved: &Resolved,
) -> Result<Table> {
    let mut overrides = overrides.to_vec();
    overrides.retain(|(key, _)| key != "mode" && key != "workload.arrival");
    overrides.push(("mode".into(), "timed".into()));
    let timed = table(&experiment_toml(&load(text, path, &overrides)?));
    let mut made = table(&with_forecast(resolved));
    // The close-up determines the arrival of requests itself.
    for key in acting_in_time().filter(|key| !key.starts_with("workload.")) {
        if let Some(value) = find(&timed, &key) {
            set(&mut made, &key, value.clone());
        }
    }
    set(&mut made, "mode", "timed".into());
    Ok(made)
}

/// Removes collection settings to use the defaults of timed mode: a life counts whole collected blocks, whereas real
/// drives collect page by page (`docs/decisions/0019-incremental-collection.md`).
fn with_timed_collection(mut experiment: Table) -> Table {
    for key in ["mode", "trigger_free_blocks", "stop_free_blocks"] {
        remove(&mut experiment, &format!("ftl.collect.{key}"));
    }
    if find(&experiment, "ftl.separate.policy").and_then(toml::Value::as_str) == Some("none") {
        remove(&mut experiment, "ftl.separate");
    }
    experiment
}

fn table(text: &str) -> Table {
    text.parse().expect("a resolved experiment is TOML")
}

fn find<'a>(table: &'a Table, key: &str) -> Option<&'a toml::Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((first, rest)) => find(table.get(first)?.as_table()?, rest),
    }
}

fn set(table: &mut Table, key: &str, value: toml::Value) {
    match key.split_once('.') {
        None => _ = table.insert(key.into(), value),
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| Table::new().into());
            inner.as_table_mut().into_iter().for_each(|inner| set(inner, rest, value.clone()));
        }
    }
}

fn remove(table: &mut Table, key: &str) {
    match key.split_once('.') {
        None => _ = table.remove(key),
        Some((first, rest)) => {
            let inner = table.get_mut(first).and_then(toml::Value::as_table_mut);
            inner.into_iter().for_each(|inner| remove(inner, rest));
        }
    }
}

/// Returns the table `close_up` of a forecast, and its `latency_us`.
pub(crate) fn tables(timed_plan: &TimedPlan, close_up: Option<&CloseUp>) -> (Value, Value) {
    let unknown = match (timed_plan, close_up) {
        (_, Some(_)) => None,
        (Err(why), None) => Some(why.clone()),
        (Ok(_), None) => Some("the workload writes nothing".into()),
    };
    let Some(result) = close_up else {
        let none = json!({ "unknown": unknown, "busiest": null, "typical": null });
        return (none, json!({ "read": null, "write": null }));
    };
    let typical = result.typical.as_ref().map(|seen| {
        let mut table = part(seen);
        table["latency_us"] = latencies(seen);
        table
    });
    let table = json!({ "unknown": null, "busiest": part(&result.busiest), "typical": typical });
    (table, latencies(&result.busiest))
}

fn latencies(seen: &StretchResult) -> Value {
    let [read, write] = seen.latencies.each_ref().map(quantiles_us);
    json!({ "read": read, "write": write })
}

/// Returns the 95 % intervals of mean and quantiles, from how the times differ that the stretch was served; null without
/// requests, or where it was served once.
fn latency_intervals(seen: &StretchResult) -> Value {
    let [read, write] = [0, 1].map(|kind| {
        let looks: Vec<_> = seen.looks.iter().map(|look| &look[kind]).collect();
        intervals_us(&seen.latencies[kind], &looks)
    });
    json!({ "read": read, "write": write })
}

fn part(seen: &StretchResult) -> Value {
    json!({
        "looks": seen.looks.len(),
        "from_s": seen.from_ns as f64 / 1e9,
        "span_s": seen.span_ns as f64 / 1e9,
        "requests": seen.requests,
        "offered_bytes_per_s": seen.offered_bytes_per_s(),
        "possible_bytes_per_s": seen.possible_bytes_per_s,
        "overloaded": seen.is_overloaded(),
        "latency_95_us": latency_intervals(seen),
    })
}
