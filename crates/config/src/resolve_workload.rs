//! The table `[workload]`.

use crate::layers::Layers;
use crate::raw;
use crate::tables::{choice, unknown};
use floatgate_base::{Error, Place, Result};
use floatgate_host::placement::{BEYOND, DEVICES};
use floatgate_host::{Beyond, Devices};
use floatgate_sim::plan;
use floatgate_trace::{GeneratorConfig, OpenOptions, Pattern};

pub(crate) struct Workload {
    pub workload: plan::Workload,
    pub warmup_requests: u64,
    pub beyond: Beyond,
    pub devices: Devices,
    pub raw: raw::Workload,
}

const KINDS: &[(&str, &str)] = &[("synthetic", "a generator"), ("trace", "a trace file")];
/// Requests under way at once in closed loop; functional mode has no time in which it could matter.
const QUEUE_DEPTH: u32 = 32;

pub(crate) fn resolve(
    layers: &Layers,
    given: raw::Workload,
    logical_bytes: u64,
    seed: u64,
) -> Result<Workload> {
    let default = if given.file.is_some() { "trace" } else { "synthetic" };
    let kind = given.kind.clone().unwrap_or_else(|| default.into());
    let trace = choice(layers, "workload.kind", "kind of workload", &kind, KINDS)? == 1;
    functional_only(layers, &given, trace)?;
    refuse_others(layers, &given, trace)?;
    let warmup_requests = given.warmup_requests.unwrap_or(0);
    let mut raw = if trace { trace_keys(layers, given)? } else { synthetic_keys(layers, given)? };
    raw.kind = Some(kind);
    raw.warmup_requests = Some(warmup_requests);
    let (workload, beyond, devices) = if trace {
        trace_plan(layers, &raw)?
    } else {
        let config = generator(layers, &raw, warmup_requests, logical_bytes, seed)?;
        (plan::Workload::Synthetic(config), Beyond::Refuse, Devices::Apart)
    };
    Ok(Workload { workload, warmup_requests, beyond, devices, raw })
}

/// Knobs of time must not be silently dead: only their defaults are taken while there is no time.
fn functional_only(layers: &Layers, given: &raw::Workload, trace: bool) -> Result<()> {
    let arrival = if trace { "open" } else { "closed" };
    if let Some(other) = given.arrival.as_deref().filter(|&a| a != arrival) {
        let what = format!("arrival '{other}' has no effect in functional mode");
        return Err(layers.error("workload.arrival", what, format!("expected \"{arrival}\" or no such key")));
    }
    if let Some(other) = given.queue_depth.filter(|&d| d != QUEUE_DEPTH) {
        let what = format!("queue_depth {other} has no effect in functional mode");
        return Err(layers.error(
            "workload.queue_depth",
            what,
            format!("expected {QUEUE_DEPTH} or no such key"),
        ));
    }
    Ok(())
}

/// Keys of the other kind of workload are refused.
fn refuse_others(layers: &Layers, given: &raw::Workload, trace: bool) -> Result<()> {
    let synthetic = [
        ("pattern", given.pattern.is_some()),
        ("requests", given.requests.is_some()),
        ("request_bytes", given.request_bytes.is_some()),
        ("read_share", given.read_share.is_some()),
        ("trim_share", given.trim_share.is_some()),
        ("rate_per_s", given.rate_per_s.is_some()),
        ("zipf_theta", given.zipf_theta.is_some()),
        ("hot_share_of_pages", given.hot_share_of_pages.is_some()),
        ("hot_share_of_writes", given.hot_share_of_writes.is_some()),
    ];
    let of_trace = [
        ("file", given.file.is_some()),
        ("format", given.format.is_some()),
        ("time_unit", given.time_unit.is_some()),
        ("lba_unit", given.lba_unit.is_some()),
        ("action", given.action.is_some()),
        ("on_bad_line", given.on_bad_line.is_some()),
        ("repeat", given.repeat.is_some()),
        ("warmup_passes", given.warmup_passes.is_some()),
        ("devices", given.devices.is_some()),
        ("beyond", given.beyond.is_some()),
    ];
    let (others, kind) = if trace { (&synthetic[..], "trace") } else { (&of_trace[..], "synthetic") };
    match others.iter().find(|(_, set)| *set) {
        Some((key, _)) => {
            let what = format!("{key} is no key of a {kind} workload");
            let other = if trace { "synthetic" } else { "trace" };
            Err(layers.error(
                &format!("workload.{key}"),
                what,
                format!("expected it with kind = \"{other}\" only"),
            ))
        }
        None => Ok(()),
    }
}

fn synthetic_keys(layers: &Layers, given: raw::Workload) -> Result<raw::Workload> {
    let pattern = given.pattern.unwrap_or_else(|| "uniform".into());
    let defaults = GeneratorConfig::default();
    let params = [
        ("zipf_theta", "zipf", given.zipf_theta.is_some()),
        ("hot_share_of_pages", "hot-cold", given.hot_share_of_pages.is_some()),
        ("hot_share_of_writes", "hot-cold", given.hot_share_of_writes.is_some()),
    ];
    for (key, owner, set) in params {
        if set && pattern != owner {
            let what = format!("{key} is no parameter of the pattern {pattern}");
            return Err(layers.error(
                &format!("workload.{key}"),
                what,
                format!("expected it with {owner} only"),
            ));
        }
    }
    let zipf = pattern == "zipf";
    let hot = pattern == "hot-cold";
    Ok(raw::Workload {
        requests: Some(given.requests.unwrap_or(defaults.requests)),
        request_bytes: Some(given.request_bytes.unwrap_or(defaults.request_bytes)),
        read_share: Some(given.read_share.unwrap_or(0.0)),
        trim_share: Some(given.trim_share.unwrap_or(0.0)),
        rate_per_s: given.rate_per_s,
        zipf_theta: zipf.then(|| given.zipf_theta.unwrap_or(defaults.zipf_theta)),
        hot_share_of_pages: hot.then(|| given.hot_share_of_pages.unwrap_or(defaults.hot_share_of_pages)),
        hot_share_of_writes: hot.then(|| given.hot_share_of_writes.unwrap_or(defaults.hot_share_of_writes)),
        pattern: Some(pattern),
        ..raw::Workload::default()
    })
}

