//! A live drive from its experiment: what it can be, what it shows while it runs, and its result at the end.

mod checks;
mod shown;

use crate::load::{absolute, experiment_toml, load};
use crate::meter::{Meter, peak_rss_bytes, since_1970_ns};
use crate::result::{RunFigures, result};
use crate::run::Output;
use crate::waveform::{self, Waveform};
use floatgate_base::{Error, Place, Result};
use floatgate_capture::Format;
use floatgate_config::layers::Layers;
use floatgate_config::{Resolved, policy_sets};
use floatgate_live::drive::Files;
use floatgate_live::journal::Limits;
use floatgate_live::nbd::{PowerCut, Settings};
use floatgate_live::{Completions, Drive, Onlookers, Pins, Places, Served, Server, Store};
use floatgate_sim::plan::Mode;
use floatgate_sim::{Outcome, PinCounts, PinSink, PinWindow};
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
    /// TCP address to listen on, if any.
    pub listen: Option<String>,
    /// Whether other machines may connect to it.
    pub insecure: bool,
    /// Whether replies leave when the simulated drive is done.
    pub delay: bool,
    /// Whether the Ready/Busy pins are kept for onlookers.
    pub pins: bool,
}

/// A drive that is served.
pub struct Live {
    resolved: Resolved,
    server: Arc<Server>,
    threads: Vec<JoinHandle<()>>,
    pins: Option<Pins>,
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
        checks::check(&resolved.plan)?;
        let is_timed = matches!(resolved.plan.mode, Mode::Timed(_));
        if options.delay && !is_timed {
            let what = "functional mode models no time by which replies could be held back";
            return Err(Error::input(
                Place::Setting("--delay".into()),
                what,
                "expected --mode timed beside it",
            ));
        }
        let meter = Meter::start();
        let bytes = u64::from(resolved.plan.ftl.setup.logical_pages)
            * u64::from(resolved.plan.drive.geometry.page_bytes);
        let exports = checks::exports(&options.exports, bytes)?;
        let limits = Limits { bytes_max: options.journal_bytes_max, ..Limits::default() };
        let completions = options.delay.then(Completions::default);
        let pins = (options.pins && is_timed).then(|| Pins::new(resolved.plan.drive.geometry.dies()));
        let onlookers = Onlookers {
            log: completions.clone().map(|log| Box::new(log) as _),
            pins: pins.clone().map(|pins| Box::new(pins) as _),
        };
        let drive = open(&resolved, &options.folder, limits, onlookers)?;
        let data = options.folder.join("data.img");
        let store = Store::open(&data, bytes, options.volatile).map_err(|e| {
            let place = Place::Path(data.to_string_lossy().into_owned());
            Error::input(
                place,
                format!("the data cannot be opened: {e}"),
                "expected the folder of this drive",
            )
        })?;
        let listen = options.listen.clone().map(|address| (address, options.insecure));
        let places = Places { socket: options.socket.clone(), listen };
        let served = Served { drive, store, exports, completions };
        let (server, threads) = Server::listen(served, &places, Settings::default())?;
        Ok(Self { resolved, server, threads, pins, meter })
    }

    /// Returns what the drive shows now, as JSON; none once it has stopped.
    #[must_use]
    pub fn look(&self) -> Option<Value> {
        let uptime_s = self.server.uptime().as_secs_f64();
        let mut shown = self.server.look(|drive| {
            let mut shown = shown::figures(&drive.glance(), &self.resolved.plan);
            shown["ended"] = json!(drive.ended());
            shown
        })?;
        shown["uptime_s"] = json!(uptime_s);
        shown["late_us"] = json!(self.server.late().map(|late| shown::latency(&late)));
        shown["exports"] = self.server.exports().iter().map(shown::export).collect();
        Some(shown)
    }

    /// Returns the low phases of a die's Ready/Busy pin that end after `from_ns` of the drive's time, as JSON, and whether
    /// none of them is missing; none without pins.
    #[must_use]
    pub fn pin(&self, die: u32, from_ns: u64) -> Option<Value> {
        let (phases, whole) = self.pins.as_ref()?.phases(die, from_ns);
        let rows = phases.iter().map(|phase| json!([phase.from_ns, phase.to_ns, phase.work as u8]));
        Some(json!({ "phases": rows.collect::<Vec<_>>(), "whole": whole }))
    }

    /// Writes the low phases of a die's pin in a window of the drive's time as a capture (VCD). Returns the shape of the
    /// drive as `rb measure` takes it; none without pins, or if some of the phases are no longer kept.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn capture(&self, die: u32, (from_ns, until_ns): (u64, u64), path: PathBuf) -> Result<Option<Value>> {
        let Some(pins) = &self.pins else { return Ok(None) };
        let (phases, whole) = pins.phases(die, from_ns);
        if !whole {
            return Ok(None);
        }
        let plan = &self.resolved.plan;
        let window = PinWindow { die: Some(die), from_ns, until_ns };
        let (mut to, _) = waveform::Pins::new(plan, Waveform { path, format: Format::Vcd, window })?;
        to.take(&phases, until_ns)?;
        to.end(until_ns, &PinCounts::default())?;
        let mut shape = waveform::shape(plan);
        shape["blocks_per_plane"] = json!(plan.drive.geometry.blocks_per_plane);
        Ok(Some(shape))
    }

    /// Returns the experiment with all settings, over the journal.
    #[must_use]
    pub fn experiment_toml(&self) -> String {
        experiment_toml(&self.resolved)
    }

    /// Cuts the power of the drive; it then serves again.
    #[must_use]
    pub fn cut_power(&self) -> Value {
        let PowerCut { connections, lost_blocks } = self.server.cut_power();
        json!({ "connections": connections, "lost_blocks": lost_blocks })
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
        let Self { resolved, server, threads, meter, .. } = self;
        let drive = server.stop().map_err(|e| Error::run(format!("the data cannot be written: {e}"), ""))?;
        threads.into_iter().for_each(|thread| drop(thread.join()));
        let Some(drive) = drive else { return Ok(None) };
        let outcome = drive.stop()?;
        Ok(outcome.map(|outcome| output(&resolved, &outcome, &meter)))
    }
}

/// Opens the drive of a folder without serving it.
///
/// # Errors
/// As [`Live::start`].
pub fn open(resolved: &Resolved, folder: &Path, limits: Limits, onlookers: Onlookers) -> Result<Drive> {
    let began = (since_1970_ns(), limits);
    Drive::open(resolved.plan.clone(), &experiment_toml(resolved), Files::of(folder), began, onlookers)
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
