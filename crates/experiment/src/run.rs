//! Reading an experiment and running it.

use crate::meter::{Meter, peak_rss_bytes};
use crate::result::{RunFigures, result};
use crate::snapshot;
use floatgate_base::{Error, Place, Result};
use floatgate_config::layers::Layers;
use floatgate_config::{Resolved, resolve};
use floatgate_flash::timed::Timeline;
use floatgate_sim::plan::Workload;
use floatgate_sim::{Mode, Phase, RequestSink, Simulation};
use floatgate_stats::Row;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Requests between two looks at the clock.
const STEP_REQUESTS: u64 = 1 << 16;
/// Time between two reports of progress.
const PROGRESS_PERIOD: Duration = Duration::from_millis(200);

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Requests, or pages while preconditioning.
    pub done: u64,
    /// Of how many, where that is known.
    pub total: Option<u64>,
    /// `scan`, `precondition`, `warm-up` or `run`.
    pub phase: &'static str,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Output {
    /// The content of result.json.
    pub result: Value,
    /// The experiment with every default written out.
    pub experiment_toml: String,
    /// Cumulative counts at the ends of the intervals.
    pub rows: Vec<Row>,
    /// Who was busy with what, where [`Options::timeline`] asked for it.
    pub timeline: Option<Timeline>,
    /// The command that the run was started with, if it was told.
    pub command: Option<String>,
}

/// Reads and checks an experiment: the text of a file (with its path), and overrides on top.
///
/// # Errors
/// Input errors with their place.
pub fn load(text: Option<&str>, path: &str, overrides: &[(String, String)]) -> Result<Resolved> {
    let mut layers = Layers::default();
    if let Some(text) = text {
        layers.add_file(text, path)?;
    }
    for (key, value) in overrides {
        layers.add_override(key, value)?;
    }
    let in_file = |key| matches!(layers.place(key), Place::Line { .. });
    let (trace, snapshot) = (in_file("workload.file"), in_file("ftl.snapshot"));
    let mut resolved = resolve(layers)?;
    if let (true, Workload::Trace { path: file, .. }) = (trace, &mut resolved.plan.workload) {
        anchor(file, path);
    }
    if let (true, Some(file)) = (snapshot, &mut resolved.plan.snapshot) {
        anchor(file, path);
    }
    Ok(resolved)
}

/// A trace or a snapshot that a file names is looked for beside that file.
fn anchor(path: &mut String, experiment_path: &str) {
    let folder = Path::new(experiment_path).parent();
    if let (Some(folder), true) = (folder, path != "-" && Path::new(&*path).is_relative()) {
        *path = folder.join(&*path).to_string_lossy().into_owned();
    }
}

pub(crate) fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |p| p.to_string_lossy().into_owned())
}

/// The resolved experiment as TOML; paths are made absolute, so that the text works from anywhere.
#[must_use]
pub fn experiment_toml(resolved: &Resolved) -> String {
    let mut experiment = resolved.experiment.clone();
    if let (Workload::Trace { path, .. }, Some(workload)) =
        (&resolved.plan.workload, &mut experiment.workload)
    {
        workload.file = Some(if path == "-" { path.clone() } else { absolute(path) });
    }
    if let (Some(path), Some(ftl)) = (&resolved.plan.snapshot, &mut experiment.ftl) {
        ftl.snapshot = Some(absolute(path));
    }
    toml::to_string(&experiment).expect("an experiment is TOML")
}

/// What a run is to do besides.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where to leave the drive at the end.
    pub save_drive: Option<PathBuf>,
    /// Timed: record who is busy with what, from and to so many nanoseconds since counting began, and at most so many
    /// spans.
    pub timeline: Option<(u64, u64, usize)>,
    /// Where to leave the run when `progress` stops it, to be resumed from; its folder is made where it is missing.
    pub snapshot: Option<PathBuf>,
    /// How often to write that file while the run goes on.
    pub snapshot_every: Option<Duration>,
    /// The command that the run was started with, for its report; kept in the snapshot.
    pub command: Option<String>,
    /// Told what went wrong where the run goes on all the same: a snapshot that cannot be written.
    pub warn: Option<fn(&str)>,
}

impl Options {
    fn warn(&self, text: &str) {
        if let Some(warn) = self.warn {
            warn(text);
        }
    }
}

/// Refuses the name of a file that could not be written in the end, before the work is done.
pub(crate) fn check_target(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refuse = |what| {
        let place = Place::Path(path.to_string_lossy().into_owned());
        Err(Error::input(place, what, "expected the name of a file in a folder that exists"))
    };
    match () {
        () if path.is_dir() => refuse("is a directory"),
        () if path.file_name().is_none() => refuse("is no name of a file"),
        () if !folder.is_dir() => refuse("its folder does not exist"),
        () => Ok(()),
    }
}

