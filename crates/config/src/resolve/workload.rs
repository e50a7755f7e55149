//! The table `[workload]`.

use super::arrival::Arrives;
use super::content::{self, ContentKeys};
use super::stop::Part;
use super::{arrival, stop};
use crate::layers::Layers;
use crate::settings::{self, KINDS};
use crate::tables::choice;
use crate::twins;
use floatgate_base::{Error, Place, Result};
use floatgate_host::placement::{BEYOND, DEVICES};
use floatgate_host::{Beyond, Devices};
use floatgate_sim::plan::{self, Arrival, WorkloadSettings};
use floatgate_trace::generate::{Burst, Jobs, Micro, Twin, jesd219};
use floatgate_trace::{Amplification, GeneratorConfig, Keep, OpenOptions, Pattern, Shuffle, UserColumns};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The workload as resolved.
pub(crate) struct Workload {
    pub settings: WorkloadSettings,
    /// Present in timed mode.
    pub arrival: Option<Arrival>,
    pub raw: settings::Workload,
}

// In the order of [`KINDS`].
const TRACE: usize = 1;
const TWIN: usize = 2;

/// Resolves the workload. `logical_bytes` is the visible capacity; 0 stands for the footprint of a twin.
/// `holds` states whether a buffer or anything else before the flash may hold written pages.
pub(crate) fn resolve(
    layers: &Layers,
    mut table: settings::Workload,
    (timed, throttled): (bool, bool),
    logical_bytes: u64,
    seed: u64,
    holds: bool,
) -> Result<Workload> {
    let name = kind_name(&table).to_string();
    let kind = choice(layers, "workload.kind", "kind", &name, KINDS)?;
    let arrives = arrival::resolve(layers, &table, timed, kind == 0, throttled)?;
    let content = ContentKeys::take(&mut table);
    let warmup_requests = table.warmup_requests();
    let amplification = amplification(layers, &table, seed)?;
    let shuffle = shuffle(&table, seed);
    let part = stop::take(layers, &mut table)?;
    let stop_bytes = part.as_ref().map(Part::end_bytes);
    // Each cursor issues its share of the warm-up.
    let warmup = warmup_of_each(layers, warmup_requests, amplification.cursors, kind)?;
    let (source, beyond, devices, mut raw) = match kind {
        TRACE => {
            let raw = trace_keys(layers, table, stop_bytes.is_some())?;
            let (source, beyond, devices) = trace_plan(layers, &raw)?;
            (source, beyond, devices, raw)
        }
        TWIN => {
            let (config, beyond, raw) = twin(layers, table, (warmup, stop_bytes), logical_bytes, seed)?;
            (plan::Workload::Synthetic(config), beyond, Devices::Apart, raw)
        }
        _ => {
            refuse_if_nothing_holds(layers, &table, holds)?;
            let mut raw = synthetic_keys(layers, table, stop_bytes.is_some())?;
            if holds {
                raw.fua_share.get_or_insert(0.0);
                raw.flush_every.get_or_insert(0);
            }
            let config = generator(layers, &raw, (warmup, stop_bytes), logical_bytes, seed)?;
            (plan::Workload::Synthetic(config), Beyond::Refuse, Devices::Apart, raw)
        }
    };
    (raw.kind, raw.warmup_requests) = (Some(name), Some(warmup_requests));
    if amplification.cursors > 1 {
        raw.read_amplification = Some(amplification.cursors);
        raw.gap_spread = Some(amplification.gap_spread);
    }
    raw.shuffle_window = shuffle.map(|shuffle| shuffle.window);
    (raw.arrival, raw.queue_depth) = (arrives.name.clone(), arrives.queue_depth);
    let Arrives { arrival, shifted, .. } = arrives;
    let (content, renews_content) = content::resolve(layers, &content, &source, &mut raw)?;
    let until = part.map(|part| part.until(&mut raw, (warmup_requests, kind == TRACE, renews_content)));
    let settings = WorkloadSettings {
        source,
        until,
        shuffle,
        amplification,
        warmup_requests,
        beyond,
        devices,
        shifted,
        content,
        renews_content,
        demand: 1.0,
        without_reads: false,
        keep: Keep::default(),
    };
    Ok(Workload { settings, arrival, raw })
}

