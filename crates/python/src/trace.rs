//! Traces: describe them, convert them, return their columns.

use crate::batches::TraceBatches;
use crate::errors::{carry, guarded, raise};
use crate::experiment::stop;
use crate::json;
use floatgate_base::names::remedy;
use floatgate_base::{Error, Place, RequestBatch, Result};
use floatgate_trace::generate::twin::Content;
use floatgate_trace::{
    Amplification, ContentModel, Generator, InfoOptions, OpenOptions, Shuffle, Slice, Sliced, Source,
    WithContent, WriteFormat, WriteReport, open, shuffled,
};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

/// Batches between two progress reports.
const BATCHES_PER_CALL: u64 = 64;

pub type Options = BTreeMap<String, String>;

/// Opens a trace under its options: sliced, its writes shuffled, issued by several cursors, with content.
fn open_with(path: &str, options: &Options) -> Result<Box<dyn Source>> {
    const KEYS: [&str; 7] =
        ["format", "columns", "time_unit", "lba_unit", "action", "on_bad_line", "keep_writers"];
    let own = [&Slice::KEYS[..], &Shuffle::KEYS, &Amplification::KEYS, &ContentModel::KEYS];
    let mut keys = KEYS.iter().chain(own.into_iter().flatten());
    if let Some(key) = options.keys().find(|key| !keys.clone().any(|k| k == key)) {
        let known: Vec<&str> = keys.by_ref().copied().collect();
        let expected = remedy(key, &known, "");
        return Err(Error::input(Place::Setting(key.clone()), "this is not an option of a trace", expected));
    }
    let get = |key: &str| options.get(key).map(String::as_str);
    let slice = Slice::parse(get)?;
    let parsed = OpenOptions::parse(
        get("format"),
        get("time_unit"),
        get("lba_unit"),
        get("action"),
        get("on_bad_line"),
    )?;
    let parsed = parsed.keeping_writers(get("keep_writers").is_some());
    let parsed = match get("columns") {
        Some(description) => parsed.with_columns(description)?,
        None => parsed,
    };
    let source = open(path, &parsed)?;
    let source = if slice.is_all() { source } else { Box::new(Sliced::new(source, slice, path)?) };
    let source = shuffled(source, Shuffle::parse(get)?)?;
    let source = match Amplification::parse(get)? {
        None => source,
        Some(amplification) => amplification.of(source)?,
    };
    with_content(source, ContentModel::parse(get)?)
}

/// Attaches a content model to a source, if there is one.
fn with_content(source: Box<dyn Source>, model: Option<ContentModel>) -> Result<Box<dyn Source>> {
    match model {
        None => Ok(source),
        Some(model) => Ok(Box::new(WithContent::new(source, model)?)),
    }
}

/// A source that reports its progress to Python, which can interrupt it by Ctrl-C.
struct Watched<'a> {
    inner: Box<dyn Source>,
    progress: Option<&'a Py<PyAny>>,
    raised: &'a mut Option<PyErr>,
    batches: u64,
    requests: u64,
}

impl Source for Watched<'_> {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        let before = batch.len();
        self.inner.fill(batch, max)?;
        self.requests += (batch.len() - before) as u64;
        self.batches += 1;
        if self.batches.is_multiple_of(BATCHES_PER_CALL) {
            let called = Python::attach(|py| {
                py.check_signals()?;
                self.progress
                    .map_or(Ok(()), |call| call.call1(py, (self.requests, py.None(), "read")).map(|_| ()))
            });
            called.map_err(|e| stop(e, self.raised))?;
        }
        Ok(())
    }

    floatgate_trace::forward_to_inner!(
        rewind,
        format,
        devices,
        summary,
        place_of,
        has_times,
        assumed,
        columns,
        contexts,
        writers,
        writer_fields,
        slice_report
    );
}

/// Opens a trace and runs `work` on it, without the interpreter.
pub fn with_source<T: Send>(
    py: Python<'_>,
    path: &str,
    options: &Options,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn Source) -> Result<T> + Send,
) -> PyResult<T> {
    with_opened(py, || open_with(path, options), progress, work)
}

/// Opens a source and runs `work` on it, without the interpreter.
pub fn with_opened<T: Send>(
    py: Python<'_>,
    open: impl FnOnce() -> Result<Box<dyn Source>> + Send,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn Source) -> Result<T> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let done = py.detach(|| {
        guarded(|| {
            let inner = open()?;
            work(&mut Watched { inner, progress, raised: &mut raised, batches: 0, requests: 0 })
        })
    });
    match (done, raised) {
        (_, Some(exception)) => Err(exception),
        (done, None) => done.map_err(|e| raise(&e)),
    }
}

/// Computes statistics of a trace as JSON; `window_s` is the width of the windows of demand in seconds.
#[pyfunction]
#[pyo3(signature = (path, options, progress=None, *, counts_only=false, window_s=600.0))]
fn trace_info(
    py: Python<'_>,
    path: &str,
    options: Options,
    progress: Option<Py<PyAny>>,
    counts_only: bool,
    window_s: f64,
) -> PyResult<String> {
    let wanted = InfoOptions { counts_only, window_s };
    let info = with_source(py, path, &options, progress.as_ref(), |source| {
        let info = floatgate_trace::info_with(source, &wanted)?;
        must_have_requests(info.requests, path)?;
        Ok(info)
    })?;
    Ok(json::text(&info))
}