/// Runs an experiment. `progress` is called a few times a second and may stop the run with an error of its own.
///
/// # Errors
/// Input errors, run errors, and what `progress` returns.
pub fn run(resolved: Resolved, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Output> {
    run_with(resolved, &Options::default(), progress)
}

/// Runs an experiment with options.
///
/// # Errors
/// As [`run`], and files that cannot be written.
pub fn run_with(
    resolved: Resolved,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Output> {
    run_logged(resolved, options, None, progress)
}

/// As [`run_with`]; with `log`, every counted request is put on record there.
///
/// # Errors
/// As [`run_with`], what `log` returns, and an input error where the experiment has no times to log.
pub fn run_logged(
    resolved: Resolved,
    options: &Options,
    log: Option<Box<dyn RequestSink>>,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Output> {
    options.save_drive.as_deref().map_or(Ok(()), check_target)?;
    if options.timeline.is_some() && resolved.plan.mode == Mode::Functional {
        let what = "functional mode has no time of which to draw a part";
        return Err(Error::input(Place::Setting("--timeline".into()), what, "expected mode = \"timed\""));
    }
    check_snapshots(&resolved, options, log.is_some())?;
    let meter = Meter::start();
    let mut plan = resolved.plan.clone();
    plan.timeline = options.timeline;
    let mut simulation = Simulation::new(plan)?;
    if let Some(log) = log {
        simulation.log_requests(log)?;
    }
    let spent = Spent { wall_s: meter.wall_s(), cpu_s: meter.cpu_s(), counted_cpu_s: 0.0 };
    go_on(&resolved, simulation, spent, options, progress)
}

/// Time that earlier parts of a run took.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Spent {
    wall_s: f64,
    cpu_s: f64,
    counted_cpu_s: f64,
}

/// Runs to the end from wherever the simulation stands.
pub(crate) fn go_on(
    resolved: &Resolved,
    mut simulation: Simulation,
    spent: Spent,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Output> {
    let meter = Meter::start();
    let mut counted = None;
    let (mut reported, mut written) = (Duration::ZERO, Duration::ZERO);
    let mut failing = false;
    let so_far = |counted: &Option<Meter>| Spent {
        wall_s: spent.wall_s + meter.wall_s(),
        cpu_s: spent.cpu_s + meter.cpu_s(),
        counted_cpu_s: spent.counted_cpu_s + counted.as_ref().map_or(0.0, Meter::cpu_s),
    };
    loop {
        if simulation.phase() == Phase::Run && counted.is_none() {
            counted = Some(Meter::start());
        }
        let phase = simulation.step(STEP_REQUESTS)?;
        if phase == Phase::Done {
            break;
        }
        if meter.every(PROGRESS_PERIOD, &mut reported) {
            let (done, total) = simulation.progress();
            if let Err(stop) = progress(Progress { done, total, phase: phase_name(phase) }) {
                if options.snapshot.is_some() && cannot_resume(resolved, simulation.is_logged()).is_none() {
                    // Why the run was stopped counts for more than that it cannot be kept.
                    if let Err(e) = snapshot::write(resolved, &simulation, so_far(&counted), options) {
                        options.warn(&format!("the interrupted run could not be kept: {e}"));
                    }
                }
                return Err(stop);
            }
        }
        if let Some(period) = options.snapshot_every
            && meter.every(period, &mut written)
        {
            match snapshot::write(resolved, &simulation, so_far(&counted), options) {
                Ok(()) => failing = false,
                // A full disk may have room again later. It is told once, not each time.
                Err(e) => {
                    if !std::mem::replace(&mut failing, true) {
                        options.warn(&format!("a snapshot could not be written, the run goes on: {e}"));
                    }
                }
            }
            // What writing takes does not count: the run must get on between two snapshots.
            written = meter.wall();
        }
    }
    if let Some(path) = &options.save_drive {
        simulation.save_drive(path)?;
    }
    let spent = so_far(&counted);
    let outcome = simulation.finish();
    let figures = RunFigures {
        wall_s: spent.wall_s,
        cpu_s: spent.cpu_s,
        counted_cpu_s: spent.counted_cpu_s,
        peak_rss_bytes: peak_rss_bytes(),
    };
    Ok(Output {
        result: result(resolved, &outcome, &figures),
        experiment_toml: experiment_toml(resolved),
        rows: outcome.series.rows().to_vec(),
        timeline: outcome.timeline,
        command: options.command.clone(),
    })
}

/// Why a run cannot be taken up again, if it cannot.
fn cannot_resume(resolved: &Resolved, logged: bool) -> Option<&'static str> {
    let pipe = matches!(&resolved.plan.workload, Workload::Trace { path, .. } if !Path::new(path).is_file());
    match () {
        () if resolved.plan.shadow => Some("the shadow model has no place in snapshots"),
        () if logged => Some("a log of requests cannot be taken up again"),
        () if pipe => Some("a trace from a pipe cannot be read again"),
        () => None,
    }
}

/// Refuses snapshots that could not be used.
pub(crate) fn check_snapshots(resolved: &Resolved, options: &Options, logged: bool) -> Result<()> {
    let refuse =
        |what: String, expected| Err(Error::input(Place::Setting("--snapshot-every".into()), what, expected));
    match (options.snapshot_every, &options.snapshot, cannot_resume(resolved, logged)) {
        (None, ..) | (Some(_), Some(_), None) => Ok(()),
        (Some(_), None, _) => refuse("there is no place for snapshots".into(), "expected --out DIR"),
        (Some(_), _, Some(why)) => refuse(why.into(), "expected a run without it"),
    }
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Scan => "scan",
        Phase::Precondition => "precondition",
        Phase::WarmUp => "warm-up",
        Phase::Run | Phase::Done => "run",
    }
}
