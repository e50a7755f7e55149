"""``floatgate lifetime``."""

from __future__ import annotations

import contextlib
import math
import shlex
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from floatgate.base.errors import STATUS_DONE, InterruptedRunError, input_error, quote
from floatgate.base.progress import bar, tell
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.results.folder import RunFolder
from floatgate.run.experiment import Experiment
from floatgate.run.lifetime import managed, of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floatgate.study.plan_point import Bounds, Point

Values = str | None


class Judge(StrEnum):
    """What ends the life of a drive."""

    BOTH = "both"
    FLASH = "flash"
    RATING = "rating"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("lifetime")(lifetime)


@g.grouped
def lifetime(
    experiment: Annotated[str | None, typer.Argument(metavar="EXPERIMENT.toml", show_default=False)] = None,
    *,
    source: g.Source,
    set: o.Set = None,
    trace_options: g.TraceOptions,
    target: Annotated[float | None, typer.Option("--target", metavar="YEARS", help="Target life. Default: 5.")] = None,
    throttle: Annotated[
        str | None, typer.Option("--throttle", metavar="NAME", help="The throttling policy (floatgate policies).")
    ] = None,
    reducer: Annotated[
        str | None,
        typer.Option("--reduce", metavar="NAME", help="Content reduction: dedup, compress, both or integrated."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Find the capacities, spare factors and throttles that reach the target.")
    ] = False,
    capacities: Annotated[
        Values, typer.Option("--capacities", metavar="A,B,..", help="Capacities of the plan, e.g. 64GiB,128GiB.")
    ] = None,
    spare_factors: Annotated[
        Values, typer.Option("--spare-factors", metavar="A,B,..", help="Spare factors of the plan, e.g. 0.07,0.28.")
    ] = None,
    throttles: Annotated[Values, typer.Option("--throttles", metavar="A,B,..", help="Throttles of the plan.")] = None,
    reducers: Annotated[
        Values, typer.Option("--reducers", metavar="A,B,..", help="Reducers of the plan, e.g. none,both,integrated.")
    ] = None,
    min_served: Annotated[
        float | None,
        typer.Option("--min-served", metavar="SHARE", help="Share of the workload to be written. Default: 0.99."),
    ] = None,
    max_write_p99: Annotated[
        float | None, typer.Option("--max-write-p99", metavar="MS", help="Longest p99 of page writes, milliseconds.")
    ] = None,
    price_per_tb: Annotated[
        float | None, typer.Option("--price-per-tb", metavar="PRICE", help="Price of a TB of flash, to show prices.")
    ] = None,
    judge: Annotated[
        Judge | None,
        typer.Option("--judge", help="What ends a drive's life: flash, the maker's rating, or both. Default: both."),
    ] = None,
    out: o.Out = None,
    resume: o.ResumeHere = False,
    force: o.Force = False,
    json: o.Json = None,
    report: o.Report = None,
    quiet: o.Quiet = False,
) -> int:
    """Forecast how many years a drive lasts, and how long its throttle delays page writes.

    The workload repeats until the drive is worn out or reaches its target; a year has 8,760 hours. With --out, write
    lifetime.json (or plan.json), experiment.toml and report.html. A plan that was stopped goes on with --resume.
    """
    output = Output(json, quiet=quiet, force=force)
    base = g.built(experiment, source, trace_options, set)
    base = base.with_overrides(managed(throttle, _years(target), reducer))
    lists = _lists(capacities, spare_factors, throttles, reducers)
    bounded = any(one is not None for one in (min_served, max_write_p99, price_per_tb, judge))
    if plan or bounded or any(one is not None for one in lists.values()):
        if throttle is not None:
            raise input_error("--throttle: a plan tries several; expected --throttles in its place")
        if reducer is not None and reducers is not None:
            raise input_error("--reduce: the plan tries those of --reducers; expected one of both options")
        bounds = _bounds(min_served, max_write_p99, price_per_tb, judge)
        return _planned(base, lists, bounds, output, out, resume=resume, force=force, report=output.draws(report))
    if resume:
        raise input_error("--resume: a single forecast has no parts to go on with; expected it beside --plan")
    place = None if out is None else RunFolder.given(out, force=force)
    with place or contextlib.nullcontext():
        with bar(base.name(), quiet=quiet) as progress:
            life = of(base, progress)
        folder = None if place is None else life.write(place, report=output.draws(report), command=o.command_line())
    output.give(life.result.to_dict())
    output.say(life.summary())
    if folder is not None:
        output.say(o.place_line(folder, report=output.draws(report)))
    return STATUS_DONE


def _planned(
    base: Experiment,
    lists: dict[str, list[str] | None],
    bounds: Bounds,
    output: Output,
    out: str | None,
    *,
    resume: bool,
    force: bool,
    report: bool,
) -> int:
    from floatgate.cli import kept
    from floatgate.study.planning import WHOLE, plan
    from floatgate.study.runs.unfinished import NAME, remove

    place = kept.folder(out, WHOLE, resume=resume, force=force)
    spares = lists["--spare-factors"]
    for text in spares or []:
        if not _is_share(text):
            raise input_error(
                f"--spare-factors: {quote(text)} is no share; expected figures from 0 to 1 such as 0.07,0.28"
            )
    policies, reducers = lists["--throttles"], lists["--reducers"]
    with place or contextlib.nullcontext():
        parts = None if place is None else place.path
        with bar(base.name(), quiet=output.quiet) as progress:
            told = None if progress is None else _tell
            asked = (base, lists["--capacities"], spares, policies, reducers)
            made = plan(*asked, progress, bounds, told, out=parts, resume=resume)
        if made.untried:
            output.give(made.to_dict())
            output.say(made.text())
            said = f"interrupted; not gone through: {', '.join(made.untried)}"
            if place is not None:
                said += f"; continue with the same command and --resume (--out {shlex.quote(str(place.path))})"
            raise InterruptedRunError(said)
        folder = None
        if place is not None:
            place.expect(str(place.path / NAME))
            folder = made.write(place, report=report, command=o.command_line())
            remove(folder)
    output.give(made.to_dict())
    output.say(made.text())
    if folder is not None:
        output.say(o.place_line(folder, report=report))
    return STATUS_DONE


def _tell(points: Sequence[Point]) -> None:
    """Say what came of a drive while others are gone through."""
    for point in points:
        tell(point.line())


def _bounds(
    min_served: float | None, max_write_p99_ms: float | None, price_per_tb: float | None, judge: Judge | None
) -> Bounds:
    """What the options ask of a drive.

    Raises:
        InputError: one of them is no share, no time or no price.
    """
    from floatgate.study.plan_point import Bounds

    if min_served is not None and not 0 <= min_served <= 1:
        raise input_error(f"--min-served: {min_served:g} is no share; expected a figure from 0 to 1 such as 0.99")
    if max_write_p99_ms is not None and not 0 < max_write_p99_ms < math.inf:
        raise input_error(f"--max-write-p99: {max_write_p99_ms:g} is no time; expected milliseconds, more than 0")
    if price_per_tb is not None and not 0 < price_per_tb < math.inf:
        raise input_error(f"--price-per-tb: {price_per_tb:g} is no price; expected a figure above 0")
    served = Bounds.min_served if min_served is None else min_served
    p99_us = None if max_write_p99_ms is None else 1000 * max_write_p99_ms
    return Bounds(served, p99_us, price_per_tb, (judge or Judge.BOTH).value)


def _years(target: float | None) -> float | None:
    if target is not None and not math.isfinite(target):
        raise input_error(f"--target: {target} is no length of time; expected years, more than 0")
    return target


def _lists(
    capacities: Values, spare_factors: Values, throttles: Values, reducers: Values
) -> dict[str, list[str] | None]:
    given = {"--capacities": capacities, "--spare-factors": spare_factors, "--throttles": throttles}
    given["--reducers"] = reducers
    return {option: _list(option, text) for option, text in given.items()}


def _list(option: str, text: str | None) -> list[str] | None:
    """The values of an option, separated by commas.

    Raises:
        InputError: one is empty, or there twice.
    """
    if text is None:
        return None
    values = [value.strip() for value in text.split(",")]
    if not all(values):
        raise input_error(f"{option} {quote(text)}: an empty value; expected VALUE,VALUE,...")
    twice = [value for value in dict.fromkeys(values) if values.count(value) > 1]
    if twice:
        raise input_error(f"{option} {quote(text)}: {quote(twice[0])} given twice; expected each value once")
    return values


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) < 1
    except ValueError:
        return False
