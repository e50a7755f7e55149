//! The table `[workload]`.

use crate::layers::Layers;
use crate::raw;
use crate::resolve_arrival::Arrives;
use crate::resolve_content::{self, SaidOfContent};
use crate::resolve_stop::Part;
use crate::tables::{choice, unknown};
use crate::{resolve_arrival, resolve_stop, twins};
use floatgate_base::{Error, Place, Result};
use floatgate_host::placement::{BEYOND, DEVICES};
use floatgate_host::{Beyond, Devices};
use floatgate_sim::plan::{self, Arrival, WorkloadSettings};
use floatgate_trace::generate::micro::MICROS;
use floatgate_trace::generate::{Burst, Jobs, Micro, Twin, jesd219};
use floatgate_trace::{Amplification, GeneratorConfig, OpenOptions, Pattern, Shuffle};
use std::path::Path;
use std::sync::Arc;

/// The workload as resolved.
pub(crate) struct Workload {
    pub settings: WorkloadSettings,
    /// Present in timed mode.
    pub arrival: Option<Arrival>,
    pub raw: raw::Workload,
}

/// Kinds of workload with what they are.
pub(crate) const KINDS: &[(&str, &str)] = &[
    ("synthetic", "a generator"),
    ("trace", "a trace file"),
    ("twin", "a workload known by its statistics"),
];
const TRACE: usize = 1;
const TWIN: usize = 2;

/// `logical_bytes` is what the drive shows; 0: as much as a twin needs. `holds` says whether anything in front of the
/// flash may hold what was written.
pub(crate) fn resolve(
    layers: &Layers,
    mut given: raw::Workload,
    (timed, throttled): (bool, bool),
    logical_bytes: u64,
    seed: u64,
    holds: bool,
) -> Result<Workload> {
    let name = kind_name(layers, &given);
    let kind = choice(layers, "workload.kind", "kind of workload", &name, KINDS)?;
    let arrives = resolve_arrival::resolve(layers, &given, timed, kind == 0, throttled)?;
    refuse_others(layers, &mut given, kind)?;
    let said = SaidOfContent::take(&mut given);
    let warmup_requests = given.warmup_requests.unwrap_or(0);
    let amplification = amplification(layers, &given, seed)?;
    let shuffle = shuffle(layers, &given, seed)?;
    if given.stop_after.is_some() && overruled(layers, "requests", &["stop_after"]) {
        given.requests = None;
    }
    let part = resolve_stop::take(layers, &mut given)?;
    let stop_bytes = part.as_ref().map(Part::end_bytes);
    // Each cursor makes its part of those that come first.
    let warmup = warmup_of_each(layers, warmup_requests, amplification.cursors, kind)?;
    let (source, beyond, devices, mut raw) = match kind {
        TRACE => {
            let raw = trace_keys(layers, given, stop_bytes.is_some())?;
            let (source, beyond, devices) = trace_plan(layers, &raw)?;
            (source, beyond, devices, raw)
        }
        TWIN => {
            let (config, beyond, raw) = twin(layers, given, (warmup, stop_bytes), logical_bytes, seed)?;
            (plan::Workload::Synthetic(config), beyond, Devices::Apart, raw)
        }
        _ => {
            refuse_if_nothing_holds(layers, &given, holds)?;
            let mut raw = synthetic_keys(layers, given, stop_bytes.is_some())?;
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
    let (content, renews_content) = resolve_content::resolve(layers, &said, &source, &mut raw)?;
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
        without_reads: false,
    };
    Ok(Workload { settings, arrival, raw })
}

/// Whether writes are shuffled; a window of 0 requests shuffles nothing.
fn shuffle(layers: &Layers, given: &raw::Workload, seed: u64) -> Result<Option<Shuffle>> {
    let Some(window) = given.shuffle_window.filter(|&window| window > 0) else { return Ok(None) };
    let shuffle = Shuffle { window, seed };
    shuffle.validate().map_err(|e| {
        let expected = e.expected.replace("from 1", "from 0");
        layers.error("workload.shuffle_window", e.what.clone(), expected)
    })?;
    Ok(Some(shuffle))
}

/// How many cursors issue the workload.
fn amplification(layers: &Layers, given: &raw::Workload, seed: u64) -> Result<Amplification> {
    let defaults = Amplification::default();
    let model = Amplification {
        cursors: given.read_amplification.unwrap_or(defaults.cursors),
        gap_spread: given.gap_spread.unwrap_or(defaults.gap_spread),
        seed,
    };
    model.validate().map_err(|e| match &e.place {
        Place::Setting(key) => layers.error(&format!("workload.{key}"), e.what.clone(), e.expected.clone()),
        _ => e,
    })?;
    if model.cursors == 1 && given.gap_spread.is_some() {
        let what = "gap_spread has no effect on a single cursor";
        let expected = "expected it with workload.read_amplification above 1";
        return Err(layers.error("workload.gap_spread", what, expected));
    }
    Ok(model)
}

/// Requests that each cursor of a generator makes before those that count.
fn warmup_of_each(layers: &Layers, warmup: u64, cursors: u64, kind: usize) -> Result<u64> {
    if kind == TRACE || warmup.is_multiple_of(cursors) {
        return Ok(warmup / cursors);
    }
    let what = format!("{warmup} requests cannot be shared evenly by {cursors} cursors");
    let expected = "expected a multiple of workload.read_amplification";
    Err(layers.error("workload.warmup_requests", what, expected))
}

/// The kind that is said or implied.
fn kind_name(layers: &Layers, given: &raw::Workload) -> String {
    // A kind without a place was put in for a file that was named; a twin may have been named over that.
    let said = given.kind.clone().filter(|_| layers.is_set("workload.kind"));
    said.unwrap_or_else(|| implied_kind(layers, given).into())
}

/// Whether requests come from a trace.
pub(crate) fn is_trace(layers: &Layers, given: &raw::Workload) -> bool {
    kind_name(layers, given) == KINDS[TRACE].0
}

/// A file makes a trace, a twin a twin; of both, the one that was said later.
fn implied_kind(layers: &Layers, given: &raw::Workload) -> &'static str {
    match (&given.file, &given.twin) {
        (Some(_), Some(_)) if rank(layers, "workload.twin") > rank(layers, "workload.file") => "twin",
        (Some(_), _) => "trace",
        (None, Some(_)) => "twin",
        (None, None) => "synthetic",
    }
}

