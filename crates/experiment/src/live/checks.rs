//! What a live drive can be, and how its exports lie on it.

use floatgate_base::{Error, Place, Result};
use floatgate_host::Dispatch;
use floatgate_live::Export;
use floatgate_sim::plan::{Mode, Precondition, Workload};
use floatgate_sim::{Arrival, Plan};

/// Refuses what needs a workload that is known before it happens.
pub(super) fn check(plan: &Plan) -> Result<()> {
    let refuse =
        |key: &str, what: &str, expected: &str| Err(Error::input(Place::Setting(key.into()), what, expected));
    let workload = &plan.workload;
    let is_plain = workload.until.is_none()
        && workload.shuffle.is_none()
        && workload.amplification.cursors == 1
        && workload.content.is_none()
        && workload.demand == 1.0
        && workload.warmup_requests == 0
        && matches!(workload.source, Workload::Trace { repeat: 1, warmup_passes: 0, .. });
    match () {
        () if plan.shadow => refuse(
            "ftl.shadow",
            "a live drive has no shadow model",
            "expected no --shadow; check a replay of its journal",
        ),
        () if plan.ftl.setup.separate.foresees() => refuse(
            "ftl.separate.policy",
            "this separator needs the future, which a live drive does not have",
            "expected another separator, or a replay of the journal",
        ),
        () if plan.ftl.precondition == Precondition::Auto => refuse(
            "ftl.precondition",
            "auto needs laps of a trace",
            "expected none, sequential, random, steady or snapshot",
        ),
        () if plan.background().is_some() => refuse(
            "ftl.background.policy",
            "jobs in idle time would start anew whenever the drive is looked at",
            "expected none, or a replay of the journal",
        ),
        () if plan.ftl.dispatch != Dispatch::Fcfs => refuse(
            "ftl.dispatch.policy",
            "a dispatcher needs windows of requests that are known in advance",
            "expected none, or a replay of the journal",
        ),
        () if !matches!(plan.mode, Mode::Functional | Mode::Timed(Arrival::Open)) => {
            refuse("workload.arrival", "requests of a live drive come when they come", "expected open")
        }
        () if !is_plain => refuse(
            "workload",
            "a live drive serves the requests of its host, and nothing else",
            "expected no setting of the workload but its arrival",
        ),
        () => Ok(()),
    }
}

/// Lays the exports out on the drive.
pub(super) fn exports(wanted: &[(String, u64, u16)], drive_bytes: u64) -> Result<Vec<Export>> {
    if wanted.is_empty() {
        return Ok(vec![Export { name: "drive".into(), offset: 0, bytes: drive_bytes, stream: 0 }]);
    }
    let refuse =
        |what: String, expected: &str| Err(Error::input(Place::Setting("--exports".into()), what, expected));
    let stated: u64 = wanted.iter().map(|(_, bytes, _)| *bytes).sum();
    let rests = wanted.iter().filter(|(_, bytes, _)| *bytes == 0).count();
    if rests > 1 {
        return refuse(format!("{rests} exports take the rest of the drive"), "expected at most one of them");
    }
    if stated > drive_bytes || rests == 1 && stated == drive_bytes {
        let what = format!("the exports take {stated} bytes, and the drive has {drive_bytes}");
        return refuse(what, "expected fewer, or a larger --capacity");
    }
    let mut laid: Vec<Export> = Vec::new();
    let mut offset = 0;
    for (name, bytes, stream) in wanted {
        if laid.iter().any(|export| export.name == *name) {
            return refuse(
                format!("two exports have the name {name}"),
                "expected a name of its own for each",
            );
        }
        let bytes = if *bytes == 0 { drive_bytes - stated } else { *bytes };
        laid.push(Export { name: name.clone(), offset, bytes, stream: *stream });
        offset += bytes;
    }
    Ok(laid)
}
