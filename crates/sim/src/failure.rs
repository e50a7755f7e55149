//! Errors that report when and why a run stopped.

use crate::plan::Plan;
use floatgate_base::{Error, Place, Result};
use floatgate_flash::Counters;
use floatgate_ftl::Failure;
use floatgate_nand::Endurance;

/// Returns the error of a resumed run whose workload has changed.
pub(crate) fn another_trace(path: &str, requests: u64) -> Box<Error> {
    let expected = format!("expected the same {requests} requests to begin with");
    let what = "the workload has changed since the run was interrupted";
    Error::input(Place::Path(path.into()), what, expected)
}

/// Refuses a policy from outside that could not begin: it must not be called.
pub(crate) fn must_have_begun(fault: Option<&'static str>) -> Result<()> {
    fault.map_or(Ok(()), |fault| Err(Error::run(fault, "expected a policy that keeps to its contract")))
}

/// Returns the error of a drive that stopped before the workload.
pub(crate) fn while_preconditioned(failure: Failure) -> Box<Error> {
    if let Failure::Policy(fault) = failure {
        let what = format!("{fault} (while the drive was preconditioned)");
        return Error::run(what, "expected a policy that keeps to its contract");
    }
    Error::run(
        "the drive ran out of free blocks while it was preconditioned",
        "expected a larger ftl.spare_factor",
    )
}

/// Returns the error of a drive that stopped at request number `request` (from 1), at `place` of its trace.
#[must_use]
pub fn stopped(
    plan: &Plan,
    failure: Failure,
    request: u64,
    place: Option<&str>,
    flash: &Counters,
    time_s: Option<f64>,
) -> Box<Error> {
    let host_pages = flash.programs_for_host();
    // The host opens its next unit a little after the budget is used up; under recovery only the count gives the value.
    let cycles = match plan.drive.endurance {
        Endurance::Fixed { pe_cycles } => u64::from(pe_cycles),
        Endurance::Recovery { .. } | Endurance::Scaled { .. } => {
            flash.programs_total() / plan.drive.geometry.pages()
        }
    };
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    let time = time_s.map_or_else(String::new, |s| format!(" and {s:.3} s"));
    let when = format!("request {request}{place}, {host_pages} host page writes{time} into the run");
    match failure {
        Failure::Policy(fault) => {
            Error::run(format!("{fault} (at {when})"), "expected a policy that keeps to its contract")
        }
        Failure::OutOfFreeBlocks => Error::run(
            format!("the drive ran out of free blocks at {when}"),
            match plan.ftl.setup.victim.plugin() {
                Some(plugin) => format!(
                    "expected a larger ftl.spare_factor, lower levels of ftl.collect, or a policy '{}' that finds a block \
                     where one has dead pages",
                    plugin.info.name
                ),
                None => "expected a larger ftl.spare_factor, or lower levels of ftl.collect".into(),
            },
        ),
        Failure::WornOut => Error::run(
            format!(
                "the drive was worn out at {when}: it has programmed its capacity {}",
                match cycles {
                    1 => "once".into(),
                    n => format!("{n} times"),
                }
            ),
            if plan.drive.endurance.recovers() {
                "expected fewer requests or passes, more time between them, or more drive.endurance.pe_cycles"
            } else {
                "expected fewer requests or passes, or more drive.endurance.pe_cycles"
            },
        ),
    }
}
