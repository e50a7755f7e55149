"""The figures of redFTL, drawn from our results."""

from __future__ import annotations

from typing import Any

from floatgate.pages import palette, vega
from floatgate.pages.charts import data_chart, finished
from floatgate.papers.bars import stacked
from floatgate.papers.judge import Findings
from floatgate.papers.means import ratio
from floatgate.papers.paper import Figure
from floatgate.papers.read_twins import response_steps
from floatgate.papers.redftl.values import CLOSE_UP, MAXIMA, TLC_TIME, WORKLOADS, reads_share
from floatgate.report import throttle_charts
from floatgate.report.throttle_charts import Look

BASELINE = Look("baseline", palette.GREY, (2, 3), "circle")
REDFTL = Look("redFTL", palette.INK, (), "cross")
COPYING = Look("redFTL, of it making replicas", palette.BROWN, (8, 3), "square")
WHOLE = Look("redFTL, whole block's rate", palette.SKY, (5, 2, 1, 2), "diamond")
OF_WORKLOADS = {
    "ads": Look("ads", palette.BROWN, (8, 3), "square"),
    "mds": Look("mds", palette.SKY, (5, 2, 1, 2), "diamond"),
    "tpc-h": Look("tpc-h", palette.BLUE, (3, 1), "triangle-up"),
    "websearch": Look("websearch", palette.INK, (), "cross"),
}
LONGEST_MS = 400.0
"""Right end of service times."""
MAXIMA_LABELS = {variant: f"{reads:,}" for variant, reads in MAXIMA.items()}
OPERATIONS = {
    "collection": "gc_time",
    "reads of reclaims": "reads_time",
    "programs of reclaims": "programs_time",
    "erases of reclaims": "erases_time",
}
"""Parts of Figure 7, with the values that they are."""
PARTS = {"collection": "gc_time", "reclaims": "moving", "making replicas": "copying"}
"""Parts of Figure 12."""
OPERATION_COLORS = (palette.GREY, palette.SKY, palette.BROWN, palette.INK)
FIGURE_12 = "Figure 12: replica pages"
REPLICA_PAGES = {"baseline": 0, "replicas-5": 5, "replicas-10": 10, "redftl": 15}


def figures(findings: Findings) -> list[Figure]:
    """Return the figures that have results, in the order of the paper."""
    made: list[Figure | None] = [_trend(), *_maxima(findings)]
    made += [
        _responses(findings, batch, workload, variant)
        for workload in ("ads", "websearch")
        for batch, variant in CLOSE_UP.items()
    ]
    made += [_times(findings), _replica_pages(findings), *(_parts(findings, workload) for workload in WORKLOADS)]
    made += [_service(findings, workload) for workload in ("ads", "websearch")]
    made += [_during(findings, workload) for workload in ("ads", "websearch")]
    return [figure for figure in made if figure is not None]


def _trend() -> Figure:
    mlc, tlc = (
        Look("MLC", palette.BLUE, (3, 1), "triangle-up"),
        Look("TLC, 1.6 times the time of a read", palette.INK, (), "cross"),
    )
    rows = [
        {"x": 1 + step / 100, "y": reads_share(1 + step / 100, time), "series": look.label}
        for look, time in ((mlc, 1.0), (tlc, TLC_TIME))
        for step in range(7)
    ]
    return Figure(
        "figure-6",
        "Figure 6: trend of read disturb",
        "Reads that a block stands by the law of tunnelling (Equation 2.1), over those of MLC at its nominal voltage.",
        lambda width: throttle_charts.lines(
            rows,
            [mlc, tlc],
            "read voltage over the nominal one",
            "maximum of reads",
            width=width,
            share=True,
            points=True,
        ),
        "Figure 6: trend of read disturb",
    )


def _maxima(findings: Findings) -> list[Figure]:
    """Draw Figure 7: the baseline's overhead by operation, over the time of collection without reclaims."""
    made = []
    for workload in WORKLOADS:
        collection = findings.figure(f"total.{workload}.max-none")
        rows = [
            {"row": label, "part": part, "value": time / collection}
            for variant, label in {**MAXIMA_LABELS, "max-none": "no end"}.items()
            for part, name in OPERATIONS.items()
            if collection and (time := findings.figure(f"{name}.{workload}.{variant}")) is not None
        ]
        if rows:
            made.append(
                _breakdown(f"figure-7-{workload}", f"Figure 7: overhead by the maximum of reads, {workload}", rows)
            )
    return made


def _breakdown(name: str, title: str, rows: list[dict[str, Any]]) -> Figure:
    return Figure(
        name,
        title,
        "Under the baseline, over the time of collection where nothing is reclaimed. websearch writes nothing: there "
        "is nothing to divide by, and the table has its times.",
        lambda width: stacked(
            rows, dict(zip(OPERATIONS, OPERATION_COLORS, strict=True)), "over collection alone", width
        ),
        "Figure 7: overhead by the maximum of reads",
    )


def _responses(findings: Findings, batch: str, workload: str, variant: str) -> Figure | None:
    """Draw response times in the order of the reads."""
    responses = findings.look(f"{batch}.{workload}.{variant}.responses")
    if not responses or not responses["reads"]:
        return None
    rows = [{"x": number * responses["every"], "y": longest} for number, longest in enumerate(responses["longest_ms"])]
    label = {"baseline": "the baseline", "redftl": "redFTL"}[variant]
    return Figure(
        f"figure-8-{workload}-{variant}",
        f"Figure 8: response times under {label}, {workload}",
        f"In time, from a worn-in drive: the longest of each {responses['every']} reads.",
        lambda width: _peaks(rows, width),
        "Figure 8: response times around read reclaims",
    )


