"""The figures of IDS, drawn from our results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floatgate.pages import palette
from floatgate.papers.ids.values import SEPARATORS
from floatgate.papers.judge import Findings
from floatgate.papers.paper import Figure
from floatgate.papers.pds.workloads import RECORDED
from floatgate.papers.separators import LOOKS, looks
from floatgate.report import throttle_charts
from floatgate.report.throttle_charts import Look

_MEAN, _PRINTED = "mean of six", "mean, paper"
_MEANS = (_MEAN, _PRINTED)
PRINTED = {"hash": 1.0, "pds-16": 0.58 / 0.82, "ids": 0.58}
"""What section 6.3 prints of Figure 35: IDS takes 82 % of PDS's time and 58 % of HASH's."""
_KINDS = (Look("hot archive", palette.BROWN, (8, 3), "square"), Look("others", palette.INK, (), "cross"))


def figures(findings: Findings) -> list[Figure]:
    """Return the figures that have results, in the order of the paper."""

    def ratio(workload: str, separator: str) -> float | None:
        if workload == _PRINTED:
            return PRINTED.get(separator)
        of = f"pds_over_hash.{separator}" if workload == _MEAN else f"time.{workload}.{separator}"
        return findings.figure(of)

    def copies(workload: str, separator: str) -> float | None:
        return findings.figure(f"level.{workload}.{separator}.copied_per_victim")

    def dead(workload: str, separator: str) -> float | None:
        return findings.figure(f"level.{workload}.{separator}.dead")

    def blocks(workload: str, separator: str) -> float | None:
        return findings.figure(f"active.{workload}.{separator}")

    made = [
        _dots("figure-35", "Figure 35: time of garbage collection", "time of collection over HASH's", ratio, _MEANS),
        _dots("figure-36a", "Figure 36a: copies for each victim", "pages copied for each victim", copies),
        _dots("figure-36b", "Figure 36b: dead blocks", "victims that were dead", dead),
        _hot(findings),
        _dots("figure-38", "Figure 38: blocks used", "most blocks open at once, over HASH's", blocks),
    ]
    return [figure for figure in made if figure is not None]


def _dots(
    id: str, title: str, axis: str, value: Callable[[str, str], float | None], more: tuple[str, ...] = ()
) -> Figure | None:
    things = [*RECORDED, *more]
    rows = [
        {"thing": workload, "value": figure, "series": LOOKS[separator].label}
        for workload in things
        for separator in SEPARATORS
        if (figure := value(workload, separator)) is not None
    ]
    return _figure(id, title, axis, rows, looks(SEPARATORS), things)


def _hot(findings: Findings) -> Figure | None:
    rows = [
        {"thing": workload, "value": figure, "series": look.label}
        for workload in RECORDED
        for look, key in zip(_KINDS, ("hot_copies", "cold_copies"), strict=True)
        if (figure := findings.figure(f"{key}.{workload}")) is not None
    ]
    title = "Figure 37: copies for each victim, hot archives and others"
    return _figure("figure-37", title, "pages copied for each victim", rows, list(_KINDS), list(RECORDED))


def _figure(
    id: str, title: str, axis: str, rows: list[dict[str, Any]], drawn: list[Look], things: list[str]
) -> Figure | None:
    if not rows:
        return None
    return Figure(id, title, "", lambda width: throttle_charts.dots(rows, drawn, things, axis, width=width), title)
