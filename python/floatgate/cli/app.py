"""The tree of commands."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from floatgate.cli import tree

MODULES = {
    "run": ["run"],
    "compare": ["compare"],
    "sweep": ["sweep"],
    "tune": ["tune"],
    "leaderboard": ["leaderboard"],
    "query": ["query", "ls"],
    "lifetime": ["lifetime"],
    "plan": ["plan"],
    "reproduce": ["reproduce"],
    "content": ["content"],
    "placement": ["placement"],
    "counters": ["counters"],
    "rb": ["rb"],
    "theory": ["theory"],
    "live": ["live"],
    "trace": ["trace"],
    "fetch": ["fetch"],
    "check": ["check"],
    "catalogue": ["drives", "policies", "schema"],
    "policy": ["policy"],
    "report": ["report"],
    "explain": ["explain"],
    "init": ["init"],
    "completion": ["completion"],
    "man": ["man"],
    "cite": ["cite"],
    "docs": ["docs"],
}
"""The modules of this package that add commands, in the order of the help, with their commands."""

ROOT_HELP = """How long will this flash drive last under my workload, and which policy makes it last longer?

Start with 'floatgate init', which writes an experiment, and 'floatgate run'; 'floatgate COMMAND --help' explains one.

Exit status: 0 done, 1 the run failed, 2 unusable input."""


def command(name: str | None = None) -> Any:
    """Return the root command, as the argument parser takes it.

    Args:
        name: the requested command: only its module is then imported, which keeps the start short. All where it
            is None or unknown.
    """
    app = tree.group(
        ROOT_HELP,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    modules = [module for module, commands in MODULES.items() if name in commands]
    for module in modules or MODULES:
        import_module(f"floatgate.cli.{module}").register(app)
    return typer.main.get_command(app)


def _show_version(value: bool) -> None:
    if value:
        from floatgate.cli import version

        version.show()
        raise typer.Exit


def _root(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show version, commit, build profile and extras; behind it, --json prints JSON.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Take only --version; the commands do the work."""