def _peaks(rows: list[dict[str, Any]], width: int) -> Any:
    x = vega.X("x:Q", title="reads", axis=vega.Axis(tickCount=5, format=throttle_charts.FIGURES))
    top = vega.Scale(domain=[0, LONGEST_MS], clamp=True)
    y = vega.Y("y:Q", title="response time, ms", scale=top, axis=vega.Axis(tickCount=5))
    marks = data_chart(rows).mark_rule(strokeWidth=0.7, color=palette.INK)
    return finished(marks.encode(x=x, y=y, y2=vega.datum(0)), width, 220)


def _during(findings: Findings, workload: str) -> Figure | None:
    """Draw response times of reads during reclaims."""
    rows: list[dict[str, Any]] = []
    for (batch, variant), look in zip(CLOSE_UP.items(), (BASELINE, REDFTL), strict=True):
        steps = response_steps(findings, f"{batch}.{workload}.{variant}")
        rows += [{"x": time, "y": share, "series": look.label} for time, share in steps]
    if not rows:
        return None
    return Figure(
        f"during-{workload}",
        f"Response times during read reclaims, {workload}",
        "In time: share of the host's reads that came or were served while something was reclaimed or replicated.",
        lambda width: throttle_charts.lines(
            rows, [BASELINE, REDFTL], "response time, milliseconds", "share", width=width, share=True, x_log=True
        ),
        "Response times during read reclaims",
    )


def _times(findings: Findings) -> Figure | None:
    """Time of read reclaim over the baseline's."""
    rows: list[dict[str, Any]] = []
    for workload in WORKLOADS:
        baseline = findings.figure(f"rr_time.{workload}.baseline")
        if not baseline:
            continue
        for variant, look in (("baseline", BASELINE), ("redftl", REDFTL), ("whole-rate", WHOLE)):
            time = findings.figure(f"rr_time.{workload}.{variant}")
            if time is not None:
                rows.append({"thing": workload, "value": time / baseline, "series": look.label})
        copying = findings.figure(f"main.{workload}.redftl.reclaim.time_s.replica")
        if copying is not None:
            rows.append({"thing": workload, "value": copying / baseline, "series": COPYING.label})
    if not rows:
        return None
    title = "Figure 11: time of read reclaim"
    return Figure(
        "figure-11",
        title,
        "Over the baseline's, with 15 replica pages per block.",
        lambda width: throttle_charts.dots(
            rows, [BASELINE, REDFTL, COPYING, WHOLE], WORKLOADS, "time over the baseline's", width=width
        ),
        title,
    )


def _replica_pages(findings: Findings) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for workload in WORKLOADS:
        baseline = findings.figure(f"rr_count.{workload}.baseline")
        for variant, pages in REPLICA_PAGES.items():
            over = ratio(findings.figure(f"rr_count.{workload}.{variant}"), baseline)
            if over is not None:
                rows.append({"x": pages, "y": over, "series": workload})
    if not rows:
        return None
    return Figure(
        "figure-12-rr-count",
        "Figure 12: blocks reclaimed",
        "Over the baseline's, which has no replica pages.",
        lambda width: throttle_charts.lines(
            rows,
            list(OF_WORKLOADS.values()),
            "replica pages per block",
            "over the baseline's",
            width=width,
            points=True,
        ),
        FIGURE_12,
    )


def _parts(findings: Findings, workload: str) -> Figure | None:
    """Draw Figure 12: the parts of the overhead by the number of replica pages."""
    baseline = findings.figure(f"total.{workload}.baseline")
    rows = [
        {"row": f"{pages} pages", "part": part, "value": time / baseline}
        for variant, pages in REPLICA_PAGES.items()
        for part, name in PARTS.items()
        if baseline and (time := findings.figure(f"{name}.{workload}.{variant}")) is not None
    ]
    if not rows:
        return None
    return Figure(
        f"figure-12-{workload}",
        f"Figure 12: time of overhead, {workload}",
        "Over the baseline's, which has no replica pages.",
        lambda width: stacked(rows, dict(zip(PARTS, OPERATION_COLORS, strict=False)), "over the baseline's", width),
        FIGURE_12,
    )


def _service(findings: Findings, workload: str) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for variant, look in (("baseline", BASELINE), ("redftl", REDFTL)):
        steps = findings.look(f"main.{workload}.{variant}.reclaim.service_ms.cdf") or []
        if steps:
            rows += [{"x": time, "y": share, "series": look.label} for time, share in _corners(steps)]
    if not rows:
        return None
    return Figure(
        f"figure-13-{workload}",
        f"Figure 13: service times of read reclaim, {workload}",
        "Share of all that is done at one time, reclaims and replications, in at most so long.",
        lambda width: throttle_charts.lines(
            rows, [BASELINE, REDFTL], "service time, milliseconds", "share", width=width, share=True
        ),
        "Figure 13: service times of read reclaim",
    )


def _corners(steps: list[list[float]]) -> list[tuple[float, float]]:
    """Turn a cumulative distribution into a line that rises at its steps."""
    corners, before = [(0.0, 0.0)], 0.0
    for time, share in throttle_charts.thin(steps):
        corners += [(time, before), (time, share)]
        before = share
    return [*corners, (LONGEST_MS, before)]
