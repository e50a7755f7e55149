"""``floatgate compare``."""

from __future__ import annotations

import contextlib
import itertools
import math
from typing import Annotated

import typer

from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.compare import run_settings
from floatgate.errors import input_error, quoted
from floatgate.experiment import Overrides, parse_vary
from floatgate.folder import RunFolder
from floatgate.parallel import must_be_few
from floatgate.progress import bars


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


def compare(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT.toml")],
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=V,V,...", help="Values to compare. Repeat the option for all combinations."),
    ] = None,
    set: o.Set = None,
    trace: o.Trace = None,
    format: o.Format = None,
    drive: o.Drive = None,
    capacity: o.Capacity = None,
    jobs: o.Jobs = None,
    out: o.Out = None,
    force: o.Force = False,
    json: o.Json = None,
    shadow: o.Shadow = False,
    no_report: o.NoReport = False,
    quiet: o.Quiet = False,
) -> int:
    """Run the same workload under several settings, side by side, on all cores.

    With --out, write compare.json, report.html and one run folder per setting.
    """
    output = Output(json, quiet=quiet, force=force)
    target = None if out is None else RunFolder.given(out, force=force)
    points = combinations(vary or [])
    base = o.build(experiment, trace, drive, capacity, {"format": format}, set)
    labels = [", ".join(value for _, value in point) for point in points]
    with target or contextlib.nullcontext():
        with bars(labels, quiet=quiet) as progress:
            done = run_settings(base, points, jobs, shadow, progress)
        folder = None if target is None else done.write(target, report=not no_report, command=o.command_line())
    status = o.tell_failures(done)
    output.give(done.to_dict())
    output.say(done.text())
    if folder is not None:
        output.say(o.place_line(folder, report=not no_report))
    return status


def combinations(vary: list[str]) -> list[Overrides]:
    """All combinations of the values of every --vary, the last one varying fastest.

    Raises:
        InputError: no --vary at all, one that cannot be understood, or a key given twice.
    """
    if not vary:
        raise input_error("floatgate compare: no --vary; expected at least one, such as ftl.spare_factor=0.07,0.28")
    axes = [parse_vary(text) for text in vary]
    keys = [key for key, _ in axes]
    twice = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
    if twice:
        raise input_error(f"--vary {quoted(twice)} given twice; expected all its values in one --vary")
    must_be_few(math.prod(len(values) for _, values in axes), "--vary")
    return [list(point) for point in itertools.product(*([(key, value) for value in values] for key, values in axes))]
