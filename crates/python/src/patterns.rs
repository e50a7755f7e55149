//! Addresses that are written together, and the miner that finds them.

use crate::errors::{guarded, raise};
use crate::json;
use crate::trace::{Options, must_have_requests, with_source};
use floatgate_base::Error;
use floatgate_patterns::{Kind, Settings, mine};
use floatgate_trace::{PatternSettings, patterns};
use pyo3::prelude::*;

/// Mines the patterns of a trace, as JSON.
#[pyfunction]
#[pyo3(signature = (
    path, options, progress=None, *, window=1024, mined=256, transaction=12, support=4, items_min=3, closed=false
))]
// The arguments are the options of the command line.
#[allow(clippy::too_many_arguments)]
fn trace_patterns(
    py: Python<'_>,
    path: &str,
    options: Options,
    progress: Option<Py<PyAny>>,
    window: u32,
    mined: u32,
    transaction: u32,
    support: u32,
    items_min: u32,
    closed: bool,
) -> PyResult<String> {
    let settings = PatternSettings { window, mined, transaction, support, items_min, closed };
    settings.validate().map_err(|e| raise(&e))?;
    let info = with_source(py, path, &options, progress.as_ref(), |source| {
        let info = patterns(source, &settings)?;
        must_have_requests(info.requests, path)?;
        Ok(info)
    })?;
    Ok(json::text(&info))
}

/// Mines the closed or maximal sets of transactions with their support: larger sets first, sets of one size by their
/// items.
#[pyfunction]
#[pyo3(signature = (transactions, *, support, items_min=1, closed=false))]
fn patterns_mine(
    py: Python<'_>,
    transactions: Vec<Vec<u64>>,
    support: u32,
    items_min: u32,
    closed: bool,
) -> PyResult<Vec<(Vec<u64>, u32)>> {
    let kind = if closed { Kind::Closed } else { Kind::Maximal };
    let settings = Settings { support, items_min, kind };
    let patterns = py.detach(|| {
        guarded(|| {
            let expected = "expected a larger support, or fewer items";
            mine(&transactions, &settings).map_err(|_| Error::run("there are too many sets", expected))
        })
    });
    let patterns = patterns.map_err(|e| raise(&e))?;
    Ok(patterns.into_iter().map(|pattern| (pattern.items, pattern.support)).collect())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(trace_patterns, module)?)?;
    module.add_function(wrap_pyfunction!(patterns_mine, module)?)
}