/// Returns the shuffling of writes; none for a window of 0 requests.
fn shuffle(table: &settings::Workload, seed: u64) -> Option<Shuffle> {
    let window = table.shuffle_window.filter(|&window| window > 0)?;
    Some(Shuffle { window, seed })
}

/// Resolves how many cursors issue the workload.
fn amplification(layers: &Layers, table: &settings::Workload, seed: u64) -> Result<Amplification> {
    let model = Amplification { cursors: table.read_amplification(), gap_spread: table.gap_spread(), seed };
    if model.cursors == 1 && table.gap_spread.is_some() {
        let what = "gap_spread has no effect on a single cursor";
        let expected = "expected it with workload.read_amplification above 1";
        return Err(layers.error("workload.gap_spread", what, expected));
    }
    Ok(model)
}

/// Returns the warm-up requests of each cursor of a generator.
fn warmup_of_each(layers: &Layers, warmup: u64, cursors: u64, kind: usize) -> Result<u64> {
    if kind == TRACE || warmup.is_multiple_of(cursors) {
        return Ok(warmup / cursors);
    }
    let what = format!("{warmup} requests cannot be shared evenly by {cursors} cursors");
    let expected = "expected a multiple of workload.read_amplification";
    Err(layers.error("workload.warmup_requests", what, expected))
}

/// Returns the kind, named or implied.
fn kind_name(table: &settings::Workload) -> &str {
    match &table.kind {
        Some(kind) => kind,
        None if table.file.is_some() => KINDS[TRACE].0,
        None if table.twin.is_some() => KINDS[TWIN].0,
        None => KINDS[0].0,
    }
}

/// Checks whether requests come from a trace.
pub(crate) fn is_trace(table: &settings::Workload) -> bool {
    kind_name(table) == KINDS[TRACE].0
}

/// Returns the value of a key that other keys depend on, even where the user did not set it.
pub(crate) fn implied(table: &settings::Workload, key: &str) -> Option<String> {
    let kind = kind_name(table);
    let or = |name: &Option<String>, default: &str| name.clone().unwrap_or_else(|| default.into());
    match key {
        "workload.kind" => Some(kind.into()),
        "workload.pattern" => {
            Some(or(&table.pattern, if table.micro.is_some() { "jobs" } else { "uniform" }))
        }
        "workload.arrival" => Some(or(&table.arrival, if kind == KINDS[0].0 { "closed" } else { "open" })),
        _ => None,
    }
}

/// Refuses request sizes beside the standard, which has its own.
fn refuse_sizes(layers: &Layers, table: &settings::Workload, pattern: &str) -> Result<()> {
    if pattern != "jesd219" || table.request_bytes.is_none() {
        return Ok(());
    }
    let what = "request_bytes has no effect with pattern = \"jesd219\"";
    let expected = "expected no request_bytes: the standard has its own sizes";
    Err(layers.error("workload.request_bytes", what, expected))
}

/// Expands a micro-benchmark to its pattern and parameters; none of them may be set beside it.
fn expand_micro(layers: &Layers, table: &mut settings::Workload, stops: bool) -> Result<()> {
    let Some(name) = table.micro.take() else { return Ok(()) };
    let micro = Micro::find(&name).expect("rows of settings have the names");
    let jobs = micro.jobs();
    macro_rules! set {
        ($($key:ident = $value:expr),* $(,)?) => {
            $(if table.$key.is_some() {
                let what = format!("{} beside the micro-benchmark '{name}'", stringify!($key));
                let key = concat!("workload.", stringify!($key));
                return Err(layers.error(key, what, "expected the one or the other"));
            }
            table.$key = $value;)*
        };
    }
    set! {
        pattern = Some("jobs".into()),
        request_bytes = None,
        read_share = Some(micro.read_share()),
        trim_share = None,
        random_share = Some(jobs.random_share),
        sizes = Some(jobs.sizes),
        align_bytes = Some(jobs.align_bytes),
        offset_bytes = Some(jobs.offset_bytes),
    }
    if !stops {
        table.requests.get_or_insert(micro.requests());
    }
    Ok(())
}

