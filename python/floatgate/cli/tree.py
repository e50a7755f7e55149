"""Commands and groups of the command line: what all of them do alike.

Each command reads ``--json`` as :mod:`floatgate.cli.json_word` says, and shows its help in sections
(:mod:`floatgate.cli.help`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from floatgate.cli import help as pages
from floatgate.cli import json_word


class Command(TyperCommand):
    """A command of floatgate."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, each --json with its file."""
        return super().parse_args(ctx, json_word.with_values(self, args))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return what follows the name in the line of usage."""
        return pages.usage(self)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page."""
        pages.write(self, ctx, formatter)


class Group(TyperGroup):
    """A group of commands, or all of them."""

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
