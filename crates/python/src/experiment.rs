//! Experiments: check, run, catalogue, schema.

use crate::errors;
use crate::request_log::PythonLog;
use floatgate_base::{Error, Place};
use floatgate_capture::Format;
use floatgate_experiment::{
    Cause, CauseInfo, LifetimeOptions, Mode, Options, Output, PinWindow, Progress, RequestSink, Span,
    Waveform, load, resume as resume_run, run_logged,
};
use floatgate_stats::metrics::Document;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::time::Duration;

/// Default timeline of a timed run: the first 20 ms, and no more spans than a chart can show.
const DEFAULT_TIMELINE: (u64, u64, usize) = (0, 20_000_000, 20_000);

type Overrides = Vec<(String, String)>;

/// Checks an experiment and returns it with every default written out, as TOML.
#[pyfunction]
fn check(toml: Option<&str>, path: &str, overrides: Overrides) -> PyResult<String> {
    let resolved = errors::guarded(|| load(toml, path, &overrides)).map_err(|e| errors::raise(&e))?;
    Ok(floatgate_experiment::experiment_toml(&resolved))
}

/// Checks a forecast and returns it as TOML; settings of timed mode stay, for its close-up.
#[pyfunction]
fn check_forecast(toml: Option<&str>, path: &str, overrides: Overrides) -> PyResult<String> {
    errors::guarded(|| floatgate_experiment::forecast_toml(toml, path, &overrides))
        .map_err(|e| errors::raise(&e))
}

/// Returns the `config_hash` of a run of the experiment; None where the experiment reads files.
#[pyfunction]
fn config_hash(toml: Option<&str>, path: &str, overrides: Overrides) -> PyResult<Option<String>> {
    let resolved = errors::guarded(|| load(toml, path, &overrides)).map_err(|e| errors::raise(&e))?;
    Ok(floatgate_experiment::config_hash(&resolved))
}

/// Returns the cycles that blocks of the experiment's drive endure, for each rest between erases in hours.
#[pyfunction]
fn endurance(toml: Option<&str>, path: &str, overrides: Overrides, idle_h: Vec<f64>) -> PyResult<Vec<f64>> {
    let resolved = errors::guarded(|| load(toml, path, &overrides)).map_err(|e| errors::raise(&e))?;
    let endurance = resolved.plan.drive.endurance;
    Ok(idle_h.into_iter().map(|hours| endurance.cycles(Some(hours * 3600.0))).collect())
}

/// Simulates the life of each variant of an experiment; returns an object of schema `floatgate.lifetime/1` each.
///
/// `options`: `detail`, two times in seconds between which all lives are recorded second by second; or `details`, a
/// pair or None per variant. `modelled_shares`: the share of the drive as sold that each variant models.
#[pyfunction]
#[pyo3(signature = (toml, path, variants, options=None, progress=None))]
fn lifetime<'py>(
    py: Python<'py>,
    toml: Option<&str>,
    path: &str,
    variants: Vec<Overrides>,
    options: Option<&Bound<'py, PyDict>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let option = |key| -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = options.map(|options| options.get_item(key)).transpose()?.flatten();
        Ok(value.filter(|value| !value.is_none()))
    };
    let details_s = match (option("details")?, option("detail")?) {
        (Some(details), _) => details.extract()?,
        (None, Some(detail)) => vec![Some(detail.extract()?); variants.len()],
        (None, None) => vec![],
    };
    let intervals = option("intervals")?.map_or(Ok(true), |value| value.extract())?;
    let latencies = option("latencies")?.map_or(Ok(true), |value| value.extract())?;
    let modelled_shares = option("modelled_shares")?.map_or(Ok(vec![]), |value| value.extract())?;
    let options = LifetimeOptions { details_s, intervals, latencies, modelled_shares };
    let mut raised = None;
    let forecasts = py.detach(|| {
        errors::guarded(|| {
            floatgate_experiment::lifetime(toml, path, &variants, &options, &mut |at| {
                call(progress.as_ref(), at).map_err(|e| stop(e, &mut raised))
            })
        })
    });
    match (forecasts, raised) {
        (_, Some(exception)) => Err(exception),
        (Ok(forecasts), None) => {
            let loads = py.import("json")?.getattr("loads")?;
            forecasts.iter().map(|object| loads.call1((object.to_string(),))).collect()
        }
        (Err(e), None) => Err(errors::raise(&e)),
    }
}

