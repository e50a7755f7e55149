"""``floatgate policy``: policies of one's own, ``new`` and ``header``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from floatgate.base.errors import input_error
from floatgate.cli import options as o
from floatgate.cli import tree
from floatgate.cli.output import Output


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = tree.group("Policies of your own: write a skeleton, or print the contract in C.")
    group.command("new")(new)
    group.command("header")(header)
    app.add_typer(group, name="policy")


class OwnSlot(StrEnum):
    """A slot for policies of one's own."""

    VICTIM = "victim"
    SEPARATOR = "separator"
    LEVELER = "leveler"
    THROTTLE = "throttle"


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name in experiments, such as coldest-first.")],
    slot: Annotated[OwnSlot, typer.Option(help="What it decides: victim, separator, leveler or throttle.")],
    python: Annotated[bool, typer.Option("--python", help="In Python. The default.")] = False,
    c: Annotated[bool, typer.Option("--c", help="In C, for a shared library.")] = False,
    rust: Annotated[bool, typer.Option("--rust", help="In Rust, for a shared library.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write. Default: NAME.py, NAME.c or NAME.rs.")
    ] = None,
    force: o.Force = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Write the skeleton of a policy of your own, which runs as it is.

    docs/own-policies.md explains what to change. A policy in C or Rust gets the header or the types of the contract.
    """
    from floatgate.plugins import skeleton

    chosen = [language for language, wanted in (("python", python), ("c", c), ("rust", rust)) if wanted]
    if len(chosen) > 1:
        raise input_error(f"--{chosen[0]} and --{chosen[1]}: a skeleton has one language; expected one of them")
    output = Output(json, quiet=quiet, force=force)
    written = skeleton.write(name, slot.value, (chosen or ["python"])[0], out, force=force)
    output.give({"files": [str(file) for file in written.files], "next": written.commands})
    if not output.prints_json:
        lines = [f"written    {file}" for file in written.files]
        output.say("\n".join([*lines, *(f"next       {command}" for command in written.commands)]))


def header() -> None:
    """Print the contract of policies of your own as a C header."""
    from floatgate.plugins.header import header as text

    typer.echo(text(), nl=False)
