"""One section of the result of a run: its lines of the summary, cards, parts of the page, remarks, and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
"""A headline of the page: name, value, and the text below it."""
Difference = Mapping[str, Any]
"""How a setting differs from the baseline (:func:`floatgate.study.differences.between`)."""


def _nothing_of_run(_run: RunView, _result: Result) -> list[Any]:
    return []


def _nothing_of_result(_result: Result) -> list[Any]:
    return []


@dataclass(frozen=True)
class Columns:
    """Columns of the table that compares settings.

    Attributes:
        header: their names.
        cells: their cells, from the result of a setting and its difference to the baseline (None where unknown).
        applies: whether a result has such metrics; the columns are there where one of the results has. None: always.
        note: how to read them; stands below the table.
        page_only: whether they are left out on the terminal, for want of room.
        fitted: the columns for all results of a table, where one cell depends on the others, as a unit for all of them.
    """

    header: Sequence[str]
    cells: Callable[[Result, Difference | None], Sequence[str]]
    applies: Callable[[Result], bool] | None = None
    note: str = ""
    page_only: bool = False
    fitted: Callable[[Sequence[Result]], Columns] | None = None


@dataclass(frozen=True)
class Section:
    """One subject of a result. Each function leaves out unknown figures.

    Attributes:
        name: of the subject.
        lines: its lines of the summary, from the run and its result.
        cards: its headlines of the page.
        parts: its parts of the page, from the run and its result.
        remarks: what a reader of its metrics must know; None is left out.
        columns: its columns of the table that compares settings.
        notes: what a reader of such a table must know, from the results by the labels of their settings; each note
            names the settings that it is on. Without it, remarks on some of the settings alone are the notes.
    """

    name: str
    lines: Callable[[RunView, Result], Sequence[Line]] = _nothing_of_run
    cards: Callable[[Result], Sequence[Card]] = _nothing_of_result
    parts: Callable[[RunView, Result], Sequence[Part]] = _nothing_of_run
    remarks: Callable[[Result], Sequence[str | None]] = _nothing_of_result
    columns: Sequence[Columns] = ()
    notes: Callable[[Mapping[str, Mapping[str, Any]]], Sequence[str]] | None = None


NAMED_MAX = 3
"""Settings that a note names; of more it says how many they are."""
LISTED_MAX = 8
"""The same of a note that has nothing else to say of each."""


def which(labels: Sequence[str], count: int, named_max: int = NAMED_MAX) -> str:
    """Format as ``All settings``, ``greedy, dac`` or ``4 of 6 settings``: those of ``count`` that a note is on.

    Args:
        labels: of these settings.
        count: of all settings.
        named_max: labels that are listed at most.
    """
    if len(labels) == count:
        return "All settings"
    if len(labels) > named_max:
        return f"{len(labels)} of {count} settings"
    return ("; " if any(", " in label for label in labels) else ", ").join(labels)


def count(value: int | None) -> str:
    """Return a cell with all digits of a count, ``12 345``; ``-`` where it is unknown."""
    return "-" if value is None else f"{value:,}".replace(",", " ")


def span_us(value: float | None) -> str:
    """Return a cell with a time in microseconds; ``-`` where it is unknown."""
    return "-" if value is None else units.span(value * 1e-6)
