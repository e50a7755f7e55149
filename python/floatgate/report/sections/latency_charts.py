"""Charts of timed runs: how long requests take, what flash operations wait for, where the energy goes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.base import units
from floatgate.pages import palette, vega
from floatgate.pages.causes import CAUSES, REASONS, by_cause, by_reason, cause, reason
from floatgate.pages.charts import HEIGHT, WIDTH, colored, data_chart, finished, stacked_shares
from floatgate.report.sections.run_charts import course
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView

KINDS = (("read", "reads"), ("write", "writes"))
COLORS = {"read": palette.INK, "write": CAUSES["host"].color}
"""Of reads and writes, in every chart; lines of reads are dashed too."""

POINTS = 120
"""Points of a course: maxima jump, and more of them would be a blur."""

CLASSES = {"read": "host reads", "write": "host writes", "background": "jobs"}

_ENERGY_UNITS = (("kJ", 1e3), ("J", 1.0), ("mJ", 1e-3), ("uJ", 1e-6))
OPERATIONS = {
    "read": "reads",
    "program": "programs",
    "erase": "erases",
    "transfer": "transfers",
    "hash": "fingerprints",
    "compress": "compression",
    "decompress": "decompression",
}
_QUANTILES = (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9"))


def slower(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return points of the distributions: ``kind``, ``us``, and ``slower``, the share of requests that took longer.

    The last point of a kind, its longest latency, which none exceeds, lies at the foot of the axis: half a request.
    Latencies of nothing (reads of pages that were never written) lie at the left end of the axis of the others.
    """
    rows: list[dict[str, Any]] = []
    for kind, label in KINDS:
        facts = look(result, "latency_us", kind) or {}
        cdf = facts.get("cdf") or {}
        points = list(zip(cdf.get("us") or [], cdf.get("share") or [], strict=True))
        if not points:
            continue
        least = min((1 - share for _, share in points if share < 1), default=1.0)
        foot = min(0.5 / facts["count"], least / 2)
        rows += [{"kind": label, "us": us, "slower": max(1 - share, foot)} for us, share in points]
    return _seen(rows)


