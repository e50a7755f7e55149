"""Figures 2 and 5 to 8 of the paper on pattern-based scheduling, drawn from our results."""

from __future__ import annotations

from typing import Any

from floatgate.pages import palette, vega
from floatgate.pages.charts import data_chart, finished
from floatgate.papers.judge import Findings
from floatgate.papers.paper import Figure
from floatgate.papers.patterns.values import WORKLOADS
from floatgate.report import throttle_charts
from floatgate.report.throttle_charts import Look

LOOKS = {
    "baseline": Look("Baseline", palette.GREY, (2, 3), "circle"),
    "swl": Look("SWL", palette.BROWN, (8, 3), "square"),
    "pgis-swl": Look("PGIS+SWL", palette.BLUE, (3, 1), "triangle-up"),
    "pattern": Look("Pattern", palette.INK, (), "cross"),
    "pattern-upper": Look("Pattern, upper half", palette.GREEN, (5, 2), "diamond"),
}
DISPATCHERS = {
    "baseline": LOOKS["baseline"],
    "pgis": Look("PGIS", palette.BLUE, (3, 1), "triangle-up"),
    "patterns-only": LOOKS["pattern"],
}
OF_WORKLOADS = dict(zip(WORKLOADS, (palette.GREY, palette.BROWN, palette.SKY, palette.BLUE), strict=True))
PARTS = {"routine collection": palette.SKY, "wear-leveling": palette.BROWN}
PRINTED_MS = 138.0
"""The most that Pattern takes beyond Baseline (section IV-B.4)."""
FIGURE_2 = "Figure 2: addresses"


def figures(findings: Findings) -> list[Figure]:
    """Return the figures that have results, in the order of the paper."""
    made = [
        _times(
            findings, "accesses", "a", "access frequency", "Share of all addresses, by how often they are accessed."
        ),
        _in_patterns(findings),
        _times(
            findings, "reads", "c", "read frequency", "Share of the addresses that are read, by how often they are."
        ),
        _gc_time(findings),
        _first_failure(findings),
        _response(findings),
        _mapping(findings),
    ]
    return [figure for figure in made if figure is not None]


def _times(findings: Findings, key: str, letter: str, what: str, caption: str) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for workload in WORKLOADS:
        times = findings.look(f"requests.{workload}.baseline.addresses.{key}") or {"from": [], "addresses": []}
        total = sum(times["addresses"])
        for first, count in zip(times["from"], times["addresses"], strict=True):
            label = f"{first} or more" if first == times["from"][-1] else str(first)
            rows += [{"times": label, "share": count / total, "series": workload}] if total else []
    if not rows:
        return None
    return Figure(
        f"figure-2{letter}",
        f"Figure 2({letter}): {what}",
        caption,
        lambda width: _side_by_side(rows, width),
        FIGURE_2,
    )


def _side_by_side(rows: list[dict[str, Any]], width: int) -> Any:
    """Draw bars of all traces for each number of times."""
    present = list(dict.fromkeys(row["series"] for row in rows))
    color = vega.Color(
        "series:N",
        scale=vega.Scale(domain=present, range=[OF_WORKLOADS[name] for name in present]),
        legend=vega.Legend(title=None, orient="top", columns=2, symbolType="square"),
    )
    bars = data_chart(rows).mark_bar(stroke=palette.INK, strokeWidth=0.4)
    encoded = bars.encode(
        x=vega.X("times:N", title="times", sort=None, axis=vega.Axis(labelAngle=0)),
        xOffset=vega.XOffset("series:N", sort=present),
        y=vega.Y("share:Q", title="share of the addresses", axis=vega.Axis(format="%", tickCount=5)),
        color=color,
    )
    return finished(encoded, width, throttle_charts.TALL)


def _in_patterns(findings: Findings) -> Figure | None:
    rows = []
    for workload in WORKLOADS:
        inside = findings.figure(f"requests.{workload}.baseline.addresses.frequent.share")
        if inside is not None:
            parts = {"in patterns": inside, "in none": 1 - inside}
            rows += [{"row": workload, "part": part, "value": share} for part, share in parts.items()]
    if not rows:
        return None
    return Figure(
        "figure-2b",
        "Figure 2(b): frequent addresses in patterns",
        "Of the addresses that are written 4 times or more, those in a pattern of any window.",
        lambda width: _stacked(
            rows,
            {"in patterns": palette.BLUE, "in none": palette.LIGHT_GREY},
            "share of frequent addresses",
            width,
            share=True,
        ),
        FIGURE_2,
    )


