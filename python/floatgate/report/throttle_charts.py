"""Charts of lives under several throttles: each throttle has one colour, dash and shape everywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.pages import palette, vega
from floatgate.pages.charts import HEIGHT, TIME_UNITS, WIDTH, axis_title, data_chart, finished

YEAR_S = 8760 * 3600.0
"""A year of the papers and of forecasts: 8,760 hours."""
POINTS = 400
FIGURES = ",~f"
"""Format of figures on axes: never in scientific notation, no zeros at the end."""

TALL = HEIGHT + 40
"""Height of a chart whose legend has several rows, in pixels."""


@dataclass(frozen=True)
class Look:
    """How a line or a dot of one kind is drawn; ``dash`` in pixels on and off, empty for a solid line."""

    label: str
    color: str
    dash: tuple[int, ...]
    shape: str


@dataclass(frozen=True)
class Mark:
    """A rule upwards at ``x``, with a label; ``dash`` as of a :class:`Look`."""

    label: str
    x: float
    dash: tuple[int, ...]


THROTTLES: dict[str, Look] = {
    "none": Look("none", palette.GREY, (2, 3), "circle"),
    "static": Look("static", palette.BROWN, (8, 3), "square"),
    "dynamic": Look("dynamic", palette.SKY, (5, 2, 1, 2), "diamond"),
    "ready-pessimistic": Look("ready-pessimistic", palette.BLUE, (3, 1), "triangle-up"),
    "ready-optimistic": Look("ready-optimistic", palette.INK, (), "cross"),
}
_OTHERS = (
    (palette.UMBER, (6, 2), "triangle-down"),
    (palette.VIOLET, (1, 1), "triangle-left"),
    (palette.OLIVE, (10, 2, 2, 2), "triangle-right"),
)


def look_of(policy: str, number: int = 0) -> Look:
    """Return how to draw a throttle; those that this version does not know get a look by their number."""
    return THROTTLES.get(policy) or Look(policy, *_OTHERS[number % len(_OTHERS)])


def looks_of(policies: Sequence[str], labels: Mapping[str, str] | None = None) -> list[Look]:
    """Return the looks of several throttles, each once, called by ``labels`` where it has one there."""
    looks = [look_of(policy, number) for number, policy in enumerate(dict.fromkeys(policies))]
    return [Look((labels or {}).get(one.label, one.label), one.color, one.dash, one.shape) for one in looks]


def lines(
    rows: Sequence[dict[str, Any]],
    looks: Sequence[Look],
    x_title: str,
    y_title: str,
    *,
    width: int = WIDTH,
    height: int = TALL,
    x_log: bool = False,
    y_log: bool = False,
    share: bool = False,
    step: bool = False,
    points: bool = False,
    x_min: float | None = None,
    y_max: float | None = None,
    y_min: float = 0.0,
    rules: Sequence[tuple[str, float]] = (),
    marks: Sequence[Mark] = (),
    legend: bool = True,
) -> vega.Composed:
    """Return lines of several kinds.

    Args:
        rows: ``x``, ``y`` and ``series``, the label of a look; ``low`` and ``high`` where an interval is drawn.
        looks: in the order of the legend.
        x_title: of the axis, with its unit.
        y_title: of the axis, with its unit.
        width: of the whole chart in pixels.
        height: of the whole chart in pixels.
        x_log: logarithmic axis; rows at or below 0 are left out.
        y_log: the same upwards.
        share: whether y goes from 0 to 1, shown in per cent.
        step: steps rather than slopes; the value at ``x`` holds from the row before.
        points: whether each row is marked by the look's shape.
        x_min: the left end of x, to keep a line there off the axis; None to fit the rows.
        y_max: the top of y, which makes several charts comparable; None to fit the rows.
        y_min: the bottom of y where ``y_max`` is its top.
        rules: labels and heights of dotted lines across.
        marks: rules upwards; the top of y leaves room for their labels.
        legend: whether a legend says which line is which.
    """
    shown = [row for row in rows if (row["x"] > 0 or not x_log) and (row["y"] > 0 or not y_log)]
    x = vega.X(
        "x:Q",
        title=x_title,
        scale=vega.Scale(
            type="log" if x_log else "linear", nice=False, **({} if x_min is None else {"domainMin": x_min})
        ),
        axis=vega.Axis(tickCount=5, format=FIGURES, labelOverlap=True),
    )
    y_max = 1 if share else _with_room(y_max, rows, rules, marks)
    if y_max is not None:
        y_scale = vega.Scale(domain=[y_min, y_max])
    else:
        y_scale = vega.Scale(type="log" if y_log else "linear", zero=not y_log)
    y_axis = vega.Axis(format="%" if share else FIGURES, tickCount=5, labelOverlap=True)
    y = vega.Y("y:Q", title=y_title, scale=y_scale, axis=y_axis)
    encoded = {"x": x, "y": y, "color": _colors(looks, legend), "strokeDash": _dashes(looks, legend)}
    interpolate = "step-before" if step else "linear"
    layers = [data_chart(shown).mark_line(strokeWidth=1.8, interpolate=interpolate, clip=True).encode(**encoded)]
    if points:
        each = data_chart(shown).mark_point(size=60, filled=False, strokeWidth=1.6)
        layers.append(each.encode(x=x, y=y, color=_colors(looks, legend), shape=_shapes(looks, legend)))
    ends = {end: vega.Y(f"{end}:Q", title=y_title, scale=y_scale, axis=y_axis) for end in ("low", "high")}
    layers += _intervals(shown, x, ends, looks)
    first, last = (most((row["x"] for row in shown), default=1.0) for most in (min, max))
    # Marks have their labels at the right more often.
    layers += rules_across(rules, y, first if marks else last, "left" if marks else "right")
    layers += _rules_up(marks, x, last)
    return finished(vega.layer(*layers).resolve_legend(shape="shared", color="shared"), width, height)


def _intervals(
    rows: Sequence[dict[str, Any]], x: Any, ends: Mapping[str, Any], looks: Sequence[Look]
) -> list[vega.Chart]:
    """Draw bars from the lower to the upper end of an interval, with a tick at either.

    All layers have the rows of the lines, of which each shows some: their data are in a file once.
    """
    layers = []
    for look in looks:
        if not any(row["series"] == look.label and row.get("high") is not None for row in rows):
            continue
        # Colours of the marks' own: on the scale they would change the legend.
        own = f"datum.series === {json.dumps(look.label)} && isValid(datum.high)"
        base = vega.Chart(vega.Data(values=list(rows)), transform=[{"filter": own}])
        layers.append(base.mark_rule(strokeWidth=1.4, color=look.color).encode(x=x, y=ends["low"], y2="high:Q"))
        ticks = base.mark_tick(orient="horizontal", size=9, thickness=1.4, color=look.color)
        layers += [ticks.encode(x=x, y=ends[end]) for end in ("low", "high")]
    return layers


_LABEL_PX = 15
"""Height of the label of a mark."""


def _with_room(y_max: float | None, rows: Sequence[dict[str, Any]], rules: Any, marks: Sequence[Mark]) -> float | None:
    """Return the top of y that leaves room for the labels of marks above, each in a line of its own."""
    if not marks:
        return y_max
    heights = [*(row["y"] for row in rows), *(height for _, height in rules)]
    top = max(heights, default=0.0) if y_max is None else y_max
    return (top or 1.0) * (1.1 + (len(marks) + bool(rules)) * _LABEL_PX / HEIGHT)


def _rules_up(marks: Sequence[Mark], x: Any, end: float) -> list[Any]:
    """Draw lines upwards with their labels at the top, to the right of those in the left half.

    Each ends below the label of the one before: none crosses a label that reaches over it.
    """
    middle, made = end / 2, []
    right = sorted((mark for mark in marks if mark.x > middle), key=lambda mark: -mark.x)
    left = sorted((mark for mark in marks if mark.x <= middle), key=lambda mark: mark.x)
    for number, mark in enumerate([*right, *left]):
        chart = data_chart([{"x": mark.x, "label": mark.label}])
        rule = chart.mark_rule(color=palette.INK, strokeDash=list(mark.dash) or [1, 0], strokeWidth=1.3)
        align = {"align": "right", "dx": -4} if mark.x > middle else {"align": "left", "dx": 4}
        text = chart.mark_text(color=palette.INK, baseline="top", fontSize=12, **align)
        top = vega.value(_LABEL_PX * number)
        made += [rule.encode(x=x, y=top, y2=vega.value("height")), text.encode(x=x, y=top, text="label:N")]
    return made


def rules_across(rules: Sequence[tuple[str, float]], y: Any, end: float, align: str = "right") -> list[Any]:
    """Draw dotted lines across, with their labels at the right or the left end."""
    made = []
    for label, height in rules:
        chart = data_chart([{"y": height, "label": label, "x": end}])
        made.append(chart.mark_rule(color=palette.GREY, strokeDash=[1, 3], strokeWidth=1.6).encode(y=y))
        text = chart.mark_text(align=align, baseline="bottom", dy=-2, color=palette.INK, fontSize=12)
        made.append(text.encode(x=vega.X("x:Q"), y=y, text="label:N"))
    return made


def dots(
    rows: Sequence[dict[str, Any]],
    looks: Sequence[Look],
    order: Sequence[str],
    title: str,
    *,
    width: int = WIDTH,
    log: bool = False,
    zero: bool = True,
    rule: float | None = None,
) -> vega.Composed:
    """Return one line of dots for each thing: figures of several throttles side by side.

    Args:
        rows: ``thing``, ``value`` and ``series``, the label of a look.
        looks: in the order of the legend.
        order: the things from top to bottom.
        title: of the axis of values, with its unit.
        width: of the whole chart in pixels.
        log: logarithmic axis, of whole decades; rows at or below 0 are left out.
        zero: whether the axis begins at 0; else where the figures do.
        rule: a value to draw a line at.
    """
    x = vega.X(
        "value:Q",
        title=title,
        scale=vega.Scale(type="log" if log else "linear", zero=zero and not log),
        axis=vega.Axis(tickCount=5, format=FIGURES, labelOverlap=True),
    )
    y = vega.Y("thing:N", title=None, sort=list(order), axis=vega.Axis(grid=True))
    shown = [row for row in rows if row["value"] > 0 or not log]
    marks = data_chart(shown).mark_point(size=80, strokeWidth=1.8, filled=False)
    # Each kind has a height of its own: equal figures would hide each other.
    apart = vega.YOffset("series:N", sort=[one.label for one in looks])
    layers: list[Any] = [marks.encode(x=x, y=y, yOffset=apart, color=_colors(looks, True), shape=_shapes(looks, True))]
    if rule is not None:
        line = data_chart([{"value": rule}]).mark_rule(color=palette.GREY, strokeDash=[4, 3], strokeWidth=1.4)
        layers.insert(0, line.encode(x=x))
    return finished(vega.layer(*layers), width, 120 + 15 * (len(looks) + 1) * len(order))


def _colors(looks: Sequence[Look], legend: bool) -> Any:
    return vega.Color("series:N", scale=_scale(looks, [one.color for one in looks]), legend=_legend(legend))


def _dashes(looks: Sequence[Look], legend: bool) -> Any:
    dashes = [list(one.dash) or [1, 0] for one in looks]
    return vega.StrokeDash("series:N", scale=_scale(looks, dashes), legend=_legend(legend))


def _shapes(looks: Sequence[Look], legend: bool) -> Any:
    return vega.Shape("series:N", scale=_scale(looks, [one.shape for one in looks]), legend=_legend(legend))


def _scale(looks: Sequence[Look], shown: Sequence[Any]) -> Any:
    return vega.Scale(domain=[one.label for one in looks], range=shown)


def _legend(shown: bool) -> Any:
    if not shown:
        return None
    return vega.Legend(title=None, orient="top", columns=2, symbolSize=140, symbolStrokeWidth=2, labelLimit=220)


def time_axis(longest_s: float) -> tuple[str, float]:
    """Return title and unit in seconds of an axis of device time; years are those of forecasts."""
    title, unit = axis_title("time", longest_s, TIME_UNITS)
    return (title, YEAR_S) if "years" in title else (title, unit)


def thin(points: Sequence[Any], most: int = POINTS) -> list[Any]:
    """Select about this many of the points at most, evenly spaced, with the first and the last."""
    if len(points) <= most:
        return list(points)
    step = (len(points) - 1) / (most - 1)
    return [points[round(number * step)] for number in range(most)]
