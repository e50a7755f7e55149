"""The look of all charts, and charts as SVG that fits light, dark and black-and-white pages.

Axes carry units; a cause has the same colour and pattern in every chart (:mod:`floatgate.pages.causes`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from floatgate.pages import drawing, palette, vega
from floatgate.pages.causes import CAUSES, Cause, cause, patterned

WAF_TITLE = "write amplification"
WIDTH = 560
HEIGHT = 240

TIME_UNITS = (
    ("years", 31_557_600.0),
    ("days", 86_400.0),
    ("hours", 3_600.0),
    ("minutes", 60.0),
    ("seconds", 1.0),
    ("milliseconds", 1e-3),
)
COUNT_UNITS = (("thousand millions", 1e9), ("millions", 1e6), ("thousands", 1e3), ("", 1.0))


Made = TypeVar("Made")
"""A chart of any kind."""


def axis_title(kind: str, largest: float, units: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """Format as ``time, hours`` and the length of an hour in seconds."""
    name, unit = unit_of(largest, units)
    return (f"{kind}, {name}" if name else kind), unit


def unit_of(largest: float, steps: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """Return the first of ``steps`` (name, length) of which ``largest`` holds two."""
    return next(((name, unit) for name, unit in steps if largest >= 2 * unit), steps[-1])


def by_cause_color(labels: Sequence[str]) -> Any:
    """Return the colour of each cause, by its label, with a legend above the chart."""
    return colored("cause", labels, CAUSES)


def colored(field: str, labels: Sequence[str], looks: Mapping[str, Cause], columns: int = 2) -> Any:
    """Show a colour for each label of ``field``, as in ``looks`` where it is listed, with a legend above the chart."""
    present = list(dict.fromkeys(labels))
    colors = {entry.label: entry.color for entry in looks.values()}
    order = [label for label in colors if label in present] + [label for label in present if label not in colors]
    return vega.Color(
        f"{field}:N",
        scale=vega.Scale(domain=order, range=[colors.get(label) or cause(label).color for label in order]),
        legend=vega.Legend(
            title=None,
            orient="top",
            symbolType="square",
            symbolSize=180,
            columns=columns,
            columnPadding=24,
            labelLimit=260,
        ),
    )


def stacked_shares(rows: Sequence[dict[str, Any]], y: Any, color: Any, title: str) -> vega.Chart:
    """Draw one bar a ``y``, made of the ``share`` of each row in the order of its ``order``."""
    return (
        data_chart(rows)
        .mark_bar(stroke=palette.INK, strokeWidth=0.5, height=20)
        .encode(
            x=vega.X(
                "share:Q",
                title=title,
                axis=vega.Axis(format="%", tickCount=4),
                scale=vega.Scale(domain=[0, 1]),
            ),
            y=y,
            color=color,
            order="order:Q",
        )
    )


def binned(
    rows: Sequence[dict[str, Any]], title: str, counted: str, width: int, *, axis: Any, scale: Any, log: bool = False
) -> vega.Chart:
    """Draw bars, each ``from`` one value ``to`` another, as high as its ``count``.

    Args:
        rows: the bars.
        title: of the values.
        counted: the things that the axis counts; a name of a large unit is added.
        width: in pixels.
        axis: of the values.
        scale: likewise.
        log: whether heights are nearly logarithmic, and keep their unit.
    """
    name, unit = ("", 1) if log else unit_of(max((row["count"] for row in rows), default=0), COUNT_UNITS)
    settings = {"scale": vega.Scale(type="symlog")} if log else {}
    bars = data_chart([{**row, "count": row["count"] / unit} for row in rows])
    encoded = bars.mark_bar(color=palette.GREY, stroke=palette.INK, strokeWidth=0.5, binSpacing=0).encode(
        x=vega.X("from:Q", title=title, bin="binned", axis=axis, scale=scale),
        x2="to:Q",
        y=vega.Y("count:Q", title=f"{counted}{f', {name}' if name else ''}", **settings),
    )
    return finished(encoded, width, HEIGHT)


def data_chart(rows: Sequence[dict[str, Any]]) -> vega.Chart:
    """Draw a chart whose data travel with it."""
    return vega.Chart(vega.Data(values=list(rows)))


def finished(chart: Made, width: int, height: int) -> Made:
    """Set the size, and the look that all charts share."""
    fit = {"type": "fit", "contains": "padding"}
    sized: Any = chart
    made: Made = configured(sized.properties(width=width, height=height, autosize=fit))
    return made


def configured(chart: Made) -> Made:
    """Return the look of all charts: no background, text in :data:`palette.INK`, light grid."""
    plain: Any = chart
    styled: Made = (
        plain.configure(
            background="transparent",
            font=drawing.PAGE_FONT,
            padding={"left": 10, "right": 14, "top": 4, "bottom": 4},
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=palette.INK,
            titleColor=palette.INK,
            domainColor=palette.INK,
            tickColor=palette.INK,
            gridColor=palette.GREY,
            gridOpacity=0.3,
            labelFlush=False,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=9,
        )
        .configure_legend(labelColor=palette.INK, titleColor=palette.INK, labelFontSize=12)
    )
    return styled


def svg(chart: Any, name: str, label: str, *, patterns: bool = True) -> str:
    """Return the chart as inline SVG.

    Args:
        chart: a chart of :mod:`floatgate.pages.vega`, or one of Altair.
        name: prefix of its ids, different for every chart of a page.
        label: what a screen reader says.
        patterns: whether fills of causes take the patterns of :func:`pattern_defs`, which the page then has.

    Text and lines take the page's text colour.

    Raises:
        CannotDrawError: there is no picture; the message says why.
    """
    text = drawing.svg(chart.to_dict())
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    text = text.replace(f'"{palette.INK}"', '"currentColor"')
    for fill, entry in patterned().items() if patterns else ():
        text = text.replace(f'fill="{entry.color}"', f'fill="url(#{fill})"')
    escaped = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return re.sub(r"<svg ", f'<svg role="img" aria-label="{escaped}" ', text, count=1)
