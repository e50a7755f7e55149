"""The figures of PDS, drawn from our results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from floatgate.pages import palette
from floatgate.papers.judge import Findings
from floatgate.papers.paper import Figure, read
from floatgate.papers.pds.values import JUDGED, SEPARATORS, threshold_times
from floatgate.papers.pds.workloads import RECORDED
from floatgate.papers.separators import LOOKS, looks
from floatgate.report import throttle_charts
from floatgate.report.throttle_charts import Look
from floatgate.trace import context_updates, library

TIMES = "Figure 30: time of garbage collection"
PAGE_COPY_US, ERASE_US = 25 + 200, 1200
"""Latencies of section 5.4: a copy reads and programs a page."""
COPIES, CONTEXTS = "Figure 26: copies for each victim", "Figure 27: contexts of the data that are updated"
_THRESHOLD_LOOKS = (
    (palette.BROWN, (8, 3), "square"),
    (palette.SKY, (5, 2, 1, 2), "diamond"),
    (palette.BLUE, (3, 1), "triangle-up"),
    (palette.GREY, (2, 3), "circle"),
    (palette.INK, (), "cross"),
    (palette.TEAL, (3, 1), "triangle-down"),
)


def figures(findings: Findings) -> list[Figure]:
    """Return the figures that have results, in the order of the paper."""
    made = [_copies(findings, workload) for workload in JUDGED]
    made += [_contexts(workload) for workload in ("multi1", "tpc-h") if f"recorded.{workload}" in findings.values]
    made += [_times(findings), _printed_times(), _thresholds(findings)]
    return [figure for figure in made if figure is not None]


def _copies(findings: Findings, workload: str) -> Figure | None:
    """Draw victims, the ones with most copies first."""
    rows: list[dict[str, Any]] = []
    for separator in ("hash", "ora-3"):
        histogram = findings.look(f"over-1.{workload}.{separator}.gc.victims_by_valid")
        if not histogram:
            continue
        so_far = 0
        for place in reversed(range(len(histogram["victims"]))):
            count = histogram["victims"][place]
            if count:
                pages = histogram["from"] + place * histogram["width"]
                label = LOOKS[separator].label
                rows += [{"x": so_far, "y": pages, "series": label}, {"x": so_far + count, "y": pages, "series": label}]
                so_far += count
    if not rows:
        return None
    return Figure(
        f"figure-26-{workload}",
        f"{COPIES}, {workload}",
        "Every victim, in the order of its valid pages.",
        lambda width: throttle_charts.lines(rows, looks(("hash", "ora-3")), "victims", "pages copied", width=width),
        COPIES,
    )


def _contexts(workload: str) -> Figure:
    counted = context_updates.read(library.path(RECORDED[workload]))
    return Figure(
        f"figure-27-{workload}",
        f"{CONTEXTS}, {workload}",
        "Along the updates, the contexts that had written what is replaced.",
        lambda width: context_updates.figure(counted, workload, width=width),
        CONTEXTS,
    )


def _times(findings: Findings) -> Figure | None:
    rows = [
        {"thing": workload, "value": time, "series": LOOKS[separator].label}
        for workload in RECORDED
        for separator in SEPARATORS
        if (time := findings.figure(f"over.{workload}.{separator}.time_s"))
    ]
    if not rows:
        return None
    shown = [workload for workload in RECORDED if any(row["thing"] == workload for row in rows)]
    return Figure(
        "figure-30",
        "Figure 30: time of garbage collection",
        "Nominal time of all reads, programs and erases of collection.",
        lambda width: throttle_charts.dots(
            rows, looks(SEPARATORS), shown, "time of collection, seconds", width=width, log=True
        ),
        TIMES,
    )


def _printed_times() -> Figure:
    """Draw the paper's times: Table 8 with the latencies of section 5.4, for Figure 30 is printed without numbers."""
    [table] = [table for table in read(Path(__file__).parent).tables if table["id"] == "table-8"]
    rows = []
    labels = {LOOKS[separator].label for separator in SEPARATORS}
    for row in table["row"]:
        program, label = row["keys"]
        if row.get("paper") and label in labels:
            _, copies, erased = row["paper"]
            time_s = erased * (copies * PAGE_COPY_US + ERASE_US) / 1e6
            rows.append({"thing": program, "value": time_s, "series": label})
    return Figure(
        "figure-30-paper",
        "Figure 30 by the paper's Table 8",
        "Erased blocks times the latencies of their copies and of the erase.",
        lambda width: throttle_charts.dots(
            rows, looks(SEPARATORS), list(JUDGED), "time of collection, seconds", width=width, log=True
        ),
        TIMES,
    )


def _thresholds(findings: Findings) -> Figure | None:
    rows: list[dict[str, Any]] = []
    for workload in JUDGED:
        times = threshold_times(findings, workload)
        worst = max(times.values(), default=0)
        rows += [{"x": one, "y": time / worst, "series": workload} for one, time in times.items() if worst > 0]
    if not rows:
        return None
    drawn = [Look(name, *look) for name, look in zip(JUDGED, _THRESHOLD_LOOKS, strict=True)]
    return Figure(
        "figure-31",
        "Figure 31: the threshold of Algorithm 1",
        "Time of collection as a share of the worst threshold's.",
        lambda width: throttle_charts.lines(
            rows,
            drawn,
            "updates that make a context dominating",
            "time, share of the worst",
            width=width,
            x_log=True,
            points=True,
        ),
        "Figure 31: the threshold of Algorithm 1",
    )