def _gc_time(findings: Findings) -> Figure | None:
    rows = []
    for workload in WORKLOADS:
        for system, look in LOOKS.items():
            total, level = (findings.figure(f"{name}.{workload}.{system}") for name in ("gc_time", "level_time"))
            if total is not None and level is not None:
                row = f"{workload}: {look.label}"
                values = (total - level, level)
                rows += [{"row": row, "part": part, "value": s} for part, s in zip(PARTS, values, strict=True)]
    if not rows:
        return None
    title = "Figure 5: time of collection"
    return Figure(
        "figure-5",
        title,
        "Reads, programs and erases of routine collection and of wear-leveling, seconds of all dies together.",
        lambda width: _stacked(rows, PARTS, "time, seconds", width),
        title,
    )


def _stacked(rows: list[dict[str, Any]], parts: dict[str, str], title: str, width: int, *, share: bool = False) -> Any:
    """Draw a bar for each ``row``, made of the ``value`` of each part."""
    names = list(dict.fromkeys(row["row"] for row in rows))
    ordered = [{**row, "order": list(parts).index(row["part"])} for row in rows]
    format_ = "%" if share else throttle_charts.FIGURES
    scale = vega.Scale(domain=[0, 1]) if share else vega.Scale()
    bars = data_chart(ordered).mark_bar(stroke=palette.INK, strokeWidth=0.4)
    encoded = bars.encode(
        x=vega.X("value:Q", title=title, scale=scale, axis=vega.Axis(format=format_, tickCount=5, labelOverlap=True)),
        y=vega.Y("row:N", title=None, sort=names, axis=vega.Axis(labelLimit=200)),
        color=vega.Color(
            "part:N",
            scale=vega.Scale(domain=list(parts), range=list(parts.values())),
            legend=vega.Legend(title=None, orient="top", symbolType="square", columnPadding=24),
        ),
        order="order:Q",
    )
    return finished(encoded, width, 90 + 22 * len(names))


def _first_failure(findings: Findings) -> Figure | None:
    rows = [
        {"thing": workload, "value": years, "series": look.label}
        for workload in WORKLOADS
        for system, look in LOOKS.items()
        if (years := findings.figure(f"first_failure.{workload}.{system}")) is not None
    ]
    title = "Figure 6: first failure"
    caption = "3,000 cycles over the erases of the most erased block, times the span of the trace."
    return _dots("figure-6", title, caption, rows, list(LOOKS.values()), "years")


def _response(findings: Findings) -> Figure | None:
    rows = []
    for workload in WORKLOADS:
        base = findings.figure(f"read_us.{workload}.baseline")
        for system, look in LOOKS.items():
            mean = findings.figure(f"read_us.{workload}.{system}")
            if base and mean is not None:
                rows.append({"thing": workload, "value": mean / base, "series": look.label})
    title = "Figure 7: read response"
    return _dots(
        "figure-7",
        title,
        "Mean over the baseline's, in time; jobs hold their channel.",
        rows,
        list(LOOKS.values()),
        "over the baseline's",
        1.0,
    )


def _mapping(findings: Findings) -> Figure | None:
    rows = [
        {"thing": workload, "value": 1000 * time, "series": look.label}
        for workload in WORKLOADS
        for variant, look in DISPATCHERS.items()
        if (time := findings.figure(f"dispatch.{workload}.{variant}.dispatch_cpu_s")) is not None
    ]
    title = "Figure 8: mapping overhead"
    caption = (
        "CPU time of mining and labelling the requests of a trace, on this host. Dashed: what Pattern takes more than "
        "Baseline at most in the paper. Its figure holds all of the mapping."
    )
    looks = list(DISPATCHERS.values())
    return _dots("figure-8", title, caption, rows, looks, "CPU time, milliseconds", PRINTED_MS)


def _dots(
    name: str,
    title: str,
    caption: str,
    rows: list[dict[str, Any]],
    looks: list[Look],
    axis: str,
    rule: float | None = None,
) -> Figure | None:
    """Draw figures of several systems, trace by trace; None without any."""
    if not rows:
        return None
    return Figure(
        name,
        title,
        caption,
        lambda width: throttle_charts.dots(rows, looks, WORKLOADS, axis, width=width, rule=rule),
        title,
    )
