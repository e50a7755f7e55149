"""One section of the result of a run: its lines of the summary, its cards, its parts of the page, its remarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.base import units
from floatgate.pages.parts import Part
from floatgate.results.run_view import RunView

Result = dict[str, Any]
"""A parsed ``result.json``."""
Line = tuple[str, str | None]
"""A line of the summary: name and text. None leaves it out; an empty name continues the line above."""
Card = tuple[str, str, str]
"""A headline of the page: name, value, and what stands below it."""


def _nothing_of_run(_run: RunView, _result: Result) -> list[Any]:
    return []


def _nothing_of_result(_result: Result) -> list[Any]:
    return []


@dataclass(frozen=True)
class Section:
    """One subject of a result. Each function leaves out what the result does not know.

    Attributes:
        name: what it is about.
        lines: its lines of the summary, from the run and its result.
        cards: its headlines of the page.
        parts: its parts of the page, from the run and its result.
        remarks: what a reader of its metrics must know; None is left out.
    """

    name: str
    lines: Callable[[RunView, Result], Sequence[Line]] = _nothing_of_run
    cards: Callable[[Result], Sequence[Card]] = _nothing_of_result
    parts: Callable[[RunView, Result], Sequence[Part]] = _nothing_of_run
    remarks: Callable[[Result], Sequence[str | None]] = _nothing_of_result


def count(value: int | None) -> str:
    """A cell with all digits of a count, ``12 345``; ``-`` where it is unknown."""
    return "-" if value is None else f"{value:,}".replace(",", " ")


def span_us(value: float | None) -> str:
    """A cell with a time in microseconds; ``-`` where it is unknown."""
    return "-" if value is None else units.span(value * 1e-6)
