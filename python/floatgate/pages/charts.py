"""The charts of a run, and charts as SVG that fits light, dark and black-and-white pages.

Axes carry units; a cause has the same colour and pattern in every chart (:mod:`floatgate.pages.causes`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from floatgate.pages import drawing, vega
from floatgate.pages.causes import CAUSES, PATTERNS, Cause, by_cause, cause, patterned
from floatgate.results.result_view import look
from floatgate.results.series import rates, thinned

if TYPE_CHECKING:
    from floatgate.run.run import Run

INK = "#212529"
"""Colour of text and lines; becomes the page's own text colour in SVG."""

MUTED = "#808080"
POINTS = 240
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


def shares(run: Run, width: int = WIDTH) -> vega.Chart:
    """Where programs, reads, erases and flash time went: one bar each, stacked by cause."""
    flash = run.result.to_dict().get("flash", {})
    rows: list[dict[str, Any]] = []
    for kind, label in (("programs", "programs"), ("reads", "page reads"), ("erases", "erases"), ("time_s", "time")):
        parts = by_cause(look(flash, kind) or {})
        total = sum(value for _, value in parts)
        rows += [
            {"what": label, "cause": cause(name).label, "share": value / total, "order": order}
            for order, (name, value) in enumerate(parts)
        ]
    kinds = list(dict.fromkeys(row["what"] for row in rows))
    chart = stacked_shares(
        rows, vega.Y("what:N", title=None, sort=kinds), _by_cause([row["cause"] for row in rows]), "share of the total"
    )
    return finished(chart, width, 80 + 34 * max(1, len(kinds)))


def writes(run: Run, width: int = WIDTH) -> vega.Chart:
    """What the flash programs over time, stacked by cause: MB/s, or pages per request where there is no time."""
    rows, axis, unit = _programming(run)
    programmed = _programmed(rows)
    stacked = [
        {"at": row["at"], "cause": cause(name).label, "rate": row[f"programs_{name}"], "order": order}
        for row in rows
        for order, name in enumerate(programmed)
    ]
    chart = (
        data_chart(stacked)
        .mark_area(interpolate="step-before", stroke=INK, strokeWidth=0.4)
        .encode(
            x=vega.X("at:Q", title=axis, scale=vega.Scale(nice=False)),
            y=vega.Y("rate:Q", title=unit, stack="zero"),
            color=_by_cause([row["cause"] for row in stacked]),
            order="order:Q",
        )
    )
    return finished(chart, width, HEIGHT)


def waf(run: Run, width: int = WIDTH) -> vega.Composed:
    """Write amplification over time; the dashed line is the run's mean, the band its 95 % interval."""
    rows, axis = course(run)
    points = [{"at": row["at"], "waf": row["waf"]} for row in rows if row.get("waf") is not None]
    mean, interval = look(run.result, "waf"), look(run.result, "waf_95")
    values = [point["waf"] for point in points] + ([mean, *(interval or [])] if mean is not None else [])
    scale = vega.Scale(domain=_roomy(values), nice=True, zero=False)
    y = vega.Y("waf:Q", title=WAF_TITLE, scale=scale)
    line = (
        data_chart(points)
        .mark_line(color=INK, interpolate="step-before", strokeWidth=1.4)
        .encode(x=vega.X("at:Q", title=axis, scale=vega.Scale(nice=False)), y=y)
    )
    layers = [line]
    if mean is not None and points:
        low, high = sorted(interval) if interval else (mean, mean)
        ends = [{"at": points[0]["at"], "waf": mean, "low": low, "high": high}]
        ends += [{**ends[0], "at": points[-1]["at"]}]
        band = data_chart(ends).mark_area(color=MUTED, opacity=0.35)
        layers.insert(0, band.encode(x="at:Q", y=vega.Y("low:Q", title=WAF_TITLE, scale=scale), y2="high:Q"))
        rule = data_chart(ends[:1]).mark_rule(color=CAUSES["gc"].color, strokeDash=[6, 4], strokeWidth=1.6)
        layers.append(rule.encode(y=y))
    return finished(vega.layer(*layers), width, HEIGHT)


def free_blocks(run: Run, width: int = WIDTH) -> vega.Chart:
    """Free blocks over time, at the ends of the intervals."""
    rows, axis = course(run)
    points = [{"at": row["at"], "free": row["free_blocks"]} for row in rows if row.get("free_blocks") is not None]
    chart = (
        data_chart(points)
        .mark_line(color=INK, interpolate="step-after", strokeWidth=1.4)
        .encode(
            x=vega.X("at:Q", title=axis, scale=vega.Scale(nice=False)),
            y=vega.Y("free:Q", title="free blocks", scale=vega.Scale(zero=True), axis=vega.Axis(tickMinStep=1)),
        )
    )
    return finished(chart, width, HEIGHT)


