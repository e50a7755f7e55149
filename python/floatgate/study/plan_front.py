"""The chart of a plan's Pareto front: lives against the cost of drives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from floatgate.base import units
from floatgate.pages import labels, palette, vega
from floatgate.pages.charts import WIDTH, data_chart, finished
from floatgate.report import throttle_charts
from floatgate.report.throttle_charts import TALL
from floatgate.study.plan_table import ENDS_BY

if TYPE_CHECKING:
    from floatgate.study.plan import Plan
    from floatgate.study.plan_point import Point

GIB = float(1 << 30)
_SHAPES = {"flash": "circle", "first block": "triangle-down", "rating": "square", "-": "diamond"}
_BESIDE_PX, _BELOW_PX, _LEGEND_PX = 85, 57, 20
"""Pixels of a chart that axes and a row of the legend take."""
_ROOM = 1.5
"""Factor by which the axes extend beyond the outermost marks, to leave room for names."""


def front_chart(plan: Plan, points: Sequence[Point], width: int = WIDTH) -> vega.Composed:
    """Return lives against what drives cost, with the Pareto front as a line through those that serve enough."""
    shown, target = front_rows(plan, points), plan.target_years
    lives = [row["y"] for row in shown] + ([] if target is None else [target])
    costs, heights = (_domain([row["x"] for row in shown]), _domain(lives))
    axis = vega.Axis(tickCount=5, format=throttle_charts.FIGURES, labelOverlap=True)
    title = "price" if plan.bounds.priced else "capacity, GiB"
    x = vega.X("x:Q", title=title, scale=vega.Scale(type="log", nice=False, domain=costs), axis=axis)
    y = vega.Y("y:Q", title="life, years", scale=vega.Scale(type="log", nice=False, domain=heights), axis=axis)
    line = data_chart(_steps([row for row in shown if row["front"] and row["serves"]]))
    layers = [line.mark_line(strokeWidth=1.8, color=palette.BLUE, interpolate="step-after").encode(x=x, y=y)]
    shape = _shapes(shown)
    for filled in (False, True):
        marks = data_chart([row for row in shown if row["front"] == filled])
        look = {"color": palette.BLUE if filled else palette.GREY, "strokeWidth": 1.6}
        layers.append(marks.mark_point(size=70, filled=filled, opacity=1, **look).encode(x=x, y=y, shape=shape))
    names, at_left = named(shown, costs, heights, target, width)
    layers += _names(shown, names, x, y)
    if target is not None:
        end, align = (costs[0] * 1.02, "left") if at_left else (costs[1] / 1.02, "right")
        layers += throttle_charts.rules_across([(units.target_years(target), target)], y, end, align=align)
    return finished(vega.layer(*layers), width, TALL)


def front_rows(plan: Plan, points: Sequence[Point]) -> list[dict[str, Any]]:
    """Return the marks, by cost and then by life."""
    bounds, most = plan.bounds, 10 * (plan.target_years or 100.0)
    rows: list[dict[str, Any]] = [
        {
            "x": bounds.cost(point) / (1 if bounds.priced else GIB),
            "y": min(point.life_years, most),
            "name": plan.name(point, short=True),
            "front": point in plan.front,
            "ends": ENDS_BY[point.ends],
            "serves": point.served is None or point.served >= bounds.min_served,
        }
        for point in points
    ]
    return sorted((row for row in rows if row["y"] > 0), key=lambda row: (row["x"], row["y"]))


def named(
    rows: Sequence[dict[str, Any]],
    costs: Sequence[float],
    lives: Sequence[float],
    target: float | None,
    width: int,
) -> tuple[list[labels.Label], bool]:
    """Return where the names of the front stand, and whether the name of the target stands at the left end of its line.

    Args:
        rows: the marks.
        costs: the ends of the axis across.
        lives: the ends of the axis upwards.
        target: the years of the target, None for none.
        width: of the whole chart in pixels.
    """
    kinds = len({row["ends"] for row in rows})
    wide, high = width - _BESIDE_PX, TALL - _BELOW_PX - _LEGEND_PX * math.ceil(kinds / 2)

    def across(value: float) -> float:
        return wide * math.log(value / costs[0]) / math.log(costs[1] / costs[0])

    def down(value: float) -> float:
        return high * math.log(lives[1] / value) / math.log(lives[1] / lives[0])

    marks = [labels.Mark(across(row["x"]), down(row["y"]), row["name"] if row["front"] else None) for row in rows]
    if target is None:
        return labels.placed(marks, wide, high), True
    long = labels.CHAR_PX * 1.1 * len(units.target_years(target))
    ends = [(left, down(target) - labels.LINE_PX - 2, left + long, down(target)) for left in (2.0, wide - 2.0 - long)]
    covers = [sum(labels.overlap(end, mark.box) for mark in marks) for end in ends]
    at_left = covers[0] <= covers[1]
    return labels.placed(marks, wide, high, [ends[0] if at_left else ends[1]]), at_left


def _domain(values: Sequence[float]) -> list[float]:
    """Return the ends of an axis that leaves room beyond the outermost values."""
    return [min(values, default=1.0) / _ROOM, max(values, default=1.0) * _ROOM]


def _shapes(rows: Sequence[dict[str, Any]]) -> vega.Channel:
    """Choose the shape of marks by what ends the life, with a legend of the shapes in use."""
    there = [name for name in _SHAPES if any(row["ends"] == name for row in rows)]
    titles = "{'flash': 'flash worn out', 'first block': 'first block worn out', 'rating': 'rated bytes written'}"
    legend = vega.Legend(
        title=None,
        orient="top",
        columns=2,
        columnPadding=24,
        labelExpr=f"{titles}[datum.label] || 'no end'",
        symbolFillColor=palette.BLUE,
    )
    return vega.Shape("ends:N", scale=vega.Scale(domain=there, range=[_SHAPES[one] for one in there]), legend=legend)


def _steps(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows, by cost, that live longer than all cheaper ones."""
    made: list[dict[str, Any]] = []
    for row in rows:
        if made and made[-1]["x"] == row["x"]:
            made.pop()
        if not made or row["y"] > made[-1]["y"]:
            made.append(row)
    return made


def _names(rows: Sequence[dict[str, Any]], names: Sequence[labels.Label], x: Any, y: Any) -> list[vega.Chart]:
    """Place the names of the front where there is room for them: a layer for each side and distance."""
    named_rows = list(zip([row for row in rows if row["front"]], names, strict=True))
    made = []
    for left, dy in dict.fromkeys((one.left, one.dy) for one in names):
        there = [(row, one) for row, one in named_rows if (one.left, one.dy) == (left, dy)]
        look = {"align": "right" if left else "left", "dx": there[0][1].dx, "dy": dy}
        texts = data_chart([row for row, _ in there]).mark_text(color=palette.INK, fontSize=labels.FONT_PX, **look)
        made.append(texts.encode(x=x, y=y, text="name:N"))
    return made