/// In which layer a key was set: a preset or none, a file, an override.
fn rank(layers: &Layers, key: &str) -> u8 {
    match layers.place(key) {
        _ if !layers.is_set(key) => 0,
        Place::Line { .. } => 1,
        _ => 2,
    }
}

/// Whether `key` was set in a layer below the word that makes it meaningless: then it is passed over, not refused, so
/// that an experiment runs on another workload by naming just that.
fn overruled(layers: &Layers, key: &str, by: &[&str]) -> bool {
    by.iter().any(|by| rank(layers, &format!("workload.{by}")) > rank(layers, &format!("workload.{key}")))
}

/// Keys of other kinds of workload are refused, or dropped where a later layer overruled them.
fn refuse_others(layers: &Layers, given: &mut raw::Workload, kind: usize) -> Result<()> {
    /// A key and the kinds that know it.
    macro_rules! keys {
        ($($kinds:literal: $($key:ident),*;)*) => {
            $($({
                let known = $kinds.contains(KINDS[kind].0);
                let by = ["kind", "file", "twin"];
                if !known && given.$key.is_some() {
                    if !overruled(layers, stringify!($key), &by) {
                        return Err(foreign(layers, stringify!($key), KINDS[kind].0, $kinds));
                    }
                    given.$key = None;
                }
            })*)*
        };
    }
    keys! {
        "synthetic": pattern, request_bytes, read_share, trim_share, fua_share, flush_every, rate_per_s, zipf_theta, hot_share_of_pages,
            hot_share_of_writes, random_share, sizes, align_bytes, offset_bytes, working_set_bytes, burst_on_s,
            burst_off_s, micro;
        "synthetic twin": requests;
        "trace": file, format, time_unit, lba_unit, action, on_bad_line, repeat, warmup_passes, repeat_content, devices;
        "trace twin": beyond;
        "twin": twin, thin;
    }
    Ok(())
}

fn foreign(layers: &Layers, key: &str, kind: &str, kinds: &str) -> Box<Error> {
    let kinds: Vec<String> = kinds.split(' ').map(|kind| format!("\"{kind}\"")).collect();
    let what = format!("{key} is no key of a {kind} workload");
    let expected = format!("expected it with kind = {} only", kinds.join(" or "));
    layers.error(&format!("workload.{key}"), what, expected)
}