def wear(run: Run, width: int = WIDTH) -> vega.Chart:
    """Blocks by number of erases in the counted phase."""
    return _histogram(look(run.result, "wear", "histogram"), "blocks", "erases of a block", width)


def rest(run: Run, width: int = WIDTH) -> vega.Chart:
    """Time between two erases of a block, on a logarithmic axis; the first bar holds all shorter ones."""
    histogram = look(run.result, "wear", "idle_h", "histogram") or {}
    edges = [3600.0 * edge for edge in histogram.get("edges") or []]
    counts = histogram.get("intervals") or []
    unit, size = unit_of(edges[-1] if edges else 0, TIME_UNITS)
    scale_name, scale = unit_of(max(counts, default=0), COUNT_UNITS)
    rows = [
        {"from": (edges[i] or edges[i + 1] / 2) / size, "to": edges[i + 1] / size, "count": count / scale}
        for i, count in enumerate(counts)
    ]
    chart = (
        data_chart(rows)
        .mark_bar(color=MUTED, stroke=INK, strokeWidth=0.5, binSpacing=0)
        .encode(
            x=vega.X(
                "from:Q",
                title=f"time between two erases of a block, {unit}",
                bin="binned",
                axis=vega.Axis(format="~g"),
                scale=vega.Scale(type="log", nice=False),
            ),
            x2="to:Q",
            y=vega.Y("count:Q", title=f"erases{f', {scale_name}' if scale_name else ''}"),
        )
    )
    return finished(chart, width, HEIGHT)


def valid_pages(run: Run, width: int = WIDTH) -> vega.Chart:
    """Closed blocks (or superblocks, where they are collected together) by valid pages at the end of the run."""
    scope = look(run.experiment(), "ftl", "collect", "scope")
    unit = "superblock" if scope == "superblock" else "block"
    return _histogram(look(run.result, "valid_pages"), "units", f"valid pages of a closed {unit}", width, unit)


def compared(labels: Sequence[str], rows: Sequence[dict[str, Any]], width: int = WIDTH) -> vega.Composed:
    """Write amplification of several settings, with 95 % intervals.

    Args:
        labels: the settings in their order.
        rows: ``label``, ``waf`` and, where there is an interval, ``low`` and ``high``.
        width: of the whole chart in pixels.
    """
    height = 60 + 30 * len(labels)
    y = vega.Y("label:N", sort=list(labels), title=None, axis=vega.Axis(labelLimit=int(width * 0.4)))
    x = vega.X("waf:Q", title=WAF_TITLE, scale=vega.Scale(zero=True))
    bars = data_chart(rows).mark_bar(color=CAUSES["host"].color, height=14, stroke=INK, strokeWidth=0.5)
    ticks = data_chart([row for row in rows if "low" in row]).mark_rule(color=INK, strokeWidth=2)
    layers = vega.layer(bars.encode(x=x, y=y), ticks.encode(x="low:Q", x2="high:Q", y=y))
    return finished(layers, width, height)


def _histogram(
    histogram: dict[str, Any] | None, counted: str, title: str, width: int, unit: str = "block"
) -> vega.Chart:
    facts = histogram or {}
    start, step = facts.get("from") or 0, facts.get("width") or 1
    counts = facts.get(counted) or []
    start -= 0.5 if step == 1 else 0  # a bar of a single value stands on its tick
    rows = [
        {"from": start + index * step, "to": start + (index + 1) * step, "count": count}
        for index, count in enumerate(counts)
    ]
    ends = (start, start + len(counts) * step)
    if step == 1 and len(counts) < 5:  # few bars keep the width of bars
        ends = (max(-0.5, start - 2), start + len(counts) + 2)
    scale_name, scale = unit_of(max((row["count"] for row in rows), default=0), COUNT_UNITS)
    for row in rows:
        row["count"] /= scale
    chart = (
        data_chart(rows)
        .mark_bar(color=MUTED, stroke=INK, strokeWidth=0.5, binSpacing=0)
        .encode(
            x=vega.X(
                "from:Q",
                title=title,
                bin="binned",
                axis=vega.Axis(tickMinStep=1),
                scale=vega.Scale(domain=list(ends), nice=False),
            ),
            x2="to:Q",
            y=vega.Y("count:Q", title=f"{unit}s{f', {scale_name}' if scale_name else ''}"),
        )
    )
    return finished(chart, width, HEIGHT)


def _roomy(values: Sequence[float]) -> list[float]:
    """The ends of an axis that holds ``values``, and is not a hair's breadth where they are all alike."""
    low, high = min(values, default=1.0), max(values, default=1.0)
    spare = max(0.0, 0.1 * high - (high - low)) / 2
    return [low - spare, high + spare]