/// Fills in the keys of a pattern. With `stops` another key ends the workload.
fn synthetic_keys(layers: &Layers, mut table: settings::Workload, stops: bool) -> Result<settings::Workload> {
    expand_micro(layers, &mut table, stops)?;
    let pattern = table.pattern.take().unwrap_or_else(|| "uniform".into());
    refuse_sizes(layers, &table, &pattern)?;
    let defaults = GeneratorConfig::default();
    let (zipf, hot, jobs) = (pattern == "zipf", pattern == "hot-cold", pattern == "jobs");
    let mixed = jobs || pattern == "jesd219";
    let read_share = if pattern == "jesd219" { jesd219::READ_SHARE } else { 0.0 };
    let bytes = table.request_bytes();
    if jobs && table.sizes.is_some() && table.request_bytes.is_some() {
        let what = "request_bytes and sizes both tell how large requests are";
        return Err(layers.error("workload.request_bytes", what, "expected one of the two"));
    }
    Ok(settings::Workload {
        requests: table.requests.or((!stops).then_some(defaults.requests)),
        request_bytes: (!mixed).then_some(bytes),
        read_share: Some(table.read_share.unwrap_or(read_share)),
        trim_share: Some(table.trim_share()),
        fua_share: table.fua_share.filter(|&share| share != 0.0),
        flush_every: table.flush_every.filter(|&every| every != 0),
        rate_per_s: table.rate_per_s,
        zipf_theta: zipf.then(|| table.zipf_theta()),
        hot_share_of_pages: hot.then(|| table.hot_share_of_pages()),
        hot_share_of_writes: hot.then(|| table.hot_share_of_writes()),
        random_share: jobs.then(|| table.random_share()),
        sizes: jobs.then(|| table.sizes.clone().unwrap_or_else(|| vec![(bytes, 1.0)])),
        align_bytes: jobs.then(|| table.align_bytes()),
        offset_bytes: jobs.then(|| table.offset_bytes()),
        working_set_bytes: table.working_set_bytes,
        burst_on_s: table.burst_on_s,
        burst_off_s: table.burst_off_s,
        pattern: Some(pattern),
        ..settings::Workload::default()
    })
}

/// Refuses flushes and forced writes if nothing before the flash holds pages.
fn refuse_if_nothing_holds(layers: &Layers, table: &settings::Workload, holds: bool) -> Result<()> {
    let set = [
        ("fua_share", table.fua_share.is_some_and(|share| share != 0.0)),
        ("flush_every", table.flush_every.is_some_and(|every| every != 0)),
    ];
    match set.iter().find(|(_, set)| *set && !holds) {
        Some((key, _)) => {
            let what = format!("{key} has no effect without a buffer or compression");
            let expected = "expected it with drive.buffer.capacity above 0, with lifetime.reduce.policy = \"compress\", \
                            or with drive.plp = false and ftl.mapping_bytes below a page of the flash, or ftl.metadata";
            Err(layers.error(&format!("workload.{key}"), what, expected))
        }
        None => Ok(()),
    }
}

/// Returns the bursts, which need both lengths.
fn jobs(layers: &Layers, raw: &settings::Workload) -> Result<Jobs> {
    let defaults = Jobs::default();
    let burst = match (raw.burst_on_s, raw.burst_off_s) {
        (Some(on_s), Some(off_s)) => Some(Burst { on_s, off_s }),
        (None, None) => None,
        (on, _) => {
            let (set, other) =
                if on.is_some() { ("burst_on_s", "burst_off_s") } else { ("burst_off_s", "burst_on_s") };
            let what = format!("{set} without {other}");
            return Err(layers.error(&format!("workload.{set}"), what, "expected both, or neither"));
        }
    };
    Ok(Jobs {
        random_share: raw.random_share.unwrap_or(defaults.random_share),
        sizes: raw.sizes.clone().unwrap_or(defaults.sizes),
        align_bytes: raw.align_bytes.unwrap_or(defaults.align_bytes),
        offset_bytes: raw.offset_bytes.unwrap_or(0),
        working_set_bytes: raw.working_set_bytes,
        burst,
    })
}

