"""Options of commands that take readings of a drive's counters, and the settings that they make."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import typer

from floatgate.base.errors import input_error, quote
from floatgate.lab.counters.reading import Role, Stated
from floatgate.lab.counters.values import size

HOURS_MAX = 876_000.0

Attribute = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        metavar="KEY=ROLE:UNIT",
        help="What an attribute counts, by number or name: 241=host:32MiB, 246=nothing. May be repeated.",
    ),
]
Serial = Annotated[
    str | None,
    typer.Option("--serial", metavar="NAME", help="The drive, by serial number or device, where files hold several."),
]


def stated(texts: Sequence[str] | None, unit_bytes: int | None = None) -> Stated:
    """Parse ``--attribute``.

    Args:
        texts: its values.
        unit_bytes: bytes of a count of host writes, wherever a file leaves them open.

    Raises:
        InputError: one is no attribute with a role and a unit, or an attribute is stated twice.
    """
    attributes: dict[str, tuple[Role, int]] = {}
    for text in texts or []:
        key, equals, meaning = text.partition("=")
        name, _, unit = meaning.partition(":")
        key = key.strip().lower()
        role = next((role for role in Role if role.value == name.strip().lower()), None)
        if not key or not equals or role is None:
            raise input_error(
                f"--attribute {quote(text)}: no attribute with a role; expected host, media, erase or nothing, "
                "as in 241=host:32MiB"
            )
        bytes_ = 1 if role is Role.NOTHING and not unit else size(unit)
        if bytes_ is None:
            raise input_error(
                f"--attribute {quote(text)}: {quote(unit)} is no unit; expected bytes of a count, as 512, 32MiB or 1GB"
            )
        if key in attributes:
            raise input_error(f"--attribute {quote(text)}: {quote(key)} is stated twice; expected it once")
        attributes[key] = (role, bytes_)
    return Stated(attributes, unit_bytes)


def hours(value: float | None) -> float | None:
    """Check ``--hours``.

    Raises:
        InputError: it is no length of time.
    """
    if value is not None and not (math.isfinite(value) and 0 < value <= HOURS_MAX):
        raise input_error(f"--hours: {value:g} is not a length of time; expected hours, more than 0 and at most 876000")
    return value
