"""Charts of a leaderboard: means with intervals, and the front of WAF against what a policy costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from floatgate.pages import labels, palette, vega
from floatgate.pages.charts import HEIGHT, WIDTH, data_chart, finished
from floatgate.report.throttle_charts import FIGURES
from floatgate.study.leaderboard.standings import Standing

_ROW_PX = 18
_BESIDE_PX, _BELOW_PX = 75, 57
"""Pixels of a chart that axes take."""
TALL = HEIGHT + 160


def means(rows: Sequence[Standing], title: str, width: int = WIDTH) -> vega.Composed:
    """Draw the mean of each policy with its interval, and a dashed line at the baseline.

    Args:
        rows: policies with a mean, from top to bottom.
        title: of the axis.
        width: in pixels.
    """
    shown = [
        {"policy": row.policy, "value": row.ratio, "kind": _kind(row)}
        | ({} if row.ratio_95 is None else {"low": row.ratio_95[0], "high": row.ratio_95[1]})
        for row in rows
        if row.ratio is not None
    ]
    order = [row["policy"] for row in shown]
    y = vega.Y("policy:N", sort=order, title=None, axis=vega.Axis(grid=True, labelLimit=int(width * 0.4)))
    axis = vega.Axis(tickCount=5, format=FIGURES, labelOverlap=True)
    scale = vega.Scale(zero=False)
    x = vega.X("value:Q", title=title, scale=scale, axis=axis)
    line = data_chart([{"value": 1}]).mark_rule(color=palette.INK, strokeDash=[5, 4], strokeWidth=1.2)
    layers: list[Any] = [line.encode(x=x)]
    for kind, color, shape in _KINDS:
        there = [row for row in shown if row["kind"] == kind]
        ends = [row for row in there if "low" in row]
        bars = data_chart(ends).mark_rule(color=color, strokeWidth=2)
        layers.append(bars.encode(x=vega.X("low:Q", title=title, scale=scale), x2="high:Q", y=y))
        marks = data_chart(there).mark_point(color=color, size=50, filled=True, opacity=1, shape=shape)
        layers.append(marks.encode(x=x, y=y))
    return finished(vega.layer(*layers), width, 70 + _ROW_PX * len(order))


_KINDS = (
    ("ranked", palette.BLUE, "circle"),
    ("own", palette.MAGENTA, "diamond"),
    ("future", palette.GREY, "square"),
)


def _kind(row: Standing) -> str:
    return "own" if row.own else "future" if row.knows_future else "ranked"


def front(
    rows: Sequence[Standing],
    cost: Callable[[Standing], float | None],
    title: str,
    y_title: str,
    width: int = WIDTH,
    *,
    roots: bool = False,
) -> vega.Composed:
    """Draw the mean against a cost, the front filled and named.

    Args:
        rows: ranked policies.
        cost: of a policy.
        title: of the axis of costs.
        y_title: of the axis of means.
        width: in pixels.
        roots: whether the axis of costs begins at 0 and is one of square roots, which shows small and large ones alike.
    """
    known = [(row, value, row.ratio) for row in rows if row.ratio is not None and (value := cost(row)) is not None]
    shown = [{"x": x, "y": y, "name": row.policy, "front": row.front, "own": row.own} for row, x, y in known]
    pairs = [(x, y) for _, x, y in known]
    ends = (_domain([pair[0] for pair in pairs]), _domain([pair[1] for pair in pairs]))
    ends[0][0] = 0.0 if roots else ends[0][0]
    shape: dict[str, Any] = {"type": "pow", "exponent": 0.5} if roots else {"type": "linear"}
    x_scale = vega.Scale(nice=False, domain=ends[0], zero=False, **shape)
    x = vega.X("x:Q", title=title, scale=x_scale, axis=vega.Axis(tickCount=6, format=FIGURES, labelOverlap=True))
    y_scale = vega.Scale(zero=False, nice=False, domain=ends[1])
    y = vega.Y("y:Q", title=y_title, scale=y_scale, axis=vega.Axis(tickCount=5, format=FIGURES))
    steps = _steps(shown)
    layers: list[Any] = [
        data_chart(steps).mark_line(strokeWidth=1.6, color=palette.BLUE, interpolate="step-after").encode(x=x, y=y)
    ]
    for own in (False, True):
        for filled in (False, True):
            marks = [row for row in shown if (row["own"], row["front"]) == (own, filled)]
            color = palette.MAGENTA if own else palette.BLUE if filled else palette.GREY
            drawn = data_chart(marks).mark_point(
                size=60, filled=filled, opacity=1, color=color, strokeWidth=1.6, shape="diamond" if own else "circle"
            )
            layers.append(drawn.encode(x=x, y=y))
    layers += _names(shown, ends, x, y, width, 0.5 if roots else 1.0)
    return finished(vega.layer(*layers), width, TALL)


def _domain(values: Sequence[float]) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.06 * ((high - low) or high or 1.0)
    return [low - room if low > room else 0.0, high + room]


def _steps(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows, by cost, that are lower than all cheaper ones."""
    made: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: (row["x"], row["y"])):
        if not made or row["y"] < made[-1]["y"]:
            made.append(row)
    return made


def _names(
    rows: Sequence[dict[str, Any]], ends: Sequence[Sequence[float]], x: Any, y: Any, width: int, power: float
) -> list[vega.Chart]:
    """Place the names of all marks, a layer for each side and distance."""
    wide, high = width - _BESIDE_PX, TALL - _BELOW_PX

    def across(value: float) -> float:
        return float(wide * ((value - ends[0][0]) / (ends[0][1] - ends[0][0])) ** power)

    def down(value: float) -> float:
        return high * (ends[1][1] - value) / (ends[1][1] - ends[1][0])

    places = labels.placed([labels.Mark(across(row["x"]), down(row["y"]), row["name"]) for row in rows], wide, high)
    made = []
    pairs = list(zip(rows, places, strict=True))
    for left, dy in dict.fromkeys((one.left, one.dy) for one in places):
        there = [(row, one) for row, one in pairs if (one.left, one.dy) == (left, dy)]
        look = {"align": "right" if left else "left", "dx": there[0][1].dx, "dy": dy}
        texts = data_chart([row for row, _ in there]).mark_text(color=palette.INK, fontSize=labels.FONT_PX, **look)
        made.append(texts.encode(x=x, y=y, text="name:N"))
    return made
