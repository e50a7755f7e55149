//! The core's errors as exceptions.

use floatgate_base::{Error, Kind, Place, Result};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, create_exception};
use std::sync::{Mutex, PoisonError};

create_exception!(_core, FloatgateError, PyException, "Error of floatgate, with `status` and `message`.");
create_exception!(_core, InputError, FloatgateError, "Unusable input: exit status 2.");
create_exception!(_core, RunError, FloatgateError, "The run failed: exit status 1.");

/// An exception on its way through the core, which only knows its own errors.
static CARRIED: Mutex<Option<PyErr>> = Mutex::new(None);
const CARRIED_TEXT: &str = "an exception of Python";

/// Carries an exception through the core. Errors of floatgate become core errors; any other exception (Ctrl-C included)
/// is raised again where the core's error is raised.
pub fn carry(exception: PyErr) -> Box<Error> {
    let ours = Python::attach(|py| {
        let kind = if exception.is_instance_of::<InputError>(py) { Kind::Input } else { Kind::Run };
        let ours = exception.is_instance_of::<FloatgateError>(py);
        ours.then(|| (kind, exception.value(py).to_string()))
    });
    match ours {
        Some((Kind::Input, message)) => Error::input(Place::None, message, ""),
        Some((Kind::Run, message)) => Error::run(message, ""),
        None => {
            *CARRIED.lock().unwrap_or_else(PoisonError::into_inner) = Some(exception);
            Error::run(CARRIED_TEXT, "")
        }
    }
}

/// Converts a core error into its exception.
pub fn raise(error: &Error) -> PyErr {
    if error.what == CARRIED_TEXT
        && let Some(exception) = CARRIED.lock().unwrap_or_else(PoisonError::into_inner).take()
    {
        return exception;
    }
    let message = error.to_string();
    match error.kind {
        Kind::Input => InputError::new_err(message),
        Kind::Run => RunError::new_err(message),
    }
}

/// Runs work of the core; turns a panic, which is a bug in floatgate, into a run error.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Error::run(format!("internal error: {text}"), "please report it with the command that led to it"))
    })
}

/// Returns an input error at a setting.
pub fn input(setting: &str, what: &str, expected: &str) -> PyErr {
    raise(&Error::input(Place::Setting(setting.into()), what, expected))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    // Panics are caught and reported as errors; their own text must not precede the report.
    std::panic::set_hook(Box::new(|_| {}));
    module.add("FloatgateError", py.get_type::<FloatgateError>())?;
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("RunError", py.get_type::<RunError>())?;
    InputError::type_object(py).setattr("status", 2)?;
    RunError::type_object(py).setattr("status", 1)?;
    // The text is both str(error) and error.message.
    let property = py.eval(c"property(lambda self: str(self))", None, None)?;
    FloatgateError::type_object(py).setattr("message", property)
}