/// Resolves a twin. It needs a drive of its footprint unless it is wrapped or scaled.
fn twin(
    layers: &Layers,
    table: settings::Workload,
    (warmup, stop_bytes): (u64, Option<u64>),
    logical_bytes: u64,
    seed: u64,
) -> Result<(GeneratorConfig, Beyond, settings::Workload)> {
    let Some(text) = &table.twin else {
        let what = "a twin workload names no twin";
        return Err(layers.error("workload.twin", what, "expected twin = \"NAME\" or a path"));
    };
    let folder = folder_of(layers, "workload.twin");
    let (twin, word) = twins::find(text, folder.as_deref()).map_err(|e| match &e.place {
        Place::Setting(key) => layers.error(key, e.what.clone(), e.expected.clone()),
        _ => e,
    })?;
    let twin = thinned(layers, twin, table.thin)?;
    let beyond = table.beyond();
    let row = choice(layers, "workload.beyond", "beyond", &beyond, BEYOND)?;
    let space = if logical_bytes == 0 { twin.footprint_bytes } else { logical_bytes };
    if row == 0 && twin.footprint_bytes > space {
        let what = format!("the twin takes {} bytes of a drive that shows {space}", twin.footprint_bytes);
        let expected = "expected a larger drive, or beyond = \"scale\" or \"wrap\"";
        return Err(layers.error("workload.twin", what, expected));
    }
    let requests_set = table.requests.or(stop_bytes.is_none().then_some(twin.requests));
    let requests = match (requests_set, stop_bytes) {
        (None, Some(bytes)) => stop::requests(layers, bytes, twin.write_bytes() / twin.requests as f64, 1.0)?,
        (requests_set, _) => requests_set.unwrap_or_default(),
    };
    let config = GeneratorConfig {
        pattern: Pattern::Twin,
        logical_bytes: space,
        requests: requests.saturating_add(warmup),
        twin: Some(Arc::new(twin)),
        scale: row == 2,
        seed,
        ..GeneratorConfig::default()
    };
    config.validate()?;
    let raw = settings::Workload {
        twin: Some(word),
        thin: table.thin,
        requests: requests_set,
        beyond: Some(beyond),
        ..settings::Workload::default()
    };
    // The generator scales; the host wraps.
    Ok((config, if row == 1 { Beyond::Wrap } else { Beyond::Refuse }, raw))
}

/// Returns a thinned twin, if the user set `thin`.
fn thinned(layers: &Layers, twin: Twin, thin: Option<u64>) -> Result<Twin> {
    match thin {
        None => Ok(twin),
        Some(k) if k > 0 && k <= twin.requests => {
            twin.reduced(k).map_err(|e| layers.error("workload.thin", e.what.clone(), e.expected.clone()))
        }
        Some(k) => {
            let what = format!("one in {k} of {} requests", twin.requests);
            Err(layers.error("workload.thin", what, "expected a whole number from 1 to that of the requests"))
        }
    }
}

/// Returns the mean request size, or the smallest one if the pattern has its own sizes.
fn mean_bytes(raw: &settings::Workload) -> f64 {
    match (&raw.sizes, raw.request_bytes) {
        (Some(sizes), _) => {
            let weight: f64 = sizes.iter().map(|(_, weight)| weight).sum();
            sizes.iter().map(|(bytes, share)| *bytes as f64 * share).sum::<f64>() / weight
        }
        (None, Some(bytes)) => bytes as f64,
        (None, None) => 512.0,
    }
}

