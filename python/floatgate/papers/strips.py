"""Small charts in the list of claims: our values, one under the other, with the paper's and the range that passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.papers.judge import Verdict, room, shown

MARKS: dict[bool | None, str] = {True: "", False: "✗", None: "○"}
LOGARITHMIC_FROM = 50.0
"""Positive values that differ by this factor are drawn on a logarithmic scale."""
HEIGHT, MARGIN = 14, 4.0
"""Of a row in pixels; of its ends in percent."""
HEIGHT_OF_ORDER, DOT = 28, 4.0
"""Of a row with values in their order, and from its edges to a dot, in pixels."""


@dataclass(frozen=True)
class Strip:
    """One row: ``passes`` (begin and width), ``paper`` and ``dots`` are places from 0 to 100, from left to right.

    ``dots`` are pairs of such a place and one in pixels, from the top down.
    """

    name: str
    text: str
    mark: str
    dots: Sequence[tuple[float, float]]
    paper: float | None = None
    passes: tuple[float, float] | None = None
    height: int = HEIGHT


def strips(verdict: Verdict, unit: str) -> list[Strip]:
    """Return the rows of a claim with several values; none where they are no numbers."""
    rule, ours = verdict.claim.rule, verdict.ours
    if rule["judge"] == "order":
        by_name = {"": ours} if isinstance(ours, list) else ours
        return [_order(name, values, verdict.parts.get(name, True), unit) for name, values in (by_name or {}).items()]
    if not verdict.parts:
        return []
    values = {name: float(value) for name, value in ours.items() if _is_number(value)}
    if not values:
        return []
    papers = {name: value for name in ours if (value := _paper(rule, name)) is not None}
    scale = _Scale([*values.values(), *papers.values(), *_borders(rule)])
    return [
        Strip(
            name,
            shown(value, unit),
            MARKS[verdict.parts[name]],
            [(scale.place(values[name]), HEIGHT / 2)] if name in values else [],
            scale.place(papers[name]) if name in papers else None,
            scale.between(_passing(rule, papers.get(name))),
        )
        for name, value in ours.items()
    ]


def _order(name: str, values: list[Any], holds: bool | None, unit: str) -> Strip:
    """Return a row whose values stand beside each other, on a scale of its own."""
    scale = _Scale([value for value in values if _is_number(value)])
    step = (100 - 2 * MARGIN) / max(len(values) - 1, 1)
    dots = [
        (MARGIN + step * place, DOT + (HEIGHT_OF_ORDER - 2 * DOT) * (1 - scale.place(value) / 100))
        for place, value in enumerate(values)
        if _is_number(value)
    ]
    return Strip(name, shown(values, unit), MARKS[holds], dots, height=HEIGHT_OF_ORDER)


class _Scale:
    """Places of values, from ``MARGIN`` to 100 - ``MARGIN``."""

    def __init__(self, values: Sequence[float]) -> None:
        low, high = min(values, default=0.0), max(values, default=1.0)
        self.logarithmic = low > 0 and high > LOGARITHMIC_FROM * low
        if 0 < low < high / 2 and not self.logarithmic:
            low = 0.0
        self.low, self.high = self._of(low), self._of(high)

    def _of(self, value: float) -> float:
        return math.log(value) if self.logarithmic else value

    def place(self, value: float) -> float:
        if self.high == self.low:
            return 50.0
        return MARGIN + (100 - 2 * MARGIN) * (self._of(value) - self.low) / (self.high - self.low)

    def between(self, passing: tuple[float, float] | None) -> tuple[float, float] | None:
        """Return where the values that pass begin, and how wide they are; None where no range passes."""
        if passing is None:
            return None
        low, high = (self._edge(one) for one in passing)
        return low, max(high - low, 0.0)

    def _edge(self, value: float) -> float:
        if math.isinf(value) or (self.logarithmic and value <= 0):
            return 100.0 if value > 0 else 0.0
        return min(max(self.place(value), 0.0), 100.0)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _paper(rule: Mapping[str, Any], name: str) -> float | None:
    paper = rule.get("paper")
    value = paper.get(name) if isinstance(paper, Mapping) else paper
    return float(value) if value is not None and _is_number(value) else None


def _borders(rule: Mapping[str, Any]) -> list[float]:
    return [rule[key] for key in ("than", "low", "high") if key in rule]


def _passing(rule: Mapping[str, Any], paper: float | None) -> tuple[float, float] | None:
    """Return the range of values that pass."""
    kind = rule["judge"]
    if kind == "between":
        return rule["low"], rule["high"]
    if kind in ("below", "at-most"):
        return -math.inf, rule["than"]
    if kind in ("above", "at-least"):
        return rule["than"], math.inf
    if kind == "near" and paper is not None:
        return paper - room(rule, paper), paper + room(rule, paper)
    return None
