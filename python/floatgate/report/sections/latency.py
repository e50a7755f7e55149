"""Latencies of the requests of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from floatgate.base import units
from floatgate.pages.parts import Charts, Grid, Part, Section, Text, figure
from floatgate.report.sections import latency_charts, section, waiting
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
APART = 0.1
"""Relative difference of a mean latency from which on a table of settings shows it where p99 does not differ so."""


def line(result: dict[str, Any]) -> str | None:
    """Format as ``read p50 61 us, p99 1.9 ms, p99.9 3.6 ms; write ...``; None where the mode knows no latency."""
    named = (("p50", "p50"), ("p99", "p99"), ("p99.9", "p999"))
    parts = []
    for kind in ("read", "write"):
        facts = look(result, "latency_us", kind)
        if facts and facts.get("count"):
            parts.append(f"{kind} " + ", ".join(f"{name} {units.span(facts[key] * 1e-6)}" for name, key in named))
    return "; ".join(parts) or None


def longest(run: RunView, result: dict[str, Any]) -> list[str]:
    """Say how long the slowest read and write take, when they are done, and which interval of a timeline shows them.

    The series has the longest latency of the requests done in each of its rows, and so knows when to a row.
    """
    ends_s = run.series["time_s"].to_pylist() if "time_s" in run.series.column_names else []
    if len(ends_s) < 2 or None in ends_s:
        return []
    # What is under way at the last arrival is done in the last row.
    ends_s[-1] = max(ends_s[-1], look(result, "span_s") or 0.0)
    phrases = []
    for kind in ("read", "write"):
        column = f"{kind}_latency_max_us"
        values = run.series[column].to_pylist() if column in run.series.column_names else []
        if not any(values):
            continue
        row = max(range(len(values)), key=lambda place: values[place] or 0.0)
        latency_s = values[row] * 1e-6
        unit, size = ("s", 1.0) if ends_s[row] >= 1 else ("ms", 1e3)
        first, last = (ends_s[row - 1] if row else 0.0) * size, ends_s[row] * size
        begin = max(first - latency_s * size, 0.0)
        decimals = max(0, math.ceil(-math.log10(max(last - begin, 1e-6) / 20)))
        step = 10.0**decimals
        starts = [f"{math.floor(value * step) / step:.{decimals}f}" for value in (begin, first)]
        end = f"{math.ceil(last * step) / step:.{decimals}f}"
        phrases.append(
            f"longest {kind} {units.span(latency_s)}, done between {starts[1]} and {end} {unit} "
            f"(--timeline {starts[0]}{unit}..{end}{unit})"
        )
    return phrases


def cards(result: dict[str, Any]) -> list[section.Card]:
    """Return the 99th percentile of reads and of writes."""
    made = []
    for kind in ("read", "write"):
        facts = look(result, "latency_us", kind) or {}
        if facts.get("count"):
            p50 = units.span(facts["p50"] * 1e-6)
            made.append((f"{kind} latency, p99", units.span(facts["p99"] * 1e-6), f"p50: {p50}"))
    return made


def parts(run: RunView, result: dict[str, Any]) -> list[Part]:
    """Return distribution, course and reasons of latencies; nothing where the run has none."""
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
    contents: list[Part] = [Grid(["", "requests", *(name for _, name in QUANTILES)], _quantiles(result))]
    waits, slowest = waiting.before_flash(result), "; ".join(longest(run, result))
    joined = waiting.gathering_note(result)
    notes = (
        f"{slowest[0].upper()}{slowest[1:]}; times count from the first counted request." if slowest else None,
        f"Waits before the flash are part of the latency: {waits}." if waits else None,
        waiting.flush_note(result),
        f"{joined[0].upper()}{joined[1:]}." if joined else None,
        hot_reads(result),
        *(f"{note[0].upper()}{note[1:]}." for note in waiting.few_slow_notes(result)),
    )
    contents += [Text(note) for note in notes if note]
    return [Section("Latency", [*contents, Charts(figures), *waiting.parts(run, result)])]


def _quantiles(result: dict[str, Any]) -> list[list[str]]:
    rows = []
    for kind, label in latency_charts.KINDS:
        facts = look(result, "latency_us", kind) or {}
        if facts.get("count"):
            rows.append(
                [label, units.count(facts["count"]), *(section.span_us(facts.get(key)) for key, _ in QUANTILES)]
            )
        hot = look(result, "hot_reads", "latency_us") if kind == "read" else None
        if hot:
            rows.append(
                ["of them hot", units.count(hot["count"]), *(section.span_us(hot.get(key)) for key, _ in QUANTILES)]
            )
    return rows


def quantiles(result: dict[str, Any] | None, kind: str) -> list[str]:
    """Return the cells of reads or of writes under the names of :data:`QUANTILES`."""
    facts = look(result, "latency_us", kind) or {}
    return [section.span_us(facts.get(key)) for key, _ in QUANTILES]


def hot_reads(result: dict[str, Any]) -> str | None:
    """Format as ``Hot reads (their first page was read at least 4 times before) load the busiest of 8 chips ...``."""
    facts = look(result, "hot_reads") or {}
    if facts.get("max_over_mean") is None:
        return None
    before = facts["from_read"] - 1
    text = f"Hot reads are those whose first page was read at least {before} times before."
    chips = len(facts["by_chip"])
    if chips == 1:
        return text
    times = units.figure(facts["max_over_mean"])
    return f"{text} The busiest of {chips} chips served {times} times as many of them as the average."


def known(result: dict[str, Any]) -> bool:
    """Return whether the mode knows latencies."""
    return any(look(result, "latency_us", kind) for kind, _ in latency_charts.KINDS)


def _differs(results: Sequence[dict[str, Any]], kind: str, key: str) -> bool:
    """Return whether a latency differs between results by more than :data:`APART`."""
    values = [value for result in results if (value := look(result, "latency_us", kind, key))]
    return bool(values) and max(values) > (1.0 + APART) * min(values)


def _fitted(kind: str) -> Callable[[Sequence[dict[str, Any]]], section.Columns]:
    """Return the columns for all results of a table: the mean too, where it differs and p99 does not."""

    def columns(results: Sequence[dict[str, Any]]) -> section.Columns:
        hidden = _differs(results, kind, "mean") and not _differs(results, kind, "p99")
        return _columns(kind, mean=hidden)

    return columns


def _columns(kind: str, *, mean: bool = False) -> section.Columns:
    """Return two quantiles of reads or of writes, with the mean before them where a table needs it."""
    names = {**({"mean": "mean"} if mean else {}), "p99": "p99", "p99.9": "p999"}

    def cells(result: dict[str, Any], _difference: section.Difference | None) -> list[str]:
        return [section.span_us(look(result, "latency_us", kind, key)) for key in names.values()]

    return section.Columns(
        [f"{kind} {name}" for name in names],
        cells,
        applies=lambda result: bool(look(result, "latency_us", kind)),
        fitted=_fitted(kind),
    )


SECTION = section.Section(
    "latency",
    lines=lambda run, result: [("latency", line(result)), *(("", text) for text in longest(run, result))],
    cards=cards,
    parts=parts,
    columns=[_columns(kind) for kind, _ in latency_charts.KINDS],
)
