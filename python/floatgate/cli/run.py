"""``floatgate run``."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from floatgate import summary
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.errors import STATUS_DONE, input_error
from floatgate.experiment import Experiment
from floatgate.folder import RunFolder, write_run
from floatgate.progress import bar, bars
from floatgate.run import execute


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(
    experiment: Annotated[str | None, typer.Argument(metavar="EXPERIMENT.toml", show_default=False)] = None,
    trace: o.Trace = None,
    format: o.Format = None,
    drive: o.Drive = None,
    set: o.Set = None,
    time_unit: o.TimeUnit = None,
    lba_unit: o.LbaUnit = None,
    action: o.Action = None,
    on_bad_line: o.OnBadLine = None,
    devices: o.Devices = None,
    beyond: o.Beyond = None,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="Run with N seeds, counted up from the first.")] = 1,
    jobs: o.Jobs = None,
    out: o.Out = None,
    force: o.Force = False,
    json: o.Json = None,
    save_drive: o.SaveDrive = None,
    timeline: o.Timeline = None,
    log_requests: o.LogRequests = False,
    shadow: o.Shadow = False,
    no_report: o.NoReport = False,
    quiet: o.Quiet = False,
) -> int:
    """Run an experiment: print a summary, write a run folder.

    The folder holds result.json, experiment.toml, series.parquet and report.html; of a timed run timeline.parquet too,
    and requests.parquet where asked for.
    """
    output = Output(json, quiet=quiet)
    shorthand = {
        "format": format,
        "time_unit": time_unit,
        "lba_unit": lba_unit,
        "action": action,
        "on_bad_line": on_bad_line,
        "devices": devices,
        "beyond": beyond,
    }
    asked = o.build(experiment, trace, drive, shorthand, set)
    target = RunFolder.default(asked.name()) if out is None else RunFolder.given(out, force=force)
    if repeat > 1:
        if save_drive is not None:
            raise input_error("--save-drive: several runs would write one file; expected it without --repeat")
        if timeline is not None:
            raise input_error("--timeline: several runs have no one timeline; expected it without --repeat")
        if log_requests:
            raise input_error("--log-requests: a log is of one run; expected it without --repeat")
        return _repeated(asked, repeat, jobs, target, output, shadow=shadow, report=not no_report)
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(target.scratch("requests.parquet")) if log_requests else None
        with bar(asked.name(), quiet=quiet) as progress:
            done = execute(
                asked, shadow=shadow, save_drive=save_drive, timeline=timeline, log_requests=log, progress=progress
            )
        folder = write_run(done, target, report=not no_report, command=o.command_line(), requests=log)
    output.give(done.result_json)
    output.say(summary.text(done))
    output.say(o.place_line(folder, report=not no_report))
    return STATUS_DONE


def _repeated(
    asked: Experiment, repeat: int, jobs: int | None, target: RunFolder, output: Output, *, shadow: bool, report: bool
) -> int:
    from floatgate.repeat import run_seeds

    with bars([f"{asked.name()} {number}" for number in range(1, repeat + 1)], quiet=output.quiet) as progress:
        repetition = run_seeds(asked, repeat, jobs, shadow, progress)
    folder = repetition.write(target, report=report, command=o.command_line())
    status = o.tell_failures(repetition)
    output.give(repetition.to_dict())
    output.say(repetition.text())
    output.say(o.place_line(folder, report=report))
    return status
