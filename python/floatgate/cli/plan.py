"""``floatgate plan``: which drive to buy for a workload. ``floatgate lifetime --plan`` comes here, too."""

from __future__ import annotations

import contextlib
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from floatgate.base.errors import STATUS_DONE, InterruptedRunError, input_error
from floatgate.base.numbers import BytesPerDay, growth, listed, years
from floatgate.base.numbers import demand as demand_of
from floatgate.base.numbers import volume as volume_bytes
from floatgate.base.progress import bar, tell
from floatgate.cli import groups as g
from floatgate.cli import kept
from floatgate.cli import options as o
from floatgate.cli.measured import Facts, Readings, beside, measured
from floatgate.cli.output import Output
from floatgate.cli.places import Files, Pictures
from floatgate.results.folder import must_be_new_file
from floatgate.results.table_files import EXPECTED, must_be_table_name, write_table
from floatgate.run.demand import at_demand
from floatgate.run.experiment import Experiment
from floatgate.run.lifetime import managed
from floatgate.study.plan_point import Point
from floatgate.study.plan_prices import pairs
from floatgate.study.plan_request import bounds_of, must_be_variants, must_name_drives_once
from floatgate.study.planning import WHOLE
from floatgate.study.planning import plan as plan_of
from floatgate.study.runs.resume import NAME, remove

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floatgate.study.plan import Plan


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


@g.grouped
def plan(
    experiment: o.ExperimentFile = None,
    *,
    source: g.Source,
    set: o.Set = None,
    trace_options: g.TraceOptions,
    target: o.Target = None,
    growing: o.Growth = None,
    demand: o.Demand = None,
    drives: Annotated[
        str | None,
        typer.Option(
            "--drives",
            metavar="A,B,..",
            help="Drives of the catalogue (floatgate drives), by name or by group: a part of names "
            "such as client, tlc or ent-qlc, or one of the words enterprise, current and papers.",
        ),
    ] = None,
    prices: o.Prices = None,
    volume: o.Volume = None,
    choices: g.Choices,
    counters: Readings = None,
    csv: Annotated[
        str | None, typer.Option("--csv", metavar="FILE", help="Write the table to FILE, .csv or .parquet.")
    ] = None,
    out: o.Out = None,
    resume: o.ResumeHere = False,
    force: o.Force = False,
    json: o.Json = None,
    report: o.Report = None,
    title: o.PlanTitle = None,
    note: o.PlanNote = None,
    pictures: Pictures,
    quiet: o.Quiet = False,
) -> int:
    """Find the cheapest drive that lasts long enough under a workload and serves it.

    Each drive lives through the workload, which repeats until the drive is worn out or reaches the target. Without
    --drives and --capacities, half, one, two and four times the capacity of the experiment's drive are tried. With
    --out, write plan.json, plan.csv, plan.parquet, experiment.toml and report.html.
    """
    output = Output(json, quiet=quiet, force=force)
    drawn = pictures.checked(out, force=force)
    in_use = measured(counters)
    names = listed("--drives", drives)
    must_name_drives_once(source.drive, names)
    if names is not None and source.capacity is not None:
        raise input_error("--capacity: the plan tries several drives; expected --capacities in its place")
    base = g.built(experiment, source, trace_options, set).with_overrides(
        managed(None, years(target), None, growth(growing))
    )
    rate = demand_of("--demand", demand)
    heading = (title, note)
    places = Places(out, csv, resume=resume, force=force, report=output.draws(report), heading=heading)
    size = volume_bytes("--volume", volume)
    return planned(base, choices, output, places, names, prices, demand=rate, volume=size, in_use=in_use, drawn=drawn)


@dataclass(frozen=True)
class Places:
    """The files that a plan writes.

    Attributes:
        out: the run folder, or None.
        csv: the file of the table, or None.
        resume: whether to resume from the folder.
        force: whether existing files may be overwritten.
        report: whether a report is drawn.
        heading: title and note of the report, or None for each.
    """

    out: str | None
    csv: str | None = None
    resume: bool = False
    force: bool = False
    report: bool = True
    heading: tuple[str | None, str | None] = (None, None)


def planned(
    base: Experiment,
    choices: g.Choices,
    output: Output,
    places: Places,
    drives: Sequence[str] | None = None,
    prices: str | None = None,
    *,
    demand: float | BytesPerDay | None = None,
    volume: int | None = None,
    in_use: Facts | None = None,
    drawn: Files | None = None,
) -> int:
    """Make a plan, write it and say what to take, beside the readings of the drive in use.

    Raises:
        InputError: an option, the experiment or its workload is unusable.
        InterruptedRunError: after Ctrl-C, when a drive was done.
    """
    lists = _lists(choices)
    bounds = bounds_of(
        drives,
        min_served=choices.min_served,
        max_write_p99_ms=choices.max_write_p99,
        price_per_tb=choices.price_per_tb,
        judge=(choices.judge or o.Judge.BOTH).value,
        prices=pairs(prices),
    )
    if places.csv is not None:
        must_be_table_name(places.csv, "--csv")
        must_be_new_file(places.csv, EXPECTED, force=places.force)
    place = kept.folder(places.out, WHOLE, resume=places.resume, force=places.force)
    with place or contextlib.nullcontext():
        parts = None if place is None else place.path
        with bar(base.name(), quiet=output.quiet, estimates=False) as progress, o.naming_remedies("--capacities"):
            report_point = _tell if progress is not None and sys.stderr.isatty() else None
            begins = None if output.quiet else tell
            work = (at_demand(base, demand, progress), *lists, progress, bounds, report_point, parts, places.resume)
            made = plan_of(*work, drives=drives, begins=begins, volume_bytes=volume).headed(*places.heading)
        if made.untried:
            raise _interrupted(made, output, parts)
        folder = None
        if place is not None:
            place.expect(str(place.path / NAME))
            folder = made.write(place, report=places.report, command=o.command_line())
            remove(folder)
    if places.csv is not None:
        write_table(made.arrow(), Path(places.csv))
    output.give(made.to_dict())
    output.say(made.text())
    if in_use is not None:
        output.say(f"\n{beside(in_use, [point.result for point in made.points])}")
    if folder is not None:
        output.say(o.place_line(folder, report=places.report))
    if drawn is not None:
        drawn.write(lambda: made.report(o.command_line()))
        output.say(drawn.line())
    return STATUS_DONE


def _interrupted(made: Plan, output: Output, place: Path | None) -> InterruptedRunError:
    """Print the part of a plan that is done, and how to resume it."""
    output.give(made.to_dict())
    output.say(made.text())
    text = f"interrupted; not tried: {', '.join(made.untried)}"
    if place is not None:
        text += f"; continue with the same command and --resume (--out {shlex.quote(str(place))})"
    return InterruptedRunError(text)


def _tell(points: Sequence[Point]) -> None:
    """Print the result of a drive while others are still in work."""
    for point in points:
        tell(point.line())


Lists = tuple[list[str] | None, list[str] | None, list[str] | None, list[str] | None]


def _lists(choices: g.Choices) -> Lists:
    """Split capacities, spare factors, throttles and reducers.

    Raises:
        InputError: one of them cannot be.
    """
    sizes, spares = listed("--capacities", choices.capacities), listed("--spare-factors", choices.spare_factors)
    must_be_variants(sizes, spares)
    return sizes, spares, listed("--throttles", choices.throttles), listed("--reducers", choices.reducers)
