"""``floatgate compare``."""

from __future__ import annotations

import contextlib
import itertools
import math
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from floatgate.base.errors import InterruptedRunError, input_error, quoted
from floatgate.base.parallel import must_be_few
from floatgate.base.progress import bar, bars
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.results.folder import RunFolder
from floatgate.run.experiment import Experiment, Overrides, parse_set, split_values
from floatgate.study.compare import Comparison, Progress, baseline_of, run_settings, seeds_of
from floatgate.study.compare_resume import NAME as UNFINISHED
from floatgate.study.compare_resume import Unfinished, plan_of
from floatgate.study.runs.points import parse_axis

_BARS_MAX = 12
"""Runs that have a bar of their own; more share one."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


@g.grouped
def compare(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT.toml")],
    vary: o.Vary = None,
    repeat: o.Repeat = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=V,KEY=V",
            help="The setting that the others are measured against. Default: the first.",
        ),
    ] = None,
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
    quiet: o.Quiet = False,
) -> int:
    """Run the same workload under several settings, side by side, on all cores.

    With --repeat every setting runs with the same seeds, and differences are those of runs with the same seed. With
    --out, write compare.json, compare.parquet, compare.csv, report.html and one run folder per run.
    """
    output = Output(json, quiet=quiet, force=force)
    target = _target(out, resume=resume, force=force)
    points = combinations(vary or [])
    place = baseline_of(points, _named(baseline))
    base = g.built(experiment, source, trace_options, set)
    seeds = seeds_of(base, points, repeat or 1)
    must_be_few(len(points) * (repeat or 1), "--vary and --repeat")
    asked = _Asked(base, points, seeds, jobs, shadow=shadow, quiet=quiet)
    with target or contextlib.nullcontext():
        done = _alone(asked) if target is None else _kept(asked, target, resume=resume)
        done.baseline = place
        folder = None if target is None else done.write(target, report=output.draws(report), command=o.command_line())
        if target is not None:
            Unfinished(target.path / UNFINISHED, {}).remove()
    status = o.tell_failures(done)
    output.give(done.to_dict())
    output.say(done.text())
    if folder is not None:
        output.say(o.place_line(folder, report=output.draws(report)))
    return status


class _Asked:
    """What is to run."""

    def __init__(
        self,
        base: Experiment,
        points: list[Overrides],
        seeds: list[int] | None,
        jobs: int | None,
        *,
        shadow: bool,
        quiet: bool,
    ) -> None:
        self.base, self.points, self.seeds, self.jobs = base, points, seeds, jobs
        self.shadow, self.quiet = shadow, quiet

    @contextlib.contextmanager
    def progress(self) -> Iterator[Progress | None]:
        """Bars: one a run, or one for all where there are many."""
        names = [", ".join(value for _, value in point) for point in self.points]
        labels = names
        if self.seeds is not None:
            labels = [f"{name}, seed {seed}" for name in names for seed in self.seeds]
        if len(labels) <= _BARS_MAX:
            with bars(labels, quiet=self.quiet) as shown:
                yield shown
            return
        begun = 0

        with bar("runs", quiet=self.quiet) as one:

            def report(number: int, _done: int, _total: int | None, _phase: str) -> None:
                nonlocal begun
                begun = max(begun, number)
                if one is not None:
                    one(begun, len(labels), "")

            yield None if one is None else report


def _alone(asked: _Asked) -> Comparison:
    with asked.progress() as progress:
        return run_settings(asked.base, asked.points, asked.jobs, asked.shadow, progress, seeds=asked.seeds)


def _kept(asked: _Asked, target: RunFolder, *, resume: bool) -> Comparison:
    """Run what is left to run, and keep each run in the folder as it ends."""
    plan = plan_of(asked.base, asked.points, asked.seeds, shadow=asked.shadow)
    begun: list[Unfinished] = [Unfinished.go_on(target.path, plan, asked.base.path)] if resume else []

    def keep(number: int, one: Any) -> None:
        if not begun:
            begun.append(Unfinished.begin(target.path, plan))
        begun[0].add(number, one)

    target.expect(str(target.path / UNFINISHED))
    with asked.progress() as progress, _saying_how_to_go_on(target, lambda: len(begun[0]) if begun else 0):
        return run_settings(
            asked.base,
            asked.points,
            asked.jobs,
            asked.shadow,
            progress,
            seeds=asked.seeds,
            kept=begun[0].kept() if begun else None,
            ended=keep,
        )


@contextlib.contextmanager
def _saying_how_to_go_on(target: RunFolder, done: Callable[[], int]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if not done():
            raise
        place = shlex.quote(str(target.path))
        said = f"interrupted, {done()} runs are done; continue with the same command and --resume (--out {place})"
        raise InterruptedRunError(said) from None


def _target(out: str | None, *, resume: bool, force: bool) -> RunFolder | None:
    """The folder of the comparison, or None.

    Raises:
        InputError: it is not free, or there is nothing to go on with.
    """
    if out is None:
        if resume:
            raise input_error("--resume: which comparison is not said; expected --out DIR, its folder")
        return None
    target = RunFolder.given(out, force=force or resume or (Path(out) / UNFINISHED).is_dir())
    if (target.path / UNFINISHED).is_dir() and not (resume or force):
        what = f"{out}: holds an interrupted comparison"
        raise input_error(f"{what}; expected --resume to go on with it, or --force to start over")
    return target


def _named(baseline: str | None) -> dict[str, str]:
    """``KEY=V,KEY=V`` as keys and values."""
    parts = [] if baseline is None else split_values(baseline)
    return dict(parse_set(part, "--baseline") for part in parts)


def combinations(vary: list[str]) -> list[Overrides]:
    """All combinations of the values of every --vary, the last one varying fastest.

    Raises:
        InputError: no --vary at all, one that cannot be understood, or a key given twice.
    """
    if not vary:
        raise input_error("floatgate compare: no --vary; expected at least one, such as ftl.spare_factor=0.07,0.28")
    axes = [parse_axis(text) for text in vary]
    keys = [axis.key for axis in axes]
    twice = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
    if twice:
        raise input_error(f"--vary {quoted(twice)} given twice; expected all its values in one --vary")
    listed = [axis.listed() for axis in axes]
    must_be_few(math.prod(map(len, listed)), "--vary")
    return [list(zip(keys, values, strict=True)) for values in itertools.product(*listed)]