/// Parameters of other patterns are refused, or dropped where a later layer overruled them.
fn refuse_parameters(layers: &Layers, given: &mut raw::Workload, pattern: &str) -> Result<()> {
    macro_rules! keys {
        ($($owner:literal: $($key:ident),*;)*) => {
            $($(if given.$key.is_some() && pattern != $owner {
                if !overruled(layers, stringify!($key), &["pattern", "micro"]) {
                    let what = format!("{} is no parameter of the pattern {pattern}", stringify!($key));
                    let key = concat!("workload.", stringify!($key));
                    return Err(layers.error(key, what, concat!("expected it with ", $owner, " only")));
                }
                given.$key = None;
            })*)*
        };
    }
    keys! {
        "zipf": zipf_theta;
        "hot-cold": hot_share_of_pages, hot_share_of_writes;
        "jobs": random_share, sizes, align_bytes, offset_bytes, working_set_bytes, burst_on_s, burst_off_s;
    }
    if pattern == "jesd219" && given.request_bytes.take().is_some() {
        let set = rank(layers, "workload.request_bytes") >= rank(layers, "workload.pattern");
        if set {
            let what = "request_bytes is no parameter of the pattern jesd219";
            let expected = "expected no such key: the standard has its own sizes";
            return Err(layers.error("workload.request_bytes", what, expected));
        }
    }
    Ok(())
}

