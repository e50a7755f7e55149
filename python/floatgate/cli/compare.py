"""``floatgate compare``."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from typing import Annotated

import typer

from floatgate.base.errors import input_error
from floatgate.base.parallel import must_be_few
from floatgate.base.progress import bar, bars
from floatgate.cli import groups as g
from floatgate.cli import kept
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.cli.places import Pictures
from floatgate.run.experiment import parse_set, split_values
from floatgate.study.compare import WHOLE, Comparison, baselines_of, run_settings
from floatgate.study.own_defaults import warn_of_mode
from floatgate.study.runs.engine import Local, Progress
from floatgate.study.runs.plan import RunPlan, plan_runs
from floatgate.study.runs.points import Points, axes_of
from floatgate.study.runs.resume import remove
from floatgate.study.same_in_all import defaults_left, shared, stated

_BARS_MAX = 12
"""Runs that have a bar of their own; more share one."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


@g.grouped
def compare(
    experiment: o.ExperimentFile = None,
    vary: o.Vary = None,
    repeat: o.Repeat = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=V,KEY=V",
            help="What the others are measured against, within each combination of the keys not named here. Default: "
            "the first value of the first --vary.",
        ),
    ] = None,
    own_defaults: o.OwnDefaults = False,
    set: o.Set = None,
    *,
    source: g.EndingSource,
    trace_options: g.TraceOptions,
    jobs: o.Jobs = None,
    out: o.Out = None,
    resume: o.ResumeHere = False,
    force: o.Force = False,
    json: o.Json = None,
    shadow: o.Shadow = False,
    report: o.Report = None,
    pictures: Pictures,
    quiet: o.Quiet = False,
) -> int:
    """Run the same workload under several settings, side by side, on all cores.

    With --repeat, all settings use the same seeds, and differences are taken between runs with equal seeds. With
    --out, write compare.json, compare.parquet, compare.csv, report.html and one run folder per run.
    """
    output = Output(json, quiet=quiet, force=force)
    drawn = pictures.checked(out, force=force)
    target = kept.folder(out, WHOLE, resume=resume, force=force)
    points = combinations(vary or [])
    places = baselines_of(points, named(baseline))
    base = g.built(experiment, source, trace_options, set)
    must_be_few(len(points) * (repeat or 1), "--vary and --repeat")
    base, same = defaults_left(base, points) if own_defaults else shared(base, points)
    same = (*same, *stated(base, points))
    warn_of_mode(base)
    plan = plan_runs(base, points, repeat or 1, shadow=shadow, reads_files=target is not None)
    how = f"the same command and --resume (--out {shlex.quote(out or '')})"
    with target or contextlib.nullcontext():
        with kept.keeping(target, plan, WHOLE, how, resume=resume) as part, _progress(plan, quiet=quiet) as progress:
            done = Comparison(run_settings(plan, Local(jobs), progress, part), places, same)
        folder = None if target is None else done.write(target, report=output.draws(report), command=o.command_line())
        if folder is not None:
            remove(folder)
    status = o.tell_failures(done)
    output.give(done.to_dict())
    output.say(done.text())
    if folder is not None:
        output.say(o.place_line(folder, report=output.draws(report)))
    if drawn is not None:
        drawn.write(lambda: done.report(o.command_line()))
        output.say(drawn.line())
    return status


@contextlib.contextmanager
def _progress(plan: RunPlan, *, quiet: bool) -> Iterator[Progress | None]:
    """Show a bar per run, or one for all if there are many."""
    if len(plan) <= _BARS_MAX:
        labels = [", ".join(value for _, value in point) for point in plan.points]
        if plan.repeat > 1:
            labels = [f"{name}, seed {plan.seed + each}" for name in labels for each in range(plan.repeat)]
        with bars(labels, quiet=quiet) as shown:
            yield shown
        return
    begun = 0

    with bar("runs", quiet=quiet) as one:

        def report(number: int, _done: int, _total: int | None, _phase: str) -> None:
            nonlocal begun
            begun = max(begun, number)
            if one is not None:
                one(begun, len(plan), "")

        yield None if one is None else report


def named(baseline: str | None) -> dict[str, str]:
    """Parse ``KEY=V,KEY=V`` into keys and values.

    Args:
        baseline: the value of the option.

    Raises:
        InputError: a part has no ``=``.
    """
    parts = [] if baseline is None else split_values(baseline)
    return dict(parse_set(part, "--baseline") for part in parts)


def combinations(vary: list[str]) -> Points:
    """Return all combinations of the values of every --vary, the last one varying fastest.

    Raises:
        InputError: no --vary at all, one that cannot be understood, or a key given twice.
    """
    if not vary:
        raise input_error("floatgate compare: no --vary; expected at least one, such as ftl.spare_factor=0.07,0.28")
    points = Points(axes_of(vary))
    must_be_few(len(points), "--vary")
    return points
