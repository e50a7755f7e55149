"""Metrics of a result as the core declares them (``crates/stats/src/metrics``): units, names, which way is better."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from floatgate import _core
from floatgate.base import units

Row = Mapping[str, Any]
"""One setting: its values and figures by their keys."""

_FORMATS: Mapping[str, Callable[[float], str]] = {
    "figure": units.figure,
    "ratio": lambda value: f"{value:.2f}",
    "years": units.years,
    "prefixed": units.count,
    "span_us": lambda value: units.span(value * 1e-6),
}
_TYPES: Mapping[str, type] = {"count": int, "number": float, "interval": float, "flag": bool, "text": str}


@dataclass(frozen=True)
class Axis:
    """The axis of a metric: its title, the metric's units per unit of the axis, whether it is a tail."""

    title: str
    per: float
    tail: bool


@dataclass(frozen=True)
class Metric:
    """One figure of a result."""

    key: str
    group: str
    kind: str
    unit: str
    label: str
    short: str
    best: str
    format: str
    better: str | None
    axis: Axis | None
    column: float | None
    leads: bool
    everywhere: bool
    compared: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a flat table that hold it: an interval takes two."""
        return (f"{self.key}.low", f"{self.key}.high") if self.kind == "interval" else (self.key,)

    def text(self, value: float) -> str:
        """Return a value as people read it."""
        return _FORMATS[self.format](value)

    def best_of(self, rows: Iterable[Row]) -> Row | None:
        """Return the row with the best value; None where no row knows the figure."""
        known = [row for row in rows if row.get(self.key) is not None]
        choose = max if self.better == "higher" else min
        return choose(known, key=lambda row: row[self.key], default=None)


@cache
def table() -> Mapping[str, Metric]:
    """Return the figures that tables, pictures and comparisons select by default, the most consulted first."""
    rows: list[dict[str, Any]] = json.loads(_core.metrics())
    made = (Metric(**{**row, "axis": None if row["axis"] is None else Axis(**row["axis"])}) for row in rows)
    return {metric.key: metric for metric in made}


def leading() -> tuple[str, ...]:
    """Return the columns that lead a flat table."""
    return tuple(column for metric in table().values() if metric.leads for column in metric.columns)


def everywhere() -> Mapping[str, type]:
    """Return the columns that every flat table has, with their types."""
    there = [metric for metric in table().values() if metric.everywhere]
    return {column: _TYPES[metric.kind] for metric in there for column in metric.columns}


def compared() -> Sequence[Metric]:
    """Return what two settings are compared by."""
    return [metric for metric in table().values() if metric.compared]


def drawn() -> Sequence[Metric]:
    """Return the metrics that are drawn against the keys that vary."""
    return [metric for metric in table().values() if metric.axis is not None]


def listed() -> Sequence[Metric]:
    """Return the metrics in the table of settings of a page."""
    return [metric for metric in table().values() if metric.column is not None]


def looked_for() -> Sequence[Metric]:
    """Return the figures by which pages name the best setting."""
    return [metric for metric in table().values() if metric.best]