/// Writes a trace in another format to a new file, or to standard output without a path.
///
/// Returns as JSON what was written, what the format could not hold, and what a slice left out. Raises OSError if the
/// file cannot be written.
#[pyfunction]
#[pyo3(signature = (path, options, out_path, out_format, progress=None))]
fn trace_write(
    py: Python<'_>,
    path: &str,
    options: Options,
    out_path: Option<&str>,
    out_format: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let format = WriteFormat::parse(out_format).map_err(|e| raise(&e))?;
    let (report, slice) = with_source(py, path, &options, progress.as_ref(), |source| {
        let report = write_file(source, format, out_path)?;
        Ok((report, source.slice_report()))
    })?;
    let mut written = serde_json::to_value(report).expect("a report is JSON");
    if let Some(slice) = slice {
        written["slice"] = serde_json::to_value(slice).expect("a report is JSON");
    }
    Ok(written.to_string())
}

/// A file that keeps the error of a failed write.
struct Target {
    file: File,
    failed: Option<std::io::Error>,
}

impl Write for Target {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.file.write(text).inspect_err(|e| {
            if e.kind() != std::io::ErrorKind::Interrupted {
                self.failed = e.raw_os_error().map(std::io::Error::from_raw_os_error);
            }
        })
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Converts a system error to the matching OSError of Python.
fn os_error(error: &std::io::Error) -> PyErr {
    let text = error.to_string();
    let reason = text.split(" (os error").next().unwrap_or(&text).to_owned();
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, reason)),
        None => PyOSError::new_err(reason),
    }
}

/// Writes a source to a new file, or to standard output.
fn write_file(source: &mut dyn Source, format: WriteFormat, out_path: Option<&str>) -> Result<WriteReport> {
    let opened = match out_path {
        Some(path) => File::create(path),
        None => std::io::stdout().as_fd().try_clone_to_owned().map(File::from),
    };
    let mut out = Target { file: opened.map_err(|e| carry(os_error(&e)))?, failed: None };
    let written = floatgate_trace::write::write(source, format, &mut out);
    written.map_err(|e| out.failed.take().map_or(e, |failed| carry(os_error(&failed))))
}

/// Input of a generator: settings of `[workload]`, the address space, the seed, and options of a content model.
type Making = (Vec<(String, String)>, Option<String>, u64, Options);

/// Builds a generator. A twin without a content model uses that of its TOML if `content_of_twin` is set.
fn generator(making: &Making, content_of_twin: bool) -> Result<Box<dyn Source>> {
    let (overrides, space, seed, content) = making;
    let made = floatgate_config::generator(overrides, space.as_deref(), *seed)?;
    let plain = Content::default();
    let of_twin = made.config.twin.as_ref().map(|t| t.content).filter(|c| content_of_twin && *c != plain);
    let model = match ContentModel::parse(|key| content.get(key).map(String::as_str))? {
        Some(mut model) => {
            model.seed = if content.contains_key("content_seed") { model.seed } else { *seed };
            Some(model)
        }
        None => of_twin.map(|c| ContentModel {
            duplicate_share: c.duplicate_share,
            compressed_share: c.compressed_share,
            incompressible_share: c.incompressible_share,
            seed: *seed,
        }),
    };
    let source = shuffled(Box::new(Generator::new(made.config)?), made.shuffle)?;
    with_content(made.amplification.of(source)?, model)
}

/// Writes a generated trace to a new file; returns as JSON what was written and what the format could not hold.
#[pyfunction]
#[pyo3(signature = (making, out_path, out_format, progress=None))]
fn generate_write(
    py: Python<'_>,
    making: Making,
    out_path: &str,
    out_format: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let format = WriteFormat::parse(out_format).map_err(|e| raise(&e))?;
    let open = || generator(&making, false);
    let report =
        with_opened(py, open, progress.as_ref(), |source| write_file(source, format, Some(out_path)))?;
    Ok(serde_json::to_string(&report).expect("a report is JSON"))
}

/// Iterates over a generated trace's columns.
#[pyfunction]
fn generate_batches(making: Making) -> PyResult<TraceBatches> {
    let source = generator(&making, true).map_err(|e| raise(&e))?;
    Ok(TraceBatches::new(source))
}

/// Fits the twin of a trace: its TOML, its number of requests, and how many TRIMs were left out.
#[pyfunction]
#[pyo3(signature = (path, options, progress=None))]
fn twin_fit(
    py: Python<'_>,
    path: &str,
    options: Options,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, u64, u64)> {
    let fit = with_source(py, path, &options, progress.as_ref(), |source| {
        floatgate_trace::generate::twin::fit(source, "twin", path)
    })?;
    Ok((floatgate_config::twins::to_toml(&fit), fit.twin.requests, fit.trims_left_out))
}

/// Iterates over a trace's columns.
#[pyfunction]
fn trace_batches(path: &str, options: Options) -> PyResult<TraceBatches> {
    let source = open_with(path, &options).map_err(|e| raise(&e))?;
    Ok(TraceBatches::new(source))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TraceBatches>()?;
    module.add_function(wrap_pyfunction!(trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(trace_write, module)?)?;
    module.add_function(wrap_pyfunction!(generate_write, module)?)?;
    module.add_function(wrap_pyfunction!(generate_batches, module)?)?;
    module.add_function(wrap_pyfunction!(twin_fit, module)?)?;
    module.add_function(wrap_pyfunction!(trace_batches, module)?)
}

/// Refuses a trace without requests.
pub fn must_have_requests(requests: u64, path: &str) -> Result<()> {
    if requests > 0 {
        return Ok(());
    }
    let expected = "expected at least one read, write or TRIM";
    Err(Error::input(Place::Path(path.into()), "the trace holds no request", expected))
}
