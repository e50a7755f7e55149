"""``floatgate lifetime``."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from floatgate.base.errors import STATUS_DONE, input_error
from floatgate.base.numbers import demand as demand_of
from floatgate.base.numbers import growth, years
from floatgate.base.numbers import volume as volume_bytes
from floatgate.base.progress import bar
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.measured import Readings, beside, measured
from floatgate.cli.output import Output
from floatgate.cli.places import Pictures
from floatgate.results.folder import RunFolder
from floatgate.run.demand import at_demand
from floatgate.run.lifetime import managed, of
from floatgate.run.volume import volume_of


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("lifetime")(lifetime)


@g.grouped
def lifetime(
    experiment: o.ExperimentFile = None,
    *,
    source: g.Source,
    set: o.Set = None,
    trace_options: g.TraceOptions,
    target: o.Target = None,
    growing: o.Growth = None,
    demand: o.Demand = None,
    volume: o.Volume = None,
    throttle: Annotated[
        str | None, typer.Option("--throttle", metavar="NAME", help="The throttling policy (floatgate policies).")
    ] = None,
    reducer: Annotated[
        str | None,
        typer.Option("--reduce", metavar="NAME", help="Content reduction: dedup, compress, both or integrated."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Find the drive that reaches the target, as floatgate plan does.")
    ] = False,
    choices: g.Choices,
    counters: Readings = None,
    out: o.Out = None,
    resume: o.ResumeHere = False,
    force: o.Force = False,
    json: o.Json = None,
    report: o.Report = None,
    pictures: Pictures,
    quiet: o.Quiet = False,
) -> int:
    """Forecast how many years a drive lasts, and how long its throttle delays page writes.

    The workload repeats until the drive is worn out or reaches its target; a year has 8,760 hours. With --out, write
    lifetime.json, experiment.toml and report.html. With --plan, or an option that only plans have, act as
    floatgate plan.
    """
    output = Output(json, quiet=quiet, force=force)
    drawn = pictures.checked(out, force=force)
    in_use = measured(counters)
    base = g.built(experiment, source, trace_options, set)
    base = base.with_overrides(managed(throttle, years(target), reducer, growth(growing)))
    rate, size = demand_of("--demand", demand), volume_bytes("--volume", volume)
    if plan or choices.as_settings():
        if throttle is not None:
            raise input_error("--throttle: a plan tries several; expected --throttles in its place")
        if reducer is not None and choices.reducers is not None:
            raise input_error(
                "--reduce: the plan already tries those of --reducers; expected only one of the two options"
            )
        from floatgate.cli.plan import Places, planned

        places = Places(out, resume=resume, force=force, report=output.draws(report))
        return planned(base, choices, output, places, demand=rate, volume=size, in_use=in_use, drawn=drawn)
    if resume:
        raise input_error("--resume: a single forecast has no parts to go on with; expected it beside --plan")
    place = None if out is None else RunFolder.named(out, force=force)
    with place or contextlib.nullcontext():
        with bar(base.name(), quiet=quiet) as progress, o.naming_remedies("--capacity"):
            life = of(at_demand(base.with_overrides(volume_of(base, size)), rate, progress), progress)
        folder = None if place is None else life.write(place, report=output.draws(report), command=o.command_line())
    output.give(life.result.to_dict())
    output.say(life.summary())
    if in_use is not None:
        output.say(beside(in_use, [life.result.to_dict()]))
    if folder is not None:
        output.say(o.place_line(folder, report=output.draws(report)))
    if drawn is not None:
        drawn.write(lambda: life.report(o.command_line()))
        output.say(drawn.line())
    return STATUS_DONE
