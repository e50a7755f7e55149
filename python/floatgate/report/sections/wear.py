"""Erases of the blocks of a run."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look


def line(result: dict[str, Any]) -> str | None:
    """Format as ``412 erases per block (min 398, max 431, sd 6.1)``."""
    facts = look(result, "wear") or {}
    mean = facts.get("erases_mean")
    if mean is None:
        return None
    spread = [
        f"{name} {units.figure(facts[key], 2) if name == 'sd' else format(facts[key], 'g')}"
        for name, key in (("min", "erases_min"), ("max", "erases_max"), ("sd", "erases_std"))
        if facts.get(key) is not None
    ]
    return f"{units.figure(mean)} erases per block ({', '.join(spread)})"


def cards(result: dict[str, Any]) -> list[section.Card]:
    """Return the card of erases per block."""
    wear = look(result, "wear") or {}
    if wear.get("erases_mean") is None:
        return []
    return [("erases per block", units.figure(wear["erases_mean"]), f"max: {wear.get('erases_max', '-')}")]


def cells(result: dict[str, Any], _difference: section.Difference | None) -> list[str]:
    """Return the erases of the mean block and of the most erased one."""
    erases = (look(result, "wear", key) for key in ("erases_mean", "erases_max"))
    return ["-" if value is None else units.figure(value) for value in erases]


SECTION = section.Section(
    "wear",
    lines=lambda _, result: [("wear", line(result))],
    cards=cards,
    columns=[section.Columns(["mean erases", "max erases"], cells)],
)
