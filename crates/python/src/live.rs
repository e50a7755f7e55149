//! A live drive, for Python.

use crate::errors;
use crate::experiment::RunOutput;
use floatgate_experiment::live::load_live;
use floatgate_experiment::{Live, LiveOptions};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Mutex;

/// How a drive is served: the attributes of the Python class of this name.
#[derive(FromPyObject)]
struct Options {
    folder: PathBuf,
    socket_path: PathBuf,
    exports: Vec<(String, u64, u16)>,
    volatile_seed: Option<u64>,
    journal_bytes_max: Option<u64>,
    listen: Option<String>,
    insecure: bool,
    delay: bool,
    pins: bool,
}

impl From<Options> for LiveOptions {
    fn from(options: Options) -> Self {
        Self {
            folder: options.folder,
            socket: options.socket_path,
            exports: options.exports,
            volatile: options.volatile_seed,
            journal_bytes_max: options.journal_bytes_max,
            listen: options.listen,
            insecure: options.insecure,
            delay: options.delay,
            pins: options.pins,
        }
    }
}

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
    fn new(
        py: Python<'_>,
        toml: Option<&str>,
        path: &str,
        overrides: Vec<(String, String)>,
        options: Options,
    ) -> PyResult<Self> {
        let options = LiveOptions::from(options);
        let live = py.detach(|| {
            errors::guarded(|| Live::start(load_live(toml, path, &overrides, &options.folder)?, &options))
        });
        live.map(|live| Self(Mutex::new(Some(live)))).map_err(|e| errors::raise(&e))
    }

    /// What the drive shows now, as JSON; None once it has stopped.
    fn look(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.of(|live| live.look().map(|shown| shown.to_string())))
    }

    /// The low phases of a die's Ready/Busy pin that end after a time of the drive, as JSON; None without pins.
    fn pin(&self, py: Python<'_>, die: u32, from_ns: u64) -> Option<String> {
        py.detach(|| self.of(|live| live.pin(die, from_ns).map(|shown| shown.to_string())))
    }

    /// Writes a die's pin in a window of the drive's time as a capture. Returns the shape of the drive as JSON; None
    /// without pins, or if they are no longer kept.
    fn capture(
        &self,
        py: Python<'_>,
        die: u32,
        from_ns: u64,
        until_ns: u64,
        path: PathBuf,
    ) -> PyResult<Option<String>> {
        let capture = |live: &Live| Some(errors::guarded(|| live.capture(die, (from_ns, until_ns), path)));
        let shape = py.detach(|| self.of(capture)).unwrap_or(Ok(None)).map_err(|e| errors::raise(&e))?;
        Ok(shape.map(|shape| shape.to_string()))
    }

    /// The experiment with all settings, as TOML; None once it has stopped.
    fn experiment_toml(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.of(|live| Some(live.experiment_toml())))
    }

    /// Cuts the power: connections end, and what was only in the volatile cache is lost. Returns what that was, as JSON;
    /// None once the drive has stopped.
    fn cut_power(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.of(|live| Some(live.cut_power().to_string())))
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
