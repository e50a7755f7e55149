"""The charts of a run: where operations went, write amplification and free blocks over time, wear.

Axes carry units; a cause has the same colour and pattern in every chart (:mod:`floatgate.pages.causes`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from floatgate.pages import palette, vega
from floatgate.pages.causes import CAUSES, by_cause, cause
from floatgate.pages.charts import (
    COUNT_UNITS,
    HEIGHT,
    TIME_UNITS,
    WAF_TITLE,
    WIDTH,
    axis_title,
    binned,
    by_cause_color,
    data_chart,
    finished,
    stacked_shares,
    unit_of,
)
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView
from floatgate.results.series import rates, thinned

POINTS = 240


def shares(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Draw where programs, reads, erases and flash time went: one bar each, stacked by cause."""
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
    colors = by_cause_color([row["cause"] for row in rows])
    chart = stacked_shares(rows, vega.Y("what:N", title=None, sort=kinds), colors, "share of the total")
    return finished(chart, width, 80 + 34 * max(1, len(kinds)))


def writes(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Draw what the flash programs over time, stacked by cause: MB/s, or pages per request where there is no time."""
    rows, axis, unit = _programming(run)
    programmed = _programmed(rows)
    stacked = [
        {"at": row["at"], "cause": cause(name).label, "rate": row[f"programs_{name}"], "order": order}
        for row in rows
        for order, name in enumerate(programmed)
    ]
    chart = (
        data_chart(stacked)
        .mark_area(interpolate="step-before", stroke=palette.INK, strokeWidth=0.4)
        .encode(
            x=vega.X("at:Q", title=axis, scale=vega.Scale(nice=False)),
            y=vega.Y("rate:Q", title=unit, stack="zero"),
            color=by_cause_color([row["cause"] for row in stacked]),
            order="order:Q",
        )
    )
    return finished(chart, width, HEIGHT)


def waf(run: RunView, width: int = WIDTH) -> vega.Composed:
    """Write amplification over time; the dashed line is the run's mean, the band its 95 % interval."""
    rows, axis = course(run)
    points = [{"at": row["at"], "waf": row["waf"]} for row in rows if row.get("waf") is not None]
    mean, interval = look(run.result, "waf"), look(run.result, "waf_95")
    values = [point["waf"] for point in points] + ([mean, *(interval or [])] if mean is not None else [])
    scale = vega.Scale(domain=_roomy(values), nice=True, zero=False)
    y = vega.Y("waf:Q", title=WAF_TITLE, scale=scale)
    line = (
        data_chart(points)
        .mark_line(color=palette.INK, interpolate="step-before", strokeWidth=1.4)
        .encode(x=vega.X("at:Q", title=axis, scale=vega.Scale(nice=False)), y=y)
    )
    layers = [line]
    if mean is not None and points:
        low, high = sorted(interval) if interval else (mean, mean)
        ends = [{"at": points[0]["at"], "waf": mean, "low": low, "high": high}]
        ends += [{**ends[0], "at": points[-1]["at"]}]
        band = data_chart(ends).mark_area(color=palette.GREY, opacity=0.35)
        layers.insert(0, band.encode(x="at:Q", y=vega.Y("low:Q", title=WAF_TITLE, scale=scale), y2="high:Q"))
        rule = data_chart(ends[:1]).mark_rule(color=CAUSES["gc"].color, strokeDash=[6, 4], strokeWidth=1.6)
        layers.append(rule.encode(y=y))
    return finished(vega.layer(*layers), width, HEIGHT)


def free_blocks(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Free blocks over time, at the ends of the intervals."""
    rows, axis = course(run)
    points = [{"at": row["at"], "free": row["free_blocks"]} for row in rows if row.get("free_blocks") is not None]
    chart = (
        data_chart(points)
        .mark_line(color=palette.INK, interpolate="step-after", strokeWidth=1.4)
        .encode(
            x=vega.X("at:Q", title=axis, scale=vega.Scale(nice=False)),
            y=vega.Y("free:Q", title="free blocks", scale=vega.Scale(zero=True), axis=vega.Axis(tickMinStep=1)),
        )
    )
    return finished(chart, width, HEIGHT)


def wear(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Draw blocks by number of erases in the counted phase."""
    return _histogram(look(run.result, "wear", "histogram"), "blocks", "erases of a block", width)


def rest(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Time between two erases of a block, on a logarithmic axis; the first bar holds all shorter ones."""
    histogram = look(run.result, "wear", "idle_h", "histogram") or {}
    edges = [3600.0 * edge for edge in histogram.get("edges") or []]
    counts = histogram.get("intervals") or []
    unit, size = unit_of(edges[-1] if edges else 0, TIME_UNITS)
    rows = [
        {"from": (edges[i] or edges[i + 1] / 2) / size, "to": edges[i + 1] / size, "count": count}
        for i, count in enumerate(counts)
    ]
    title = f"time between two erases of a block, {unit}"
    scale = vega.Scale(type="log", nice=False)
    return binned(rows, title, "erases", width, axis=vega.Axis(format="~g"), scale=scale)


def valid_pages(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Draw closed blocks (or superblocks, where they are collected together) by valid pages at the end of the run."""
    scope = look(run.experiment(), "ftl", "collect", "scope")
    unit = "superblock" if scope == "superblock" else "block"
    return _histogram(look(run.result, "valid_pages"), "units", f"valid pages of a closed {unit}", width, unit)


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
    scale = vega.Scale(domain=list(ends), nice=False)
    return binned(rows, title, f"{unit}s", width, axis=vega.Axis(tickMinStep=1), scale=scale)


def _roomy(values: Sequence[float]) -> list[float]:
    """Return the ends of an axis that holds ``values``, with some width even if they are all alike."""
    low, high = min(values, default=1.0), max(values, default=1.0)
    spare = max(0.0, 0.1 * high - (high - low)) / 2
    return [low - spare, high + spare]


def course(run: RunView, points: int = POINTS) -> tuple[list[dict[str, Any]], str]:
    """Return the thinned series with ``at``, the place on the x axis, and the axis' title."""
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


def _programming(run: RunView) -> tuple[list[dict[str, Any]], str, str]:
    """Return rows with ``at`` and a rate for each cause, and the titles of both axes."""
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


def _programmed(rows: Sequence[dict[str, Any]]) -> list[str]:
    """List the causes that programmed at all, in the fixed order."""
    prefix = "programs_"
    counts: dict[str, float] = {}
    for row in rows:
        for name, value in row.items():
            if name.startswith(prefix):
                counts[name.removeprefix(prefix)] = counts.get(name.removeprefix(prefix), 0) + (value or 0)
    return [name for name, _ in by_cause(counts)]