fn generator(
    layers: &Layers,
    raw: &settings::Workload,
    (warmup, stop_bytes): (u64, Option<u64>),
    logical_bytes: u64,
    seed: u64,
) -> Result<GeneratorConfig> {
    let defaults = GeneratorConfig::default();
    let pattern = raw.pattern.as_deref().unwrap_or_default();
    let requests = match (raw.requests, stop_bytes) {
        (None, Some(bytes)) => {
            let write_share = 1.0 - raw.read_share.unwrap_or_default() - raw.trim_share.unwrap_or_default();
            stop::requests(layers, bytes, mean_bytes(raw), write_share)?
        }
        (requests_set, _) => requests_set.unwrap_or_default(),
    };
    let at = |e: Box<Error>, key: &str| layers.error(key, e.what.clone(), e.expected.clone());
    let config = GeneratorConfig {
        pattern: Pattern::parse(pattern).map_err(|e| at(e, "workload.pattern"))?,
        logical_bytes,
        request_bytes: raw.request_bytes.unwrap_or(defaults.request_bytes),
        read_share: raw.read_share.unwrap_or_default(),
        trim_share: raw.trim_share.unwrap_or_default(),
        fua_share: raw.fua_share.unwrap_or_default(),
        flush_every: raw.flush_every.unwrap_or_default(),
        requests: requests.saturating_add(warmup),
        rate_per_s: raw.rate_per_s,
        zipf_theta: raw.zipf_theta.unwrap_or(defaults.zipf_theta),
        hot_share_of_pages: raw.hot_share_of_pages.unwrap_or(defaults.hot_share_of_pages),
        hot_share_of_writes: raw.hot_share_of_writes.unwrap_or(defaults.hot_share_of_writes),
        jobs: jobs(layers, raw)?,
        twin: None,
        scale: false,
        counts_only: false,
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

/// Fills in the keys of a trace. With `stops` it repeats as often as it takes.
fn trace_keys(layers: &Layers, table: settings::Workload, stops: bool) -> Result<settings::Workload> {
    let repeat = match table.repeat {
        Some(n) if stops && n > 1 => {
            let what = format!(
                "repeat is {n} beside stop_after, with which a trace is repeated as often as it takes"
            );
            return Err(layers.error("workload.repeat", what, "expected the one or the other"));
        }
        _ if stops => 1,
        _ => table.repeat(),
    };
    let Some(file) = table.file.clone() else {
        return Err(layers.error(
            "workload.file",
            "kind = \"trace\" has no file",
            "expected file = \"TRACE\" or --trace TRACE",
        ));
    };
    Ok(settings::Workload {
        file: Some(file),
        on_bad_line: Some(table.on_bad_line.clone().unwrap_or_else(|| "stop".into())),
        repeat: Some(repeat),
        warmup_passes: Some(table.warmup_passes()),
        devices: Some(table.devices()),
        beyond: Some(table.beyond()),
        columns: table.columns.as_deref().map(|text| described(layers, text)).transpose()?,
        format: table.format,
        time_unit: table.time_unit,
        lba_unit: table.lba_unit,
        action: table.action,
        ..settings::Workload::default()
    })
}

/// Returns the folder of the experiment file that sets the key, to which paths in it are relative.
fn folder_of(layers: &Layers, key: &str) -> Option<PathBuf> {
    match layers.place(key) {
        Place::Line { path, .. } => Path::new(&path).parent().map(Path::to_path_buf),
        _ => None,
    }
}

/// Returns a description of columns in its canonical form; one in a file becomes part of the experiment.
fn described(layers: &Layers, text: &str) -> Result<String> {
    let key = "workload.columns";
    let path = folder_of(layers, key).filter(|_| UserColumns::is_file(text)).map(|folder| folder.join(text));
    let text = path.as_ref().map_or(text.into(), |path| path.to_string_lossy());
    let columns = UserColumns::load(&text).map_err(|e| match &e.place {
        Place::Setting(_) => layers.error(key, e.what.clone(), e.expected.clone()),
        _ => e,
    })?;
    Ok(columns.text().to_owned())
}

fn trace_plan(layers: &Layers, raw: &settings::Workload) -> Result<(plan::Workload, Beyond, Devices)> {
    let path = raw.file.clone().unwrap_or_default();
    if path.is_empty() {
        return Err(layers.error(
            "workload.file",
            "the name of the trace is empty",
            "expected a file, or \"-\"",
        ));
    }
    let repeat = raw.repeat();
    if path == "-" && repeat + raw.warmup_passes() > 1 {
        let what = "standard input can be read only once";
        return Err(layers.error("workload.repeat", what, "expected a file, or a single pass"));
    }
    let options = OpenOptions::parse(
        raw.format.as_deref(),
        raw.time_unit.as_deref(),
        raw.lba_unit.as_deref(),
        raw.action.as_deref(),
        raw.on_bad_line.as_deref(),
    )
    .expect("rows of settings have the names");
    let options = match &raw.columns {
        Some(description) => options
            .with_columns(description)
            .map_err(|e| layers.error("workload.columns", e.what.clone(), e.expected.clone()))?,
        None => options,
    };
    let beyond = raw.beyond.as_deref().unwrap_or_default();
    let beyond = choice(layers, "workload.beyond", "beyond", beyond, BEYOND)?;
    let devices = raw.devices.as_deref().unwrap_or_default();
    let devices = choice(layers, "workload.devices", "devices", devices, DEVICES)?;
    let workload = plan::Workload::Trace { path, options, repeat, warmup_passes: raw.warmup_passes() };
    Ok((
        workload,
        [Beyond::Refuse, Beyond::Wrap, Beyond::Scale][beyond],
        [Devices::Apart, Devices::Fold][devices],
    ))
}