/// A micro-benchmark stands for a pattern with its parameters: none of them may be said beside it.
fn expand_micro(layers: &Layers, given: &mut raw::Workload, stops: bool) -> Result<()> {
    let Some(name) = given.micro.take() else { return Ok(()) };
    if overruled(layers, "micro", &["pattern"]) {
        return Ok(());
    }
    let Some(micro) = Micro::find(&name) else {
        let names = MICROS.iter().map(|m| m.name);
        return Err(unknown(layers, "workload.micro", "micro-benchmark", &name, names));
    };
    let jobs = micro.jobs();
    macro_rules! set {
        ($($key:ident = $value:expr),* $(,)?) => {
            $(if given.$key.is_some() && !overruled(layers, stringify!($key), &["micro"]) {
                let what = format!("{} beside the micro-benchmark '{name}'", stringify!($key));
                let key = concat!("workload.", stringify!($key));
                return Err(layers.error(key, what, "expected the one or the other"));
            }
            given.$key = $value;)*
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
        given.requests.get_or_insert(micro.requests());
    }
    Ok(())
}

/// With `stops` something else says where the workload ends.
fn synthetic_keys(layers: &Layers, mut given: raw::Workload, stops: bool) -> Result<raw::Workload> {
    expand_micro(layers, &mut given, stops)?;
    let pattern = given.pattern.take().unwrap_or_else(|| "uniform".into());
    refuse_parameters(layers, &mut given, &pattern)?;
    let defaults = GeneratorConfig::default();
    let (zipf, hot, jobs) = (pattern == "zipf", pattern == "hot-cold", pattern == "jobs");
    let mixed = jobs || pattern == "jesd219";
    let read_share = if pattern == "jesd219" { jesd219::READ_SHARE } else { 0.0 };
    let bytes = given.request_bytes.unwrap_or(defaults.request_bytes);
    if jobs && given.sizes.is_some() && given.request_bytes.is_some() {
        let what = "request_bytes and sizes both tell how large requests are";
        return Err(layers.error("workload.request_bytes", what, "expected one of the two"));
    }
    Ok(raw::Workload {
        requests: given.requests.or((!stops).then_some(defaults.requests)),
        request_bytes: (!mixed).then_some(bytes),
        read_share: Some(given.read_share.unwrap_or(read_share)),
        trim_share: Some(given.trim_share.unwrap_or(0.0)),
        fua_share: given.fua_share.filter(|&share| share != 0.0),
        flush_every: given.flush_every.filter(|&every| every != 0),
        rate_per_s: given.rate_per_s,
        zipf_theta: zipf.then(|| given.zipf_theta.unwrap_or(defaults.zipf_theta)),
        hot_share_of_pages: hot.then(|| given.hot_share_of_pages.unwrap_or(defaults.hot_share_of_pages)),
        hot_share_of_writes: hot.then(|| given.hot_share_of_writes.unwrap_or(defaults.hot_share_of_writes)),
        random_share: jobs.then(|| given.random_share.unwrap_or(defaults.jobs.random_share)),
        sizes: jobs.then(|| given.sizes.unwrap_or_else(|| vec![(bytes, 1.0)])),
        align_bytes: jobs.then(|| given.align_bytes.unwrap_or(defaults.jobs.align_bytes)),
        offset_bytes: jobs.then(|| given.offset_bytes.unwrap_or(0)),
        working_set_bytes: given.working_set_bytes,
        burst_on_s: given.burst_on_s,
        burst_off_s: given.burst_off_s,
        pattern: Some(pattern),
        ..raw::Workload::default()
    })
}

/// What the host wants on flash matters only where something else may hold it.
fn refuse_if_nothing_holds(layers: &Layers, given: &raw::Workload, holds: bool) -> Result<()> {
    let set = [
        ("fua_share", given.fua_share.is_some_and(|share| share != 0.0)),
        ("flush_every", given.flush_every.is_some_and(|every| every != 0)),
    ];
    match set.iter().find(|(_, set)| *set && !holds) {
        Some((key, _)) => {
            let what = format!("{key} has no effect without a buffer or compression");
            let expected = "expected it with drive.buffer.capacity above 0, with lifetime.reduce.policy = \"compress\", \
                            or with drive.plp = false and ftl.mapping_bytes below a page of the flash";
            Err(layers.error(&format!("workload.{key}"), what, expected))
        }
        None => Ok(()),
    }
}

/// Bursts need both lengths.
fn jobs(layers: &Layers, raw: &raw::Workload) -> Result<Jobs> {
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

/// A twin, which needs as much space as its footprint unless it is wrapped or scaled.
fn twin(
    layers: &Layers,
    given: raw::Workload,
    (warmup, stop_bytes): (u64, Option<u64>),
    logical_bytes: u64,
    seed: u64,
) -> Result<(GeneratorConfig, Beyond, raw::Workload)> {
    let Some(text) = &given.twin else {
        let what = "a twin workload names no twin";
        return Err(layers.error("workload.twin", what, "expected twin = \"NAME\" or a path"));
    };
    // A path in an experiment file counts from that file's folder, as that of a trace does.
    let folder = match layers.place("workload.twin") {
        Place::Line { path, .. } => Path::new(&path).parent().map(Path::to_path_buf),
        _ => None,
    };
    let (twin, word) = twins::find(text, folder.as_deref()).map_err(|e| match &e.place {
        Place::Setting(key) => layers.error(key, e.what.clone(), e.expected.clone()),
        _ => e,
    })?;
    let twin = thinned(layers, twin, given.thin)?;
    let beyond = given.beyond.unwrap_or_else(|| BEYOND[0].0.into());
    let row = choice(layers, "workload.beyond", "treatment of addresses beyond the drive", &beyond, BEYOND)?;
    let space = if logical_bytes == 0 { twin.footprint_bytes } else { logical_bytes };
    if row == 0 && twin.footprint_bytes > space {
        let what = format!("the twin takes {} bytes of a drive that shows {space}", twin.footprint_bytes);
        let expected = "expected a larger drive, or beyond = \"scale\" or \"wrap\"";
        return Err(layers.error("workload.twin", what, expected));
    }
    let said = given.requests.or(stop_bytes.is_none().then_some(twin.requests));
    let requests = match (said, stop_bytes) {
        (None, Some(bytes)) => {
            resolve_stop::requests(layers, bytes, twin.write_bytes() / twin.requests as f64, 1.0)?
        }
        (said, _) => said.unwrap_or_default(),
    };
    if requests == 0 {
        return Err(layers.error("workload.requests", "requests is 0", "expected a whole number from 1"));
    }
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
    let raw = raw::Workload {
        twin: Some(word),
        thin: given.thin,
        requests: said,
        beyond: Some(beyond),
        ..raw::Workload::default()
    };
    // The generator scales by itself; wrapping is the host's.
    Ok((config, if row == 1 { Beyond::Wrap } else { Beyond::Refuse }, raw))
}

/// A part of a twin, where one is asked for.
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

/// Mean size of a request, or the smallest one where the pattern has its own sizes.
fn mean_bytes(raw: &raw::Workload) -> f64 {
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
    raw: &raw::Workload,
    (warmup, stop_bytes): (u64, Option<u64>),
    logical_bytes: u64,
    seed: u64,
) -> Result<GeneratorConfig> {
    let defaults = GeneratorConfig::default();
    let pattern = raw.pattern.as_deref().unwrap_or_default();
    let requests = match (raw.requests, stop_bytes) {
        (None, Some(bytes)) => {
            let write_share = 1.0 - raw.read_share.unwrap_or_default() - raw.trim_share.unwrap_or_default();
            resolve_stop::requests(layers, bytes, mean_bytes(raw), write_share)?
        }
        (said, _) => said.unwrap_or_default(),
    };
    if requests == 0 {
        return Err(layers.error("workload.requests", "requests is 0", "expected a whole number from 1"));
    }
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

/// With `stops` the trace is gone through as often as it takes.
fn trace_keys(layers: &Layers, given: raw::Workload, stops: bool) -> Result<raw::Workload> {
    let repeat = match given.repeat {
        Some(n) if stops && n > 1 && !overruled(layers, "repeat", &["stop_after"]) => {
            let what = format!(
                "repeat is {n} beside stop_after, with which a trace is repeated as often as it takes"
            );
            return Err(layers.error("workload.repeat", what, "expected the one or the other"));
        }
        _ if stops => 1,
        said => said.unwrap_or(1),
    };
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
        repeat: Some(repeat),
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
    if path.is_empty() {
        return Err(layers.error(
            "workload.file",
            "the name of the trace is empty",
            "expected a file, or \"-\"",
        ));
    }
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
