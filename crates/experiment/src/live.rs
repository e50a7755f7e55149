//! A live drive from its experiment: what it can be, what it shows while it runs, and its result at the end.

use crate::amplification::Amplification;
use crate::by_cause::by_cause;
use crate::load::{absolute, experiment_toml, load};
use crate::meter::{Meter, peak_rss_bytes, since_1970_ns};
use crate::quantiles::quantiles_us;
use crate::result::{RunFigures, result};
use crate::run::Output;
use floatgate_base::{Error, Place, Result};
use floatgate_config::layers::Layers;
use floatgate_config::{Resolved, policy_sets};
use floatgate_flash::Cause;
use floatgate_host::Dispatch;
use floatgate_live::drive::Files;
use floatgate_live::journal::Limits;
use floatgate_live::nbd::Settings;
use floatgate_live::{Drive, Export, Server, Store};
use floatgate_sim::plan::{Mode, Precondition, Workload};
use floatgate_sim::{Arrival, Glance, Outcome, Plan};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Format of the journal.
const FORMAT: &str = "live";

/// How a live drive is served.
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// Folder of its files.
    pub folder: PathBuf,
    /// Socket to listen on.
    pub socket: PathBuf,
    /// Names, bytes and handles of its exports in the order in which they lie on the drive; 0 bytes stand for the rest.
    /// Without any the whole drive is one.
    pub exports: Vec<(String, u64, u16)>,
    /// Seed of the volatile cache, if it has one.
    pub volatile: Option<u64>,
    /// Limit of the journal.
    pub journal_bytes_max: Option<u64>,
}

/// A drive that is served.
pub struct Live {
    resolved: Resolved,
    server: Arc<Server>,
    thread: JoinHandle<()>,
    meter: Meter,
}

/// Resolves the experiment of a live drive in a folder: its workload is the journal there. A drive is new unless the
/// experiment says otherwise.
///
/// # Errors
/// Input errors with their place.
pub fn load_live(
    text: Option<&str>,
    path: &str,
    overrides: &[(String, String)],
    folder: &Path,
) -> Result<Resolved> {
    let mut layers = Layers::default();
    if let Some(text) = text {
        layers.add_file(text, path)?;
    }
    for (key, value) in overrides.iter().filter(|(key, _)| key != policy_sets::KEY) {
        layers.add_override(key, value)?;
    }
    let journal = absolute(&Files::of(folder).journal.to_string_lossy());
    let mut overrides = overrides.to_vec();
    let mut add = |key: &str, value: &str| overrides.push((key.into(), Value::from(value).to_string()));
    add("workload.kind", "trace");
    add("workload.file", &journal);
    add("workload.format", FORMAT);
    if layers.text("ftl.precondition").is_none() {
        add("ftl.precondition", "none");
    }
    if layers.text("mode") == Some("timed") && layers.text("workload.arrival").is_none() {
        add("workload.arrival", "open");
    }
    load(text, path, &overrides)
}

impl Live {
    /// Opens the drive of a folder, new or as it was left, and serves it.
    ///
    /// # Errors
    /// Settings that a live drive cannot have; files or a socket that cannot be used.
    pub fn start(resolved: Resolved, options: &LiveOptions) -> Result<Self> {
        check(&resolved.plan)?;
        let meter = Meter::start();
        let bytes = u64::from(resolved.plan.ftl.setup.logical_pages)
            * u64::from(resolved.plan.drive.geometry.page_bytes);
        let exports = exports(&options.exports, bytes)?;
        let limits = Limits { bytes_max: options.journal_bytes_max, ..Limits::default() };
        let drive = open(&resolved, &options.folder, limits)?;
        let data = options.folder.join("data.img");
        let store = Store::open(&data, bytes, options.volatile).map_err(|e| {
            let place = Place::Path(data.to_string_lossy().into_owned());
            Error::input(
                place,
                format!("the data cannot be opened: {e}"),
                "expected the folder of this drive",
            )
        })?;
        let (server, thread) = Server::listen(drive, store, exports, &options.socket, Settings::default())?;
        Ok(Self { resolved, server, thread, meter })
    }

    /// Returns what the drive shows now, as JSON; none once it has stopped.
    #[must_use]
    pub fn look(&self) -> Option<Value> {
        let uptime_s = self.server.uptime().as_secs_f64();
        let page_bytes = self.resolved.plan.drive.geometry.page_bytes;
        let mut shown = self.server.look(|glance, ended| {
            let mut shown = figures(glance, page_bytes);
            shown["ended"] = json!(ended);
            shown
        })?;
        shown["uptime_s"] = json!(uptime_s);
        shown["exports"] = self.server.exports().iter().map(shown_export).collect();
        Some(shown)
    }

    /// Saves the state of the drive.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save(&self) -> Result<()> {
        self.server.save()
    }

    /// Stops serving. Returns the result of a run over the journal; none if no request came.
    ///
    /// # Errors
    /// A file cannot be written or read.
    pub fn stop(self) -> Result<Option<Output>> {
        let Self { resolved, server, thread, meter } = self;
        let drive = server.stop().map_err(|e| Error::run(format!("the data cannot be written: {e}"), ""))?;
        let _ = thread.join();
        let Some(drive) = drive else { return Ok(None) };
        let outcome = drive.stop()?;
        Ok(outcome.map(|outcome| output(&resolved, &outcome, &meter)))
    }
}

