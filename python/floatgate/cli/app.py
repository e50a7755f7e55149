"""The tree of commands."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from floatgate import _core
from floatgate.cli import (
    catalogue,
    check,
    compare,
    content,
    lifetime,
    placement,
    query,
    rb,
    report,
    reproduce,
    run,
    sweep,
    theory,
    trace,
    tune,
)

ROOT_HELP = """How long will this flash drive last under my workload, and which policy makes it last longer?

Exit status: 0 done, 1 the run failed, 2 unusable input."""


def command() -> Any:
    """The root command, as the argument parser takes it."""
    app = _group(ROOT_HELP)
    app.callback()(_root)
    many = (compare, sweep, tune, query, lifetime, reproduce)
    for module in (run, *many, content, placement, rb, theory, trace, check, catalogue, report):
        module.register(app)
    return typer.main.get_command(app)


def _group(text: str) -> typer.Typer:
    return typer.Typer(
        help=text,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"floatgate {_core.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """The root takes only --version; the commands do the work."""