fn generator(
    layers: &Layers,
    raw: &raw::Workload,
    warmup: u64,
    logical_bytes: u64,
    seed: u64,
) -> Result<GeneratorConfig> {
    let defaults = GeneratorConfig::default();
    let pattern = raw.pattern.as_deref().unwrap_or_default();
    let requests = raw.requests.unwrap_or_default();
    if requests == 0 {
        return Err(layers.error("workload.requests", "requests is 0", "expected a whole number from 1"));
    }
    let at = |e: Box<Error>, key: &str| layers.error(key, e.what.clone(), e.expected.clone());
    let config = GeneratorConfig {
        pattern: Pattern::parse(pattern).map_err(|e| at(e, "workload.pattern"))?,
        logical_bytes,
        request_bytes: raw.request_bytes.unwrap_or_default(),
        read_share: raw.read_share.unwrap_or_default(),
        trim_share: raw.trim_share.unwrap_or_default(),
        requests: requests.saturating_add(warmup),
        rate_per_s: raw.rate_per_s,
        zipf_theta: raw.zipf_theta.unwrap_or(defaults.zipf_theta),
        hot_share_of_pages: raw.hot_share_of_pages.unwrap_or(defaults.hot_share_of_pages),
        hot_share_of_writes: raw.hot_share_of_writes.unwrap_or(defaults.hot_share_of_writes),
        seed,
    };
    config.validate().map_err(|e| match &e.place {
        Place::Setting(key) => {
            let key = if key.starts_with("workload.") { key.clone() } else { format!("workload.{key}") };
            at(e, &key)
        }
        _ => e,
    })?;
    Ok(config)
}

fn trace_keys(layers: &Layers, given: raw::Workload) -> Result<raw::Workload> {
    let Some(file) = given.file else {
        return Err(layers.error(
            "workload.file",
            "a trace workload names no file",
            "expected file = \"TRACE\" or --trace TRACE",
        ));
    };
    Ok(raw::Workload {
        file: Some(file),
        on_bad_line: Some(given.on_bad_line.unwrap_or_else(|| "stop".into())),
        repeat: Some(given.repeat.unwrap_or(1)),
        warmup_passes: Some(given.warmup_passes.unwrap_or(0)),
        devices: Some(given.devices.unwrap_or_else(|| DEVICES[0].0.into())),
        beyond: Some(given.beyond.unwrap_or_else(|| BEYOND[0].0.into())),
        format: given.format,
        time_unit: given.time_unit,
        lba_unit: given.lba_unit,
        action: given.action,
        ..raw::Workload::default()
    })
}

fn trace_plan(layers: &Layers, raw: &raw::Workload) -> Result<(plan::Workload, Beyond, Devices)> {
    let path = raw.file.clone().unwrap_or_default();
    let repeat = raw.repeat.unwrap_or(1);
    if repeat == 0 {
        return Err(layers.error("workload.repeat", "repeat is 0", "expected a whole number from 1"));
    }
    if path == "-" && repeat + raw.warmup_passes.unwrap_or(0) > 1 {
        let what = "standard input can be read only once";
        return Err(layers.error("workload.repeat", what, "expected a file, or a single pass"));
    }
    if let Some(name) = &raw.format {
        let formats = floatgate_trace::FORMATS;
        if !formats.iter().any(|f| f.name == name) {
            return Err(unknown(
                layers,
                "workload.format",
                "trace format",
                name,
                formats.iter().map(|f| f.name),
            ));
        }
    }
    let options = OpenOptions::parse(
        raw.format.as_deref(),
        raw.time_unit.as_deref(),
        raw.lba_unit.as_deref(),
        raw.action.as_deref(),
        raw.on_bad_line.as_deref(),
    )
    .map_err(|e| match &e.place {
        // The reader names options as the command line has them; here they are keys.
        Place::Setting(option) => {
            let key = format!("workload.{}", option.trim_start_matches('-').replace('-', "_"));
            layers.error(&key, e.what.clone(), e.expected.clone())
        }
        _ => e,
    })?;
    let beyond = raw.beyond.as_deref().unwrap_or_default();
    let beyond =
        choice(layers, "workload.beyond", "treatment of addresses beyond the drive", beyond, BEYOND)?;
    let devices = raw.devices.as_deref().unwrap_or_default();
    let devices = choice(layers, "workload.devices", "treatment of several devices", devices, DEVICES)?;
    let workload =
        plan::Workload::Trace { path, options, repeat, warmup_passes: raw.warmup_passes.unwrap_or(0) };
    Ok((
        workload,
        [Beyond::Refuse, Beyond::Wrap, Beyond::Scale][beyond],
        [Devices::Apart, Devices::Fold][devices],
    ))
}
