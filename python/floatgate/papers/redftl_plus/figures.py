"""The figures of redFTL+, drawn from our results."""

from __future__ import annotations

from typing import Any

from floatgate.pages import palette, vega
from floatgate.pages.charts import data_chart, finished
from floatgate.papers.judge import Findings
from floatgate.papers.paper import Figure
from floatgate.papers.read_twins import response_steps
from floatgate.papers.redftl_plus.readers import PAGE_BYTES, reads
from floatgate.papers.redftl_plus.values import CLOSE_UP, MODEL_TYPES, MODES, TYPES, WORKLOADS
from floatgate.report import throttle_charts
from floatgate.report.throttle_charts import Look

LOOKS = {
    "baseline": Look("baseline", palette.GREY, (2, 3), "circle"),
    "rrb": Look("RRB", palette.BROWN, (8, 3), "square"),
    "redftl": Look("redFTL", palette.SKY, (5, 2, 1, 2), "diamond"),
    "redftl-plus": Look("redFTL+", palette.INK, (), "cross"),
    "redftl-plus-plus": Look("redFTL++", palette.BLUE, (3, 1), "triangle-up"),
    "no-mixing": Look("redFTL+ without mixing", palette.VIOLET, (1, 1), "triangle-down"),
    "empty-partner": Look("redFTL+, empty partners", palette.OLIVE, (10, 2, 2, 2), "triangle-right"),
}
TYPE_LOOKS = {
    "lsb": Look("LSB", palette.INK, (), "cross"),
    "csb": Look("CSB", palette.SKY, (5, 2, 1, 2), "diamond"),
    "msb": Look("MSB", palette.BROWN, (8, 3), "square"),
}
POINTS = 3000
"""Of a chart of addresses."""


def figures(findings: Findings) -> list[Figure]:
    """Return the figures that have results, in the order of the paper."""
    made: list[Figure | None] = [_modes(0, "reads that a block stands"), _modes(1, "program time"), _types()]
    made += [_addresses(one) for one in WORKLOADS if f"busiest.{one}" in findings.values]
    made += [
        _times(findings),
        _run_length(findings),
        *(_page_types(findings, variant) for variant in ("rrb", "redftl-plus")),
    ]
    made += [_responses(findings, one) for one in WORKLOADS]
    return [figure for figure in made if figure is not None]


def _modes(number: int, what: str) -> Figure:
    """Draw Figure 15: gain and cost of a lower read voltage."""
    tlc, mlc = Look("TLC", palette.INK, (), "cross"), Look("MLC, by the text", palette.BLUE, (3, 1), "triangle-up")
    rows = [{"x": voltage, "y": (stands, program)[number], "series": tlc.label} for stands, voltage, program in MODES]
    looks = [tlc]
    caption = "Over the nominal voltage's; the three modes of the model, which the paper measured on TLC (Table 4)."
    if number == 1:
        looks.append(mlc)
        rows += [{"x": voltage, "y": mlc_program(program), "series": mlc.label} for _, voltage, program in MODES]
        caption += (
            " MLC is not printed. By section 4.2.1 its three program states must each become narrower by as much more "
            "as seven states are more than three, and the time grows in proportion."
        )
    return Figure(
        f"figure-15-{'ab'[number]}",
        f"Figure 15 ({'ab'[number]}): {what} by read voltage",
        caption,
        lambda width: throttle_charts.lines(
            rows, looks, "read voltage over the nominal one", "over that at the nominal", width=width, points=True
        ),
        "Figure 15: read voltage",
    )


def mlc_program(tlc: float) -> float:
    """Return the program time of MLC over its nominal one at the voltage at which that of TLC is ``tlc`` times as long.

    All distributions together must shrink by as much (section 4.2.1): those of 3 program states by 7/3 of those of 7.
    """
    return 1 + (tlc - 1) * 7 / 3


def _run_length(findings: Findings) -> Figure | None:
    """Draw the time of read reclaim by how long the run is."""
    names = ("rrb", "redftl", "redftl-plus", "empty-partner")
    lengths = {"quarter": 0.25, "half": 0.5, "": 1.0}
    rows = [
        {"x": share, "y": over, "series": LOOKS[variant].label}
        for variant in names
        for batch, share in lengths.items()
        if (over := findings.figure(f"{batch}.mean.{variant}".lstrip("."))) is not None
    ]
    if not rows:
        return None
    title = "Time of read reclaim by the length of the run"
    return Figure(
        "run-length",
        title,
        "Over the baseline's, mean over the workloads; passes over those of the full run.",
        lambda width: throttle_charts.lines(
            rows,
            [LOOKS[name] for name in names],
            "length of the run",
            "time over the baseline's",
            width=width,
            points=True,
        ),
        title,
    )