/// Reads the workload of a forecast once; returns the bytes that the host writes in a pass, and its seconds.
#[pyfunction]
#[pyo3(signature = (toml, path, overrides, progress=None))]
fn write_rate(
    py: Python<'_>,
    toml: Option<&str>,
    path: &str,
    overrides: Overrides,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, f64)> {
    let mut raised = None;
    let rate = py.detach(|| {
        errors::guarded(|| {
            floatgate_experiment::write_rate(toml, path, &overrides, &mut |at| {
                call(progress.as_ref(), at).map_err(|e| stop(e, &mut raised))
            })
        })
    });
    match (rate, raised) {
        (_, Some(exception)) => Err(exception),
        (Ok(rate), None) => Ok((rate.write_bytes, rate.period_ns as f64 / 1e9)),
        (Err(e), None) => Err(errors::raise(&e)),
    }
}

/// A finished run.
#[pyclass(frozen, module = "floatgate._core")]
pub struct RunOutput(Output);

impl RunOutput {
    /// Wraps an output of the core.
    pub fn of(output: Output) -> Self {
        Self(output)
    }
}

#[pymethods]
impl RunOutput {
    /// The content of result.json.
    #[getter]
    fn result_json(&self) -> String {
        serde_json::to_string_pretty(&self.0.result).expect("a result is JSON")
    }

    /// The resolved experiment.
    #[getter]
    fn experiment_toml(&self) -> &str {
        &self.0.experiment_toml
    }

    /// The command that started the run, if known.
    #[getter]
    fn command(&self) -> Option<&str> {
        self.0.command.as_deref()
    }

    /// Cumulative counts at the ends of intervals: column name to little-endian 8-byte values.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = &self.0.rows;
        let columns = PyDict::new(py);
        let whole = |name: &str, value: &dyn Fn(&floatgate_experiment::Row) -> u64| {
            let bytes: Vec<u8> = rows.iter().flat_map(|row| value(row).to_le_bytes()).collect();
            columns.set_item(name, PyBytes::new(py, &bytes))
        };
        whole("requests", &|row| row.requests)?;
        whole("page_writes", &|row| row.page_writes)?;
        whole("page_reads", &|row| row.page_reads)?;
        for cause in Cause::ALL {
            whole(&format!("programs_{}", cause.name()), &|row| row.programs[cause as usize])?;
        }
        for cause in Cause::ERASING {
            whole(&format!("erases_{}", cause.name()), &|row| row.erases[cause as usize])?;
        }
        whole("free_blocks", &|row| row.free_units)?;
        let real = |name: &str, value: &dyn Fn(&floatgate_experiment::Row) -> f64| {
            let bytes: Vec<u8> = rows.iter().flat_map(|row| value(row).to_le_bytes()).collect();
            columns.set_item(name, PyBytes::new(py, &bytes))
        };
        real("time_s", &|row| row.time_ns as f64 / 1e9)?;
        if !self.0.result["throttle"].is_null() {
            real("held_back_s", &|row| row.held_back_ns as f64 / 1e9)?;
        }
        if self.0.result["mode"] == "timed" {
            for (i, kind) in ["read", "write"].into_iter().enumerate() {
                whole(&format!("{kind}s_done"), &|row| row.done[i])?;
                real(&format!("{kind}_latency_sum_us"), &|row| row.latency_ns[i] as f64 / 1e3)?;
                real(&format!("{kind}_latency_max_us"), &|row| row.longest_ns[i] as f64 / 1e3)?;
            }
        }
        Ok(columns)
    }

    /// Recorded activity of dies and channels, if any: name to little-endian values of each span.
    #[getter]
    fn timeline<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(timeline) = &self.0.timeline else { return Ok(None) };
        let columns = PyDict::new(py);
        let bytes = |name: &str, of: &dyn Fn(&Span, &mut Vec<u8>)| {
            let mut column = Vec::new();
            timeline.spans.iter().for_each(|span| of(span, &mut column));
            columns.set_item(name, PyBytes::new(py, &column))
        };
        bytes("resource", &|span, out| out.push(span.resource))?;
        bytes("index", &|span, out| out.extend(span.index.to_le_bytes()))?;
        bytes("kind", &|span, out| out.push(span.kind))?;
        bytes("cause", &|span, out| out.push(span.cause))?;
        bytes("job", &|span, out| out.push(span.job as u8))?;
        bytes("request", &|span, out| out.extend(span.request.to_le_bytes()))?;
        bytes("from_ns", &|span, out| out.extend(span.from_ns.to_le_bytes()))?;
        bytes("to_ns", &|span, out| out.extend(span.to_ns.to_le_bytes()))?;
        Ok(Some(columns))
    }

    /// The interval that `timeline` covers, nanoseconds since the first counted request.
    #[getter]
    fn timeline_ns(&self) -> Option<(u64, u64)> {
        self.0.timeline.as_ref().map(|timeline| (timeline.from_ns, timeline.recorded_to_ns()))
    }

    /// Type of each column of `series`.
    #[getter]
    fn series_types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let types = PyDict::new(py);
        for name in self.series(py)?.keys() {
            let text = name.extract::<String>()?;
            let real = text.ends_with("_s") || text.ends_with("_us");
            types.set_item(name, if real { "f8" } else { "i8" })?;
        }
        Ok(types)
    }
}

