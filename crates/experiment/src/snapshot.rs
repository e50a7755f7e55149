//! Interrupted runs in files: written during a run or when it is stopped, and resumed.

use crate::load::{absolute, experiment_toml, load};
use crate::options::{Options, check_snapshots, check_target};
use floatgate_base::{Error, Place, Result};
use floatgate_config::Resolved;
use floatgate_sim::plan::Workload;
use floatgate_sim::{Simulation, saved::STATE_VERSION};
use floatgate_snapshot::{Kind, Reader, replace_file};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Time of earlier parts of a run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub wall_s: f64,
    pub cpu_s: f64,
    pub counted_cpu_s: f64,
}

/// The section before the simulation.
#[derive(Serialize, Deserialize)]
struct Head {
    experiment_toml: String,
    /// Size of the trace's file.
    trace_bytes: Option<u64>,
    save_drive: Option<String>,
    command: Option<String>,
    timeline: Option<(u64, u64, usize)>,
    spent: Spent,
}

fn trace_bytes(resolved: &Resolved) -> Option<u64> {
    let Workload::Trace { path, .. } = &resolved.plan.workload.source else { return None };
    std::fs::metadata(path).ok().map(|data| data.len())
}

/// Writes the run to the file in the options.
pub(crate) fn write(
    resolved: &Resolved,
    simulation: &Simulation,
    spent: Spent,
    options: &Options,
) -> Result<()> {
    let Some(path) = &options.snapshot else { return Ok(()) };
    let head = Head {
        experiment_toml: experiment_toml(resolved),
        trace_bytes: trace_bytes(resolved),
        save_drive: options.save_drive.as_ref().map(|path| absolute(&path.to_string_lossy())),
        command: options.command.clone(),
        timeline: options.timeline,
        spent,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| {
            let place = Place::Path(folder.to_string_lossy().into_owned());
            Error::input(place, format!("the folder cannot be created: {e}"), "expected a writable folder")
        })?;
    }
    replace_file(path, Kind::Run, STATE_VERSION, |out| {
        out.state("head", &head)?;
        simulation.save(out)
    })?;
    Ok(())
}

/// An interrupted run.
pub(crate) struct Interrupted {
    pub resolved: Resolved,
    pub simulation: Simulation,
    pub spent: Spent,
    pub options: Options,
}

/// Opens the file of an interrupted run, which also holds the options of the run.
///
/// # Errors
/// A damaged file, a file without an interrupted run, or a changed trace.
pub(crate) fn open(path: &str, options: &Options) -> Result<Interrupted> {
    let mut from = Reader::open(path, Kind::Run, STATE_VERSION)?;
    let head: Head = from.state("head")?;
    let resolved = load(Some(&head.experiment_toml), path, &[])?;
    let options = Options {
        save_drive: head.save_drive.map(Into::into),
        command: head.command,
        timeline: head.timeline,
        ..options.clone()
    };
    options.save_drive.as_deref().map_or(Ok(()), check_target)?;
    check_snapshots(&resolved, &options, false)?;
    if let (Workload::Trace { path, .. }, Some(was)) = (&resolved.plan.workload.source, head.trace_bytes)
        && Path::new(path).is_file()
        && trace_bytes(&resolved) != Some(was)
    {
        let is = trace_bytes(&resolved).unwrap_or(0);
        let what = format!("the trace has {is} bytes and had {was} when the run was interrupted");
        return Err(Error::input(Place::Path(path.clone()), what, "expected the same trace"));
    }
    let mut plan = resolved.plan.clone();
    plan.timeline = options.timeline;
    let simulation = Simulation::resume(plan, &mut from)?;
    from.finish()?;
    Ok(Interrupted { resolved, simulation, spent: head.spent, options })
}
