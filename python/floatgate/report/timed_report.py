"""The parts of a report about time and energy: latencies and their reasons, where the joules went."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.pages.causes import by_cause, by_reason, cause, reason
from floatgate.pages.page import rendered_parts
from floatgate.pages.parts import Box, Cell, Charts, Grid, Part, Section, Swatch, Text, figure
from floatgate.report import latency_charts
from floatgate.report.summary import before_flash, engines_alone
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView

QUANTILES = (
    ("mean", "mean"),
    ("p50", "p50"),
    ("p90", "p90"),
    ("p99", "p99"),
    ("p999", "p99.9"),
    ("p9999", "p99.99"),
    ("max", "longest"),
)
"""Keys of ``latency_us.read`` and what to call them."""


def latency(run: RunView, result: dict[str, Any]) -> list[Part]:
    """Distribution, course and reasons of latencies; nothing where the run has none."""
    if not any(look(result, "latency_us", kind, "count") for kind, _ in latency_charts.KINDS):
        return []
    figures: list[Part] = []
    if latency_charts.slower(result):
        figures.append(
            figure(
                "cdf",
                "Latencies",
                "Share of requests completed within a given time; the axis stretches the tail.",
                lambda width: latency_charts.distribution(run, width),
            )
        )
    if run.series.num_rows > 1 and latency_charts.latency_rows(run)[0]:
        figures.append(
            figure(
                "course",
                "Latency over time",
                "Mean and longest latency of the requests completed in each interval.",
                lambda width: latency_charts.over_time(run, width),
            )
        )
    told: list[Part] = [Grid(["", "requests", *(name for _, name in QUANTILES)], _quantiles(result))]
    waits = before_flash(result)
    told += [Text(f"In addition to their flash operations, on average, {waits}.")] if waits else []
    hot = hot_reads(result)
    told += [Text(hot)] if hot else []
    return [Section("Latency", [*told, Charts(figures), *_waiting(run, result)])]


def _quantiles(result: dict[str, Any]) -> list[list[str]]:
    rows = []
    for kind, label in latency_charts.KINDS:
        facts = look(result, "latency_us", kind) or {}
        if facts.get("count"):
            rows.append([label, units.count(facts["count"]), *(_us(facts.get(key)) for key, _ in QUANTILES)])
        hot = look(result, "hot_reads", "latency_us") if kind == "read" else None
        if hot:
            rows.append(["of them hot", units.count(hot["count"]), *(_us(hot.get(key)) for key, _ in QUANTILES)])
    return rows


def hot_reads(result: dict[str, Any]) -> str | None:
    """``Hot reads (their first page was read at least 4 times before) load the busiest of 8 chips 1.3 times ...``."""
    facts = look(result, "hot_reads") or {}
    if facts.get("max_over_mean") is None:
        return None
    before = facts["from_read"] - 1
    said = f"Hot reads are those whose first page was read at least {before} times before."
    chips = len(facts["by_chip"])
    if chips == 1:
        return said
    times = units.figure(facts["max_over_mean"])
    return f"{said} The busiest of {chips} chips served {times} times as many of them as the average."


def _waiting(run: RunView, result: dict[str, Any]) -> list[Part]:
    classes = {
        name: by_reason(means)
        for name, means in (look(result, "latency_us", "waiting") or {}).items()
        if isinstance(means, dict) and by_reason(means)
    }
    if not classes:
        return []
    chart = figure(
        "why",
        "Why it takes that long",
        "Time of a flash operation from its issue to its end, by reason; the mean follows the name of each class.",
        lambda width: latency_charts.waiting(run, width),
    )
    names = list(dict.fromkeys(name for parts in classes.values() for name, _ in parts))
    header = ["time of an operation", *(latency_charts.CLASSES.get(name, name) for name in classes)]
    rows: list[list[Cell]] = [["mean", *(_us(sum(value for _, value in parts)) for parts in classes.values())]]
    for name in names:
        cells = [_why_cell(dict(parts), name) for parts in classes.values()]
        entry = reason(name)
        rows.append([Swatch(entry, entry.label), *cells])
    return [Charts([chart, Box([Grid(header, rows)])])]


def _why_cell(parts: dict[str, float], name: str) -> str:
    return units.share(parts[name] / sum(parts.values())) if parts.get(name) else "-"


def energy(run: RunView, result: dict[str, Any]) -> list[Part]:
    """Joules by operation and cause; nothing where the experiment gives no energies."""
    table = look(result, "energy")
    if not table:
        return []
    chart = figure(
        "energy",
        "Energy by operation and cause",
        _measured(table),
        lambda width: latency_charts.energy(run, width),
    )
    operations = [name for name, joules in (table.get("by_operation_j") or {}).items() if name != "total"]
    known = [name for name in operations if table["by_operation_j"][name] is not None]
    total = table.get("total_j") or 0.0
    rows: list[list[Cell]] = []
    by = table.get("by_cause_j") or {}
    for name, joules in [*by_cause(by), ("total", by.get("total") or 0.0)]:
        entry = cause(name)
        first = "total" if name == "total" else Swatch(entry, entry.label)
        split = [look(table, f"{operation}_j", name) for operation in known]
        rows.append(
            [
                first,
                units.joules(joules),
                units.share(joules / total) if total else "-",
                *("-" if part is None else units.joules(part) for part in split),
            ]
        )
    header = ["cause", "energy", "share", *(latency_charts.OPERATIONS.get(name, name) for name in known)]
    said = energy_basis(table)
    below = [Text(f"{said[:1].upper()}{said[1:]}.")] if said else []
    return [Section("Energy", [Charts([chart, Box([Grid(header, rows), *below])])])]


def _measured(table: dict[str, Any]) -> str:
    """What the joules are of."""
    engines = "hash" in (table.get("by_operation_j") or {})
    if engines_alone(table):
        return "Hash and compressor only: the drive does not say what flash takes."
    return "Flash, hash and compressor." if engines else "Flash only: arrays and channels."


def energy_basis(table: dict[str, Any]) -> str:
    """``0.21 uJ per byte written by the host; no figure for reads and erases``."""
    said = []
    per_byte = table.get("j_per_host_byte_written")
    if per_byte:
        said.append(f"{units.joules(per_byte)} per byte written by the host")
    missing = [
        latency_charts.OPERATIONS.get(name, name)
        for name, joules in (table.get("by_operation_j") or {}).items()
        if joules is None
    ]
    if missing:
        listed = ", ".join(missing[:-1]) + (" and " if missing[:-1] else "") + missing[-1]
        said.append(f"no figure for {listed}")
    return "; ".join(said)


def compared_latency(labels: list[str], results: list[dict[str, Any] | None]) -> str:
    """The HTML of :func:`compared_latency_parts`."""
    return rendered_parts(compared_latency_parts(labels, results))


def compared_latency_parts(labels: list[str], results: list[dict[str, Any] | None]) -> list[Part]:
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
        cells = []
        for name, result in zip(labels, results, strict=True):
            facts = look(result or {}, "latency_us", kind) or {}
            cells.append([name, *(_us(facts.get(key)) for key, _ in QUANTILES)])
        table = Grid([label, *(name for _, name in QUANTILES)], cells)
        kinds.append(Charts([chart, Box([table])]))
    return [Section("Latency", kinds)]


def _us(value: float | None) -> str:
    return "-" if value is None else units.span(value * 1e-6)
