"""``floatgate theory``."""

from __future__ import annotations

from typing import Annotated

import typer

from floatgate import _core
from floatgate.cli import options as o
from floatgate.cli.output import Output


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="Closed forms.", no_args_is_help=True, rich_markup_mode=None)
    group.command("wa")(wa)
    group.callback()(_theory)
    app.add_typer(group, name="theory")


def _theory() -> None:
    """Closed forms to hold the engine to."""


def wa(
    policy: Annotated[str, typer.Option(metavar="NAME", help="greedy, fifo, random or d-choices.")],
    spare_factor: Annotated[float, typer.Option(metavar="S", help="(T - U) / T, between 0 and 1.")],
    pages_per_block: Annotated[int, typer.Option(metavar="B", help="Pages of a block.", min=1, max=2**31 - 1)],
    choices: Annotated[
        int | None, typer.Option(metavar="D", help="Blocks that d-choices draws.", min=1, max=2**31 - 1)
    ] = None,
    json: o.BareJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Write amplification of uniform random 4 KiB writes by the closed form."""
    output = Output(json, quiet=quiet)
    value = _core.theory_wa(policy, spare_factor, pages_per_block, choices)
    asked = {"policy": policy, "spare_factor": spare_factor, "pages_per_block": pages_per_block, "choices": choices}
    output.give({"wa": value, **asked})
    if not output.wants_json:
        output.say(f"{value:.4f}")