/// Builds the options of a run: where and how often to save it, and the command that started it.
fn options(
    save_drive: Option<PathBuf>,
    snapshot: Option<PathBuf>,
    snapshot_every: Option<f64>,
    command: Option<String>,
) -> Result<Options, Box<Error>> {
    let seconds = |s: f64| {
        let period = Duration::try_from_secs_f64(s).ok().filter(|period| !period.is_zero());
        period.ok_or_else(|| {
            let place = Place::Setting("--snapshot-every".into());
            Error::input(
                place,
                format!("{s} is not an interval between snapshots"),
                "expected seconds, more than 0",
            )
        })
    };
    let snapshot_every = snapshot_every.map(seconds).transpose()?;
    Ok(Options { save_drive, snapshot, snapshot_every, command, warn: Some(warn), ..Options::default() })
}

/// Warns through `floatgate.base.errors.warn` about a problem during a run.
fn warn(text: &str) {
    call_with("floatgate.base.errors", "warn", text);
}

/// Announces the next step of a run through `floatgate.base.progress.tell`.
fn tell(text: &str) {
    call_with("floatgate.base.progress", "tell", text);
}

fn call_with(module: &str, function: &str, text: &str) {
    Python::attach(|py| {
        let called = py.import(module).and_then(|module| module.call_method1(function, (text,)));
        if let Err(e) = called {
            // A filter may turn warnings into exceptions; the run continues.
            e.write_unraisable(py, None);
        }
    });
}

/// Runs `work` without the interpreter's lock, and passes its progress on.
fn detached(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(Progress) -> Result<(), Box<Error>>) -> Result<Output, Box<Error>> + Send,
) -> PyResult<RunOutput> {
    let mut raised = None;
    let output = py
        .detach(|| errors::guarded(|| work(&mut |at| call(progress, at).map_err(|e| stop(e, &mut raised)))));
    match (output, raised) {
        (_, Some(exception)) => Err(exception),
        (Ok(output), None) => Ok(RunOutput(output)),
        (Err(e), None) => Err(errors::raise(&e)),
    }
}

/// Path, whether as rows, die (None for all), nanoseconds from and until.
type WaveformArguments = (PathBuf, bool, Option<u32>, u64, u64);

fn as_waveform((path, rows, die, from_ns, until_ns): WaveformArguments) -> Waveform {
    let format = if rows { Format::Csv } else { Format::Vcd };
    Waveform { path, format, window: PinWindow { die, from_ns, until_ns } }
}

/// Runs an experiment.
#[pyfunction]
#[pyo3(signature = (toml, path, overrides, *, shadow=false, save_drive=None, timeline=None, request_log=None, waveform=None,
                    snapshot=None, snapshot_every=None, command=None, telling=false, alone=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of the Python function")]
