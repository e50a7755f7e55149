//! A live drive, for Python.

use crate::errors;
use crate::experiment::RunOutput;
use floatgate_experiment::live::load_live;
use floatgate_experiment::{Live, LiveOptions};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Mutex;

/// A drive that is served on a socket by threads of the core until it is stopped.
#[pyclass(frozen, module = "floatgate._core")]
struct LiveDrive(Mutex<Option<Live>>);

impl LiveDrive {
    /// Returns an answer of the drive; None once it has stopped.
    fn of<T>(&self, ask: impl FnOnce(&Live) -> Option<T>) -> Option<T> {
        let live = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        live.as_ref().and_then(ask)
    }
}

#[pymethods]
impl LiveDrive {
    /// Opens the drive of a folder and serves it.
    #[new]
    #[pyo3(signature = (toml, path, overrides, folder, socket, exports, volatile=None, journal_bytes_max=None))]
    #[expect(clippy::too_many_arguments, reason = "as Python hands them over")]
    fn new(
        py: Python<'_>,
        toml: Option<&str>,
        path: &str,
        overrides: Vec<(String, String)>,
        folder: PathBuf,
        socket: PathBuf,
        exports: Vec<(String, u64, u16)>,
        volatile: Option<u64>,
        journal_bytes_max: Option<u64>,
    ) -> PyResult<Self> {
        let options = LiveOptions { folder, socket, exports, volatile, journal_bytes_max };
        let live = py.detach(|| {
            errors::guarded(|| Live::start(load_live(toml, path, &overrides, &options.folder)?, &options))
        });
        live.map(|live| Self(Mutex::new(Some(live)))).map_err(|e| errors::raise(&e))
    }

    /// What the drive shows now, as JSON; None once it has stopped.
    fn look(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.of(|live| live.look().map(|shown| shown.to_string())))
    }

    /// Saves the state of the drive.
    fn save(&self, py: Python<'_>) -> PyResult<()> {
        let saved = py.detach(|| self.of(|live| Some(errors::guarded(|| live.save()))));
        saved.unwrap_or(Ok(())).map_err(|e| errors::raise(&e))
    }

    /// Stops serving; returns the run over the journal, None if no request came or the drive has stopped before.
    fn stop(&self, py: Python<'_>) -> PyResult<Option<RunOutput>> {
        let live = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let Some(live) = live else { return Ok(None) };
        let output = py.detach(|| errors::guarded(|| live.stop())).map_err(|e| errors::raise(&e))?;
        Ok(output.map(RunOutput::of))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LiveDrive>()
}
