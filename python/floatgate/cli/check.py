"""``floatgate check``."""

from __future__ import annotations

import tomllib
from typing import Annotated

import typer

from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.run.run import check as resolve_experiment


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check")(check)


def check(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT.toml", help="The experiment.")],
    set: o.Set = None,
    policy: o.Policy = None,  # noqa: ARG001 - loaded when it is read
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Validate an experiment and its [sweep] table without running it, and print it with all defaults resolved."""
    output = Output(json, quiet=quiet, force=None)
    built = g.built(experiment, g.Source(), None, set)
    resolved = resolve_experiment(built)
    if built.sweep:
        from floatgate.study.sweeps.spec import SweepOptions, points_of

        points_of(SweepOptions(), built.sweep, experiment, "floatgate check")
    output.give({"valid": True, "config": tomllib.loads(resolved)})
    if not output.prints_json:
        output.say(resolved.rstrip("\n"))