fn run(
    py: Python<'_>,
    toml: Option<&str>,
    path: &str,
    overrides: Overrides,
    shadow: bool,
    save_drive: Option<PathBuf>,
    timeline: Option<(u64, u64, usize)>,
    request_log: Option<Py<PyAny>>,
    waveform: Option<WaveformArguments>,
    snapshot: Option<PathBuf>,
    snapshot_every: Option<f64>,
    command: Option<String>,
    telling: bool,
    alone: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunOutput> {
    let mut resolved = errors::guarded(|| load(toml, path, &overrides)).map_err(|e| errors::raise(&e))?;
    resolved.plan.shadow = shadow;
    let timed = resolved.plan.mode != Mode::Functional;
    let options = Options {
        timeline: timeline.or(timed.then_some(DEFAULT_TIMELINE)),
        tell: telling.then_some(tell),
        alone,
        waveform: waveform.map(as_waveform),
        ..options(save_drive, snapshot, snapshot_every, command).map_err(|e| errors::raise(&e))?
    };
    let log = request_log.map(|log| Box::new(PythonLog(log)) as Box<dyn RequestSink>);
    detached(py, progress.as_ref(), |report| run_logged(resolved, &options, log, report))
}

/// Continues an interrupted run; a new interruption saves it to the same file.
#[pyfunction]
#[pyo3(signature = (path, *, snapshot_every=None, progress=None))]
fn resume(
    py: Python<'_>,
    path: &str,
    snapshot_every: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunOutput> {
    let options = options(None, Some(path.into()), snapshot_every, None).map_err(|e| errors::raise(&e))?;
    detached(py, progress.as_ref(), |report| resume_run(path, &options, report))
}

/// Reports progress to Python, which may raise (Ctrl-C included).
fn call(progress: Option<&Py<PyAny>>, at: Progress) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        progress.map_or(Ok(()), |callback| callback.call1(py, (at.done, at.total, at.phase)).map(|_| ()))
    })
}

/// Stores the exception and returns an error that stops the core.
pub fn stop(exception: PyErr, raised: &mut Option<PyErr>) -> Box<Error> {
    *raised = Some(exception);
    Error::run("stopped from outside", "")
}

/// Returns policies, formats, drives, twins and micro-benchmarks as JSON: the named sections, or all.
#[pyfunction]
#[pyo3(signature = (sections=None))]
#[allow(clippy::needless_pass_by_value)]
fn catalogue(sections: Option<Vec<String>>) -> String {
    floatgate_config::catalogue::catalogue(sections.as_deref()).to_string()
}

/// A row of the table of causes: name, label, class, whether it erases, place, colour, pattern.
type CauseRow = (&'static str, &'static str, &'static str, bool, u8, &'static str, &'static str);

/// Returns the table of causes in the order of their numbers.
#[pyfunction]
fn causes() -> Vec<CauseRow> {
    let row = |cause: &Cause| {
        let CauseInfo { cause: _, name, label, class, erases, place, color, pattern } = *cause.info();
        (name, label, class.name(), erases, place, color, pattern)
    };
    Cause::ALL.iter().map(row).collect()
}

/// Returns the metrics that tables, charts and comparisons show by default, as JSON.
#[pyfunction]
fn metrics() -> String {
    floatgate_stats::metrics::to_json().to_string()
}

/// Returns the tables of a result, or of a forecast, with their declared metrics, as JSON.
#[pyfunction]
#[pyo3(signature = (of_forecast = false))]
fn metric_groups(of_forecast: bool) -> String {
    let document = if of_forecast { Document::Forecast } else { Document::Result };
    floatgate_stats::metrics::groups_json(document).to_string()
}

/// Returns the JSON schema of the experiment file.
#[pyfunction]
fn schema() -> String {
    serde_json::to_string_pretty(&floatgate_config::schema::schema()).expect("a schema is JSON")
}

/// Returns the JSON schema of `result.json`.
#[pyfunction]
fn result_schema() -> String {
    let schema = floatgate_stats::metrics::schema(Document::Result, floatgate_experiment::result::SCHEMA);
    serde_json::to_string_pretty(&schema).expect("a schema is JSON")
}

/// Returns the JSON schema of `lifetime.json`.
#[pyfunction]
fn forecast_schema() -> String {
    let schema = floatgate_stats::metrics::schema(Document::Forecast, floatgate_experiment::FORECAST_SCHEMA);
    serde_json::to_string_pretty(&schema).expect("a schema is JSON")
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RunOutput>()?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(check_forecast, module)?)?;
    module.add_function(wrap_pyfunction!(config_hash, module)?)?;
    module.add_function(wrap_pyfunction!(endurance, module)?)?;
    module.add_function(wrap_pyfunction!(lifetime, module)?)?;
    module.add_function(wrap_pyfunction!(write_rate, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(resume, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(causes, module)?)?;
    module.add_function(wrap_pyfunction!(result_schema, module)?)?;
    module.add_function(wrap_pyfunction!(forecast_schema, module)?)?;
    module.add_function(wrap_pyfunction!(metrics, module)?)?;
    module.add_function(wrap_pyfunction!(metric_groups, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)
}
