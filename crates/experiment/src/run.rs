//! Runs an experiment.

use crate::load::experiment_toml;
use crate::meter::{Meter, peak_rss_bytes};
use crate::options::{Options, Progress, cannot_resume, check_snapshots, check_target};
use crate::precondition::announcement;
use crate::result::{RunFigures, result};
use crate::snapshot::{self, Interrupted, Spent};
use crate::waveform::Pins;
use floatgate_base::{Error, Place, Result};
use floatgate_config::Resolved;
use floatgate_flash::timed::Timeline;
use floatgate_sim::{Mode, Phase, RequestSink, Simulation, Workload};
use floatgate_stats::Row;
use serde_json::Value;
use std::time::Duration;

/// Requests between two checks of the clock.
const STEP_REQUESTS: u64 = 1 << 16;
/// Time between two reports of progress.
const PROGRESS_PERIOD: Duration = Duration::from_millis(200);

/// A finished run.
#[derive(Clone, Debug)]
pub struct Output {
    /// The content of result.json.
    pub result: Value,
    /// The experiment with every default written out.
    pub experiment_toml: String,
    /// Cumulative counts at the ends of the intervals.
    pub rows: Vec<Row>,
    /// Activity of dies and channels, if [`Options::timeline`] is set.
    pub timeline: Option<Timeline>,
    /// The command that started the run, if known.
    pub command: Option<String>,
}

/// Runs an experiment. `progress` is called a few times per second and may stop the run with its own error.
///
/// # Errors
/// Input errors, run errors, and the errors of `progress`.
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