def _types() -> Figure:
    models = {"mlc": "MLC", "tlc-opt": "TLCopt", "tlc-base": "TLCbase"}
    rows: list[dict[str, Any]] = []
    for model, label in models.items():
        weights = MODEL_TYPES[model]
        names = ("LSB", "MSB") if len(weights) == 2 else ("LSB", "CSB", "MSB")
        rows += [
            {"thing": f"{label}, {name} only", "value": 1 / one, "series": "reads"}
            for name, one in zip(names, weights, strict=True)
        ]
        rows.append({"thing": f"{label}, mixed", "value": len(weights) / sum(weights), "series": "reads"})
    order = [row["thing"] for row in rows]
    look = Look("reads", palette.INK, (), "cross")
    return Figure(
        "figure-17",
        "Figure 17: maximum of reads by type of page",
        "Over that of the slowest type, from the constants of the models. The paper measured MLC and TLCopt: LSB 1.61 "
        "of MLC; LSB 1.28 and MSB 1.26 of TLCopt.",
        lambda width: throttle_charts.dots(rows, [look], order, "maximum of reads", width=width),
        "Figure 17: maximum of reads by type of page",
    )


def _addresses(workload: str) -> Figure:
    first, _ = reads(workload)
    step = -(-len(first) // POINTS)
    rows = [{"x": number * step, "y": int(page) * PAGE_BYTES / (1 << 20)} for number, page in enumerate(first[::step])]
    return Figure(
        f"figure-20-{workload}",
        f"Figure 20: addresses that are read, {workload}",
        f"One in {step} reads of a pass over the twin, made smaller; lines are addresses read again and again.",
        lambda width: _scatter(rows, width),
        "Figure 20: addresses that are read",
    )


def _scatter(rows: list[dict[str, Any]], width: int) -> Any:
    x = vega.X("x:Q", title="read requests", axis=vega.Axis(tickCount=5, format=throttle_charts.FIGURES))
    y = vega.Y("y:Q", title="address, MiB", axis=vega.Axis(tickCount=5, format=throttle_charts.FIGURES))
    marks = data_chart(rows).mark_circle(size=3, opacity=0.6, color=palette.INK)
    return finished(marks.encode(x=x, y=y), width, 220)


def _times(findings: Findings) -> Figure | None:
    rows = [
        {"thing": workload, "value": share, "series": look.label}
        for workload in (*WORKLOADS, "mean")
        for variant, look in LOOKS.items()
        if (share := findings.figure(f"mean.{variant}" if workload == "mean" else f"over.{workload}.{variant}"))
        is not None
    ]
    if not rows:
        return None
    title = "Figure 21: time of read reclaim"
    return Figure(
        "figure-21",
        title,
        "Over the baseline's.",
        lambda width: throttle_charts.dots(
            rows, list(LOOKS.values()), (*WORKLOADS, "mean"), "time over the baseline's", width=width
        ),
        title,
    )


def _page_types(findings: Findings, variant: str) -> Figure | None:
    rows = [
        {"thing": workload, "value": 100 * share, "series": TYPE_LOOKS[one].label}
        for workload in WORKLOADS
        for one in TYPES
        if (share := findings.figure(f"{one}.{workload}.{variant}")) is not None
    ]
    if not rows:
        return None
    return Figure(
        f"figure-22-{variant}",
        f"Figure 22: types of pages that are read, {LOOKS[variant].label}",
        "Share of the host's reads of flash.",
        lambda width: throttle_charts.dots(
            rows, list(TYPE_LOOKS.values()), WORKLOADS, "share of the reads, per cent", width=width
        ),
        "Figure 22: types of pages that are read",
    )


def _responses(findings: Findings, workload: str) -> Figure | None:
    """Draw Figure 23: response times of reads during reclaims."""
    looks = {
        "baseline": LOOKS["baseline"],
        "redftl-plus": LOOKS["redftl-plus"],
        "redftl-plus-idle": Look("redFTL+, collection in idle time", palette.BROWN, (8, 3), "square"),
    }
    rows = [
        {"x": time, "y": share, "series": looks[name].label}
        for (batch, variant), name in CLOSE_UP.items()
        if name in looks
        for time, share in response_steps(findings, f"{batch}.{workload}.{variant}")
    ]
    if not rows:
        return None
    return Figure(
        f"figure-23-{workload}",
        f"Figure 23: response times of reads during reclaims, {workload}",
        "In time: share of the host's reads that came or were served while something was reclaimed.",
        lambda width: throttle_charts.lines(
            rows, list(looks.values()), "response time, milliseconds", "share", width=width, share=True, x_log=True
        ),
        "Figure 23: response times of reads during reclaims",
    )