def _seen(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fit ``us`` of the rows to a logarithmic axis: values below a microsecond become the least of those above."""
    least = min((row["us"] for row in rows if row["us"] >= 1.0), default=1.0)
    for row in rows:
        row["us"] = row["us"] if row["us"] >= 1.0 else least
    return rows


def distribution(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Share of requests done within a latency; both axes logarithmic, the tail stretched."""
    rows = slower(run.result.to_dict())
    foot = min((row["slower"] for row in rows), default=1e-5)
    decades = max(1, math.ceil(-math.log10(foot)))
    ticks = [0.5, *(10.0**-k for k in range(1, decades + 1))]
    y = vega.Y(
        "slower:Q",
        title="requests done within",
        # The axis runs downwards in the share of slower requests, so upwards in that of those that are done.
        scale=vega.Scale(type="log", domain=[foot, 1.0], reverse=True, nice=False),
        axis=vega.Axis(values=[1.0, *ticks], labelExpr=_within("datum.value")),
    )
    labels = list(dict.fromkeys(row["kind"] for row in rows))
    chart = (
        data_chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
        .encode(
            x=_latency_axis([row["us"] for row in rows]),
            y=y,
            **_lines("kind", [(label, *_kind_look(label)) for label in labels]),
        )
    )
    return finished(chart, width, HEIGHT + 40)


def _within(share: str) -> str:
    """Return a Vega expression that writes 1 - share as a percentage: 0, 50 %, 90 %, 99 %, 99.9 %."""
    digits = f"max(0, ceil(-log({share}) / LN10 - 0.01) - 2)"
    return f"{share} == 1 ? '0 %' : format(100 * (1 - {share}), '.' + {digits} + 'f') + ' %'"


def _kind_look(label: str) -> tuple[str, list[int]]:
    return (COLORS["read"], [7, 3]) if label == "reads" else (COLORS["write"], [1, 0])


def _lines(field: str, looks: Sequence[tuple[str, str, list[int]]]) -> dict[str, Any]:
    """Set colour and dashes of lines (label, colour, dashes), in one legend."""
    labels = [label for label, _, _ in looks]
    legend = vega.Legend(title=None, orient="top", symbolSize=300, symbolStrokeWidth=2, columns=2, labelLimit=200)
    return {
        "color": vega.Color(
            f"{field}:N", scale=vega.Scale(domain=labels, range=[color for _, color, _ in looks]), legend=legend
        ),
        "strokeDash": vega.StrokeDash(
            f"{field}:N", scale=vega.Scale(domain=labels, range=[dash for _, _, dash in looks]), legend=legend
        ),
    }


def _latency_axis(values: Sequence[float], axis: str = "x") -> Any:
    """Return a logarithmic axis of latencies whose ticks are named in us, ms and s."""
    low, high = min(values, default=1.0), max(values, default=10.0)
    names = "datum.value < 1000 ? datum.value + ' us' : datum.value < 1e6 ? datum.value / 1e3 + ' ms' : "
    names += "datum.value / 1e6 + ' s'"
    decades = [10.0**k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    steps = (1,) if high > 300 * low else (1, 2, 5) if high > 5 * low else (1, 1.5, 2, 3, 4, 5, 6, 8)
    ticks = [value * step for value in decades for step in steps if low / 1.5 <= value * step <= high * 1.5]
    ends = [min([low, *ticks]) * 0.97, max([high, *ticks]) * 1.03]
    made = vega.X if axis == "x" else vega.Y
    return made(
        "us:Q",
        title="latency",
        scale=vega.Scale(type="log", domain=ends, nice=False),
        axis=vega.Axis(values=ticks, labelExpr=names, labelOverlap="greedy"),
    )


def latency_rows(run: RunView) -> tuple[list[dict[str, Any]], str]:
    """Return the course of latencies: ``at``, ``us`` and ``line`` (mean or longest of a kind), and the axis' title."""
    rows, title = course(run, POINTS)
    made = [
        {"at": row["at"], "us": row[column], "line": f"{label}, {name}"}
        for kind, label in KINDS
        for figure, name in (("mean", "mean"), ("max", "longest"))
        for column in (f"{kind}_latency_{figure}_us",)
        for row in rows
        if row.get(column) is not None
    ]
    return _seen(made), title


def over_time(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Mean and longest latency of each interval."""
    rows, title = latency_rows(run)
    looks = {
        "reads, mean": (COLORS["read"], [7, 3]),
        "reads, longest": (COLORS["read"], [7, 2, 1, 2]),
        "writes, mean": (COLORS["write"], [1, 0]),
        "writes, longest": (COLORS["write"], [2, 2]),
    }
    present = dict.fromkeys(row["line"] for row in rows)
    chart = (
        data_chart(rows)
        .mark_line()
        .encode(
            x=vega.X("at:Q", title=title, scale=vega.Scale(nice=False)),
            y=_latency_axis([row["us"] for row in rows], "y"),
            strokeWidth=vega.condition("indexof(datum.line, 'mean') > 0", vega.value(2.0), vega.value(0.8)),
            **_lines("line", [(label, *look) for label, look in looks.items() if label in present]),
        )
    )
    return finished(chart, width, HEIGHT + 20)


def waiting_rows(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Split the time of each class's operations by reason: ``class``, ``why``, ``us`` (mean), ``share``, ``order``."""
    rows = []
    for name, means in (look(result, "latency_us", "waiting") or {}).items():
        if not isinstance(means, dict):
            continue
        parts = by_reason(means)
        total = sum(value for _, value in parts)
        label = f"{CLASSES.get(name, name)}, {units.span(total * 1e-6)}"
        rows += [
            {"class": label, "why": reason(why).label, "us": value, "share": value / total, "order": order}
            for order, (why, value) in enumerate(parts)
        ]
    return rows


def waiting(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Draw what the operations of each class wait for, as shares of their time from issue to end."""
    rows = waiting_rows(run.result.to_dict())
    classes = list(dict.fromkeys(row["class"] for row in rows))
    y = vega.Y("class:N", title=None, sort=classes, axis=vega.Axis(labelLimit=int(width * 0.5)))
    color = colored("why", [row["why"] for row in rows], REASONS, columns=2 if width > 400 else 1)
    chart = stacked_shares(rows, y, color, "share of the time of an operation")
    return finished(chart, width, 130 + 34 * max(1, len(classes)) + (0 if width > 400 else 60))


def energy_rows(result: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return energy of each operation by cause: ``what``, ``cause``, ``energy``, ``order``; and the unit."""
    table = look(result, "energy") or {}
    spent = {name: table.get(f"{name}_j") for name in OPERATIONS}
    largest = max((sum(v for _, v in by_cause(of)) for of in spent.values() if of), default=0.0)
    unit, size = next(((name, size) for name, size in _ENERGY_UNITS if largest >= size), _ENERGY_UNITS[-1])
    rows = [
        {"what": OPERATIONS[name], "cause": cause(key).label, "energy": value / size, "order": order}
        for name, of in spent.items()
        for order, (key, value) in enumerate(by_cause(of or {}))
    ]
    return rows, unit


def energy(run: RunView, width: int = WIDTH) -> vega.Chart:
    """Draw energy by operation, stacked by cause."""
    rows, unit = energy_rows(run.result.to_dict())
    kinds = list(dict.fromkeys(row["what"] for row in rows))
    chart = (
        data_chart(rows)
        .mark_bar(stroke=palette.INK, strokeWidth=0.5, height=20)
        .encode(
            x=vega.X("energy:Q", title=f"energy, {unit}"),
            y=vega.Y("what:N", title=None, sort=kinds),
            color=colored("cause", [row["cause"] for row in rows], CAUSES),
            order="order:Q",
        )
    )
    return finished(chart, width, 90 + 34 * max(1, len(kinds)))


def compared_rows(
    labels: Sequence[str],
    results: Sequence[dict[str, Any] | None],
    settings: Sequence[Mapping[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """Return latencies of several settings: ``label``, ``kind``, ``quantile``, ``us``, and the keys that vary.

    Args:
        labels: of the settings.
        results: theirs; None where a setting has none.
        settings: key -> value of each setting, which the data of pictures then have; None without keys.
    """
    rows = [
        {"label": label, "kind": name, "quantile": shown, "us": value, **keys}
        for label, result, keys in zip(labels, results, settings or [{}] * len(labels), strict=True)
        for kind, name in KINDS
        for key, shown in _QUANTILES
        for value in (look(result or {}, "latency_us", kind, key),)
        if value is not None
    ]
    return _seen(rows)


def compared(labels: Sequence[str], rows: Sequence[dict[str, Any]], width: int = WIDTH) -> vega.Composed:
    """Draw quantiles of one kind of request under several settings, on one logarithmic axis.

    Args:
        labels: the settings in their order.
        rows: of :func:`compared_rows`, of one kind.
        width: of the whole chart in pixels.
    """
    shown = [name for _, name in _QUANTILES]
    y = vega.Y("label:N", sort=list(labels), title=None, axis=vega.Axis(labelLimit=int(width * 0.4), grid=True))
    ends = [row["us"] for row in rows]
    x = _latency_axis([0.85 * min(ends, default=1.0), *ends, 1.15 * max(ends, default=1.0)])
    base = data_chart(rows)
    marks = base.mark_point(size=90, color=palette.INK, strokeWidth=2, opacity=1).encode(
        x=x,
        y=y,
        shape=vega.Shape(
            "quantile:N",
            scale=vega.Scale(domain=shown, range=["circle", "square", "triangle-up"]),
            legend=vega.Legend(title=None, orient="top", columns=3, symbolSize=90),
        ),
    )
    line = base.mark_line(color=palette.INK, strokeWidth=0.8).encode(x=x, y=y, detail="label:N")
    return finished(vega.layer(line, marks), width, 90 + 30 * len(labels))
