"""Commands and groups of the command line: what all of them do alike.

Each command reads ``--json`` as :mod:`floatgate.cli.json_word` says, and shows its help in sections
(:mod:`floatgate.cli.help`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from floatgate.base.errors import quote, warn
from floatgate.cli import help as pages
from floatgate.cli import json_word, values

_GUESSES = "floatgate.json_guesses"


class Command(TyperCommand):
    """A command of floatgate."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, that of the help page too."""
        return values.checked_late(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, each --json with its file."""
        line = json_word.with_values(self, _with_ports(self, args))
        ctx.meta[_GUESSES] = line.guesses
        return super().parse_args(ctx, line.arguments)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, then say which file of JSON was a guess."""
        outcome = super().invoke(ctx)
        for file in ctx.meta[_GUESSES]:
            warn(
                f"--json {quote(file)}: was taken as the file for the JSON, for nothing has this name; use --json=FILE"
            )
        return outcome

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return what follows the name in the line of usage."""
        return pages.usage(self)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page."""
        pages.write(self, ctx, formatter)


DASHBOARD = "--dashboard"
ANY_PORT = "0"


def _with_ports(command: TyperCommand, arguments: list[str]) -> list[str]:
    """Return the arguments with the port of a bare ``--dashboard``: any free one."""
    if all(DASHBOARD not in param.opts for param in command.params):
        return arguments
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [f"{DASHBOARD}={ANY_PORT}" if word == DASHBOARD and i < end else word for i, word in enumerate(arguments)]


class Group(TyperGroup):
    """A group of commands, or all of them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, that of the help page too."""
        return values.checked_late(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page."""
        pages.write(self, ctx, formatter)


class App(typer.Typer):
    """A group whose commands are :class:`Command`."""

    def command(  # type: ignore[override]
        self, name: str | None = None, **settings: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add a command."""
        return super().command(name, **{"cls": Command, **settings})


def group(text: str, **settings: Any) -> App:
    """Make a group of commands.

    Args:
        text: its help.
        settings: as typer takes them.
    """
    return App(cls=Group, help=text, no_args_is_help=True, rich_markup_mode=None, **settings)