/// Opens the drive of a folder without serving it.
///
/// # Errors
/// As [`Live::start`].
pub fn open(resolved: &Resolved, folder: &Path, limits: Limits) -> Result<Drive> {
    let began = (since_1970_ns(), limits);
    Drive::open(resolved.plan.clone(), &experiment_toml(resolved), Files::of(folder), began, None)
}

/// Makes the output of a run over the journal.
#[must_use]
pub fn output(resolved: &Resolved, outcome: &Outcome, meter: &Meter) -> Output {
    let figures = RunFigures {
        wall_s: meter.wall_s(),
        cpu_s: meter.cpu_s(),
        counted_cpu_s: meter.cpu_s(),
        peak_rss_bytes: peak_rss_bytes(),
    };
    Output {
        result: result(resolved, outcome, &figures),
        experiment_toml: experiment_toml(resolved),
        rows: outcome.series.rows().to_vec(),
        timeline: None,
        command: None,
    }
}

/// Refuses what needs a workload that is known before it happens.
fn check(plan: &Plan) -> Result<()> {
    let refuse =
        |key: &str, what: &str, expected: &str| Err(Error::input(Place::Setting(key.into()), what, expected));
    let workload = &plan.workload;
    let is_plain = workload.until.is_none()
        && workload.shuffle.is_none()
        && workload.amplification.cursors == 1
        && workload.content.is_none()
        && workload.demand == 1.0
        && workload.warmup_requests == 0
        && matches!(workload.source, Workload::Trace { repeat: 1, warmup_passes: 0, .. });
    match () {
        () if plan.shadow => refuse(
            "ftl.shadow",
            "a live drive has no shadow model",
            "expected no --shadow; check a replay of its journal",
        ),
        () if plan.ftl.setup.separate.foresees() => refuse(
            "ftl.separate.policy",
            "this separator needs the future, which a live drive does not have",
            "expected another separator, or a replay of the journal",
        ),
        () if plan.ftl.precondition == Precondition::Auto => refuse(
            "ftl.precondition",
            "auto needs laps of a trace",
            "expected none, sequential, random, steady or snapshot",
        ),
        () if plan.background().is_some() => refuse(
            "ftl.background.policy",
            "jobs in idle time would start anew whenever the drive is looked at",
            "expected none, or a replay of the journal",
        ),
        () if plan.ftl.dispatch != Dispatch::Fcfs => refuse(
            "ftl.dispatch.policy",
            "a dispatcher needs windows of requests that are known in advance",
            "expected none, or a replay of the journal",
        ),
        () if !matches!(plan.mode, Mode::Functional | Mode::Timed(Arrival::Open)) => {
            refuse("workload.arrival", "requests of a live drive come when they come", "expected open")
        }
        () if !is_plain => refuse(
            "workload",
            "a live drive serves the requests of its host, and nothing else",
            "expected no setting of the workload but its arrival",
        ),
        () => Ok(()),
    }
}

/// Lays the exports out on the drive.
fn exports(wanted: &[(String, u64, u16)], drive_bytes: u64) -> Result<Vec<Export>> {
    if wanted.is_empty() {
        return Ok(vec![Export { name: "drive".into(), offset: 0, bytes: drive_bytes, stream: 0 }]);
    }
    let refuse =
        |what: String, expected: &str| Err(Error::input(Place::Setting("--exports".into()), what, expected));
    let stated: u64 = wanted.iter().map(|(_, bytes, _)| *bytes).sum();
    let rests = wanted.iter().filter(|(_, bytes, _)| *bytes == 0).count();
    if rests > 1 {
        return refuse(format!("{rests} exports take the rest of the drive"), "expected at most one of them");
    }
    if stated > drive_bytes || rests == 1 && stated == drive_bytes {
        let what = format!("the exports take {stated} bytes, and the drive has {drive_bytes}");
        return refuse(what, "expected fewer, or a larger --capacity");
    }
    let mut laid: Vec<Export> = Vec::new();
    let mut offset = 0;
    for (name, bytes, stream) in wanted {
        if laid.iter().any(|export| export.name == *name) {
            return refuse(
                format!("two exports have the name {name}"),
                "expected a name of its own for each",
            );
        }
        let bytes = if *bytes == 0 { drive_bytes - stated } else { *bytes };
        laid.push(Export { name: name.clone(), offset, bytes, stream: *stream });
        offset += bytes;
    }
    Ok(laid)
}

fn shown_export(export: &Export) -> Value {
    let Export { name, offset, bytes, stream } = export;
    json!({ "name": name, "offset": offset, "bytes": bytes, "stream": stream })
}

/// Bars of the histogram of erases.
const BARS: usize = 32;

fn figures(glance: &Glance<'_>, page_bytes: u32) -> Value {
    let Glance { requests, host, flash, free_units, erases, latencies } = *glance;
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
        "host": crate::result::host(&host),
        "programs": by_cause(&Cause::ALL, |cause| flash.programs[cause as usize], programs),
        "flash_bytes": programs * u64::from(page_bytes),
        "waf": (host.page_writes > 0).then(|| programs as f64 / host.page_writes as f64),
        "waf_bytes": in_bytes.total(),
        "waf_bytes_parts": in_bytes.parts(),
        "free_units": free_units,
        "erases": { "total": total, "max": max, "units": erases.len(), "width": width, "histogram": bars },
        "latency_us": latencies.map(|[reads, writes]| json!({ "read": quantiles_us(reads), "write": quantiles_us(writes) })),
    })
}
