"""Figures 2 and 3 and Table I as pictures, drawn from our results, and what the manager chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from floatgate.pages import palette
from floatgate.papers.integrated.values import COMPRESSED, CONFIGURATIONS, DUPLICATE, REAL, by_ratio
from floatgate.papers.integrated.workloads import TWINS
from floatgate.papers.judge import Findings
from floatgate.papers.paper import Figure
from floatgate.report import throttle_charts
from floatgate.report.sections import reduce
from floatgate.report.throttle_charts import Look
from floatgate.results.result_view import look

LOOKS = [
    Look("Baseline", palette.INK, (), "circle"),
    Look("Throttling", palette.DARK_GREY, (2, 3), "cross"),
    Look("Compression", palette.BROWN, (8, 3), "square"),
    Look("Dedup", palette.BLUE, (4, 2), "triangle-up"),
    Look("Integrated", palette.GREEN, (), "diamond"),
]
LABELS = dict(zip(CONFIGURATIONS, (one.label for one in LOOKS), strict=True))
NAMES = {"wksn": "WKSN", "media": "Media", "dvmt": "DVMT"}
RATIO_LOOKS = [Look("written (D)", palette.INK, (), "circle"), Look("energy (E)", palette.BROWN, (8, 3), "square")]
FIGURE_2, TABLE_1 = "Figure 2: what a scheme leaves and costs", "Table I and Figure 3: five configurations"
CHOSEN, RECORDED = "What Integrated chose", "Recorded programs with their content"


def figures(findings: Findings) -> list[Figure]:
    """Return the figures that have results, in the order of the paper."""
    made = [
        _ratio(findings, COMPRESSED, "Figure 2(a): compression, chunks of four pages", "compression ratio r"),
        _ratio(findings, DUPLICATE, "Figure 2(b): deduplication", "share of pages that are copies"),
        _dots(
            findings, ("table-1", "Table I: lives", "Dashed: the five years that are required."), "years", "years", 5.0
        ),
        _dots(
            findings,
            ("figure-3a", "Figure 3(a): write response", "Over that of Baseline, throttling included."),
            "response",
            "over Baseline",
            1.0,
        ),
        _dots(
            findings,
            ("figure-3b", "Figure 3(b): energy of a page write", "Over that of Baseline."),
            "energy",
            "over Baseline",
            1.0,
        ),
    ]
    for name in TWINS:
        made += _chosen(findings, name)
    made.append(
        _dots(
            findings,
            ("real", "Life over the target", "Dashed: the target, half as long again as the life of Baseline."),
            "of_target",
            "over the target",
            1.0,
            batch="real",
        )
    )
    return [figure for figure in made if figure is not None]


def _ratio(findings: Findings, kind: str, title: str, x_title: str) -> Figure | None:
    points = by_ratio(findings, kind)
    if not points:
        return None
    rows = [{"x": ratio, "y": written, "series": RATIO_LOOKS[0].label} for ratio, written, _ in points]
    rows += [{"x": ratio, "y": energy, "series": RATIO_LOOKS[1].label} for ratio, _, energy in points]
    caption = "Measured on a drive; dotted: that of a drive without the scheme."
    return Figure(
        f"figure-2-{kind}",
        title,
        caption,
        lambda width: throttle_charts.lines(
            rows, RATIO_LOOKS, x_title, "ratio", width=width, points=True, rules=[("1", 1.0)]
        ),
        FIGURE_2,
    )


def _dots(
    findings: Findings, texts: tuple[str, str, str], value: str, y_title: str, rule: float, batch: str = "lives"
) -> Figure | None:
    names: Sequence[str] = TWINS if batch == "lives" else REAL
    rows: list[dict[str, Any]] = [
        {"thing": NAMES.get(name, name), "value": figure, "series": LABELS[one]}
        for name in names
        for one in CONFIGURATIONS
        if (figure := findings.figure(f"{value}.{batch}.{name}.{one}")) is not None
    ]
    if not rows:
        return None
    things = [NAMES.get(name, name) for name in names]
    largest = max(row["value"] for row in rows)
    smallest = min(row["value"] for row in rows)
    section = TABLE_1 if batch == "lives" else RECORDED
    return Figure(
        *texts,
        lambda width: throttle_charts.dots(
            rows, LOOKS, things, y_title, width=width, log=largest > 20 * smallest, rule=rule
        ),
        section,
    )


def _chosen(findings: Findings, name: str) -> list[Figure | None]:
    course = look(findings.look(f"lives.{name}.integrated"), "reduce", "manager", "over_time") or []
    if len(course) < 2:
        return []
    title = NAMES[name]
    return [
        Figure(
            f"schemes-{name}",
            f"{title}: schemes at work",
            "The darker, the larger the share of epochs in which a scheme was on.",
            lambda width: reduce.schemes(course, width),
            CHOSEN,
        ),
        Figure(
            f"demand-{name}",
            f"{title}: demand and capacity",
            "Flash bytes per epoch of 5 minutes: what the host writes without any scheme, and what five years allow.",
            lambda width: reduce.demand(course, width),
            CHOSEN,
        ),
    ]
