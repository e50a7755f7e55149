//! What a run is to do beside its experiment, and what it cannot.

use crate::waveform::Waveform;
use floatgate_base::{Error, Place, Result};
use floatgate_config::Resolved;
use floatgate_sim::plan::Workload;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Requests, pages while preconditioning, or passes while the drive is worn in.
    pub done: u64,
    /// Of how many, where that is known.
    pub total: Option<u64>,
    /// `scan`, `precondition`, `wear-in`, `warm-up` or `run`.
    pub phase: &'static str,
}

/// What a run is to do besides.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where to leave the drive at the end.
    pub save_drive: Option<PathBuf>,
    /// Timed: record who is busy with what, from and to so many nanoseconds since counting began, and at most so many
    /// spans.
    pub timeline: Option<(u64, u64, usize)>,
    /// Timed: the capture of Ready/Busy pins to write.
    pub waveform: Option<Waveform>,
    /// Where to leave the run when `progress` stops it, to be resumed from; its folder is made where it is missing.
    pub snapshot: Option<PathBuf>,
    /// How often to write that file while the run goes on.
    pub snapshot_every: Option<Duration>,
    /// The command that the run was started with, for its report; kept in the snapshot.
    pub command: Option<String>,
    /// Told what went wrong where the run goes on all the same: a snapshot that cannot be written.
    pub warn: Option<fn(&str)>,
    /// Told, before it begins, what `precondition = "auto"` will take.
    pub tell: Option<fn(&str)>,
}

impl Options {
    /// Tells what went wrong.
    pub(crate) fn warn(&self, text: &str) {
        if let Some(warn) = self.warn {
            warn(text);
        }
    }
}

/// Refuses the name of a file that could not be written in the end, before the work is done.
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

/// Why a run cannot be taken up again, if it cannot.
pub(crate) fn cannot_resume(resolved: &Resolved, recorded: bool) -> Option<&'static str> {
    let pipe =
        matches!(&resolved.plan.workload.source, Workload::Trace { path, .. } if !Path::new(path).is_file());
    match () {
        () if resolved.plan.shadow => Some("the shadow model is not part of snapshots"),
        () if recorded => Some("a log of requests or a waveform cannot be taken up again"),
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
