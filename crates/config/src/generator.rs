//! Generators from the settings of `[workload]`, without a drive, for `floatgate trace generate`.

use crate::layers::Layers;
use crate::resolve;
use floatgate_base::units::parse_bytes;
use floatgate_base::{Error, Place, Result};
use floatgate_host::Beyond;
use floatgate_sim::plan;
use floatgate_trace::{Amplification, GeneratorConfig, Shuffle};

/// A generator, and how its requests are changed.
#[derive(Clone, Debug)]
pub struct Made {
    /// The generator.
    pub config: GeneratorConfig,
    /// Whether its writes are shuffled.
    pub shuffle: Option<Shuffle>,
    /// How many cursors issue it.
    pub amplification: Amplification,
}

/// Makes the generator that the settings of `[workload]` describe.
///
/// `space` is its address space, such as "64 GiB"; a twin has its own, any other workload needs it.
///
/// # Errors
/// Those of the settings; a trace workload has no generator.
pub fn generator(overrides: &[(String, String)], space: Option<&str>, seed: u64) -> Result<Made> {
    let mut layers = Layers::default();
    for (key, value) in overrides {
        layers.add_override(key, value)?;
    }
    let experiment = layers.experiment();
    resolve::check(&layers, &experiment)?;
    let table = experiment.workload.unwrap_or_default();
    let bytes = match space {
        None => 0,
        Some(text) => match parse_bytes(text) {
            Ok(bytes) if bytes > 0 => bytes,
            Ok(_) => return Err(wrong("--drive-bytes", "0 bytes", "expected at least 1")),
            Err(e) => return Err(wrong("--drive-bytes", e, "expected a size such as \"64 GiB\"")),
        },
    };
    if space.is_none() && table.twin.is_none() {
        let what = "the size of the address space is missing";
        return Err(wrong("--drive-bytes", what, "expected a size such as \"64 GiB\""));
    }
    let workload = resolve::workload::resolve(&layers, table, (false, false), bytes, seed, false)?;
    let config = match workload.settings.source {
        plan::Workload::Synthetic(config) => config,
        plan::Workload::Trace { .. } => {
            return Err(wrong(
                "workload.kind",
                "a trace is generated already",
                "expected a twin or a pattern",
            ));
        }
    };
    if workload.settings.beyond == Beyond::Wrap {
        let what = "addresses wrap at the end of a drive, not of a trace";
        return Err(wrong("workload.beyond", what, "expected \"refuse\" or \"scale\""));
    }
    let plan::WorkloadSettings { shuffle, amplification, .. } = workload.settings;
    Ok(Made { config, shuffle, amplification })
}

fn wrong(key: &str, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
    Error::input(Place::Setting(key.to_owned()), what, expected)
}
