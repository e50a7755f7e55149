"""``floatgate sweep``."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace

import typer  # noqa: TC002 - annotations are evaluated

from floatgate.base.errors import STATUS_DONE, STATUS_RUN_FAILED, input_error, one_line
from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import kept
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import PICTURES, Files, Pictures
from floatgate.results.folder import REPORT, draw
from floatgate.study.runs.engine import Engine
from floatgate.study.runs.engines import engine_of
from floatgate.study.runs.folders import folder_for
from floatgate.study.runs.work import DONE, Answer
from floatgate.study.sweeps.loaded import load_sweep
from floatgate.study.sweeps.spec import SweepOptions, points_of
from floatgate.study.sweeps.sweep import PLAN, Sweep, begun_from, must_be_few, must_go_on, plan_of, planned

_OF_RESUMED = ("out", "resume", "policy", "on", "jobs", "memory", "json", "report", "quiet", "force")
"""Parameters of a sweep that goes on as it was begun."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sweep")(sweep)


@g.grouped
def sweep(
    context: typer.Context,
    experiment: o.ExperimentFile = None,
    vary: o.Vary = None,
    sample: o.Sample = None,
    samples: o.Samples = None,
    sample_seed: o.SampleSeed = None,
    repeat: o.Repeat = None,
    own_defaults: o.OwnDefaults = False,
    set: o.Set = None,
    *,
    source: g.EndingSource,
    trace_options: g.TraceOptions,
    on: o.On = "local",
    jobs: o.Jobs = None,
    memory: o.Memory = None,
    out: o.Out = None,
    resume: o.ResumeHere = False,
    force: o.Force = False,
    yes: o.Yes = False,
    json: o.Json = None,
    shadow: o.Shadow = False,
    report: o.Report = None,
    pictures: Pictures,
    quiet: o.Quiet = False,
) -> int:
    """Run an experiment under many settings and write one flat table, DIR/sweep.parquet.

    What varies comes from --vary and from the file's [sweep] table. A run that fails is a row of the table. A sweep
    that was stopped goes on with --resume, and does again only the runs that were under way.
    """
    output = Output(json, quiet=quiet, force=force)
    drawn = pictures.checked(out, force=force)
    limit = o.size_bytes(memory, "--memory")
    plan, name = None, ""
    if experiment is not None or not resume:
        base = g.built(experiment, source, trace_options, set)
        request = SweepOptions(tuple(vary or ()), sample, samples, sample_seed, repeat)
        points, repeats = points_of(request, base.sweep, experiment or "floatgate sweep")
        must_be_few(len(points) * repeats, yes=yes)
        base, notes = begun_from(base, points, own_defaults=own_defaults)
        plan = plan_of(base, points, repeats, shadow=shadow, notes=notes)
        name = base.name()
    elif o.has_other_parameters(context, *_OF_RESUMED, *PICTURES):
        raise input_error("--resume: without an experiment the sweep goes on as it was begun; expected no settings")
    folder = folder_for(out, f"{name}-sweep", PLAN, "sweep", resume=resume, force=force)
    engine = engine_of(on, jobs)
    if engine.dashboard is not None:
        output.say(f"{'dashboard':<10} {engine.dashboard}")
    with folder, contextlib.closing(engine):
        if plan is None:
            plan = planned(folder.path)
        elif resume:
            must_go_on(folder.path, plan)
        plan = replace(plan, memory_bytes=limit)
        begun = Sweep.open(folder.path, plan, fresh=not resume)
        return _swept(begun, engine, output, drawn, report=output.draws(report))


def _swept(begun: Sweep, engine: Engine, output: Output, drawn: Files | None, *, report: bool) -> int:
    """Do the remaining runs, draw the report, and print the outcome."""
    with contextlib.closing(begun):
        with (
            kept.journaling(begun, "sweep", f" of {len(begun.plan)}"),
            bar(begun.folder.name, quiet=output.quiet) as shown,
        ):

            def report_run(answer: Answer, ended: int, of: int) -> None:  # noqa: ARG001
                if shown is not None:
                    shown(ended, of, f"{begun.journal.failed} failed" if begun.journal.failed else "")

            begun.run(engine, report_run)
        failure = begun.first_failure()
        if failure is not None:
            sys.stderr.write(f"error: {one_line(failure)}\n")
        if report:
            draw(begun.folder / REPORT, lambda: load_sweep(begun.folder).report(o.command_line()))
        output.give(begun.summary())
        output.say(begun.text())
        if begun.journal.counts.get(DONE):
            for note in load_sweep(begun.folder).notes():
                output.say(f"{'note':<10} {one_line(note)}")
        output.say(f"{'table':<10} {one_line(begun.table)}")
        output.say(o.place_line(begun.folder, report=report))
        if drawn is not None:
            drawn.write(lambda: load_sweep(begun.folder).report(o.command_line()))
            output.say(drawn.line())
        return STATUS_DONE if failure is None else STATUS_RUN_FAILED
