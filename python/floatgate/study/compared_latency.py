"""Latencies of several settings side by side."""

from __future__ import annotations

from typing import Any

from floatgate.pages.parts import Box, Charts, Grid, Part, Section, figure
from floatgate.report.sections import latency_charts
from floatgate.report.sections.latency import QUANTILES, quantiles


def compared_latency(labels: list[str], results: list[dict[str, Any] | None]) -> list[Part]:
    """Latencies of several settings side by side; nothing where none has any."""
    rows = latency_charts.compared_rows(labels, results)
    if not rows:
        return []
    kinds: list[Part] = []
    for kind, label in latency_charts.KINDS:
        of_kind = [row for row in rows if row["kind"] == label]
        if not of_kind:
            continue
        chart = figure(
            f"compared-{kind}",
            f"Latency of {label}",
            "Circle: p50, square: p99, triangle: p99.9.",
            lambda width, of_kind=of_kind: latency_charts.compared(labels, of_kind, width),  # type: ignore[misc]
        )
        cells = [[name, *quantiles(result, kind)] for name, result in zip(labels, results, strict=True)]
        table = Grid([label, *(name for _, name in QUANTILES)], cells)
        kinds.append(Charts([chart, Box([table])]))
    return [Section("Latency", kinds)]
