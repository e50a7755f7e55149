"""``floatgate run``."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from floatgate.base.errors import STATUS_DONE, InterruptedRunError, input_error, one_line, warn
from floatgate.base.parallel import RUNS_MAX
from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import PICTURES, Files, Pictures
from floatgate.pages import drawing
from floatgate.report import summary
from floatgate.report.sections.timeline import nothing
from floatgate.results.folder import SNAPSHOT, RunFolder
from floatgate.run.experiment import Experiment
from floatgate.run.perfetto import LANES_MAX, must_be_drawable, write
from floatgate.run.run import Run, execute, go_on, remove_snapshot
from floatgate.run.saving import write_run
from floatgate.run.waveform import pins_of
from floatgate.study.own_defaults import warn_of_mode

#: No other run goes on, so a second core may decompress the trace.
_execute = functools.partial(execute, alone=True)


@dataclass(frozen=True)
class _Log:
    """The log of requests of a run.

    Attributes:
        path: where it was written; None without one.
        kept: whether it belongs to the run folder.
        perfetto: the file of the timeline that is made of it, too.
        wants_timeline: whether an option requests the timeline.
    """

    path: Path | None = None
    kept: bool = False
    perfetto: str | None = None
    wants_timeline: bool = False


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


@g.grouped
def run(
    context: typer.Context,
    experiment: o.ExperimentFile = None,
    *,
    source: g.EndingSource,
    set: o.Set = None,
    trace_options: g.TraceOptions,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, max=RUNS_MAX, help="Run with N consecutive seeds.")] = 1,
    jobs: o.Jobs = None,
    out: o.Out = None,
    force: o.Force = False,
    json: o.Json = None,
    save_drive: o.SaveDrive = None,
    timeline: o.Timeline = None,
    perfetto: o.Perfetto = None,
    log_requests: o.LogRequests = False,
    waveform: o.WaveformFile = None,
    die: o.Die = None,
    from_: o.WaveformFrom = None,
    until: o.WaveformUntil = None,
    snapshot_every: o.SnapshotEvery = None,
    resume: o.Resume = None,
    shadow: o.Shadow = False,
    report: o.Report = None,
    pictures: Pictures,
    quiet: o.Quiet = False,
) -> int:
    """Run an experiment, print a summary and write a run folder.

    The folder holds result.json, experiment.toml, series.parquet and report.html. A timed run adds timeline.parquet,
    and --log-requests adds requests.parquet. With --out, Ctrl-C saves run.snapshot there; --resume continues from it.
    """
    output = Output(json, quiet=quiet, force=force)
    drawn = pictures.checked(out or resume, force=force)
    if resume is not None:
        return _resumed(context, resume, jobs, snapshot_every, output, drawn, report=output.draws(report))
    resolved = g.built(experiment, source, trace_options, set)
    warn_of_mode(resolved)
    pins = pins_of(waveform, die, from_, until, force=force)
    if repeat > 1:
        _refuse_of_one_run(context)
        from floatgate.cli import repeat as seeds

        draws = output.draws(report)
        return seeds.start(resolved, repeat, jobs, out, output, drawn, force=force, shadow=shadow, report=draws)
    target = _target(resolved, out, save_drive, perfetto, force=force)
    target.expect(waveform)
    snapshot = None if out is None else target.path / SNAPSHOT
    with contextlib.ExitStack() as stack:
        stack.enter_context(target)
        log = stack.enter_context(target.scratch("requests.parquet")) if log_requests or perfetto else None
        if output.draws(report):
            drawing.start()
        with bar(resolved.name(), quiet=quiet) as progress, _saying_how_to_go_on(snapshot):
            done = _execute(
                resolved,
                shadow=shadow,
                save_drive=save_drive,
                timeline=timeline,
                log_requests=log,
                waveform=pins,
                snapshot=snapshot,
                snapshot_every=snapshot_every,
                command=o.command_line(),
                telling=not quiet,
                progress=progress,
            )
        logged = _Log(log, kept=log_requests, perfetto=perfetto, wants_timeline=bool(timeline or perfetto))
        _finished(done, target, snapshot, output, drawn, logged, report=output.draws(report), shadow=shadow)
        return STATUS_DONE


def _target(
    resolved: Experiment, out: str | None, save_drive: str | None, perfetto: str | None, *, force: bool
) -> RunFolder:
    """Return the run folder; refuses it, or the file of the drive or the timeline, if it cannot be written.

    Raises:
        InputError: one of them exists and must not be overwritten.
    """
    if save_drive is not None and Path(save_drive).is_file() and not force:
        raise input_error(f"{save_drive}: exists already; expected a new file for the drive, or --force")
    if perfetto is not None:
        must_be_drawable(perfetto, resolved, force=force)
    target = RunFolder.default(resolved.name()) if out is None else RunFolder.named(out, force=force)
    target.expect(save_drive)
    return target


def _refuse_of_one_run(context: typer.Context) -> None:
    """Refuse options that make sense of one run only.

    Raises:
        InputError: the command has one.
    """
    reasons = {
        "save_drive": "several runs would write the same file",
        "timeline": "a timeline belongs to one run",
        "perfetto": "a timeline belongs to one run",
        "log_requests": "a log belongs to one run",
        "waveform": "a waveform belongs to one run",
        "snapshot_every": "a snapshot belongs to one run",
    }
    for name, reason in reasons.items():
        if context.params[name]:
            raise input_error(f"--{name.replace('_', '-')}: {reason}; expected no --repeat with it")


def _finished(
    done: Run,
    target: RunFolder,
    snapshot: Path | None,
    output: Output,
    drawn: Files | None,
    logged: _Log,
    *,
    report: bool,
    shadow: bool = False,
) -> None:
    """Write the run folder and say what came out; only then does the snapshot go."""

    def settled() -> None:
        if snapshot is not None:
            remove_snapshot(snapshot)

    requests = logged.path if logged.kept else None
    folder = write_run(done, target, report=report, command=done.command, requests=requests, settled=settled)
    output.give(done.result_json)
    output.say(summary.text(done))
    output.say(o.place_line(folder, report=report))
    if drawn is not None:
        drawn.write(lambda: done.report(done.command))
        output.say(drawn.line())
    if logged.wants_timeline and (empty := nothing(done)):
        warn(f"--timeline: {empty}")
    if logged.perfetto is not None and logged.path is not None:
        left_out = write(logged.perfetto, done, folder / logged.path.name if logged.kept else logged.path)
        output.say(f"{'perfetto':<10} {one_line(logged.perfetto)}")
        if left_out:
            what = f"{left_out} requests are not drawn; a queue had more than {LANES_MAX} at a time"
            warn(f"{logged.perfetto}: {what}")
    if shadow:
        output.say(o.SHADOW_LINE)


@contextlib.contextmanager
def _saying_how_to_go_on(snapshot: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if snapshot is None or not snapshot.is_file():
            raise
        words = ["floatgate", "run", "--resume", os.fspath(snapshot.parent), *o.own_policies()]
        raise InterruptedRunError(f"interrupted; continue with: {shlex.join(words)}") from None


def _resumed(
    context: typer.Context,
    folder: str,
    jobs: int | None,
    snapshot_every: float | None,
    output: Output,
    drawn: Files | None,
    *,
    report: bool,
) -> int:
    snapshot = Path(folder) / SNAPSHOT
    several = False
    if not snapshot.is_file():
        from floatgate.cli import repeat as seeds

        several = seeds.is_interrupted(folder)
    own = "jobs" if several else "snapshot_every"
    if o.has_other_parameters(context, "resume", own, "policy", "json", "force", "report", "quiet", *PICTURES):
        raise input_error("--resume: the run continues with its original settings; expected no other settings")
    if several:
        return seeds.go_on(folder, jobs, output, drawn, report=report)
    target = RunFolder.named(folder, force=True)
    with target:
        with bar(target.path.name, quiet=output.quiet) as progress, _saying_how_to_go_on(snapshot):
            done = go_on(snapshot, snapshot_every=snapshot_every, progress=progress)
        _finished(done, target, snapshot, output, drawn, _Log(), report=report)
        return STATUS_DONE
