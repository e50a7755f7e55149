//! Options of a run besides its experiment, and their limits.

use crate::waveform::Waveform;
use floatgate_base::{Error, Place, Result};
use floatgate_config::Resolved;
use floatgate_sim::plan::Workload;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Requests, pages while preconditioning, or passes during wear-in.
    pub done: u64,
    /// The total, if known.
    pub total: Option<u64>,
    /// `scan`, `precondition`, `wear-in`, `warm-up` or `run`.
    pub phase: &'static str,
}

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// File for the drive at the end.
    pub save_drive: Option<PathBuf>,
    /// Timed mode: start and end of the recorded activity, nanoseconds since counting began, and its maximum of spans.
    pub timeline: Option<(u64, u64, usize)>,
    /// Timed mode: the capture of Ready/Busy pins to write.
    pub waveform: Option<Waveform>,
    /// File for the run when `progress` stops it, to be resumed later; a missing folder is created.
    pub snapshot: Option<PathBuf>,
    /// Interval at which this file is written during the run.
    pub snapshot_every: Option<Duration>,
    /// The command that started the run, for its report; kept in the snapshot.
    pub command: Option<String>,
    /// Receives warnings about problems that do not stop the run, such as a snapshot that cannot be written.
    pub warn: Option<fn(&str)>,
    /// Whether another core is free for the decompression of a trace: no other run is going on.
    pub alone: bool,
    /// Receives the estimate of `precondition = "auto"` before it begins.
    pub tell: Option<fn(&str)>,
}

impl Options {
    /// Reports a problem.
    pub(crate) fn warn(&self, text: &str) {
        if let Some(warn) = self.warn {
            warn(text);
        }
    }
}

/// Refuses the name of a file that cannot be written, before the work is done.
pub(crate) fn check_target(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refuse = |what| {
        let place = Place::Path(path.to_string_lossy().into_owned());
        Err(Error::input(place, what, "expected the name of a file in a folder that exists"))
    };
    match () {
        () if path.is_dir() => refuse("is a directory"),
        () if path.file_name().is_none() => refuse("is not a file name"),
        () if !folder.is_dir() => refuse("its folder does not exist"),
        () => Ok(()),
    }
}

/// Returns why a run cannot be resumed; None if it can.
pub(crate) fn cannot_resume(resolved: &Resolved, recorded: bool) -> Option<&'static str> {
    let pipe =
        matches!(&resolved.plan.workload.source, Workload::Trace { path, .. } if !Path::new(path).is_file());
    match () {
        () if resolved.plan.shadow => Some("the shadow model is not part of snapshots"),
        () if recorded => Some("a log of requests or a waveform cannot be resumed"),
        () if pipe => Some("a trace from a pipe cannot be read again"),
        () => None,
    }
}

/// Refuses snapshots that could not be used.
pub(crate) fn check_snapshots(resolved: &Resolved, options: &Options, recorded: bool) -> Result<()> {
    let refuse =
        |what: String, expected| Err(Error::input(Place::Setting("--snapshot-every".into()), what, expected));
    match (options.snapshot_every, &options.snapshot, cannot_resume(resolved, recorded)) {
        (None, ..) | (Some(_), Some(_), None) => Ok(()),
        (Some(_), None, _) => refuse("no folder to write snapshots to".into(), "expected --out DIR"),
        (Some(_), _, Some(why)) => refuse(why.into(), "expected a run without it"),
    }
}
