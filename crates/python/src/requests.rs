//! The workload of an experiment by itself, without a drive.

use crate::errors::{guarded, raise};
use crate::json;
use crate::trace::with_opened;
use floatgate_base::Result;
use floatgate_config::Resolved;
use floatgate_experiment::{load, requests};
use floatgate_trace::{PatternSettings, Source, patterns};
use pyo3::prelude::*;
use serde::Serialize;

type Overrides = Vec<(String, String)>;

/// Counts the requests that the experiment's dispatcher takes from one pass over its workload, as JSON.
#[pyfunction]
#[pyo3(signature = (toml, path, overrides, progress=None))]
fn workload_dispatch(
    py: Python<'_>,
    toml: Option<&str>,
    path: &str,
    overrides: Overrides,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    read_pass(py, toml, path, &overrides, progress.as_ref(), requests::dispatch)
}

/// Mines the patterns of an experiment's workload, as JSON.
#[pyfunction]
#[pyo3(signature = (toml, path, overrides, progress=None))]
fn workload_patterns(
    py: Python<'_>,
    toml: Option<&str>,
    path: &str,
    overrides: Overrides,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    read_pass(py, toml, path, &overrides, progress.as_ref(), |_, source| {
        patterns(source, &PatternSettings::default())
    })
}

/// Reads one pass over the workload and returns the report of `work` as JSON.
fn read_pass<T: Serialize + Send>(
    py: Python<'_>,
    toml: Option<&str>,
    path: &str,
    overrides: &[(String, String)],
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Resolved, &mut dyn Source) -> Result<T> + Send,
) -> PyResult<String> {
    let resolved = guarded(|| load(toml, path, overrides)).map_err(|e| raise(&e))?;
    let report = with_opened(py, || requests::open(&resolved), progress, |source| work(&resolved, source))?;
    Ok(json::text(&report))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(workload_dispatch, module)?)?;
    module.add_function(wrap_pyfunction!(workload_patterns, module)?)
}
