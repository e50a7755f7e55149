//! Captures of Ready/Busy pins.

use crate::errors::{guarded, raise};
use crate::experiment::stop;
use crate::json;
use floatgate_base::error::quote;
use floatgate_base::names::remedy;
use floatgate_base::{Error, Place, Result};
use floatgate_capture::{
    Format, Geometry, HostBytes, Measurement, ReadOptions, Recorder, measure, parse_duration_ps,
    parse_time_unit_ps,
};
use pyo3::prelude::*;

const PS_PER_US: f64 = 1e6;
const PS_PER_S: f64 = 1e12;
/// Longest time, 100 days.
const LENGTH_MAX_PS: f64 = 8.64e18;

/// Channels, chips per channel, dies per chip, planes per die, bytes of a page, pages per block, blocks per
/// plane.
type Shape = (u32, u32, u32, u32, u64, Option<u32>, Option<u32>);

fn refuse(option: &str, value: &str, what: &str, expected: &str) -> Box<Error> {
    let article = if what.starts_with(|c| "aeio".contains(c)) { "an" } else { "a" };
    let what = format!("{} is not {article} {what}", quote(value.as_bytes()));
    Error::input(Place::Setting(option.into()), what, expected)
}

/// Returns a length of time above zero, up to 100 days.
fn length_ps(ps: f64) -> Option<u64> {
    (1.0..=LENGTH_MAX_PS).contains(&ps).then(|| ps.round() as u64)
}

fn read_options(format: Option<&str>, time_unit: Option<&str>) -> Result<ReadOptions> {
    let format = match format {
        None => None,
        Some(name) => {
            let names: Vec<&str> = Format::NAMES.iter().map(|(name, _)| *name).collect();
            let expected = remedy(name, &names, "");
            let matched = Format::find(name);
            Some(matched.ok_or_else(|| refuse("--format", name, "capture format", &expected))?)
        }
    };
    let time_unit_ps = match time_unit {
        None => None,
        Some(text) => {
            let ps = parse_duration_ps(text, None).or_else(|| parse_time_unit_ps(text));
            let ps = ps.filter(|ps| (1e-3..=LENGTH_MAX_PS).contains(ps));
            Some(ps.ok_or_else(|| refuse("--time-unit", text, "unit of time", "expected one such as 1us"))?)
        }
    };
    Ok(ReadOptions { format, time_unit_ps })
}

/// Parses `A..B`, in microseconds unless a unit is named.
fn interval(text: &str) -> Result<(u64, u64)> {
    let ends = text.split_once("..").and_then(|(from, to)| {
        let end = |text: &str| parse_duration_ps(text, Some(PS_PER_US)).and_then(length_ps);
        Some((end(from)?, end(to)?)).filter(|(from, to)| from < to)
    });
    ends.ok_or_else(|| {
        refuse("--program-us", text, "interval", "expected two lengths in ascending order, such as 180..1500")
    })
}

fn recorder(poll_us: Option<f64>, quiet_s: f64) -> Result<Option<Recorder>> {
    let Some(poll_us) = poll_us else { return Ok(None) };
    let period_ps = length_ps(poll_us * PS_PER_US);
    let what = "polling interval";
    let period_ps = period_ps.ok_or_else(|| {
        refuse("--poll-us", &poll_us.to_string(), what, "expected microseconds, more than 0")
    })?;
    let quiet_ps = quiet_s * PS_PER_S;
    if !(0.0..=LENGTH_MAX_PS).contains(&quiet_ps) {
        return Err(refuse(
            "--quiet-s",
            &quiet_s.to_string(),
            "length of time",
            "expected seconds, 0 or more",
        ));
    }
    Ok(Some(Recorder { period_ps, quiet_ps: quiet_ps.round() as u64 }))
}

/// Converts microseconds below which a high phase is a glitch; 0: none is.
fn min_high(us: f64) -> Result<u64> {
    let ps = us * PS_PER_US;
    match (0.0..=LENGTH_MAX_PS).contains(&ps) {
        true => Ok(ps.round() as u64),
        false => Err(refuse(
            "--min-high-us",
            &us.to_string(),
            "length of time",
            "expected microseconds, 0 or more",
        )),
    }
}

/// Measures operation counts and write amplification of captures, as JSON.
#[pyfunction]
#[pyo3(signature = (
    paths, shape, progress=None, *, format=None, time_unit=None, signals=vec![], program_us=None, poll_us=None,
    quiet_s=0.0, multi_page=None, host=None, min_high_us=None, dies_per_signal=None
))]
// The arguments are the options of the command line.
#[allow(clippy::too_many_arguments)]
fn capture_measure(
    py: Python<'_>,
    paths: Vec<String>,
    shape: Shape,
    progress: Option<Py<PyAny>>,
    format: Option<&str>,
    time_unit: Option<&str>,
    signals: Vec<String>,
    program_us: Option<&str>,
    poll_us: Option<f64>,
    quiet_s: f64,
    multi_page: Option<f64>,
    host: Option<(u64, u64)>,
    min_high_us: Option<f64>,
    dies_per_signal: Option<u32>,
) -> PyResult<String> {
    let (channels, chips, dies, planes, page_bytes, pages_per_block, blocks_per_plane) = shape;
    let settle = || {
        Ok(Measurement {
            paths,
            read: read_options(format, time_unit)?,
            signals,
            program_ps: program_us.map(interval).transpose()?,
            recorder: recorder(poll_us, quiet_s)?,
            min_high_ps: min_high_us.map(min_high).transpose()?,
            dies_per_signal,
            geometry: Geometry {
                channels,
                chips,
                dies,
                planes,
                page_bytes,
                pages_per_block,
                blocks_per_plane,
            },
            multi_page,
            host: host.map(|(bytes, step_bytes)| HostBytes { bytes, step_bytes }),
        })
    };
    let measurement = settle().map_err(|e: Box<Error>| raise(&e))?;
    let mut raised = None;
    let done = py.detach(|| {
        guarded(|| {
            measure(&measurement, &mut |bytes, total| {
                let called = Python::attach(|py| {
                    py.check_signals()?;
                    progress
                        .as_ref()
                        .map_or(Ok(()), |call| call.call1(py, (bytes, total, "read")).map(|_| ()))
                });
                called.map_err(|e| stop(e, &mut raised))
            })
        })
    });
    match (done, raised) {
        (_, Some(exception)) => Err(exception),
        (done, None) => done.map(|measured| json::text(&measured)).map_err(|e| raise(&e)),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(capture_measure, module)?)
}