def course(run: Run, points: int = POINTS) -> tuple[list[dict[str, Any]], str]:
    """The thinned series with ``at``, the place on the x axis, and the axis' title."""
    rows = thinned(run.series, points)
    places = list(itertools.accumulate((row.get("time_s") or 0.0 for row in rows), max))
    kind: str = "time"
    units: Sequence[tuple[str, float]] = TIME_UNITS
    if not places or places[-1] <= 0:
        places = [float(row.get("requests") or 0) for row in rows]
        kind, units = "requests", COUNT_UNITS
    title, unit = axis_title(kind, places[-1] if places else 0, units)
    for row, place in zip(rows, places, strict=True):
        row["at"] = place / unit
    return rows, title


def _programming(run: Run) -> tuple[list[dict[str, Any]], str, str]:
    """Rows with ``at`` and a rate for each cause, and the titles of both axes."""
    timed: list[dict[str, Any]] | None = rates(run.series, POINTS) if run.series.num_rows > 1 else None
    if timed is not None:
        megabytes = (look(run.result, "drive", "page_bytes") or 4096) / 1e6
        title, unit = axis_title("time", timed[-1]["time_s"], TIME_UNITS)
        made = [
            {"at": row["time_s"] / unit, **{name: row[name] * megabytes for name in row if name != "time_s"}}
            for row in timed
        ]
        return made, title, "MB/s programmed"
    rows, title = course(run)
    before = 0
    for row in rows:
        requests = row["requests"] - before
        before = row["requests"]
        row.update({name: (row[name] or 0) / requests for name in row if name.startswith("programs_")})
    return rows, title, "pages per request"


def axis_title(kind: str, largest: float, units: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """``time, hours`` and the length of an hour in seconds."""
    name, unit = unit_of(largest, units)
    return (f"{kind}, {name}" if name else kind), unit


def _programmed(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Causes that programmed at all, in the fixed order."""
    prefix = "programs_"
    counts: dict[str, float] = {}
    for row in rows:
        for name, value in row.items():
            if name.startswith(prefix):
                counts[name.removeprefix(prefix)] = counts.get(name.removeprefix(prefix), 0) + (value or 0)
    return [name for name, _ in by_cause(counts)]


def unit_of(largest: float, steps: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """The first of ``steps`` (name, length) of which ``largest`` holds two."""
    return next(((name, unit) for name, unit in steps if largest >= 2 * unit), steps[-1])


def _by_cause(labels: Sequence[str]) -> Any:
    return colored("cause", labels, CAUSES)


def colored(field: str, labels: Sequence[str], looks: Mapping[str, Cause], columns: int = 2) -> Any:
    """The colour of each label of ``field``, that of ``looks`` where it has one, with a legend above the chart."""
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
    """One bar a ``y``, made of the ``share`` of each row in the order of its ``order``."""
    return (
        data_chart(rows)
        .mark_bar(stroke=INK, strokeWidth=0.5, height=20)
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


def data_chart(rows: Sequence[dict[str, Any]]) -> vega.Chart:
    """A chart whose data travel with it."""
    return vega.Chart(vega.Data(values=list(rows)))


def finished(chart: Made, width: int, height: int) -> Made:
    """Size, and one look for all charts."""
    fit = {"type": "fit", "contains": "padding"}
    sized: Any = chart
    made: Made = configured(sized.properties(width=width, height=height, autosize=fit))
    return made


def configured(chart: Made) -> Made:
    """The look of all charts: no background, text in :data:`INK`, light grid."""
    plain: Any = chart
    styled: Made = (
        plain.configure(
            background="transparent",
            font="system-ui, sans-serif",
            padding={"left": 10, "right": 14, "top": 4, "bottom": 4},
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            domainColor=INK,
            tickColor=INK,
            gridColor=MUTED,
            gridOpacity=0.3,
            labelFlush=False,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=9,
        )
        .configure_legend(labelColor=INK, titleColor=INK, labelFontSize=12)
    )
    return styled


def svg(chart: Any, name: str, label: str) -> str:
    """The chart as inline SVG.

    Args:
        chart: a chart of :mod:`floatgate.pages.vega`, or one of Altair.
        name: prefix of its ids, different for every chart of a page.
        label: what a screen reader says.

    Text and lines take the page's text colour; fills of causes take the patterns of :func:`pattern_defs`.

    Raises:
        CannotDrawError: there is no picture; the message says why.
    """
    text = drawing.svg(chart.to_dict())
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    text = text.replace(f'"{INK}"', '"currentColor"')
    for fill, entry in patterned().items():
        text = text.replace(f'fill="{entry.color}"', f'fill="url(#{fill})"')
    escaped = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return re.sub(r"<svg ", f'<svg role="img" aria-label="{escaped}" ', text, count=1)


def pattern_defs() -> str:
    """The fills of the causes, once for each page."""
    patterns = "".join(
        f'<pattern id="{fill}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" fill="{entry.color}"/>{PATTERNS[entry.pattern]}</pattern>'
        for fill, entry in patterned().items()
    )
    return f'<svg width="0" height="0" class="defs" aria-hidden="true"><defs>{patterns}</defs></svg>'