/// Runs an experiment with options; with `log`, every counted request is logged there.
///
/// # Errors
/// As [`run_with`], errors of `log`, and an input error if the experiment has no times to log.
pub fn run_logged(
    resolved: Resolved,
    options: &Options,
    log: Option<Box<dyn RequestSink>>,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Output> {
    options.save_drive.as_deref().map_or(Ok(()), check_target)?;
    if options.timeline.is_some() && resolved.plan.mode == Mode::Functional {
        let what = "functional mode models no time; there is no timeline to draw";
        return Err(Error::input(Place::Setting("--timeline".into()), what, "expected mode = \"timed\""));
    }
    options.waveform.as_ref().map_or(Ok(()), |waveform| check_target(&waveform.path))?;
    check_snapshots(&resolved, options, log.is_some() || options.waveform.is_some())?;
    let meter = Meter::start();
    let mut plan = resolved.plan.clone();
    plan.timeline = options.timeline;
    if let Workload::Trace { options: of_trace, .. } = &mut plan.workload.source {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        *of_trace = of_trace.decompressing_ahead(options.alone && cores > 1);
    }
    let mut simulation = Simulation::new(plan)?;
    if let Some(log) = log {
        simulation.log_requests(log)?;
    }
    let mut finished = None;
    if let Some(waveform) = &options.waveform {
        let window = waveform.window;
        let (pins, rest) = Pins::new(&resolved.plan, waveform.clone())?;
        simulation.listen(Box::new(pins), window)?;
        finished = Some(rest);
    }
    let spent = Spent { wall_s: meter.wall_s(), cpu_s: meter.cpu_s(), counted_cpu_s: 0.0 };
    let mut output = go_on(&resolved, simulation, spent, options, progress)?;
    if let Some(finished) = finished {
        output.result["waveform"] = finished.table(&resolved.plan);
    }
    Ok(output)
}

/// Resumes an interrupted run to the end. `options.snapshot` is the file of the run if it is stopped again; the other
/// options are in the file.
///
/// # Errors
/// A damaged file, a file without an interrupted run, a changed trace, and as [`run`].
pub fn resume(
    path: &str,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Output> {
    let Interrupted { resolved, simulation, spent, options } = snapshot::open(path, options)?;
    go_on(&resolved, simulation, spent, &options, progress)
}

/// Cost of a run so far, and the time of its last report.
struct Going<'a> {
    resolved: &'a Resolved,
    options: &'a Options,
    meter: Meter,
    /// Measures from the beginning of counting in this part of the run.
    counted: Option<Meter>,
    /// Cost of earlier parts.
    before: Spent,
    reported: Duration,
    written: Duration,
    /// Whether the last snapshot could not be written.
    failing: bool,
}

impl Going<'_> {
    fn spent(&self) -> Spent {
        Spent {
            wall_s: self.before.wall_s + self.meter.wall_s(),
            cpu_s: self.before.cpu_s + self.meter.cpu_s(),
            counted_cpu_s: self.before.counted_cpu_s + self.counted.as_ref().map_or(0.0, Meter::cpu_s),
        }
    }

    /// Reports progress a few times per second; saves the run if it is stopped.
    fn report(
        &mut self,
        simulation: &Simulation,
        progress: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<()> {
        if !self.meter.every(PROGRESS_PERIOD, &mut self.reported) {
            return Ok(());
        }
        let (done, total) = simulation.progress();
        let outcome = progress(Progress { done, total, phase: phase_name(simulation.phase()) });
        let resumable = cannot_resume(self.resolved, simulation.is_recorded()).is_none();
        if outcome.is_err() && self.options.snapshot.is_some() && resumable {
            // The reason for the stop takes precedence over a failure to save the run.
            if let Err(e) = snapshot::write(self.resolved, simulation, self.spent(), self.options) {
                self.options.warn(&format!("the interrupted run could not be saved: {e}"));
            }
        }
        outcome
    }

    /// Saves the run at the required interval.
    fn keep(&mut self, simulation: &Simulation) {
        let Some(period) = self.options.snapshot_every else { return };
        if !self.meter.every(period, &mut self.written) {
            return;
        }
        match snapshot::write(self.resolved, simulation, self.spent(), self.options) {
            Ok(()) => self.failing = false,
            // A full disk may have room again later. The warning is given once.
            Err(e) => {
                if !std::mem::replace(&mut self.failing, true) {
                    self.options.warn(&format!("a snapshot could not be written, the run goes on: {e}"));
                }
            }
        }
        // Time spent writing is excluded: the run must progress between two snapshots.
        self.written = self.meter.wall();
    }
}

/// Completes the run from any state of the simulation.
fn go_on(
    resolved: &Resolved,
    mut simulation: Simulation,
    before: Spent,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Output> {
    let mut going = Going {
        resolved,
        options,
        meter: Meter::start(),
        counted: None,
        before,
        reported: Duration::ZERO,
        written: Duration::ZERO,
        failing: false,
    };
    let mut announced = false;
    loop {
        if simulation.phase() == Phase::Precondition && !std::mem::replace(&mut announced, true) {
            let text = simulation.wear_in().and_then(|wear_in| announcement(&resolved.plan, wear_in));
            text.iter().for_each(|text| options.tell.iter().for_each(|tell| tell(text)));
        }
        if simulation.phase() == Phase::Run && going.counted.is_none() {
            going.counted = Some(Meter::start());
        }
        if simulation.step(STEP_REQUESTS)? == Phase::Done {
            break;
        }
        going.report(&simulation, progress)?;
        going.keep(&simulation);
    }
    if let Some(path) = &options.save_drive {
        simulation.save_drive(path)?;
    }
    let Spent { wall_s, cpu_s, counted_cpu_s } = going.spent();
    let outcome = simulation.finish();
    let figures = RunFigures { wall_s, cpu_s, counted_cpu_s, peak_rss_bytes: peak_rss_bytes() };
    Ok(Output {
        result: result(resolved, &outcome, &figures),
        experiment_toml: experiment_toml(resolved),
        rows: outcome.series.rows().to_vec(),
        timeline: outcome.timeline,
        command: options.command.clone(),
    })
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Scan => "scan",
        Phase::Precondition => "precondition",
        Phase::WearIn => "wear-in",
        Phase::WarmUp => "warm-up",
        Phase::Run | Phase::Done => "run",
    }
}
