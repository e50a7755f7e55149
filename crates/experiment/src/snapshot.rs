//! Interrupted runs in files: written while a run goes on or when it is stopped, and taken up again.

use crate::run::{
    Options, Output, Progress, Spent, absolute, check_snapshots, check_target, experiment_toml, go_on, load,
};
use floatgate_base::{Error, Place, Result};
use floatgate_config::Resolved;
use floatgate_sim::plan::Workload;
use floatgate_sim::{Simulation, saved::STATE_VERSION};
use floatgate_snapshot::{Kind, Reader, replace_file};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What stands before the simulation.
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
    let Workload::Trace { path, .. } = &resolved.plan.workload else { return None };
    std::fs::metadata(path).ok().map(|data| data.len())
}

/// Writes the run to the file that the options name.
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
            Error::input(
                place,
                format!("the folder cannot be made: {e}"),
                "expected one that can be written to",
            )
        })?;
    }
    replace_file(path, Kind::Run, STATE_VERSION, |out| {
        out.state("head", &head)?;
        simulation.save(out)
    })?;
    Ok(())
}

/// Goes on with a run that was interrupted, to the end. `options.snapshot` is where it is left when it is stopped again;
/// what else the run was to do besides stands in the file.
///
/// # Errors
/// A file that is damaged or no interrupted run, a trace that is another one now, and as [`crate::run()`].
pub fn resume(
    path: &str,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Output> {
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
    if let (Workload::Trace { path, .. }, Some(was)) = (&resolved.plan.workload, head.trace_bytes)
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
    go_on(&resolved, simulation, head.spent, &options, progress)
}
