//! Traces: describe, convert, hand out as columns.

use crate::errors::{guarded, raise};
use crate::experiment::stop;
use floatgate_base::{Error, Op, Place, RequestBatch, Result};
use floatgate_trace::{Generator, OpenOptions, Source, Summary, WriteFormat, WriteReport, open};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;

/// Requests in one batch of columns handed to Python.
const COLUMNS_LEN: usize = 1 << 18;
/// Batches between two calls of the progress callback.
const BATCHES_PER_CALL: u64 = 64;

type Options = BTreeMap<String, String>;

fn open_with(path: &str, options: &Options) -> Result<Box<dyn Source>> {
    const KEYS: [&str; 5] = ["format", "time_unit", "lba_unit", "action", "on_bad_line"];
    if let Some(key) = options.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let expected = format!("expected one of {}", KEYS.map(|k| format!("'{k}'")).join(", "));
        return Err(Error::input(Place::Setting(key.clone()), "this is no option of a trace", expected));
    }
    let get = |key: &str| options.get(key).map(String::as_str);
    let parsed = OpenOptions::parse(
        get("format"),
        get("time_unit"),
        get("lba_unit"),
        get("action"),
        get("on_bad_line"),
    )?;
    open(path, &parsed)
}

/// A source that tells Python how far it has been read, so that Ctrl-C works and progress shows.
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

    fn rewind(&mut self) -> Result<()> {
        self.inner.rewind()
    }

    fn format(&self) -> &'static str {
        self.inner.format()
    }

    fn devices(&self) -> &[String] {
        self.inner.devices()
    }

    fn summary(&self) -> Summary {
        self.inner.summary()
    }

    fn place_of(&self, index: u64) -> String {
        self.inner.place_of(index)
    }

    fn has_times(&self) -> bool {
        self.inner.has_times()
    }

    fn assumed(&self) -> Vec<String> {
        self.inner.assumed()
    }
}

/// Opens a trace and does `work` with it, without the interpreter.
fn with_source<T: Send>(
    py: Python<'_>,
    path: &str,
    options: &Options,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn Source) -> Result<T> + Send,
) -> PyResult<T> {
    with_opened(py, || open_with(path, options), progress, work)
}

/// Opens a source and does `work` with it, without the interpreter.
fn with_opened<T: Send>(
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

/// Statistics of a trace as JSON.
#[pyfunction]
#[pyo3(signature = (path, options, progress=None))]
fn trace_info(py: Python<'_>, path: &str, options: Options, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let info = with_source(py, path, &options, progress.as_ref(), |source| {
        let info = floatgate_trace::info(source)?;
        if info.requests == 0 {
            let expected = "expected at least one read, write or TRIM";
            return Err(Error::input(Place::Path(path.into()), "the trace holds no request", expected));
        }
        Ok(info)
    })?;
    Ok(serde_json::to_string_pretty(&info).expect("statistics are JSON"))
}

/// Writes a trace in another format to a new file; what was written, and what the format could not hold, as JSON.
#[pyfunction]
#[pyo3(signature = (path, options, out_path, out_format, progress=None))]
fn trace_write(
    py: Python<'_>,
    path: &str,
    options: Options,
    out_path: &str,
    out_format: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let format = WriteFormat::parse(out_format).map_err(|e| raise(&e))?;
    let report =
        with_source(py, path, &options, progress.as_ref(), |source| write_file(source, format, out_path))?;
    Ok(serde_json::to_string(&report).expect("a report is JSON"))
}

/// Writes a source to a new file.
fn write_file(source: &mut dyn Source, format: WriteFormat, out_path: &str) -> Result<WriteReport> {
    let cannot =
        |e: std::io::Error| Error::input(Place::Path(out_path.into()), format!("cannot be written: {e}"), "");
    let file = std::fs::File::create(out_path).map_err(cannot)?;
    let mut out = std::io::BufWriter::with_capacity(1 << 20, file);
    let report = floatgate_trace::write::write(source, format, &mut out)?;
    std::io::Write::flush(&mut out).map_err(cannot)?;
    Ok(report)
}

/// A generator by settings of `[workload]`.
fn generator(overrides: &[(String, String)], space: Option<&str>, seed: u64) -> Result<Box<dyn Source>> {
    Ok(Box::new(Generator::new(floatgate_config::twins::generator(overrides, space, seed)?)?))
}

/// Writes a generated trace to a new file; what was written, and what the format could not hold, as JSON.
#[pyfunction]
#[pyo3(signature = (overrides, space, seed, out_path, out_format, progress=None))]
fn generate_write(
    py: Python<'_>,
    overrides: Vec<(String, String)>,
    space: Option<&str>,
    seed: u64,
    out_path: &str,
    out_format: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let format = WriteFormat::parse(out_format).map_err(|e| raise(&e))?;
    let open = || generator(&overrides, space, seed);
    let report = with_opened(py, open, progress.as_ref(), |source| write_file(source, format, out_path))?;
    Ok(serde_json::to_string(&report).expect("a report is JSON"))
}

/// Iterates over a generated trace's columns.
#[pyfunction]
fn generate_batches(
    overrides: Vec<(String, String)>,
    space: Option<&str>,
    seed: u64,
) -> PyResult<TraceBatches> {
    let source = generator(&overrides, space, seed).map_err(|e| raise(&e))?;
    Ok(TraceBatches { source: std::sync::Mutex::new(source) })
}

/// The twin of a trace: its TOML, its number of requests, and how many TRIMs were left out.
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

/// Columns of a trace, batch by batch.
#[pyclass(module = "floatgate._core")]
struct TraceBatches {
    source: std::sync::Mutex<Box<dyn Source>>,
}

#[pymethods]
impl TraceBatches {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        py.check_signals()?;
        let mut batch = RequestBatch::with_capacity(COLUMNS_LEN);
        py.detach(|| self.source.lock().expect("no thread panicked").fill(&mut batch, COLUMNS_LEN))
            .map_err(|e| raise(&e))?;
        if batch.is_empty() {
            return Ok(None);
        }
        let columns = PyDict::new(py);
        let set = |name: &str, bytes: Vec<u8>| columns.set_item(name, PyBytes::new(py, &bytes));
        set("time_ns", batch.time_ns.iter().flat_map(|v| v.to_le_bytes()).collect())?;
        set("device", batch.device.iter().flat_map(|v| v.to_le_bytes()).collect())?;
        set("op", batch.op.iter().map(|&op: &Op| op as u8).collect())?;
        set("offset", batch.offset.iter().flat_map(|v| v.to_le_bytes()).collect())?;
        set("bytes", batch.bytes.iter().flat_map(|v| v.to_le_bytes()).collect())?;
        Ok(Some(columns))
    }

    /// Names of the devices seen so far.
    #[getter]
    fn devices(&self) -> Vec<String> {
        self.source.lock().expect("no thread panicked").devices().to_vec()
    }

    /// Name of the format.
    #[getter]
    fn format(&self) -> &'static str {
        self.source.lock().expect("no thread panicked").format()
    }
}

/// Iterates over a trace's columns.
#[pyfunction]
fn trace_batches(path: &str, options: Options) -> PyResult<TraceBatches> {
    let source = open_with(path, &options).map_err(|e| raise(&e))?;
    Ok(TraceBatches { source: std::sync::Mutex::new(source) })
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
