//! Opens the workload, and refuses one that cannot drive the run.

use crate::plan::{Arrival, Mode, Plan, Precondition, Workload};
use floatgate_base::{Error, OptionalColumns, Place, Result};
use floatgate_ftl::separate::Needs;
use floatgate_host::{Beyond, QueueOf};
use floatgate_lifetime::Throttle;
use floatgate_trace::{AtRate, Generator, Keep, Source, UntilWritten, WithContent, WithoutReads, shuffled};
use std::path::Path;

/// Opens the workload of a plan.
///
/// # Errors
/// It cannot be opened.
pub fn open_source(plan: &Plan) -> Result<Box<dyn Source>> {
    open_keeping(plan, &plan.workload.keep)
}

fn open_keeping(plan: &Plan, keep: &Keep) -> Result<Box<dyn Source>> {
    let source: Box<dyn Source> = match &plan.workload.source {
        Workload::Synthetic(config) => Box::new(Generator::new(config.clone())?),
        Workload::Trace { path, options, .. } => keep.open(path, options)?,
    };
    let source = shuffled(source, plan.workload.shuffle)?;
    let mut source = plan.workload.amplification.of(source)?;
    if let Some(until) = plan.workload.until {
        source = Box::new(UntilWritten::new(source, until));
    }
    if let Some(model) = plan.workload.content {
        source = Box::new(WithContent::new(source, model)?);
    }
    if plan.workload.demand != 1.0 {
        source = Box::new(AtRate::new(source, plan.workload.demand));
    }
    Ok(if plan.workload.without_reads { Box::new(WithoutReads::new(source)) } else { source })
}

/// Opens the workload for a run, like [`open_source`].
///
/// # Errors
/// It cannot be opened, or lacks columns that the plan needs.
pub(crate) fn open_for_run(plan: &Plan) -> Result<Box<dyn Source>> {
    check_foresight(plan)?;
    let keep = &plan.workload.keep;
    let source = if reads_again(plan) { open_keeping(plan, &keep.or_place()) } else { open_source(plan) }?;
    check(plan, source.as_ref())?;
    Ok(source)
}

/// Checks whether a source has what the plan needs.
///
/// # Errors
/// It lacks times or columns.
pub(crate) fn check(plan: &Plan, source: &dyn Source) -> Result<()> {
    check_times(plan, source)?;
    check_columns(plan, source)
}

/// Returns whether a run reads its trace more than once, usually all of it.
fn reads_again(plan: &Plan) -> bool {
    let passes = match &plan.workload.source {
        Workload::Trace { repeat, warmup_passes, .. } => repeat.saturating_add(*warmup_passes),
        Workload::Synthetic(_) => 1,
    };
    passes > 1
        || plan.ftl.precondition == Precondition::Auto
        || plan.workload.beyond == Beyond::Scale
        || plan.ftl.setup.separate.foresees()
}

fn refuse(key: &str, what: String, expected: &str) -> Result<()> {
    Err(Error::input(Place::Setting(key.into()), what, expected))
}

/// Refuses foresight in a workload that can be read only once.
fn check_foresight(plan: &Plan) -> Result<()> {
    match &plan.workload.source {
        Workload::Trace { path, .. } if plan.ftl.setup.separate.foresees() && !Path::new(path).is_file() => {
            let name = plan.ftl.setup.separate.info().name;
            let what = format!("separator {name} reads the workload twice, which is impossible with a pipe");
            Err(Error::input(Place::Path(path.into()), what, "expected a file: save the trace to one"))
        }
        _ => Ok(()),
    }
}

/// Checks for time stamps if arrivals or throttles need them.
fn check_times(plan: &Plan, source: &dyn Source) -> Result<()> {
    if source.has_times() {
        return Ok(());
    }
    let format = source.format();
    match plan.mode {
        Mode::Timed(Arrival::Open | Arrival::Shifted | Arrival::Think) => refuse(
            "workload.arrival",
            format!("a trace in format {format} has no times for arrivals"),
            "expected workload.arrival = \"closed\"",
        ),
        Mode::Functional if plan.throttle.policy != Throttle::None => refuse(
            "lifetime.throttle.policy",
            format!("a trace in format {format} has no times, which a throttle needs"),
            "expected lifetime.throttle.policy = \"none\", or a trace with times",
        ),
        Mode::Functional if plan.throttles() => refuse(
            "lifetime.reduce.policy",
            format!(
                "{} decides per epoch, and a workload in format {format} has no times",
                plan.reduce.policy.info().name
            ),
            "expected a trace with times, workload.rate_per_s, or another policy",
        ),
        Mode::Timed(Arrival::Closed { .. }) | Mode::Functional => Ok(()),
    }
}

/// Checks for streams if queues are chosen by them, and for the hints that a separator needs.
fn check_columns(plan: &Plan, source: &dyn Source) -> Result<()> {
    let (columns, name) = (source.columns(), plan.ftl.setup.separate.info().name);
    if plan.queues.queue_of == QueueOf::Stream && !columns.stream {
        let format = source.format();
        return refuse(
            "host.queue_of",
            format!("a trace in format {format} has no streams to choose a queue by"),
            "expected host.queue_of = \"round-robin\" or \"device\"",
        );
    }
    if plan.ftl.setup.reduce.is_some() && !columns.content {
        let reducer = plan.reduce.policy.info().name;
        let what = format!("{reducer} needs the content of writes, and this workload has none");
        let expected = "expected a trace with content (`floatgate trace record --content`, or `floatgate content DIR --trace FILE` \
                        of your own data), a format that has it (fiu, parquet), or a model: workload.duplicate_share and \
                        workload.compressed_share";
        return refuse("lifetime.reduce.policy", what, expected);
    }
    if plan.background().is_some_and(|background| background.by_context.is_some()) && !columns.context {
        return refuse(
            "ftl.background.policy",
            "by-context needs program contexts, and this workload has none".into(),
            "expected a trace that `floatgate trace record` made (docs/recording.md), or policy = \"idle\"",
        );
    }
    if plan.ftl.setup.timing.is_some() && !columns.context {
        return refuse(
            "ftl.collect.timing",
            "by-context needs program contexts, and this workload has none".into(),
            "expected a trace that `floatgate trace record` made (docs/recording.md), or timing = \"free-blocks\"",
        );
    }
    plan.ftl.setup.separate.needs().into_iter().try_for_each(|need| separator_has(need, name, columns))
}

/// Refuses a workload without what a separator needs.
fn separator_has(need: Needs, name: &str, columns: OptionalColumns) -> Result<()> {
    match need {
        Needs::Contexts if !columns.context => refuse(
            "ftl.separate.policy",
            format!("{name} needs program contexts, and this workload has none"),
            "expected a trace that `floatgate trace record` made (docs/recording.md), or another separator",
        ),
        Needs::Streams if !columns.stream => refuse(
            "ftl.separate.policy",
            format!("{name} needs streams, and this workload has none"),
            "expected a trace with a column of streams (docs/convert.md), or another separator",
        ),
        Needs::HostStreams if !columns.stream || columns.stream_is_process => {
            let there = if columns.stream { "processes alone" } else { "none" };
            refuse(
                "ftl.separate.policy",
                format!("{name} needs streams of the host, and this workload has {there}"),
                "expected a trace with a column of streams (docs/own-policies.md), or another separator",
            )
        }
        Needs::Lives if !columns.predicted_life => refuse(
            "ftl.separate.lives",
            format!("{name} needs a column of predicted lives, and this workload has none"),
            "expected a Parquet trace with a column predicted_life (docs/separation.md), or lives = \"exact\"",
        ),
        _ => Ok(()),
    }
}
